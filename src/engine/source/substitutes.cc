#include "engine/source/substitutes.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace assay::source {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// <cfloat>, <climits>, <cmath>: the values of IEEE 754 and of LP64.
constexpr std::array<Pair, 27> kMacros{{{"FLT_MAX", "3.402823466e+38F"},
                                        {"FLT_MIN", "1.175494351e-38F"},
                                        {"FLT_EPSILON", "1.192092896e-07F"},
                                        {"DBL_MAX", "1.7976931348623157e+308"},
                                        {"DBL_MIN", "2.2250738585072014e-308"},
                                        {"DBL_EPSILON", "2.2204460492503131e-16"},
                                        {"INFINITY", "__int_as_float(0x7f800000)"},
                                        {"HUGE_VALF", "__int_as_float(0x7f800000)"},
                                        {"NAN", "__int_as_float(0x7fffffff)"},
                                        {"M_PI", "3.14159265358979323846"},
                                        {"M_PI_2", "1.57079632679489661923"},
                                        {"M_PI_4", "0.78539816339744830962"},
                                        {"M_1_PI", "0.31830988618379067154"},
                                        {"M_2_PI", "0.63661977236758134308"},
                                        {"M_E", "2.7182818284590452354"},
                                        {"M_SQRT2", "1.41421356237309504880"},
                                        {"M_SQRT1_2", "0.70710678118654752440"},
                                        {"M_2_SQRTPI", "1.12837916709551257390"},
                                        {"M_LN2", "0.69314718055994530942"},
                                        {"M_LOG2E", "1.4426950408889634074"},
                                        {"INT_MAX", "2147483647"},
                                        {"INT_MIN", "(-2147483647-1)"},
                                        {"UINT_MAX", "4294967295U"},
                                        {"LLONG_MAX", "9223372036854775807LL"},
                                        {"LLONG_MIN", "(-9223372036854775807LL-1)"},
                                        {"CHAR_BIT", "8"},
                                        {"SIZE_MAX", "18446744073709551615UL"}}};

constexpr std::array<std::string_view, 10> kIntegers{"int8_t",   "int16_t",  "int32_t",  "int64_t",
                                                     "uint8_t",  "uint16_t", "uint32_t", "uint64_t",
                                                     "intptr_t", "uintptr_t"};

constexpr std::array<Pair, 34> kStd{{{"numeric_limits", "limits"},
                                     {"is_same", "type_traits"},
                                     {"is_same_v", "type_traits"},
                                     {"enable_if", "type_traits"},
                                     {"enable_if_t", "type_traits"},
                                     {"conditional", "type_traits"},
                                     {"conditional_t", "type_traits"},
                                     {"integral_constant", "type_traits"},
                                     {"true_type", "type_traits"},
                                     {"false_type", "type_traits"},
                                     {"is_integral", "type_traits"},
                                     {"is_floating_point", "type_traits"},
                                     {"remove_cv_t", "type_traits"},
                                     {"decay_t", "type_traits"},
                                     {"min", "functional"},
                                     {"max", "functional"},
                                     {"move", "utility"},
                                     {"forward", "utility"},
                                     {"pair", "utility"},
                                     {"array", "array"},
                                     {"abs", "cmath"},
                                     {"exp", "cmath"},
                                     {"sqrt", "cmath"},
                                     {"size_t", "cstddef"},
                                     {"ptrdiff_t", "cstddef"},
                                     {"int8_t", "cstdint"},
                                     {"int16_t", "cstdint"},
                                     {"int32_t", "cstdint"},
                                     {"int64_t", "cstdint"},
                                     {"uint8_t", "cstdint"},
                                     {"uint16_t", "cstdint"},
                                     {"uint32_t", "cstdint"},
                                     {"uint64_t", "cstdint"},
                                     {"uintptr_t", "cstdint"}}};

// Ours (engine/runner/device_math.h): the toolkit's library lacks some of them, and its <cmath>
// takes half a second to read.
constexpr std::array<std::string_view, 58> kMath{
    "log",     "log1p",     "log2",   "log10",  "exp2",    "expm1",     "tanh",     "sinh",
    "cosh",    "asinh",     "acosh",  "atanh",  "sin",     "cos",       "tan",      "asin",
    "acos",    "atan",      "floor",  "ceil",   "round",   "trunc",     "rint",     "nearbyint",
    "fabs",    "cbrt",      "erf",    "erfc",   "tgamma",  "lgamma",    "logb",     "lround",
    "llround", "lrint",     "llrint", "ilogb",  "isnan",   "isinf",     "isfinite", "signbit",
    "pow",     "atan2",     "fmax",   "fmin",   "fmod",    "remainder", "fdim",     "copysign",
    "hypot",   "nextafter", "ldexp",  "scalbn", "scalbln", "fma",       "frexp",    "modf",
    "swap",    "exchange"};

