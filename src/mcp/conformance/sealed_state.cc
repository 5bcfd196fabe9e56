#include "mcp/conformance/sealed_state.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace assay::mcp::conformance {

namespace {

std::string hex_of(const std::uint8_t* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (std::size_t i = 0; i < count; ++i) {
    hex += kDigits[bytes[i] >> 4U];
    hex += kDigits[bytes[i] & 15U];
  }
  return hex;
}

void fill_at_random(std::uint8_t* bytes, std::size_t count) {
  if (::getrandom(bytes, count, 0) != static_cast<ssize_t>(count))
    throw std::system_error(errno, std::generic_category(), "getrandom");
}

}  // namespace

std::string random_token() {
  std::array<std::uint8_t, 16> bytes{};
  fill_at_random(bytes.data(), bytes.size());
  return hex_of(bytes.data(), bytes.size());
}

SealedState::SealedState() { fill_at_random(key_.data(), key_.size()); }

std::string SealedState::tag(const std::string& text) const {
  std::array<std::uint8_t, 32> digest{};
  unsigned size = 0;
  ::HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return hex_of(digest.data(), digest.size());
}

std::string SealedState::seal(const std::string& text) const { return text + '.' + tag(text); }

std::optional<std::string> SealedState::open(const std::string& sealed) const {
  const std::size_t dot = sealed.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  std::string text = sealed.substr(0, dot);
  const std::string expected = tag(text);
  const std::string shown = sealed.substr(dot + 1);
  if (shown.size() != expected.size() ||
      CRYPTO_memcmp(shown.data(), expected.data(), expected.size()) != 0)
    return std::nullopt;
  return text;
}

}  // namespace assay::mcp::conformance
