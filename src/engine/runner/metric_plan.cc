#include "engine/runner/metric_plan.h"

namespace assay::runner {

MetricPlan::MetricPlan(const cupti::Library& library, const char* chip,
                       const std::uint8_t* availability, const std::vector<std::string>& metrics)
    : library_(library) {
  cupti::HostInitialize initialize{.chip = chip, .availability = availability};
  library.check(library.host_initialize(&initialize), "reading the chip's metrics");
  host_ = initialize.host;
  try {
    add(metrics);
    if (!names_.empty()) configure();
  } catch (...) {
    cupti::OfHost off{.host = host_};
    library.host_deinitialize(&off);
    throw;
  }
}

MetricPlan::~MetricPlan() {
  cupti::OfHost off{.host = host_};
  library_.host_deinitialize(&off);
}

// All at once: metrics that are added one by one share no pass (23 instead of 9 for the default
// sections of an H200), and after one that the chip does not have no other is taken.
void MetricPlan::add(const std::vector<std::string>& metrics) {
  for (const auto& metric : metrics) {
    cupti::MetricProperties told{.host = host_, .name = metric.c_str()};
    (library_.properties(&told) == 0 ? names_ : refused_).push_back(metric);
  }
  if (names_.empty()) return;
  auto names = pointers();
  cupti::AddMetrics add{.host = host_, .names = names.data(), .count = names.size()};
  library_.check(library_.add_metrics(&add), "choosing counters");
}

void MetricPlan::configure() {
  cupti::ConfigSize size{.host = host_};
  library_.check(library_.config_size(&size), "configuring");
  image_.resize(size.bytes);
  cupti::Config config{.host = host_, .bytes = size.bytes, .image = image_.data()};
  library_.check(library_.config(&config), "configuring");
  cupti::Passes passes{.bytes = size.bytes, .image = image_.data()};
  library_.check(library_.passes(&passes), "counting passes");
  passes_ = passes.count;
}

std::vector<const char*> MetricPlan::pointers() const {
  std::vector<const char*> pointers;
  for (const auto& name : names_) pointers.push_back(name.c_str());
  return pointers;
}

std::vector<std::vector<std::string>> sessions_of(const std::vector<std::string>& metrics) {
  std::vector<std::vector<std::string>> sessions(1);
  for (const auto& metric : metrics) {
    if (metric.find("__sass_") != metric.npos) {
      sessions.push_back({metric});
    } else {
      sessions.front().push_back(metric);
    }
  }
  if (sessions.front().empty()) sessions.erase(sessions.begin());
  return sessions;
}

PassCounts::PassCounts(std::string library, std::string chip)
    : path_(std::move(library)), chip_(std::move(chip)) {}

std::optional<std::size_t> PassCounts::of(const std::vector<std::string>& metrics) {
  const auto found = known_.find(metrics);
  if (found != known_.end()) return found->second;
  return known_[metrics] = count(metrics);
}

std::optional<std::size_t> PassCounts::count(const std::vector<std::string>& metrics) {
  try {
    if (!library_) library_ = std::make_unique<cupti::Library>(path_);
    if (chip_.empty()) chip_ = library_->chip();
    std::size_t passes = 0;
    for (const auto& session : sessions_of(metrics)) {
      passes += MetricPlan(*library_, chip_.c_str(), nullptr, session).passes();
    }
    return passes;
  } catch (const cupti::Missing&) {
    return std::nullopt;
  }
}

}  // namespace assay::runner
