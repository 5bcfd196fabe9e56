// The IO contract: which arguments a kernel takes, how its inputs are made, how its outputs are
// judged, and how it is launched. The values here are checked and resolved: sizes are numbers,
// literal data is decoded bytes, every product of a shape fits in memory.
//
// Pure values; every function may be called from any thread and holds nothing.
//
//   auto parsed = contract::parse(json, "/kernel/io");
//   if (auto* refused = std::get_if<contract::Refused>(&parsed)) report(refused->violations);
//   else use(std::get<contract::Parsed>(parsed).contract);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/contract/dtype.h"
#include "engine/contract/texture.h"

namespace assay::contract {

// A number as it was written: integers keep all 64 bits.
using Number = std::variant<std::int64_t, std::uint64_t, double>;
[[nodiscard]] double to_double(const Number& number);

enum class InitKind { randn, zeros, ones, uniform, full, arange };
enum class ArgType {
  tensor,
  integer,
  floating,
  text,
  boolean
};  // "tensor" "int" "float" "str" "bool"
enum class Role { input, output, inout };
enum class Compression { none, zlib };

[[nodiscard]] std::string_view name(InitKind kind);
[[nodiscard]] std::string_view name(ArgType type);
[[nodiscard]] std::string_view name(Role role);
[[nodiscard]] std::string_view name(Compression compression);
[[nodiscard]] std::optional<InitKind> parse_init_kind(std::string_view text);
[[nodiscard]] std::optional<ArgType> parse_arg_type(std::string_view text);
[[nodiscard]] std::optional<Role> parse_role(std::string_view text);
[[nodiscard]] std::optional<Compression> parse_compression(std::string_view text);

// How a tensor is filled. What is absent takes the generator's documented default; a given 0 is a
// 0.
struct TensorInit {
  InitKind kind = InitKind::randn;
  std::optional<std::uint64_t> seed{};  // negative seeds are kept as their two's complement
  std::optional<double> mean{};
  std::optional<double> std{};
  std::optional<Number> low{};
  std::optional<Number> high{};
  std::optional<Number> fill_value{};
  std::optional<Number> start{};
  std::optional<Number> step{};
  bool operator==(const TensorInit&) const = default;
};

// Literal contents, decoded: C order, exactly shape × dtype bytes.
struct TensorData {
  std::string bytes{};
  Compression compression = Compression::none;  // how it came, and how to_json writes it
  bool operator==(const TensorData&) const = default;
};

struct Tolerance {
  double atol = 0;
  double rtol = 0;
  bool operator==(const Tolerance&) const = default;
};

// A tolerance of which either half may be left to the default.
struct ToleranceRequest {
  std::optional<double> atol{};
  std::optional<double> rtol{};
  bool operator==(const ToleranceRequest&) const = default;
};

struct TensorSpec {
  std::vector<std::int64_t> shape{};
  std::optional<std::vector<std::int64_t>> strides{};  // in elements; absent: contiguous, C order
  DType dtype = DType::float32;
  // On an input or inout: its contents. On an output: the buffer is pre-filled with it instead of
  // poison.
  std::optional<TensorInit> init{};
  std::optional<TensorData> data{};  // wins over init
  std::optional<ToleranceRequest> tolerance{};
  bool operator==(const TensorSpec&) const = default;

  [[nodiscard]] std::uint64_t elements() const;          // product of the shape; 1 for a 0-d tensor
  [[nodiscard]] std::uint64_t contiguous_bytes() const;  // elements × dtype
  [[nodiscard]] std::uint64_t buffer_bytes()
      const;  // what the strides span; 0 if there is no element
};

// monostate: a tensor has none.
using ScalarValue =
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

struct Arg {
  std::string name{};
  ArgType type = ArgType::tensor;
  ScalarValue value{};  // double for "float" even if written as 2; uint64 only above int64's range
  std::optional<DType>
      c_type{};  // the width a scalar is passed in; absent: the kernel's signature decides
  std::optional<TensorSpec> tensor_spec{};  // present exactly when type is tensor
  std::optional<Texture> texture{};         // of an input: not passed as a pointer, but so
  Role role = Role::input;
  bool is_meta = false;  // Triton constexpr
  bool operator==(const Arg&) const = default;

  [[nodiscard]] bool is_tensor() const { return type == ArgType::tensor; }
  [[nodiscard]] bool is_read() const { return role != Role::output; }
  [[nodiscard]] bool is_written() const { return role != Role::input; }
};

struct LaunchDim {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  bool operator==(const LaunchDim&) const = default;
};

struct LaunchConfig {
  std::optional<LaunchDim> grid{};
  std::optional<LaunchDim> block{};
  std::optional<std::uint32_t> shared_mem_bytes{};
  std::optional<std::uint32_t> num_warps{};
  std::optional<std::uint32_t> num_stages{};
  // Expressions of the grid's axes that name what only a kernel's chosen configuration says; "" for
  // all others. In `grid` such an axis is 1.
  std::array<std::string, 3> open_grid{};
  bool operator==(const LaunchConfig&) const = default;
};

struct Contract {
  std::map<std::string, std::int64_t> sizes{};  // named sizes, already put into shapes and values
  std::vector<Arg> args{};
  std::optional<LaunchConfig> launch{};
  bool operator==(const Contract&) const = default;
};

// One thing wrong, or worth saying, and where: `pointer` is an RFC 6901 JSON pointer.
struct Violation {
  std::string pointer{};
  std::string message{};
  bool operator==(const Violation&) const = default;
};

struct ParseOptions {
  std::uint64_t max_bytes = 8ULL << 30;  // of one tensor's buffer, and of all of them together
  bool inputs_need_init =
      false;               // true: an input without init or data is a violation, not a warning
  bool open_grid = false;  // true: an axis of the grid may name what the contract does not
};

struct Parsed {
  Contract contract{};
  std::vector<Violation> warnings{};  // unknown keys with a suggestion, defaults that were assumed
};

struct Refused {
  std::vector<Violation> violations{};  // all of them, in document order
  std::vector<Violation> warnings{};
};

// Reads and checks a whole contract. A key whose value is null counts as absent. `base_pointer`
// goes before every pointer ("/kernel/io"; "" if the contract is the whole document). Never throws
// on any document; memory is bounded by the document and max_bytes.
[[nodiscard]] std::variant<Parsed, Refused> parse(const nlohmann::json& document,
                                                  std::string_view base_pointer = "",
                                                  const ParseOptions& options = {});

// The grid with its open axes put in, from the contract's own names and those of `configuration`;
// or what is wrong with one. Nothing where there is no grid.
[[nodiscard]] std::variant<std::optional<LaunchDim>, Violation> closed_grid(
    const Contract& contract, const std::map<std::string, std::int64_t>& configuration);

// The canonical document: parse(to_json(c)) gives c again. Named sizes are kept, but shapes and
// values are written as the numbers they resolved to.
[[nodiscard]] nlohmann::json to_json(const Contract& contract);

// What a kernel type ("torch", "torch_cuda", "triton", "cuda", "multi_kernel") demands beyond a
// well-formed contract; null means no contract was given. An unknown kernel type demands nothing
// here.
[[nodiscard]] std::vector<Violation> requirements(std::string_view kernel_type,
                                                  const Contract* contract,
                                                  std::string_view base_pointer = "");

}  // namespace assay::contract
