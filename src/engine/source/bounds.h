// The integer variables of one kernel's body: what they are made of, what bounds them, and so how
// far an index can reach. Private to this room; what is made of thread coordinates stands in
// thread_indexes.cc.
//
// Borrows the tokens. One thread; bounded.
#pragma once

#include <map>
#include <optional>
#include <set>
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

  // Every variable made of thread coordinates, and what else tells of a block's size: a loop that
  // starts at a thread and steps by a number, shared memory with an element per thread.
  [[nodiscard]] std::vector<ThreadIndex> thread_indexes() const;

  // Axes whose blockIdx is named, but never times a block's threads.
  [[nodiscard]] std::set<char> lone_blocks() const;
  // Of those, how many there are, where an index says so.
  [[nodiscard]] std::map<char, std::string> counted_blocks() const;
  // The scalars in the conditions of for loops, through local names.
  [[nodiscard]] std::set<std::string> loop_sizes() const;

 private:
  struct Variable {
    std::optional<Range> value{};  // of its first definition
    std::string bound{};           // exclusive: "n" of i < n
  };
  // A product of factors, each a variable, a scalar parameter or a number.
  using Term = std::vector<std::string>;

  // blockIdx.x by itself, as a variable: a block per row.
  static constexpr std::string_view kLoneBlock = "blockIdx.x";

  void note_constants();
  [[nodiscard]] bool is_stepped(std::string_view name) const;
  [[nodiscard]] bool is_spread_block(std::size_t at) const;
  void add_sizes(Range range, int depth, std::set<std::string>& sizes) const;
  // Where no thread of a block has a row of its own, the rows bound the block's index.
  void bound_lone_block();
  [[nodiscard]] std::string rows_of_lone_block() const;
  // The number at `at`, a literal or a constant's name; "" if it is none.
  [[nodiscard]] std::string constant_at(std::size_t at) const;
  // "threadIdx.x" or the name of a variable that is just that; '\0' if it is neither.
  [[nodiscard]] char thread_axis(Range value) const;
  [[nodiscard]] std::optional<ThreadIndex> shared_index(std::size_t at) const;
  [[nodiscard]] std::optional<ThreadIndex> stepped_index(std::size_t at) const;
  [[nodiscard]] std::optional<ThreadIndex> row_written(std::size_t at) const;
  void note_definition(std::size_t at);
  void note_bound(std::size_t at);
  [[nodiscard]] std::string local_size(std::string_view name) const;
  [[nodiscard]] std::string bound_word(const Token& token) const;
  [[nodiscard]] std::string expression_from(std::size_t at) const;
  [[nodiscard]] bool is_size(std::string_view word) const;
  struct Summation;
  [[nodiscard]] std::optional<std::vector<Term>> terms(Range range, int depth) const;
  [[nodiscard]] std::optional<std::vector<Term>> named_terms(const Token& token, int depth) const;
  [[nodiscard]] std::size_t take_operator(Range rest, Summation& reading) const;
  [[nodiscard]] std::size_t take_factor(Range rest, int depth, Summation& reading) const;
  [[nodiscard]] std::optional<std::string> extent_of(std::string_view variable) const;
  [[nodiscard]] std::optional<ThreadIndex> thread_index(Range value, int depth = 0) const;
  [[nodiscard]] std::optional<ThreadIndex> named_part(std::size_t at) const;
  [[nodiscard]] std::optional<ThreadIndex> coordinate(std::size_t at, Range value) const;

  const Tokens& tokens_;
  const Kernel& kernel_;
  std::map<std::string, Variable, std::less<>> variables_{};
  std::vector<std::string> order_{};
  std::map<std::string, std::string, std::less<>> constants_{};
};

}  // namespace assay::source
