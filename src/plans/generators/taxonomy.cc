#include "plans/generators/taxonomy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "plans/generators/no_cuda.h"
#include "plans/lower_case.h"

namespace assay::generators {
namespace {

using nlohmann::json;
using plans::StepEnd;

constexpr std::size_t kLongestObject = 64U << 10;  // bytes of one that takes several lines
constexpr std::size_t kMostLongObjects = 1'000;

struct Entry {
  Status status;
  const char* name;
  int code;  // 0: none
};

constexpr std::array<Entry, 14> kEntries{{
    {Status::ok, "ok", 0},
    {Status::import_missing, "IMPORT_MISSING", 1},
    {Status::capability_unsupported, "CAPABILITY_UNSUPPORTED", 2},
    {Status::opt_path_not_triggered, "OPT_PATH_NOT_TRIGGERED", 3},
    {Status::memory_insufficient, "MEMORY_INSUFFICIENT", 4},
    {Status::equivalence_failed, "EQUIVALENCE_FAILED", 5},
    {Status::invalid_config, "INVALID_CONFIG", 6},
    {Status::api_mismatch, "API_MISMATCH", 0},
    {Status::reference_missing, "REFERENCE_MISSING", 0},
    {Status::reference_unreadable, "REFERENCE_UNREADABLE", 0},
    {Status::timeout, "TIMEOUT", 0},
    {Status::crashed, "CRASHED", 0},
    {Status::failed, "FAILED", 0},
    {Status::environment_fault, "ENVIRONMENT_FAULT", 0},
}};

std::optional<Status> status_of_code(int number) {
  for (const auto& entry : kEntries) {
    if (entry.code == number && number != 0) return entry.status;
  }
  return std::nullopt;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_time(const json& value) {
  return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0;
}

// Python's NaN and Infinity are no JSON: as texts they can be told.
std::string with_quoted_specials(const std::string& text) {
  constexpr std::array<const char*, 3> kSpecials{"-Infinity", "Infinity", "NaN"};
  std::string out;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto* special = std::find_if(kSpecials.begin(), kSpecials.end(), [&](const char* word) {
      return !inside && text.compare(at, std::string_view(word).size(), word) == 0;
    });
    if (special != kSpecials.end()) {
      out += "\"" + std::string(*special) + "\"";
      at += std::string_view(*special).size();
      continue;
    }
    if (inside && text[at] == '\\' && at + 1 < text.size())
      out += text[at++];
    else if (text[at] == '"')
      inside = !inside;
    out += text[at++];
  }
  return out;
}

json object_of(const std::string& text) {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) value = json::parse(with_quoted_specials(text), nullptr, false);
  return value.is_object() ? value : json(nullptr);
}

// One past the brace that closes the one at `begin`; npos if there is none near.
std::size_t closing_brace(const std::string& text, std::size_t begin) {
  const std::size_t limit = std::min(text.size(), begin + kLongestObject);
  int depth = 0;
  bool inside = false;
  for (std::size_t at = begin; at < limit; ++at) {
    const char letter = text[at];
    if (inside && letter == '\\') {
      ++at;
    } else if (letter == '"') {
      inside = !inside;
    } else if (!inside && letter == '{') {
      ++depth;
    } else if (!inside && letter == '}' && --depth == 0) {
      return at + 1;
    }
  }
  return std::string::npos;
}

bool is_out_of_memory(const std::string& type, const std::string& text) {
  return type == "MemoryError" || type == "OutOfMemoryError" || contains(text, "out of memory") ||
         contains(text, "cannot allocate memory");
}

// "CAPABILITY_UNSUPPORTED: no FP8" → its status.
std::optional<Status> leading_name(const std::string& text) {
  const std::size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  return status_named(text.substr(0, end));
}

class Classifier {
 public:
  Classifier(const json& facts, const StepEnd& end, bool eqcheck)
      : facts_(facts), end_(end), eqcheck_(eqcheck) {}

