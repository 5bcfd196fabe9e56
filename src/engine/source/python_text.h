// CUDA C++ inside a Python file: the strings that load_inline, RawKernel and their like are given,
// as Python would make them: adjacent literals, +, names, f-strings, format(), %, replace(),
// join(), strip(), dedent(). What depends on more than reading shows carries a doubt, never a guess
// alone.
//
// Values own their text. Pure; any thread; bounded; no text crashes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/source/lined_text.h"
#include "engine/source/python_value.h"

namespace assay::source {

// A text that the file makes and keeps or hands on.
struct PythonText {
  LinedText text{};
  std::string variable{};                    // name = …; "" if it is not assigned
  std::string keyword{};                     // cuda_sources = … of a call
  PythonDoubt doubt{};                       // why Python may make another text of it
  [[nodiscard]] bool holds_kernels() const;  // says __global__
  [[nodiscard]] bool is_flag() const;        // for the compiler of device code: extra_cuda_cflags
};

struct PythonTexts {
  std::vector<PythonText> texts{};
  bool is_cut = false;  // the file makes more of its texts than is followed
};

// Those that go into no other and are not replaced unused, in the file's order. A text that is only
// a statement of its own (a docstring) is none.
[[nodiscard]] PythonTexts read_python(std::string_view file);

// Whether the file reads as Python rather than C++.
[[nodiscard]] bool looks_like_python(std::string_view file);

}  // namespace assay::source
