// CUDA C++ inside a Python file: the strings that load_inline, RawKernel and their like are given.
// Reads Python's own string rules (prefixes, triple quotes, comments) and nothing else of it.
//
// Views borrow the file. Pure; any thread; linear; no text crashes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

// One string of the file.
struct PythonString {
  std::string_view content{};  // between the quotes, escapes as they are spelled
  std::size_t offset = 0;      // of the content
  std::size_t line = 1;
  bool is_raw = false;
  bool is_formatted = false;  // f"…": braces are Python's
  std::string variable{};     // name = "…"; "" if it is not assigned
  std::string keyword{};  // cuda_sources = "…" in a call, or the keyword its variable is given to
  [[nodiscard]] bool holds_kernels() const;  // says __global__
};

// Every string literal, in the file's order.
[[nodiscard]] std::vector<PythonString> python_strings(std::string_view file);

// Whether the file reads as Python rather than C++.
[[nodiscard]] bool looks_like_python(std::string_view file);

}  // namespace assay::source
