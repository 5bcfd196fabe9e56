#include "engine/judge/generator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/judge/half_open_range.h"
#include "engine/judge/normal.h"
#include "engine/judge/scalar_conversion.h"
#include "engine/judge/words.h"

namespace assay::judge {
namespace {

using contract::DType;
using contract::InitKind;
using contract::Number;
using contract::TensorInit;
using contract::to_double;

constexpr std::size_t kChunk = 1024;  // elements (or components) made at a time; a multiple of 4
constexpr std::size_t kRoom = kChunk + 8;  // and the rest of the blocks at both ends

static_assert(std::endian::native == std::endian::little,
              "tensors are little-endian, as devices are");

template <typename T>
void put(std::byte* out, std::size_t index, T value) {
  std::memcpy(out + index * sizeof(T), &value, sizeof(T));
}

void put_bits(std::byte* out, std::size_t index, std::size_t size, std::uint64_t bits) {
  std::memcpy(out + index * size, &bits, size);  // the low bytes
}

// A run of words with the blocks that it begins and ends in: words[skip] is word `first`.
template <typename Word>
struct Run {
  static constexpr std::uint64_t kPerBlock = 16 / sizeof(Word);
  Run(const Stream& stream, std::uint64_t first, std::size_t count) {
    const std::uint64_t begin =
        first / 4 * 4;  // blocks and Box–Muller pairs both begin at multiples of 4
    skip = static_cast<std::size_t>(first - begin);
    const std::size_t length = (skip + count + 3) / 4 * 4;
    words_in_use = std::span(words).first(length);
    random_words(stream, begin, words_in_use);
  }
  [[nodiscard]] Word operator[](std::size_t i) const { return words[skip + i]; }

  std::array<Word, kRoom> words;
  std::span<Word> words_in_use{};
  std::size_t skip = 0;
};

template <typename Word>
void normals(const Stream& stream, std::uint64_t first, std::span<double> out) {
  const Run<Word> run(stream, first, out.size());
  std::array<double, kRoom> values;
  for (std::size_t i = 0; i < run.words_in_use.size(); i += 2) {
    const NormalPair pair = normal_pair(run.words[i], run.words[i + 1]);
    values[i] = pair.first;
    values[i + 1] = pair.second;
  }
  std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(run.skip), out.size(), out.begin());
}

void uniforms(const Stream& stream, std::uint64_t first, bool wide, std::span<double> out) {
  if (wide) {
    const Run<std::uint64_t> run(stream, first, out.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<double>(run[i] >> 11) * 0x1p-53;
  } else {
    const Run<std::uint32_t> run(stream, first, out.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(run[i]) * 0x1p-32;
  }
}

void store_floats(std::span<const double> values, DType dtype, std::byte* out) {
  if (dtype == DType::float64) {
    std::memcpy(out, values.data(), values.size_bytes());
  } else if (dtype == DType::float32) {
    for (std::size_t i = 0; i < values.size(); ++i) put(out, i, static_cast<float>(values[i]));
  } else {
    const std::size_t size = contract::size_bytes(dtype);
    for (std::size_t i = 0; i < values.size(); ++i)
      put_bits(out, i, size, to_bits(values[i], dtype));
  }
}

// One chunk of components [first, first + values.size()) of a randn or uniform float tensor.
void make_randn(const TensorInit& init, DType dtype, const Stream& stream, std::uint64_t first,
                std::span<double> values) {
  if (contract::component(dtype) == DType::float64) {
    normals<std::uint64_t>(stream, first, values);
  } else {
    normals<std::uint32_t>(stream, first, values);
  }
  const bool complex = contract::is_complex(dtype);
  const double std = init.std.value_or(1.0) * (complex ? 0x1.6A09E667F3BCDp-1 : 1.0);
  const double mean = init.mean.value_or(0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool imaginary = complex && (first + i) % 2 != 0;
    values[i] = values[i] * std + (imaginary ? 0.0 : mean);
  }
}

void make_uniform(const TensorInit& init, DType dtype, const Stream& stream, std::uint64_t first,
                  std::span<double> values) {
  const DType component = contract::component(dtype);
  uniforms(stream, first, component == DType::float64, values);
  const double low = init.low ? to_double(*init.low) : 0.0;
  const double high = init.high ? to_double(*init.high) : 1.0;
  const double width = high - low;
  const HalfOpenRange range(low, high, component);
  // A width beyond the largest double: halve, then double.
  const bool huge = !std::isfinite(width);
  for (double& value : values) {
    value = range.clamp(huge ? (low * 0.5 + (high * 0.5 - low * 0.5) * value) * 2.0
                             : low + width * value);
  }
}

void make_arange(const TensorInit& init, std::uint64_t last_dim, std::uint64_t first,
                 std::span<double> values) {
  const double start = init.start ? to_double(*init.start) : 0.0;
  const double step = init.step ? to_double(*init.step) : 1.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = start + step * static_cast<double>((first + i) % last_dim);
  }
}

double constant_of(const TensorInit& init) {
  switch (init.kind) {
    case InitKind::ones:
      return 1.0;
    case InitKind::full:
      return init.fill_value ? to_double(*init.fill_value) : 0.0;
    default:
      return 0.0;
  }
}

// Real values of [first, first + n) into the real parts of complex elements; the imaginary parts
// are 0.
void spread_real(std::span<double> components) {
  for (std::size_t i = components.size() / 2; i-- > 0;) {
    components[2 * i] = components[i];
    components[2 * i + 1] = 0.0;
  }
}

void generate_floats(const TensorInit& init, DType dtype, std::uint64_t last_dim,
                     const Stream& stream, std::uint64_t first, std::span<std::byte> out) {
  const DType component = contract::component(dtype);
  const std::uint64_t per_element = contract::is_complex(dtype) ? 2 : 1;
  const std::size_t size = contract::size_bytes(component);
  const std::size_t total = out.size() / size;
  std::array<double, kChunk> buffer;
  for (std::size_t done = 0; done < total;) {
    const std::size_t count = std::min(kChunk, total - done);
    const std::span<double> values = std::span(buffer).first(count);
    const std::uint64_t at = first * per_element + done;
    switch (init.kind) {
      case InitKind::randn:
        make_randn(init, dtype, stream, at, values);
        break;
      case InitKind::uniform:
        make_uniform(init, dtype, stream, at, values);
        break;
      default: {
        const auto elements = values.first(count / per_element);
        if (init.kind == InitKind::arange) {
          make_arange(init, last_dim, at / per_element, elements);
        } else {
          std::fill(elements.begin(), elements.end(), constant_of(init));
        }
        if (per_element == 2) spread_real(values);
      }
    }
    store_floats(values, component, out.data() + done * size);
    done += count;
  }
}

// A number as the bits of an integer: exact for integers, cut and kept within the type for doubles.
std::uint64_t integer_bits(double value, DType dtype) {
  const std::int64_t lowest = contract::lowest_integer(dtype);
  const std::uint64_t highest = contract::highest_integer(dtype);
  if (!(value > static_cast<double>(lowest))) return static_cast<std::uint64_t>(lowest);  // NaN too
  if (value >= static_cast<double>(highest)) return highest;
  if (value < 0) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return static_cast<std::uint64_t>(value);
}

std::uint64_t integer_bits(const Number& number, DType dtype) {
  if (const auto* d = std::get_if<double>(&number)) return integer_bits(*d, dtype);
  if (const auto* u = std::get_if<std::uint64_t>(&number)) return *u;
  return static_cast<std::uint64_t>(std::get<std::int64_t>(number));
}

// The high half of a 64 × 64 bit product.
std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{a} * b) >> 64);
}

