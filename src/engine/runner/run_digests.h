// What timed runs leave, in a word each: a kernel of ours takes a digest of a place's memory behind
// a run. Runs that began alike and left the same digest left the same bytes, so that looking at one
// of them is looking at all. The digests lie where no kernel finds them, and what a place has to
// hold to give a wanted one nobody knows: a number that is drawn for each job is part of them.
//
// Owned by the timer of one runner; one thread. What answers an int answers the driver's result.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/runner/gpu_context.h"
#include "engine/runner/gpu_mapping.h"

namespace assay::runner {

// Its kernel: parameters left, pieces, drawn, to, contents, place; nothing is put where `place` is
// 0. A digest is the sum of so many words from `to` on.
extern const char* const kDigestPtx;
inline constexpr std::size_t kDigestWords = 16;

class RunDigests {
 public:
  // Of so many runs between two calls of clear().
  static constexpr std::size_t kMost = 192;

  explicit RunDigests(GpuContext& context) : context_(&context) {}
  // Ahead of the job that will use it.
  void assemble();
  // False where the driver compiles no PTX, or there was no room: nothing below does anything then.
  [[nodiscard]] bool can() const { return kernel_ != nullptr; }

  // What the same bytes give is another digest from here on.
  void draw();
  [[nodiscard]] int clear() const;
  // Queues taking that of [left, left + bytes), of which whole pieces of 16 bytes count, as an
  // arena consists of them.
  [[nodiscard]] int take(std::size_t which, cuda::Address left, std::size_t bytes) const;
  // The same, and as many bytes of `contents` are put in `place`, which may be `left`: both in one
  // launch, of which a cold run of a small kernel has few. REQUIRES can().
  [[nodiscard]] int take_and_put(std::size_t which, cuda::Address left, std::size_t bytes,
                                 cuda::Address contents, cuda::Address place) const;
  // Of the first `count`, once the stream has come to its end. Throws cuda::DriverError.
  [[nodiscard]] std::vector<std::uint64_t> read(std::size_t count) const;

 private:
  GpuContext* context_;
  bool assembled_ = false;
  cuda::Handle kernel_ = nullptr;
  std::unique_ptr<GpuMapping> words_{};
  std::uint64_t drawn_ = 0;
  unsigned blocks_ = 0;
};

}  // namespace assay::runner
