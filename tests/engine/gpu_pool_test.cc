// Who may be served by a runner that has served before. The processes are real, their device is
// not.
#include "engine/node/gpu_pool.h"

#include <thread>

#include "tests/catch.h"
#include "tests/engine/children.h"

using namespace assay;
using namespace std::chrono_literals;
using node::GpuPool;
using Side = GpuPool::Side;

namespace {

constexpr std::uint64_t kGigabyte = 1ULL << 30;

struct Bench {
  const node::Runners runners{ASSAY_BINARY_FOLDER "/fake_gpu_runner",
                              {.level = confinement::Level::L1},
                              node::Toolkit{.cupti = ASSAY_FAKE_CUPTI}};
  GpuPool pool;

  explicit Bench(std::uint64_t memory_bytes = 64 * kGigabyte,
                 std::chrono::seconds keep_warm = GpuPool::kKeptWarm)
      : pool(runners,
             {.uuid = "test-pool-" + std::to_string(::getpid()), .memory_bytes = memory_bytes},
             keep_warm) {}

  // A job of that client that ran to a clean end; which process served it.
  const void* serve(const std::string& client, Side side, bool& reused) {
    GpuPool::Runner runner = pool.take(client, side);
    reused = runner.reused;
    const void* which = runner.process.get();
    give_back(std::move(runner.process), client, side);
    return which;
  }
  void give_back(GpuPool::Process process, const std::string& client, Side side) {
    GpuPool::Used used{.discards = pool.discards(), .client = client};
    used.clean.push_back({.process = std::move(process), .side = side});
    pool.give_back(std::move(used));
  }
  // Whether the runner that is taken to count was told to make ready for it beforehand.
  bool takes_one_that_counts() { return is_ready_to_count(pool.take_counting()); }
  static bool is_ready_to_count(GpuPool::Process runner) {
    frames::Frame request;
    request.body = {{"type", "load"}};
    auto reply = runner->ask(std::move(request), std::chrono::steady_clock::now() + 10s, {});
    REQUIRE(std::holds_alternative<frames::Frame>(reply));
    const auto& body = std::get<frames::Frame>(reply).body;
    CHECK(body.at("type") == "load");
    return body.at("counts").get<bool>();
  }
};

template <typename Predicate>
bool becomes_true(Predicate&& predicate) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

}  // namespace

TEST_CASE("a runner serves its client again, on the side it was on, and nobody else") {
  Bench bench;
  bool reused = true;
  const void* first = bench.serve("anna", Side::judged, reused);
  CHECK_FALSE(reused);
  CHECK(bench.pool.knows("anna"));
  CHECK_FALSE(bench.pool.knows("bob"));
  CHECK_FALSE(bench.pool.knows(""));
  CHECK_FALSE(bench.pool.take("bob", Side::judged).reused);
  CHECK_FALSE(bench.pool.take("anna", Side::reference).reused);
  CHECK_FALSE(bench.pool.take("", Side::judged).reused);
  CHECK(bench.serve("anna", Side::judged, reused) == first);
  CHECK(reused);
  const GpuPool::Runner taken = bench.pool.take("anna", Side::judged);
  CHECK(taken.reused);
  CHECK_FALSE(bench.pool.take("anna", Side::judged).reused);  // it serves one job at a time
}

TEST_CASE("both sides of a comparison are kept, each for its side") {
  Bench bench;
  bool reused = false;
  const void* judged = bench.serve("anna", Side::judged, reused);
  const void* reference = bench.serve("anna", Side::reference, reused);
  CHECK(judged != reference);
  CHECK(bench.serve("anna", Side::reference, reused) == reference);
  CHECK(bench.serve("anna", Side::judged, reused) == judged);
}

TEST_CASE("a runner that cannot be emptied serves nobody") {
  Bench bench;
  GpuPool::Runner runner = bench.pool.take("anna", Side::judged);
  frames::Frame request;
  request.body = {{"type", "spoil"}};
  (void)runner.process->ask(std::move(request), std::chrono::steady_clock::now() + 10s, {});
  bench.give_back(std::move(runner.process), "anna", Side::judged);
  CHECK(becomes_true([&] { return !bench.pool.knows("anna"); }));
  CHECK_FALSE(bench.pool.take("anna", Side::judged).reused);
}

TEST_CASE("as many are kept as the device's memory has room for, the latest") {
  Bench bench(8 * kGigabyte);  // the least that is kept: four
  bool reused = false;
  for (const char* client : {"a", "b", "c", "d", "e", "f"}) {
    (void)bench.serve(client, Side::judged, reused);
  }
  CHECK(becomes_true([&] { return !bench.pool.knows("a") && !bench.pool.knows("b"); }));
  for (const char* client : {"c", "d", "e", "f"}) CHECK(bench.pool.knows(client));
}

