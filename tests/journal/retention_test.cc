#include <filesystem>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace assay::journal {
namespace {

using job::State;
using job::Verdict;
using nlohmann::json;
using namespace std::chrono_literals;

// A journal whose clock is moved by hand.
struct Aging {
  explicit Aging(Options wanted) {
    wanted.now_ns = [this] { return now_ns; };
    journal.emplace(folder.path(), std::move(wanted));
  }
  std::string job(std::size_t body_bytes, bool finished = true,
                  std::span<const job::ArtifactLink> artifacts = {}) {
    const auto record = new_job();
    journal->submit(record);
    journal->append(record.id, 0,
                    {.name = "compiled", .body = {{"log", std::string(body_bytes, 'x')}}},
                    artifacts);
    if (finished) {
      REQUIRE(journal->conclude(record.id, Verdict::passed, State::completed, json::object()));
    }
    pass(1s);
    return record.id;
  }
  void pass(std::chrono::nanoseconds time) { now_ns += time.count(); }
  bool holds(const std::string& id) { return journal->find(id, "alice").has_value(); }

  Folder folder{};
  std::int64_t now_ns = 1'800'000'000'000'000'000;
  std::optional<Journal> journal{};
};

TEST_CASE("finished jobs go when they are too old, with their stages and links") {
  Options limits = options();
  limits.keep_for = 1h;
  Aging aging(limits);
  const std::vector<job::ArtifactLink> links{{.name = "ptx", .id = std::string(64, 'a')}};
  const auto old = aging.job(10, true, links);
  const auto unfinished = aging.job(10, false);
  aging.pass(30min);
  const auto young = aging.job(10);
  CHECK(aging.journal->sweep().removed == 0);
  aging.pass(31min);
  CHECK(aging.journal->references(links[0].id));
  CHECK(aging.journal->sweep().removed == 1);
  CHECK_FALSE(aging.holds(old));
  CHECK(aging.holds(unfinished));
  CHECK(aging.holds(young));
  CHECK_FALSE(aging.journal->references(links[0].id));
  CHECK(query(aging.folder.path(), "SELECT count(*) FROM stage WHERE job = '" + old + "'") == "0");
}

TEST_CASE("of too many jobs the oldest finished ones go") {
  Options limits = options();
  limits.keep_jobs = 100;
  Aging aging(limits);
  const auto unfinished = aging.job(10, false);
  std::vector<std::string> ids;
  for (int i = 0; i < 200; ++i) ids.push_back(aging.job(10));
  CHECK(aging.journal->sweep().removed == 101);
  CHECK(aging.holds(unfinished));
  CHECK_FALSE(aging.holds(ids[100]));
  CHECK(aging.holds(ids[101]));
  CHECK(aging.holds(ids[199]));
}

TEST_CASE("of too many bytes the oldest finished jobs go, artifacts counted") {
  Options limits = options();
  limits.keep_bytes = 1'000'000;
  Aging aging(limits);
  const std::vector<job::ArtifactLink> large{
      {.name = "sass", .bytes = 500'000, .id = std::string(64, 'b')}};
  const auto first = aging.job(300'000);
  const auto second = aging.job(300'000);
  const auto third = aging.job(100'000, true, large);
  CHECK(aging.journal->counts().bytes > 1'200'000);
  CHECK(aging.journal->sweep().removed == 1);
  CHECK_FALSE(aging.holds(first));
  CHECK(aging.holds(second));
  CHECK(aging.holds(third));
}

TEST_CASE("room for artifacts is made by the oldest jobs that link any") {
  Aging aging(options());
  std::vector<std::string> ids;
  for (const char digit : {'a', 'b', 'c'}) {
    const std::vector<job::ArtifactLink> links{
        {.name = "ptx", .bytes = 100, .id = std::string(64, digit)}};
    ids.push_back(aging.job(10, true, links));
  }
  const auto without = aging.job(10);
  CHECK(aging.journal->make_room(150) == 2);
  CHECK_FALSE(aging.holds(ids[0]));
  CHECK_FALSE(aging.holds(ids[1]));
  CHECK(aging.holds(ids[2]));
  CHECK(aging.holds(without));
  CHECK(aging.journal->make_room(1'000'000) == 1);
  CHECK(aging.holds(without));
}

TEST_CASE("what retention removes goes back to the file system") {
  Options limits = options();
  limits.keep_for = 1h;
  Aging aging(limits);
  for (int i = 0; i < 30; ++i) (void)aging.job(500'000);
  (void)aging.journal->sweep();
  const auto file = aging.folder.path() / "journal.db";
  const auto before = std::filesystem::file_size(file);
  CHECK(before > 15'000'000);
  aging.pass(2h);
  CHECK(aging.journal->sweep().removed == 30);
  CHECK(std::filesystem::file_size(file) < before / 4);
}

}  // namespace
}  // namespace assay::journal
