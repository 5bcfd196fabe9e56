#include "engine/runner/gpu_context.h"

#include <array>
#include <thread>
#include <utility>

#include "engine/runner/gpu_mapping.h"

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;

// How long a wait polls without pause: a batch of timed runs is done by then. A pause lasts twice
// as long as it says, and the device idles meanwhile.
constexpr std::chrono::microseconds kSpin{8'000};
constexpr std::chrono::microseconds kPause{50};
constexpr std::size_t kPrintfBytes = 1U << 20;
// Addresses, of which GpuMapping draws its own: the driver takes no hint where memory should lie.
constexpr std::size_t kSpanBytes = std::size_t{1} << 44;
// Whole pages are mapped for it, all of which are cleared.
constexpr std::size_t kStampBytes = 4096;

// Multiprocessor 0 writes the global timer [ns] and its own cycle counter. One block per
// multiprocessor is launched, twice over, so that one surely lands there. And a kernel that does
// nothing for so long. And one whose every block has all shared memory of its multiprocessor, and
// fills it with a word.
constexpr const char* kStampPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry assay_stamp(.param .u64 out)
{
  .reg .pred %p;
  .reg .u32 %sm;
  .reg .u64 %to, %time, %cycles;
  mov.u32 %sm, %smid;
  setp.ne.u32 %p, %sm, 0;
  @%p ret;
  ld.param.u64 %to, [out];
  cvta.to.global.u64 %to, %to;
  mov.u64 %time, %globaltimer;
  mov.u64 %cycles, %clock64;
  st.global.u64 [%to], %time;
  st.global.u64 [%to+8], %cycles;
  ret;
}
.visible .entry assay_hold(.param .u64 ns)
{
  .reg .pred %p;
  .reg .u64 %wanted, %begin, %now;
  ld.param.u64 %wanted, [ns];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %p, %now, %wanted;
  @%p bra again;
  ret;
}
.extern .shared .align 16 .b8 assay_area[];
.visible .entry assay_fill(.param .u32 bytes, .param .u32 word, .param .u32 below)
{
  .reg .pred %p;
  .reg .u32 %i, %step, %count, %base, %at, %word, %below;
  ld.param.u32 %count, [bytes];
  ld.param.u32 %below, [below];
  ld.param.u32 %word, [word];
  mov.u32 %i, %tid.x;
  shl.b32 %i, %i, 2;
  mov.u32 %step, %ntid.x;
  shl.b32 %step, %step, 2;
  mov.u32 %base, assay_area;
  min.u32 %below, %below, %base;
  sub.u32 %base, %base, %below;
  add.u32 %count, %count, %below;
again:
  setp.ge.u32 %p, %i, %count;
  @%p bra end;
  add.u32 %at, %base, %i;
  st.volatile.shared.u32 [%at], %word;
  add.u32 %i, %i, %step;
  bra again;
end:
  ret;
}
)";

struct Stamp {
  std::uint64_t time_ns = 0;
  std::uint64_t cycles = 0;
};

}  // namespace

