// What waits for the disk and what does not: seen at the system call.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace {

std::atomic<int> waits{0};
std::atomic<int> refusals{0};  // that many to come fail
std::atomic<int> refused_with{EIO};

}  // namespace

// Before the C library's, for SQLite's file layer too.
extern "C" int fdatasync(int fd) {
  ++waits;
  if (refusals > 0) {
    --refusals;
    errno = refused_with;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace assay::journal {
namespace {

using job::State;
using job::Verdict;

// Of the database alone: what is there whatever becomes of the log beside it.
std::string in_database(const Folder& folder, const std::string& sql) {
  const Folder copy;
  std::filesystem::copy_file(folder.path() / "journal.db", copy.path() / "journal.db");
  return query(copy.path(), sql);
}

const job::StageRecord kStage{.name = "compiled", .body = {{"log", "x"}}};

// All so far is in the database, and the head of a new log is on the disk.
void begin_log(Journal& journal, const std::string& job_id) {
  journal.sweep();
  journal.append(job_id, 0, kStage);
  journal.settle();
}

TEST_CASE("a stage is recorded at once and waits for the disk when it is settled") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  waits = 0;
  journal.submit(record);
  journal.append(record.id, 0, kStage);
  CHECK(waits == 0);
  // Another process sees it already.
  CHECK(query(folder.path(), "SELECT count(*) FROM stage") == "1");
  journal.settle();
  CHECK(waits == 1);
  journal.settle();
  CHECK(waits == 1);
  journal.append(record.id, 1, {.name = "prepared"});
  journal.settle();
  CHECK(waits == 2);
}

TEST_CASE("the end of a job is on the disk when it is told, with all that came before it") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  journal.append(record.id, 0, kStage);
  waits = 0;
  CHECK(journal.conclude(record.id, Verdict::passed, State::completed, {{"summary", "."}}));
  CHECK(waits == 1);
}

TEST_CASE("the end of a job is seen before it is on the disk, also when that refuses it") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  waits = 0;
  refusals = 1;
  bool seen = false;
  CHECK_THROWS_AS(
      journal.conclude(record.id, Verdict::passed, State::completed, {{"summary", "."}}, {}, 0,
                       [&] {
                         seen = true;
                         CHECK(waits == 0);
                         CHECK(journal.find(record.id, "alice")->verdict == Verdict::passed);
                       }),
      JournalUnavailable);
  CHECK(seen);
  CHECK(waits == 1);
  CHECK(journal.find(record.id, "alice")->state == State::completed);
  journal.settle();
}

TEST_CASE("a disk that refuses is told by settle() until it takes what was recorded") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  journal.settle();
  journal.append(record.id, 0, kStage);
  // Ours once; then SQLite's own, twice.
  refusals = 3;
  CHECK_THROWS_AS(journal.settle(), JournalUnavailable);
  CHECK_THROWS_AS(journal.settle(), JournalUnavailable);
  CHECK(refusals == 0);
  journal.settle();
  CHECK(journal.find(record.id, "alice")->stages.size() == 1);
  CHECK(in_database(folder, "SELECT count(*) FROM stage") == "1");
}

TEST_CASE("an end that a full disk refused is acknowledged once its row was written anew") {
  // With the second, the descriptor of SQLite's is told as ours was.
  for (const int times : {1, 2}) {
    const Folder folder;
    Journal journal(folder.path(), options());
    const auto record = new_job();
    journal.submit(record);
    begin_log(journal, record.id);
    refused_with = ENOSPC;
    refusals = times;
    CHECK(journal.conclude(record.id, Verdict::passed, State::completed, {{"summary", "."}}));
    refused_with = EIO;
    CHECK(refusals == 0);
    CHECK(in_database(folder, "SELECT verdict FROM job") == "passed");
  }
}

TEST_CASE("an end that the disk refused is written anew with whatever is written next") {
  const Folder folder;
  Journal journal(folder.path(), options());
  const auto record = new_job();
  journal.submit(record);
  begin_log(journal, record.id);
  const auto conclude = [&] {
    return journal.conclude(record.id, Verdict::passed, State::completed, {{"summary", "."}});
  };
  const std::string ended = "SELECT count(*) FROM job WHERE verdict = 'passed'";
  refusals = 1;
  CHECK_THROWS_AS(conclude(), JournalUnavailable);
  CHECK(in_database(folder, ended) == "0");
  journal.submit(new_job());
  CHECK(in_database(folder, ended) == "1");
  CHECK_FALSE(conclude());
}

TEST_CASE("a journal on a network's file system settles every write by itself") {
  const Folder folder;
  Options options = journal::options();
  options.file_system = FileSystem::network;
  Journal journal(folder.path(), options);
  const auto record = new_job();
  waits = 0;
  journal.submit(record);
  CHECK(waits > 0);
  journal.settle();
}

}  // namespace
}  // namespace assay::journal
