// Dockerfiles: stages and where they come from, what is copied in, what RUN does.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "plans/lower_case.h"
#include "plans/scenarios/audit.h"
#include "plans/scenarios/command_audit.h"

namespace assay::scenarios {
namespace {

using Arguments = std::map<std::string, std::string>;

constexpr std::string_view kNameLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

std::vector<ShellWord> words_of(const std::string& text) {
  std::vector<ShellWord> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string::npos) break;
    at = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back({text.substr(begin, at - begin), begin});
  }
  return words;
}

// "${BASE}", "${BASE:-other}" and "$BASE" by their defaults.
std::string expanded(const std::string& text, const Arguments& arguments) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      out += text[at++];
      continue;
    }
    const bool is_braced = text.compare(at, 2, "${") == 0;
    const std::size_t begin = at + (is_braced ? 2 : 1);
    const std::size_t end = std::min(text.find_first_not_of(kNameLetters, begin), text.size());
    const std::size_t close = is_braced ? std::min(text.find('}', end), text.size()) : end;
    const auto found = arguments.find(text.substr(begin, end - begin));
    const bool has_default = is_braced && text.compare(end, 2, ":-") == 0;
    if (found != arguments.end() && !found->second.empty())
      out += found->second;
    else if (has_default)
      out += text.substr(end + 2, close - end - 2);
    at = std::min(close + (is_braced ? 1 : 0), text.size());
  }
  return out;
}

void take_argument(const std::string& word, Arguments& arguments) {
  const std::size_t equals = std::min(word.find('='), word.size());
  std::string value = word.substr(std::min(equals + 1, word.size()));
  std::erase(value, '"');
  std::erase(value, '\'');
  // Declared again without a value it keeps the one it has.
  if (equals < word.size() || !arguments.contains(word.substr(0, equals)))
    arguments[word.substr(0, equals)] = value;
}

// Of "--mount=type=cache,target=/x": each `name=value`.
Arguments fields_of_mount(const std::string& word) {
  Arguments fields;
  std::istringstream stream(word.substr(word.find('=') + 1));
  for (std::string field; std::getline(stream, field, ',');) {
    const std::size_t equals = std::min(field.find('='), field.size());
    fields[plans::lower_case(field.substr(0, equals))] =
        field.substr(std::min(equals + 1, field.size()));
  }
  return fields;
}

struct From {
  std::string image{};
  std::string stage{};  // the name it gives
};

From from_of(const std::vector<ShellWord>& words) {
  std::size_t image = 1;
  while (image < words.size() && words[image].text.starts_with("--")) ++image;
  if (image >= words.size()) return {};
  const bool is_named =
      image + 2 < words.size() && plans::lower_case(words[image + 1].text) == "as";
  return {words[image].text, is_named ? plans::lower_case(words[image + 2].text) : std::string()};
}

// The stages that were begun so far; their names know no letter case.
class Stages {
 public:
  void begin(const std::string& name) {
    if (!name.empty()) names_.insert(name);
    ++count_;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool has(const std::string& name) const {
    const bool is_index =
        !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    // A number that no earlier stage has is the name of an image.
    return names_.contains(plans::lower_case(name)) ||
           (is_index && name.size() < 6 && std::stoul(name) + 1 < count_);
  }
  [[nodiscard]] bool is_named(const std::string& name) const {
    return names_.contains(plans::lower_case(name));
  }

 private:
  std::set<std::string> names_{};
  std::size_t count_ = 0;
};

class DockerfileAudit {
 public:
  DockerfileAudit(const std::string& file, const Subject& subject)
      : file_(file), subject_(subject) {}

  std::vector<Finding> run(const std::string& text) {
    for (const auto& line : logical_lines(text, Dialect::dockerfile)) look_at(line);
    return std::move(findings_);
  }

 private:
  void look_at(const LogicalLine& line) {
    line_ = &line;
    words_ = words_of(line.code.text());
    if (!words_.empty() && plans::lower_case(words_[0].text) == "onbuild")
      words_.erase(words_.begin());
    if (words_.empty()) return;
    const std::string instruction = plans::lower_case(words_[0].text);
    if (instruction == "from") begin_stage();
    if (instruction == "arg") take_arguments();
    if (instruction == "env" || instruction == "arg") look_at_settings();
    if (instruction == "copy" || instruction == "add") look_at_files();
    if (instruction == "run") look_at_run();
  }

  void note(const char* kind, std::size_t offset, std::string message) {
    findings_.push_back(
        {kind, file_, line_->code.line_at(offset), line_->code.text(), std::move(message)});
  }

  void begin_stage() {
    const From from = from_of(words_);
    const std::string image = expanded(from.image, arguments_);
    const auto* name = forbidden_in(image, subject_);
    if (name != nullptr && !stages_.is_named(image))
      note("builder_image", 0, "builds on the image '" + *name + "'");
    stages_.begin(from.stage);
  }

