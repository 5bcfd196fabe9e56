// The engine's side of a confined child.
//
//   engine ── posix_spawn ──► keeper ── clone ──► init (PID 1) ── fork ──► worker: the role
//      leash ────────────────►│
//      status ◄───────────────┘
//
// There is an init at L1n and above; below, the keeper forks the worker itself.
//
// The keeper is trusted code of the runner executable: it reads no user byte, holds neither the
// channel nor the output pipes, and outlives everything below it. When the leash closes, by kill()
// or by the engine's death, it kills all of it. When all of it is dead and reaped it writes one
// last record on the status pipe and exits. How a child ended is read there, never guessed from
// text or from an EOF.
//
// A Child is passive: its owner polls status() (and whatever else it waits for), calls
// read_status() when it is readable and reap() when ended() says so. Owned by one thread at a time;
// spawn() may be called from any thread and at any time, and the spawning thread may end before the
// child does. The process must not ignore SIGCHLD.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/confinement/confinement.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {

struct StatusRecord;
struct Handover;

// The worker's end of its frame socket.
inline constexpr int kChannelDescriptor = 3;

struct SpawnRequest {
  // An executable that calls enter_confinement() first thing in main().
  std::string executable{};
  // What main() sees after its name, e.g. "--role=compile".
  std::vector<std::string> arguments{};
  // Added to PATH, HOME, LANG and TMPDIR; nothing is inherited.
  std::vector<std::pair<std::string, std::string>> environment{};
  Confinement confinement{};
  // Given to the worker alone, as descriptors 3, 1 and 2; /dev/null where empty. Closed here by
  // spawn().
  posix::Descriptor channel{};
  posix::Descriptor standard_output{};
  posix::Descriptor standard_error{};
};

// Of the worker and of every descendant that was reaped.
struct Usage {
  std::chrono::microseconds user_time{0};
  std::chrono::microseconds system_time{0};
  std::uint64_t max_resident_bytes = 0;
};

struct End {
  // Every process of the child is dead and reaped. False only when the deadline of reap() passed
  // first.
  bool gone = false;
  // The keeper's last record was read. False when the keeper itself was killed from outside.
  bool clean_record = false;
  // What wait() said of the worker: the signal that ended it, or 0 and its exit code.
  int signal = 0;
  int exit_code = 0;
  // The leash was closed before the worker had ended by itself.
  bool killed = false;
  // Not empty: the confinement could not be put in force and the role never ran, e.g.
  // "landlock: /opt/cuda: No such file or directory". Our fault, never the kernel's author's.
  std::string setup_failure{};
  Usage usage{};
};

class Child {
 public:
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Kills and reaps; waits a few seconds at most for processes the kernel cannot kill.
  ~Child();

  // Of the keeper, which is the root of the process tree (see resident_bytes()).
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Readable once the keeper is dead.
  [[nodiscard]] const posix::Descriptor& pidfd() const { return pidfd_; }
  // Readable when the keeper has reported something, and when it is gone.
  [[nodiscard]] const posix::Descriptor& status() const { return status_; }

  // Takes what the keeper has reported so far. Never blocks.
  void read_status();
  // The worker, in the engine's pid namespace, once its confinement is in force.
  [[nodiscard]] std::optional<pid_t> worker_pid() const { return worker_pid_; }
  // The last record has been read, or the keeper is gone without one: reap() will not wait long.
  [[nodiscard]] bool ended() const { return ended_; }

  // Kills every process of the child. Returns at once; may be repeated.
  void kill() noexcept { leash_.reset(); }

  // Waits until every process is gone, at the latest until `deadline`, then says how the worker
  // ended. May be called again after a deadline that passed; after that the same End is returned.
  [[nodiscard]] End reap(std::chrono::steady_clock::time_point deadline);

 private:
  friend Child spawn(SpawnRequest request);
  friend Handover prepare_spawn(SpawnRequest request);
  friend Child finish_spawn(Handover handover, pid_t pid);
  Child() = default;
  void take(const StatusRecord& record);
  void give_up() noexcept;

  pid_t pid_ = -1;
  posix::Descriptor pidfd_{};
  posix::Descriptor status_{};
  posix::Descriptor leash_{};
  posix::Descriptor worker_{};
  std::string pending_{};
  std::optional<pid_t> worker_pid_{};
  bool ended_ = false;
  End end_{};
};

// What a new process is to hold as descriptors 1 to kHandedDescriptors.
inline constexpr std::size_t kHandedDescriptors = 6;

// spawn() in two halves, for a zygote: trusted code without threads, started by the caller, that
// forks the keeper instead of executing it. The new process must be the caller's child
// (CLONE_PARENT) and call enter_confinement_forked().
struct Handover {
  Child child;  // of no process yet
  std::vector<posix::Descriptor> descriptors{};
  std::vector<std::string> environment{};
};
// Both throw as spawn() does. A Handover that is dropped leaves nothing behind.
[[nodiscard]] Handover prepare_spawn(SpawnRequest request);
[[nodiscard]] Child finish_spawn(Handover handover, pid_t pid);

// Throws std::system_error when no process can be made (no such executable, no descriptors, no
// memory), std::invalid_argument when the request cannot be met by any child (L3).
[[nodiscard]] Child spawn(SpawnRequest request);

}  // namespace assay::confinement
