// Which registers of a function body live within one straight line of it, and where each is last
// named. A compiler's PTX gives every value a register of its own; the decoder lets values that
// never live at the same time share a row, so that a warp's rows stay in the nearest cache. Reads
// the text once, beside the decoder; keeps views into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "engine/emulator/lexer.h"

namespace assay::emulator {

// Writes no register but those of its first operand, if any, and the next instruction follows at
// once. Of opcodes that are not known: no.
[[nodiscard]] bool writes_first_only(std::string_view opcode);

class RegisterLives {
 public:
  // `body_offset`: of the opening brace. Text that is not understood leaves every register to
  // itself.
  RegisterLives(std::string_view text, std::size_t body_offset);

  // The offset of the statement that names it last, if the register is written whole before it is
  // read and named between two labels or branches only.
  [[nodiscard]] std::optional<std::size_t> last_use(std::string_view name) const;

 private:
  struct Life {
    std::size_t first = 0;
    std::size_t last = 0;
    std::uint32_t line = 0;  // which straight line
    bool is_local = false;
  };
  bool read_body(Lexer& lexer);
  bool read_statement(Lexer& lexer);
  bool read_location(Lexer& lexer);
  bool read_registers(Lexer& lexer);
  void name(std::string_view word, std::size_t statement, bool is_written);

  std::unordered_map<std::string_view, Life> lives_{};
  std::uint32_t line_ = 0;
  int depth_ = 0;
};

}  // namespace assay::emulator
