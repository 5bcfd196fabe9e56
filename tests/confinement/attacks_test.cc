#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/shm.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/confinement/canaries.h"
#include "tests/catch.h"
#include "tests/confinement/fixture.h"

namespace assay::confinement {
namespace {

const SelfTest kCompile{.runner = ASSAY_MISBEHAVING_RUNNER};

std::string open_attacks(const Isolation& isolation) {
  std::string names;
  for (const auto& attack : isolation.attacks) {
    if (attack.open) names += attack.name + " ";
  }
  return names;
}

std::vector<SelfTest> all_kinds() {
  std::vector<SelfTest> kinds;
  for (const Profile profile : {Profile::compile, Profile::cpu, Profile::gpu}) {
    kinds.push_back({.runner = ASSAY_MISBEHAVING_RUNNER, .profile = profile});
    kinds.push_back(
        {.runner = ASSAY_MISBEHAVING_RUNNER, .profile = profile, .may_start_processes = true});
  }
  kinds.push_back({.runner = ASSAY_MISBEHAVING_RUNNER,
                   .profile = Profile::gpu,
                   .may_start_processes = true,
                   .is_company = true});
  return kinds;
}

// The attacks that reach their goal in these layers although they are to fail there.
int check_all_layers() {
  harden_supervisor();
  int wrong = 0;
  for (const auto& layers : possible_layers()) {
    for (const auto& kind : all_kinds()) {
      const Isolation isolation = self_test(kind, layers);
      if (!isolation.failure.empty() || isolation.level != layers.level) ++wrong;
    }
  }
  return wrong;
}

int become_nobody() {
  constexpr uid_t kNobody = 12345;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
                 ::setresuid(kNobody, kNobody, kNobody) == 0
             ? 0
             : -1;
}

}  // namespace

TEST_CASE("every attack fails in every layer that is to stop it") {
  for (const auto& layers : possible_layers()) {
    for (const auto& kind : all_kinds()) {
      INFO(name_of(layers) << ", " << to_text(kind.profile)
                           << (kind.may_start_processes ? " with processes" : "")
                           << (kind.is_company ? " in company" : ""));
      const Isolation isolation = self_test(kind, layers);
      INFO("open: " << open_attacks(isolation));
      CHECK(isolation.failure == "");
      CHECK(isolation.attacks.size() >= 43);
      CHECK(to_text(isolation.level) == to_text(layers.level));
      for (const auto& attack : isolation.attacks) {
        INFO(attack.name);
        if (attack.open) {
          CHECK(attack.expected_open);
        } else if (attack.name != "plant_socket") {
          CHECK(attack.error != 0);
        }
      }
    }
  }
}

TEST_CASE("the attacks are real: without confinement they get through") {
  const Isolation isolation = self_test(kCompile, {.level = Level::L0, .landlock = false});
  REQUIRE(isolation.failure == "");
  CHECK(isolation.level == Level::L0);
  CHECK_FALSE(isolation.sufficient());
  const std::string open = open_attacks(isolation);
  for (const char* name : {"read_supervisor_command_line",
                           "list_processes",
                           "signal_supervisor",
                           "stop_supervisor",
                           "raise_supervisor_oom_score",
                           "change_supervisor_limits",
                           "pin_supervisor_to_a_cpu",
                           "fork",
                           "execute",
                           "read_secret_file",
                           "read_system_accounts",
                           "write_outside",
                           "overwrite_file",
                           "truncate_file",
                           "rename_file",
                           "reach_tcp",
                           "reach_udp",
                           "reach_path_socket",
                           "reach_abstract_socket",
                           "plant_socket",
                           "attach_shared_memory",
                           "use_netlink"}) {
    INFO(name);
    CHECK_THAT(open, Catch::Contains(name));
  }
  // Where the tests themselves run without new privileges, as in some containers, so does L0.
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) {
    CHECK_THAT(open, Catch::Contains("gain_privileges"));
  }
  // What rlimits and the built environment stop, they stop here as well.
  for (const char* name : {"read_inherited_environment", "use_inherited_descriptors",
                           "make_big_file", "open_many_descriptors"}) {
    INFO(name);
    CHECK_THAT(open, !Catch::Contains(name));
  }
}

TEST_CASE("an engine without privileges confines as well as it can") {
  if (::geteuid() != 0) {
    CHECK(in_a_process(check_all_layers) == 0);
    return;
  }
  CHECK(in_a_process([] { return become_nobody() == 0 ? check_all_layers() : 98; }) == 0);
  // And gets more than the bare minimum where the machine lets users make namespaces.
  const int level = in_a_process([] {
    if (become_nobody() != 0) return 98;
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return static_cast<int>(best_available(kCompile).level);
  });
  CHECK(level >= static_cast<int>(Level::L1));
  CHECK(level <= static_cast<int>(Level::L2));
}

