#include "engine/runner/cold_caches.h"

namespace assay::runner {

ColdCaches::ColdCaches(const GpuContext& context)
    : context_(&context), flush_(context), touch_(context) {
  flush_.prepare();
}

std::vector<std::function<int()>> ColdCaches::settling(
    cuda::Address address, std::size_t bytes, std::chrono::steady_clock::time_point until) {
  // What is not a kernel is no range either, and those are counted off.
  if (!flush_.reads() || !touch_.exists()) return {};
  const auto ended = [this, until](int queued) {
    return queued == cuda::kSuccess ? context_->wait(until) : queued;
  };
  // In this order: emptying the cache takes translations too.
  return {[this, ended, bytes] { return ended(flush_.queue(bytes)); },
          [this, ended, address, bytes] { return ended(touch_.queue(address, bytes)); }};
}

}  // namespace assay::runner
