// A job's turn on a GPU: its lease, and the device proved where an engine died while it had it:
// that one's kernel may run there still, or have left the device broken. One holder outside this
// engine who keeps the device for longer than he said is told of: a job waits for no server that
// hangs.
//
// Any thread; blocks for its turn, half a second more after such a death.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/node/ended.h"
#include "engine/node/gpu_lease.h"
#include "engine/node/gpu_pool.h"

namespace assay::node {

// Nothing: `lease` is the job's, and the device may be used. `timeout`: what the job's code may run
// for.
[[nodiscard]] std::optional<Ended> take_turn(std::optional<GpuLease>& lease, GpuPool& pool,
                                             const std::string& client,
                                             std::chrono::nanoseconds timeout,
                                             const std::stop_token& stop);

// Nothing: the device may be used. Else the lease is marked for who comes next.
[[nodiscard]] std::optional<Ended> probe_after_dead(GpuLease& lease, const GpuPool& pool,
                                                    const std::stop_token& stop);

}  // namespace assay::node
