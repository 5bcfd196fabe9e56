#include <algorithm>

#include "plans/optest/plan_parts.h"
#include "plans/optest/tokens.h"
#include "plans/requirement_form.h"

namespace assay::optest {
namespace {

const std::vector<std::string> kTypes{"cann", "cuda", "assay"};
const std::vector<std::string> kBackendKeys{
    "type",    "chip",    "workdir",    "env",        "timeout",     "retries",  "prepare",
    "command", "cleanup", "only_cases", "skip_cases", "xfail_cases", "requires", "kernel"};

// Notes where the words of commands stand, as their tokens are checked later.
class BackendReader {
 public:
  BackendReader(Reading& reading, const Value& value, const std::string& where)
      : reading_(reading), value_(value), where_(where) {}

  BackendRead read(const std::filesystem::path& folder) {
    read_.place = value_.place;
    if (!reading_.is_mapping(value_, where_, kBackendKeys)) return std::move(read_);
    Backend& backend = read_.backend;
    backend.type = reading_.required_text(value_, where_, "type");
    if (!backend.type.empty() &&
        std::find(kTypes.begin(), kTypes.end(), backend.type) == kTypes.end()) {
      reading_.problems().error(value_.find("type")->place, where_ + ".type",
                                "must be cann, cuda or assay");
    }
    const bool judged_here = backend.type == "assay";
    backend.chip = judged_here ? reading_.text(value_, where_, "chip").value_or("auto")
                               : reading_.required_text(value_, where_, "chip");
    backend.workdir = reading_.text(value_, where_, "workdir").value_or("");
    backend.timeout_s = reading_.integer(value_, where_, "timeout", 1, 86'400).value_or(300);
    backend.retries = reading_.integer(value_, where_, "retries", 0, 100).value_or(0);
    backend.only_cases = reading_.texts(value_, where_, "only_cases");
    backend.skip_cases = reading_.texts(value_, where_, "skip_cases");
    backend.xfail_cases = reading_.texts(value_, where_, "xfail_cases");
    backend.needs = reading_.object(value_, where_, "requires");
    for (const auto& one : plans::malformed_requirements(backend.needs)) {
      const Value* needs = value_.find("requires");
      reading_.problems().error(needs->find(one.key)->place, where_ + ".requires." + one.key,
                                one.message);
    }
    read_environment();
    read_commands(judged_here);
    if (judged_here) read_kernel(folder);
    return std::move(read_);
  }

 private:
  void read_environment() {
    read_.backend.env = reading_.text_map(value_, where_, "env");
    const Value* env = value_.find("env");
    if (env == nullptr) return;
    for (const auto& entry : env->entries) {
      read_.words.emplace_back(entry.key, entry.place);
      read_.words.emplace_back(entry.value.text, entry.value.place);
    }
  }

  void read_commands(bool judged_here) {
    Backend& backend = read_.backend;
    if (const Value* prepare = value_.find("prepare"))
      backend.prepare = list_of(*prepare, "prepare");
    if (const Value* cleanup = value_.find("cleanup"))
      backend.cleanup = list_of(*cleanup, "cleanup");
    const Value* command = value_.find("command");
    if (judged_here) {
      if (command != nullptr) {
        reading_.problems().error(command->place, where_ + ".command",
                                  "an assay backend has a kernel, no command");
      }
    } else if (command == nullptr || command->is_null()) {
      reading_.problems().error(value_.place, where_ + ".command", "is required");
    } else {
      backend.command = command_of(*command, where_ + ".command");
    }
  }

  // One command, or a list of commands: a list whose first entry is no plain word.
  std::vector<Command> list_of(const Value& value, const std::string& key) {
    std::vector<Command> commands;
    const std::string where = below(where_, key);
    if (value.is_null()) return commands;
    const bool is_list =
        value.is_sequence() && (value.items.empty() || !value.items[0].is_scalar());
    if (!is_list) {
      commands.push_back(command_of(value, where));
      return commands;
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      commands.push_back(command_of(value.items[i], at(where, i)));
    }
    return commands;
  }

  // A list of words, one text to be cut into words, or {binary | executable, args}.
  Command command_of(const Value& value, const std::string& where) {
    Command words;
    if (value.is_scalar()) {
      const auto split = split_words(value.text);
      if (!split) reading_.problems().error(value.place, where, "a quote is not closed");
      words = split.value_or(Command{});
      for (const auto& word : words) read_.words.emplace_back(word, value.place);
    } else if (value.is_sequence()) {
      words = words_of(value, where);
    } else if (reading_.is_mapping(value, where, {"binary", "executable", "args"})) {
      const char* key = value.find("binary") != nullptr ? "binary" : "executable";
      words.push_back(reading_.required_text(value, where, key));
      read_.words.emplace_back(words.back(), value.place);
      if (const Value* args = value.find("args")) {
        for (auto& word : words_of(*args, where + ".args")) words.push_back(std::move(word));
      }
    }
    if (words.empty() || words.front().empty()) {
      reading_.problems().error(value.place, where, "names no program");
    }
    return words;
  }

  Command words_of(const Value& value, const std::string& where) {
    Command words;
    if (!value.is_sequence())
      reading_.problems().error(value.place, where, "must be a list of words");
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const Value& item = value.items[i];
      if (!item.is_scalar()) {
        reading_.problems().error(item.place, at(where, i), "must be a word");
        continue;
      }
      words.push_back(item.text);
      read_.words.emplace_back(item.text, item.place);
    }
    return words;
  }

  void read_kernel(const std::filesystem::path& folder) {
    const std::string where = where_ + ".kernel";
    const Value* value = value_.find("kernel");
    if (value == nullptr || value->is_null()) {
      reading_.problems().error(value_.place, where, "is required of an assay backend");
      return;
    }
    if (!reading_.is_mapping(*value, where,
                             {"source", "kernel_type", "kernel_name", "io", "device"})) {
      return;
    }
    KernelOfPlan kernel{.source = reading_.required_text(*value, where, "source"),
                        .kernel_name = reading_.text(*value, where, "kernel_name").value_or(""),
                        .io = reading_.object(*value, where, "io")};
    kernel.kernel_type = reading_.text(*value, where, "kernel_type").value_or("cuda");
    kernel.device = reading_.text(*value, where, "device").value_or("auto");
    std::error_code error;
    if (!kernel.source.empty() &&
        !std::filesystem::is_regular_file(folder / kernel.source, error)) {
      reading_.problems().error(value->find("source")->place, where + ".source",
                                "there is no file " + (folder / kernel.source).string());
    }
    read_.backend.kernel = std::move(kernel);
  }

  Reading& reading_;
  const Value& value_;
  const std::string& where_;
  BackendRead read_{};
};

}  // namespace

BackendRead read_backend(Reading& reading, const Value& value, const std::string& where,
                         const std::filesystem::path& folder) {
  return BackendReader(reading, value, where).read(folder);
}

}  // namespace assay::optest
