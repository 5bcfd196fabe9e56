// The folder that several servers share: one makes, whoever is killed leaves nothing that stays.
#include "engine/node/wrapper_store.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "tests/catch.h"
#include "tests/folder.h"

using namespace assay;
using namespace std::chrono_literals;
using node::WrapperStore;
using tests::Folder;

namespace fs = std::filesystem;

namespace {

// What is in it, without locks.
std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(".lock-")) found.insert(name);
  }
  return found;
}

void write(const fs::path& file, const std::string& text = "made") {
  std::ofstream(file, std::ios::binary) << text;
}

// REQUIRES that nobody else makes it for ever.
fs::path make(const WrapperStore& store, const std::string& key) {
  const auto begun = store.begin(key, {});
  REQUIRE(std::holds_alternative<WrapperStore::Making>(begun));
  const auto& making = std::get<WrapperStore::Making>(begun);
  write(making.aside() / "whole");
  return store.keep(making, key);
}

}  // namespace

TEST_CASE("an entry is found when it is whole, and not before") {
  const Folder folder;
  const WrapperStore store(folder.path() / "deep" / "er", "whole");
  CHECK(store.find("aa").empty());
  {
    const auto begun = store.begin("aa", {});
    write(std::get<WrapperStore::Making>(begun).aside() / "part");
    CHECK(store.find("aa").empty());
  }
  CHECK(fs::is_empty(folder.path() / "deep" / "er") == false);  // its lock
  CHECK(store.find("aa").empty());
  CHECK(make(store, "aa") == folder.path() / "deep" / "er" / "aa");
  CHECK(store.find("aa") == folder.path() / "deep" / "er" / "aa");
}

TEST_CASE("what was given up, and what was not whole, is gone") {
  const Folder folder;
  const WrapperStore store(folder.path(), "whole");
  { const auto begun = store.begin("aa", {}); }
  CHECK(names_in(folder.path()).empty());
  fs::create_directory(folder.path() / "aa");
  write(folder.path() / "aa" / "part");
  CHECK(!make(store, "aa").empty());
  CHECK(!fs::exists(folder.path() / "aa" / "part"));
}

TEST_CASE("of those that want the same one makes it and the others find it") {
  const Folder folder;
  std::atomic<int> made = 0;
  std::atomic<int> making_now = 0;
  std::atomic<bool> overlapped = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      const WrapperStore store(folder.path(), "whole");  // as another server has it
      const auto begun = store.begin("aa", {});
      if (!store.find("aa").empty()) return;
      if (++making_now > 1) overlapped = true;
      ++made;
      write(std::get<WrapperStore::Making>(begun).aside() / "whole");
      std::this_thread::sleep_for(20ms);
      --making_now;
      (void)store.keep(std::get<WrapperStore::Making>(begun), "aa");
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(made == 1);
  CHECK(!overlapped);
  CHECK(names_in(folder.path()) == std::set<std::string>{"aa"});
}

TEST_CASE("whoever waits for another can be stopped") {
  const Folder folder;
  const WrapperStore store(folder.path(), "whole");
  const auto held = store.begin("aa", {});
  std::stop_source stop;
  stop.request_stop();
  const auto begun = store.begin("aa", stop.get_token());
  REQUIRE(std::holds_alternative<std::string>(begun));
  CHECK(std::get<std::string>(begun) == "cancelled");
  CHECK(std::holds_alternative<WrapperStore::Making>(store.begin("bb", stop.get_token())));
}

TEST_CASE("a maker that was killed leaves its lock and, with the next one, its folder") {
  const Folder folder;
  const WrapperStore store(folder.path(), "whole");
  for (const std::string next : {"aa", "bb"}) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto begun = store.begin("aa", {});
      write(std::get<WrapperStore::Making>(begun).aside() / "part");
      write(folder.path() / ".ready");
      for (;;) ::pause();
    }
    while (!fs::exists(folder.path() / ".ready")) std::this_thread::sleep_for(1ms);
    CHECK(names_in(folder.path()).size() == 2);
    // It lives: nobody takes what it makes.
    { const auto other = store.begin("cc", {}); }
    CHECK(names_in(folder.path()).size() == 2);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    fs::remove(folder.path() / ".ready");
    CHECK(!make(store, next).empty());
    CHECK(names_in(folder.path()) == std::set<std::string>{next});
    fs::remove_all(folder.path() / next);
  }
}

TEST_CASE("entries that nobody uses any more go when there are too many, the oldest first") {
  const Folder folder;
  const WrapperStore store(folder.path(), "whole", {.entries = 3, .in_use = 60s});
  const auto now = fs::file_time_type::clock::now();
  for (int age = 1; age <= 5; ++age) {
    const fs::path entry = folder.path() / ("old" + std::to_string(age));
    fs::create_directory(entry);
    write(entry / "whole");
    fs::last_write_time(entry, now - age * 1h);
  }
  CHECK(!store.find("old5").empty());  // used again
  CHECK(!make(store, "new").empty());
  CHECK(names_in(folder.path()) == std::set<std::string>{"new", "old5", "old1"});

  const WrapperStore small(folder.path(), "whole", {.entries = 1, .in_use = 1h});
  CHECK(!make(small, "newer").empty());
  CHECK(names_in(folder.path()) == std::set<std::string>{"new", "newer", "old5"});
}

TEST_CASE("where nothing can be written there is a reason and no exception") {
  const Folder folder;
  write(folder.path() / "file");
  const auto begun = WrapperStore(folder.path() / "file" / "below", "whole").begin("aa", {});
  REQUIRE(std::holds_alternative<std::string>(begun));
  CHECK(!std::get<std::string>(begun).empty());
  CHECK(
      std::holds_alternative<std::string>(WrapperStore("/proc/nothing", "whole").begin("aa", {})));
}
