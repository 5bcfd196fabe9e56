#include "plans/owned_containers.h"

#include "tests/catch.h"
#include "tests/plans/scratch.h"

using assay::plans::OwnedContainers;
using plans_test::host_runner;
using plans_test::Scratch;

namespace {

// A podman that knows one container of this job, one of a job that is gone and one of a job that
// runs, and notes what it is asked to remove.
std::string fake_podman(const Scratch& scratch) {
  const std::string folder = scratch.path().string();
  std::filesystem::create_directories(scratch.path() / "bin");
  std::filesystem::create_directories(scratch.path() / "mine");
  std::filesystem::create_directories(scratch.path() / "others");
  const auto program = scratch.write("bin/podman", "#!/bin/sh\ncd " + folder + R"(
case "$*" in
  *"label=assay.scratch="*"/mine --format"*) echo "c1 made-for-it /mine" | sed "s#/mine#$PWD/mine#" ;;
  "ps --all"*) echo "c1 made-for-it $PWD/mine"; echo "c2 i2 $PWD/gone"; echo "c3 i3 $PWD/others" ;;
  "image ls"*"/gone") echo i2 ;;
  "image ls"*"/mine") echo i1 ;;
  "rm "*|"image rm"*) echo "$*" >>removed ;;
esac
)");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  return folder;
}

// The engine is found on PATH.
class Path {
 public:
  explicit Path(const std::string& folder) : before_(std::getenv("PATH")) {
    ::setenv("PATH", (folder + "/bin:" + before_).c_str(), 1);
  }
  ~Path() { ::setenv("PATH", before_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  std::string before_;
};

}  // namespace

TEST_CASE("a job takes down its own containers and those of jobs that are gone, and no others") {
  const Scratch scratch;
  const Path path(fake_podman(scratch));
  const auto runner = host_runner();
  {
    const OwnedContainers owned(runner, "podman", scratch.path() / "mine");
    CHECK(Scratch::read(scratch.path() / "removed") ==
          "rm --force --volumes --time 0 c2\nimage rm --force i2\n");
  }
  CHECK(Scratch::read(scratch.path() / "removed") ==
        "rm --force --volumes --time 0 c2\nimage rm --force i2\n"
        "rm --force --volumes --time 0 c1\nimage rm --force i1\n");
}

TEST_CASE(
    "images that the engine's wrapper named go with their containers when that is asked for") {
  const Scratch scratch;
  const Path path(fake_podman(scratch));
  const auto runner = host_runner();
  { const OwnedContainers owned(runner, "podman", scratch.path() / "mine", true); }
  const std::string removed = Scratch::read(scratch.path() / "removed");
  CHECK(removed.find("image rm --force made-for-it\n") != std::string::npos);
  CHECK(removed.find("i3") == std::string::npos);
}

TEST_CASE("on the host and with an engine that is not there nothing is asked and nothing thrown") {
  const Scratch scratch;
  const auto runner = host_runner();
  { const OwnedContainers owned(runner, "host", scratch.path()); }
  { const OwnedContainers owned(runner, "docker", scratch.path()); }
  CHECK(OwnedContainers::label("/tmp/x") == "assay.scratch=/tmp/x");
}
