#include "engine/journal/journal.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace assay::journal {
namespace {

using job::StageStatus;
using job::State;
using job::Verdict;
using nlohmann::json;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST_CASE("a job is read back as it was written, also by the next server") {
  const Folder folder;
  const auto record = new_job();
  const std::vector<job::ArtifactLink> links{
      {.name = "ptx", .media_type = "text/plain", .bytes = 12, .id = std::string(64, 'a')},
      {.name = "log", .media_type = "text/plain", .bytes = 3, .id = std::string(64, 'b')}};
  const auto check = [&](const Journal& journal) {
    const auto found = journal.find(record.id, "alice");
    REQUIRE(found);
    CHECK(found->request == record.request);
    CHECK(found->state == State::completed);
    CHECK(found->verdict == Verdict::wrong_output);
    CHECK(found->conclusion == json{{"summary", "Wrong."}});
    REQUIRE(found->stages.size() == 2);
    CHECK(found->stages[0].name == "received");
    CHECK(found->stages[1].name == "compiled");
    CHECK(found->stages[1].status == StageStatus::failed);
    CHECK(found->stages[1].elapsed_ms == 1.5);
    CHECK(found->stages[1].started_ns > 0);
    CHECK(found->stages[1].body == json{{"registers", 32}});
    REQUIRE(found->artifacts.size() == 2);
    CHECK(found->artifacts[0].name == "ptx");
    CHECK(found->artifacts[0].bytes == 12);
    CHECK(found->artifacts[1].id == links[1].id);
    CHECK(found->artifacts[1].seq == 4);
    CHECK(journal.references(links[0].id));
    CHECK_FALSE(journal.references(std::string(64, 'c')));
  };
  {
    Journal journal(folder.path() / "state", options());
    journal.submit(record);
    CHECK(journal.find(record.id, "alice")->state == State::submitted);
    journal.append(record.id, 0, {.name = "received"});
    CHECK(journal.find(record.id, "alice")->state == State::compiling);
    journal.append(record.id, 4,
                   {.name = "compiled",
                    .status = StageStatus::failed,
                    .elapsed_ms = 1.5,
                    .body = {{"registers", 32}}},
                   links);
    CHECK(journal.find(record.id, "alice")->state == State::compiling);
    CHECK(journal.conclude(record.id, Verdict::wrong_output, State::completed,
                           {{"summary", "Wrong."}}));
    check(journal);
  }
  const Journal next(folder.path() / "state", options());
  check(next);
}

TEST_CASE("a job whose validation failed is told as validating until it is concluded") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  for (const char* stage : {"received", "compiled", "prepared"}) {
    journal.append(record.id, journal.find(record.id, "alice")->stages.size(), {.name = stage});
  }
  journal.append(record.id, 3, {.name = "validated", .status = StageStatus::failed});
  CHECK(journal.find(record.id, "alice")->state == State::validating);
  journal.append(record.id, 4, {.name = "concluded"});
  CHECK(journal.find(record.id, "alice")->state == State::validating);
}

TEST_CASE("a job asked to go up to a stage is told in no state beyond") {
  const Folder folder;
  Journal journal(folder.path(), options());
  auto record = new_job();
  record.stages = {{.name = "received"}};
  journal.submit(record, "validated");
  std::uint64_t seq = 1;
  for (const char* stage : {"compiled", "prepared", "validated", "generalised", "concluded"}) {
    journal.append(record.id, seq++, {.name = stage});
    CHECK(journal.find(record.id, "alice")->state == State::validating);
  }
  CHECK_THROWS_AS(journal.submit(new_job(), "linked"), std::invalid_argument);
}

TEST_CASE("an append that is repeated is acknowledged again and changes nothing") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  const job::StageRecord stage{.name = "compiled", .body = {{"registers", 8}}};
  for (int i = 0; i < 3; ++i) journal.append(record.id, 7, stage);
  CHECK(journal.find(record.id, "alice")->stages.size() == 1);
}

