// State that travels through a client and must come back as it left: text with an HMAC under a key
// of this process. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace assay::mcp::conformance {

// 128 random bits in hexadecimal. Throws std::system_error if the system has none.
[[nodiscard]] std::string random_token();

class SealedState {
 public:
  SealedState();

  [[nodiscard]] std::string seal(const std::string& text) const;
  // Nothing: it was not sealed here, or it has been changed.
  [[nodiscard]] std::optional<std::string> open(const std::string& sealed) const;

 private:
  [[nodiscard]] std::string tag(const std::string& text) const;

  std::array<std::uint8_t, 32> key_{};
};

}  // namespace assay::mcp::conformance
