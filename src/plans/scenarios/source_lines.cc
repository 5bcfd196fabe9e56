#include "plans/scenarios/source_lines.h"

#include <algorithm>
#include <regex>
#include <sstream>

namespace assay::scenarios {
namespace {

constexpr std::string_view kSpace = " \t\n";

void trim_right(std::string& text) {
  while (!text.empty() && std::string_view(" \t\r").find(text.back()) != std::string_view::npos)
    text.pop_back();
}

struct Opened {
  std::string end{};
  bool may_be_indented = false;  // <<-EOF
};

constexpr std::string_view kNameLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

// The word behind "<<" or "<<-" at `at`, perhaps in quotes; "" if none is, as in a shift by a
// number.
std::string end_word(const std::string& text, std::size_t at) {
  at = std::min(text.find_first_not_of(' ', at), text.size());
  if (at < text.size() && (text[at] == '"' || text[at] == '\'' || text[at] == '\\')) ++at;
  const std::size_t end = std::min(text.find_first_not_of(kNameLetters, at), text.size());
  const bool is_number = at < end && text[at] >= '0' && text[at] <= '9';
  return is_number ? std::string() : text.substr(at, end - at);
}

// "<<EOF", "<<-'EOF'"; neither "<<<" nor what stands in quotes.
std::vector<Opened> heredocs_of(const std::string& text) {
  std::vector<Opened> opened;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t past = past_quoted(text, at);
    if (past != at || text.compare(at, 2, "<<") != 0) {
      at = std::max(past, at + 1);
      continue;
    }
    if (text.compare(at, 3, "<<<") == 0) {
      at += 3;
      continue;
    }
    const bool may_be_indented = text.compare(at, 3, "<<-") == 0;
    at += may_be_indented ? 3 : 2;
    if (std::string word = end_word(text, at); !word.empty())
      opened.push_back({std::move(word), may_be_indented});
  }
  return opened;
}

class LineReader {
 public:
  LineReader(const std::string& text, Dialect dialect, int first_line)
      : stream_(text), dialect_(dialect), number_(first_line - 1) {}

  std::vector<LogicalLine> run() {
    for (std::string raw; next(raw);) take(raw);
    finish();
    return std::move(lines_);
  }

 private:
  bool next(std::string& raw) {
    if (!std::getline(stream_, raw)) return false;
    if (number_ == 0 && raw.starts_with("\xEF\xBB\xBF")) raw.erase(0, 3);
    ++number_;
    trim_right(raw);
    return true;
  }

  void take(std::string& raw) {
    const std::size_t begin = raw.find_first_not_of(" \t");
    const bool is_nothing = begin == std::string::npos || raw[begin] == '#';
    if (is_nothing) {
      look_for_escape(raw);
      // Between the lines of an instruction Docker passes over comments; a shell ends there.
      if (dialect_ == Dialect::shell) finish();
      return;
    }
    has_begun_ = true;
    const bool goes_on = raw.back() == escape_ && !is_escaped_end(raw);
    if (goes_on) raw.pop_back();
    std::string text = raw.substr(begin);
    if (goes_on) text += ' ';
    code_.add(text, number_);
    if (!goes_on) finish();
  }

  [[nodiscard]] bool is_escaped_end(const std::string& raw) const {
    const std::size_t last = raw.find_last_not_of(escape_);
    const std::size_t count = raw.size() - (last == std::string::npos ? 0 : last + 1);
    return dialect_ == Dialect::shell && count % 2 == 0;
  }

  // "# escape=`" before the first instruction.
  void look_for_escape(const std::string& raw) {
    static const std::regex directive("^\\s*#\\s*escape\\s*=\\s*(\\\\|`)$", std::regex::icase);
    std::smatch match;
    const bool may_be = dialect_ == Dialect::dockerfile && !has_begun_ && raw.size() < 100;
    if (may_be && std::regex_match(raw, match, directive)) escape_ = match[1].str().front();
  }

  void finish() {
    if (code_.text().empty()) return;
    LogicalLine line{.code = std::move(code_)};
    code_ = {};
    for (const auto& opened : heredocs_of(line.code.text())) line.heredocs.push_back(body(opened));
    lines_.push_back(std::move(line));
  }

  Heredoc body(const Opened& opened) {
    Heredoc heredoc{.first_line = number_ + 1};
    for (std::string raw; next(raw);) {
      const std::size_t begin = opened.may_be_indented ? raw.find_first_not_of('\t') : 0;
      if (begin != std::string::npos && raw.compare(begin, std::string::npos, opened.end) == 0)
        break;
      heredoc.text += raw + "\n";
    }
    return heredoc;
  }

  std::istringstream stream_;
  const Dialect dialect_;
  int number_;
  char escape_ = '\\';
  bool has_begun_ = false;
  Joined code_{};
  std::vector<LogicalLine> lines_{};
};

}  // namespace

int Joined::line_at(std::size_t offset) const {
  const auto next = after(offset);
  return next == starts_.begin() ? 0 : std::prev(next)->second;
}

// The first piece that begins behind `offset`.
std::vector<Joined::Start>::const_iterator Joined::after(std::size_t offset) const {
  return std::upper_bound(starts_.begin(), starts_.end(), offset,
                          [](std::size_t at, const Start& one) { return at < one.first; });
}

Joined Joined::part(std::size_t begin, std::size_t end) const {
  end = std::min(end, text_.size());
  while (begin < end && kSpace.find(text_[begin]) != std::string_view::npos) ++begin;
  while (begin < end && kSpace.find(text_[end - 1]) != std::string_view::npos) --end;
  Joined cut;
  cut.text_ = text_.substr(std::min(begin, text_.size()), end - std::min(begin, end));
  cut.starts_.emplace_back(0, line_at(begin));
  for (auto at = after(begin); at != starts_.end() && at->first < end; ++at)
    cut.starts_.emplace_back(at->first - begin, at->second);
  return cut;
}

std::size_t past_quoted(const std::string& text, std::size_t at) {
  if (text[at] == '\\' && at + 1 < text.size()) return at + 2;
  const char quote = text[at];
  if (quote != '"' && quote != '\'') return at;
  for (std::size_t end = at + 1; end < text.size(); ++end) {
    if (quote == '"' && text[end] == '\\')
      ++end;
    else if (text[end] == quote)
      return end + 1;
  }
  return at;
}

std::vector<LogicalLine> logical_lines(const std::string& text, Dialect dialect, int first_line) {
  return LineReader(text, dialect, first_line).run();
}

}  // namespace assay::scenarios