TEST_CASE("the journal refuses what a job's kind does not declare and what comes out of turn") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  journal.append(record.id, 3, {.name = "compiled"});
  CHECK_THROWS_AS(journal.submit(record), std::invalid_argument);
  auto foreign = new_job();
  foreign.kind = "plan";
  CHECK_THROWS_AS(journal.submit(foreign), std::invalid_argument);
  CHECK_THROWS_AS(journal.append(record.id, 4, {.name = "linked"}), std::invalid_argument);
  CHECK_THROWS_AS(journal.append(record.id, 3, {.name = "timed"}), std::invalid_argument);
  CHECK_THROWS_AS(journal.append(record.id, 2, {.name = "prepared"}), std::invalid_argument);
  CHECK_THROWS_AS(journal.append(job::new_job_id(), 0, {.name = "received"}),
                  std::invalid_argument);
  CHECK_THROWS_AS(journal.conclude(record.id, Verdict::passed, State::profiling, {}),
                  std::invalid_argument);
  REQUIRE(journal.conclude(record.id, Verdict::passed, State::completed, json::object()));
  CHECK_THROWS_AS(journal.append(record.id, 5, {.name = "timed"}), std::invalid_argument);
  CHECK(journal.find(record.id, "alice")->stages.size() == 1);
}

TEST_CASE("a kind that does not declare a verdict cannot end with it") {
  const Folder folder;
  Options narrow = options();
  narrow.kinds = {{.name = "kernel",
                   .stages = {{.name = "received"}},
                   .verdicts = {Verdict::passed, Verdict::engine_fault}}};
  Journal journal(folder.path(), narrow);
  const auto record = new_job();
  journal.submit(record);
  CHECK_THROWS_AS(journal.conclude(record.id, Verdict::crashed, State::completed, {}),
                  std::invalid_argument);
  CHECK(journal.conclude(record.id, Verdict::passed, State::completed, json::object()));
}

TEST_CASE("the first of many conclusions wins") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  std::atomic<int> firsts{0};
  std::atomic<int> winner{-1};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        if (journal.conclude(record.id, Verdict::passed, State::completed, {{"by", i}})) {
          ++firsts;
          winner = i;
        }
      });
    }
  }
  CHECK(firsts == 1);
  CHECK(journal.find(record.id, "alice")->conclusion.at("by") == winner.load());
  CHECK_FALSE(journal.conclude(job::new_job_id(), Verdict::passed, State::completed, {}));
}

TEST_CASE("a job is its maker's alone") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job("alice");
  journal.submit(record);
  CHECK(journal.find(record.id, "alice"));
  for (const char* other : {"bob", "", "alice ", "Alice"}) {
    CHECK_FALSE(journal.find(record.id, other));
    CHECK_FALSE(journal.wait(record.id, other, 0, steady_clock::now() + 1h, {}));
    CHECK(journal.recent(other, 10).empty());
  }
}

TEST_CASE("recent jobs come newest first, as many as asked for") {
  const Folder folder;
  Journal journal(folder.path(), options());
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    const auto record = new_job();
    journal.submit(record);
    ids.push_back(record.id);
  }
  REQUIRE(journal.conclude(ids[4], Verdict::passed, State::completed, {{"summary", "Good."}}));
  const auto recent = journal.recent("alice", 3);
  REQUIRE(recent.size() == 3);
  CHECK(recent[0].id == ids[4]);
  CHECK(recent[0].conclusion.at("summary") == "Good.");
  CHECK(recent[2].id == ids[2]);
  const Counts counts = journal.counts();
  CHECK(counts.jobs == 5);
  CHECK(counts.by_state.at(State::submitted) == 4);
  CHECK(counts.by_verdict.at(Verdict::passed) == 1);
  CHECK(counts.bytes > 0);
}

TEST_CASE("bodies are bounded, but an end is never refused") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  const json large = {{"summary", "Short."}, {"log", std::string(kMaxBodyBytes, 'x')}};
  CHECK_THROWS_AS(journal.append(record.id, 0, {.name = "compiled", .body = large}),
                  std::invalid_argument);
  json deep = json::object();
  deep["in"] = json::parse(std::string(100'000, '[') + std::string(100'000, ']'));
  // Too deep even to be copied: the journal must not try.
  const job::StageRecord deep_stage{.name = "compiled", .body = std::move(deep)};
  CHECK_THROWS_AS(journal.append(record.id, 0, deep_stage), std::invalid_argument);
  REQUIRE(journal.conclude(record.id, Verdict::passed, State::completed, large));
  const auto found = journal.find(record.id, "alice");
  CHECK(found->verdict == Verdict::passed);
  CHECK(found->conclusion.at("summary") == "Short.");
  CHECK(found->conclusion.contains("truncated"));
}

