// The journal's files are damaged, replaced, newer than we are, or open to others.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;
using Why = JournalUnavailable::Why;

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
