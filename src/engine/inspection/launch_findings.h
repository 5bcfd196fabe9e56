// What inspections of many launches of one call found, told as one: the same mistake at the same
// place stands once, with the kernel it is in. Bounded however much there is. For the process in
// which a Python source launches its kernels (engine/python/launches.cc). A value; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/emulator/emulator.h"

namespace assay::inspection {

class LaunchFindings {
 public:
  static constexpr std::size_t kMostFindings = 100;
  static constexpr std::size_t kMostNotes = 16;
  static constexpr std::size_t kMostTextBytes = 1000;
  static constexpr std::size_t kMostCallers = 16;

  // `kernel`: as the source has it. A fault is a finding; how else a launch ended early, a note.
  void add(const std::string& kernel, const emulator::Outcome& outcome);
  // The same words once.
  void note(std::string text);
  // {findings, notes, launches, blocks: {checked, of}}
  [[nodiscard]] nlohmann::json told() const;

 private:
  void take(const std::string& kernel, nlohmann::json finding);

  std::vector<nlohmann::json> findings_{};
  std::map<std::string, std::size_t> places_{};  // of findings, by what tells them apart
  std::vector<std::string> notes_{};
  std::uint64_t left_out_ = 0;
  std::uint64_t launches_ = 0;
  std::uint64_t checked_blocks_ = 0;
  std::uint64_t blocks_ = 0;
};

// At most so many bytes of a text, without half a character at the end.
[[nodiscard]] std::string beginning_of(const std::string& text, std::size_t bytes);

}  // namespace assay::inspection
