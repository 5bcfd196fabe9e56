#include "engine/source/python_reader.h"

#include <algorithm>
#include <utility>

namespace assay::source {
namespace {

using Kind = PythonValue::Kind;

constexpr std::size_t kMaxFound = 10'000;
// Of texts that were put together or copied: a file of CUDA strings takes a few times its size, a
// chain of f-strings doubles with every line.
constexpr std::size_t kMaxWorkBytes = 8U << 20;
constexpr std::size_t kValueBytes = 64;  // of a value beside its text

bool holds_kernels(const PythonValue& value) {
  return value.is_text() && value.text.bytes.find("__global__") != std::string::npos;
}

std::size_t bytes_of(const PythonValue& value) {
  std::size_t bytes = kValueBytes * (1 + value.made_of.size()) + value.text.bytes.size();
  for (const PythonValue& item : value.items) bytes += bytes_of(item);
  return bytes;
}

}  // namespace

PythonReader::PythonReader(std::string_view file) : tokens_(python_tokens(file)) {}

std::vector<PythonOccurrence> PythonReader::run() {
  while (at_ < tokens_.size()) {
    is_cut_ |= work_bytes_ > kMaxWorkBytes || found_.size() >= kMaxFound;
    if (is_cut_) {
      for (auto& one : found_)
        one.value.doubt_that("this file is too long to follow", token().line);
      break;
    }
    enter_line();
    statement();
    while (!at_end()) ++at_;
    ++at_;
  }
  // What the last line met.
  is_cut_ |= work_bytes_ > kMaxWorkBytes;
  for (auto& one : found_) one.is_overwritten = overwritten_.contains(one.assignment);
  return std::move(found_);
}

PythonValue PythonReader::counted(PythonValue value) {
  work_bytes_ += bytes_of(value);
  if (work_bytes_ > kMaxWorkBytes) return {};
  return value;
}

const PythonToken& PythonReader::token(std::size_t ahead) const {
  static constexpr PythonToken kEnd{.kind = PythonTokenKind::line_end};
  return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : kEnd;
}

bool PythonReader::is(std::string_view text, std::size_t ahead) const {
  return token(ahead).is(text);
}

bool PythonReader::at_end() const { return token().kind == PythonTokenKind::line_end; }

bool PythonReader::take(std::string_view text) {
  if (!is(text)) return false;
  ++at_;
  return true;
}

// "=" that is not "==".
bool PythonReader::is_assignment(std::size_t ahead) const {
  return is("=", ahead) && !is("=", ahead + 1);
}

void PythonReader::enter_line() {
  const std::size_t indent = token().indent;
  while (!suites_.empty() && suites_.back().indent > indent) suites_.pop_back();
  if (suites_.empty() || suites_.back().indent < indent) {
    suites_.push_back({.indent = indent, .number = ++suite_count_, .is_loop = opens_loop_});
  }
  opens_loop_ = is("for") || is("while");
}

void PythonReader::statement() {
  if (is("async")) ++at_;
  if (is("def")) return forget_parameters();
  if (is("for")) forget_targets();
  if (is("import") || is("from") || is("class")) return;
  if (assignment()) return;
  const bool is_lone_text = token().kind == PythonTokenKind::text;
  while (!at_end()) {
    const std::size_t before = at_;
    const PythonValue value = expression();
    // A docstring is no source.
    if (!(is_lone_text && at_end())) note(value, {}, {}, 0);
    if (at_ == before) ++at_;
  }
}

// A parameter hides what had its name.
void PythonReader::forget_parameters() {
  std::size_t depth = 0;
  for (; !at_end(); ++at_) {
    if (is("(") || is("[") || is("{")) ++depth;
    if ((is(")") || is("]") || is("}")) && depth > 0) --depth;
    const PythonToken& before = tokens_[at_ > 0 ? at_ - 1 : 0];
    const bool is_parameter = depth == 1 && token().kind == PythonTokenKind::name &&
                              (before.is("(") || before.is(",") || before.is("*"));
    if (is_parameter) variables_.erase(std::string(token().text));
    if (depth == 0 && is(":")) break;
  }
}

void PythonReader::forget_targets() {
  for (std::size_t i = 1; !is("in", i) && token(i).kind != PythonTokenKind::line_end; ++i) {
    if (token(i).kind == PythonTokenKind::name) variables_.erase(std::string(token(i).text));
  }
}

// "name" or "self.name"; `ahead` is left behind it.
std::optional<std::string> PythonReader::target(std::size_t& ahead) const {
  if (token(ahead).kind != PythonTokenKind::name || is_python_keyword(token(ahead).text)) return {};
  std::string name(token(ahead++).text);
  while (is(".", ahead) && token(ahead + 1).kind == PythonTokenKind::name) {
    name += "." + std::string(token(ahead + 1).text);
    ahead += 2;
  }
  return name;
}

// name = …, name: str = …, name += …, a = b = …
bool PythonReader::assignment() {
  std::vector<std::string> names;
  bool adds = false;
  for (;;) {
    std::size_t ahead = 0;
    const auto name = target(ahead);
    if (!name) break;
    if (is(":", ahead) && names.empty()) {
      while (!is("=", ahead) && token(ahead).kind != PythonTokenKind::line_end) ++ahead;
    }
    if (names.empty() && is("+", ahead) && is("=", ahead + 1)) {
      adds = true;
      ++ahead;
    }
    if (!is_assignment(ahead)) break;
    names.push_back(*name);
    at_ += ahead + 1;
    if (adds) break;
  }
  if (names.empty()) return false;
  PythonValue value = expression();
  if (is(",")) value = {};  // a tuple
  for (const auto& name : names) assign(name, value, adds);
  return true;
}

void PythonReader::assign(const std::string& name, PythonValue value, bool adds) {
  const auto old = variables_.find(name);
  const bool exists = old != variables_.end();
  if (adds) value = sum(look_up(name, token().line), value, token().line);
  if (exists && (adds || value.kind == Kind::text)) {
    bool is_inside = false;
    for (const Suite& suite : suites_) {
      if (is_inside && suite.is_loop && adds) {
        value.doubt_that("'" + name + "' is put together in a loop", token().line);
      }
      is_inside |= suite.number == old->second.suite;
    }
  }
  work_bytes_ += bytes_of(value);
  if (exists && !adds && value.is_text()) overwritten_.insert(old->second.assignment);
  const std::size_t number = ++assignments_;
  note(value, name, {}, number);
  value.made_of.insert(number);
  for (PythonValue& item : value.items) item.made_of.insert(number);
  variables_[name] = {.value = std::move(value),
                      .suite = suites_.back().number,
                      .assignment = number,
                      .was_another = exists};
}

void PythonReader::note(const PythonValue& value, const std::string& variable,
                        const std::string& keyword, std::size_t assignment) {
  for (const PythonValue& item : value.items) note(item, variable, keyword, assignment);
  if (!value.is_text() || found_.size() >= kMaxFound) return;
  work_bytes_ += value.text.bytes.size();
  if (work_bytes_ > kMaxWorkBytes) return;
  if (variable.empty() && keyword.empty() && !holds_kernels(value)) return;
  found_.push_back(
      {.value = value, .variable = variable, .keyword = keyword, .assignment = assignment});
}

PythonValue PythonReader::look_up(const std::string& name, std::size_t line) {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return {};
  const Variable& variable = found->second;
  work_bytes_ += bytes_of(variable.value);
  if (work_bytes_ > kMaxWorkBytes) return {};
  PythonValue value = variable.value;
  const bool is_in_force = std::any_of(suites_.begin(), suites_.end(), [&](const Suite& suite) {
    return suite.number == variable.suite;
  });
  if (variable.was_another && !is_in_force) {
    value.doubt_that("'" + name + "' has several values, the last is taken", line);
  }
  return value;
}

}  // namespace assay::source
