#include "engine/runner/gpu_space.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>

#include "engine/judge/on_device.h"
#include "engine/runner/gpu_mapping.h"
#include "engine/runner/idle_memory.h"
#include "engine/runner/nvrtc.h"

namespace assay::runner {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kMostBlocks = 4096;
constexpr std::size_t kIdleBytes = 2ULL << 30;
// Of lent memory: several referees keep so much beside what jobs work on.
constexpr std::size_t kIdleLentBytes = 4ULL << 30;
constexpr std::size_t kIdleLentShare = 16;  // of the device's memory at most a sixteenth
// A referee that waits longer than this for its own kernels has a device that does not work.
constexpr std::chrono::seconds kFinishLimit{15};

std::string compile(const std::string& nvrtc_path, const GpuContext& context) {
  const int number =
      10 * context.attribute(cuda::kComputeMajor) + context.attribute(cuda::kComputeMinor);
  auto options = judge::on_device::compiler_options();
  options.push_back("--gpu-architecture=sm_" + std::to_string(number));
  Compiled compiled = Nvrtc(nvrtc_path)
                          .compile({.source = judge::on_device::source(),
                                    .file_name = "on_device.cu",
                                    .options = std::move(options)});
  if (!compiled.ok) {
    throw std::runtime_error("the referee's kernels: " + compiled.result + "\n" + compiled.log);
  }
  return std::move(compiled.cubin);
}

class GpuSpace final : public DeviceSpace {
 public:
  GpuSpace(const std::string& nvrtc_path, std::string& cubin) {
    if (!cubin.empty() && driver().ModuleLoadData(&module_, cubin.data()) == cuda::kSuccess) return;
    cubin = compile(nvrtc_path, context_);
    driver().check(driver().ModuleLoadData(&module_, cubin.data()), "cuModuleLoadData");
  }
  ~GpuSpace() override {
    for (const auto& [address, unused] : plain_) driver().MemFree(address);
    for (const auto& [unused, address] : idle_) driver().MemFree(address);
  }
  GpuSpace(const GpuSpace&) = delete;
  GpuSpace& operator=(const GpuSpace&) = delete;

  DeviceAddress allocate(std::size_t bytes) override {
    cuda::Address address = 0;
    if (const auto idle = idle_.find(bytes); idle != idle_.end()) {
      address = idle->second;
      idle_.erase(idle);
      idle_bytes_ -= bytes;
    } else {
      if (driver().MemAlloc(&address, std::max<std::size_t>(bytes, 1)) == cuda::kOutOfMemory) {
        give_up_all();
        check_memory(driver().MemAlloc(&address, std::max<std::size_t>(bytes, 1)));
      }
    }
    plain_[address] = bytes;
    return address;
  }

  Shared allocate_shared(std::size_t bytes) override {
    if (auto idle = idle_lent_.take(bytes)) return lend(std::move(*idle));
    auto made = make_lent(bytes);
    if (!made) {
      give_up_all();
      made = make_lent(bytes);
    }
    if (!made) check_memory(cuda::kOutOfMemory);
    return lend(std::move(*made));
  }

  void free(DeviceAddress address) noexcept override {
    if (const auto lent = shared_.find(address); lent != shared_.end()) {
      const std::size_t bytes = lent->second.bytes;
      const std::size_t taken = lent->second.mapping->bytes();
      idle_lent_.put(bytes, taken, std::move(lent->second));
      shared_.erase(lent);
      if (idle_lent_.is_too_much() && has_finished()) idle_lent_.shrink();
      return;
    }
    const auto plain = plain_.find(address);
    idle_.emplace(plain->second, address);
    idle_bytes_ += plain->second;
    plain_.erase(plain);
    if (idle_bytes_ > kIdleBytes) give_up_idle();
  }

  // What was kept of the last run may still be on its way out of it: unmapping waits for nobody.
  void give_up_lent() override {
    if (idle_lent_.is_empty()) return;
    finish();
    idle_lent_.clear();
  }

