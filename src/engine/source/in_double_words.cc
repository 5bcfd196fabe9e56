#include "engine/source/in_double_words.h"

#include <algorithm>
#include <array>

namespace assay::source {
namespace {

using std::string_view;

struct Pair {
  string_view word{};
  string_view wider{};
};

// `list`: words, each between spaces.
bool has(string_view list, string_view word) {
  if (word.empty() || word.find(' ') != string_view::npos) return false;
  return list.find(" " + std::string(word) + " ") != string_view::npos;
}

// foo(double) beside foof(float).
constexpr string_view kMath =
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc "
    "erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp "
    "hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint "
    "lround modf nearbyint norm3d norm4d normcdf normcdfinv pow rcbrt remainder remquo "
    "rhypot rint rnorm3d rnorm4d round rsqrt scalbln scalbn sin sincos sincospi sinh sinpi "
    "sqrt tan tanh tgamma trunc y0 y1 yn ";

constexpr std::array kFunctions = std::to_array<Pair>({
    {"__expf", "exp"},
    {"__exp10f", "exp10"},
    {"__logf", "log"},
    {"__log2f", "log2"},
    {"__log10f", "log10"},
    {"__sinf", "sin"},
    {"__cosf", "cos"},
    {"__tanf", "tan"},
    {"__tanhf", "tanh"},
    {"__sincosf", "sincos"},
    {"__powf", "pow"},
    {"__frsqrt_rn", "rsqrt"},
    {"__fdividef", "assay_in_double_div"},
    {"fdividef", "assay_in_double_div"},
    {"__saturatef", "assay_in_double_saturate"},
    {"make_half2", "make_double2"},
    {"make_bfloat162", "make_double2"},
    {"__hadd", "assay_in_double_add"},
    {"__hadd_rn", "assay_in_double_add"},
    {"__hsub", "assay_in_double_sub"},
    {"__hsub_rn", "assay_in_double_sub"},
    {"__hmul", "assay_in_double_mul"},
    {"__hmul_rn", "assay_in_double_mul"},
    {"__hdiv", "assay_in_double_div"},
    {"__hfma", "fma"},
    {"__hneg", "assay_in_double_neg"},
    {"__habs", "fabs"},
    {"__hmax", "fmax"},
    {"__hmin", "fmin"},
    {"__heq", "assay_in_double_eq"},
    {"__hne", "assay_in_double_ne"},
    {"__hlt", "assay_in_double_lt"},
    {"__hle", "assay_in_double_le"},
    {"__hgt", "assay_in_double_gt"},
    {"__hge", "assay_in_double_ge"},
    {"__hisnan", "isnan"},
    {"__hisinf", "isinf"},
    {"hexp", "exp"},
    {"hexp2", "exp2"},
    {"hexp10", "exp10"},
    {"hlog", "log"},
    {"hlog2", "log2"},
    {"hlog10", "log10"},
    {"hsqrt", "sqrt"},
    {"hrsqrt", "rsqrt"},
    {"hrcp", "__drcp_rn"},
    {"hsin", "sin"},
    {"hcos", "cos"},
    {"htanh", "tanh"},
    {"hfloor", "floor"},
    {"hceil", "ceil"},
    {"htrunc", "trunc"},
    {"hrint", "rint"},
    {"__hadd2", "assay_in_double_add2"},
    {"__hadd2_rn", "assay_in_double_add2"},
    {"__hsub2", "assay_in_double_sub2"},
    {"__hmul2", "assay_in_double_mul2"},
    {"__hmul2_rn", "assay_in_double_mul2"},
    {"__h2div", "assay_in_double_div2"},
    {"__hfma2", "assay_in_double_fma2"},
    {"__hneg2", "assay_in_double_neg2"},
    {"__hmax2", "assay_in_double_max2"},
    {"__hmin2", "assay_in_double_min2"},
    {"h2exp", "assay_in_double_exp2"},
    {"__floats2half2_rn", "make_double2"},
    {"__halves2half2", "make_double2"},
    {"__floats2bfloat162_rn", "make_double2"},
    {"__halves2bfloat162", "make_double2"},
    {"__float2half2_rn", "assay_in_double_both"},
    {"__half2half2", "assay_in_double_both"},
    {"__float2bfloat162_rn", "assay_in_double_both"},
    {"__bfloat162bfloat162", "assay_in_double_both"},
    {"__low2half", "assay_in_double_low"},
    {"__low2float", "assay_in_double_low"},
    {"__low2bfloat16", "assay_in_double_low"},
    {"__high2half", "assay_in_double_high"},
    {"__high2float", "assay_in_double_high"},
    {"__high2bfloat16", "assay_in_double_high"},
    {"__half22float2", "double2"},
    {"__float22half2_rn", "double2"},
    {"__bfloat1622float2", "double2"},
    {"__float22bfloat162_rn", "double2"},
});

#define ASSAY_ONE(name, body) \
  { "assay_in_double_" name, "__device__ __forceinline__ double assay_in_double_" name body }
#define ASSAY_TWO(name, body) \
  { "assay_in_double_" name, "__device__ __forceinline__ double2 assay_in_double_" name body }
#define ASSAY_IS(name, body) \
  { "assay_in_double_" name, "__device__ __forceinline__ bool assay_in_double_" name body }
constexpr std::array kDefinitions = std::to_array<Pair>({
    ASSAY_ONE("add", "(double a, double b) { return a + b; }"),
    ASSAY_ONE("sub", "(double a, double b) { return a - b; }"),
    ASSAY_ONE("mul", "(double a, double b) { return a * b; }"),
    ASSAY_ONE("div", "(double a, double b) { return a / b; }"),
    ASSAY_ONE("neg", "(double a) { return -a; }"),
    ASSAY_ONE("saturate", "(double a) { return a > 0 ? (a < 1 ? a : 1.0) : 0.0; }"),
    ASSAY_ONE("low", "(double2 a) { return a.x; }"),
    ASSAY_ONE("high", "(double2 a) { return a.y; }"),
    ASSAY_IS("eq", "(double a, double b) { return a == b; }"),
    ASSAY_IS("ne", "(double a, double b) { return a != b; }"),
    ASSAY_IS("lt", "(double a, double b) { return a < b; }"),
    ASSAY_IS("le", "(double a, double b) { return a <= b; }"),
    ASSAY_IS("gt", "(double a, double b) { return a > b; }"),
    ASSAY_IS("ge", "(double a, double b) { return a >= b; }"),
    ASSAY_TWO("both", "(double a) { return make_double2(a, a); }"),
    ASSAY_TWO("add2", "(double2 a, double2 b) { return make_double2(a.x + b.x, a.y + b.y); }"),
    ASSAY_TWO("sub2", "(double2 a, double2 b) { return make_double2(a.x - b.x, a.y - b.y); }"),
    ASSAY_TWO("mul2", "(double2 a, double2 b) { return make_double2(a.x * b.x, a.y * b.y); }"),
    ASSAY_TWO("div2", "(double2 a, double2 b) { return make_double2(a.x / b.x, a.y / b.y); }"),
    ASSAY_TWO("neg2", "(double2 a) { return make_double2(-a.x, -a.y); }"),
    ASSAY_TWO("exp2", "(double2 a) { return make_double2(exp(a.x), exp(a.y)); }"),
    ASSAY_TWO("max2",
              "(double2 a, double2 b) { return make_double2(fmax(a.x, b.x), fmax(a.y, b.y)); }"),
    ASSAY_TWO("min2",
              "(double2 a, double2 b) { return make_double2(fmin(a.x, b.x), fmin(a.y, b.y)); }"),
    ASSAY_TWO("fma2",
              "(double2 a, double2 b, double2 c) { return make_double2(fma(a.x, b.x, c.x), "
              "fma(a.y, b.y, c.y)); }"),
    // There are none for four doubles.
    {"__ldg", "__device__ __forceinline__ double4 __ldg(const double4* at) { return *at; }"},
    {"__ldcs", "__device__ __forceinline__ double4 __ldcs(const double4* at) { return *at; }"},
    {"__ldcg", "__device__ __forceinline__ double4 __ldcg(const double4* at) { return *at; }"},
    {"__ldca", "__device__ __forceinline__ double4 __ldca(const double4* at) { return *at; }"},
    {"__stcs", "__device__ __forceinline__ void __stcs(double4* at, double4 v) { *at = v; }"},
    {"__stcg", "__device__ __forceinline__ void __stcg(double4* at, double4 v) { *at = v; }"},
});
#undef ASSAY_ONE
#undef ASSAY_TWO
#undef ASSAY_IS

constexpr string_view kAnyWidth =
    // The language.
    " if for while switch return sizeof alignof alignas decltype noexcept static_assert "
    "catch defined operator constexpr __launch_bounds__ __align__ __attribute__ __declspec "
    "__cluster_dims__ __builtin_expect __builtin_assume __builtin_unreachable bool char "
    "short int long unsigned signed double static_cast reinterpret_cast const_cast void "
    "size_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t dim3 uint3 "
    "assert printf __assertfail __trap __brkpt "
    // Functions by one name for all types.
    "abs max min isnan isinf isfinite signbit swap clamp sign __double2int_rn "
    "__double2int_rz __double2int_ru __double2int_rd __double2uint_rn __double2uint_rz "
    "__double2ll_rn __double2ll_rz __int2double_rn __uint2double_rn __ll2double_rn "
    "__dadd_rn __dmul_rn __dsub_rn __ddiv_rn __dsqrt_rn __drcp_rn __fma_rn make_double1 "
    "make_double2 make_double3 make_double4 "
    // Threads and memory.
    "__syncthreads __syncthreads_or __syncthreads_and __syncthreads_count __syncwarp "
    "__threadfence __threadfence_block __threadfence_system __nanosleep clock clock64 "
    "__activemask __ballot_sync __any_sync __all_sync __match_any_sync __match_all_sync "
    "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __reduce_add_sync "
    "__reduce_min_sync __reduce_max_sync __reduce_and_sync __reduce_or_sync "
    "__reduce_xor_sync atomicAdd atomicSub atomicMin atomicMax atomicInc atomicDec "
    "atomicAnd atomicOr atomicXor atomicExch atomicCAS atomicAdd_block atomicAdd_system "
    "__ldg __ldcs __ldcg __ldca __ldcv __stcs __stcg __stwt __stwb "
    // Integers.
    "__popc __popcll __clz __clzll __ffs __ffsll __brev __brevll __mul24 __umul24 __mulhi "
    "__umulhi __mul64hi __umul64hi __sad __usad __hadd_int __funnelshift_l __funnelshift_r "
    "__byte_perm __dp4a umin umax llmin llmax make_int2 make_int3 make_int4 make_uint2 "
    "make_uint3 make_uint4 make_char4 make_uchar4 make_short2 make_ushort2 make_longlong2 "
    "make_ulonglong2 "
    // Cooperative groups, and what a plain constructor of theirs is.
    "this_thread_block this_grid tiled_partition coalesced_threads this_thread sync reduce "
    "inclusive_scan exclusive_scan invoke_one binary_partition labeled_partition plus less "
    "greater multiplies BlockReduce WarpReduce BlockScan WarpScan Sum Max Min "
    // <type_traits>, <utility>.
    "forward move declval get ";

constexpr string_view kMembers =
    " sync size num_threads thread_rank thread_index group_index group_dim dim_threads "
    "block_rank num_blocks block_index dim_blocks meta_group_rank meta_group_size is_valid "
    "shfl shfl_down shfl_up shfl_xor any all ballot match_any match_all num_groups infinity "
    "max min lowest epsilon quiet_NaN denorm_min Sum Reduce InclusiveSum ExclusiveSum "
    "InclusiveScan ExclusiveScan ";

constexpr string_view kHeaders =
    " cuda_fp16.h cuda_bf16.h cuda_runtime.h cuda_runtime_api.h cuda.h "
    "device_launch_parameters.h device_functions.h math_constants.h math_functions.h "
    "vector_types.h vector_functions.h cooperative_groups.h cooperative_groups/reduce.h "
    "cooperative_groups/scan.h math.h cmath float.h cfloat limits.h climits limits stdint.h "
    "cstdint stddef.h cstddef stdio.h cstdio assert.h cassert type_traits utility algorithm "
    "mma.h cub/cub.cuh ";

// One of these behind a name: the way that it rounds.
bool takes_rounding(string_view rest) {
  return rest == "_rn" || rest == "_rz" || rest == "_ru" || rest == "_rd";
}

bool cut(string_view& word, string_view front) {
  if (!word.starts_with(front)) return false;
  word.remove_prefix(front.size());
  return true;
}

// "__float2int_rz", "__half2float", "__uint2bfloat16_rn", "__double2float_rn".
std::string conversion(string_view word) {
  if (!cut(word, "__")) return {};
  constexpr std::array kIntegers =
      std::to_array<string_view>({"int", "uint", "ll", "ull", "short", "ushort"});
  constexpr std::array kReals = std::to_array<string_view>({"float", "half", "bfloat16", "double"});
  const auto two = [&](const auto& from_list,
                       const auto& to_list) -> std::pair<string_view, string_view> {
    for (const string_view from : from_list) {
      string_view rest = word;
      if (!cut(rest, from) || !cut(rest, "2")) continue;
      for (const string_view to : to_list) {
        string_view rounding = rest;
        if (cut(rounding, to) && (rounding.empty() || takes_rounding(rounding)))
          return {to, rounding};
      }
    }
    return {};
  };
  if (!two(kReals, kReals).first.empty() || !two(kIntegers, kReals).first.empty()) return "double";
  const auto [integer, rounding] = two(kReals, kIntegers);
  if (integer.empty() || rounding.empty()) return {};
  // What is narrower than an int has no conversion of its own from double.
  const string_view to = integer == "short" ? "int" : integer == "ushort" ? "uint" : integer;
  return "__double2" + std::string(to) + std::string(rounding);
}

// "__fmul_rn" → "__dmul_rn".
std::string rounded_operation(string_view word) {
  if (!cut(word, "__f")) return {};
  for (const string_view name : {"add", "sub", "mul", "div", "rcp", "sqrt"}) {
    string_view rest = word;
    if (cut(rest, name) && takes_rounding(rest))
      return "__d" + std::string(name) + std::string(rest);
  }
  if (cut(word, "maf") && takes_rounding(word)) return "__fma" + std::string(word);
  return {};
}

}  // namespace

std::optional<WiderType> wider_type(string_view word) {
  if (word == "float" || word == "float_t") return WiderType{.wider = "double"};
  if (word == "float1") return WiderType{.wider = "double1"};
  if (word == "float2") return WiderType{.wider = "double2"};
  if (word == "float3") return WiderType{.wider = "double3"};
  if (word == "float4") return WiderType{.wider = "double4"};
  for (const string_view half : {"half", "__half", "__nv_bfloat16", "nv_bfloat16"}) {
    if (word == half) return WiderType{.wider = "double", .width = Width::half};
  }
  for (const string_view pair : {"half2", "__half2", "__nv_bfloat162", "nv_bfloat162"}) {
    if (word == pair) return WiderType{.wider = "double2", .width = Width::half};
  }
  return std::nullopt;
}

bool is_integer_type(string_view word) {
  constexpr string_view kNumbers =
      " int unsigned signed short long char bool byte int8_t uint8_t int16_t uint16_t int32_t "
      "uint32_t int64_t uint64_t size_t ptrdiff_t intptr_t uintptr_t intmax_t uintmax_t wchar_t "
      "char8_t char16_t char32_t uchar uint ushort ulong ";
  constexpr string_view kOfVectors =
      " char uchar short ushort int uint long ulong longlong ulonglong ";
  if (has(kNumbers, word)) return true;
  const bool is_counted = !word.empty() && word.back() >= '1' && word.back() <= '4';
  return is_counted && has(kOfVectors, word.substr(0, word.size() - 1));
}

std::string wider_function(string_view word) {
  for (const Pair& pair : kFunctions) {
    if (pair.word == word) return std::string(pair.wider);
  }
  for (const char extent : {'1', '2', '3', '4'}) {
    if (word == std::string("make_float") + extent) return std::string("make_double") + extent;
  }
  if (word.ends_with('f') && has(kMath, word.substr(0, word.size() - 1))) {
    return std::string(word.substr(0, word.size() - 1));
  }
  if (auto name = conversion(word); !name.empty()) return name == word ? std::string() : name;
  return rounded_operation(word);
}

bool is_narrow_constant(string_view word) {
  constexpr string_view kOfC =
      " INFINITY NAN HUGE_VALF FLT_MAX FLT_MIN FLT_EPSILON FLT_TRUE_MIN FLT_NORM_MAX ";
  if (has(kOfC, word)) return true;
  if (!cut(word, "CUDART_") || word == "REMQUO_BITS_F" || word == "REMQUO_MASK_F") return false;
  return word.ends_with("_F") || word.ends_with("_FP16") || word.ends_with("_BF16");
}

bool is_any_width(string_view word) {
  return has(kAnyWidth, word) || has(kMath, word) || conversion(word) == word;
}

bool is_member_of_any_width(string_view word) { return has(kMembers, word); }

std::string why_not_in_double(string_view word) {
  if (word == "asm" || word == "__asm" || word == "__asm__") {
    return "inline assembly names the types of its registers";
  }
  if (word == "union") return "a union reads one type's bits as another's";
  if (word == "wmma" || word == "nvcuda") return "tensor cores take no double for these fragments";
  if (word == "bit_cast" || word == "__builtin_bit_cast" || word == "memcpy" || word == "memmove" ||
      word == "__builtin_memcpy") {
    return "bytes are read as another type";
  }
  if (word.starts_with("__") && word.find("_as_") != string_view::npos) {
    return "the bits of a number are read as another type";
  }
  if (word == "cuComplex" || word == "cuFloatComplex") return "there is no list of its functions";
  if (word.starts_with("__nv_fp") || word.starts_with("__half_raw") ||
      word.starts_with("__half2_raw") || word.starts_with("__nv_bfloat16_raw") ||
      word == "_Float16" || word == "__fp16") {
    return "a type that is not widened";
  }
  if (word.starts_with("tex1D") || word.starts_with("tex2D") || word.starts_with("tex3D") ||
      word == "cudaTextureObject_t") {
    return "textures hold no doubles";
  }
  return {};
}

string_view definition_in_double(string_view word) {
  for (const Pair& pair : kDefinitions) {
    if (pair.word == word) return pair.wider;
  }
  return {};
}

bool is_known_header(string_view name) {
  return has(kHeaders, name) || name.starts_with("cuda/std/") || name.starts_with("assay/");
}

}  // namespace assay::source