// <cub/cub.cuh> has the parts that only a host can call, too: of what is used, the header alone.
constexpr std::array<Pair, 34> kCub{
    {{"BlockReduce", "block/block_reduce.cuh"},
     {"BlockScan", "block/block_scan.cuh"},
     {"BlockLoad", "block/block_load.cuh"},
     {"BlockStore", "block/block_store.cuh"},
     {"BlockRadixSort", "block/block_radix_sort.cuh"},
     {"BlockMergeSort", "block/block_merge_sort.cuh"},
     {"BlockExchange", "block/block_exchange.cuh"},
     {"BlockHistogram", "block/block_histogram.cuh"},
     {"BlockShuffle", "block/block_shuffle.cuh"},
     {"BlockAdjacentDifference", "block/block_adjacent_difference.cuh"},
     {"BlockDiscontinuity", "block/block_discontinuity.cuh"},
     {"WarpReduce", "warp/warp_reduce.cuh"},
     {"WarpScan", "warp/warp_scan.cuh"},
     {"WarpMergeSort", "warp/warp_merge_sort.cuh"},
     {"WarpExchange", "warp/warp_exchange.cuh"},
     {"WarpLoad", "warp/warp_load.cuh"},
     {"WarpStore", "warp/warp_store.cuh"},
     {"BlockRadixRank", "block/block_radix_rank.cuh"},
     {"BlockRunLengthDecode", "block/block_run_length_decode.cuh"},
     {"LoadDirectBlocked", "block/block_load.cuh"},
     {"LoadDirectBlockedVectorized", "block/block_load.cuh"},
     {"LoadDirectStriped", "block/block_load.cuh"},
     {"LoadDirectWarpStriped", "block/block_load.cuh"},
     {"StoreDirectBlocked", "block/block_store.cuh"},
     {"StoreDirectBlockedVectorized", "block/block_store.cuh"},
     {"StoreDirectStriped", "block/block_store.cuh"},
     {"StoreDirectWarpStriped", "block/block_store.cuh"},
     {"ThreadLoad", "thread/thread_load.cuh"},
     {"ThreadStore", "thread/thread_store.cuh"},
     {"ThreadReduce", "thread/thread_reduce.cuh"},
     {"CacheModifiedInputIterator", "iterator/cache_modified_input_iterator.cuh"},
     {"ShuffleUp", "util_ptx.cuh"},
     {"ShuffleDown", "util_ptx.cuh"},
     {"ShuffleIndex", "util_ptx.cuh"}}};

template <std::size_t N>
const Pair* find(const std::array<Pair, N>& table, std::string_view word) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Pair& pair) { return pair.first == word; });
  return found == table.end() ? nullptr : &*found;
}

bool is_math(std::string_view word) {
  return std::find(kMath.begin(), kMath.end(), word) != kMath.end();
}

// "std::max", but not the one in "cuda::std::max".
bool is_std(const Tokens& tokens, std::size_t at) {
  const bool is_inner =
      at > 1 && tokens[at - 1].is("::") && tokens[at - 2].kind == TokenKind::identifier;
  return !is_inner && tokens[at].is("std") && at + 2 < tokens.size() && tokens[at + 1].is("::") &&
         is_device_std(tokens[at + 2].text);
}

bool mentions_small_floats(const Tokens& tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return token.text.find("half") != std::string_view::npos ||
           token.text.find("bfloat16") != std::string_view::npos;
  });
}

// std::max(a, b) is the compiler's own max(a, b), and <functional> takes it a second to read. Not
// so max<float>(…), max({…}) and those of small floats.
bool is_builtin(const Tokens& tokens, std::size_t at, bool has_small_floats) {
  const bool is_choice = tokens[at + 2].is("min") || tokens[at + 2].is("max");
  return is_choice && !has_small_floats && at + 4 < tokens.size() && tokens[at + 3].is("(") &&
         !tokens[at + 4].is("{");
}

// From the end to the front, so that offsets hold. `base`: where the tokens' text begins in `out`.
void place_std(const Tokens& tokens, std::size_t base, bool has_small_floats, std::string& out) {
  for (std::size_t i = tokens.size(); i-- > 0;) {
    const Token& token = tokens[i];
    const std::size_t at = base + token.offset;
    if (token.kind == TokenKind::directive && token.text.find("define") != std::string_view::npos) {
      place_std(lex(token.text.substr(1)), at + 1, has_small_floats, out);
    } else if (is_std(tokens, i) && is_builtin(tokens, i, has_small_floats)) {
      const std::size_t end = base + tokens[i + 1].offset + tokens[i + 1].text.size();
      out.replace(at, end - at, end - at, ' ');
    } else if (is_std(tokens, i)) {
      out.insert(at, is_math(tokens[i + 2].text) ? "assay::" : "cuda::");
    }
  }
}

}  // namespace

bool is_device_std(std::string_view name) { return is_math(name) || find(kStd, name) != nullptr; }

std::vector<std::string> substitute_options(const Unit& unit) {
  std::set<std::string> options;
  const Tokens& tokens = unit.tokens;
  const bool has_small_floats = mentions_small_floats(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    if (tokens[i].kind != TokenKind::identifier || unit.macros.contains(word)) continue;
    if (const Pair* macro = find(kMacros, word)) {
      options.insert("-D" + std::string(word) + "=" + std::string(macro->second));
    }
    if (std::find(kIntegers.begin(), kIntegers.end(), word) != kIntegers.end()) {
      options.insert("--pre-include=cuda/std/cstdint");
    }
    if (is_std(tokens, i) && !is_builtin(tokens, i, has_small_floats)) {
      const Pair* part = find(kStd, tokens[i + 2].text);
      options.insert("--pre-include=" + (part == nullptr
                                             ? std::string("assay/cmath")
                                             : "cuda/std/" + std::string(part->second)));
    }
  }
  return {options.begin(), options.end()};
}

std::vector<std::string> cub_options(const Unit& unit) {
  std::set<std::string> options;
  for (const Token& token : unit.tokens) {
    if (const Pair* part = find(kCub, token.text)) {
      options.insert("--pre-include=cub/" + std::string(part->second));
    }
  }
  return {options.begin(), options.end()};
}

std::string with_device_std(std::string_view source) {
  const Tokens tokens = lex(source);
  std::string out(source);
  place_std(tokens, 0, mentions_small_floats(tokens), out);
  return out;
}

}  // namespace assay::source
