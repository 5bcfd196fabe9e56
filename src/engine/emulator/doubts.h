// Registers that hold what a shuffle brought from a lane that was not there, or what a comparison
// says of a NaN, and what is computed from them, until it is written over, thrown away or used. Of
// one warp; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/emulator/number_origins.h"

namespace assay::emulator {

struct Frame;

// An instruction as its text says it.
struct SpokenOp {
  enum class Kind : std::uint8_t {
    computes,  // its first operand of the others
    chooses,   // selp
    joins,     // and.pred, or.pred
    shuffles,
    uses,  // memory, control, other threads: what goes in has been relied upon
  };
  Kind kind = Kind::computes;
  std::string guard{};  // its register
  std::vector<std::string> results{};
  std::vector<std::string> sources{};
  bool is_or = false;  // of those that join
};
[[nodiscard]] SpokenOp spoken(std::string_view instruction);

// Where the doubt began.
struct DoubtOrigin {
  std::uint32_t pc = 0;
  unsigned lane = 0;
  unsigned from = 0;
  NumberOrigin number{};  // of the NaN that was compared, if one was
};

class Doubts {
 public:
  [[nodiscard]] bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  [[nodiscard]] std::uint32_t lanes(const Frame* frame, const std::string& name) const;
  void add(const Frame* frame, const std::string& name, std::uint32_t lanes, DoubtOrigin origin);
  void remove(const Frame* frame, const std::string& name, std::uint32_t lanes);
  void keep_only(std::uint32_t lanes);
  [[nodiscard]] DoubtOrigin origin(const Frame* frame, const std::string& name) const;
  unsigned steps = 0;  // since the first of them

 private:
  struct Doubt {
    const Frame* frame = nullptr;
    std::string name{};
    std::uint32_t lanes = 0;
    DoubtOrigin origin{};
  };
  std::vector<Doubt> all_{};
};

}  // namespace assay::emulator
