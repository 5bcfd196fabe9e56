// Which GPU a job is given: the loads by themselves, then devices with GPUs that nobody has, whose
// canaries are the test's own.
#include "engine/node/device_loads.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <ctime>
#include <map>
#include <thread>

#include "engine/node/devices.h"
#include "tests/catch.h"

using namespace assay;
using namespace std::chrono_literals;
using node::DeviceLoads;
using node::Devices;
using Candidate = DeviceLoads::Candidate;

namespace {

node::Gpus gpus_of(int count, const std::string& machine) {
  node::Gpus gpus;
  for (int i = 0; i < count; ++i) {
    gpus.list.push_back({.index = i,
                         .name = "A GPU",
                         .uuid = "test-" + machine + "-" + std::to_string(i),
                         .compute_major = 9});
  }
  return gpus;
}

// GPUs of a machine of the test's own; `broken` are those whose canary is wrong.
struct Machine {
  std::atomic<int> canaries = 0;
  std::array<std::atomic<bool>, 4> broken{};
  const std::string name;
  const node::Runners runners{ASSAY_BINARY_FOLDER "/no-such-runner", {}, {}};
  Devices devices;

  explicit Machine(int count, const std::string& preferred = "auto")
      : name(std::to_string(::getpid()) + "-" + std::to_string(made())),
        devices(runners, preferred, gpus_of(count, name), [this](node::GpuPool& pool) {
          return [this, index = pool.gpu().index](const std::stop_token&) {
            ++canaries;
            return std::string(broken.at(static_cast<std::size_t>(index)) ? "it lies" : "");
          };
        }) {}

  static int made() {
    static std::atomic<int> count = 0;
    return ++count;
  }
  [[nodiscard]] std::string uuid(int index) const {
    return "test-" + name + "-" + std::to_string(index);
  }
  std::variant<Devices::Chosen, node::Ended> choose(const std::string& wanted) {
    return devices.choose(wanted, Devices::Use::runs, "anna", {});
  }
  // The device it was given; a seat that is kept counts.
  std::string sit(const std::string& wanted, std::vector<Devices::Chosen>& sitting) {
    auto chosen = choose(wanted);
    if (const auto* ended = std::get_if<node::Ended>(&chosen)) return ended->summary;
    sitting.push_back(std::move(std::get<Devices::Chosen>(chosen)));
    return sitting.back().pool == nullptr ? "emulator" : sitting.back().pool->gpu().device();
  }
  nlohmann::json jobs(std::size_t index) { return devices.told().list.at(index).facts.at("jobs"); }
};

std::size_t best_of(DeviceLoads& loads, const std::vector<Candidate>& candidates) {
  return DeviceLoads::device_of(loads.join_best(candidates));
}

}  // namespace

TEST_CASE("a job is given the device with the fewest jobs, its client's among equals") {
  DeviceLoads loads(3);
  const std::vector<Candidate> alike(3);
  CHECK(best_of(loads, alike) == 0);
  CHECK(best_of(loads, {{}, {}, {.knows_client = true}}) == 2);
  CHECK(best_of(loads, {{.held_elsewhere = true}, {}, {}}) == 1);
  CHECK(best_of(loads, {{.may_serve = false}, {.may_serve = false}, {}}) == 2);
  const auto busy = loads.join(0);
  CHECK(best_of(loads, alike) == 1);
  // Waiting costs more than a new context.
  CHECK(best_of(loads, {{.knows_client = true}, {}, {}}) == 1);
  // That lease is its own job's.
  const auto also_busy = loads.join(1);
  const auto last_busy = loads.join(2);
  CHECK(best_of(loads, {{.held_elsewhere = true}, {}, {}}) == 0);
  CHECK_FALSE(loads.join_best(std::vector<Candidate>(3, {.may_serve = false})));
}

TEST_CASE("a seat that is given up is free, and served counts it for good") {
  DeviceLoads loads(2);
  {
    const auto seat = loads.join(1);
    CHECK(loads.count(1).running == 1);
  }
  CHECK(loads.count(1).running == 0);
  CHECK(loads.count(1).served == 1);
  CHECK(loads.count(0).served == 0);
}

TEST_CASE("jobs that come at once are spread evenly") {
  constexpr std::size_t kDevices = 3;
  constexpr std::size_t kJobs = 30;
  DeviceLoads loads(kDevices);
  std::array<DeviceLoads::Seat, kJobs> seats{};
  {
    std::vector<std::jthread> jobs;
    for (auto& seat : seats) {
      jobs.emplace_back([&] { seat = loads.join_best(std::vector<Candidate>(kDevices)); });
    }
  }
  for (std::size_t device = 0; device < kDevices; ++device) {
    CHECK(loads.count(device).running == kJobs / kDevices);
  }
}

