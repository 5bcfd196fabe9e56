#include "engine/journal/digest.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace assay::journal {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kHexBytes = 64;

void require(int done) {
  if (done != 1) throw std::runtime_error("SHA-256 failed");
}

}  // namespace

void Digest::Free::operator()(evp_md_ctx_st* context) const { ::EVP_MD_CTX_free(context); }

Digest::Digest() : context_(::EVP_MD_CTX_new()) {
  require(context_ != nullptr ? ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) : 0);
}

void Digest::add(std::string_view bytes) {
  require(::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Digest::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  require(::EVP_DigestFinal_ex(context_.get(), digest.data(), &length));
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += kDigits[digest.at(i) >> 4];
    text += kDigits[digest.at(i) & 15];
  }
  return text;
}

bool is_digest(std::string_view text) {
  return text.size() == kHexBytes && text.find_first_not_of(kDigits) == std::string_view::npos;
}

}  // namespace assay::journal
