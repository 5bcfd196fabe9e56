// One GPU in this process: the driver initialised, its primary context current, and what every user
// of it needs: memory that frees itself, waiting that cannot wait for ever, the SM clock.
//
// Created after the confinement is in force (measured to work); used by the runner's one thread. A
// context that has seen a kernel's fault is dead for good, and with it the process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/runner/cuda_driver.h"

namespace assay::runner {

class GpuMapping;

class GpuContext {
 public:
  // Throws std::runtime_error: no driver, no device, no context.
  GpuContext();
  ~GpuContext();
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  [[nodiscard]] const cuda::Driver& driver() const { return driver_; }
  [[nodiscard]] cuda::Handle stream() const { return stream_; }
  [[nodiscard]] int ordinal() const { return device_; }
  [[nodiscard]] cuda::Handle handle() const { return context_; }
  [[nodiscard]] std::string pci() const;  // its bus id
  [[nodiscard]] int attribute(cuda::Attribute attribute) const;

  // A kernel of ours, which lives as long as the context; null where the driver compiles no PTX.
  [[nodiscard]] cuda::Handle assemble(const char* ptx, const char* name) const;

  // Waits until all work of the stream has ended. kNotReady: it had not by then.
  [[nodiscard]] int wait(std::chrono::steady_clock::time_point until) const;

  // A copy in the stream's order; `from` is the caller's again on return. cuMemcpyHtoD would return
  // before its last bytes have arrived, and what the stream does next would not wait for them.
  [[nodiscard]] int copy_in(cuda::Address to, std::span<const std::byte> from) const {
    return driver_.MemcpyHtoDAsync(to, from.data(), from.size(), stream_);
  }

  // Addresses with nothing behind them, none where the driver refuses so many: for mappings.
  [[nodiscard]] cuda::Address span() const { return span_; }
  [[nodiscard]] std::size_t span_bytes() const { return span_bytes_; }
  // A stamp of time and clock cycles of one multiprocessor, written when the stream comes to it.
  // Two of them give the clock in between. Nothing if the driver can compile no PTX. Answers the
  // driver's result: what was queued before may have failed by now.
  [[nodiscard]] int stamp(int which);
  // Keeps the stream busy for that long, so that what is queued meanwhile follows without a gap;
  // answers the driver's result.
  [[nodiscard]] int hold(std::chrono::nanoseconds time);
  // Likewise, on all multiprocessors: for clocks that follow what a device has to do.
  [[nodiscard]] int burn(std::chrono::nanoseconds time);
  [[nodiscard]] std::optional<double> clock_mhz() const;
  // Queues clearing the memory of the stamps, in case a kernel has found it; answers the driver's
  // result.
  [[nodiscard]] int clear_stamps() const;
  // Queues overwriting the shared memory of every multiprocessor, which outlasts a launch: what a
  // kernel leaves there its next launch would find, and one that wants zeros there would be right
  // by chance. Answers the driver's result.
  [[nodiscard]] int overwrite_shared();

 private:
  [[nodiscard]] unsigned next_word();
  [[nodiscard]] int spin(std::chrono::nanoseconds time, unsigned blocks, unsigned threads);

  cuda::Driver driver_{};
  int device_ = 0;
  cuda::Handle context_ = nullptr;
  cuda::Handle stream_ = nullptr;
  cuda::Handle idle_event_ = nullptr;
  cuda::Address span_ = 0;
  std::size_t span_bytes_ = 0;
  cuda::Handle stamp_kernel_ = nullptr;
  cuda::Handle hold_kernel_ = nullptr;
  cuda::Handle fill_kernel_ = nullptr;
  unsigned multiprocessors_ = 1;
  unsigned shared_bytes_ = 0;        // the most that a block can have
  unsigned shared_below_bytes_ = 0;  // beside those
  // Where it begins nobody knows: a kernel could tell by the word which launch it is.
  unsigned word_ =
      static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
  // Where no kernel finds it: one that wrote there would say how fast the clock was.
  std::unique_ptr<GpuMapping> stamps_{};
};

// Device memory that frees itself. Grows by being replaced.
class GpuMemory {
 public:
  explicit GpuMemory(const GpuContext& context) : context_(&context) {}
  ~GpuMemory() { release(); }
  GpuMemory(GpuMemory&& other) noexcept;
  GpuMemory& operator=(GpuMemory&& other) noexcept;
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  // At least that much; what it held is lost if it had to grow. Throws cuda::DriverError.
  void reserve(std::size_t bytes);
  [[nodiscard]] cuda::Address address() const { return address_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void release() noexcept;
  const GpuContext* context_;
  cuda::Address address_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace assay::runner
