#include "tools/machine_code.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::tools {
namespace {

using mcp::Json;

struct Class {
  std::string_view name{};
  std::string_view opcodes{};  // whole words, each between spaces
};

// The first that fits. What fits none is integer arithmetic, comparing and moving: "other".
constexpr std::array kClasses{
    Class{"global_loads", " LDG "},
    Class{"global_stores", " STG "},
    Class{"local_loads", " LDL "},
    Class{"local_stores", " STL "},
    Class{"shared_loads", " LDS LDSM "},
    Class{"shared_stores", " STS STSM "},
    Class{"generic_accesses", " LD ST "},
    Class{"asynchronous_copies", " LDGSTS UBLKCP UTMALDG UTMASTG UTMAREDG UBLKRED "},
    Class{"constant_loads", " LDC LDCU ULDC "},
    Class{"atomics", " ATOM ATOMG ATOMS RED REDG REDAS ATOMGREDUX "},
    Class{"tensor",
          " HMMA IMMA BMMA DMMA QMMA OMMA HGMMA IGMMA BGMMA QGMMA UTCHMMA UTCIMMA UTCQMMA "
          "UTCOMMA "},
    Class{"float16", " HADD2 HMUL2 HFMA2 HMNMX2 HSET2 HSETP2 HADD2_32I HFMA2_32I HMUL2_32I "},
    Class{"float32",
          " FADD FMUL FFMA FADD2 FMUL2 FFMA2 FMNMX FSEL FSET FSETP FCHK FSWZADD FADD32I "
          "FMUL32I FFMA32I "},
    Class{"float64", " DADD DMUL DFMA DMNMX DSETP DSET "},
    Class{"special_functions", " MUFU "},
    Class{"conversions", " F2F F2I I2F I2I I2FP F2FP F2IP FRND "},
    Class{"barriers", " BAR B2R R2B MEMBAR ERRBAR DEPBAR LDGDEPBAR SYNCS WARPSYNC FENCE CCTL "},
    Class{"control",
          " BRA BRX BRXU JMP JMX JMXU CALL RET EXIT KILL BREAK BSSY BSYNC BMOV YIELD "
          "NANOSLEEP BPT RTT "},
};
// Those whose width is told.
constexpr std::array<std::string_view, 6> kWidthClasses{"global_loads", "global_stores",
                                                        "shared_loads", "shared_stores",
                                                        "local_loads",  "local_stores"};

// A source may have thousands of kernels, with names of kilobytes.
constexpr std::size_t kMostKernels = 50;
constexpr std::size_t kSymbolBytes = 500;

constexpr const char* kNote =
    "Static: each instruction once, however often it runs. Bits are those of one thread's access.";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return trimmed(line);
}

// "LDG.E.128" of `/*00c0*/  @!P0 LDG.E.128 R4, desc[UR4][R4.64] ;`. A line of encoding only,
// `/* 0x… */`, has none, and neither has padding. What is never executed (`@!PT LDS RZ, [RZ]`, by
// which sm_90 keeps cp.async in order) is padding too.
std::optional<std::string_view> mnemonic_of(std::string_view line) {
  if (!line.starts_with("/*")) return {};
  const std::size_t close = line.find("*/");
  if (close == std::string_view::npos || close < 3) return {};
  const std::string_view offset = line.substr(2, close - 2);
  if (offset.find_first_not_of("0123456789abcdef") != std::string_view::npos) return {};
  std::string_view rest = trimmed(line.substr(close + 2));
  if (rest.starts_with("{")) rest = trimmed(rest.substr(1));  // the first of a pair
  if (rest.starts_with("@!PT ") || rest.starts_with("@!UPT ")) return {};
  if (rest.starts_with("@")) {
    rest = trimmed(rest.substr(std::min(rest.find(' '), rest.size())));
  }
  const std::string_view word = rest.substr(0, rest.find_first_of(" ;\t"));
  if (word.empty() || word.front() < 'A' || word.front() > 'Z' || word == "NOP") return {};
  return word;
}

std::string_view class_of(std::string_view mnemonic) {
  const std::string word = " " + std::string(mnemonic.substr(0, mnemonic.find('.'))) + " ";
  const auto found = std::find_if(kClasses.begin(), kClasses.end(), [&](const Class& one) {
    return one.opcodes.find(word) != std::string_view::npos;
  });
  return found == kClasses.end() ? "other" : found->name;
}

// 32 unless a modifier says otherwise. Four 8 × 8 matrices of LDSM are a register of a thread each.
int bits_of(std::string_view mnemonic) {
  int bits = 32;
  const bool is_matrix = mnemonic.starts_with("LDSM") || mnemonic.starts_with("STSM");
  while (!mnemonic.empty()) {
    const std::size_t end = std::min(mnemonic.find('.'), mnemonic.size());
    const std::string_view word = mnemonic.substr(0, end);
    mnemonic.remove_prefix(std::min(end + 1, mnemonic.size()));
    if (word == "U8" || word == "S8") bits = 8;
    if (word == "U16" || word == "S16") bits = 16;
    if (word == "64" || (is_matrix && word == "2")) bits = 64;
    if (word == "128" || (is_matrix && word == "4")) bits = 128;
    if (word == "256") bits = 256;
  }
  return bits;
}

struct Counts {
  std::size_t instructions = 0;
  std::map<std::string_view, std::size_t> classes{};
  std::map<std::string_view, std::map<int, std::size_t>> widths{};
  std::map<std::string, std::size_t, std::less<>> tensor{};