GpuContext::GpuContext() {
  driver_.check(driver_.Init(0), "cuInit");
  int count = 0;
  driver_.check(driver_.DeviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0) throw std::runtime_error("the driver shows no device");
  driver_.check(driver_.DeviceGet(&device_, 0), "cuDeviceGet");
  driver_.check(driver_.PrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  driver_.check(driver_.CtxSetCurrent(context_), "cuCtxSetCurrent");
  driver_.check(driver_.CtxSetLimit(cuda::kPrintfFifoBytes, kPrintfBytes), "cuCtxSetLimit");
  multiprocessors_ = static_cast<unsigned>(attribute(cuda::kMultiprocessors));
  // A carve-out of the L2 would survive every flush (trust-and-timing T9). Devices without one
  // refuse the limit.
  driver_.CtxSetLimit(cuda::kPersistingL2Bytes, 0);
  constexpr unsigned kNonBlocking = 1;
  driver_.check(driver_.StreamCreate(&stream_, kNonBlocking), "cuStreamCreate");
  constexpr unsigned kNoTiming = 2;
  driver_.check(driver_.EventCreate(&idle_event_, kNoTiming), "cuEventCreate");
  if (driver_.MemAddressReserve(&span_, kSpanBytes, 0, 0, 0) == cuda::kSuccess) {
    span_bytes_ = kSpanBytes;
  }
  cuda::Handle module = nullptr;
  if (driver_.ModuleLoadData(&module, kStampPtx) == cuda::kSuccess &&
      driver_.ModuleGetFunction(&stamp_kernel_, module, "assay_stamp") == cuda::kSuccess) {
    stamps_ = std::make_unique<GpuMapping>(*this, kStampBytes, GpuMapping::For::own);
    driver_.check(driver_.ModuleGetFunction(&hold_kernel_, module, "assay_hold"), "assay_hold");
    driver_.check(driver_.ModuleGetFunction(&fill_kernel_, module, "assay_fill"), "assay_fill");
    shared_bytes_ = static_cast<unsigned>(attribute(cuda::kMaxSharedPerBlockOptin));
    // Below what a block asks for the system has some of its own, which device code can read and
    // write where that was tried.
    if (attribute(cuda::kComputeMajor) == 9) {
      shared_below_bytes_ = static_cast<unsigned>(attribute(cuda::kReservedSharedPerBlock));
    }
    driver_.check(driver_.FuncSetAttribute(fill_kernel_, cuda::kFunctionMaxDynamicShared,
                                           static_cast<int>(shared_bytes_)),
                  "assay_fill");
  }
}

GpuContext::~GpuContext() = default;

cuda::Handle GpuContext::assemble(const char* ptx, const char* name) const {
  cuda::Handle module = nullptr;
  cuda::Handle kernel = nullptr;
  if (driver_.ModuleLoadData(&module, ptx) != cuda::kSuccess) return nullptr;
  return driver_.ModuleGetFunction(&kernel, module, name) == cuda::kSuccess ? kernel : nullptr;
}

int GpuContext::attribute(cuda::Attribute attribute) const {
  int value = 0;
  driver_.check(driver_.DeviceGetAttribute(&value, attribute, device_), "cuDeviceGetAttribute");
  return value;
}

std::string GpuContext::pci() const {
  std::array<char, 32> text{};
  driver_.check(driver_.DeviceGetPciBusId(text.data(), text.size(), device_),
                "cuDeviceGetPCIBusId");
  return text.data();
}

int GpuContext::wait(Clock::time_point until) const {
  if (const int recorded = driver_.EventRecord(idle_event_, stream_); recorded != cuda::kSuccess) {
    return recorded;
  }
  const auto spin_until = Clock::now() + kSpin;
  for (;;) {
    const int result = driver_.EventQuery(idle_event_);
    if (result != cuda::kNotReady) return result;
    const auto now = Clock::now();
    if (now >= until) return cuda::kNotReady;
    if (now >= spin_until) std::this_thread::sleep_for(kPause);
  }
}

int GpuContext::stamp(int which) {
  if (!stamps_) return cuda::kSuccess;
  cuda::Address out = stamps_->address() + static_cast<std::size_t>(which) * sizeof(Stamp);
  std::array<void*, 1> parameters{&out};
  return driver_.LaunchKernel(stamp_kernel_, 2 * multiprocessors_, 1, 1, 1, 1, 1, 0, stream_,
                              parameters.data(), nullptr);
}

int GpuContext::clear_stamps() const {
  return stamps_ ? driver_.MemsetD32Async(stamps_->address(), 0, stamps_->bytes() / 4, stream_)
                 : cuda::kSuccess;
}

int GpuContext::overwrite_shared() {
  if (fill_kernel_ == nullptr) return cuda::kSuccess;
  constexpr unsigned kThreads = 512;
  unsigned bytes = shared_bytes_;
  unsigned word = next_word();
  unsigned below = shared_below_bytes_;
  std::array<void*, 3> parameters{&bytes, &word, &below};
  // Twice as many as there is room for: each multiprocessor surely gets one.
  return driver_.LaunchKernel(fill_kernel_, 2 * multiprocessors_, 1, 1, kThreads, 1, 1, bytes,
                              stream_, parameters.data(), nullptr);
}

// A large number whatever it is taken for (as float 2^23 to 2^24 and more), and not the last one:
// who adds it to a result is wrong, and wrong otherwise the next time.
unsigned GpuContext::next_word() {
  constexpr unsigned kLarge = 0x4B00'0000;
  constexpr unsigned kMantissa = 0x00FF'FFFF;
  word_ = word_ * 1'664'525U + 1'013'904'223U;  // Knuth's choice for 32 bits
  return kLarge | (word_ & kMantissa);
}

int GpuContext::hold(std::chrono::nanoseconds time) { return spin(time, 1, 1); }

int GpuContext::burn(std::chrono::nanoseconds time) {
  constexpr unsigned kThreads = 128;
  return spin(time, multiprocessors_, kThreads);
}

int GpuContext::spin(std::chrono::nanoseconds time, unsigned blocks, unsigned threads) {
  if (hold_kernel_ == nullptr) return cuda::kSuccess;
  auto ns = static_cast<std::uint64_t>(time.count());
  std::array<void*, 1> parameters{&ns};
  return driver_.LaunchKernel(hold_kernel_, blocks, 1, 1, threads, 1, 1, 0, stream_,
                              parameters.data(), nullptr);
}

std::optional<double> GpuContext::clock_mhz() const {
  if (!stamps_) return std::nullopt;
  std::array<Stamp, 2> stamps{};
  if (driver_.MemcpyDtoH(stamps.data(), stamps_->address(), sizeof stamps) != cuda::kSuccess)
    return {};
  const auto time = stamps[1].time_ns - stamps[0].time_ns;
  const auto cycles = stamps[1].cycles - stamps[0].cycles;
  // The global timer moves in steps of up to a microsecond: too short says nothing.
  constexpr std::uint64_t kShortestNs = 20'000;
  if (time < kShortestNs || time > std::uint64_t{3'600} * 1'000'000'000) return std::nullopt;
  return 1e3 * static_cast<double>(cycles) / static_cast<double>(time);
}

GpuMemory::GpuMemory(GpuMemory&& other) noexcept
    : context_(other.context_),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

GpuMemory& GpuMemory::operator=(GpuMemory&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void GpuMemory::release() noexcept {
  // In a context that died this fails, and the process ends soon.
  if (address_ != 0) context_->driver().MemFree(address_);
  address_ = 0;
  bytes_ = 0;
}

void GpuMemory::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  release();
  const auto& driver = context_->driver();
  driver.check(driver.MemAlloc(&address_, bytes), "cuMemAlloc");
  bytes_ = bytes;
}

}  // namespace assay::runner
