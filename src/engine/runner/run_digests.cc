#include "engine/runner/run_digests.h"

#include <algorithm>
#include <array>
#include <random>

namespace assay::runner {
namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kBlocksPerMultiprocessor = 4;
constexpr std::size_t kDigestBytes = kDigestWords * sizeof(std::uint64_t);

}  // namespace

// Of every 16 bytes a mixed number that depends on where they stand; the digest is their sum, which
// is the same in whatever order warps come to it. They add to 16 words in turn, so that they seldom
// wait for each other, and not in shared memory: its share of a multiprocessor's cache would change
// from launch to launch, and so might the times of what is launched between. A thread reads what a
// run left before it puts anything there, so that both places may be the same.
const char* const kDigestPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry assay_digest(.param .u64 left, .param .u64 n, .param .u64 drawn, .param .u64 to,
                             .param .u64 contents, .param .u64 place)
{
  .reg .pred %done, %first, %is_short, %puts;
  .reg .u32 %threads, %blocks, %block, %thread, %a, %b, %c, %d, %low, %high, %far, %lane;
  .reg .u32 %p, %q, %r, %s;
  .reg .u64 %base, %count, %drawn, %to, %i, %step, %at, %wide, %h, %x, %sum, %other;
  .reg .u64 %contents, %place, %where;
  ld.param.u64 %base, [left];
  ld.param.u64 %count, [n];
  ld.param.u64 %drawn, [drawn];
  ld.param.u64 %to, [to];
  cvta.to.global.u64 %base, %base;
  cvta.to.global.u64 %to, %to;
  ld.param.u64 %contents, [contents];
  ld.param.u64 %place, [place];
  setp.ne.u64 %puts, %place, 0;
  @%puts cvta.to.global.u64 %contents, %contents;
  @%puts cvta.to.global.u64 %place, %place;
  mov.u32 %threads, %ntid.x;
  mov.u32 %blocks, %nctaid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %i, %block, %threads;
  cvt.u64.u32 %wide, %thread;
  add.u64 %i, %i, %wide;
  mul.wide.u32 %step, %blocks, %threads;
  mov.u64 %sum, 0;
again:
  setp.ge.u64 %done, %i, %count;
  @%done bra reduce;
  shl.b64 %at, %i, 4;
  add.u64 %where, %contents, %at;
  @%puts ld.volatile.global.v4.u32 {%p, %q, %r, %s}, [%where];
  add.u64 %where, %base, %at;
  ld.volatile.global.v4.u32 {%a, %b, %c, %d}, [%where];
  add.u64 %where, %place, %at;
  @%puts st.global.v4.u32 [%where], {%p, %q, %r, %s};
  mov.b64 %h, {%a, %b};
  mov.b64 %x, {%c, %d};
  xor.b64 %h, %h, %drawn;
  mul.lo.u64 %other, %i, 0x9E3779B97F4A7C15;
  add.u64 %h, %h, %other;
  mul.lo.u64 %h, %h, 0xBF58476D1CE4E5B9;
  shr.u64 %other, %h, 32;
  xor.b64 %h, %h, %other;
  mul.lo.u64 %x, %x, 0xC2B2AE3D27D4EB4F;
  add.u64 %h, %h, %x;
  mul.lo.u64 %h, %h, 0x94D049BB133111EB;
  shr.u64 %other, %h, 29;
  xor.b64 %h, %h, %other;
  mul.lo.u64 %h, %h, 0xBF58476D1CE4E5B9;
  shr.u64 %other, %h, 32;
  xor.b64 %h, %h, %other;
  add.u64 %sum, %sum, %h;
  add.u64 %i, %i, %step;
  bra again;
reduce:
  mov.u32 %far, 16;
halve:
  mov.b64 {%low, %high}, %sum;
  shfl.sync.down.b32 %low, %low, %far, 31, 0xffffffff;
  shfl.sync.down.b32 %high, %high, %far, 31, 0xffffffff;
  mov.b64 %other, {%low, %high};
  add.u64 %sum, %sum, %other;
  shr.u32 %far, %far, 1;
  setp.ne.u32 %is_short, %far, 0;
  @%is_short bra halve;
  and.b32 %lane, %thread, 31;
  setp.ne.u32 %first, %lane, 0;
  @%first bra end;
  shr.u32 %low, %threads, 5;
  shr.u32 %high, %thread, 5;
  mad.lo.u32 %low, %block, %low, %high;
  and.b32 %low, %low, 15;
  mul.wide.u32 %at, %low, 8;
  add.u64 %to, %to, %at;
  red.global.add.u64 [%to], %sum;
end:
  ret;
}
)";

void RunDigests::assemble() {
  if (assembled_) return;
  assembled_ = true;
  kernel_ = context_->assemble(kDigestPtx, "assay_digest");
  if (!can()) return;
  try {
    words_ = std::make_unique<GpuMapping>(*context_, kMost * kDigestBytes, GpuMapping::For::own);
  } catch (const cuda::DriverError&) {
    kernel_ = nullptr;  // there is no room: nobody asked for digests yet, and none are a must
    return;
  }
  draw();
  blocks_ =
      kBlocksPerMultiprocessor * static_cast<unsigned>(context_->attribute(cuda::kMultiprocessors));
}

void RunDigests::draw() {
  std::random_device random;
  drawn_ = std::uint64_t{random()} << 32 | random();
}

int RunDigests::clear() const {
  if (!can()) return cuda::kSuccess;
  return context_->driver().MemsetD32Async(words_->address(), 0, kMost * kDigestBytes / 4,
                                           context_->stream());
}

int RunDigests::take(std::size_t which, cuda::Address left, std::size_t bytes) const {
  return take_and_put(which, left, bytes, 0, 0);
}

int RunDigests::take_and_put(std::size_t which, cuda::Address left, std::size_t bytes,
                             cuda::Address contents, cuda::Address place) const {
  if (!can()) return cuda::kSuccess;
  std::uint64_t count = bytes / 16;
  std::uint64_t drawn = drawn_;
  cuda::Address to = words_->address() + which * kDigestBytes;
  std::array<void*, 6> parameters{&left, &count, &drawn, &to, &contents, &place};
  const auto needed = static_cast<unsigned>(
      std::clamp<std::uint64_t>((count + kThreads - 1) / kThreads, 1, blocks_));
  return context_->driver().LaunchKernel(kernel_, needed, 1, 1, kThreads, 1, 1, 0,
                                         context_->stream(), parameters.data(), nullptr);
}

std::vector<std::uint64_t> RunDigests::read(std::size_t count) const {
  std::vector<std::uint64_t> digests(can() ? count : 0);
  if (digests.empty()) return digests;
  std::vector<std::uint64_t> words(count * kDigestWords);
  context_->driver().check(
      context_->driver().MemcpyDtoH(words.data(), words_->address(), count * kDigestBytes),
      "digests");
  for (std::size_t i = 0; i < words.size(); ++i) digests[i / kDigestWords] += words[i];
  return digests;
}

}  // namespace assay::runner