TEST_CASE("what was kept on a device in doubt is given up") {
  Bench bench;
  bool reused = false;
  (void)bench.serve("anna", Side::judged, reused);
  (void)bench.serve("anna", Side::judged, reused);
  REQUIRE(reused);
  GpuPool::Runner kept = bench.pool.take("anna", Side::judged);
  bench.give_back(std::move(kept.process), "anna", Side::judged);
  (void)bench.pool.take_referee();  // comes after what was given back is emptied
  bench.pool.discard();
  CHECK_FALSE(bench.pool.knows("anna"));
  CHECK_FALSE(bench.pool.take("anna", Side::judged).reused);
}

TEST_CASE("what is being emptied while its device comes in doubt is given up, too") {
  Bench bench;
  GpuPool::Runner runner = bench.pool.take("anna", Side::judged);
  frames::Frame request;
  request.body = {{"type", "tarry"}};
  auto reply = runner.process->ask(std::move(request), std::chrono::steady_clock::now() + 10s, {});
  REQUIRE(std::holds_alternative<frames::Frame>(reply));
  bench.give_back(std::move(runner.process), "anna", Side::judged);
  std::this_thread::sleep_for(100ms);
  bench.pool.discard();
  std::this_thread::sleep_for(500ms);
  CHECK_FALSE(bench.pool.take("anna", Side::judged).reused);
}

TEST_CASE("what a job has while its device comes in doubt serves nobody behind it") {
  Bench bench;
  const unsigned before = bench.pool.discards();
  GpuPool::Runner runner = bench.pool.take("anna", Side::judged);
  GpuPool::Process unused = bench.pool.take("", Side::judged).process;
  frames::Frame mark;
  mark.body = {{"type", "ready_counters"}, {"groups", {{"any", {"metric"}}}}};
  unused->post(std::move(mark));
  GpuPool::Referee referee = bench.pool.take_referee();
  referee.kernels = nullptr;  // it is prepared, which no fresh one is
  bench.pool.discard();
  GpuPool::Used used{.discards = before, .referee = std::move(referee), .client = "anna"};
  used.clean.push_back({.process = std::move(runner.process), .side = Side::judged});
  used.untouched.push_back(std::move(unused));
  bench.pool.give_back(std::move(used));
  CHECK_FALSE(bench.pool.take("anna", Side::judged).reused);
  CHECK(bench.pool.take_referee().kernels != nullptr);
  bench.pool.failed();  // who comes next may have the oldest
  CHECK_FALSE(bench.is_ready_to_count(bench.pool.take("", Side::judged).process));
}

TEST_CASE("a referee that nobody has prepared is handed on as one that is to be") {
  Bench bench;
  auto referee = bench.pool.take_referee();
  REQUIRE(referee.kernels);
  const void* which = referee.process.get();
  GpuPool::Used used;
  SECTION("nobody asked it to") {
    used.referee = std::move(referee);
    bench.pool.give_back(std::move(used));
    const auto again = bench.pool.take_referee();
    CHECK(again.process.get() == which);
    CHECK(again.kernels);
  }
  SECTION("it was asked to, and nobody has heard its answer") {
    frames::Frame request;
    request.body = {{"type", "prepare"}};
    referee.process->post(std::move(request));
    used.referee = std::move(referee);
    bench.pool.give_back(std::move(used));
    const auto again = bench.pool.take_referee();
    CHECK(again.process.get() == which);
    CHECK_FALSE(again.kernels);
    const auto fresh = bench.pool.take_referee();
    REQUIRE(fresh.kernels);
    CHECK(fresh.kernels->cubin() == "compiled");
  }
}

TEST_CASE("who counted finds a runner that is ready to, and nobody else makes one") {
  Bench bench;
  const auto is_ready = [&] { return bench.takes_one_that_counts(); };
  bool reused = false;
  (void)bench.serve("anna", Side::judged, reused);
  CHECK_FALSE(is_ready());
  GpuPool::Used used{.counted = true};
  used.ended.push_back(bench.pool.take_counting());
  bench.pool.give_back(std::move(used));
  CHECK(becomes_true(is_ready));
}

TEST_CASE("who will count finds a runner that was told so when the job began") {
  Bench bench;
  CHECK_FALSE(bench.takes_one_that_counts());
  bench.pool.will_count();
  CHECK(becomes_true([&] { return bench.takes_one_that_counts(); }));
}

TEST_CASE("for as long as it is told a pool keeps a rest, then no process at all") {
  const std::size_t before = children();
  Bench bench(64 * kGigabyte, 3s);
  bool reused = false;
  (void)bench.serve("anna", Side::judged, reused);
  REQUIRE(becomes_true([&] { return children() > before; }));
  CHECK(becomes_true([&] { return children() == before; }));
  CHECK_FALSE(bench.pool.knows("anna"));
  (void)bench.serve("anna", Side::judged, reused);  // and begins anew
  CHECK_FALSE(reused);
}
