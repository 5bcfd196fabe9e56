#include "engine/runner/page_touch.h"

#include <algorithm>
#include <array>

namespace assay::runner {
namespace {

constexpr unsigned kThreads = 128;
// Of what the driver maps large memory with; smaller pages lie in chunks of that size.
constexpr std::uint64_t kPageBytes = 2ULL << 20;

// Each block reads n words, one every 2 MiB from `from` on and none behind from + last. The sum is
// stored if it is 1, which it cannot be, as every word's lowest bit is cleared: so that no compiler
// may drop the loads.
constexpr const char* kPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry assay_touch(.param .u64 from, .param .u32 n, .param .u64 last)
{
  .reg .pred %done, %odd;
  .reg .u32 %i, %step, %count, %word, %sum;
  .reg .u64 %base, %at, %last;
  ld.param.u64 %base, [from];
  ld.param.u32 %count, [n];
  ld.param.u64 %last, [last];
  cvta.to.global.u64 %base, %base;
  mov.u32 %i, %tid.x;
  mov.u32 %step, %ntid.x;
  mov.u32 %sum, 0;
again:
  setp.ge.u32 %done, %i, %count;
  @%done bra end;
  mul.wide.u32 %at, %i, 2097152;
  min.u64 %at, %at, %last;
  add.u64 %at, %at, %base;
  ld.volatile.global.u32 %word, [%at];
  and.b32 %word, %word, 0xfffffffe;
  or.b32 %sum, %sum, %word;
  add.u32 %i, %i, %step;
  bra again;
end:
  setp.eq.u32 %odd, %sum, 1;
  @%odd st.global.u32 [%base], %sum;
  ret;
}
)";

}  // namespace

PageTouch::PageTouch(const GpuContext& context)
    : context_(&context), kernel_(context.assemble(kPtx, "assay_touch")) {}

int PageTouch::queue(cuda::Address address, std::size_t bytes) const {
  if (bytes == 0) return cuda::kSuccess;
  // Memory that begins within a page may end in one more.
  auto words = static_cast<std::uint32_t>((bytes - 1) / kPageBytes + 2);
  std::uint64_t last = (bytes - 1) / 4 * 4;
  std::array<void*, 3> parameters{&address, &words, &last};
  const auto blocks = static_cast<unsigned>(context_->attribute(cuda::kMultiprocessors));
  return context_->driver().LaunchKernel(kernel_, std::max(blocks, 1U), 1, 1, kThreads, 1, 1, 0,
                                         context_->stream(), parameters.data(), nullptr);
}

}  // namespace assay::runner
