// Which source line each line of a PTX text was made from. The assembler, and the emulator's
// parser, speak of lines of PTX that nobody wrote; the text's own .loc and .file directives lead
// back.
//
// Borrows the text. Immutable; any thread. Linear in the text; any text is taken.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runner/diagnostics.h"

namespace assay::runner {

struct SourcePlace {
  std::string file{};  // as the compiler was given it; a path it made up is cut
  int line = 0;
  int column = 0;  // 0: of the whole function
};

class PtxPlaces {
 public:
  explicit PtxPlaces(std::string_view ptx);

  // Of a line of the text, 1-based: inline assembly's own line, also where its function was
  // inlined.
  [[nodiscard]] std::optional<SourcePlace> at(int ptx_line) const;
  // Where a function begins.
  [[nodiscard]] std::optional<SourcePlace> of_function(std::string_view symbol) const;

 private:
  struct Location {
    int ptx_line = 0;
    int file = 0;
    int line = 0;
    int column = 0;
  };
  [[nodiscard]] std::optional<SourcePlace> place(const Location& location) const;
  void take_file(std::string_view words);

  std::vector<Location> locations_{};  // in the text's order
  std::vector<int> function_lines_{};
  std::map<std::string, int, std::less<>> functions_{};
  std::map<int, std::string> files_{};
};

// Whether a finding is the assembler's and could be given a place.
[[nodiscard]] bool needs_places(const Diagnostics& found);

// Gives the assembler's findings their places in the source that `ptx` was made from.
void place_findings(Diagnostics& found, std::string_view ptx, std::string_view source,
                    std::string_view file_name);

}  // namespace assay::runner
