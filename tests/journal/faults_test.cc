// Every write of a session fails once: the n-th, for every n, at the system call itself.
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace assay::journal {
namespace {

using job::State;
using job::Verdict;

// What SQLite's own file layer asks before it writes; tests here run one thread.
struct Fault {
  int countdown = 0;  // 0: none
  int error = 0;
  int writes = 0;
};
Fault fault;

ssize_t failing_pwrite(int fd, const void* bytes, std::size_t count, off_t offset) {
  ++fault.writes;
  if (fault.countdown > 0 && --fault.countdown == 0) {
    errno = fault.error;
    return -1;
  }
  return ::pwrite(fd, bytes, count, offset);
}

// Puts failing_pwrite between SQLite and the kernel while it lives.
class Between {
 public:
  Between() : vfs_(::sqlite3_vfs_find(nullptr)) {
    for (const char* name : kCalls) {
      if (vfs_->xGetSystemCall(vfs_, name) == nullptr) continue;
      vfs_->xSetSystemCall(vfs_, name, reinterpret_cast<sqlite3_syscall_ptr>(failing_pwrite));
    }
  }
  ~Between() {
    for (const char* name : kCalls) vfs_->xSetSystemCall(vfs_, name, nullptr);
    fault = {};
  }
  Between(const Between&) = delete;
  Between& operator=(const Between&) = delete;

 private:
  static constexpr std::array<const char*, 2> kCalls{"pwrite", "pwrite64"};
  sqlite3_vfs* vfs_;
};

struct Session {
  std::string job_id{};
  bool submitted = false;
  std::size_t stages = 0;
  bool concluded = false;
  bool refused = false;
};

// What was acknowledged before the first refusal; after it, as an engine would, the end.
Session run(const std::filesystem::path& state_dir) {
  Session session;
  try {
    Journal journal(state_dir, options());
    const auto record = new_job();
    session.job_id = record.id;
    try {
      journal.submit(record);
      session.submitted = true;
      for (std::uint64_t seq = 0; seq < 3; ++seq) {
        journal.append(record.id, seq,
                       {.name = "compiled", .body = {{"log", std::string(9'000, 'x')}}});
        ++session.stages;
      }
    } catch (const JournalUnavailable&) {
      session.refused = true;
    }
    if (session.submitted) {
      session.concluded =
          journal.conclude(record.id, Verdict::passed, State::completed, {{"summary", "."}});
    }
  } catch (const JournalUnavailable&) {
    session.refused = true;
  }
  return session;
}

void check(const std::filesystem::path& state_dir, const Session& session) {
  const Journal journal(state_dir, options());
  CHECK(query(state_dir, "PRAGMA integrity_check") == "ok");
  if (!session.submitted) return;
  const auto found = journal.find(session.job_id, "alice");
  REQUIRE(found);
  CHECK(found->stages.size() >= session.stages);
  // Acknowledged at once, or refused at first and written when the device took it again.
  CHECK(found->state == State::completed);
  CHECK(found->verdict == Verdict::passed);
}

void fail_every_write(const std::filesystem::path& folder, int error, const Options& first) {
  int total = 0;
  {
    const Between between;
    { const Journal journal(folder / "0", first); }
    (void)run(folder / "0");
    total = fault.writes;
  }
  REQUIRE(total > 20);
  int refused = 0;
  for (int n = 1; n <= total; ++n) {
    INFO("write " << n << " of " << total << " fails");
    const auto state_dir = folder / std::to_string(n);
    Session session;
    {
      const Between between;
      fault = {.countdown = n, .error = error};
      try {
        const Journal journal(state_dir, first);
      } catch (const JournalUnavailable&) {
        ++refused;
      }
      session = run(state_dir);
    }
    if (session.refused) ++refused;
    // The ballast makes room: the end is not even late.
    if (error == ENOSPC && session.submitted) CHECK(session.concluded);
    check(state_dir, session);
    std::error_code ignored;
    std::filesystem::remove_all(state_dir, ignored);
  }
  CHECK(refused > 5);
}

TEST_CASE(
    "whichever write the device refuses, what was acknowledged is there and the rest is sound") {
  const Folder folder;
  fail_every_write(folder.path(), EIO, options());
}

TEST_CASE("whichever write finds the disk full, the end of the job is recorded all the same") {
  const Folder folder;
  fail_every_write(folder.path(), ENOSPC, options());
}

}  // namespace
}  // namespace assay::journal
