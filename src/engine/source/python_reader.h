// Follows the strings of a Python file through its statements: assignments, calls, and the
// expressions in them. Private to python_text.cc.
//
// One use on one thread; borrows the file; bounded depth and memory.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/python_literal.h"
#include "engine/source/python_token.h"
#include "engine/source/python_value.h"

namespace assay::source {

[[nodiscard]] bool is_python_keyword(std::string_view word);

// A text where the file assigns it or hands it to a call.
struct PythonOccurrence {
  PythonValue value{};
  std::string variable{};
  std::string keyword{};
  std::size_t assignment = 0;   // its number; 0 if it is none
  bool is_overwritten = false;  // the variable got another text later
};

class PythonReader {
 public:
  explicit PythonReader(std::string_view file);
  [[nodiscard]] std::vector<PythonOccurrence> run();
  // Whether the file makes more of its texts than is followed here. After run().
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  // One suite of statements, as deep as Python's indentation says.
  struct Suite {
    std::size_t indent = 0;
    std::size_t number = 0;
    bool is_loop = false;
  };
  struct Variable {
    PythonValue value{};
    std::size_t suite = 0;
    std::size_t assignment = 0;
    bool was_another = false;  // it had a value before
  };

  [[nodiscard]] const PythonToken& token(std::size_t ahead = 0) const;
  [[nodiscard]] bool is(std::string_view text, std::size_t ahead = 0) const;
  [[nodiscard]] bool at_end() const;  // of the logical line
  bool take(std::string_view text);
  [[nodiscard]] bool is_assignment(std::size_t ahead) const;

  void enter_line();
  void statement();
  void forget_parameters();
  void forget_targets();
  [[nodiscard]] std::optional<std::string> target(std::size_t& ahead) const;
  bool assignment();
  void assign(const std::string& name, PythonValue value, bool adds);
  void note(const PythonValue& value, const std::string& variable, const std::string& keyword,
            std::size_t assignment);

  PythonValue expression();
  PythonValue disjunction();
  PythonValue comparison();
  PythonValue additive();
  PythonValue term();
  PythonValue factor();
  PythonValue postfix();
  PythonValue method(const PythonValue& value);
  PythonValue atom();
  PythonValue literals();
  PythonValue field(const LiteralPart& part);
  PythonValue name();
  PythonValue call(const std::string& function, std::size_t line);
  PythonValue sequence(std::string_view close);
  void skip_to(std::string_view close);
  PythonArguments arguments(bool are_noted);
  [[nodiscard]] PythonValue look_up(const std::string& name, std::size_t line);
  // Every text that is made or copied is work; where there is too much of it, nothing.
  [[nodiscard]] PythonValue counted(PythonValue value);

  std::vector<PythonToken> tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::vector<Suite> suites_{};
  std::size_t suite_count_ = 0;
  bool opens_loop_ = false;  // the line before did
  std::size_t assignments_ = 0;
  std::map<std::string, Variable, std::less<>> variables_{};
  std::vector<PythonOccurrence> found_{};
  std::set<std::size_t> overwritten_{};
  std::size_t work_bytes_ = 0;
  bool is_cut_ = false;
};

}  // namespace assay::source
