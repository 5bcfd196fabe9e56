// Several servers on one state directory, and servers that are killed: with real processes.
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace assay::journal {
namespace {

using job::State;
using job::Verdict;
using nlohmann::json;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

#ifdef ASSAY_SANITIZED
constexpr int kKills = 40;
#else
constexpr int kKills = 200;
#endif

// One thread of a busy server: tells every acknowledgement the moment it has it.
void write_for_ever(Journal& journal) {
  for (;;) {
    const auto record = new_job();
    journal.submit(record);
    tell("submitted " + record.id);
    for (const char* stage : {"received", "compiled", "prepared", "validated"}) {
      static const std::map<std::string, int> seqs{
          {"received", 0}, {"compiled", 1}, {"prepared", 2}, {"validated", 3}};
      journal.append(record.id, static_cast<std::uint64_t>(seqs.at(stage)),
                     {.name = stage, .body = {{"log", std::string(2000, 'x')}}});
      tell("stage " + record.id);
    }
    (void)journal.conclude(record.id, Verdict::passed, State::completed, {{"of", record.id}});
    tell("concluded " + record.id);
  }
}

TEST_CASE("child: a busy server", "[.]") {
  Journal journal(child_folder(), options());
  std::vector<std::jthread> writers;
  for (int i = 0; i < 3; ++i) writers.emplace_back([&] { write_for_ever(journal); });
}

TEST_CASE("child: a server with one job", "[.]") {
  Journal journal(child_folder(), options());
  const auto record = new_job();
  journal.submit(record);
  journal.append(record.id, 0, {.name = "received"});
  tell(record.id);
  until_input_ends();
  journal.append(record.id, 1, {.name = "compiled"});
  std::this_thread::sleep_for(50ms);
  (void)journal.conclude(record.id, Verdict::passed, State::completed, json::object());
}

struct Acknowledged {
  std::size_t stages = 0;
  bool concluded = false;
};

void note(const std::string& line, std::map<std::string, Acknowledged>& jobs) {
  std::istringstream words(line);
  std::string what;
  std::string id;
  words >> what >> id;
  Acknowledged& job = jobs[id];
  if (what == "stage") ++job.stages;
  if (what == "concluded") job.concluded = true;
}

void check(const Journal& journal, const std::string& id, const Acknowledged& job) {
  const auto found = journal.find(id, "alice");
  REQUIRE(found);
  // At most one more than was told: the writer was killed between the disk and the pipe.
  if (found->stages.size() < job.stages || found->stages.size() > job.stages + 1) {
    FAIL(id << " has " << found->stages.size() << " stages, " << job.stages << " acknowledged");
  }
  if (!job.concluded && found->state == State::interrupted) {
    REQUIRE(found->verdict == Verdict::engine_fault);
    return;
  }
  REQUIRE(found->state == State::completed);
  REQUIRE(found->conclusion == json{{"of", id}});
}

TEST_CASE("whatever a killed server had acknowledged is there afterwards") {
  const Folder folder;
  std::mt19937 random(Catch::rngSeed());
  std::uniform_int_distribution<int> delay_us(0, 12'000);
  std::map<std::string, Acknowledged> all;
  std::size_t told = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    std::map<std::string, Acknowledged> jobs;
    Process server("child: a busy server", folder.path());
    std::string line = server.line();
    REQUIRE_FALSE(line.empty());
    note(line, jobs);
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us(random)));
    server.kill();
    for (line = server.line(); !line.empty(); line = server.line()) {
      note(line, jobs);
      ++told;
    }
    const Journal journal(folder.path(), options());
    for (const auto& [id, job] : jobs) check(journal, id, job);
    all.merge(jobs);
  }
  const Journal journal(folder.path(), options());
  for (const auto& [id, job] : all) check(journal, id, job);
  CHECK(query(folder.path(), "PRAGMA integrity_check") == "ok");
  CHECK(query(folder.path(), "PRAGMA foreign_key_check").empty());
  CHECK(query(folder.path(), "SELECT count(*) FROM job WHERE verdict IS NULL") == "0");
  WARN(kKills << " kills, " << told << " acknowledgements of " << all.size() << " jobs, none lost");
}

TEST_CASE("a living server's jobs are left alone, a dead one's are ended with their stages") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto own = new_job();
  journal.submit(own);
  Process other("child: a server with one job", folder.path());
  const std::string id = other.line();
  REQUIRE(id.size() == 36);
  CHECK(journal.recover() == 0);
  CHECK(journal.find(id, "alice")->state == State::compiling);
  // It is not ours to write to.
  CHECK_THROWS_AS(journal.append(id, 1, {.name = "compiled"}), std::invalid_argument);
  CHECK_THROWS_AS(journal.conclude(id, Verdict::passed, State::completed, {}),
                  std::invalid_argument);
  other.kill();
  CHECK(journal.recover() == 1);
  CHECK(journal.recover() == 0);
  const auto found = journal.find(id, "alice");
  CHECK(found->state == State::interrupted);
  CHECK(found->verdict == Verdict::engine_fault);
  CHECK(found->conclusion.contains("summary"));
  CHECK(found->stages.size() == 1);
  CHECK(journal.find(own.id, "alice")->state == State::submitted);
  const auto files = std::filesystem::directory_iterator(folder.path() / "instances");
  CHECK(std::distance(begin(files), end(files)) == 1);
}

TEST_CASE("a waiter sees what another server does to its job") {
  const Folder folder;
  const Journal journal(folder.path(), options());
  Process other("child: a server with one job", folder.path());
  const std::string id = other.line();
  int status = -1;
  std::jthread ending([&] {
    std::this_thread::sleep_for(50ms);
    status = other.finish();
  });
  const auto far = steady_clock::now() + 1min;
  CHECK(journal.wait(id, "alice", 1, far, {})->stages.size() == 2);
  CHECK(journal.wait(id, "alice", SIZE_MAX, far, {})->verdict == Verdict::passed);
  ending.join();
  CHECK(status == 0);
}

TEST_CASE("servers that start at the same moment agree on one journal") {
  const Folder folder;
  std::vector<std::unique_ptr<Process>> servers;
  for (int i = 0; i < 6; ++i) {
    servers.push_back(std::make_unique<Process>("child: a server with one job", folder.path()));
  }
  std::set<std::string> ids;
  for (auto& server : servers) ids.insert(server->line());
  CHECK(ids.size() == 6);
  for (auto& server : servers) CHECK(server->finish() == 0);
  const Journal journal(folder.path(), options());
  CHECK(journal.counts().by_verdict.at(Verdict::passed) == 6);
  CHECK(query(folder.path(), "SELECT count(*) FROM migration") == "1");
}

}  // namespace
}  // namespace assay::journal
