// The integer variables of one kernel's body: what they are made of, what bounds them, and so how
// far an index can reach. Private to this room.
//
// Borrows the tokens. One thread; bounded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/usage.h"

namespace assay::source {

class Bounds {
 public:
  Bounds(const Tokens& tokens, const Kernel& kernel);

  // The extents of the array that is indexed by the tokens of `index`; empty if a part is
  // unbounded.
  [[nodiscard]] std::vector<std::string> shape(Range index) const;

  // Every variable made of thread coordinates.
  [[nodiscard]] std::vector<ThreadIndex> thread_indexes() const;

 private:
  struct Variable {
    std::optional<Range> value{};  // of its first definition
    std::string bound{};           // exclusive: "n" of i < n
  };
  // A product of factors, each a variable, a scalar parameter or a number.
  using Term = std::vector<std::string>;

  class Sum;

  void note_definition(std::size_t at);
  void note_bound(std::size_t at);
  [[nodiscard]] std::string expression_from(std::size_t at) const;
  [[nodiscard]] std::string name_in_expression(const Token& token, std::size_t depth) const;
  [[nodiscard]] bool is_size(std::string_view word) const;
  [[nodiscard]] std::optional<std::vector<Term>> terms(Range range, int depth) const;
  std::optional<std::size_t> read_operator(std::size_t i, Range range, Sum& sum) const;
  std::optional<std::size_t> read_factor(std::size_t i, Range range, int depth, Sum& sum) const;
  [[nodiscard]] std::optional<std::vector<Term>> factor_of(const Token& token, int depth) const;
  [[nodiscard]] std::optional<std::string> extent_of(std::string_view variable) const;
  [[nodiscard]] std::optional<ThreadIndex> thread_index(Range value) const;

  const Tokens& tokens_;
  const Kernel& kernel_;
  std::map<std::string, Variable, std::less<>> variables_{};
  std::vector<std::string> order_{};
};

}  // namespace assay::source