TEST_CASE("jobs for any GPU use all of them, and one that was named gets that one") {
  Machine machine(2);
  std::vector<Devices::Chosen> sitting;
  CHECK(machine.sit("auto", sitting) == "gpu:0");
  CHECK(machine.sit("gpu", sitting) == "gpu:1");
  CHECK(machine.sit("gpu:1", sitting) == "gpu:1");
  CHECK(machine.sit("auto", sitting) == "gpu:0");
  CHECK(machine.jobs(0) == nlohmann::json{{"running", 2}, {"served", 2}});
  CHECK(machine.sit("emulator", sitting) == "emulator");
  CHECK(machine.sit("gpu:2", sitting).find("There is no device gpu:2") == 0);
  sitting.clear();
  CHECK(machine.jobs(1) == nlohmann::json{{"running", 0}, {"served", 2}});
  CHECK(machine.canaries == 2);
}

TEST_CASE("what auto means is the server's to say") {
  Machine machine(2, "gpu:1");
  std::vector<Devices::Chosen> sitting;
  CHECK(machine.sit("auto", sitting) == "gpu:1");
  CHECK(machine.sit("auto", sitting) == "gpu:1");
  CHECK(machine.sit("gpu", sitting) == "gpu:0");
  Machine none(0);
  CHECK(none.sit("auto", sitting) == "emulator");
  CHECK(none.sit("gpu", sitting).find("There is no device gpu ") == 0);
}

TEST_CASE("a device in quarantine leaves the others at work, and comes back when it is right") {
  Machine machine(2);
  machine.broken[0] = true;
  std::vector<Devices::Chosen> sitting;
  for (int i = 0; i < 4; ++i) CHECK(machine.sit("auto", sitting) == "gpu:1");
  CHECK(machine.sit("gpu:0", sitting).find("gpu:0 is in quarantine: it lies") == 0);
  CHECK(machine.jobs(0).at("running") == 0);  // who was turned away sits nowhere
  CHECK(machine.devices.told().list[0].facts.at("health").at("condition") == "quarantined");
  CHECK(machine.canaries == 2);
  machine.broken[1] = true;
  machine.devices.note(*sitting.front().pool, {.verdict = job::Verdict::engine_fault});
  CHECK(machine.sit("auto", sitting).find("in quarantine") != std::string::npos);
}

TEST_CASE("compiling takes no seat and asks no device") {
  Machine machine(2);
  auto chosen = machine.devices.choose("auto", Devices::Use::compiles, "anna", {});
  CHECK(std::get<Devices::Chosen>(chosen).pool->gpu().device() == "gpu:0");
  CHECK(machine.jobs(0).at("served") == 0);
  CHECK(machine.canaries == 0);
}

TEST_CASE("a device that another server has leased is avoided while another is free") {
  Machine machine(2);
  node::JobQueue theirs(1, 10);
  auto lease = node::GpuLease::take(machine.uuid(0), theirs, "bob", {});
  REQUIRE(lease);
  CHECK(node::GpuLease::is_held(machine.uuid(0)));
  CHECK_FALSE(node::GpuLease::is_held(machine.uuid(1)));
  {
    std::vector<Devices::Chosen> sitting;
    CHECK(machine.sit("auto", sitting) == "gpu:1");
  }
  lease.reset();
  std::vector<Devices::Chosen> sitting;
  CHECK(machine.sit("auto", sitting) == "gpu:0");
}

TEST_CASE("how long nobody had a device is known to who takes it, whoever had it") {
  Machine machine(1);
  node::JobQueue turns(1, 10);
  auto first = node::GpuLease::take(machine.uuid(0), turns, "anna", {});
  REQUIRE(first);
  CHECK(first->was_free() < 1h);  // it was made just now
  first.reset();
  const timespec then{.tv_sec = ::time(nullptr) - 7'200, .tv_nsec = 0};
  const std::array<timespec, 2> times{then, then};
  const std::string name = "/assay-" + machine.uuid(0) + ".lock";
  const bool is_aged = ::utimensat(AT_FDCWD, ("/run/lock" + name).c_str(), times.data(), 0) == 0 ||
                       ::utimensat(AT_FDCWD, ("/tmp" + name).c_str(), times.data(), 0) == 0;
  REQUIRE(is_aged);
  auto second = node::GpuLease::take(machine.uuid(0), turns, "anna", {});
  REQUIRE(second);
  CHECK(second->was_free() > 1h);
  second.reset();
  node::JobQueue theirs(1, 10);
  CHECK(node::GpuLease::take(machine.uuid(0), theirs, "bob", {})->was_free() < 1h);
}

TEST_CASE("jobs of a device take turns in the order in which they asked") {
  Machine machine(1);
  node::JobQueue turns(1, 10);
  auto first = node::GpuLease::take(machine.uuid(0), turns, "anna", {});
  REQUIRE(first);
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::jthread> jobs;
  for (int job = 0; job < 4; ++job) {
    jobs.emplace_back([&, job](const std::stop_token& stop) {
      const auto lease = node::GpuLease::take(machine.uuid(0), turns, "anna", stop);
      const std::lock_guard lock(mutex);
      order.push_back(lease ? job : -job);
    });
    std::this_thread::sleep_for(20ms);  // so that they ask one after the other
  }
  jobs[2].request_stop();
  jobs[2].join();
  first.reset();
  jobs.clear();
  CHECK(order == std::vector<int>{-2, 0, 1, 3});
}
