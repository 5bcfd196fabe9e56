// After an engine that died while it had a GPU: its kernel may run there still, or have left the
// device broken. Who takes the lease next proves the device before using it.
//
// Any thread that holds the lease; blocks for half a second where there was such a death, else not.
#pragma once

#include <optional>
#include <stop_token>

#include "engine/node/ended.h"
#include "engine/node/gpu_lease.h"
#include "engine/node/gpu_pool.h"

namespace assay::node {

// Nothing: the device may be used. Else the lease is marked for who comes next.
[[nodiscard]] std::optional<Ended> probe_after_dead(GpuLease& lease, const GpuPool& pool,
                                                    const std::stop_token& stop);

}  // namespace assay::node
