// Threads on which tools block. They appear as work arrives, up to a limit; beyond it work waits in
// order of arrival; a thread that had nothing to do for a while ends. A pool of idle tools costs
// nothing. submit() and drain() belong to one owner thread.
//
// One thread is called at a time, and whoever takes work while more is waiting calls the next:
// while a thread is on its way, those that are awake often do what it was called for, and waking
// costs more than a small tool does.
//
// Work that waits for others steps aside: its thread does not count towards the limit meanwhile, so
// those who only wait never keep those who could serve from it. As many as `max_aside` may; of them
// nobody holds more places than are left to the others.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace assay::mcp {

class ToolPool {
 public:
  ToolPool(std::size_t max_threads, std::chrono::milliseconds idle, std::size_t max_aside = 0);
  // Waits for everything submitted, unless drain() has given up on it before.
  ~ToolPool();
  ToolPool(const ToolPool&) = delete;
  ToolPool& operator=(const ToolPool&) = delete;

  // `work` must not throw.
  void submit(std::function<void()> work);

  // From within work, on its thread: for as long as the handle lives. Null: there is no place.
  [[nodiscard]] std::shared_ptr<void> step_aside(const std::string& whose);

  // Waits until all work is done, at most until `grace` has passed. Returns how many pieces of work
  // are not; their threads go on by themselves, and `kept` lives until the last of them has ended.
  [[nodiscard]] std::size_t drain(std::chrono::milliseconds grace, std::shared_ptr<void> kept);

  [[nodiscard]] std::size_t threads() const;

 private:
  struct State;
  static void work_loop(const std::shared_ptr<State>& state);
  [[nodiscard]] static bool call_help(const std::shared_ptr<State>& state);
  [[nodiscard]] static bool calls_another(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;  // shared with the threads, which may outlive the pool
};

}  // namespace assay::mcp