TEST_CASE("the best layers are the first that pass, and are said in full") {
  harden_supervisor();
  const Isolation isolation = best_available(kCompile);
  REQUIRE(isolation.failure == "");
  CHECK(isolation.sufficient());
  const auto possible = possible_layers();
  CHECK(to_text(isolation.level) == to_text(possible.front().level));
  CHECK(isolation.layers.separate_uid == (::geteuid() == 0));

  const auto json = to_json(isolation);
  CHECK(json.at("level") == to_text(isolation.level));
  CHECK(json.at("required") == "L1");
  CHECK(json.at("profile") == "compile-1");
  CHECK(json.at("profile_sha256").get<std::string>().size() == 64);
  const auto& in_force = json.at("in_force");
  CHECK(in_force.at("no_new_privs") == true);
  CHECK(in_force.at("no_capabilities") == true);
  CHECK(in_force.at("seccomp").get<std::string>().starts_with("denylist/"));
  CHECK(in_force.at("server_nondumpable") == true);
  CHECK(in_force.at("pidns") == has_pid_namespace(isolation.level));
  CHECK(in_force.at("netns") == has_namespaces(isolation.level));
  const auto& test = json.at("self_test");
  CHECK(test.at("probes") == isolation.attacks.size());
  CHECK(test.at("unexpected") == 0);
  CHECK(json.at("not_in_force").size() >= 1);
  for (const auto& missing : json.at("not_in_force")) {
    CHECK_FALSE(missing.at("what").get<std::string>().empty());
    CHECK_FALSE(missing.at("why").get<std::string>().empty());
    CHECK_FALSE(missing.at("effect").get<std::string>().empty());
  }
}

TEST_CASE("a runner that cannot be probed gives no level at all") {
  const Isolation missing = best_available({.runner = "/nonexistent/runner"});
  CHECK_FALSE(missing.sufficient());
  CHECK_THAT(missing.failure, Catch::Contains("/nonexistent/runner"));
  // It starts, but answers nothing: it is no proof of anything.
  const Isolation mute = best_available({.runner = "/bin/true"});
  CHECK_FALSE(mute.sufficient());
  CHECK_FALSE(mute.failure.empty());
}

// What a supervisor that is killed in the middle of its self-test leaves, an hour later.
std::filesystem::path left_behind(const std::filesystem::path& folder, bool locked) {
  const auto left = folder / (locked ? "assay-canary-locked" : "assay-canary-unlocked");
  std::filesystem::create_directory(left);
  std::ofstream(left / "secret") << "secret";
  std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - 1h);
  return left;
}

std::set<std::string> shared_memory_segments() {
  std::set<std::string> ids;
  std::ifstream table("/proc/sysvipc/shm");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string key, id, mode, bytes, maker;
    fields >> key >> id >> mode >> bytes >> maker;
    if (maker == std::to_string(::getpid())) ids.insert(id);
  }
  return ids;
}

TEST_CASE("what a killed supervisor left of its self-test the next one removes") {
  const auto folder = std::filesystem::temp_directory_path() / unique_marker();
  std::filesystem::create_directory(folder);
  const auto left = left_behind(folder, false);
  const auto others = left_behind(folder, true);
  const posix::Descriptor lock(::open(others.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(::flock(lock.get(), LOCK_EX | LOCK_NB) == 0);
  {
    const Canaries canaries(folder);
    CHECK_FALSE(std::filesystem::exists(left));
    CHECK(std::filesystem::exists(others / "secret"));
    CHECK(std::filesystem::exists(canaries.targets().folder));
    const Canaries more(folder);
    CHECK(std::filesystem::exists(canaries.targets().folder));
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("the shared memory of the self-test can be attached and goes with its process") {
  const Canaries canaries("/tmp");
  const int id = canaries.targets().shared_memory_id;
  REQUIRE(id >= 0);
  void* attached = ::shmat(id, nullptr, SHM_RDONLY);
  REQUIRE(reinterpret_cast<std::intptr_t>(attached) != -1);
  ::shmdt(attached);
  shmid_ds about{};
  REQUIRE(::shmctl(id, IPC_STAT, &about) == 0);
  CHECK((about.shm_perm.mode & SHM_DEST) != 0);
}

TEST_CASE("the self-test leaves nothing behind") {
  const auto segments = shared_memory_segments();
  const auto folder = std::filesystem::temp_directory_path() / unique_marker();
  std::filesystem::create_directory(folder);
  const Isolation isolation =
      best_available({.runner = ASSAY_MISBEHAVING_RUNNER, .canary_folder = folder});
  CHECK(isolation.failure == "");
  CHECK(std::filesystem::is_empty(folder));
  CHECK(shared_memory_segments() == segments);
  std::filesystem::remove_all(folder);
}

}  // namespace assay::confinement
