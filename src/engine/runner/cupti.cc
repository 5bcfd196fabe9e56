#include "engine/runner/cupti.h"

namespace assay::runner {
namespace {

constexpr std::size_t kMostPasses = 200;

}  // namespace

void CounterReadings::add(const CounterReadings& more) {
  values.insert(values.end(), more.values.begin(), more.values.end());
  refused.insert(refused.end(), more.refused.begin(), more.refused.end());
  passes += more.passes;
  // A metric that does not exist takes nothing from the others.
  if (values.empty()) missing = more.missing;
}

CounterSession::CounterSession(const CounterRequest& request, cuda::Handle context) {
  try {
    begin(request, context);
  } catch (const cupti::Missing& missing) {
    readings_.missing = missing.what;
  }
}

CounterSession::~CounterSession() {
  if (profiler_ == nullptr) return;
  cupti::OfProfiler off{.profiler = profiler_};
  library_->disable(&off);
}

void CounterSession::begin(const CounterRequest& request, cuda::Handle context) {
  library_ = std::make_unique<cupti::Library>(request.library);
  const cupti::Library& cupti = *library_;
  const char* chip = cupti.chip();
  cupti::Availability available{.context = context};
  cupti.check(cupti.availability(&available), "asking for counters");
  std::vector<std::uint8_t> availability(available.bytes);
  available.image = availability.data();
  cupti.check(cupti.availability(&available), "asking for counters");
  plan_ = std::make_unique<MetricPlan>(cupti, chip, availability.data(), request.metrics);
  readings_.refused = plan_->refused();
  readings_.passes = plan_->passes();
  if (plan_->names().empty()) throw cupti::Missing{"none of the metrics exist on this device"};
  enable(context);
}

void CounterSession::enable(cuda::Handle context) {
  const cupti::Library& cupti = *library_;
  cupti::Enable enable{.context = context};
  cupti.check(cupti.enable(&enable), "enabling the counters");
  profiler_ = enable.profiler;
  auto pointers = plan_->pointers();
  cupti::DataSize data{.profiler = profiler_, .names = pointers.data(), .count = pointers.size()};
  cupti.check(cupti.data_size(&data), "sizing the counter data");
  data_.resize(data.bytes);
  cupti::DataInitialize fresh{.profiler = profiler_, .bytes = data_.size(), .image = data_.data()};
  cupti.check(cupti.data_initialize(&fresh), "initialising the counter data");
  cupti::SetConfig set{.profiler = profiler_,
                       .config_bytes = plan_->image().size(),
                       .config = plan_->image().data(),
                       .data_bytes = data_.size(),
                       .data = data_.data()};
  cupti.check(cupti.set_config(&set), "programming the counters");
}

int CounterSession::measure(const CounterPass& pass) {
  if (!readings_.missing.empty()) return cuda::kSuccess;
  const cupti::Library& cupti = *library_;
  try {
    bool is_done = false;
    for (std::size_t made = 0; made < kMostPasses && !is_done; ++made) {
      if (const int result = pass.prepare(); result != cuda::kSuccess) return result;
      cupti::OfProfiler of{.profiler = profiler_};
      cupti.check(cupti.start(&of), "starting a pass");
      for (const auto& settle : pass.settle) {
        if (const int result = settle(); result != cuda::kSuccess) return result;
      }
      if (const int result = pass.launch(); result != cuda::kSuccess) return result;
      cupti::Stop stop{.profiler = profiler_};
      cupti.check(cupti.stop(&stop), "ending a pass");
      is_done = stop.is_done != 0;
    }
    if (!is_done) throw cupti::Missing{"more passes than any metric takes, and none was the last"};
    evaluate(pass.settle.size());  // each kernel of a pass is a range
  } catch (const cupti::Missing& missing) {
    readings_.values.clear();
    readings_.missing = missing.what;
  }
  return cuda::kSuccess;
}

void CounterSession::evaluate(std::size_t range) {
  const cupti::Library& cupti = *library_;
  cupti::Decode decode{.profiler = profiler_};
  cupti.check(cupti.decode(&decode), "decoding");
  if (decode.dropped > 0)
    throw cupti::Missing{"more kernels ran in a pass than there was room for"};
  const auto& names = plan_->names();
  auto pointers = plan_->pointers();
  std::vector<double> values(names.size());
  cupti::Evaluate evaluate{.host = plan_->host(),
                           .image = data_.data(),
                           .bytes = data_.size(),
                           .range = range,
                           .names = pointers.data(),
                           .count = pointers.size(),
                           .values = values.data()};
  cupti.check(cupti.evaluate(&evaluate), "evaluating");
  for (std::size_t i = 0; i < values.size(); ++i) {
    readings_.values.emplace_back(names[i], values[i]);
  }
}

}  // namespace assay::runner