struct IntegerRange {
  std::uint64_t low = 0;
  std::uint64_t count = 0;  // 0: all 2^64
};

IntegerRange uniform_range(const TensorInit& init, DType dtype) {
  const std::uint64_t low = integer_bits(init.low.value_or(std::int64_t{0}), dtype);
  const std::uint64_t high = integer_bits(init.high.value_or(std::int64_t{100}), dtype);
  return {.low = low, .count = high - low + 1};
}

void make_bounded(const IntegerRange& range, const Stream& stream, std::uint64_t first,
                  std::span<std::uint64_t> values) {
  const Run<std::uint64_t> run(stream, first, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = range.low + (range.count == 0 ? run[i] : multiply_high(run[i], range.count));
  }
}

double round_to_even(double value) {
  if (!(std::fabs(value) < 0x1p51)) return value;
  const double shifted = value + 0x1.8p52;
  return shifted - 0x1.8p52;
}

void make_integer_randn(const TensorInit& init, DType dtype, const Stream& stream,
                        std::uint64_t first, std::span<std::uint64_t> values) {
  if (init.mean || init.std) {
    std::array<double, kChunk> buffer;
    const auto reals = std::span(buffer).first(values.size());
    normals<std::uint64_t>(stream, first, reals);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = reals[i] * init.std.value_or(1.0) + init.mean.value_or(0.0);
      values[i] = integer_bits(round_to_even(value), dtype);
    }
  } else if (contract::size_bytes(dtype) == 8) {
    constexpr std::uint64_t kMillion = 1000000;
    const bool is_signed = dtype == DType::int64;
    make_bounded({.low = is_signed ? 0 - kMillion : 0, .count = kMillion * (is_signed ? 2 : 1) + 1},
                 stream, first, values);
  } else {
    const Run<std::uint32_t> run(stream, first, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = run[i];
  }
}

