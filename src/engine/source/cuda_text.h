// The CUDA C++ of whatever was pasted: the file itself, or, of a Python file, the texts that it
// hands to a compiler, as Python makes them. Every line knows the line of the file it came from.
//
// Values own their text. Pure; any thread; no text crashes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

struct CudaText {
  std::string text{};
  std::vector<std::size_t> lines{};   // of each line of the text, where it stands in the file
  std::vector<std::string> doubts{};  // "line 12: …": why Python may make another text of it
  std::vector<std::string> flags{};   // of extra_cuda_cflags and its like, one each
  bool is_python = false;
};

[[nodiscard]] CudaText cuda_text(std::string_view file);

// `text`, which has as many lines, with blank lines and #line directives put in, so that a compiler
// counts as the file does.
[[nodiscard]] std::string with_line_numbers(const std::string& text,
                                            const std::vector<std::size_t>& lines);

}  // namespace assay::source
