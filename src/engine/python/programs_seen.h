// The machine code that this process was seen to load, by the module it became or else by the
// kernels in it. Bytes are copied as they pass: nobody keeps them for us.
//
// Owned by the capture; its lock is the capture's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/python/driver_calls.h"

namespace assay::python {

class ProgramsSeen {
 public:
  // What became a module of this handle; the handle of an older one may come back.
  void add(driver::Handle module, std::string_view image);
  // Of a module that the driver loaded by itself.
  void add(std::string_view cubin) { add(nullptr, cubin); }

  // The program of a kernel: that of the module, if it is known, else the last that has such a
  // kernel.
  [[nodiscard]] std::optional<std::size_t> find(driver::Handle module,
                                                const std::string& kernel) const;
  [[nodiscard]] const std::string& bytes(std::size_t program) const {
    return programs_.at(program).bytes;
  }
  [[nodiscard]] std::size_t size() const { return programs_.size(); }

  // The size of an image that says its own: machine code, which is an ELF file. 0 of others.
  [[nodiscard]] static std::size_t image_bytes(const void* image);

 private:
  struct Program {
    driver::Handle module = nullptr;
    std::string bytes{};
  };
  std::vector<Program> programs_{};
  std::size_t held_bytes_ = 0;
};

}  // namespace assay::python
