// The disk refuses: it is full, read-only, or this process may write no more.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "engine/journal/artifacts.h"
#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;
using job::State;
using job::Verdict;
using nlohmann::json;
using Why = JournalUnavailable::Why;

constexpr int kNotPermitted = 77;

// A tmpfs of `size` on a folder of our own, seen by this process only.
fs::path small_disk(const char* size) {
  fs::path disk = child_folder() / "disk";
  fs::create_directory(disk);
  const int namespaces = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
  if (::unshare(namespaces) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
      ::mount("tmpfs", disk.c_str(), "tmpfs", 0, (std::string("size=") + size).c_str()) != 0) {
    tell("no private mount here: " + std::generic_category().message(errno));
    std::_Exit(kNotPermitted);
  }
  return disk;
}

// Takes all but `left_bytes` of the disk.
void fill(const fs::path& file, std::uint64_t left_bytes) {
  const auto free = fs::space(file.parent_path()).available;
  if (free <= left_bytes) return;
  const posix::Descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(::posix_fallocate(fd.get(), 0, static_cast<off_t>(free - left_bytes)) == 0);
}

// Takes what the large ones have left.
void submit_until_full(Journal& journal) {
  const Why why = refused([&] {
    for (int i = 0; i < 1000; ++i) journal.submit(new_job());
  });
  CHECK(why == Why::disk_full);
}

// Appends until the disk is full; returns how many were acknowledged.
std::size_t append_until_full(Journal& journal, const std::string& id) {
  std::size_t acknowledged = 0;
  const Why why = refused([&] {
    for (std::uint64_t seq = 0; seq < 1000; ++seq) {
      journal.append(id, seq, large_stage());
      ++acknowledged;
    }
  });
  CHECK(why == Why::disk_full);
  return acknowledged;
}

TEST_CASE("child: a full disk with a ballast", "[.]") {
  const fs::path disk = small_disk("32m");
  const fs::path state = disk / "state";
  Journal journal(state, options());
  REQUIRE(fs::file_size(state / "ballast") == 4U << 20);
  const auto record = new_job();
  journal.submit(record);
  fill(disk / "other", 2U << 20);
  const std::size_t acknowledged = append_until_full(journal, record.id);
  CHECK(acknowledged > 2);
  fill(disk / "more", 0);
  submit_until_full(journal);
  try {
    journal.require_writable();
    FAIL("there is room");
  } catch (const JournalUnavailable& full) {
    CHECK(full.why == Why::disk_full);
    CHECK(std::string(full.what()).find("not an error") == std::string::npos);
    CHECK(std::string(full.what()).find("full") != std::string::npos);
  }
  CHECK(journal.find(record.id, "alice")->stages.size() == acknowledged);

  CHECK(journal.conclude(record.id, Verdict::engine_fault, State::failed, {{"summary", "Full."}}));
  CHECK_FALSE(fs::exists(state / "ballast"));
  {
    const Journal second(state, options());
    CHECK(second.find(record.id, "alice")->conclusion.at("summary") == "Full.");
    CHECK(second.find(record.id, "alice")->stages.size() == acknowledged);
  }
  fs::remove(disk / "other");
  fs::remove(disk / "more");
  (void)journal.sweep();
  CHECK(fs::file_size(state / "ballast") == 4U << 20);
  journal.require_writable();
  CHECK(query(state, "SELECT count(*) FROM job WHERE kind = 'trial'") == "0");
  journal.submit(new_job());
  CHECK(query(state, "PRAGMA integrity_check") == "ok");
}

// A small change still finds room; a job does not.
TEST_CASE("child: a disk that is full from one moment to the next", "[.]") {
  const fs::path disk = small_disk("32m");
  Journal journal(disk / "state", options());
  for (int i = 0; i < 3; ++i) journal.submit(new_job());
  (void)journal.sweep();
  journal.submit(new_job());
  journal.require_writable();
  const auto log_bytes = fs::file_size(disk / "state" / "journal.db-wal");
  for (int i = 0; i < 100; ++i) journal.require_writable();
  // Asking again takes no more of the disk.
  CHECK(fs::file_size(disk / "state" / "journal.db-wal") == log_bytes);
  (void)journal.sweep();
  fill(disk / "other", 12U << 10);
  CHECK(query(disk / "state", "UPDATE migration SET product = product RETURNING 'fits'") == "fits");
  CHECK(refused([&] { journal.require_writable(); }) == Why::disk_full);
  submit_until_full(journal);
  CHECK(refused([&] { journal.require_writable(); }) == Why::disk_full);
  fs::remove(disk / "other");
  journal.require_writable();
  journal.submit(new_job());
}

