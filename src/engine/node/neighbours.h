// Who else is on a device while it is measured, as far as its driver lets a process know.
//
// NVIDIA's management library names only processes of the asker's own pid namespace: a runner in a
// namespace of its own sees itself and nobody else. Where runners share the engine's, a process is
// ours if the engine is among its ancestors. What works on the device without being named there,
// in another container say, shows in the device's utilisation, which is proof only of a time in
// which nobody of ours had the device. Pure, but for is_descendant(); any thread.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

namespace assay::node {

struct Neighbours {
  // Whether others would be named: then an empty list says that nobody is in sight.
  bool visible = false;
  std::vector<unsigned> others{};  // processes that hold the device and are not ours
  struct Busy {
    unsigned pid = 0;
    unsigned sm_pct = 0;  // of the time of the last sample
  };
  std::vector<Busy> computing{};  // of the others
};

// `state` as a runner tells it (runner/nvml.h), a claim: what does not look like that is left out.
// `are_visible`: runners share the engine's pid namespace.
[[nodiscard]] Neighbours neighbours_of(const nlohmann::json& state, bool are_visible,
                                       const std::function<bool(unsigned pid)>& is_ours);

// Whether `ancestor` is one of its ancestors in /proc; a process is none of its own.
[[nodiscard]] bool is_descendant(unsigned pid, unsigned ancestor);

// Utilisation of the device over its last sample, which lasts 1/6 to 1 s, where nobody of ours can
// have made more than a third of it.
inline constexpr unsigned kBusyPct = 50;

// {visible, others?, computing: [{pid, sm_pct}], busy_before_pct?}
[[nodiscard]] nlohmann::json tell(const Neighbours& neighbours);
// Why times may be those of two, in words; "" if nothing says so. `busy_before_pct`: null where
// nobody can tell.
[[nodiscard]] std::string tenants_warning(const Neighbours& neighbours,
                                          const nlohmann::json& busy_before_pct);

}  // namespace assay::node
