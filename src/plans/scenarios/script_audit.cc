// Dockerfiles and shell scripts: logical lines, then what each says.
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "plans/scenarios/audit.h"

namespace assay::scenarios {
namespace {

// A line with its continuations; comments and empty lines left out.
struct LogicalLine {
  int line = 0;
  std::string text{};
};

std::vector<LogicalLine> logical_lines(const std::string& text) {
  std::vector<LogicalLine> lines;
  std::istringstream stream(text);
  int number = 0;
  bool continues = false;
  for (std::string raw; std::getline(stream, raw);) {
    ++number;
    while (!raw.empty() && (raw.back() == '\r' || raw.back() == ' ' || raw.back() == '\t'))
      raw.pop_back();
    const std::size_t begin = raw.find_first_not_of(" \t");
    if (begin == std::string::npos || raw[begin] == '#') continue;
    const bool goes_on = raw.back() == '\\';
    if (goes_on) raw.pop_back();
    if (continues)
      lines.back().text += " " + raw.substr(begin);
    else
      lines.push_back({number, raw.substr(begin)});
    continues = goes_on;
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

const std::string* forbidden_in(const std::string& text, const Subject& subject) {
  const auto found =
      std::find_if(subject.forbidden.begin(), subject.forbidden.end(),
                   [&](const std::string& one) { return text.find(one) != std::string::npos; });
  return found == subject.forbidden.end() ? nullptr : &*found;
}

bool searches(const std::string& text, const char* pattern) {
  return std::regex_search(text.substr(0, kMatchedLength), std::regex(pattern, std::regex::icase));
}

// The commands of a script, or of a RUN line.
void look_at_command(const LogicalLine& line, const std::string& file, const Subject& subject,
                     std::vector<Finding>& into) {
  const auto note = [&](const char* kind, std::string message) {
    into.push_back({kind, file, line.line, line.text, std::move(message)});
  };
  if (searches(line.text, "pip3?\\s+download\\b"))
    note("prefetch", "wheels are fetched ahead of the install");
  if (searches(line.text, "\\b(ccache|sccache)\\b"))
    note("compiler_cache", "a compiler cache is in use");
  if (searches(line.text, "--find-links\\b|--no-index\\b"))
    note("prefetch", "packages come from a folder of wheels");
  if (searches(line.text, "\\bbuild(x\\s+build)?\\b.*--cache-from"))
    note("cache_from", "a build takes layers from a cache");
  if (searches(line.text, "--cache-to\\b"))
    note("cache_to", "a build stores its layers in a cache");
  if (searches(line.text, "\\bread\\s+(-\\w+\\s+)*-\\w*p\\b")) {
    note("prompt", "asks a question: without a terminal it hangs or takes nothing");
  }
  if (matches_any(subject.compile_commands, line.text))
    note("compile", "compiles what the scenario counts");
}

// A RUN line is several commands; each compile among them counts.
std::vector<LogicalLine> commands_of(const LogicalLine& line) {
  std::vector<LogicalLine> commands;
  std::size_t begin = 0;
  while (begin <= line.text.size()) {
    std::size_t end = std::min(
        {line.text.find("&&", begin), line.text.find("||", begin), line.text.find(';', begin)});
    if (end == std::string::npos) end = line.text.size();
    commands.push_back({line.line, line.text.substr(begin, end - begin)});
    begin = end + (end < line.text.size() && line.text[end] == ';' ? 1 : 2);
  }
  return commands;
}

struct Stages {
  std::set<std::string> names{};
  std::map<std::string, std::string> arguments{};  // ARG before the first FROM
  std::size_t count = 0;

  [[nodiscard]] bool has(const std::string& name) const {
    const bool is_index =
        !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    // A number that no earlier stage has is the name of an image.
    return names.contains(name) || (is_index && name.size() < 6 && std::stoul(name) + 1 < count);
  }
};

// "${BASE}", "${BASE:-other}" and "$BASE" by their defaults.
std::string expanded(const std::string& text, const std::map<std::string, std::string>& arguments) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      out += text[at++];
      continue;
    }
    const bool is_braced = text.compare(at, 2, "${") == 0;
    const std::size_t begin = at + (is_braced ? 2 : 1);
    const std::size_t end = std::min(text.find_first_not_of(kLetters, begin), text.size());
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

void take_argument(const std::string& word, std::map<std::string, std::string>& arguments) {
  const std::size_t equals = std::min(word.find('='), word.size());
  std::string value = word.substr(std::min(equals + 1, word.size()));
  std::erase(value, '"');
  arguments[word.substr(0, equals)] = value;
}

// "--mount=type=bind,from=IMAGE,…" → IMAGE; "" if it takes from nowhere else.
std::string mounted_from(const std::string& word) {
  if (!word.starts_with("--mount=")) return {};
  const std::size_t from = word.find(",from=");
  const std::size_t first = word.find("=from=");
  const std::size_t begin = from != std::string::npos ? from : first;
  if (begin == std::string::npos) return {};
  return word.substr(begin + 6, word.find(',', begin + 6) - begin - 6);
}

// The image of a FROM line, and the name it gives the stage.
std::pair<std::string, std::string> from_of(const std::vector<std::string>& words) {
  std::size_t image = 1;
  while (image < words.size() && words[image].starts_with("--")) ++image;
  if (image >= words.size()) return {};
  const bool is_named = image + 2 < words.size() && upper(words[image + 1]) == "AS";
  return {words[image], is_named ? words[image + 2] : std::string()};
}

using Note = std::function<void(const char* kind, std::string message)>;

// Images that COPY, ADD and the mounts of RUN take files from.
void look_for_sources(const std::vector<std::string>& words, bool is_run, const Subject& subject,
                      const Stages& stages, const Note& note) {
  for (const auto& word : words) {
    std::string source;
    if (is_run)
      source = mounted_from(word);
    else if (word.starts_with("--from="))
      source = word.substr(7);
    if (source.empty()) continue;
    if (const auto* name = forbidden_in(source, subject))
      note("builder_image", "copies from the image '" + *name + "'");
    else if (!stages.has(source))
      note("copy_from_image", "copies from the image '" + source + "', which was built elsewhere");
  }
}

void look_for_settings(const std::string& text, const Note& note) {
  if (searches(text, "ccache|_COMPILER_LAUNCHER"))
    note("compiler_cache", "a compiler cache is set up for what follows");
  if (searches(text, "PIP_FIND_LINKS|PIP_NO_INDEX"))
    note("prefetch", "packages come from a folder of wheels");
}

void begin_stage(const std::vector<std::string>& words, const Subject& subject, Stages& stages,
                 const Note& note) {
  const auto [image, stage] = from_of(words);
  if (const auto* name = forbidden_in(expanded(image, stages.arguments), subject))
    note("builder_image", "builds on the image '" + *name + "'");
  if (!stage.empty()) stages.names.insert(stage);
  ++stages.count;
}

void look_at_instruction(const LogicalLine& line, const std::string& file, const Subject& subject,
                         Stages& stages, std::vector<Finding>& into) {
  const auto words = words_of(line.text);
  const std::string instruction = upper(words.front());
  const Note note = [&](const char* kind, std::string message) {
    into.push_back({kind, file, line.line, line.text, std::move(message)});
  };
  const bool is_run = instruction == "RUN";
  if (instruction == "FROM") begin_stage(words, subject, stages, note);
  if (instruction == "ARG" && stages.count == 0) {
    for (std::size_t i = 1; i < words.size(); ++i) take_argument(words[i], stages.arguments);
  }
  if (instruction == "ENV" || instruction == "ARG") look_for_settings(line.text, note);
  if (is_run || instruction == "COPY" || instruction == "ADD")
    look_for_sources(words, is_run, subject, stages, note);
  if (!is_run) return;
  if (searches(line.text, "--mount=type=cache")) note("cache_mount", "a cache outlives the build");
  for (const auto& command : commands_of(line)) look_at_command(command, file, subject, into);
}

}  // namespace

std::vector<Finding> audit_dockerfile(const std::string& text, const std::string& file,
                                      const Subject& subject) {
  std::vector<Finding> findings;
  Stages stages;
  for (const auto& line : logical_lines(text))
    look_at_instruction(line, file, subject, stages, findings);
  return findings;
}

std::vector<Finding> audit_script(const std::string& text, const std::string& file,
                                  const Subject& subject) {
  std::vector<Finding> findings;
  for (const auto& line : logical_lines(text)) {
    const auto* name = forbidden_in(line.text, subject);
    const bool removes = searches(line.text, "\\b(rmi|image\\s+rm|image\\s+prune)\\b");
    if (name != nullptr && !removes) {
      findings.push_back(
          {"builder_image", file, line.line, line.text, "uses the image '" + *name + "'"});
    }
    for (const auto& command : commands_of(line)) look_at_command(command, file, subject, findings);
  }
  return findings;
}

std::vector<std::string> base_images(const std::string& dockerfile) {
  std::vector<std::string> images;
  std::set<std::string> stages;
  for (const auto& line : logical_lines(dockerfile)) {
    const auto words = words_of(line.text);
    if (upper(words.front()) != "FROM") continue;
    const auto [image, stage] = from_of(words);
    if (!image.empty() && !stages.contains(image) && image != "scratch") images.push_back(image);
    if (!stage.empty()) stages.insert(stage);
  }
  return images;
}

}  // namespace assay::scenarios
