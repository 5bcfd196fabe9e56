#include "engine/runner/diagnostics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "engine/runner/kernel_choice.h"

namespace assay::runner {
namespace {

// Where NVRTC keeps the name expressions it was given.
constexpr std::string_view kNameMap = "__nv_name_map";
constexpr std::string_view kNamePragma = "#pragma nv_mangled_name ";

struct Word {
  std::string_view text;
  Severity severity;
};
constexpr std::array<Word, 7> kWords{{{"error", Severity::error},
                                      {"catastrophic error", Severity::error},
                                      {"internal error", Severity::error},
                                      {"fatal", Severity::error},
                                      {"warning", Severity::warning},
                                      {"note", Severity::note},
                                      {"remark", Severity::note}}};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Cut at a whole character.
std::string clipped(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return std::string(text.substr(0, bytes)) + "…";
}

struct Head {
  Severity severity{};
  std::string_view message{};
};

// "error: text", "warning #177-D: text", "error   : text" (the assembler's columns).
std::optional<Head> severity_head(std::string_view text) {
  for (const Word& word : kWords) {
    if (text.size() < word.text.size() ||
        !std::equal(word.text.begin(), word.text.end(), text.begin(),
                    [](char a, char b) { return a == b || (a - 'a' + 'A') == b; })) {
      continue;
    }
    auto at = text.find_first_not_of(' ', word.text.size());
    if (at == std::string_view::npos) continue;
    if (text[at] == '#') at = text.find(':', at);
    if (at == std::string_view::npos || text[at] != ':') continue;
    return Head{.severity = word.severity, .message = trimmed(text.substr(at + 1))};
  }
  return std::nullopt;
}

// "kernel.cu(12): error: …"; a file's name may hold parentheses itself.
std::optional<Diagnostic> placed_head(std::string_view line) {
  for (auto close = line.find("): "); close != std::string_view::npos;
       close = line.find("): ", close + 1)) {
    const auto open = line.rfind('(', close);
    if (open == std::string_view::npos || open == 0) continue;
    int number = 0;
    const char* end = line.data() + close;
    const auto read = std::from_chars(line.data() + open + 1, end, number);
    if (read.ec != std::errc{} || read.ptr != end || number < 0) continue;
    const auto head = severity_head(line.substr(close + 3));
    if (!head) continue;
    return Diagnostic{.severity = head->severity,
                      .file = std::string(line.substr(0, open)),
                      .line = number,
                      .message = std::string(head->message)};
  }
  return std::nullopt;
}

// A symbol of the assembler's, as the user wrote it: 'Entry function '_Z1kPf' uses …'.
std::string readable(std::string_view message) {
  std::string out;
  while (!message.empty()) {
    const auto at = message.find("_Z");
    out += message.substr(0, at);
    if (at == std::string_view::npos) break;
    const auto end = std::min(message.find_first_of("' ,;)", at), message.size());
    out += display_name(std::string(message.substr(at, end - at)));
    message.remove_prefix(end);
  }
  return out;
}

std::optional<Diagnostic> unplaced_head(std::string_view line) {
  const auto found = [](Head head) {
    return Diagnostic{.severity = head.severity, .message = readable(head.message)};
  };
  constexpr std::string_view kEnd = "At end of source: ";
  constexpr std::string_view kAssembler = "ptxas";
  line = trimmed(line);
  if (line.starts_with(kEnd)) {
    auto head = severity_head(line.substr(kEnd.size()));
    if (!head) return std::nullopt;
    Diagnostic end = found(*head);
    end.message = "at the end of the source: " + end.message;
    return end;
  }
  if (line.starts_with("nvrtc: ")) line.remove_prefix(7);
  if (line.starts_with(kAssembler)) {
    // "ptxas application ptx input, line 29; error   : …" or "ptxas error   : …"
    const auto semicolon = line.find("; ");
    const auto rest = trimmed(
        line.substr(semicolon != std::string_view::npos ? semicolon + 2 : kAssembler.size()));
    const auto head = severity_head(rest);
    if (!head) return std::nullopt;  // its figures
    Diagnostic assembler = found(*head);
    if (const auto place = line.find(", line "); place < semicolon) {
      std::from_chars(line.data() + place + 7, line.data() + line.size(), assembler.ptx_line);
    }
    if (const auto symbol = head->message.find("'_Z"); symbol != std::string_view::npos) {
      const std::string_view name = head->message.substr(symbol + 1);
      assembler.symbol = std::string(name.substr(0, name.find('\'')));
    }
    assembler.message = "assembler: " + assembler.message;
    return assembler;
  }
  if (const auto head = severity_head(line)) return found(*head);
  return std::nullopt;
}

bool is_caret_line(std::string_view line) {
  const auto caret = line.find('^');
  return caret != std::string_view::npos && trimmed(line) == "^";
}

// What the compiler adds for people who run it by hand.
bool is_epilogue(std::string_view line) {
  return line.starts_with("Remark: The warnings can be suppressed") ||
         line.starts_with("Compilation terminated") || line.starts_with("Error limit reached") ||
         line.find(" detected in the compilation of ") != std::string_view::npos ||
         line.find(" detected in this compilation.") != std::string_view::npos ||
         line.find("Ptx assembly aborted due to errors") != std::string_view::npos ||
         line.find("precompiled header file \"") != std::string_view::npos;
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// Both lines are indented by two.
void set_place(Diagnostic& found, std::string_view source, std::string_view caret) {
  constexpr std::size_t kIndent = 2;
  const std::size_t at = caret.find('^');
  if (at < kIndent || source.size() < kIndent) return;
  source.remove_prefix(kIndent);
  const std::size_t first = at - kIndent;
  std::size_t last = first;
  while (last < source.size() && is_word(source[last])) ++last;
  if (last == first) ++last;
  found.column = static_cast<int>(first) + 1;
  found.end_line = found.line;
  found.end_column = static_cast<int>(last) + 1;
  found.excerpt = clipped(source, kMaxExcerptBytes);
}

// A name expression has no place in the source: what it says is kept, where it says so is not.
void hide_name_map(Diagnostic& found) {
  if (!found.file.starts_with(kNameMap)) return;
  const auto pragma = found.excerpt.find(kNamePragma);
  std::string expression;
  if (pragma != std::string::npos) expression = found.excerpt.substr(pragma + kNamePragma.size());
  found = {.severity = found.severity,
           .message = "name expression '" + expression + "': " + found.message,
           .excerpt = expression};
}

void tell_relative(std::string& file, const std::vector<std::string>& folders) {
  std::size_t longest = 0;
  for (const auto& folder : folders) {
    if (file.size() > folder.size() + 1 && file.starts_with(folder) && file[folder.size()] == '/') {
      longest = std::max(longest, folder.size() + 1);
    }
  }
  file.erase(0, longest);
}

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& folders) : folders_(folders) {}

