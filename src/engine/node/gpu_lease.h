// The right to run on a GPU, exclusive among all engines of the machine's users: an advisory lock
// on one file per device, in a place all agree on. The kernel releases it when its holder dies, and
// runners never see it. Within one engine the jobs of a device take turns in the order in which
// they asked; only whose turn it is waits for the lock, and of those who wait one is next, so that
// engines take turns too. The file says until when the device may be held while it is: who takes it
// and finds that there follows a holder that died. Owned by one job.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/node/job_queue.h"
#include "engine/posix/descriptor.h"

namespace assay::node {

// Whether all users of the machine can make and open files in a folder of these st_mode bits, and
// none remove another's: where the locks lie must not depend on who asks.
[[nodiscard]] bool is_for_all_users(unsigned mode);

class GpuLease {
 public:
  // Longer than any job whose time is not its own to say has the device.
  static constexpr std::chrono::minutes kMostHeld{30};

  // Waits for it; nothing if stopped meanwhile, or if somebody outside this engine has held it for
  // longer than he said that he may: who keeps it so does not work. `most_held`: what this one
  // says, for others to read. Borrows `turns`, a queue of one slot for this device. Throws
  // std::system_error if there is no place for the lock.
  [[nodiscard]] static std::optional<GpuLease> take(const std::string& uuid, JobQueue& turns,
                                                    const std::string& client,
                                                    const std::stop_token& stop,
                                                    std::chrono::nanoseconds most_held = kMostHeld);
  [[nodiscard]] static std::string lock_path(const std::string& uuid);
  // Beside it, of who is next.
  [[nodiscard]] static std::string next_path(const std::string& uuid);
  // Whether somebody holds it now: a look, which promises nothing. False if nobody can tell.
  [[nodiscard]] static bool is_held(const std::string& uuid);

  // Who had it last did not give it up: its process died, and what it ran there may go on.
  [[nodiscard]] bool follows_dead() const { return follows_dead_; }
  // Nobody knows what goes on there: who takes it next is told so, as after a dead holder.
  void doubt() { lock_.keep_mark(); }

  // How long nobody had had it when this one was taken, as the lock's file remembers; 0 if that is
  // not known.
  [[nodiscard]] std::chrono::nanoseconds was_free() const { return was_free_; }
  [[nodiscard]] std::chrono::nanoseconds held() const {
    return std::chrono::steady_clock::now() - taken_;
  }

 private:
  struct GiveUp {
    JobQueue::Ticket ticket = 0;
    void operator()(JobQueue* turns) const { turns->done(ticket); }
  };
  using Turn = std::unique_ptr<JobQueue, GiveUp>;
  // Its file remembers when it was given up, and that it is held by a mark that goes then.
  class Lock {
   public:
    explicit Lock(posix::Descriptor file) : file_(std::move(file)) {}
    ~Lock();
    Lock(Lock&&) = default;
    Lock& operator=(Lock&&) = default;
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    void keep_mark() { keeps_mark_ = true; }

   private:
    posix::Descriptor file_;
    bool keeps_mark_ = false;
  };
  GpuLease(Turn turn, posix::Descriptor lock, std::chrono::nanoseconds was_free, bool follows_dead)
      : turn_(std::move(turn)),
        lock_(std::move(lock)),
        was_free_(was_free),
        follows_dead_(follows_dead) {}

  Turn turn_;  // given up after the lock
  Lock lock_;
  std::chrono::nanoseconds was_free_;
  bool follows_dead_;
  std::chrono::steady_clock::time_point taken_ = std::chrono::steady_clock::now();
};

}  // namespace assay::node
