// Where the lock of a GPU lies, and what its taker learns of a holder that died.
#include "engine/node/device_turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "engine/node/devices.h"
#include "tests/catch.h"

using namespace assay;
using namespace std::chrono_literals;
using node::GpuLease;

namespace {

struct Device {
  const std::string uuid;
  node::JobQueue turns{1, 10};

  explicit Device(const char* name)
      : uuid("test-" + std::string(name) + "-" + std::to_string(::getpid())) {}
  ~Device() {
    for (const char* folder : {"/run/lock", "/tmp"}) {
      ::unlink((std::string(folder) + "/assay-" + uuid + ".lock").c_str());
      ::unlink((std::string(folder) + "/assay-" + uuid + ".next.lock").c_str());
    }
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] GpuLease take() {
    auto lease = GpuLease::take(uuid, turns, "anna", {});
    REQUIRE(lease);
    return std::move(*lease);
  }
  // As an engine that is killed while a job of its has the device.
  void die_with_it() const {
    const pid_t child = ::fork();
    if (child == 0) {
      node::JobQueue theirs(1, 10);
      const auto lease = GpuLease::take(uuid, theirs, "bob", {});
      ::_exit(lease ? 0 : 1);
    }
    int status = 1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
  }
};

}  // namespace

TEST_CASE("locks lie where every user may make and open them, and none remove another's") {
  CHECK(node::is_for_all_users(S_IFDIR | 01777));
  CHECK_FALSE(node::is_for_all_users(S_IFDIR | 0755));   // /run/lock of some systems
  CHECK_FALSE(node::is_for_all_users(S_IFDIR | 0777));   // others' files could be removed
  CHECK_FALSE(node::is_for_all_users(S_IFDIR | 01775));  // for a group
  CHECK_FALSE(node::is_for_all_users(S_IFREG | 01777));
}

TEST_CASE("who follows a holder that died is told so, who follows one that gave it up is not") {
  Device device("dead");
  CHECK_FALSE(device.take().follows_dead());
  CHECK_FALSE(device.take().follows_dead());
  device.die_with_it();
  CHECK(device.take().follows_dead());
  CHECK_FALSE(device.take().follows_dead());
}

TEST_CASE(
    "a device that its holder doubts is doubted by the next, until one gives it up in peace") {
  Device device("doubt");
  device.take().doubt();
  {
    auto lease = device.take();
    CHECK(lease.follows_dead());
    lease.doubt();
  }
  CHECK(device.take().follows_dead());
  CHECK_FALSE(device.take().follows_dead());
}

TEST_CASE("servers take turns on a device, however many jobs of one of them want it") {
  Device device("fair");
  node::JobQueue theirs(1, 10);
  std::atomic<int> turns{0};
  std::vector<std::jthread> busy;
  for (int i = 0; i < 4; ++i) {
    busy.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const auto lease = GpuLease::take(device.uuid, theirs, "bob", stop);
        turns += lease ? 1 : 0;
        std::this_thread::sleep_for(4ms);
      }
    });
  }
  std::vector<int> waited_for;
  while (waited_for.size() < 15) {
    const int seen = turns;
    while (turns == seen) std::this_thread::sleep_for(1ms);  // they have it
    const int before = turns;
    const auto lease = device.take();
    waited_for.push_back(turns - before);
  }
  std::nth_element(waited_for.begin(), waited_for.begin() + 7, waited_for.end());
  CHECK(waited_for[7] <= 2);  // that of who had it, and of who was next before
}

TEST_CASE("who is next and takes nothing keeps nobody from a device that is free") {
  Device device("stuck");
  static_cast<void>(device.take());
  const posix::Descriptor sleeper(
      ::open(GpuLease::next_path(device.uuid).c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(sleeper.get(), LOCK_EX | LOCK_NB) == 0);
  CHECK_FALSE(device.take().follows_dead());
}

TEST_CASE("a job waits for another server's turn, but for none that is overdue") {
  Device device("held");
  const auto theirs = device.take();
  const node::Runners runners{
      ASSAY_BINARY_FOLDER "/fake_gpu_runner", {.level = confinement::Level::L1}, {}};
  node::GpuPool pool(runners, {.uuid = device.uuid});
  std::optional<GpuLease> lease;

  const auto waits = [&] {
    std::stop_source patience;
    std::jthread loses_it([&] {
      std::this_thread::sleep_for(1500ms);
      patience.request_stop();
    });
    const auto ended = node::take_turn(lease, pool, "anna", 5s, patience.get_token());
    return ended && ended->verdict == job::Verdict::cancelled;
  };
  CHECK(waits());

  const auto mark = [&](const std::string& text) {
    std::ofstream(GpuLease::lock_path(device.uuid), std::ios::trunc) << text;
  };
  const auto until = std::chrono::steady_clock::now() - 1min;
  // Of an older server, or written to a full disk: nobody knows.
  mark("h");
  CHECK(waits());
  mark(std::to_string(std::chrono::nanoseconds(until.time_since_epoch()).count()));
  const auto refused = node::take_turn(lease, pool, "anna", 5s, {});
  REQUIRE(refused);
  CHECK_FALSE(lease);
  CHECK(refused->verdict == job::Verdict::unsupported);
  CHECK(refused->summary.find("fuser " + GpuLease::lock_path(device.uuid)) != std::string::npos);
}

TEST_CASE("a device is proved after a dead holder alone, and stays in doubt if it is not right") {
  Device device("probe");
  const node::Runners runners{
      ASSAY_BINARY_FOLDER "/fake_gpu_runner", {.level = confinement::Level::L1}, {}};
  // Its runners say nothing sensible of a kernel: a device that does not work.
  node::GpuPool pool(runners, {.uuid = device.uuid});
  {
    auto lease = device.take();
    CHECK_FALSE(node::probe_after_dead(lease, pool, {}));
  }
  device.die_with_it();
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto lease = device.take();
    const auto ended = node::probe_after_dead(lease, pool, {});
    REQUIRE(ended);
    CHECK(ended->verdict == job::Verdict::engine_fault);
    CHECK(node::speaks_against_device({.verdict = ended->verdict}));
    CHECK(ended->summary.find("gpu:0") != std::string::npos);
  }
}