  void take_arguments() {
    for (std::size_t i = 1; i < words_.size(); ++i) take_argument(words_[i].text, arguments_);
  }

  void look_at_settings() {
    for (std::size_t i = 1; i < words_.size(); ++i) {
      for (auto& remark : remarks_on_settings(words_[i].text))
        note(remark.kind, words_[i].offset, std::move(remark.message));
    }
  }

  // What an instruction takes from elsewhere: its own stages are no images.
  void look_at_source(const std::string& written, std::size_t offset) {
    const std::string source = expanded(written, arguments_);
    if (stages_.has(source)) return;
    if (const auto* name = forbidden_in(source, subject_))
      note("builder_image", offset, "copies from the image '" + *name + "'");
    else
      note("copy_from_image", offset,
           "copies from the image '" + source + "', which was built elsewhere");
  }

  void look_at_files() {
    for (std::size_t i = 1; i < words_.size(); ++i) {
      const std::string& word = words_[i].text;
      if (word.starts_with("--from=")) look_at_source(word.substr(7), words_[i].offset);
      if (word.ends_with(".whl") || word.ends_with(".whl\",") || word.find("wheelhouse") == 0)
        note("prebuilt_wheel", words_[i].offset, "brings a wheel that was built elsewhere");
    }
    // A script that is written here is there to be run.
    const bool is_script = !words_.empty() && words_.back().text.ends_with(".sh");
    for (const auto& heredoc : line_->heredocs)
      if (is_script) audit_shell(heredoc);
  }

  void look_at_run() {
    std::size_t first = 1;
    for (; first < words_.size() && words_[first].text.starts_with("--"); ++first)
      look_at_mount(words_[first]);
    if (first >= words_.size()) return;
    const std::size_t begin = words_[first].offset;
    const Joined command = line_->code.part(begin, line_->code.text().size());
    const auto argv = nlohmann::json::parse(command.text(), nullptr, false);
    const bool is_exec =
        argv.is_array() &&
        std::all_of(argv.begin(), argv.end(), [](const auto& word) { return word.is_string(); });
    const auto commands =
        is_exec ? commands_of(argv.get<std::vector<std::string>>(), command.line_at(0))
                : commands_of(command);
    for (const auto& one : commands) audit_command(one, file_, subject_, findings_);
    for (const auto& heredoc : line_->heredocs)
      if (is_for_a_shell(commands)) audit_shell(heredoc);
  }

  // Docker itself runs `RUN <<EOF` by a shell; `RUN python3 <<EOF` is Python.
  static bool is_for_a_shell(const std::vector<ShellCommand>& commands) {
    bool has_program = false;
    for (const auto& command : commands) {
      for (const auto& word : command.words) {
        if (is_shell(word.text)) return true;
        has_program = has_program || word.text.find("<<") == std::string::npos;
      }
    }
    return !has_program;
  }

  void look_at_mount(const ShellWord& word) {
    if (!word.text.starts_with("--mount=")) return;
    const Arguments fields = fields_of_mount(word.text);
    const auto type = fields.find("type");
    if (type != fields.end() && plans::lower_case(type->second) == "cache")
      note("cache_mount", word.offset, "a cache outlives the build");
    if (const auto from = fields.find("from"); from != fields.end())
      look_at_source(from->second, word.offset);
  }

  void audit_shell(const Heredoc& heredoc) {
    for (auto& one : audit_script(heredoc.text, file_, subject_, heredoc.first_line))
      findings_.push_back(std::move(one));
  }

  const std::string& file_;
  const Subject& subject_;
  Stages stages_{};
  Arguments arguments_{};
  const LogicalLine* line_ = nullptr;
  std::vector<ShellWord> words_{};
  std::vector<Finding> findings_{};
};

}  // namespace

std::vector<Finding> audit_dockerfile(const std::string& text, const std::string& file,
                                      const Subject& subject) {
  return DockerfileAudit(file, subject).run(text);
}

std::vector<std::string> base_images(const std::string& dockerfile) {
  std::vector<std::string> images;
  Stages stages;
  Arguments arguments;
  for (const auto& line : logical_lines(dockerfile, Dialect::dockerfile)) {
    const auto words = words_of(line.code.text());
    const std::string instruction = words.empty() ? "" : plans::lower_case(words[0].text);
    if (instruction == "arg") {
      for (std::size_t i = 1; i < words.size(); ++i) take_argument(words[i].text, arguments);
    }
    if (instruction != "from") continue;
    const From from = from_of(words);
    const std::string image = expanded(from.image, arguments);
    if (!image.empty() && !stages.is_named(image) && image != "scratch") images.push_back(image);
    stages.begin(from.stage);
  }
  return images;
}

}  // namespace assay::scenarios
