// What the self-test puts up to be attacked: a secret file, listeners, shared memory. All of it is
// gone when the object is, and when its process was killed, when the next one is made. Made and
// used by one thread. Throws std::system_error.
#pragma once

#include <string>

#include "engine/confinement/targets.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {

class Canaries {
 public:
  explicit Canaries(const std::string& folder);
  Canaries(const Canaries&) = delete;
  Canaries& operator=(const Canaries&) = delete;
  ~Canaries();

  [[nodiscard]] const Targets& targets() const { return targets_; }
  // A socket made by the probe is seen where other processes would look for it.
  [[nodiscard]] bool socket_was_planted() const;

 private:
  void listen_everywhere();
  void share_memory();

  Targets targets_{};
  posix::Descriptor lock_{};  // of the folder: while it is held, the folder is somebody's
  void* shared_memory_ = nullptr;
  posix::Descriptor tcp_{};
  posix::Descriptor udp_{};
  posix::Descriptor path_{};
  posix::Descriptor abstract_{};
};

}  // namespace assay::confinement
