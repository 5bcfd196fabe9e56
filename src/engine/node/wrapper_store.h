// The folder of headers compiled ahead (wrapper_environment.h) as several servers share it: each
// entry is made by one of them at a time, under a lock that the kernel takes back from whoever is
// killed, aside and renamed when it is whole. Entries of compilers and torches that nobody uses any
// more go when a new one is made.
//
//   FOLDER/<key>/…            whole, never changed; its time is that of its last use
//   FOLDER/.aside-<key>-…     being made; without its lock held: left behind
//   FOLDER/.lock-<key>
//
// Immutable; any thread. Locks are per open file, so threads of one process exclude each other too.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <variant>

#include "engine/posix/descriptor.h"

namespace assay::node {

// What was used a moment ago stays whatever its number, so that no compile loses what it reads.
struct WrapperBounds {
  std::size_t entries = 4;
  std::chrono::seconds in_use = std::chrono::hours(1);
};

class WrapperStore {
 public:
  // Names the file that makes an entry whole.
  WrapperStore(std::filesystem::path folder, std::string whole, WrapperBounds bounds = {})
      : folder_(std::move(folder)), whole_(std::move(whole)), bounds_(bounds) {}

  // An entry's folder, used from now on; empty if there is none.
  [[nodiscard]] std::filesystem::path find(const std::string& key) const;

  // The right to make one, and where. Given up, what lies there goes.
  class Making {
   public:
    Making(posix::Descriptor lock, std::filesystem::path aside)
        : lock_(std::move(lock)), aside_(std::move(aside)) {}
    ~Making();
    Making(Making&&) noexcept = default;
    Making& operator=(Making&&) = delete;
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;
    [[nodiscard]] const std::filesystem::path& aside() const { return aside_; }

   private:
    posix::Descriptor lock_;
    std::filesystem::path aside_;
  };
  // Waits for whoever makes the same: look again with find(). Or why nothing can be made.
  [[nodiscard]] std::variant<Making, std::string> begin(const std::string& key,
                                                        const std::stop_token& stop) const;
  // REQUIRES that it is whole. Its folder; empty if it cannot be put there.
  [[nodiscard]] std::filesystem::path keep(const Making& making, const std::string& key) const;

 private:
  void sweep(const std::string& made) const;

  const std::filesystem::path folder_;
  const std::string whole_;
  const WrapperBounds bounds_;
};

}  // namespace assay::node