TEST_CASE("child: a full disk without a ballast", "[.]") {
  const fs::path disk = small_disk("32m");
  const fs::path state = disk / "state";
  Options bare = options();
  bare.ballast_bytes = 0;
  Journal journal(state, bare);
  const auto record = new_job();
  journal.submit(record);
  fill(disk / "other", 1U << 20);
  const std::size_t acknowledged = append_until_full(journal, record.id);
  fill(disk / "more", 0);
  submit_until_full(journal);

  const json large = {{"summary", "Full."}, {"log", std::string(100'000, 'x')}};
  CHECK(refused([&] {
          (void)journal.conclude(record.id, Verdict::engine_fault, State::failed, large);
        }) == Why::disk_full);
  // Told by this server from now on, though not yet on the disk.
  CHECK(journal.find(record.id, "alice")->state == State::failed);
  CHECK(journal.recent("alice", 10'000).back().verdict == Verdict::engine_fault);
  CHECK(journal
            .wait(record.id, "alice", SIZE_MAX,
                  std::chrono::steady_clock::now() + std::chrono::hours(1), {})
            ->conclusion == large);
  CHECK(query(state, "SELECT state FROM job WHERE id = '" + record.id + "'") == "validating");

  fs::remove(disk / "more");
  fs::remove(disk / "other");
  journal.submit(new_job());
  CHECK(query(state, "SELECT state FROM job WHERE id = '" + record.id + "'") == "failed");
  CHECK(journal.find(record.id, "alice")->stages.size() == acknowledged);
  CHECK_FALSE(journal.conclude(record.id, Verdict::passed, State::completed, json::object()));
}

TEST_CASE("child: a full disk and artifacts", "[.]") {
  const fs::path disk = small_disk("8m");
  ArtifactStore store(disk / "artifacts", 1ULL << 30, {});
  const std::string small = store.put("small");
  store.require_writable();
  fill(disk / "other", 128U << 10);
  CHECK(refused([&] { store.require_writable(); }) == Why::disk_full);
  // What does not fit is not begun: all the room there was is there.
  const auto left = fs::space(disk).available;
  CHECK(refused([&] { (void)store.put(std::string(1U << 20, 'x')); }) == Why::disk_full);
  CHECK(fs::space(disk).available == left);
  CHECK(fs::is_empty(disk / "artifacts" / "tmp"));
  CHECK(store.get(small) == "small");
  CHECK(store.get(store.put("fits")) == "fits");

  fs::remove(disk / "other");
  store.require_writable();
  CHECK(store.get(store.put(std::string(1U << 20, 'x')))->size() == 1U << 20);

  ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit most { .rlim_cur = 64U << 10, .rlim_max = 64U << 10 };
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &most) == 0);
  CHECK(refused([&] { store.require_writable(); }) == Why::disk_full);
  CHECK(refused([&] { (void)store.put(std::string(128U << 10, 'y')); }) == Why::disk_full);
  CHECK(fs::is_empty(disk / "artifacts" / "tmp"));
}

TEST_CASE("child: a read-only disk", "[.]") {
  const fs::path disk = small_disk("32m");
  const fs::path state = disk / "state";
  const auto record = new_job();
  {
    Journal journal(state, options());
    journal.submit(record);
    REQUIRE(::mount(nullptr, disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == -1);
    REQUIRE(errno == EBUSY);  // the journal holds files open for writing
    CHECK(journal.conclude(record.id, Verdict::passed, State::completed, json::object()));
  }
  REQUIRE(::mount(nullptr, disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0);
  CHECK(refused([&] { const Journal journal(state, options()); }) == Why::read_only);
}

TEST_CASE("child: a limit on file sizes", "[.]") {
  ::signal(SIGXFSZ, SIG_IGN);  // as every server does
  const fs::path state = child_folder() / "state";
  Options bare = options();
  bare.ballast_bytes = 0;
  Journal journal(state, bare);
  const auto record = new_job();
  journal.submit(record);
  const struct rlimit before = [] {
    struct rlimit limit {};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    return limit;
  }();
  const struct rlimit small { .rlim_cur = 1U << 20, .rlim_max = before.rlim_max };
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::size_t acknowledged = append_until_full(journal, record.id);
  CHECK(acknowledged > 0);
  CHECK(journal.find(record.id, "alice")->stages.size() == acknowledged);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  journal.append(record.id, 2000, large_stage());
  CHECK(journal.find(record.id, "alice")->stages.size() == acknowledged + 1);
  CHECK(query(state, "PRAGMA integrity_check") == "ok");
}

void run_apart(const std::string& test_case) {
  const Folder folder;
  Process process(test_case, folder.path());
  const std::string reason = process.line();
  const int status = process.finish();
  if (status == kNotPermitted) {
    WARN("skipped: " << reason);
    return;
  }
  INFO("run by itself: \"" << test_case << "\"");
  CHECK(status == 0);
}

TEST_CASE("on a full disk everything acknowledged is readable and the ballast takes the ends") {
  run_apart("child: a full disk with a ballast");
}

TEST_CASE("a disk that takes no job is told by who asks, before a job is lost") {
  run_apart("child: a disk that is full from one moment to the next");
}

TEST_CASE("an end that no disk takes is told at once and written as soon as there is room") {
  run_apart("child: a full disk without a ballast");
}

TEST_CASE("a disk too full for an artifact is noticed before it is written") {
  run_apart("child: a full disk and artifacts");
}

TEST_CASE("a read-only disk is said to be one") { run_apart("child: a read-only disk"); }

TEST_CASE("a limit on file sizes is a full disk, not the end of the server") {
  run_apart("child: a limit on file sizes");
}

}  // namespace
}  // namespace assay::journal
