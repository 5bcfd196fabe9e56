// Which of a GPU's clocks a comparison rests on, by the caller's wish. A value; any thread.
#pragma once

#include <string_view>

namespace assay::node {

enum class TimingMethod {
  automatic,  // a graph's slope for short kernels, cold runs for long ones
  graph,      // the slope of every kernel that can be captured
  events,     // cold runs; nothing is captured in a graph
};

// The schema lets nothing else through.
[[nodiscard]] constexpr TimingMethod timing_method_from(std::string_view text) {
  if (text == "graph") return TimingMethod::graph;
  return text == "events" ? TimingMethod::events : TimingMethod::automatic;
}

}  // namespace assay::node
