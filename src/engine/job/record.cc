#include "engine/job/record.h"

#include <sys/random.h>

#include <array>
#include <stdexcept>
#include <system_error>

namespace assay::job {

using nlohmann::json;

json to_json(const StageRecord& record) {
  return {{"name", record.name},
          {"status", name(record.status)},
          {"started_ns", record.started_ns},
          {"elapsed_ms", record.elapsed_ms},
          {"body", record.body}};
}

StageRecord stage_from_json(const json& document) {
  const auto text = document.at("status").get<std::string>();
  const auto status = stage_status_from(text);
  if (!status) throw std::invalid_argument("unknown stage status '" + text + "'");
  return {.name = document.at("name").get<std::string>(),
          .status = *status,
          .started_ns = document.value("started_ns", std::int64_t{0}),
          .elapsed_ms = document.at("elapsed_ms").get<double>(),
          .body = document.at("body")};
}

std::string new_job_id() {
  std::array<unsigned char, 16> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  bits[6] = static_cast<unsigned char>((bits[6] & 0x0f) | 0x40);  // version 4
  bits[8] = static_cast<unsigned char>((bits[8] & 0x3f) | 0x80);  // variant 1
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits[bits[i] >> 4];
    text += digits[bits[i] & 15];
  }
  return text;
}

}  // namespace assay::job
