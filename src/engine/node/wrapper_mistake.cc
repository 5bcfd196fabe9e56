#include "engine/node/wrapper_mistake.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "engine/source/plain_mistake.h"

namespace assay::node {
namespace {

struct Place {
  std::string file{};
  std::size_t line = 0;

  [[nodiscard]] std::string text() const { return file + ":" + std::to_string(line); }
};

Place find_place(const std::string& text, std::size_t line) {
  constexpr std::string_view kDirective = "#line ";
  Place place;
  std::size_t at = 0;
  for (std::size_t number = 1; number <= line && at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (text.compare(at, kDirective.size(), kDirective) == 0) {
      const std::size_t quote = std::min(text.find('"', at), end);
      place.line = std::strtoul(text.c_str() + at + kDirective.size(), nullptr, 10) - 1;
      place.file = text.substr(quote + 1, text.find('"', quote + 1) - quote - 1);
    } else {
      ++place.line;
    }
    at = end + 1;
  }
  return place;
}

}  // namespace

std::string place_of(const std::string& text, std::size_t line) {
  return find_place(text, line).text();
}

std::string excerpt_of(const std::string& source, std::size_t line) {
  std::size_t at = 0;
  for (; line > 1 && at != std::string::npos; --line) {
    at = source.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  if (at == std::string::npos) return {};
  constexpr std::size_t kMaxExcerptBytes = 200;
  return source.substr(at, std::min(source.find('\n', at) - at, kMaxExcerptBytes));
}

std::optional<Ended> mistake_in(const std::string& text, const std::string& source,
                                const std::string& file) {
  const auto mistake = source::plain_mistake(text);
  if (!mistake) return std::nullopt;
  const Place place = find_place(text, mistake->line);
  std::string message = mistake->what;
  if (!mistake->before.empty()) {
    message += " before the " + mistake->before + " at " + place_of(text, mistake->met_at);
  }
  nlohmann::json one = {
      {"severity", "error"}, {"file", place.file}, {"line", place.line}, {"message", message}};
  if (place.file == file) one["excerpt"] = excerpt_of(source, place.line);
  return Ended{.verdict = job::Verdict::compile_failed,
               .summary = "The source does not compile at " + place.text() + ": " + message,
               .detail = {{"log", place.text() + ": error: " + message + "\n"},
                          {"diagnostics", nlohmann::json::array({std::move(one)})}}};
}

std::string told_of_launch(std::string message) {
  const bool is_number = message.find("too few arguments") != std::string::npos ||
                         message.find("too many arguments") != std::string::npos;
  if (is_number && message.find("assay::configure(") != std::string::npos) {
    return source::launch_parameters();
  }
  const auto before = message.find(" before 'static_cast'");
  if (before != std::string::npos) message += " (a launch is compiled as one)";
  return message;
}

}  // namespace assay::node