  void take(std::string_view line) {
    if (is_epilogue(line)) return close();
    // Indented text belongs to the finding above it, whatever it says; the assembler indents too.
    std::optional<Diagnostic> head;
    if (!line.starts_with(' ') || line.starts_with(" ptxas")) {
      head = placed_head(line);
      if (!head) head = unplaced_head(line);
    }
    if (head) {
      close();
      open_ = std::move(*head);
      return;
    }
    if (!open_) return;
    if (trimmed(line).empty()) return close();
    if (is_caret_line(line) && open_->column == 0 && !pending_.empty()) {
      set_place(*open_, pending_.back(), line);
      pending_.pop_back();
      return;
    }
    pending_.push_back(line);
  }

  Diagnostics finish() {
    close();
    return std::move(found_);
  }

 private:
  void close() {
    if (!open_) return;
    for (const auto text : pending_) {
      if (open_->message.size() < kMaxMessageBytes)
        open_->message += "\n" + std::string(trimmed(text));
    }
    pending_.clear();
    bytes_ += std::min(open_->message.size(), kMaxMessageBytes) + open_->excerpt.size() +
              open_->file.size();
    if (found_.list.size() >= kMaxDiagnostics || bytes_ > kMaxDiagnosticsBytes) {
      found_.truncated = true;
    } else {
      if (open_->line > 0 && open_->end_line == 0) open_->end_line = open_->line;
      hide_name_map(*open_);
      tell_relative(open_->file, folders_);
      open_->message = clipped(open_->message, kMaxMessageBytes);
      found_.list.push_back(std::move(*open_));
    }
    open_.reset();
  }

  const std::vector<std::string>& folders_;
  Diagnostics found_{};
  std::size_t bytes_ = 0;
  std::optional<Diagnostic> open_{};
  std::vector<std::string_view> pending_{};
};

}  // namespace

const char* name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "";
}

Diagnostics parse_diagnostics(std::string_view log, const std::vector<std::string>& folders) {
  Reader reader(folders);
  while (!log.empty()) {
    const auto end = std::min(log.find('\n'), log.size());
    reader.take(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return reader.finish();
}

}  // namespace assay::runner
