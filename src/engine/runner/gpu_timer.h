// Times work on a GPU: events around each run, nothing subtracted, the device kept busy while
// the host queues. Every run begins with fresh contents at an address that the plan chooses, so
// that neither a pointer nor what it points to says which run it is; runs that the plan keeps are
// handed back to be examined.
//
// Owned by the GPU device of one runner; one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runner/device.h"
#include "engine/runner/gpu_context.h"
#include "engine/runner/gpu_mapping.h"
#include "engine/runner/l2_flush.h"
#include "engine/runner/run_digests.h"

namespace assay::runner {

// What is timed: queued on the context's stream, at whatever place.
class GpuWork {
 public:
  GpuWork() = default;
  virtual ~GpuWork() = default;
  GpuWork(const GpuWork&) = delete;
  GpuWork& operator=(const GpuWork&) = delete;
  // All answer the driver's result. What a place needs is made before any clock runs; scratch is
  // what lies behind the arena, cleared before a run.
  [[nodiscard]] virtual int prepare(cuda::Address /*place*/) const { return cuda::kSuccess; }
  [[nodiscard]] virtual int queue(cuda::Address place) const = 0;
  [[nodiscard]] virtual int clear_scratch(cuda::Address /*place*/) const { return cuda::kSuccess; }
  // Bytes that are equal only for equal work as long as no program is loaded anew; empty: never.
  [[nodiscard]] virtual std::string identity() const { return {}; }
};

class GpuTimer {
 public:
  explicit GpuTimer(GpuContext& context);
  ~GpuTimer();
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;

  // Contents for the runs to begin with, and written to by kept runs. Answers how many places
  // there are to work in: as many as wished unless memory is short. Throws cuda::DriverError when
  // the device has not even the memory for one place beside the contents. A place has
  // `scratch_bytes` behind its arena.
  [[nodiscard]] std::uint32_t stage(std::vector<std::unique_ptr<Arena>>&& arenas,
                                    std::uint32_t places, std::uint64_t scratch_bytes = 0);

  // Forgets what was staged; the memory is cleared before the driver may give it to another.
  void scrub();

  [[nodiscard]] Timed time(const GpuWork& work, const TimingPlan& plan);

  // Makes the graphs of such a plan ready, if they can be kept; queues nothing. Why they cannot be
  // captured; "" if nothing failed.
  [[nodiscard]] std::string capture(const GpuWork& work, const TimingPlan& plan);

  // Before a program is unloaded that work was made of: graphs name its functions.
  void forget_graphs() { graphs_.reset(); }

 private:
  struct Graph {
    const cuda::Driver* driver = nullptr;
    cuda::Handle graph = nullptr;
    cuda::Handle executable = nullptr;
    explicit Graph(const cuda::Driver& with) : driver(&with) {}
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() {
      if (executable != nullptr) driver->GraphExecDestroy(executable);
      if (graph != nullptr) driver->GraphDestroy(graph);
    }
  };
  // N launches of the same work, and 2 N.
  struct Graphs {
    std::string identity{};
    double target_ns = 0;
    std::uint32_t launches = 0;
    Graph once;
    Graph twice;
    explicit Graphs(const cuda::Driver& driver) : once(driver), twice(driver) {}
  };
  // Of a graph: which of its launches finds its contents anew and is copied from, and before which
  // its place is given them.
  struct Shown {
    std::uint32_t launch = 0;
    std::uint32_t renewed_before = 0;
  };
  struct EventPair {
    cuda::Handle start = nullptr;
    cuda::Handle stop = nullptr;
  };
  class Measurement;
  // Runs queued before the host waits: their preparation keeps the device busy while the host
  // queues the next, so that no launch latency stands between a run's two events.
  static constexpr std::size_t kBatch = 128;

  void make_places(std::size_t bytes, std::uint32_t wished);
  void give_up_left();
  // Queues taking the digests of what is staged; the driver's result.
  [[nodiscard]] int digest_contents();
  // Queues clearing what is no run's and kernels can write to all the same; the driver's result.
  [[nodiscard]] int clear_apart() const;
  // Keeps the device busy until its clock has risen (clock_ramp.h); what that took.
  [[nodiscard]] double ramp_ms(double wanted_mhz);

  GpuContext& context_;
  std::vector<std::unique_ptr<Arena>> arenas_{};
  std::vector<std::unique_ptr<GpuMapping>> contents_{};  // as staged; no kernel is told where
  // All places are one allocation, which the driver maps by its largest pages: with several small
  // ones a kernel of 1.6 us took 2.0 in one process and not in another.
  GpuMemory room_;
  std::vector<cuda::Address> places_{};  // where kernels work
  std::size_t place_bytes_ = 0;
  L2Flush flush_;
  RunDigests digests_;
  std::vector<std::uint64_t> begun_with_{};  // of what is staged; none where there are no digests
  std::vector<EventPair> events_{};
  std::optional<double> overhead_ns_{};  // of a pair of events
  std::unique_ptr<Graphs> graphs_{};     // of the last work that has an identity
  // What launches of graphs have left: behind the one that is shown, all others are copied to the
  // other half. No kernel is told where.
  std::unique_ptr<GpuMapping> left_{};
  bool ramps_in_vain_ = false;  // the clock stays low whatever it does
};

}  // namespace assay::runner
