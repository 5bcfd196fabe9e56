#include "engine/node/python_spares.h"

#include "engine/node/python_start.h"

namespace assay::node {
namespace {

using Clock = std::chrono::steady_clock;

// A comparison takes two.
constexpr std::size_t kSpares = 2;
constexpr std::chrono::seconds kContextLimit{30};

}  // namespace

PythonSpares::PythonSpares(const Runners& runners, PythonZygote& zygote, Gpu gpu,
                           std::chrono::seconds idle)
    : runners_(runners),
      zygote_(zygote),
      gpu_(std::move(gpu)),
      spares_([this](const std::stop_token& stop) { return make(stop); }, kSpares, idle) {}

std::variant<Spares::Process, Ended> PythonSpares::take(const std::stop_token& stop) {
  if (auto ready = spares_.take()) return ready;
  return start_python_runner(runners_, zygote_, &gpu_, stop);
}

void PythonSpares::give_back(std::vector<Spares::Process> used) {
  spares_.retire(std::move(used));
  spares_.want();
}

Spares::Process PythonSpares::make(const std::stop_token& stop) {
  auto forked = start_python_runner(runners_, zygote_, &gpu_, stop);
  auto* process = std::get_if<Spares::Process>(&forked);
  if (process == nullptr) return nullptr;
  frames::Frame request;
  request.body = {{"type", "begin"}, {"seq", 0}};
  const auto reply = (*process)->ask(std::move(request), Clock::now() + kContextLimit, stop);
  const auto* said = std::get_if<frames::Frame>(&reply);
  return said != nullptr && said->type() == "begun" ? std::move(*process) : nullptr;
}

}  // namespace assay::node