  void copy_in(DeviceAddress to, std::span<const std::byte> from) override {
    if (from.empty()) return;
    driver().check(context_.copy_in(to, from), "copying in");
  }
  void copy_out(std::span<std::byte> to, DeviceAddress from) override {
    if (to.empty()) return;
    finish();
    driver().check(driver().MemcpyDtoH(to.data(), from, to.size()), "copying out");
  }
  void copy(DeviceAddress to, DeviceAddress from, std::size_t bytes) override {
    if (bytes == 0) return;
    driver().check(driver().MemcpyDtoDAsync(to, from, bytes, context_.stream()), "copying");
  }
  void fill_words(DeviceAddress to, std::uint32_t word, std::size_t words) override {
    if (words == 0) return;
    driver().check(driver().MemsetD32Async(to, word, words, context_.stream()), "filling");
  }

  void launch(const char* kernel, std::uint64_t items,
              std::span<const std::byte> parameters) override {
    const auto blocks =
        static_cast<unsigned>(std::clamp<std::uint64_t>(items / kThreads + 1, 1, kMostBlocks));
    std::array<void*, 1> list{const_cast<std::byte*>(parameters.data())};  // NOLINT: driver's type
    driver().check(driver().LaunchKernel(function(kernel), blocks, 1, 1, kThreads, 1, 1, 0,
                                         context_.stream(), list.data(), nullptr),
                   kernel);
  }
  void finish() override { driver().check(wait(), "the referee's work"); }

 private:
  struct Lent {
    std::unique_ptr<GpuMapping> mapping{};
    posix::Descriptor descriptor{};  // making one takes a millisecond
    std::size_t bytes = 0;
  };

  [[nodiscard]] const cuda::Driver& driver() const { return context_.driver(); }

  [[nodiscard]] int wait() const {
    return context_.wait(std::chrono::steady_clock::now() + kFinishLimit);
  }
  [[nodiscard]] bool has_finished() const noexcept { return wait() == cuda::kSuccess; }

  [[nodiscard]] std::size_t most_idle_lent() const {
    std::size_t memory = 0;
    driver().check(driver().DeviceTotalMem(&memory, context_.ordinal()), "cuDeviceTotalMem");
    return std::min(kIdleLentBytes, memory / kIdleLentShare);
  }

  // None: the device has not the memory.
  [[nodiscard]] std::optional<Lent> make_lent(std::size_t bytes) const {
    try {
      auto mapping = std::make_unique<GpuMapping>(context_, bytes, GpuMapping::For::lending);
      posix::Descriptor descriptor = mapping->descriptor();
      return Lent{std::move(mapping), std::move(descriptor), bytes};
    } catch (const cuda::DriverError& error) {
      if (error.result() == cuda::kOutOfMemory) return std::nullopt;
      throw;
    }
  }

  Shared lend(Lent lent) {
    const DeviceAddress address = lent.mapping->address();
    Shared shared{.address = address,
                  .descriptor = lent.descriptor.duplicate(),
                  .bytes = lent.mapping->bytes()};
    shared_[address] = std::move(lent);
    return shared;
  }

  void give_up_idle() noexcept {
    for (const auto& [unused, address] : idle_) driver().MemFree(address);
    idle_.clear();
    idle_bytes_ = 0;
  }

  void give_up_all() {
    give_up_idle();
    give_up_lent();
  }

  void check_memory(int result) const {
    if (result == cuda::kOutOfMemory) {
      throw OutOfMemory("the device has not the memory for it");
    }
    driver().check(result, "device memory");
  }

  cuda::Handle function(const std::string& name) {
    auto [entry, is_new] = functions_.try_emplace(name, nullptr);
    if (is_new) {
      driver().check(driver().ModuleGetFunction(&entry->second, module_, name.c_str()),
                     name.c_str());
    }
    return entry->second;
  }

  GpuContext context_{};
  cuda::Handle module_ = nullptr;
  std::map<std::string, cuda::Handle> functions_{};
  std::map<DeviceAddress, std::size_t> plain_{};
  std::map<DeviceAddress, Lent> shared_{};
  // Of former jobs, by size: an agent's next attempt asks for the same.
  std::multimap<std::size_t, DeviceAddress> idle_{};
  std::size_t idle_bytes_ = 0;
  IdleMemory<Lent> idle_lent_{most_idle_lent()};
};

}  // namespace

std::unique_ptr<DeviceSpace> make_gpu_space(const std::string& nvrtc_path, std::string& cubin) {
  return std::make_unique<GpuSpace>(nvrtc_path, cubin);
}

}  // namespace assay::runner
