#include "plans/optest/tensor_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "engine/posix/descriptor.h"

namespace assay::optest {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const char* what) {
  throw FileFault(std::string(what) + " " + file.string() + ": " + std::strerror(errno));
}

// Never blocks on a FIFO that somebody put there.
posix::Descriptor open_for_reading(const fs::path& file) {
  posix::Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) fail(file, "cannot read");
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    throw FileFault(file.string() + " is not a plain file");
  }
  return fd;
}

class Digest {
 public:
  Digest() : context_(::EVP_MD_CTX_new(), &::EVP_MD_CTX_free) {
    ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr);
  }
  void add(const void* bytes, std::size_t count) {
    ::EVP_DigestUpdate(context_.get(), bytes, count);
  }
  std::string hexadecimal() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
    unsigned length = 0;
    ::EVP_DigestFinal_ex(context_.get(), raw.data(), &length);
    constexpr const char* kDigits = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
      text += kDigits[raw[i] >> 4U];
      text += kDigits[raw[i] & 15U];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)> context_;
};

void write_all(const posix::Descriptor& fd, std::span<const std::byte> bytes,
               const fs::path& file) {
  while (!bytes.empty()) {
    const long wrote = ::write(fd.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail(file, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
}

}  // namespace

std::string size_fault(const fs::path& file, contract::DType dtype, const Shape& shape) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return fs::exists(fs::symlink_status(file, error)) ? file.string() + " is not a plain file"
                                                       : "there is no " + file.string();
  }
  const std::uint64_t size = fs::file_size(file, error);
  const std::uint64_t wanted = shape.elements() * contract::size_bytes(dtype);
  if (!error && size == wanted) return {};
  return file.string() + " has " + std::to_string(size) + " bytes, expected " +
         std::to_string(wanted) + " for " + shape.text() + " " + std::string(contract::name(dtype));
}

std::vector<std::byte> read_tensor(const fs::path& file, contract::DType dtype,
                                   const Shape& shape) {
  const std::string fault = size_fault(file, dtype, shape);
  if (!fault.empty()) throw FileFault(fault);
  const auto fd = open_for_reading(file);
  std::vector<std::byte> bytes(shape.elements() * contract::size_bytes(dtype));
  for (std::size_t at = 0; at < bytes.size();) {
    const long got = ::read(fd.get(), bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(file, "cannot read");
    if (got == 0) throw FileFault(file.string() + " became shorter while it was read");
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

void make_parent(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) throw FileFault("cannot make " + file.parent_path().string() + ": " + error.message());
}

void write_file(const fs::path& file, const std::function<std::span<const std::byte>()>& fill) {
  make_parent(file);
  std::string aside = file.string() + ".XXXXXX";
  posix::Descriptor fd(::mkostemp(aside.data(), O_CLOEXEC));
  if (!fd) fail(file, "cannot write beside");
  try {
    for (auto block = fill(); !block.empty(); block = fill()) write_all(fd, block, file);
    ::fchmod(fd.get(), 0644);
    if (::rename(aside.c_str(), file.c_str()) != 0) fail(file, "cannot replace");
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
}

void write_file(const fs::path& file, const std::string& text) {
  bool done = false;
  write_file(file, [&]() -> std::span<const std::byte> {
    if (std::exchange(done, true)) return {};
    return std::as_bytes(std::span(text));
  });
}

std::string digest_of_file(const fs::path& file) {
  const auto fd = open_for_reading(file);
  Digest digest;
  std::vector<char> block(1U << 18);
  for (;;) {
    const long got = ::read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(file, "cannot read");
    if (got == 0) return digest.hexadecimal();
    digest.add(block.data(), static_cast<std::size_t>(got));
  }
}

std::string digest_of_text(const std::string& text) {
  Digest digest;
  digest.add(text.data(), text.size());
  return digest.hexadecimal();
}

}  // namespace assay::optest
