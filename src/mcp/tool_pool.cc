#include "mcp/tool_pool.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace assay::mcp {

struct ToolPool::State {
  std::size_t max_threads = 1;
  std::size_t max_aside = 0;
  std::chrono::milliseconds idle{0};

  std::mutex mutex{};
  std::condition_variable wake{};
  std::condition_variable thread_ended{};
  std::deque<std::function<void()>> waiting{};
  std::size_t threads = 0;
  std::size_t sleeping = 0;  // those that nobody has called
  bool called = false;       // a thread is on its way: a new one, or
  bool sleeper_called = false;
  std::size_t working = 0;  // those aside too
  std::size_t aside = 0;
  std::map<std::string, std::size_t> aside_of{};
  bool closing = false;
  std::shared_ptr<void> kept{};  // by threads that were given up

  // All REQUIRE the lock.
  [[nodiscard]] std::size_t allowed() const { return max_threads + aside; }
  [[nodiscard]] bool take_place(const std::string& whose) {
    const auto own = aside_of.find(whose);
    if ((own == aside_of.end() ? 0 : own->second) >= max_aside - aside) return false;
    ++aside_of[whose];
    ++aside;
    return true;
  }
  void leave_place(const std::string& whose) {
    --aside;
    const auto own = aside_of.find(whose);
    if (--own->second == 0) aside_of.erase(own);
  }
};

ToolPool::ToolPool(std::size_t max_threads, std::chrono::milliseconds idle, std::size_t max_aside)
    : state_(std::make_shared<State>()) {
  state_->max_threads = max_threads > 0 ? max_threads : 1;
  state_->max_aside = max_aside;
  state_->idle = idle;
}

ToolPool::~ToolPool() {
  std::unique_lock lock(state_->mutex);
  if (state_->closing) return;  // drained: what is left was given up
  state_->closing = true;
  state_->wake.notify_all();
  state_->thread_ended.wait(lock, [this] { return state_->threads == 0; });
}

// REQUIRES the lock. True: `wake` is to be notified, best without it.
bool ToolPool::call_help(const std::shared_ptr<State>& state) {
  if (state->called || state->waiting.empty()) return false;
  if (state->sleeping > 0) {
    --state->sleeping;
    state->called = true;
    return state->sleeper_called = true;
  }
  if (state->threads >= state->allowed()) return false;
  // Detached, because a thread ends by itself after idling; the count is what is waited for.
  std::thread([state] { work_loop(state); }).detach();
  ++state->threads;
  state->called = true;
  return false;
}

void ToolPool::submit(std::function<void()> work) {
  std::unique_lock lock(state_->mutex);
  state_->waiting.push_back(std::move(work));
  bool wakes = false;
  try {
    wakes = call_help(state_);
  } catch (const std::system_error&) {
    if (state_->threads > state_->aside) return;  // a thread that is busy now takes it later
    state_->waiting.pop_back();
    throw;
  }
  lock.unlock();
  if (wakes) state_->wake.notify_one();
}

std::shared_ptr<void> ToolPool::step_aside(const std::string& whose) {
  std::unique_lock lock(state_->mutex);
  if (!state_->take_place(whose)) return nullptr;
  bool wakes = false;
  try {
    wakes = call_help(state_);
  } catch (const std::system_error&) {
    // Nobody would do what waits.
    state_->leave_place(whose);
    return nullptr;
  }
  lock.unlock();
  if (wakes) state_->wake.notify_one();
  return {state_.get(), [state = state_, whose](void*) {
            const std::lock_guard back(state->mutex);
            state->leave_place(whose);
          }};
}

// What cannot be had now is done later, by this thread.
bool ToolPool::calls_another(const std::shared_ptr<State>& state) {
  try {
    return call_help(state);
  } catch (const std::system_error&) {
    return false;
  }
}

void ToolPool::work_loop(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  state->called = false;  // this thread is here
  while (true) {
    if (state->waiting.empty()) {
      if (state->closing) break;
      ++state->sleeping;
      const bool woken = state->wake.wait_for(
          lock, state->idle, [&state] { return state->closing || state->sleeper_called; });
      // Whoever is first answers the call, which has counted one of the sleepers out.
      if (std::exchange(state->sleeper_called, false))
        state->called = false;
      else
        --state->sleeping;
      if (!woken) break;
      continue;
    }
    std::function<void()> work = std::move(state->waiting.front());
    state->waiting.pop_front();
    ++state->working;
    const bool wakes = calls_another(state);
    lock.unlock();
    if (wakes) state->wake.notify_one();
    work();
    work = nullptr;  // what it holds is released before it counts as done
    lock.lock();
    --state->working;
    // It was replaced while it was aside, and who replaced it goes on.
    if (state->threads > state->allowed()) break;
  }
  const std::shared_ptr<void> kept = --state->threads == 0 ? std::move(state->kept) : nullptr;
  state->thread_ended.notify_all();
  lock.unlock();  // before `kept` goes: it may own the pool
}

std::size_t ToolPool::drain(std::chrono::milliseconds grace, std::shared_ptr<void> kept) {
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->wake.notify_all();
  state_->thread_ended.wait_for(lock, grace, [this] { return state_->threads == 0; });
  if (state_->threads > 0) state_->kept = std::move(kept);
  return state_->working + state_->waiting.size();
}

std::size_t ToolPool::threads() const {
  const std::lock_guard lock(state_->mutex);
  return state_->threads;
}

}  // namespace assay::mcp
