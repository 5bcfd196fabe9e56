#include "engine/journal/artifacts.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <random>
#include <thread>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t kBound = 1U << 20;

fs::path file_of(const fs::path& folder, const std::string& id) {
  return folder / id.substr(0, 2) / id.substr(2);
}

std::size_t files_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != "lock") ++count;
  }
  return count;
}

// As if last used that long ago.
void age(const fs::path& file, std::chrono::seconds by) {
  const auto then = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() - by);
  const struct timespec times[2] = {{.tv_sec = then, .tv_nsec = 0}, {.tv_sec = then, .tv_nsec = 0}};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

std::string put_aged(ArtifactStore& store, const fs::path& folder, const std::string& bytes,
                     std::chrono::seconds by) {
  const std::string id = store.put(bytes);
  age(file_of(folder, id), by);
  return id;
}

TEST_CASE("an artifact is found under the SHA-256 of its bytes, whole and in parts") {
  const Folder folder;
  ArtifactStore store(folder.path() / "artifacts", kBound, {});
  const std::string id = store.put("abc");
  CHECK(id == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(store.get(id) == "abc");
  CHECK(store.get(id, 1, 1)->bytes == "b");
  CHECK(store.get(id, 1, 100)->bytes == "bc");
  CHECK(store.get(id, 3, 1)->bytes.empty());
  CHECK(store.get(id, ~std::uint64_t{0}, 5)->bytes.empty());
  CHECK(store.get(id, 0, 0)->total_bytes == 3);
  CHECK(store.get(store.put("")) == "");
  const ArtifactStore second(folder.path() / "artifacts", kBound, {});
  CHECK(second.get(id) == "abc");
}

TEST_CASE("the same bytes are stored once") {
  const Folder folder;
  ArtifactStore store(folder.path(), kBound, {});
  const std::string bytes(700'000, 'x');
  CHECK(store.put(bytes) == store.put(bytes));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("what is no id finds nothing, least of all a file elsewhere") {
  const Folder folder;
  std::ofstream(folder.path() / "secret") << "secret";
  ArtifactStore store(folder.path() / "artifacts", kBound, {});
  const std::string upper = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
  for (const std::string& id : {std::string(), std::string("../secret"), std::string(64, '.'),
                                std::string(64, 'a'), upper, std::string(63, 'a') + "/"}) {
    CHECK_FALSE(store.get(id));
  }
}

TEST_CASE("a damaged artifact is removed and told, never served") {
  const Folder parent;
  const fs::path folder = parent.path() / "artifacts";
  std::vector<std::string> told;
  ArtifactStore store(folder, kBound, [&](const std::string& line) { told.push_back(line); });
  const std::string id = store.put(std::string(10'000, 'x'));
  REQUIRE(store.get(id));
  const fs::path file = file_of(folder, id);
  SECTION("a byte changed after it was verified") {
    std::fstream(file, std::ios::in | std::ios::out).seekp(5'000).put('y');
  }
  SECTION("cut short") { fs::resize_file(file, 100); }
  SECTION("grown") { std::ofstream(file, std::ios::app) << "more"; }
  SECTION("a link to another file") {
    std::ofstream(folder / "other") << std::string(10'000, 'x');
    fs::remove(file);
    fs::create_symlink(folder / "other", file);
  }
  CHECK_FALSE(store.get(id, 0, 10));
  REQUIRE(told.size() == 1);
  CHECK(told[0].find(id) != std::string::npos);
  CHECK_FALSE(fs::exists(fs::symlink_status(file)));
  CHECK(store.put(std::string(10'000, 'x')) == id);
  CHECK(store.get(id)->size() == 10'000);
}

TEST_CASE("putting bytes again mends a damaged file") {
  const Folder folder;
  ArtifactStore store(folder.path(), kBound, {});
  const std::string id = store.put("abcdef");
  std::ofstream(file_of(folder.path(), id)) << "abcdeX";
  CHECK(store.put("abcdef") == id);
  CHECK(store.get(id) == "abcdef");
}

TEST_CASE("the least recently used goes first, what a job links stays") {
  const Folder folder;
  std::string kept;
  ArtifactStore store(folder.path(), kBound, {},
                      {.pinned = [&](const std::string& id) { return id == kept; }});
  kept = put_aged(store, folder.path(), std::string(300'000, 'a'), 4h);
  const auto oldest = put_aged(store, folder.path(), std::string(300'000, 'b'), 3h);
  const auto used = put_aged(store, folder.path(), std::string(300'000, 'c'), 3h);
  REQUIRE(store.get(used));
  const auto fourth = store.put(std::string(300'000, 'd'));
  CHECK_FALSE(store.get(oldest));
  CHECK(store.get(kept));
  CHECK(store.get(used));
  CHECK(store.get(fourth));
}

TEST_CASE("a store full of linked artifacts asks for room once, then refuses") {
  const Folder folder;
  bool pinned = true;
  bool gives = false;
  std::vector<std::uint64_t> asked;
  ArtifactStore store(folder.path(), kBound, {},
                      {.pinned = [&](const std::string&) { return pinned; },
                       .make_room =
                           [&](std::uint64_t bytes) {
                             asked.push_back(bytes);
                             if (gives) pinned = false;
                           }});
  const auto first = put_aged(store, folder.path(), std::string(900'000, 'a'), 1h);
  try {
    (void)store.put(std::string(200'000, 'b'));
    FAIL("it went beyond its bound");
  } catch (const JournalUnavailable& error) {
    CHECK(error.why == JournalUnavailable::Why::disk_full);
    CHECK(error.retryable());
  }
  CHECK(asked == std::vector<std::uint64_t>{200'000});
  CHECK(store.get(first));
  age(file_of(folder.path(), first), 1h);
  gives = true;
  CHECK(store.get(store.put(std::string(200'000, 'b'))));
  CHECK_FALSE(store.get(first));
  CHECK_THROWS_AS(store.put(std::string(kBound + 1, 'c')), JournalUnavailable);
}

TEST_CASE("what has just been put is not evicted before its link can be written") {
  const Folder folder;
  ArtifactStore store(folder.path(), kBound, {});
  const auto fresh = store.put(std::string(900'000, 'a'));
  CHECK_THROWS_AS(store.put(std::string(900'000, 'b')), JournalUnavailable);
  CHECK(store.get(fresh));
}

TEST_CASE(
    "a sweep brings a store below a bound that has shrunk, and removes what a killed writer left") {
  const Folder folder;
  {
    ArtifactStore store(folder.path(), kBound, {});
    for (char c = 'a'; c < 'j'; ++c)
      (void)put_aged(store, folder.path(), std::string(100'000, c), 1h);
  }
  const fs::path stale = folder.path() / "tmp" / "stale";
  const fs::path fresh = folder.path() / "tmp" / "fresh";
  for (const auto& file : {stale, fresh}) std::ofstream(file) << "half";
  age(stale, 1h);
  ArtifactStore small(folder.path(), 250'000, {});
  CHECK_FALSE(fs::exists(stale));
  CHECK(fs::exists(fresh));
  CHECK(small.sweep() == 700'000);
  CHECK(files_in(folder.path()) == 3);
}

TEST_CASE("links in the journal keep artifacts until retention lets their jobs go") {
  const Folder folder;
  Options limits = options();
  limits.keep_for = std::chrono::seconds(0);
  std::int64_t now_ns = 1'800'000'000'000'000'000;
  limits.now_ns = [&] { return now_ns; };
  Journal journal(folder.path(), limits);
  ArtifactStore store(folder.path() / "artifacts", 100, {},
                      {.pinned = [&](const std::string& id) { return journal.references(id); }});
  const auto record = new_job();
  journal.submit(record);
  const std::string id = store.put(std::string(80, 'a'));
  const std::vector<job::ArtifactLink> links{
      {.name = "ptx", .media_type = "text/plain", .bytes = 80, .id = id}};
  journal.append(record.id, 0, {.name = "compiled"}, links);
  REQUIRE(journal.conclude(record.id, job::Verdict::passed, job::State::completed,
                           nlohmann::json::object()));
  age(file_of(folder.path() / "artifacts", id), 1h);
  CHECK_THROWS_AS(store.put(std::string(80, 'b')), JournalUnavailable);
  now_ns += 1'000'000'000;
  CHECK(journal.sweep().removed == 1);
  CHECK(store.get(store.put(std::string(80, 'b'))));
  CHECK_FALSE(store.get(id));
}

TEST_CASE("threads of two stores on one folder put and read the same artifacts") {
  const Folder folder;
  ArtifactStore first(folder.path(), kBound, {});
  ArtifactStore second(folder.path(), kBound, {});
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      ArtifactStore& store = t % 2 == 0 ? first : second;
      for (int i = 0; i < 20; ++i) {
        const std::string bytes = "artifact " + std::to_string(i);
        if (store.get(store.put(bytes)) != bytes) ++wrong;
        if (i % 5 == 0) (void)store.sweep();
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
  CHECK(files_in(folder.path()) == 20);
}

TEST_CASE("child: a busy artifact writer", "[.]") {
  ArtifactStore store(child_folder() / "artifacts", 64U << 20, {});
  std::mt19937 random(std::random_device{}());
  for (;;) {
    std::string bytes(1 + random() % 50'000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    tell(store.put(bytes));
  }
}

TEST_CASE("whatever a killed writer had put is whole, and nothing else looks like an artifact") {
  const Folder folder;
  std::mt19937 random(Catch::rngSeed());
  std::vector<std::string> ids;
  for (int kill = 0; kill < 20; ++kill) {
    Process writer("child: a busy artifact writer", folder.path());
    ids.push_back(writer.line());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5'000));
    writer.kill();
    for (std::string id = writer.line(); !id.empty(); id = writer.line()) ids.push_back(id);
  }
  std::size_t damaged = 0;
  ArtifactStore store(folder.path() / "artifacts", 64U << 20,
                      [&](const std::string&) { ++damaged; });
  for (const auto& id : ids) CHECK(store.get(id));
  for (const auto& shelf : fs::directory_iterator(folder.path() / "artifacts")) {
    if (shelf.path().filename().string().size() != 2) continue;
    for (const auto& one : fs::directory_iterator(shelf.path())) {
      CHECK(store.get(shelf.path().filename().string() + one.path().filename().string()));
    }
  }
  CHECK(damaged == 0);
}

}  // namespace
}  // namespace assay::journal
