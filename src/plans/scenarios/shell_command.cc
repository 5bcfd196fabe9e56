#include "plans/scenarios/shell_command.h"

#include <algorithm>
#include <array>

namespace assay::scenarios {
namespace {

constexpr int kMaxDepth = 8;              // of `sh -c` in `sh -c`
constexpr std::size_t kMaxWords = 1'000;  // of one command; what comes after them is not read
constexpr std::string_view kSpace = " \t\n";

bool is_space(char letter) { return kSpace.find(letter) != std::string_view::npos; }

// The length of the separator at `at`; 0 if there is none.
std::size_t separator(const std::string& text, std::size_t at) {
  for (const char* two : {"&&", "||", ";;"}) {
    if (text.compare(at, 2, two) == 0) return 2;
  }
  if (text[at] == '&') {
    // "2>&1" and "&>file" are redirections.
    const bool redirects = (at > 0 && text[at - 1] == '>') || text.compare(at, 2, "&>") == 0;
    return redirects ? 0 : 1;
  }
  return std::string_view(";|()`\n").find(text[at]) != std::string_view::npos ? 1 : 0;
}

std::vector<Joined> simple_commands(const Joined& line) {
  const std::string& text = line.text();
  std::vector<Joined> commands;
  std::size_t begin = 0;
  std::size_t at = 0;
  const auto end_at = [&](std::size_t end) {
    Joined one = line.part(begin, end);
    if (!one.text().empty()) commands.push_back(std::move(one));
  };
  while (at < text.size()) {
    if (text[at] == '#' && (at == 0 || is_space(text[at - 1]) || at == begin)) break;
    const std::size_t past = past_quoted(text, at);
    const std::size_t length = past == at ? separator(text, at) : 0;
    if (length > 0) {
      end_at(at);
      begin = at + length;
      at = begin;
    } else {
      at = std::max(past, at + 1);
    }
  }
  end_at(std::min(at, text.size()));
  return commands;
}

// The word at `at`, and `at` behind it.
ShellWord word_at(const std::string& text, std::size_t& at) {
  ShellWord word{.offset = at};
  while (at < text.size() && !is_space(text[at])) {
    const std::size_t past = past_quoted(text, at);
    if (past == at)
      word.text += text[at];
    else if (text[at] == '\\')
      word.text += text[at + 1];
    else
      word.text += text.substr(at + 1, past - at - 2);
    at = std::max(past, at + 1);
  }
  return word;
}

std::vector<ShellWord> words_of(const std::string& text) {
  std::vector<ShellWord> words;
  for (std::size_t at = 0; at < text.size() && words.size() < kMaxWords;) {
    if (is_space(text[at]))
      ++at;
    else
      words.push_back(word_at(text, at));
  }
  return words;
}

// The word that a shell is given by -c; null if there is none.
const ShellWord* script_of(const std::vector<ShellWord>& words) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (!is_shell(words[i].text)) continue;
    std::size_t option = i + 1;
    while (option + 1 < words.size() && words[option].text.starts_with('-') &&
           !words[option].text.ends_with('c'))
      ++option;
    const std::string& flags = words[option].text;
    if (flags.starts_with('-') && flags.ends_with('c') && option + 1 < words.size())
      return &words[option + 1];
  }
  return nullptr;
}

void add_commands(const Joined& line, int depth, std::vector<ShellCommand>& into) {
  for (auto& code : simple_commands(line)) {
    auto words = words_of(code.text());
    const ShellWord* script = depth < kMaxDepth ? script_of(words) : nullptr;
    if (script == nullptr) {
      into.push_back({std::move(code), std::move(words)});
      continue;
    }
    // Inside its quotes, so that every letter keeps its line.
    const std::size_t begin = script->offset;
    const std::size_t past = past_quoted(code.text(), begin);
    const bool is_quoted = past > begin && code.text()[begin] != '\\';
    add_commands(
        is_quoted ? code.part(begin + 1, past - 1) : Joined(script->text, code.line_at(begin)),
        depth + 1, into);
  }
}

}  // namespace

std::vector<ShellCommand> commands_of(const Joined& line) {
  std::vector<ShellCommand> commands;
  add_commands(line, 0, commands);
  return commands;
}

std::vector<ShellCommand> commands_of(const std::vector<std::string>& argv, int line) {
  ShellCommand command;
  std::string text;
  for (const auto& word : argv) {
    if (!text.empty()) text += ' ';
    command.words.push_back({word, text.size()});
    text += word;
  }
  if (const ShellWord* script = script_of(command.words))
    return commands_of(Joined(script->text, line));
  command.code = Joined(text, line);
  return {std::move(command)};
}

std::string program_name(const std::string& word) {
  const std::size_t slash = word.rfind('/');
  return slash == std::string::npos ? word : word.substr(slash + 1);
}

bool is_shell(const std::string& word) {
  constexpr std::array<const char*, 6> kShells{"sh", "bash", "dash", "zsh", "ash", "ksh"};
  const std::string name = program_name(word);
  return std::any_of(kShells.begin(), kShells.end(), [&](const char* one) { return name == one; });
}

bool only_prints(const ShellCommand& command) {
  constexpr std::array<const char*, 8> kBefore{"if", "then", "else", "elif",
                                               "do", "!",    "{",    "while"};
  for (const auto& word : command.words) {
    if (std::find(kBefore.begin(), kBefore.end(), word.text) != kBefore.end()) continue;
    return word.text == "echo" || word.text == "printf" || word.text == ":";
  }
  return false;
}

}  // namespace assay::scenarios
