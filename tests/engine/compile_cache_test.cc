#include "engine/node/compile_cache.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "tests/catch.h"
#include "tests/folder.h"

using namespace assay;
using namespace std::chrono_literals;
using node::CompileCache;
using tests::Folder;

namespace fs = std::filesystem;

namespace {

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t sum = 0;
  for (const auto& entry : fs::directory_iterator(folder)) sum += entry.file_size();
  return sum;
}

frames::Frame answer(int number, std::size_t blob_bytes = 10) {
  frames::Frame frame;
  frame.body = {{"type", "compiled"}, {"number", number}};
  frame.blob = std::string(blob_bytes, static_cast<char>('a' + number % 26));
  return frame;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void overwrite(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("what was kept is found, by this cache and by another on the same folder") {
  const Folder folder;
  CompileCache cache(folder.path(), 1 << 20);
  const auto key = CompileCache::key({"source", "options"});
  CHECK_FALSE(cache.find(key));
  cache.keep(key, answer(7, 1000));
  CompileCache other(folder.path(), 1 << 20);
  const auto found = other.find(key);
  REQUIRE(found);
  CHECK(found->body == answer(7).body);
  CHECK(found->blob == answer(7, 1000).blob);
  CHECK(other.counts().hits == 1);
  CHECK(cache.counts().misses == 1);
}

TEST_CASE("keys tell apart what concatenation would not") {
  CHECK(CompileCache::key({"ab", "c"}) != CompileCache::key({"a", "bc"}));
  CHECK(CompileCache::key({"a", ""}) != CompileCache::key({"a"}));
  CHECK(CompileCache::key({"1:a"}) != CompileCache::key({"a"}));
  CHECK(CompileCache::key({"a", "b"}) == CompileCache::key({"a", "b"}));
}

TEST_CASE("an entry that is damaged anywhere, or cut, counts as never stored and is replaced") {
  const Folder folder;
  CompileCache cache(folder.path(), 1 << 20);
  const auto key = CompileCache::key({"x"});
  cache.keep(key, answer(1, 40));
  const auto whole = contents(folder.path() / key);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    overwrite(folder.path() / key, damaged);
    CHECK_FALSE(cache.find(key));
    CHECK_FALSE(fs::exists(folder.path() / key));
  }
  for (std::size_t length = 0; length < whole.size(); ++length) {
    overwrite(folder.path() / key, whole.substr(0, length));
    CHECK_FALSE(cache.find(key));
  }
  CHECK(cache.counts().damaged > whole.size());
  cache.keep(key, answer(1, 40));
  CHECK(cache.find(key));
}

TEST_CASE("an entry that became a folder, a link or a pipe is repaired") {
  const Folder folder;
  CompileCache cache(folder.path(), 1 << 20);
  const auto key = CompileCache::key({"x"});
  const auto entry = folder.path() / key;
  const std::vector<std::function<void()>> mishaps{
      [&] { fs::create_directories(entry / "within" / "it"); },
      [&] { fs::create_symlink("/nowhere", entry); },
      [&] { fs::create_directory_symlink(folder.path(), entry); },
      [&] { REQUIRE(::mkfifo(entry.c_str(), 0600) == 0); }};
  for (const auto& happen : mishaps) {
    cache.keep(key, answer(1, 40));
    fs::remove(entry);
    happen();
    CHECK_FALSE(cache.find(key));
    cache.keep(key, answer(2, 40));
    const auto found = cache.find(key);
    REQUIRE(found);
    CHECK(found->body == answer(2).body);
  }
  CHECK(fs::exists(folder.path()));
}

TEST_CASE("the folder stays below its bound; what was used last stays") {
  const Folder folder;
  constexpr std::uint64_t kBound = 64 << 10;
  CompileCache cache(folder.path(), kBound);
  const auto precious = CompileCache::key({"precious"});
  cache.keep(precious, answer(0, 1000));
  for (int i = 1; i <= 300; ++i) {
    cache.keep(CompileCache::key({std::to_string(i)}), answer(i, 1000));
    CHECK(bytes_in(folder.path()) <= kBound);
    // Times of files are no finer than the kernel's clock tick.
    if (i % 10 == 0) std::this_thread::sleep_for(8ms);
    REQUIRE(cache.find(precious));
  }
  CHECK_FALSE(cache.find(CompileCache::key({"1"})));
  CHECK(cache.find(CompileCache::key({"300"})));
  cache.keep(CompileCache::key({"huge"}), answer(1, kBound));
  CHECK_FALSE(cache.find(CompileCache::key({"huge"})));
}

TEST_CASE("two processes that write and read the same entries never see half of one") {
  const Folder folder;
  const auto work = [&](int shift) {
    CompileCache cache(folder.path(), 256 << 10);
    for (int i = 0; i < 400; ++i) {
      const int number = (i * 7 + shift) % 40;
      const auto key = CompileCache::key({std::to_string(number)});
      const auto found = cache.find(key);
      if (found &&
          (found->body.at("number") != number || found->blob != answer(number, 5000).blob)) {
        return 1;
      }
      cache.keep(key, answer(number, 5000));
    }
    return cache.counts().damaged == 0 ? 0 : 2;
  };
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(work(3));
  CHECK(work(0) == 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a writer killed at any moment leaves no entry that is not whole, and no lock") {
  const Folder folder;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      CompileCache cache(folder.path(), 8 << 20);
      for (int i = 0;; ++i) cache.keep(CompileCache::key({std::to_string(i)}), answer(i, 100000));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  CompileCache cache(folder.path(), 8 << 20);
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    if (cache.find(CompileCache::key({std::to_string(i)}))) ++found;
  }
  CHECK(found > 0);
  CHECK(cache.counts().damaged == 0);
}

TEST_CASE("what killed writers left is removed once it is old, not before") {
  const Folder folder;
  const auto fresh = folder.path() / ".aside-1-1-fresh";
  const auto stale = folder.path() / ".aside-1-2-stale";
  overwrite(fresh, "x");
  overwrite(stale, "x");
  fs::last_write_time(stale, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const CompileCache cache(folder.path(), 1 << 20);
  CHECK(fs::exists(fresh));
  CHECK_FALSE(fs::exists(stale));
}

TEST_CASE("without a folder, or one that cannot be written, nothing is kept and nothing fails") {
  CompileCache none("", 1 << 20);
  none.keep(CompileCache::key({"x"}), answer(1));
  CHECK_FALSE(none.find(CompileCache::key({"x"})));
  CompileCache impossible("/proc/self/no-such-folder", 1 << 20);
  impossible.keep(CompileCache::key({"x"}), answer(1));
  CHECK_FALSE(impossible.find(CompileCache::key({"x"})));
}
