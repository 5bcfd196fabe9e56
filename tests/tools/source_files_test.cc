#include "tools/source_files.h"

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/catch.h"
#include "tests/folder.h"

using namespace assay;

// The kernel cannot tell where ".." leads while anything is renamed or mounted: it says EAGAIN.
TEST_CASE("a path with dots is found whatever is renamed meanwhile") {
  const tests::Folder folder;
  std::filesystem::create_directories(folder.path() / "inner");
  std::filesystem::create_directories(folder.path() / "moved");
  std::ofstream(folder.path() / "k.cu") << "source";
  const tools::SourceFiles files({folder.path()}, {});
  std::atomic<bool> done{false};
  std::thread renamer([&] {
    while (!done) {
      std::filesystem::rename(folder.path() / "moved", folder.path() / "away");
      std::filesystem::rename(folder.path() / "away", folder.path() / "moved");
    }
  });
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto read = files.read("./inner/../inner/../k.cu");
    found += std::holds_alternative<std::string>(read) ? 1 : 0;
  }
  done = true;
  renamer.join();
  CHECK(found == 2000);
}
