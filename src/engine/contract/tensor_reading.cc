#include "engine/contract/tensor_reading.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/contract/payload.h"

namespace assay::contract {
namespace {

constexpr std::size_t kMaxRank = 32;
constexpr std::uint64_t kOverflow = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? kOverflow : result;
}

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? kOverflow : result;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string bytes_text(std::uint64_t bytes) {
  return bytes == kOverflow ? "more than 2^64 bytes" : std::to_string(bytes) + " bytes";
}

std::optional<std::vector<std::int64_t>> read_extents(const Node& node, std::string_view what,
                                                      Sizes& sizes, Notes& notes) {
  if (!expect_array(node, what, kMaxRank, notes)) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < node.json->size(); ++i) {
    const Node entry = node.element(i);
    const std::string entry_name = std::string(what) + "[" + std::to_string(i) + "]";
    const auto extent = sizes.resolve(entry, entry_name, notes);
    if (!extent) continue;
    if (*extent < 0) {
      const std::string given = entry.json->is_string() ? brief(*entry.json) + " = " : "";
      notes.violate(entry.pointer, entry_name + " must not be negative, but is " + given +
                                       std::to_string(*extent));
      continue;
    }
    extents.push_back(*extent);
  }
  if (extents.size() != node.json->size()) return std::nullopt;
  return extents;
}

// What the elements take if contiguous, or what the strides span; kOverflow beyond 64 bits.
std::uint64_t spanned_bytes(const TensorSpec& spec) {
  if (std::find(spec.shape.begin(), spec.shape.end(), 0) != spec.shape.end()) return 0;
  std::uint64_t elements = 1;
  if (!spec.strides) {
    for (const auto extent : spec.shape) {
      elements = saturating_multiply(elements, static_cast<std::uint64_t>(extent));
    }
  } else {
    for (std::size_t d = 0; d < spec.shape.size(); ++d) {
      const std::uint64_t reach =
          saturating_multiply(static_cast<std::uint64_t>(spec.shape[d] - 1),
                              static_cast<std::uint64_t>((*spec.strides)[d]));
      elements = saturating_add(elements, reach);
    }
  }
  return saturating_multiply(elements, size_bytes(spec.dtype));
}

// True if no two elements can share a place: by growing stride, each dimension steps over all
// smaller ones.
bool strides_keep_apart(const TensorSpec& spec) {
  std::vector<std::size_t> order(spec.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return (*spec.strides)[a] < (*spec.strides)[b]; });
  std::int64_t reach = 0;
  for (const std::size_t d : order) {
    if (spec.shape[d] <= 1) continue;
    if ((*spec.strides)[d] <= reach) return false;
    reach += (spec.shape[d] - 1) * (*spec.strides)[d];
  }
  return true;
}

void check_size(const TensorSpec& spec, const std::string& pointer, const ParseOptions& options,
                Notes& notes) {
  // Strides of 0 can name more elements than the buffer has; both counts must stay within the
  // limit.
  TensorSpec contiguous = spec;
  contiguous.strides.reset();
  const std::uint64_t bytes = std::max(spanned_bytes(spec), spanned_bytes(contiguous));
  if (bytes <= options.max_bytes) return;
  notes.violate(pointer, "shape " + shape_text(spec.shape) + " of " +
                             std::string(name(spec.dtype)) + " takes " + bytes_text(bytes) +
                             ", more than the limit of " + bytes_text(options.max_bytes));
}

bool read_strides(const Node& node, Role role, Sizes& sizes, TensorSpec& spec, Notes& notes) {
  auto strides = read_extents(node, "strides", sizes, notes);
  if (!strides) return false;
  if (strides->size() != spec.shape.size()) {
    notes.violate(node.pointer, "strides has " + std::to_string(strides->size()) +
                                    " entries, but shape has " + std::to_string(spec.shape.size()));
    return false;
  }
  spec.strides = std::move(strides);
  const std::uint64_t bytes = spanned_bytes(spec);
  if (role != Role::input && bytes < (1ULL << 62) && !strides_keep_apart(spec)) {
    notes.violate(node.pointer, "strides let elements of a tensor that is written overlap");
    return false;
  }
  return true;
}

void read_tolerance(const Node& node, TensorSpec& spec, Notes& notes) {
  if (!expect_object(node, "tolerance", notes)) return;
  warn_unknown_keys(node, {.here = {"atol", "rtol"}}, notes);
  ToleranceRequest tolerance;
  for (auto [key, target] :
       {std::pair{"atol", &tolerance.atol}, std::pair{"rtol", &tolerance.rtol}}) {
    const auto member = node.member(key);
    if (!member) continue;
    const auto value = read_finite(*member, key, notes);
    if (value && *value < 0)
      notes.violate(member->pointer, std::string(key) + " must not be negative");
    *target = value;
  }
  spec.tolerance = tolerance;
}

std::optional<DType> read_dtype(const Node& node, Notes& notes) {
  const auto text = read_string(node, "dtype", notes);
  if (!text) return std::nullopt;
  const auto dtype = parse_dtype(*text);
  if (dtype) return dtype;
  std::string known;
  for (const DType each : all_dtypes())
    known += (known.empty() ? "" : ", ") + std::string(name(each));
  notes.violate(node.pointer, "Unsupported dtype: " + in_quotes(*text) + "; known are " + known);
  return std::nullopt;
}

