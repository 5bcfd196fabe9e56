#include "engine/runner/l2_flush.h"

#include <algorithm>
#include <array>

namespace assay::runner {
namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kBlocksPerMultiprocessor = 4;
// Of an H200's 60 MiB, cold times of kernels on 0.2, 3, 8 and 12 MiB are the same from 1.5 times
// the L2 on as at 8 times; on 32 and 48 MiB only from twice the L2 on (at 1.5 times 3 % more: what
// was written there before is on its way out still). See benchmarks/RESULTS.md.
constexpr std::size_t kShareOfSmall = 4;

// Reads [from, from + 16 n) in steps of the grid, four at once: so its threads have more registers
// than those of run_digests.cc, and all of a multiprocessor's together, in which nothing is left
// that a kernel behind it could find. The sum is stored if it is a value that zeroed
// memory cannot give, so that no compiler may drop the loads.
constexpr const char* kPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry assay_read(.param .u64 from, .param .u64 n)
{
  .reg .pred %done, %odd;
  .reg .u32 %threads, %blocks, %block, %thread, %sum;
  .reg .u32 %a, %b, %c, %d, %e, %f, %g, %h, %j, %k, %l, %m, %o, %p, %q, %r;
  .reg .u64 %base, %count, %i, %step, %at, %wide, %three, %apart, %last;
  ld.param.u64 %base, [from];
  ld.param.u64 %count, [n];
  cvta.to.global.u64 %base, %base;
  mov.u32 %threads, %ntid.x;
  mov.u32 %blocks, %nctaid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %i, %block, %threads;
  cvt.u64.u32 %wide, %thread;
  add.u64 %i, %i, %wide;
  mul.wide.u32 %step, %blocks, %threads;
  mov.u32 %sum, 0;
  mul.lo.u64 %three, %step, 3;
  shl.b64 %apart, %step, 4;
four:
  add.u64 %last, %i, %three;
  setp.ge.u64 %done, %last, %count;
  @%done bra again;
  shl.b64 %at, %i, 4;
  add.u64 %at, %at, %base;
  ld.volatile.global.v4.u32 {%a, %b, %c, %d}, [%at];
  add.u64 %at, %at, %apart;
  ld.volatile.global.v4.u32 {%e, %f, %g, %h}, [%at];
  add.u64 %at, %at, %apart;
  ld.volatile.global.v4.u32 {%j, %k, %l, %m}, [%at];
  add.u64 %at, %at, %apart;
  ld.volatile.global.v4.u32 {%o, %p, %q, %r}, [%at];
  or.b32 %sum, %sum, %a;
  or.b32 %sum, %sum, %b;
  or.b32 %sum, %sum, %c;
  or.b32 %sum, %sum, %d;
  or.b32 %sum, %sum, %e;
  or.b32 %sum, %sum, %f;
  or.b32 %sum, %sum, %g;
  or.b32 %sum, %sum, %h;
  or.b32 %sum, %sum, %j;
  or.b32 %sum, %sum, %k;
  or.b32 %sum, %sum, %l;
  or.b32 %sum, %sum, %m;
  or.b32 %sum, %sum, %o;
  or.b32 %sum, %sum, %p;
  or.b32 %sum, %sum, %q;
  or.b32 %sum, %sum, %r;
  add.u64 %i, %last, %step;
  bra four;
again:
  setp.ge.u64 %done, %i, %count;
  @%done bra end;
  shl.b64 %at, %i, 4;
  add.u64 %at, %at, %base;
  ld.volatile.global.v4.u32 {%a, %b, %c, %d}, [%at];
  or.b32 %sum, %sum, %a;
  or.b32 %sum, %sum, %b;
  or.b32 %sum, %sum, %c;
  or.b32 %sum, %sum, %d;
  add.u64 %i, %i, %step;
  bra again;
end:
  setp.ne.u32 %odd, %sum, 0;
  @%odd st.global.u32 [%base], %sum;
  ret;
}
)";

}  // namespace

void L2Flush::assemble() {
  if (assembled_) return;
  assembled_ = true;
  kernel_ = context_->assemble(kPtx, "assay_read");
}

void L2Flush::prepare() {
  assemble();
  if (memory_.bytes() > 0) return;
  const auto& driver = context_->driver();
  const auto l2 = static_cast<std::size_t>(std::max(context_->attribute(cuda::kL2Bytes), 1 << 20));
  memory_.reserve(2 * l2);
  driver.check(clear(), "flush memory");
  blocks_ =
      kBlocksPerMultiprocessor * static_cast<unsigned>(context_->attribute(cuda::kMultiprocessors));
}

int L2Flush::clear() const {
  if (memory_.bytes() == 0) return cuda::kSuccess;
  return context_->driver().MemsetD32Async(memory_.address(), 0, memory_.bytes() / 4,
                                           context_->stream());
}

int L2Flush::sweep() const {
  const std::size_t half = memory_.bytes() / 2;
  return context_->driver().MemcpyDtoDAsync(memory_.address() + half, memory_.address(), half,
                                            context_->stream());
}

int L2Flush::queue(std::size_t worked_on_bytes) {
  const auto& driver = context_->driver();
  const std::size_t l2 = memory_.bytes() / 2;
  const bool is_small = worked_on_bytes <= l2 / kShareOfSmall;
  const std::size_t bytes = is_small ? l2 + l2 / 2 : memory_.bytes();
  if (kernel_ == nullptr) {
    return driver.MemsetD32Async(memory_.address(), 0, bytes / 4, context_->stream());
  }
  cuda::Address from = memory_.address();
  std::uint64_t count = bytes / 16;
  std::array<void*, 2> parameters{&from, &count};
  return driver.LaunchKernel(kernel_, blocks_, 1, 1, kThreads, 1, 1, 0, context_->stream(),
                             parameters.data(), nullptr);
}

}  // namespace assay::runner
