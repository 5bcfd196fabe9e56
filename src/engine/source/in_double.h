// A CUDA source as the same computation in double: types, literals, functions and intrinsics of
// fewer bits become those of double, and all else stays as it is written. What a kernel with such a
// source gives is what its arithmetic would give if nothing were rounded to fewer bits, on the same
// inputs.
//
// A word that is not known, a cast by which memory is read as another type, assembly, unions: the
// first of these is an answer too. Memory scales by one factor throughout, so that addresses of
// elements stay theirs. Literals keep their value: 0.1f is the number that a float holds.
//
// Reading alone: what it gives is for a compiler to refuse still. Values own their text. Pure; any
// thread; no text crashes it; linear but for the nesting of template arguments, which is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::source {

struct Wording {
  std::string source{};
  std::vector<std::string> options{};  // for the compiler; macros among them are part of the source
  std::vector<std::string> names{};    // of kernels: "dot<float, 4>"
};

struct DoubleForm {
  Wording wording{};  // a compiler counts the source's lines as before
  // How many times as large shared memory has to be that was counted in bytes.
  std::uint32_t shared_factor = 1;
};

struct NoDoubleForm {
  std::size_t line = 0;  // 0: not in the source, but in an option or a name
  std::string word{};
  std::string reason{};

  // "line 12: `__float_as_int`: the bits of a number are read as another type"
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] std::variant<DoubleForm, NoDoubleForm> in_double(const Wording& wording);

}  // namespace assay::source