void read_data(const Node& node, TensorSpec& spec, const ParseOptions& options, Notes& notes) {
  TensorData data;
  if (const auto compress = node.member("compress")) {
    const auto text = read_string(*compress, "compress", notes);
    const auto known = text ? parse_compression(*text) : std::nullopt;
    if (text && !known) {
      notes.violate(compress->pointer, "compress must be none or zlib, not " + in_quotes(*text));
    }
    if (!known) return;
    data.compression = *known;
  }
  const auto encoded = node.member("data_b64");
  if (!encoded) {
    notes.violate(node.pointer, "data requires data_b64");
    return;
  }
  if (!encoded->json->is_string()) {
    notes.violate(encoded->pointer, "data_b64 must be a string, not " + brief(*encoded->json));
    return;
  }
  if (spec.contiguous_bytes() > options.max_bytes)
    return;  // noted already; never inflate that much
  auto decoded = decode_payload(encoded->json->get_ref<const std::string&>(), data.compression,
                                spec.contiguous_bytes());
  if (const auto* error = std::get_if<PayloadError>(&decoded)) {
    notes.violate(encoded->pointer, error->message);
    return;
  }
  data.bytes = std::get<std::string>(std::move(decoded));
  spec.data = std::move(data);
}

// Reads the dtype into `dtype` if there is one; false after a violation.
bool read_dtype_member(const std::optional<Node>& node, DType& dtype, Notes& notes) {
  if (!node) return true;
  const auto known = read_dtype(*node, notes);
  if (known) dtype = *known;
  return known.has_value();
}

// Shape and dtype may stand in the spec, in its literal data, or in both if they agree.
bool read_shape_and_dtype(const Node& node, const std::optional<Node>& data, Sizes& sizes,
                          TensorSpec& spec, Notes& notes) {
  const auto dtype_node = node.member("dtype");
  const auto data_dtype_node = data ? data->member("dtype") : std::nullopt;
  DType data_dtype = DType::float32;
  bool ok = read_dtype_member(data_dtype_node, data_dtype, notes);
  spec.dtype = data_dtype;
  ok = read_dtype_member(dtype_node, spec.dtype, notes) && ok;
  if (ok && data_dtype_node && data_dtype != spec.dtype) {
    notes.violate(data_dtype_node->pointer, "data is " + std::string(name(data_dtype)) +
                                                ", but the tensor is " +
                                                std::string(name(spec.dtype)));
  }

  auto shape_node = node.member("shape");
  auto data_shape_node = data ? data->member("shape") : std::nullopt;
  // An empty shape in the data is how clients write "as the tensor".
  if (shape_node && data_shape_node && *data_shape_node->json == nlohmann::json::array()) {
    data_shape_node.reset();
  }
  if (!shape_node && !data_shape_node) {
    notes.violate(node.pointer, "tensor_spec requires shape");
    return false;
  }
  const auto shape = shape_node ? read_extents(*shape_node, "shape", sizes, notes) : std::nullopt;
  const auto data_shape =
      data_shape_node ? read_extents(*data_shape_node, "shape", sizes, notes) : std::nullopt;
  if (shape && data_shape && *shape != *data_shape) {
    notes.violate(data_shape_node->pointer, "data has shape " + shape_text(*data_shape) +
                                                ", but the tensor has shape " + shape_text(*shape));
  }
  ok = ok && (!shape_node || shape) && (!data_shape_node || data_shape);
  if (ok) spec.shape = shape ? *shape : *data_shape;
  return ok;
}

}  // namespace

std::optional<TensorSpec> read_tensor_spec(const Node& node, Role role, Sizes& sizes,
                                           const ParseOptions& options, Notes& notes) {
  if (!expect_object(node, "tensor_spec", notes)) return std::nullopt;
  warn_unknown_keys(
      node,
      {.here = {"shape", "strides", "dtype", "init", "data", "tolerance"},
       .elsewhere = {"kind", "seed", "mean", "std", "low", "high", "fill_value", "start", "step"},
       .elsewhere_in = "init"},
      notes);
  const std::size_t before = notes.violations.size();
  TensorSpec spec;
  auto data = node.member("data");
  if (data && !expect_object(*data, "data", notes)) data.reset();
  if (data) {
    warn_unknown_keys(*data, {.here = {"data_b64", "dtype", "shape", "compress"}}, notes);
  }
  const bool usable = read_shape_and_dtype(node, data, sizes, spec, notes);
  if (usable) {
    const auto strides = node.member("strides");
    if (!strides || read_strides(*strides, role, sizes, spec, notes)) {
      const auto shape = node.member("shape");
      check_size(spec, shape ? shape->pointer : node.pointer, options, notes);
    }
  }
  if (const auto tolerance = node.member("tolerance")) read_tolerance(*tolerance, spec, notes);
  if (const auto init = node.member("init")) spec.init = read_init(*init, spec.dtype, notes);
  if (data && usable && notes.violations.size() == before) read_data(*data, spec, options, notes);
  if (notes.violations.size() != before) return std::nullopt;
  return spec;
}

}  // namespace assay::contract