  Classified run() {
    take_lines();
    if (const auto status = of_process()) return finish(*status, plans::describe(end_));
    if (!facts_.is_object())
      return finish(Status::crashed, "it ended without a result: " + plans::describe(end_));
    if (facts_.contains("unreadable"))
      return finish(Status::invalid_config, text_of(facts_, "unreadable"));
    if (const auto status = of_comparison()) return finish(*status, message_);
    const int exit_code = facts_.value("exit_code", 0);
    const bool has_result = !result_.printed.is_null();
    // The script says so itself; a run that went on to measure is judged by what it measured.
    if (refusal_ && (exit_code != 0 || !has_result)) return finish(*refusal_, message_);
    if (const json exception = facts_.value("exception", json()); exception.is_object()) {
      return of_exception(exception);
    }
    if (exit_code != 0) return of_exit_code(exit_code);
    if (refusal_)
      result_.warnings.push_back("it printed " + std::string(name(*refusal_)) +
                                 " and went on: " + message_);
    if (eqcheck_ && facts_.value("compared", 0) == 0) {
      const std::string why = text_of(facts_, "not_a_comparison");
      return finish(Status::reference_missing,
                    "equivalence was requested, but " +
                        (why.empty() ? "check_equivalence compared nothing" : why));
    }
    take_returned(has_result);
    if (!no_time_.empty()) {
      return finish(Status::failed,
                    "the time is no number of milliseconds or seconds: " + no_time_);
    }
    if (!has_result && !facts_.value("returned", json()).is_number()) {
      return finish(Status::invalid_config,
                    "it neither printed a result with avg_ms nor returned a time");
    }
    return finish(Status::ok, "");
  }

 private:
  Classified finish(Status status, std::string message) {
    result_.status = status;
    result_.message = std::move(message);
    return std::move(result_);
  }

  // The line with avg_ms is the result, wherever it stands; a line that names an error, or a target
  // that is not there, is a refusal.
  void take_lines() {
    for (const auto& line : json_lines(end_.standard_output)) {
      if (line.contains("avg_ms") && !line.at("avg_ms").is_null()) {
        if (is_time(line.at("avg_ms")))
          result_.printed = line;
        else
          no_time_ = "avg_ms " + line.at("avg_ms").dump();
      } else if (line.contains("error_name") || line.contains("error_code")) {
        refusal_ = status_named(text_of(line, "error_name"));
        if (!refusal_)
          refusal_ = status_of_code(line.value("error_code", json()).is_number_integer()
                                        ? line.at("error_code").get<int>()
                                        : 0);
        message_ = text_of(line, "error_message");
      } else if (line.contains("error")) {
        const bool unresolved =
            line.contains("target_resolved") && line.at("target_resolved") == false;
        message_ = text_of(line, "error");
        refusal_ = unresolved ? Status::import_missing : status_of_code(end_.exit_code);
        if (says_no_cuda(message_)) refusal_ = Status::capability_unsupported;
      }
    }
  }

  void take_returned(bool has_result) {
    if (has_result) return;
    const json returned = facts_.value("returned", json());
    if (returned.is_number() && !is_time(returned)) no_time_ = "returned " + returned.dump();
    const std::string no_number = text_of(facts_, "no_number");
    if (!no_number.empty()) no_time_ = "returned " + no_number;
  }

  [[nodiscard]] std::optional<Status> of_process() const {
    if (end_.why == StepEnd::Why::timed_out) return Status::timeout;
    if (end_.is_infrastructure() || end_.why == StepEnd::Why::cancelled)
      return Status::environment_fault;
    if (end_.why == StepEnd::Why::output_flood || end_.signal != 0) return Status::crashed;
    return std::nullopt;
  }

  std::optional<Status> of_comparison() {
    const json load = facts_.value("load_failed", json());
    if (eqcheck_ && load.is_object()) {
      message_ = text_of(load, "type") + ": " + text_of(load, "message");
      if (says_no_cuda(message_)) return Status::capability_unsupported;
      const std::string type = text_of(load, "type");
      return type == "FileNotFoundError" ? Status::reference_missing : Status::reference_unreadable;
    }
    // What failed may have been no comparison with a reference at all.
    const bool is_one =
        !eqcheck_ || facts_.value("compared", 0) > 0 || text_of(facts_, "not_a_comparison").empty();
    if (const json failed = facts_.value("comparison_failed", json());
        is_one && failed.is_object()) {
      message_ = text_of(failed, "message");
      const std::string type = text_of(failed, "type");
      if (says_no_cuda(message_)) return Status::capability_unsupported;
      if (type == "AssertionError") return Status::equivalence_failed;
      message_.insert(0, type + " while comparing: ");
      return leading_name(text_of(failed, "message")).value_or(Status::equivalence_failed);
    }
    const json level = facts_.value("level_check", json());
    if (level.is_object() && level.value("performed", false) && !level.value("passed", true)) {
      message_ = "by the level's own tolerances: " + text_of(level, "message");
      return Status::equivalence_failed;
    }
    return std::nullopt;
  }

