// A reading that may never come back, as from a driver that hangs: made on a thread of its own,
// waited for a while, and then done without. While one is out no other begins.
//
// One thread asks. What the reading itself needs it has to own: it may outlive who asked.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace assay::runner {

template <typename Value>
class LateReading {
 public:
  using Read = std::function<Value()>;

  // Does nothing while the last one is out, and where no thread can be made. `read` throws nothing.
  void begin(Read read) {
    if (slot_) return;
    auto slot = std::make_shared<Slot>();
    try {
      std::thread([slot, read = std::move(read)] {
        Value value = read();
        const std::lock_guard lock(slot->mutex);
        slot->value = std::move(value);
        slot->there.notify_all();
      }).detach();
    } catch (const std::system_error&) {
      return;
    }
    slot_ = std::move(slot);
  }

  // What was read; nothing if that did not come within the limit, or none was begun.
  [[nodiscard]] std::optional<Value> take(std::chrono::nanoseconds limit) {
    if (!slot_) return std::nullopt;
    std::unique_lock lock(slot_->mutex);
    // Who waited in vain before only looks.
    const auto waited = std::exchange(slot_->limit, std::chrono::nanoseconds(0));
    slot_->there.wait_for(lock, std::min(waited, limit), [&] { return slot_->value.has_value(); });
    if (!slot_->value) return std::nullopt;
    std::optional<Value> value = std::move(slot_->value);
    lock.unlock();
    slot_.reset();
    return value;
  }

 private:
  struct Slot {
    std::mutex mutex{};
    std::condition_variable there{};
    std::optional<Value> value{};
    std::chrono::nanoseconds limit = std::chrono::hours(1);
  };
  std::shared_ptr<Slot> slot_{};
};

}  // namespace assay::runner
