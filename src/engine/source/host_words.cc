#include "engine/source/host_words.h"

#include <algorithm>
#include <array>

#include "engine/source/substitutes.h"
#include "engine/source/word_list.h"

namespace assay::source {
namespace {

constexpr std::array<std::string_view, 42> kHostWords{"main",     "torch",
                                                      "at",       "c10",
                                                      "py",       "pybind11",
                                                      "fprintf",  "stderr",
                                                      "stdout",   "exit",
                                                      "fopen",    "FILE",
                                                      "rand",     "srand",
                                                      "getenv",   "sprintf",
                                                      "snprintf", "puts",
                                                      "cout",     "cerr",
                                                      "endl",     "fflush",
                                                      "fwrite",   "gettimeofday",
                                                      "time_t",   "TensorOptions",
                                                      "Tensor",   "PyObject",
                                                      "chrono",   "ostream",
                                                      "ifstream", "iostream",
                                                      "drand48",  "abort",
                                                      "strcmp",   "atoi",
                                                      "mt19937",  "curandGenerator_t",
                                                      "va_list",  "system",
                                                      "usleep",   "throw"};
constexpr std::array<std::string_view, 8> kHostPrefixes{
    "PYBIND11_", "TORCH_", "AT_", "cublas", "cudnn", "cusparse", "cusolver", "nvtx"};
// Under `using namespace std`: templates that device code has not.
constexpr std::array<std::string_view, 10> kHostTemplates{
    "vector",     "map",      "unordered_map", "set",   "unique_ptr",
    "shared_ptr", "function", "list",          "queue", "initializer_list"};
constexpr std::array<std::string_view, 20> kDeviceHeaders{"cuda_fp16.h",
                                                          "cuda_bf16.h",
                                                          "cuda_fp8.h",
                                                          "mma.h",
                                                          "cooperative_groups.h",
                                                          "cuda_runtime.h",
                                                          "device_launch_parameters.h",
                                                          "vector_types.h",
                                                          "vector_functions.h",
                                                          "cuda_pipeline.h",
                                                          "cuda_pipeline_primitives.h",
                                                          "cuda_awbarrier.h",
                                                          "cuda_awbarrier_primitives.h",
                                                          "math_constants.h",
                                                          "curand_kernel.h",
                                                          "sm_20_atomic_functions.h",
                                                          "cuComplex.h",
                                                          "crt/mma.h",
                                                          "cuda_fp16.hpp",
                                                          "cuda_bf16.hpp"};
constexpr std::array<std::string_view, 4> kDeviceFolders{"cooperative_groups/", "cuda/", "cub/",
                                                         "nv/"};

template <std::size_t N>
bool starts_with_any(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
  });
}

bool is_runtime_call(std::string_view word) {
  const bool shaped =
      word.size() > 4 && word.substr(0, 4) == "cuda" && word[4] >= 'A' && word[4] <= 'Z';
  return shaped && word.substr(0, 10) != "cudaTextur";  // texture objects are device types
}

// vector<float>, map<int, set<int>>; not list < n, and not a template that the file itself defines.
bool is_host_template(const Tokens& tokens, std::size_t at, std::size_t end) {
  if (!is_one_of(tokens[at].text, kHostTemplates)) return false;
  if (at + 1 >= end || !tokens[at + 1].is("<")) return false;
  std::size_t i = at + 2;
  while (i < end && (tokens[i].kind == TokenKind::identifier || tokens[i].is("<") ||
                     tokens[i].is(",") || tokens[i].is("::") || tokens[i].is("*"))) {
    ++i;
  }
  if (i == at + 2 || i >= end || !tokens[i].is(">")) return false;
  for (std::size_t j = 1; j < tokens.size(); ++j) {
    const bool defines = tokens[j - 1].is("struct") || tokens[j - 1].is("class");
    if (defines && tokens[j].is(tokens[at].text)) return false;
  }
  return true;
}

// cuda::std::complex, cuda::std::chrono: what a name of std says is the device's there.
bool is_of_cuda(const Tokens& tokens, std::size_t at, std::size_t begin) {
  while (at >= begin + 2 && tokens[at - 1].is("::") &&
         tokens[at - 2].kind == TokenKind::identifier) {
    at -= 2;
  }
  return tokens[at].is("cuda");
}

bool is_host_word(const Tokens& tokens, std::size_t at, std::size_t begin, std::size_t end) {
  const std::string_view word = tokens[at].text;
  if (is_of_cuda(tokens, at, begin)) return false;
  if (is_runtime_call(word) || starts_with_any(word, kHostPrefixes)) return true;
  const bool is_member = at > begin && (tokens[at - 1].is(".") || tokens[at - 1].is("->"));
  if (is_member) return false;
  const bool qualifies = at + 1 < end && tokens[at + 1].is("::");
  if (word == "std") return qualifies && at + 2 < end && !is_device_std(tokens[at + 2].text);
  // Short names of host namespaces are also fine names of variables.
  if (word == "at" || word == "py" || word == "c10") return qualifies;
  return is_one_of(word, kHostWords) || is_host_template(tokens, at, end);
}

}  // namespace

bool speaks_of_host(const Tokens& tokens, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens[i].is("<") && i + 2 < end && is_triple(tokens, i, "<")) return true;
    if (tokens[i].kind == TokenKind::identifier && is_host_word(tokens, i, begin, end)) return true;
  }
  return false;
}

bool is_device_header(std::string_view include) {
  return is_one_of(include, kDeviceHeaders) || starts_with_any(include, kDeviceFolders);
}

}  // namespace assay::source
