// How far a kernel's accesses reach into each array for a given launch: the greatest index, as an
// expression over the scalars and as a number. By intervals: every variable lies between the least
// and the greatest that its definitions and its guards allow. An overestimate is possible, where
// two guards hold together; what cannot be followed is said to be unknown.
//
// Borrows the tokens of the unit it is made from. One thread; bounded.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/interval.h"
#include "engine/source/signature.h"

namespace assay::source {

struct LaunchExtents {
  std::array<Interval, 3> grid{};   // of gridDim: low = high
  std::array<Interval, 3> block{};  // of blockDim
};

// "extern __shared__ float tiles[]", at any level of the file, if the body names it.
struct DynamicShared {
  std::string name{};
  std::string type{};
};
[[nodiscard]] std::optional<DynamicShared> dynamic_shared(const Tokens& tokens, Range body);

// The number that a token spells, if it is a whole one.
[[nodiscard]] std::optional<std::int64_t> integer_literal(const Token& token);

class Reach {
 public:
  static constexpr int kMaxDepth = 12;  // of expressions and names within each other

  // `value` gives a scalar parameter's or a template parameter's number, if it has one.
  using Lookup = std::function<std::optional<std::int64_t>(std::string_view)>;
  Reach(const Unit& unit, const Kernel& kernel, LaunchExtents launch, Lookup value);

  // The greatest index of `array`, a pointer parameter or shared memory, whatever name it goes by
  // in the body; nothing if there is no access, or one that cannot be followed.
  [[nodiscard]] std::optional<Interval> of(std::string_view array) const;

  // The same of those accesses that can be followed, whatever the others do.
  [[nodiscard]] std::optional<Interval> at_least(std::string_view array) const;

  // Whether a pointer that accesses it has an offset: its own indexes tell less than all.
  [[nodiscard]] bool has_offset(std::string_view array) const;

 private:
  struct Variable {
    std::vector<Range> definitions{};
    std::vector<std::pair<Range, bool>> bounds{};  // of v < E, and whether E itself is allowed
    bool grows = false;                            // ++, +=, *=
    bool changes = false;                          // -=, >>=, /= …: towards zero
  };
  // A sum that is compared as a whole.
  struct Guard {
    Range sum{};
    Range bound{};
    bool is_included = false;
  };
  struct Alias {
    std::string array{};
    std::optional<Range> offset{};
  };

  void read_body();
  [[nodiscard]] std::vector<std::size_t> accesses(std::string_view array) const;
  void note_assignment(std::size_t at);
  void note_guard(std::size_t at);
  void note_alias(std::size_t at);
  [[nodiscard]] std::size_t end_of_value(std::size_t begin) const;
  [[nodiscard]] std::optional<Interval> offset_of(std::string_view name, int depth) const;
  [[nodiscard]] bool is_naming(std::size_t at) const;
  [[nodiscard]] std::optional<Interval> access(std::size_t at) const;

  [[nodiscard]] std::optional<Interval> value_of(Range range, int depth) const;
  [[nodiscard]] std::optional<Interval> variable(std::string_view name, int depth) const;
  [[nodiscard]] std::optional<Interval> defined(const Variable& variable, int depth) const;
  [[nodiscard]] std::optional<Interval> guarded(const Variable& variable, int depth) const;
  [[nodiscard]] std::optional<Interval> constant(std::string_view name) const;
  class Expression;

  const Tokens& tokens_;
  const Kernel& kernel_;
  LaunchExtents launch_;
  Lookup value_;
  std::map<std::string, Variable, std::less<>> variables_{};
  std::vector<Guard> guards_{};
  std::map<std::string, Alias, std::less<>> aliases_{};
  std::map<std::string, std::int64_t, std::less<>> constants_{};
  mutable std::map<std::string, std::optional<Interval>, std::less<>> known_{};
};

}  // namespace assay::source
