// What a child finds around it: files, folders, environment, memory, a compiler that works.
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/confinement/resident.h"
#include "tests/catch.h"
#include "tests/confinement/fixture.h"

namespace assay::confinement {
namespace {

using nlohmann::json;

// The answer of the well-behaved child, or what its End says instead.
json ask(std::vector<std::string> arguments, Confinement confinement) {
  auto line = posix::make_socket_pair();
  auto child = spawn({.executable = ASSAY_CONFINEMENT_CHILD,
                      .arguments = std::move(arguments),
                      .environment = {{"CUDA_CACHE_DISABLE", "1"}, {"LANG", "C"}},
                      .confinement = std::move(confinement),
                      .channel = std::move(line.theirs)});
  std::string answer;
  char room[4096];
  for (;;) {
    const auto length = ::read(line.ours.get(), room, sizeof room);
    if (length <= 0) break;
    answer.append(room, static_cast<std::size_t>(length));
  }
  const End end = child.reap(Clock::now() + 60s);
  if (answer.empty()) {
    return {{"failure", end.setup_failure}, {"signal", end.signal}, {"code", end.exit_code}};
  }
  return json::parse(answer);
}

bool contains(const json& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// A folder that only its owner may enter, as an engine makes it for one child.
class OwnFolder {
 public:
  explicit OwnFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("assay" + name)) {
    std::filesystem::create_directory(path_);
    ::chmod(path_.c_str(), 0700);
  }
  ~OwnFolder() { std::filesystem::remove_all(path_); }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a child's world is built from nothing") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    const json self = ask({"describe", "/tmp", "/usr", "/"}, {.layers = layers});
    INFO(self.dump(1));
    REQUIRE(self.contains("environment"));
    CHECK(self.at("arguments") == json({"/tmp", "/usr", "/"}));
    const auto& environment = self.at("environment");
    CHECK(contains(environment, "PATH=/usr/bin:/bin"));
    CHECK(contains(environment, "CUDA_CACHE_DISABLE=1"));
    CHECK(contains(environment, "LANG=C"));
    CHECK_FALSE(contains(environment, "LANG=C.UTF-8"));
    CHECK(self.at("session_leader") == true);
    CHECK(self.at("core") == 0);
    CHECK(self.at("files") == 256);
    CHECK(self.at("address_space") == std::uint64_t{RLIM_INFINITY});
    CHECK(self.at("thread") == true);
    CHECK(self.at("own_maps") == true);
    CHECK((self.at("uid") == ::getuid()) == !layers.separate_uid);
    CHECK(self.at("writable").at("/usr") == false);
    CHECK(self.at("writable").at("/") == false);
    CHECK(self.at("writable").at("/tmp") == has_namespaces(layers.level));
    if (!has_namespaces(layers.level)) continue;
    CHECK_FALSE(std::filesystem::exists("/tmp/written"));
  }
}

TEST_CASE("two children at once never share a uid of their own") {
  if (::geteuid() != 0) return;
  const Layers layers{.level = Level::L1u, .separate_uid = true};
  Running first("hang_loudly", {.layers = layers});
  Running second("hang_loudly", {.layers = layers});
  REQUIRE(first.first_line() == "hanging");
  REQUIRE(second.first_line() == "hanging");
  const auto owner = [](pid_t pid) {
    struct stat status {};
    ::stat(("/proc/" + std::to_string(pid)).c_str(), &status);
    return status.st_uid;
  };
  CHECK(owner(first.worker()) >= 20'000);
  CHECK(owner(first.worker()) != owner(second.worker()));
}

TEST_CASE("a folder made for a child is writable there and keeps what is written") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    const OwnFolder folder(unique_marker());
    const json self =
        ask({"describe", folder.path()}, {.layers = layers, .writable = {folder.path()}});
    INFO(self.dump(1));
    CHECK(self.at("writable").at(folder.path()) == true);
    CHECK(std::filesystem::exists(folder.path() + "/written"));
  }
}

TEST_CASE("a private /tmp is bounded in bytes and in files") {
  for (const auto& layers : possible_layers()) {
    if (!has_namespaces(layers.level)) continue;
    INFO(name_of(layers));
    Confinement confinement{.layers = layers};
    confinement.limits.temporary_bytes = 8U << 20;
    confinement.limits.temporary_files = 100;
    Running bytes("fill_tmp", confinement);
    CHECK_THAT(bytes.first_line(),
               Catch::Contains("filled 8") && Catch::Contains("No space left on device"));
    Running files("many_files", confinement);
    const std::string said = files.first_line();
    CHECK_THAT(said, Catch::Contains("No space left on device"));
    CHECK(std::stoi(said.substr(said.find(' '))) < 100);
    Running descriptors("open_all_fds", confinement);
    CHECK_THAT(descriptors.first_line(), Catch::Contains("Too many open files"));
  }
}

#ifndef ASSAY_SANITIZED
TEST_CASE("private memory is bounded by the kernel") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    Confinement confinement{.layers = layers};
    confinement.limits.data_bytes = 128U << 20;
    Running bomb("memory_anonymous", confinement);
    const std::string said = bomb.first_line();
    CHECK_THAT(said, Catch::StartsWith("holding 1") && Catch::Contains(" MiB"));
    CHECK(std::stoi(said.substr(said.find(' '))) <= 128);
  }
}
#endif

TEST_CASE("a watchdog sees every kind of memory") {
  for (const auto& layers : possible_layers()) {
    for (const char* role :
         {"memory_anonymous", "memory_shared", "memory_memfd", "memory_unmapped"}) {
      INFO(name_of(layers) << ", " << role);
      Running hoard(role, {.layers = layers}, {"--bytes=67108864"});
      REQUIRE(hoard.first_line() == "holding 64 MiB");
      const auto seen = resident(hoard.child.pid());
      REQUIRE(seen);
      CHECK(seen->total_bytes() >= (64U << 20));
#ifndef ASSAY_SANITIZED  // whose run-time library takes memory of its own
      CHECK(seen->total_bytes() < (100U << 20));
#endif
      CHECK(seen->processes == (has_namespaces(layers.level) ? 3 : 2));
      hoard.child.kill();
      CHECK(hoard.reap().killed);
      CHECK_FALSE(resident_bytes(hoard.child.pid()));
    }
  }
}

TEST_CASE("NVRTC compiles in confinement, and includes no file of the machine's") {
  const std::string toolkit = ASSAY_CUDA_DIR;
  if (!std::filesystem::exists(toolkit + "/lib/libnvrtc.so.13")) {
    WARN("skipped: no NVRTC in " << toolkit);
    return;
  }
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    const json answer = ask({"compile", toolkit}, {.layers = layers, .readable = {toolkit}});
    INFO(answer.dump(1));
    REQUIRE(answer.contains("good"));
    CHECK(answer.at("good").at("error") == 0);
    CHECK(answer.at("good").at("cubin_bytes").get<std::size_t>() > 1000);
    CHECK(answer.at("steal").at("error") != 0);
    CHECK_THAT(answer.at("steal").at("log").get<std::string>(),
               Catch::Contains("/etc/passwd") && !Catch::Contains("root"));
  }
}

}  // namespace assay::confinement
