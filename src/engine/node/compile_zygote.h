// Where compile runners come from when time matters: a zygote that has loaded the compiler forks
// them (runner/zygote.h), and for sources that begin with heavy headers a zygote that has compiled
// those as well. Without one, for whatever reason, a runner is executed as any other and only takes
// longer.
//
// Zygotes are started when first wanted, end after idling, and end with the engine. Any thread;
// the parts that talk to one zygote are serialised.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/confinement/child.h"
#include "engine/frames/channel.h"
#include "engine/node/toolkit.h"

namespace assay::node {

// What a zygote has compiled before it forks. Headers are the toolkit's own, options the engine's
// or from the allow-list without a user's words in them.
struct Warmth {
  std::vector<std::string> options{};
  std::vector<std::string> headers{};
  bool operator<(const Warmth& other) const {
    return std::tie(options, headers) < std::tie(other.options, other.headers);
  }
};

// One process.
class CompileZygote {
 public:
  // Throws std::system_error. `pch`: the file for compiled headers, "" for none.
  CompileZygote(const std::filesystem::path& executable, const Toolkit& toolkit,
                const Warmth& warmth, const std::string& pch);
  ~CompileZygote();
  CompileZygote(const CompileZygote&) = delete;
  CompileZygote& operator=(const CompileZygote&) = delete;

  enum class State { preparing, ready, gone };
  // Waits for a zygote that prepares itself, at most until `deadline`.
  [[nodiscard]] State state(std::chrono::steady_clock::time_point deadline);
  // REQUIRES ready. Nothing if the zygote did not answer: it is gone then.
  [[nodiscard]] std::optional<confinement::Child> spawn(confinement::SpawnRequest request);
  // The file of compiled headers, "" if there is none.
  [[nodiscard]] const std::string& pch() const { return pch_; }

 private:
  [[nodiscard]] std::optional<frames::Frame> next(std::chrono::steady_clock::time_point deadline);
  // When the compiled headers were last written to and how many bytes they are; {0, 0} for none.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> stamp() const;

  pid_t pid_ = -1;
  frames::Channel channel_;
  State state_ = State::preparing;
  std::string pch_{};
  std::pair<std::int64_t, std::int64_t> made_{};  // the stamp when it was ready
};

class CompileZygotes {
 public:
  // `folder` takes the compiled headers; empty: headers are compiled every time.
  CompileZygotes(std::filesystem::path executable, Toolkit toolkit, std::filesystem::path folder);

  struct Forked {
    confinement::Child child;
    std::string pch{};  // the file of compiled headers that fits, "" if there is none (yet)
  };
  // A confined compile runner out of the best zygote there is. Nothing: none can be had now, and
  // the request is as it was.
  [[nodiscard]] std::optional<Forked> spawn(const Warmth& wanted,
                                            const confinement::SpawnRequest& request);
  // Compiling took long because of these headers: have them ready the next time.
  void prepare(const Warmth& wanted);
  // Ends the zygote of these headers, if there is one, and removes what it had compiled.
  void forget(const Warmth& wanted);

 private:
  struct Held {
    std::unique_ptr<CompileZygote> zygote{};
    std::chrono::steady_clock::time_point used{};
  };
  [[nodiscard]] CompileZygote* base();
  [[nodiscard]] CompileZygote* warm(const Warmth& wanted);
  void remove_stale_headers() const;

  const std::filesystem::path executable_;
  const Toolkit toolkit_;
  const std::filesystem::path folder_;
  std::mutex mutex_{};
  std::uint64_t made_ = 0;
  std::unique_ptr<CompileZygote> base_{};
  int base_failures_ = 0;
  std::map<Warmth, Held> warm_{};
};

}  // namespace assay::node
