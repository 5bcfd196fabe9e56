// What waits for the disk and what does not: seen at the system call.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace {

std::atomic<int> waits{0};
std::atomic<int> refusals{0};  // that many to come fail

}  // namespace

// Before the C library's, for SQLite's file layer too.
extern "C" int fdatasync(int fd) {
  ++waits;
  if (refusals > 0) {
    --refusals;
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace assay::journal {
namespace {

using job::State;
using job::Verdict;

const job::StageRecord kStage{.name = "compiled", .body = {{"log", "x"}}};

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
  refusals = 1;
  CHECK_THROWS_AS(journal.settle(), JournalUnavailable);
  journal.settle();
  CHECK(journal.find(record.id, "alice")->stages.size() == 1);
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
