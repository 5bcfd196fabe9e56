// Module-level PTX: directives, variables and function headers into a Program. Bodies are skipped
// (the decoder reads them, and only those an entry reaches). The first error wins and ends the
// parse.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/emulator/emulator.h"
#include "engine/emulator/lexer.h"
#include "engine/emulator/program.h"

namespace assay::emulator {

// A literal or constant expression.
struct Constant {
  bool is_float = false;
  std::uint64_t integer = 0;
  double number = 0;
  unsigned float_bits = 0;  // 32 or 64: written as 0f… or 0d…, so `integer` holds the exact bits
};

// Tokens with error state: the part that the module parser and the body decoder share.
class Reader {
 public:
  Reader(std::string_view text, std::size_t offset, int line) : lexer_(text, offset, line) {}

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const std::optional<ParseError>& error() const { return error_; }
  void fail(std::string message);
  void fail_at(int line, std::string message);

  Lexer& lexer() { return lexer_; }
  void expect(char punctuation);
  std::string_view expect_word(std::string_view what);
  std::uint64_t expect_size(std::string_view what);
  Constant constant_expression() { return binary(0, 0); }
  void skip_braces();     // from an opening brace past its closing one
  void skip_statement();  // past the next `;`

  // A declaration's attributes up to its name: .align N .v4 .type .ptr .global …
  struct Declaration {
    Type type = Type::none;
    std::size_t align_bytes = 0;
    unsigned vector = 1;
  };
  Declaration declaration_head();
  // Name, array dimensions and initialiser of one variable.
  Variable declarator(const Declaration& head, Space space);
  Formal formal();

 private:
  Constant unary(int depth);
  Constant binary(int min_precedence, int depth);
  Constant literal(std::string_view text);
  void initialiser(Variable& variable, unsigned element_bytes, int depth);
  void initial_value(Variable& variable, unsigned element_bytes);

  Lexer lexer_;
  std::optional<ParseError> error_{};
};

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : reader_(text, 0, 1) {}
  [[nodiscard]] std::optional<ParseError> parse(Program& program);

 private:
  void statement();
  void version();
  void file();
  void variable(Space space);
  void cluster(FunctionSource& function, bool is_required);
  void function(bool is_entry);
  std::vector<Formal> formals();
  void function_attributes(FunctionSource& function);
  void add_variable(Variable variable);
  void add_function(FunctionSource function);
  void lay_out_globals();

  Reader reader_;
  Program* program_ = nullptr;
};

}  // namespace assay::emulator
