// Literal tensor data on the wire: base64, optionally over zlib.
//
// Pure; any thread. Decoding allocates no more than the expected size, whatever the text claims.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "engine/contract/contract.h"

namespace assay::contract {

struct PayloadError {
  std::string message{};
};

// Strict base64 (padding required, no white space, unused bits zero), then zlib if asked. The
// result must be exactly `expected_bytes`; inflating stops there.
[[nodiscard]] std::variant<std::string, PayloadError> decode_payload(std::string_view base64,
                                                                     Compression compression,
                                                                     std::uint64_t expected_bytes);

// The canonical text of the bytes.
[[nodiscard]] std::string encode_payload(std::string_view bytes, Compression compression);

}  // namespace assay::contract
