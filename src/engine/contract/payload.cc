#include "engine/contract/payload.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace assay::contract {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kInvalid = 255;

constexpr auto kDigits = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(kInvalid);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

std::variant<std::string, PayloadError> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return PayloadError{"base64 text has " + std::to_string(text.size()) +
                        " characters, not a multiple of 4"};
  }
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::size_t digits = text.size() - padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t window = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::uint8_t digit = kDigits[static_cast<unsigned char>(text[i])];
    if (digit == kInvalid) {
      return PayloadError{"invalid base64 character at offset " + std::to_string(i)};
    }
    window = (window << 6) | digit;
    switch (i % 4) {
      case 1:
        bytes.push_back(static_cast<char>(window >> 4));
        break;
      case 2:
        bytes.push_back(static_cast<char>(window >> 2));
        break;
      case 3:
        bytes.push_back(static_cast<char>(window));
        break;
      default:
        break;
    }
  }
  const std::uint32_t unused = padding == 1 ? 3U : padding == 2 ? 15U : 0U;
  if ((window & unused) != 0)
    return PayloadError{"base64 text ends in bits that belong to no byte"};
  return bytes;
}

// An inflating stream that ends with its scope.
struct Inflation {
  Inflation() {
    if (inflateInit(&stream) != Z_OK) throw std::runtime_error("zlib: inflateInit failed");
  }
  ~Inflation() { inflateEnd(&stream); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  z_stream stream{};
};

std::variant<std::string, PayloadError> inflate_exactly(std::string_view packed,
                                                        std::uint64_t expected_bytes) {
  constexpr std::size_t kStep = 1U << 20;  // grow as data comes: a small lie allocates little
  Inflation inflation;
  z_stream& stream = inflation.stream;
  std::string bytes;
  std::size_t read = 0;
  for (;;) {
    if (stream.avail_in == 0 && read < packed.size()) {
      const std::size_t n = std::min<std::size_t>(packed.size() - read, 1U << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
      stream.avail_in = static_cast<uInt>(n);
      read += n;
    }
    // One byte more than expected is enough to see that there is too much.
    const std::uint64_t room = expected_bytes + 1 - bytes.size();
    const std::size_t step = static_cast<std::size_t>(std::min<std::uint64_t>(room, kStep));
    const std::size_t old = bytes.size();
    bytes.resize(old + step);
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + old);
    stream.avail_out = static_cast<uInt>(step);
    const int code = inflate(&stream, Z_NO_FLUSH);
    bytes.resize(old + step - stream.avail_out);
    if (bytes.size() > expected_bytes) {
      return PayloadError{"data inflates to more than the " + std::to_string(expected_bytes) +
                          " bytes of shape and dtype"};
    }
    if (code == Z_STREAM_END) break;
    if (code != Z_OK) {
      return PayloadError{code == Z_BUF_ERROR ? "zlib data ends too early" : "invalid zlib data"};
    }
  }
  if (stream.avail_in != 0 || read < packed.size())
    return PayloadError{"bytes after the zlib data"};
  return bytes;
}

std::string deflated(std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<uLong>::max() / 2) throw std::length_error("payload");
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(bytes.data()),
                             static_cast<uLong>(bytes.size()), Z_DEFAULT_COMPRESSION);
  if (code != Z_OK) throw std::runtime_error("zlib: compress2 failed");
  packed.resize(size);
  return packed;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t window = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      window = (window << 8) | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text.push_back(k <= n ? kAlphabet[(window >> (18 - 6 * k)) & 63U] : '=');
    }
  }
  return text;
}

}  // namespace

std::variant<std::string, PayloadError> decode_payload(std::string_view base64,
                                                       Compression compression,
                                                       std::uint64_t expected_bytes) {
  auto decoded = decode_base64(base64);
  if (std::holds_alternative<PayloadError>(decoded)) return decoded;
  if (compression == Compression::zlib) {
    decoded = inflate_exactly(std::get<std::string>(decoded), expected_bytes);
    if (std::holds_alternative<PayloadError>(decoded)) return decoded;
  }
  const std::size_t size = std::get<std::string>(decoded).size();
  if (size != expected_bytes) {
    return PayloadError{"data holds " + std::to_string(size) + " bytes, but shape and dtype need " +
                        std::to_string(expected_bytes)};
  }
  return decoded;
}

std::string encode_payload(std::string_view bytes, Compression compression) {
  return encode_base64(compression == Compression::zlib ? deflated(bytes) : std::string(bytes));
}

}  // namespace assay::contract
