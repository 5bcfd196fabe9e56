// A contract in the few words that a model writes without a mistake, and back:
//
//   in  a: float32[m, k] randn(seed=1)
//   in  b: float32[k, n] uniform(-1, 1, seed=2)
//   out c: float32[m, n] atol=1e-3 rtol=1e-3
//   m: int = 64; n: int = 128; k: int = 32      # scalars, in the kernel's parameter order
//   eps: float = 1e-5; count: uint64 = 8; flag: bool = true
//   meta BLOCK: int = 128                       # Triton constexpr
//   size rows = 4                               # a name for shapes only, no parameter
//   grid ceil(n/16), ceil(m/16); block 16, 16; shared 4*1024; warps 4; stages 2
//
// Statements end at ';' or a line's end, '#' begins a comment. Roles: in, out, inout. Shapes, int
// values and launch take expressions over sizes and int scalars: + - * / % ( ) ceildiv(a, b), and
// ceil(a/b) for the same. Contents: randn(seed, mean, std), uniform(low, high, seed), zeros, ones,
// full(value), arange(start, step), data("base64", zlib); strides=[k, 1]. Names that are no
// identifiers, and text values, stand in double quotes as in JSON. An input may be a texture:
// texture(linear, wrap, mirror, normalized_coords, normalized_float, channels=4), in any order.
//
// Pure; any thread; no text makes it throw. What it reads is a document for parse(), symbols kept.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/contract/contract.h"

namespace assay::contract {

struct CompactError {
  std::size_t line = 1;
  std::string message{};
};

[[nodiscard]] std::variant<nlohmann::json, std::vector<CompactError>> from_compact(
    std::string_view text);

// One statement a line. parse(from_compact(to_compact(c))) gives c again.
[[nodiscard]] std::string to_compact(const Contract& contract);

// The same with the document's expressions kept: whatever its sizes are changed to, the text with
// the same change means the same. REQUIRES a document that parse() takes; throws
// std::invalid_argument on another.
[[nodiscard]] std::string to_compact(const nlohmann::json& document);

}  // namespace assay::contract