TEST_CASE("text that is no UTF-8 does not stop a stage from being recorded") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  const std::string text = std::string("a\xff\xc0") + '\0' + "b";
  journal.append(record.id, 0, {.name = "compiled", .body = {{"output", text}}});
  const auto output =
      journal.find(record.id, "alice")->stages.at(0).body.at("output").get<std::string>();
  CHECK(output.front() == 'a');
  CHECK(output.back() == 'b');
}

TEST_CASE("a waiter is woken by the next stage, by the end, by stop and by its deadline") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  const auto far = steady_clock::now() + 1h;
  const auto late = journal.wait(record.id, "alice", 0, steady_clock::now() + 20ms, {});
  REQUIRE(late);
  CHECK(late->stages.empty());
  {
    const std::jthread writer([&] {
      std::this_thread::sleep_for(20ms);
      journal.append(record.id, 0, {.name = "received"});
    });
    CHECK(journal.wait(record.id, "alice", 0, far, {})->stages.size() == 1);
  }
  std::stop_source stop;
  {
    const std::jthread stopper([&] {
      std::this_thread::sleep_for(20ms);
      stop.request_stop();
    });
    CHECK(journal.wait(record.id, "alice", 1, far, stop.get_token())->stages.size() == 1);
  }
  const std::jthread writer([&] {
    std::this_thread::sleep_for(20ms);
    journal.append(record.id, 1, {.name = "compiled"});
    (void)journal.conclude(record.id, Verdict::passed, State::completed, json::object());
  });
  CHECK(journal.wait(record.id, "alice", SIZE_MAX, far, {})->verdict == Verdict::passed);
}

TEST_CASE("many threads submit, append, wait, read and sweep at once") {
  const Folder folder;
  Journal journal(folder.path(), options());
  constexpr int kThreads = 6;
  constexpr int kJobs = 8;
  {
    std::atomic<bool> done{false};
    std::jthread reader([&] {
      while (!done) {
        (void)journal.recent("alice", 10);
        (void)journal.counts();
      }
    });
    std::jthread sweeper([&] {
      while (!done) (void)journal.sweep();
    });
    {
      std::vector<std::jthread> writers;
      for (int t = 0; t < kThreads; ++t) {
        writers.emplace_back([&] {
          for (int j = 0; j < kJobs; ++j) {
            const auto record = new_job();
            journal.submit(record);
            const std::jthread waiter([&journal, id = record.id] {
              (void)journal.wait(id, "alice", SIZE_MAX, steady_clock::now() + 1h, {});
            });
            journal.append(record.id, 0, {.name = "received"});
            journal.append(record.id, 1, {.name = "compiled"});
            (void)journal.conclude(record.id, Verdict::passed, State::completed, json::object());
          }
        });
      }
    }
    done = true;
  }
  const Counts counts = journal.counts();
  CHECK(counts.by_verdict.at(Verdict::passed) == kThreads * kJobs);
  CHECK(query(folder.path(), "SELECT count(*) FROM stage") == std::to_string(kThreads * kJobs * 2));
}

TEST_CASE("a server that ends in good order leaves no job unfinished and no lock behind") {
  const Folder folder;
  const auto record = new_job();
  {
    Journal journal(folder.path(), options());
    journal.submit(record);
    journal.append(record.id, 0, {.name = "received"});
  }
  CHECK(std::filesystem::is_empty(folder.path() / "instances"));
  const Journal next(folder.path(), options());
  const auto found = next.find(record.id, "alice");
  CHECK(found->state == State::interrupted);
  CHECK(found->verdict == Verdict::engine_fault);
  CHECK(found->stages.size() == 1);
}

}  // namespace
}  // namespace assay::journal
