// One plan of a GpuTimer's being carried out. A kernel's failure is a driver's result other than
// success; it ends the measurement.
//
// Lives for one call of GpuTimer::time(), on its thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/runner/gpu_timer.h"

namespace assay::runner {

class GpuTimer::Measurement {
 public:
  Measurement(GpuTimer& timer, const GpuWork& work, const TimingPlan& plan)
      : timer_(timer),
        context_(timer.context_),
        driver_(context_.driver()),
        work_(work),
        plan_(plan) {}

  [[nodiscard]] Timed carry_out();
  // Why it failed; "" if it did not.
  [[nodiscard]] std::string capture_ahead();

 private:
  // Of this job's: a process of another's may hold room for more.
  [[nodiscard]] std::uint32_t contents() const {
    return static_cast<std::uint32_t>(timer_.arenas_.size());
  }
  // All that answer an int answer the driver's result.
  [[nodiscard]] int wait() const;
  void forget_runs();
  [[nodiscard]] int prepare() const;
  [[nodiscard]] int restore(const TimedRun& run) const;
  [[nodiscard]] int restore_behind_last(const TimedRun& run);
  [[nodiscard]] int flush();
  [[nodiscard]] bool is_shown_anew(const TimedRun& run) const;
  [[nodiscard]] int launch(std::uint32_t place) const {
    return work_.queue(timer_.places_.at(place));
  }
  [[nodiscard]] int launch_between(const EventPair& events, std::uint32_t place) const;
  [[nodiscard]] double elapsed_ns(const EventPair& events) const;
  void measure_overhead();
  [[nodiscard]] int warm_up();
  [[nodiscard]] int queue_run(const TimedRun& run, std::size_t which);
  [[nodiscard]] int collect(std::size_t queued);
  [[nodiscard]] int time_runs();
  [[nodiscard]] int begin_batch(std::size_t runs);
  // Of what the last run has left in its place, if that has not been taken.
  [[nodiscard]] int take_digest();
  [[nodiscard]] int queue_handing_back(const TimedRun& run) const;
  void hand_back_to_host(const TimedRun& run) const;

  // The graph view: gpu_graphs.cc.
  [[nodiscard]] std::uint32_t graph_places() const;
  [[nodiscard]] std::uint32_t whole_rounds(std::uint32_t count) const;
  [[nodiscard]] TimedRun run_of(std::uint32_t launch, std::uint32_t places) const;
  [[nodiscard]] std::optional<std::uint32_t> shown_content() const;
  [[nodiscard]] Shown draw_shown(std::uint32_t content, std::uint32_t launches) const;
  [[nodiscard]] int renew(const TimedRun& run) const;
  [[nodiscard]] cuda::Address left_by(bool is_shown) const;
  [[nodiscard]] int queue_launch(std::uint32_t which, const std::optional<Shown>& shown) const;
  [[nodiscard]] bool capture(Graph& graph, std::uint32_t launches);
  [[nodiscard]] std::uint32_t wanted_launches() const;
  [[nodiscard]] bool make_room_for_left();
  [[nodiscard]] int hand_back_left(const TimedRun& run) const;
  [[nodiscard]] double target_ns() const;
  [[nodiscard]] std::unique_ptr<Graphs> new_graphs();
  [[nodiscard]] std::unique_ptr<Graphs> graphs();
  [[nodiscard]] int queue_graph(const Graph& graph, const EventPair& events) const;
  [[nodiscard]] int time_slopes(const Graphs& both, std::size_t count, Wall& wall);
  [[nodiscard]] int time_stretch(const Graphs& both, Wall& wall);
  [[nodiscard]] int look_at(const Graph& graph, double& beside_ns);
  [[nodiscard]] int look_for_hidden(const Graphs& both, Wall& wall);
  [[nodiscard]] int time_graph();

  GpuTimer& timer_;
  GpuContext& context_;
  const cuda::Driver& driver_;
  const GpuWork& work_;
  const TimingPlan& plan_;
  // A run that was queued, whose digest is still to be taken: with what the next one begins with.
  struct Undigested {
    TimedRun run{};
    std::size_t which = 0;
  };
  std::optional<Undigested> undigested_{};
  double typical_ns_ = 0;
  std::string graph_failure_{};
  Timed timed_{};
};

}  // namespace assay::runner