  Classified of_exception(const json& exception) {
    const std::string type = text_of(exception, "type");
    const std::string message = text_of(exception, "message");
    const std::string whole = type + ": " + message;
    const std::string small = plans::lower_case(message);
    if (const auto named = leading_name(message)) return finish(*named, message);
    if (says_no_cuda(message)) return finish(Status::capability_unsupported, whole);
    if (type == "SystemExit") return of_exit_code(facts_.value("exit_code", 1));
    if (exception.value("is_import", false)) return finish(Status::import_missing, whole);
    if (is_out_of_memory(type, small)) return finish(Status::memory_insufficient, whole);
    if (type == "FileNotFoundError" && eqcheck_ && contains(small, "reference")) {
      return finish(Status::reference_missing, whole);
    }
    // What failed was the comparison of a result with something that is no reference.
    if (const std::string why = text_of(facts_, "not_a_comparison");
        eqcheck_ && !why.empty() && text_of(facts_, "failed_inside") == "check_equivalence") {
      return finish(Status::reference_missing, "equivalence was requested, but " + why);
    }
    if (type == "AttributeError" || type == "TypeError") {
      return finish(Status::api_mismatch,
                    whole + " (the generator is tied to the commit it was made for)");
    }
    return finish(Status::failed, whole);
  }

  Classified of_exit_code(int exit_code) {
    const std::string said = "exit code " + std::to_string(exit_code);
    const auto status = status_of_code(exit_code);
    // Said on the way out, without an exception.
    if (const std::string last = last_line(); message_.empty() && says_no_cuda(last))
      return finish(Status::capability_unsupported, last);
    if (!status) return finish(Status::failed, said);
    return finish(*status, message_.empty() ? said : message_);
  }

  [[nodiscard]] std::string last_line() const {
    std::string text = plans::printable(end_.tail);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    const std::size_t start = text.rfind('\n');
    return start == std::string::npos ? text : text.substr(start + 1);
  }

  const json& facts_;
  const StepEnd& end_;
  const bool eqcheck_;
  Classified result_{};
  std::optional<Status> refusal_{};
  std::string message_{};
  std::string no_time_{};  // what stood where a time should
};

}  // namespace

const char* name(Status status) {
  for (const auto& entry : kEntries) {
    if (entry.status == status) return entry.name;
  }
  return "";
}

std::optional<int> code(Status status) {
  for (const auto& entry : kEntries) {
    if (entry.status == status && entry.code != 0) return entry.code;
  }
  return std::nullopt;
}

std::optional<Status> status_named(const std::string& text) {
  if (text == "IMPORT_MISSING_SYMBOL") return Status::import_missing;
  for (const auto& entry : kEntries) {
    if (entry.code != 0 && text == entry.name) return entry.status;
  }
  return std::nullopt;
}

job::Verdict verdict_of(Status status) {
  switch (status) {
    case Status::ok:
      return job::Verdict::passed;
    case Status::capability_unsupported:
      return job::Verdict::unsupported;
    case Status::timeout:
      return job::Verdict::timed_out;
    default:
      return job::Verdict::failed;
  }
}

std::vector<json> json_lines(const std::string& output) {
  std::vector<json> lines;
  std::size_t long_ones = 0;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    at = end + 1;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] != '{') continue;
    json value = object_of(line);
    // Printed over several lines; who prints braces without end is not followed for ever.
    if (value.is_null() && long_ones < kMostLongObjects) {
      ++long_ones;
      const std::size_t start = at - 1 - line.size() + begin;
      const std::size_t close = closing_brace(output, start);
      if (close != std::string::npos) value = object_of(output.substr(start, close - start));
      if (value.is_object()) at = close;
    }
    if (value.is_object()) lines.push_back(std::move(value));
  }
  return lines;
}

Classified classify(const json& facts, const StepEnd& end, bool eqcheck_requested) {
  return Classifier(facts, end, eqcheck_requested).run();
}

}  // namespace assay::generators
