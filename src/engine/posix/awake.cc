#include "engine/posix/awake.h"

#include <thread>

namespace assay::posix {
namespace {

constexpr unsigned kFewCores = 4;

bool has_few_cores() {
  static const bool has = std::thread::hardware_concurrency() < kFewCores;
  return has;
}

}  // namespace

Awake::Awake(std::chrono::microseconds span)
    : span_(has_few_cores() ? std::chrono::microseconds(0) : span) {}

int Awake::poll(std::span<pollfd> entries, int timeout_ms) const {
  while (looks()) {
    const int ready = ::poll(entries.data(), entries.size(), 0);
    if (ready != 0) return ready;
  }
  return ::poll(entries.data(), entries.size(), timeout_ms);
}

bool look_for(std::chrono::microseconds span, const std::function<bool()>& has_come) {
  Awake awake(span);
  awake.extend();
  while (awake.looks()) {
    if (has_come()) return true;
  }
  return false;
}

}  // namespace assay::posix
