#include "engine/runner/cubin.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace assay::runner {
namespace {

template <typename T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<std::string> name_at(std::string_view cubin, const Elf64_Shdr& names,
                                   std::uint64_t offset) {
  if (names.sh_offset > cubin.size() || cubin.size() - names.sh_offset < names.sh_size) {
    return std::nullopt;
  }
  const std::string_view table = cubin.substr(names.sh_offset, names.sh_size);
  const auto end = offset < table.size() ? table.find('\0', offset) : std::string_view::npos;
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(table.substr(offset, end - offset));
}

}  // namespace

std::vector<CubinSection> cubin_sections(std::string_view cubin) {
  const auto header = read_at<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
      header->e_shoff > cubin.size()) {
    return {};
  }
  const auto section_at = [&](std::uint64_t index) {
    return read_at<Elf64_Shdr>(cubin, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names = section_at(header->e_shstrndx);
  if (!names) return {};
  std::vector<CubinSection> sections;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = section_at(i);
    if (!section) break;
    if (auto name = name_at(cubin, *names, section->sh_name)) {
      sections.push_back({.name = std::move(*name), .bytes = section->sh_size});
    }
  }
  return sections;
}

}  // namespace assay::runner
