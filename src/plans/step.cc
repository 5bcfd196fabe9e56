#include "plans/step.h"

#include <cmath>
#include <cstring>

namespace assay::plans {

using nlohmann::json;

namespace {

std::string seconds_text(double ms) {
  std::string text = json(std::round(ms / 10.0) / 100.0).dump();
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + " s";
}

// The length of the UTF-8 sequence that starts at `at`, 0 if there is none.
std::size_t sequence(std::string_view bytes, std::size_t at) {
  const auto first = static_cast<unsigned char>(bytes[at]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4
                             : first >= 0xE0               ? 3
                             : first >= 0xC2               ? 2
                                                           : 0;
  if (length == 0 || first >= 0xF5 || at + length > bytes.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(bytes[at + i]) & 0xC0U) != 0x80U) return 0;
  }
  const auto second = static_cast<unsigned char>(bytes[at + 1]);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : length;
}

}  // namespace

const char* name(StepEnd::Why why) {
  switch (why) {
    case StepEnd::Why::exited:
      return "exited";
    case StepEnd::Why::timed_out:
      return "timed_out";
    case StepEnd::Why::cancelled:
      return "cancelled";
    case StepEnd::Why::output_flood:
      return "output_flood";
    case StepEnd::Why::not_started:
      return "not_started";
    case StepEnd::Why::setup_failed:
      return "setup_failed";
    case StepEnd::Why::lost:
      return "lost";
  }
  return "";
}

std::string describe(const StepEnd& end) {
  switch (end.why) {
    case StepEnd::Why::exited:
      if (end.signal != 0) {
        const char* abbreviation = ::sigabbrev_np(end.signal);
        return std::string("killed by SIG") + (abbreviation != nullptr ? abbreviation : "?") +
               " (" + std::to_string(end.signal) + ")";
      }
      return "exit code " + std::to_string(end.exit_code);
    case StepEnd::Why::timed_out:
      return "timed out after " + seconds_text(end.wall_ms) + "; every process of it was killed";
    case StepEnd::Why::cancelled:
      return "cancelled; every process of it was killed";
    case StepEnd::Why::output_flood:
      return "printed more than " + std::to_string(kFloodBytes >> 20) + " MiB and was killed";
    case StepEnd::Why::not_started:
    case StepEnd::Why::setup_failed:
      return "could not be started: " + end.detail;
    case StepEnd::Why::lost:
      return "its end was not recorded" + (end.detail.empty() ? "" : ": " + end.detail);
  }
  return "";
}

json to_json(const Step& step, const StepEnd& end) {
  json out = {{"name", step.name},
              {"argv", step.argv},
              {"cwd", step.cwd.string()},
              {"confined", step.enclosure.confined},
              {"end", name(end.why)},
              {"started_ns", end.started_ns},
              {"wall_ms", end.wall_ms},
              {"user_ms", end.user_ms},
              {"system_ms", end.system_ms},
              {"max_resident_bytes", end.max_resident_bytes},
              {"output_bytes", end.output_bytes}};
  if (end.why == StepEnd::Why::exited) {
    out["exit_code"] = end.signal != 0 ? json(nullptr) : json(end.exit_code);
    if (end.signal != 0) out["signal"] = end.signal;
  }
  if (!step.log.empty()) out["log"] = step.log.string();
  if (end.log_is_cut) out["log_is_cut"] = true;
  if (!end.succeeded()) {
    out["problem"] = describe(end);
    out["tail"] = printable(end.tail);
  }
  return out;
}

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string command_line(const std::vector<std::string>& argv) {
  std::string text;
  for (const auto& word : argv) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

std::string repro_line(const Step& step) {
  std::string text = "cd " + quoted(step.cwd.string()) + " &&";
  if (!step.environment.empty()) text += " env";
  for (const auto& [key, value] : step.environment) text += " " + quoted(key + "=" + value);
  return text + " " + command_line(step.argv);
}

std::string printable(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence(bytes, at);
    if (length == 0) {
      text += "\xEF\xBF\xBD";
      ++at;
    } else {
      text += bytes.substr(at, length);
      at += length;
    }
  }
  return text;
}

}  // namespace assay::plans
