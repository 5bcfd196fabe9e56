// The storage refuses, lies or is not ours: full disks, damage, newer files, open permissions.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

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

// Why the call was refused; fails the test if it was not.
template <typename Call>
Why refused(Call&& call) {
  try {
    call();
  } catch (const JournalUnavailable& error) {
    UNSCOPED_INFO(error.what());
    return error.why;
  }
  FAIL("the storage took it");
  return Why::io_error;
}

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

job::StageRecord large_stage() {
  return {.name = "compiled", .body = {{"log", std::string(200'000, 'x')}}};
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

struct Told {
  std::vector<std::string> lines{};
  Options options() {
    Options told = journal::options();
    told.log = [this](const std::string& line) { lines.push_back(line); };
    return told;
  }
};

std::size_t set_aside(const fs::path& state) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(state)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("journal.db.corrupt-") && !name.ends_with("-wal") &&
        !name.ends_with("-shm")) {
      ++count;
    }
  }
  return count;
}

void damage(const fs::path& file, std::streamoff from, std::size_t bytes) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(from);
  stream << std::string(bytes, '\x5a');
  REQUIRE(stream.good());
}

fs::path journal_with_jobs(const fs::path& state) {
  Journal journal(state, options());
  for (int i = 0; i < 20; ++i) {
    const auto record = new_job();
    journal.submit(record);
    journal.append(record.id, 0, {.name = "received"});
  }
  return state / "journal.db";
}

TEST_CASE("a damaged journal is set aside with a word in the log, and a new one begun") {
  const Folder folder;
  const fs::path file = journal_with_jobs(folder.path());
  SECTION("its header is garbage") { damage(file, 0, 100); }
  SECTION("pages in its middle are garbage") { damage(file, 4096, 12'000); }
  SECTION("it is cut short") { fs::resize_file(file, fs::file_size(file) / 2); }
  SECTION("it is text") { std::ofstream(file) << "not a database, but longer than a header is\n"; }
  SECTION("it is another program's database") {
    fs::remove(file);
    (void)query(folder.path(), "CREATE TABLE bookmarks(url TEXT)");
  }
  Told told;
  Journal journal(folder.path(), told.options());
  REQUIRE(told.lines.size() == 1);
  CHECK(told.lines[0].find(".corrupt-") != std::string::npos);
  CHECK(set_aside(folder.path()) == 1);
  const auto record = new_job();
  journal.submit(record);
  CHECK(journal.find(record.id, "alice"));
  CHECK(journal.counts().jobs == 1);
}

TEST_CASE("an empty file is a new journal, not a damaged one") {
  const Folder folder;
  std::ofstream(folder.path() / "journal.db").close();
  Told told;
  Journal journal(folder.path(), told.options());
  journal.submit(new_job());
  CHECK(set_aside(folder.path()) == 0);
}

TEST_CASE("damage that a running server meets is looked into at the next start") {
  const Folder folder;
  std::vector<std::string> ids;
  {
    Journal journal(folder.path(), options());
    for (int i = 0; i < 40; ++i) {
      const auto record = new_job();
      journal.submit(record);
      journal.append(record.id, 0, large_stage());
      ids.push_back(record.id);
    }
  }
  const fs::path file = folder.path() / "journal.db";
  damage(file, 3U << 20, 2U << 20);
  {
    // Too large to be checked at every start.
    const Journal journal(folder.path(), options());
    CHECK(set_aside(folder.path()) == 0);
    CHECK(refused([&] {
            for (const auto& id : ids) (void)journal.find(id, "alice");
          }) == Why::damaged);
  }
  Told told;
  Journal journal(folder.path(), told.options());
  CHECK(set_aside(folder.path()) == 1);
  CHECK(told.lines.size() == 1);
  journal.submit(new_job());
}

TEST_CASE("a damaged journal that a living server uses is left in its place") {
  const Folder folder;
  const fs::path file = journal_with_jobs(folder.path());
  Process other("child: a server with one job", folder.path());
  REQUIRE(other.line().size() == 36);
  // The first page is safe in the other server's write-ahead log.
  damage(file, 4096, fs::file_size(file) - 4096);
  CHECK(refused([&] { const Journal journal(folder.path(), options()); }) == Why::damaged);
  CHECK(set_aside(folder.path()) == 0);
  other.kill();
  const Journal journal(folder.path(), options());
  CHECK(set_aside(folder.path()) == 1);
}

TEST_CASE("a journal of a newer version is refused and left as it is") {
  const Folder folder;
  (void)journal_with_jobs(folder.path());
  (void)query(folder.path(), "INSERT INTO migration VALUES(99, 0, '9.0')");
  CHECK_THROWS_WITH(Journal(folder.path(), options()), Catch::Contains("newer assay"));
  CHECK(set_aside(folder.path()) == 0);
  CHECK(query(folder.path(), "SELECT count(*) FROM job") == "20");
}

TEST_CASE("a journal that is removed while in use is noticed before anything is acknowledged") {
  const Folder folder;
  Journal journal(folder.path() / "state", options());
  journal.submit(new_job());
  SECTION("the whole directory") { fs::remove_all(folder.path() / "state"); }
  SECTION("replaced by another file") {
    fs::rename(folder.path() / "state/journal.db", folder.path() / "state/moved");
    std::ofstream(folder.path() / "state/journal.db").close();
  }
  CHECK(refused([&] { journal.submit(new_job()); }) == Why::damaged);
}

TEST_CASE("the state directory is made private, and closed if it was open") {
  const Folder folder;
  const fs::path state = folder.path() / "a" / "state";
  { const Journal journal(state, options()); }
  const auto mode = [&] { return fs::status(state).permissions(); };
  CHECK(mode() == fs::perms::owner_all);
  fs::permissions(state, fs::perms::all);
  Told told;
  const Journal journal(state, told.options());
  CHECK(mode() == fs::perms::owner_all);
  REQUIRE(told.lines.size() == 1);
  CHECK(told.lines[0].find("open to others") != std::string::npos);
}

TEST_CASE("another user's directory that is open to others is refused") {
  const Folder folder;
  const fs::path state = folder.path() / "state";
  fs::create_directory(state);
  fs::permissions(state, fs::perms::all);
  if (::chown(state.c_str(), ::geteuid() + 1, static_cast<gid_t>(-1)) != 0) {
    WARN("skipped: this user cannot give a directory away");
    return;
  }
  CHECK_THROWS_WITH(Journal(state, options()), Catch::Contains("another user"));
}

TEST_CASE("on a network file system there is no write-ahead log") {
  const Folder folder;
  Options network = options();
  network.file_system = FileSystem::network;
  const auto record = new_job();
  {
    Journal journal(folder.path(), network);
    journal.submit(record);
    journal.append(record.id, 0, {.name = "received"});
    CHECK_FALSE(fs::exists(folder.path() / "journal.db-wal"));
    CHECK(query(folder.path(), "PRAGMA journal_mode") == "delete");
    Journal second(folder.path(), network);
    CHECK(second.find(record.id, "alice")->stages.size() == 1);
  }
  Journal local(folder.path(), options());
  CHECK(query(folder.path(), "PRAGMA journal_mode") == "wal");
}

}  // namespace
}  // namespace assay::journal
