#include "engine/runner/resource_usage.h"

#include <elf.h>

#include <cstring>

#include "engine/runner/cubin.h"
#include "tests/catch.h"

using namespace assay;
using runner::cubin_sections;
using runner::resource_usage;

namespace {

// As NVRTC 13.0.88 wrote it for sm_90; the line with cmem[0] is sm_75's.
constexpr const char* kLog =
    "kernel.cu(2): warning #177-D: variable \"Used 99 registers\" was declared\n"
    "    int unused;\n"
    "        ^\n"
    "\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'sh' for 'sm_90'\n"
    "ptxas info    : Function properties for sh\n"
    "ptxas         .     400 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 1 barriers, 416 bytes cumulative stack size, 256 "
    "bytes "
    "smem\n"
    "ptxas info    : Compile time = 32.778 ms\n"
    "ptxas info    : Compiling entry function '_Z3addPKfS0_Pfi' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z3addPKfS0_Pfi\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Function properties for helper\n"
    "ptxas         .     64 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
    "ptxas info    : Used 12 registers, used 0 barriers, 380 bytes cmem[0]\n";

// An ELF file of sections without contents.
std::string elf(const std::vector<runner::CubinSection>& sections) {
  std::string names("\0", 1);
  std::vector<Elf64_Shdr> headers(1);
  for (const auto& section : sections) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_size = section.bytes;
    headers.push_back(header);
    names += section.name + '\0';
  }
  Elf64_Shdr table{};
  table.sh_name = static_cast<Elf64_Word>(names.size());
  names += std::string(".shstrtab") + '\0';
  table.sh_offset = sizeof(Elf64_Ehdr);
  table.sh_size = names.size();
  headers.push_back(table);
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = static_cast<Elf64_Half>(headers.size());
  head.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  head.e_shoff = sizeof head + names.size();
  std::string file(reinterpret_cast<const char*>(&head), sizeof head);
  file += names;
  file.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
  return file;
}

}  // namespace

TEST_CASE("every kernel's registers, stack, spills, shared memory and barriers are its own") {
  const auto usage = resource_usage(kLog, "");
  REQUIRE(usage.size() == 2);
  const auto& sh = usage.at("sh");
  CHECK(sh.registers == 32);
  CHECK(sh.stack_bytes == 416);
  CHECK(sh.spill_store_bytes == 8);
  CHECK(sh.spill_load_bytes == 12);
  CHECK(sh.static_shared_bytes == 256);
  CHECK(sh.barriers == 1);
  const auto& add = usage.at("_Z3addPKfS0_Pfi");
  CHECK(add.registers == 12);
  CHECK(add.stack_bytes == 0);  // a called function's frame is not its own
  CHECK(add.spill_store_bytes == 0);
  CHECK(add.constant_bytes == 380);
}

TEST_CASE("constant memory comes from the cubin where the log does not tell it") {
  const auto cubin = elf({{".text.sh", 1}, {".nv.constant0.sh", 552}, {".nv.constant0.other", 7}});
  CHECK(resource_usage(kLog, cubin).at("sh").constant_bytes == 552);
}

TEST_CASE("what is left of the log without the figures is the compiler's own") {
  const auto rest = runner::without_figures(kLog);
  CHECK(rest.find("ptxas") == std::string::npos);
  CHECK(rest.ends_with("^"));
  const std::string failure = " ptxas error   : Entry function 'k' uses too much shared data";
  CHECK(runner::without_figures(failure) == failure);
}

TEST_CASE("a damaged cubin is read as far as it goes") {
  const auto whole = elf({{".nv.constant0.sh", 552}, {".nv.constant0.k", 9}});
  REQUIRE(cubin_sections(whole).size() == 4);  // the null section and the names' own too
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK(cubin_sections(std::string_view(whole).substr(0, length)).size() <= 4);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    for (const auto& section : cubin_sections(damaged)) CHECK(section.name.size() <= whole.size());
  }
}
