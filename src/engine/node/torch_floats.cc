#include "engine/node/torch_floats.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace assay::node {
namespace {

constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
    {"__half", "c10::Half"}, {"__nv_bfloat16", "c10::BFloat16"}};

// What torch's build of a source tells CUDA's headers.
constexpr const char* kSwitchedOff[] = {
    "-D__CUDA_NO_HALF_OPERATORS__",     "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_OPERATORS__", "-D__CUDA_NO_BFLOAT162_OPERATORS__"};

// Sums and products of two are rounded to the small type, those with a float or a double are not;
// an integer is taken for one of the small type. Comparisons are those of floats.
constexpr const char* kTypes = R"(#line 1 "torch's small floats"
#include <cuda_fp16.h>
#include <cuda_bf16.h>
namespace c10 {
#define ASSAY_MIXED(T, op)                                                               \
  __device__ inline T operator op(const T& a, const T& b) { return T(float(a) op float(b)); } \
  __device__ inline float operator op(const T& a, float b) { return float(a) op b; }     \
  __device__ inline float operator op(float a, const T& b) { return a op float(b); }     \
  __device__ inline double operator op(const T& a, double b) { return double(float(a)) op b; } \
  __device__ inline double operator op(double a, const T& b) { return a op double(float(b)); } \
  __device__ inline T operator op(const T& a, int b) { return a op T(float(b)); }        \
  __device__ inline T operator op(int a, const T& b) { return T(float(a)) op b; }        \
  __device__ inline T operator op(const T& a, long long b) { return a op T(float(b)); }  \
  __device__ inline T operator op(long long a, const T& b) { return T(float(a)) op b; }  \
  __device__ inline T operator op(const T& a, long b) { return a op T(float(b)); }       \
  __device__ inline T operator op(long a, const T& b) { return T(float(a)) op b; }       \
  __device__ inline T& operator op##=(T & a, const T & b) { return a = a op b; }         \
  __device__ inline float& operator op##=(float& a, const T& b) { return a = a op float(b); }
#define ASSAY_SMALL_FLOAT(T, OWN, pack, unpack, bits, from_bits)                         \
  struct alignas(2) T {                                                                  \
    unsigned short x;                                                                    \
    T() = default;                                                                       \
    __device__ T(float value) : x(bits(pack(value))) {}                                  \
    __device__ T(const OWN& value) : x(bits(value)) {}                                   \
    __device__ operator float() const { return unpack(from_bits(x)); }                   \
    __device__ operator OWN() const { return from_bits(x); }                             \
  };                                                                                     \
  __device__ inline T operator-(const T& a) { return T(-float(a)); }                     \
  ASSAY_MIXED(T, +) ASSAY_MIXED(T, -) ASSAY_MIXED(T, *) ASSAY_MIXED(T, /)
ASSAY_SMALL_FLOAT(Half, __half, __float2half_rn, __half2float, __half_as_ushort, __ushort_as_half)
ASSAY_SMALL_FLOAT(BFloat16, __nv_bfloat16, __float2bfloat16_rn, __bfloat162float,
                  __bfloat16_as_ushort, __ushort_as_bfloat16)
#undef ASSAY_SMALL_FLOAT
#undef ASSAY_MIXED
}  // namespace c10
__device__ inline c10::Half __ldg(const c10::Half* from) {
  return c10::Half(__ushort_as_half(__ldg(reinterpret_cast<const unsigned short*>(from))));
}
__device__ inline c10::BFloat16 __ldg(const c10::BFloat16* from) {
  return c10::BFloat16(__ushort_as_bfloat16(__ldg(reinterpret_cast<const unsigned short*>(from))));
}
)";

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// npos: not as a whole word ("__half2" is another type).
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (auto at = text.find(word, from); at != text.npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_of_word(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !is_of_word(text[end]))) return at;
  }
  return text.npos;
}

}  // namespace

bool names_small_floats(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return std::any_of(std::begin(kSpellings), std::end(kSpellings), [&](const auto& spelling) {
      return find_word(name, spelling.first, 0) != name.npos;
    });
  });
}

std::string with_torchs_floats(std::string name) {
  for (const auto& [cudas, torchs] : kSpellings) {
    for (auto at = find_word(name, cudas, 0); at != name.npos;
         at = find_word(name, cudas, at + torchs.size())) {
      name.replace(at, cudas.size(), torchs);
    }
  }
  return name;
}

KernelSource with_torchs_floats(KernelSource source) {
  source.source.insert(0, kTypes);
  for (auto& name : source.name_expressions) name = with_torchs_floats(std::move(name));
  source.compiler_options.insert(source.compiler_options.end(), std::begin(kSwitchedOff),
                                 std::end(kSwitchedOff));
  return source;
}

}  // namespace assay::node