  void add(std::string_view mnemonic) {
    const std::string_view kind = class_of(mnemonic);
    ++instructions;
    ++classes[kind];
    if (kind == "tensor") ++tensor[std::string(mnemonic)];
    if (std::find(kWidthClasses.begin(), kWidthClasses.end(), kind) != kWidthClasses.end()) {
      ++widths[kind][bits_of(mnemonic)];
    }
  }
};

using Place = std::pair<std::string, int>;  // a file's name and a line of it

struct Code {
  std::string symbol{};
  Counts all{};
  std::map<Place, Counts> lines{};
};

Json widths_json(const std::map<int, std::size_t>& widths) {
  Json told = Json::object();
  for (const auto& [bits, count] : widths) told[std::to_string(bits)] = count;
  return told;
}

Json line_json(const Place& place, const Counts& counts) {
  Json told = {
      {"file", place.first}, {"line", place.second}, {"instructions", counts.instructions}};
  for (const auto& [kind, widths] : counts.widths) told[std::string(kind)] = widths_json(widths);
  if (!counts.tensor.empty()) told["tensor"] = counts.tensor;
  return told;
}

Json lines_json(const std::map<Place, Counts>& lines, std::size_t most) {
  std::vector<const std::pair<const Place, Counts>*> chosen;
  for (const auto& line : lines) chosen.push_back(&line);
  std::stable_sort(chosen.begin(), chosen.end(), [](const auto* a, const auto* b) {
    return a->second.instructions > b->second.instructions;
  });
  chosen.resize(std::min(chosen.size(), most));
  std::sort(chosen.begin(), chosen.end(),
            [](const auto* a, const auto* b) { return a->first < b->first; });
  Json told = Json::array();
  for (const auto* line : chosen) told.push_back(line_json(line->first, line->second));
  return told;
}

Json code_json(const Code& code, std::size_t most_lines) {
  Json told = {{"symbol", code.symbol}, {"instructions", code.all.instructions}};
  Json& classes = told["classes"] = Json::object();
  for (const auto& [kind, count] : code.all.classes) classes[std::string(kind)] = count;
  for (const std::string_view kind : kWidthClasses) {
    const auto found = code.all.widths.find(kind);
    told[std::string(kind)] =
        found == code.all.widths.end() ? Json::object() : widths_json(found->second);
  }
  told["tensor"] = code.all.tensor;
  if (most_lines > 0 && !code.lines.empty()) told["lines"] = lines_json(code.lines, most_lines);
  return told;
}

// Both programs' ways to begin a function: `.text.SYMBOL:` and `Function : SYMBOL`.
std::optional<std::string_view> symbol_of(std::string_view line) {
  constexpr std::string_view kSection = ".text.";
  constexpr std::string_view kFunction = "Function : ";
  if (line.starts_with(kSection) && line.ends_with(":")) {
    return line.substr(kSection.size(), line.size() - kSection.size() - 1);
  }
  if (line.starts_with(kFunction)) return line.substr(kFunction.size());
  return {};
}

// Where the instructions that follow come from. nvdisasm tells what was inlined from within: a line
// per function, the last one that of the kernel's own file. Of that file's lines the innermost is
// told: a fragment's load by the line that calls for it, not by the header's that does it.
class Whence {
 public:
  // `is_last`: what it was inlined into does not follow.
  void add(Place place, bool is_last) {
    if (is_complete_) chain_.clear();
    chain_.push_back(std::move(place));
    is_complete_ = is_last;
  }
  void instruction() { is_complete_ = true; }
  void clear() { chain_.clear(); }
  [[nodiscard]] const Place* place() const {
    if (chain_.empty()) return nullptr;
    const auto own = std::find_if(chain_.begin(), chain_.end(), [&](const Place& one) {
      return one.first == chain_.back().first;
    });
    return &*own;
  }

 private:
  std::vector<Place> chain_{};
  bool is_complete_ = false;
};

// `//## File "/some/where/kernel.cu", line 13 inlined at …`
std::optional<Place> place_of(std::string_view line) {
  constexpr std::string_view kBegin = "//## File \"";
  constexpr std::string_view kLine = "\", line ";
  if (!line.starts_with(kBegin)) return {};
  const std::size_t end = line.find(kLine);
  if (end == std::string_view::npos) return {};
  const std::string_view path = line.substr(kBegin.size(), end - kBegin.size());
  int number = 0;
  for (const char digit : line.substr(end + kLine.size())) {
    if (digit < '0' || digit > '9' || number > 100'000'000) break;
    number = 10 * number + (digit - '0');
  }
  return Place{std::string(path.substr(path.find_last_of('/') + 1)), number};
}

}  // namespace

Json machine_code_summary(std::string_view sass, std::size_t most_lines) {
  std::vector<Code> codes;
  Whence whence;
  bool is_cut = false;
  while (!sass.empty()) {
    const std::string_view line = next_line(sass);
    if (const auto symbol = symbol_of(line)) {
      if (codes.size() == kMostKernels) {
        is_cut = true;
        break;
      }
      codes.push_back({.symbol = std::string(symbol->substr(0, kSymbolBytes))});
      whence.clear();
    } else if (auto found = place_of(line)) {
      whence.add(std::move(*found), line.find(" inlined at ") == std::string_view::npos);
    } else if (const auto mnemonic = mnemonic_of(line); mnemonic && !codes.empty()) {
      codes.back().all.add(*mnemonic);
      whence.instruction();
      if (const Place* place = whence.place()) codes.back().lines[*place].add(*mnemonic);
    }
  }
  Json kernels = Json::array();
  for (const Code& code : codes) kernels.push_back(code_json(code, most_lines));
  Json told = {{"kernels", std::move(kernels)}, {"note", kNote}};
  if (is_cut) told["kernels_truncated"] = true;
  return told;
}

}  // namespace assay::tools
