#include "engine/contract/contract.h"

#include <array>
#include <utility>

namespace assay::contract {
namespace {

template <typename Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<InitKind, 6> kInitKinds{{{InitKind::randn, "randn"},
                                         {InitKind::zeros, "zeros"},
                                         {InitKind::ones, "ones"},
                                         {InitKind::uniform, "uniform"},
                                         {InitKind::full, "full"},
                                         {InitKind::arange, "arange"}}};
constexpr Names<ArgType, 5> kArgTypes{{{ArgType::tensor, "tensor"},
                                       {ArgType::integer, "int"},
                                       {ArgType::floating, "float"},
                                       {ArgType::text, "str"},
                                       {ArgType::boolean, "bool"}}};
constexpr Names<Role, 3> kRoles{
    {{Role::input, "input"}, {Role::output, "output"}, {Role::inout, "inout"}}};
constexpr Names<Compression, 2> kCompressions{
    {{Compression::none, "none"}, {Compression::zlib, "zlib"}}};

template <typename Table, typename Enum>
std::string_view text_of(const Table& table, Enum value) {
  for (const auto& [candidate, text] : table) {
    if (candidate == value) return text;
  }
  return "?";
}

template <typename Enum, std::size_t N>
std::optional<Enum> value_of(const Names<Enum, N>& table, std::string_view text) {
  for (const auto& [value, candidate] : table) {
    if (candidate == text) return value;
  }
  return std::nullopt;
}

}  // namespace

double to_double(const Number& number) {
  return std::visit([](auto v) { return static_cast<double>(v); }, number);
}

std::string_view name(InitKind kind) { return text_of(kInitKinds, kind); }
std::string_view name(ArgType type) { return text_of(kArgTypes, type); }
std::string_view name(Role role) { return text_of(kRoles, role); }
std::string_view name(Compression compression) { return text_of(kCompressions, compression); }

std::optional<InitKind> parse_init_kind(std::string_view text) {
  return value_of(kInitKinds, text);
}
std::optional<ArgType> parse_arg_type(std::string_view text) { return value_of(kArgTypes, text); }
std::optional<Role> parse_role(std::string_view text) { return value_of(kRoles, text); }
std::optional<Compression> parse_compression(std::string_view text) {
  return value_of(kCompressions, text);
}

std::uint64_t TensorSpec::elements() const {
  std::uint64_t product = 1;
  for (const std::int64_t extent : shape) product *= static_cast<std::uint64_t>(extent);
  return product;
}

std::uint64_t TensorSpec::contiguous_bytes() const { return elements() * size_bytes(dtype); }

std::uint64_t TensorSpec::buffer_bytes() const {
  if (!strides) return contiguous_bytes();
  if (elements() == 0) return 0;
  std::uint64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    last += static_cast<std::uint64_t>(shape[d] - 1) * static_cast<std::uint64_t>((*strides)[d]);
  }
  return (last + 1) * size_bytes(dtype);
}

}  // namespace assay::contract
