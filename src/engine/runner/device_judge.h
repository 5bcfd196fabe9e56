// The judge's questions put to a device: fills tensors by the generator's definition, and counts
// what is wrong with them. It only counts: what is not clean is looked at on the CPU.
//
// Questions are queued and answered together by answers(), so that an examination costs one round
// trip. Borrows the space; one thread.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/contract/contract.h"
#include "engine/judge/generator.h"
#include "engine/judge/on_device.h"
#include "engine/runner/device_space.h"

namespace assay::runner {

class DeviceJudge {
 public:
  // Counters of one question. Of compare(): mismatches, then the greatest errors.
  struct Answer {
    std::uint64_t count = 0;
    double max_abs_error = 0;
    double max_rel_error = 0;
    std::uint64_t max_ulp_error = 0;
  };
  using Question = std::size_t;  // index into answers()

  explicit DeviceJudge(DeviceSpace& space);

  // Contiguous, C order. What no kernel makes is made here and copied.
  void generate(const contract::TensorSpec& spec, const judge::Stream& stream, DeviceAddress out);
  // Bytes [offset, offset + bytes) of an arena become a pattern.
  void fill_pattern(DeviceAddress arena, std::uint64_t offset, std::uint64_t bytes,
                    std::uint32_t word);

  [[nodiscard]] Question unwritten(DeviceAddress data, std::uint64_t bytes, contract::DType dtype,
                                   std::uint32_t word);
  [[nodiscard]] Question breached(DeviceAddress arena, std::uint64_t begin, std::uint64_t end,
                                  std::uint32_t word);
  [[nodiscard]] Question differing(DeviceAddress data, DeviceAddress other, std::uint64_t bytes);
  // `poison`: the word the output held before the run, if any. REQUIRES a dtype with a format.
  [[nodiscard]] Question compare(DeviceAddress got, DeviceAddress want, std::uint64_t elements,
                                 contract::DType dtype, const contract::Tolerance& tolerance,
                                 std::optional<std::uint32_t> poison);
  // Answer::count is the digest of the bytes (judge/digest.h). REQUIRES data % 8 == 0.
  [[nodiscard]] Question digest(DeviceAddress data, std::uint64_t bytes);

  [[nodiscard]] std::size_t asked() const { return asked_; }
  // Whether so many more can be asked before they are answered.
  [[nodiscard]] bool has_room_for(std::size_t questions) const;
  // Of all questions since the last call, in order; waits for everything that was queued.
  [[nodiscard]] std::vector<Answer> answers();

 private:
  [[nodiscard]] Question ask(const char* kernel, judge::on_device::Scan scan);

  DeviceSpace& space_;
  DeviceMemory results_;
  std::size_t asked_ = 0;
};

}  // namespace assay::runner
