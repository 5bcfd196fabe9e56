// Logs of builds: BuildKit plain and fancy, the classic builder, podman, pip, devcontainer's JSON,
// bash's `time`.
#include <algorithm>
#include <map>
#include <regex>

#include "plans/scenarios/audit.h"

namespace assay::scenarios {
namespace {

using nlohmann::json;

// An escape sequence's length at `at`, 0 if there is none.
std::size_t escape_length(const std::string& text, std::size_t at) {
  if (text[at] != '\x1b' || at + 1 >= text.size()) return 0;
  if (text[at + 1] != '[' && text[at + 1] != ']') return 2;
  const bool is_title = text[at + 1] == ']';
  for (std::size_t end = at + 2; end < text.size(); ++end) {
    const auto letter = static_cast<unsigned char>(text[end]);
    if (is_title ? letter == 0x07 : letter >= 0x40 && letter <= 0x7e) return end - at + 1;
    if (end - at > 200) break;
  }
  return 1;
}

// Minutes and seconds of "real\t1m2.345s".
std::optional<double> real_seconds(const std::string& line) {
  static const std::regex real_line("^\\s*real\\s+(\\d+)m([\\d.]+)s");
  std::smatch match;
  if (!std::regex_search(line, match, real_line)) return std::nullopt;
  return std::stod(match[1].str()) * 60 + std::stod(match[2].str());
}

class LogReader {
 public:
  LogReader(const std::string& file, const Subject& subject) : file_(file), subject_(subject) {}

  LogAudit run(const std::string& text) {
    int number = 0;
    for (const auto& line : plain_lines(text)) {
      ++number;
      if (line.empty()) continue;
      line_ = line.substr(0, kMatchedLength);
      number_ = number;
      look();
    }
    return std::move(audit_);
  }

 private:
  void look() {
    look_for_echo();
    look_for_caches();
    look_for_images();
    look_for_outcome();
    if (matches_any(subject_.compile_lines, line_)) {
      ++audit_.compiles;
      note("compile", "a compile was finished");
    }
    if (const auto seconds = real_seconds(line_)) {
      audit_.timed.emplace_back(last_echo_, *seconds);
    }
  }

  void note(const char* kind, std::string message) {
    audit_.findings.push_back({kind, file_, number_, line_, std::move(message)});
  }

  [[nodiscard]] bool has(const char* part) const { return line_.find(part) != std::string::npos; }

  void look_for_echo() {
    static const std::regex echo("^(\\+ |\\(time |.*\\(time .+\\)\\s*$)");
    static const std::regex stamp("^(Start|End):\\s|^\\[?\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d");
    if (std::regex_search(line_, echo)) {
      audit_.has_echoes = true;
      last_echo_ = line_;
    }
    if (std::regex_search(line_, stamp)) audit_.has_timestamps = true;
  }

  // "#7 [2/5] RUN …" names a step, "#7 CACHED" says of it; " => CACHED [2/5] RUN …" does both.
  void look_for_caches() {
    static const std::regex step("^#(\\d+) (\\[.*\\].*|importing cache manifest.*)$");
    static const std::regex cached_step("^#(\\d+) CACHED");
    static const std::regex fancy_step("=> CACHED (\\[.*)$");
    std::smatch match;
    if (std::regex_search(line_, match, step)) steps_[match[1].str()] = match[2].str();
    if (has("importing cache manifest")) note("cache_from", "a build imported a cache");
    if (std::regex_search(line_, match, cached_step)) {
      cached(steps_[match[1].str()]);
    } else if (std::regex_search(line_, match, fancy_step)) {
      cached(match[1].str());
    } else if (has("---> Using cache") || has("--> Using cache")) {
      note("step_cached", "a build step was taken from the cache");
    }
    static const std::regex package("Using cached \\S+\\.(whl|tar\\.gz|tar\\.bz2|zip)\\b");
    if (std::regex_search(line_, package))
      note("wheel_cached", "pip took a package from its cache");
    look_for_compiler_caches();
  }

  // The statistics of ccache 3 and 4 and of sccache; a hit that is none is none.
  void look_for_compiler_caches() {
    static const std::regex hits(
        "^\\s*(cache hits?( \\((direct|preprocessed)\\))?( rate)?:?|hits:|direct:|preprocessed:)"
        "\\s+0*[1-9]",
        std::regex::icase);
    static const std::regex verbose("result: (direct|preprocessed)_cache_hit|sccache.*cache hit",
                                    std::regex::icase);
    if (std::regex_search(line_, hits) || std::regex_search(line_, verbose))
      note("compiler_cache", "a compiler cache gave what should have been compiled");
  }

  // A base image that is there is no cached step of the build.
  void cached(const std::string& step) {
    const bool is_base = step.find("] FROM ") != std::string::npos ||
                         step.find("load metadata") != std::string::npos;
    note(is_base ? "base_image_reused" : "step_cached",
         is_base ? "the base image was there already"
                 : "a build step was taken from the cache: " + step);
  }

  void look_for_images() {
    const bool removes = has("rmi") || has("image rm") || has("Untagged:") || has("No such image");
    for (const auto& name : subject_.forbidden) {
      if (has(name.c_str()) && !removes) note("builder_image", "names the image '" + name + "'");
    }
  }

  void look_for_outcome() {
    if (!line_.starts_with("{\"outcome\"")) return;
    const json outcome = json::parse(line_, nullptr, false);
    if (outcome.is_object()) audit_.outcome = outcome;
  }

  const std::string& file_;
  const Subject& subject_;
  LogAudit audit_{};
  std::string line_{};
  int number_ = 0;
  std::string last_echo_{};
  std::map<std::string, std::string> steps_{};
};

}  // namespace

std::vector<std::string> plain_lines(const std::string& log) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < log.size(); ++at) {
    if (const std::size_t escape = escape_length(log, at); escape > 0) {
      at += escape - 1;
    } else if (log[at] == '\n') {
      lines.emplace_back();
    } else if (log[at] == '\r') {
      // Before a line's end it is part of that; else it begins the line anew.
      if (at + 1 < log.size() && log[at + 1] != '\n' && !lines.back().empty()) lines.emplace_back();
    } else {
      lines.back() += log[at];
    }
  }
  return lines;
}

LogAudit audit_log(const std::string& text, const std::string& file, const Subject& subject) {
  return LogReader(file, subject).run(text);
}

}  // namespace assay::scenarios