void make_integer_arange(const TensorInit& init, DType dtype, std::uint64_t last_dim,
                         std::uint64_t first, std::span<std::uint64_t> values) {
  const Number start = init.start.value_or(std::int64_t{0});
  const Number step = init.step.value_or(std::int64_t{1});
  if (std::holds_alternative<double>(start) || std::holds_alternative<double>(step)) {
    std::array<double, kChunk> buffer;
    const auto reals = std::span(buffer).first(values.size());
    make_arange(init, last_dim, first, reals);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = integer_bits(reals[i], dtype);
    return;
  }
  const std::uint64_t start_bits = integer_bits(start, dtype);
  const std::uint64_t step_bits = integer_bits(step, dtype);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = start_bits + step_bits * ((first + i) % last_dim);
  }
}

void make_integers(const TensorInit& init, DType dtype, std::uint64_t last_dim,
                   const Stream& stream, std::uint64_t first, std::span<std::uint64_t> values) {
  switch (init.kind) {
    case InitKind::randn:
      make_integer_randn(init, dtype, stream, first, values);
      break;
    case InitKind::uniform:
      make_bounded(uniform_range(init, dtype), stream, first, values);
      break;
    case InitKind::arange:
      make_integer_arange(init, dtype, last_dim, first, values);
      break;
    case InitKind::zeros:
      std::fill(values.begin(), values.end(), 0);
      break;
    case InitKind::ones:
      std::fill(values.begin(), values.end(), 1);
      break;
    case InitKind::full:
      std::fill(values.begin(), values.end(),
                integer_bits(init.fill_value.value_or(std::int64_t{0}), dtype));
      break;
  }
}

void make_booleans(const TensorInit& init, std::uint64_t last_dim, const Stream& stream,
                   std::uint64_t first, std::span<std::uint64_t> values) {
  if (init.kind == InitKind::randn || init.kind == InitKind::uniform) {
    const Run<std::uint32_t> run(stream, first, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = run[i] & 1U;
    return;
  }
  std::array<double, kChunk> buffer;
  const auto reals = std::span(buffer).first(values.size());
  if (init.kind == InitKind::arange) {
    make_arange(init, last_dim, first, reals);
  } else {
    std::fill(reals.begin(), reals.end(), constant_of(init));
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = reals[i] != 0 ? 1 : 0;
}

// Small tensors are made by one thread: starting another takes as long as some thousand elements.
std::size_t elements_per_thread(std::size_t elements) {
  constexpr std::size_t kWorthAThread = 64 * kChunk;
  const std::size_t most = std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
  const std::size_t threads = std::clamp<std::size_t>(elements / kWorthAThread, 1, most);
  return (elements + threads - 1) / threads;
}

}  // namespace

void generate(const TensorInit& init, DType dtype, std::uint64_t last_dim, const Stream& stream,
              std::uint64_t first, std::span<std::byte> out) {
  const std::size_t size = contract::size_bytes(dtype);
  if (out.size() % size != 0)
    throw std::invalid_argument("generate: not a whole number of elements");
  last_dim = std::max<std::uint64_t>(last_dim, 1);
  if (contract::is_floating(dtype) || contract::is_complex(dtype)) {
    generate_floats(init, dtype, last_dim, stream, first, out);
    return;
  }
  const std::size_t total = out.size() / size;
  std::array<std::uint64_t, kChunk> buffer;
  for (std::size_t done = 0; done < total;) {
    const std::size_t count = std::min(kChunk, total - done);
    const std::span<std::uint64_t> values = std::span(buffer).first(count);
    if (dtype == DType::boolean) {
      make_booleans(init, last_dim, stream, first + done, values);
    } else {
      make_integers(init, dtype, last_dim, stream, first + done, values);
    }
    std::byte* to = out.data() + done * size;
    for (std::size_t i = 0; i < count; ++i) put_bits(to, i, size, values[i]);
    done += count;
  }
}

void generate(const contract::TensorSpec& spec, const Stream& stream, std::span<std::byte> out) {
  if (out.size() != spec.contiguous_bytes()) {
    throw std::invalid_argument("generate: the buffer is not the tensor's size");
  }
  if (spec.data) {
    if (!out.empty()) std::memcpy(out.data(), spec.data->bytes.data(), out.size());
    return;
  }
  const auto last_dim = spec.shape.empty() ? 1 : static_cast<std::uint64_t>(spec.shape.back());
  const TensorInit init = spec.init.value_or(TensorInit{});
  const std::size_t size = contract::size_bytes(spec.dtype);
  const std::size_t slice = elements_per_thread(out.size() / size) * size;
  std::vector<std::jthread> threads;
  std::size_t done = 0;
  // An element depends on its index alone, so slices can be made in any order.
  for (; out.size() - done > slice; done += slice) {
    const auto part = out.subspan(done, slice);
    try {
      threads.emplace_back([&, part, first = done / size] {
        generate(init, spec.dtype, last_dim, stream, first, part);
      });
    } catch (const std::system_error&) {
      break;  // no thread to be had: the rest is made here
    }
  }
  generate(init, spec.dtype, last_dim, stream, done / size, out.subspan(done));
}

}  // namespace assay::judge
