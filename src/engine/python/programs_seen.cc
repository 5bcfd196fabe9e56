#include "engine/python/programs_seen.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace assay::python {
namespace {

// torch's own modules are megabytes each, and a call needs few of them.
constexpr std::size_t kMostBytes = 512ULL << 20;

}  // namespace

void ProgramsSeen::add(driver::Handle module, std::string_view image) {
  if (image.empty() || held_bytes_ + image.size() > kMostBytes) return;
  // Another's now.
  for (Program& program : programs_) {
    if (module != nullptr && program.module == module) program.module = nullptr;
  }
  held_bytes_ += image.size();
  programs_.push_back({.module = module, .bytes = std::string(image)});
}

std::optional<std::size_t> ProgramsSeen::find(driver::Handle module,
                                              const std::string& kernel) const {
  for (std::size_t i = programs_.size(); i-- > 0 && module != nullptr;) {
    if (programs_[i].module == module) return i;
  }
  // The name of the section that holds its code, as the section names stand in the file.
  std::string section = ".text." + kernel;
  section.push_back('\0');
  for (std::size_t i = programs_.size(); i-- > 0;) {
    if (programs_[i].bytes.find(section) != std::string::npos) return i;
  }
  return std::nullopt;
}

std::size_t ProgramsSeen::image_bytes(const void* image) {
  Elf64_Ehdr header;
  if (image == nullptr || std::memcmp(image, ELFMAG, SELFMAG) != 0) return 0;
  std::memcpy(&header, image, sizeof header);
  const auto* begin = static_cast<const char*>(image);
  std::size_t bytes = header.e_shoff + std::size_t{header.e_shnum} * sizeof(Elf64_Shdr);
  bytes = std::max(bytes, header.e_phoff + std::size_t{header.e_phnum} * sizeof(Elf64_Phdr));
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, begin + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type == SHT_NOBITS) continue;
    bytes = std::max<std::size_t>(bytes, section.sh_offset + section.sh_size);
  }
  return bytes;
}

}  // namespace assay::python
