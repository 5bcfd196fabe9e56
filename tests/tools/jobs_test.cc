// When the end of a job is told: seen at the system call that waits for the disk.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/tools/world.h"

namespace {

using namespace std::chrono_literals;

// A disk that can be made to hang, though for no longer than a test may take.
class Disk {
 public:
  void hang() {
    const std::lock_guard lock(mutex_);
    hangs_ = true;
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    hangs_ = false;
    change_.notify_all();
  }
  void serve() {
    std::unique_lock lock(mutex_);
    change_.wait_for(lock, 20s, [this] { return !hangs_; });
    ++served_;
  }
  [[nodiscard]] int served() {
    const std::lock_guard lock(mutex_);
    return served_;
  }

 private:
  std::mutex mutex_{};
  std::condition_variable change_{};
  bool hangs_ = false;
  int served_ = 0;
};

Disk disk;

}  // namespace

// Before the C library's, for SQLite's file layer too.
extern "C" int fdatasync(int fd) {
  disk.serve();
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace assay::tools {
namespace {

// Ends its job when it is told to.
class GatedEngine final : public node::Engine {
 public:
  node::Conclusion run(const node::Order&,
                       const std::function<void(const node::StageEvent&)>& on_stage,
                       const std::stop_token&) override {
    open_.wait(false);
    on_stage({.record = {.name = "concluded"}});  // one write with the end
    return {.verdict = job::Verdict::passed, .body = {{"summary", "passed"}}};
  }
  nlohmann::json capabilities() override { return {{"devices", nlohmann::json::array()}}; }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::atomic<bool> open_{false};
};

struct Fixture : tests::World<GatedEngine> {
  std::string id = jobs.submit(job::kernel_kind(), {{"kernel", "k"}}, "alice");
  ~Fixture() {
    engine.open();
    disk.go_on();
  }
};

TEST_CASE("an answer is made while the end is on its way to the disk, and told once it is there") {
  Fixture world;
  disk.hang();
  const int before = disk.served();
  world.engine.open();
  int made = -1;
  int told = -1;
  int ends = 0;
  const auto record = world.jobs.wait(
      world.id, "alice", std::chrono::steady_clock::now() + 15s, {},
      [&](const job::JobRecord& seen) {
        if (job::is_final(seen.state)) told = disk.served();
      },
      [&](const job::JobRecord& ended) {
        CHECK(ended.state == job::State::completed);
        CHECK(ended.conclusion.at("summary") == "passed");
        made = disk.served();
        ++ends;
        disk.go_on();
      });
  CHECK(ends == 1);
  CHECK(made == before);
  CHECK(told > before);  // its last stage, as a client is told of it
  CHECK(disk.served() > before);
  REQUIRE(record);
  CHECK(record->state == job::State::completed);
}

TEST_CASE("nobody else is told an end before it is on the disk") {
  Fixture world;
  disk.hang();
  const int before = disk.served();
  std::atomic<int> told_at{-1};
  const auto handle = world.jobs.observe([&](const std::string&) { told_at = disk.served(); });
  world.engine.open();
  std::jthread disk_goes_on([] {
    std::this_thread::sleep_for(100ms);
    disk.go_on();
  });
  std::optional<job::JobRecord> record;
  while (!(record = world.jobs.find(world.id, "alice")) || !job::is_final(record->state)) {
    std::this_thread::sleep_for(1ms);
  }
  CHECK(disk.served() > before);
  const auto waited = world.jobs.wait(world.id, "alice", std::chrono::steady_clock::now(), {}, {});
  REQUIRE(waited);
  while (told_at < 0) std::this_thread::sleep_for(1ms);
  CHECK(told_at > before);
}

TEST_CASE("nor is it told in a list of jobs, which waits for the disk until it is left") {
  Fixture world;
  disk.hang();
  const int before = disk.served();
  world.engine.open();
  const auto told = [&](const std::stop_token& stop) {
    const auto records = world.jobs.recent("alice", 10, stop);
    REQUIRE(records.size() == 1);
    return job::is_final(records.front().state);
  };
  std::stop_source left;
  left.request_stop();
  const auto begin = std::chrono::steady_clock::now();
  while (!told(left.get_token())) std::this_thread::sleep_for(1ms);
  (void)world.jobs.find(world.id, "alice", left.get_token());
  CHECK(std::chrono::steady_clock::now() - begin < 900ms);
  CHECK(disk.served() == before);
  std::jthread disk_goes_on([] {
    std::this_thread::sleep_for(100ms);
    disk.go_on();
  });
  CHECK(told({}));
  CHECK(disk.served() > before);
}

TEST_CASE("a disk that hangs holds up nobody who waits for an end") {
  Fixture world;
  disk.hang();
  const int before = disk.served();
  world.engine.open();
  const auto record =
      world.jobs.wait(world.id, "alice", std::chrono::steady_clock::now() + 15s, {}, {});
  CHECK(disk.served() == before);
  REQUIRE(record);
  CHECK(record->state == job::State::completed);
}

}  // namespace
}  // namespace assay::tools
