#include "tools/stored_contracts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "engine/journal/digest.h"

namespace assay::tools {
namespace {

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kLocal = "local";
constexpr std::string_view kPrincipals = "principals";

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void write_all(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write " + path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool StoredContracts::is_name(std::string_view text) {
  return !text.empty() && text.size() <= 100 && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.'; });
}

StoredContracts StoredContracts::of(const std::string& principal) const {
  if (principal == kLocal) return *this;
  journal::Digest digest;
  digest.add(principal);
  return StoredContracts(folder_ / kPrincipals / digest.hex());
}

std::filesystem::path StoredContracts::file_of(const std::string& name) const {
  return folder_ / (name + std::string(kSuffix));
}

void StoredContracts::save(const std::string& name, const nlohmann::json& document) const {
  std::filesystem::create_directories(folder_);
  ::chmod(folder_.c_str(), 0700);
  std::string beside = (folder_ / ".writing-XXXXXX").string();
  const int file = ::mkostemp(beside.data(), O_CLOEXEC);
  if (file < 0) fail("cannot write in " + folder_.string());
  try {
    write_all(file, document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
              beside);
    if (::fsync(file) != 0) fail("cannot store " + beside);
    if (::rename(beside.c_str(), file_of(name).c_str()) != 0) fail("cannot store " + name);
  } catch (...) {
    ::close(file);
    ::unlink(beside.c_str());
    throw;
  }
  ::close(file);
}

std::optional<nlohmann::json> StoredContracts::load(const std::string& name) const {
  if (!is_name(name)) return std::nullopt;
  std::ifstream file(file_of(name), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) return std::nullopt;
  return document;
}

std::vector<std::string> StoredContracts::names() const {
  std::vector<std::string> list;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kSuffix)) continue;
    const std::string stem = name.substr(0, name.size() - kSuffix.size());
    if (is_name(stem)) list.push_back(stem);
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace assay::tools
