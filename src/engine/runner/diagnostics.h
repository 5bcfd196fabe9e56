// What the compiler said, as findings with a place: NVRTC's log is text for people, in which a
// finding is a head line, perhaps more text, the source line, a caret, and how it was come by.
//
//   kernel.cu(4): error: identifier "x" is undefined
//     p[0] = x;
//            ^
//             detected during instantiation of "void f<T>() [with T=float]" at line 9
//
// Pure; bounded in what it returns, linear in what it reads. The log may hold anything that a
// source can make a compiler say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::runner {

enum class Severity { error, warning, note };
[[nodiscard]] const char* name(Severity severity);

// Lines and columns start at 1; columns count bytes. line 0: it belongs to no place in the source
// (the linker's findings, the end of the source, a name expression). The assembler's have none in
// the log; what they name instead leads to one (ptx_places.h).
struct Diagnostic {
  Severity severity = Severity::error;
  std::string file{};
  int line = 0;
  int column = 0;
  // One past the last byte of the word at the place; the compiler names a point only.
  int end_line = 0;
  int end_column = 0;
  std::string message{};
  std::string excerpt{};  // the source line
  int ptx_line = 0;       // of the assembler: the line of its input
  std::string symbol{};   // of the assembler: the function it speaks of
};

struct Diagnostics {
  std::vector<Diagnostic> list{};
  bool truncated = false;  // there were more than the bounds below
};

inline constexpr std::size_t kMaxDiagnostics = 200;
inline constexpr std::size_t kMaxDiagnosticsBytes = 128U << 10;  // texts of all of them together
inline constexpr std::size_t kMaxMessageBytes = 2000;
inline constexpr std::size_t kMaxExcerptBytes = 400;

// `folders` are include folders, which file names are told relative to.
[[nodiscard]] Diagnostics parse_diagnostics(std::string_view log,
                                            const std::vector<std::string>& folders);

}  // namespace assay::runner
