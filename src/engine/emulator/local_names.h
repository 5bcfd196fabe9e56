// The variables of a debug build by name: which registers and which bytes of local memory hold
// them. Read from the DWARF that a compiler writes as text at the end of its PTX (.debug_abbrev,
// .debug_info, .debug_loc); what is not understood leaves places without a name. Immutable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/emulator/local_fill.h"
#include "engine/emulator/module.h"

namespace assay::emulator {

struct LocalName {
  std::string variable{};
  std::uint32_t offset_bytes = 0;  // of the place in it
};

class LocalNames {
 public:
  explicit LocalNames(const Module::Text& text);
  [[nodiscard]] std::optional<LocalName> of(const LocalPlace& place) const;

 private:
  struct Reader;
  struct InMemory {
    std::uint32_t offset = 0;  // in the function's local memory
    std::string variable{};
  };
  const Module::Text& text_;
  std::map<std::pair<std::uint32_t, std::string>, std::string> in_register_{};  // by function
  std::map<std::uint32_t, std::vector<InMemory>> in_memory_{};                  // sorted by offset
};

}  // namespace assay::emulator
