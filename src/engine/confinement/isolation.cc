#include "engine/confinement/isolation.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <string_view>

#include "engine/confinement/filter.h"
#include "engine/confinement/interview.h"
#include "engine/confinement/landlock.h"
#include "engine/confinement/outer.h"
#include "engine/confinement/sha256.h"

namespace assay::confinement {
namespace {

using nlohmann::json;

constexpr std::string_view kProfileRevision = "1";

bool supervisor_is_dumpable() { return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0; }

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

// The weakest level at which an attack must fail.
Level stopped_from(const std::string& attack, const SelfTest& test) {
  // Programs that the worker starts need the /proc of the machine where they have none of their
  // own.
  if (test.may_start_processes &&
      (attack == "list_processes" || attack == "read_supervisor_command_line")) {
    return Level::L2;
  }
#ifdef ASSAY_SANITIZED
  if (attack == "take_memory") return Level::L3;
#endif
  return Level::L1;
}

Level just_below(Level level) {
  if (level <= Level::L1) return Level::L0;
  return level == Level::L2 ? Level::L1n : Level::L2;
}

void judge(Isolation& isolation, const SelfTest& test) {
  isolation.level = isolation.layers.level;
  for (Attack& attack : isolation.attacks) {
    if (!attack.open) continue;
    const Level needed = stopped_from(attack.name, test);
    attack.expected_open = needed > isolation.layers.level;
    if (!attack.expected_open) isolation.level = std::min(isolation.level, just_below(needed));
  }
}

// Only what the probe has read of itself.
void describe_in_force(Isolation& isolation, const Interview& seen, std::size_t refused) {
  const json& self = seen.findings.self;
  const json ours = own_namespaces();
  const auto apart = [&](const char* kind) {
    const std::string theirs = self.at("namespaces").value(kind, "");
    return !theirs.empty() && theirs != ours.value(kind, "");
  };
  const bool filtered = self.value("seccomp", "") == "2";
  const std::string capabilities = self.value("capabilities", "?");
  isolation.in_force = {
      {"no_new_privs", self.value("no_new_privs", "") == "1"},
      {"seccomp", filtered ? json("denylist/" + std::to_string(refused)) : json(nullptr)},
      {"landlock_abi",
       isolation.layers.landlock && isolation.layers.level != Level::L0 ? landlock_abi() : 0},
      {"no_capabilities", capabilities.find_first_not_of('0') == std::string::npos},
      {"userns", apart("user")},
      {"pidns", apart("pid")},
      {"netns", apart("net")},
      {"ipcns", apart("ipc")},
      {"root", apart("mnt") ? json("pivot-tmpfs") : json(nullptr)},
      {"uid", self.value("uid", ::getuid()) == ::getuid() ? "same" : "separate"},
      {"cgroup", nullptr},
      {"server_nondumpable", !supervisor_is_dumpable()}};
}

void describe_missing_landlock(Isolation& isolation) {
  const int abi = isolation.in_force.value("landlock_abi", 0);
  const auto missing = [&](const char* what, const char* effect) {
    isolation.not_in_force.push_back(
        {what, "the kernel's Landlock is ABI " + std::to_string(abi), effect});
  };
  if (abi == 0) return missing("Landlock", "files are protected by the private root alone");
  if (abi < 3) missing("Landlock for truncation", "truncate() is refused by the call filter");
  if (abi < 6) {
    missing("Landlock for signals",
            "signals to others are stopped by the call filter, the uid or "
            "the pid namespace");
  }
}

void describe_missing(Isolation& isolation) {
  auto& missing = isolation.not_in_force;
  missing.push_back({"memory cgroup", "not provided by this version",
                     "memory is bounded by RLIMIT_DATA and by watching the resident set"});
  if (!has_namespaces(isolation.layers.level)) {
    missing.push_back({"network, ipc and mount namespaces", "",
                       "the network is refused by the call filter, files by Landlock; there is no "
                       "private /tmp"});
  }
  if (!has_pid_namespace(isolation.layers.level)) {
    missing.push_back({"pid namespace", "",
                       "what a child leaves behind is found by searching for its descendants"});
  }
  if (isolation.in_force.value("uid", "") == "same") {
    missing.push_back({"separate uid", ::geteuid() == 0 ? "" : "the engine is not root",
                       "children and engine have the same user"});
  }
  if (supervisor_is_dumpable()) {
    missing.push_back({"protected engine", "harden_supervisor() was not called",
                       "processes of the same user can read the engine's memory"});
  }
#ifdef ASSAY_SANITIZED
  missing.push_back({"RLIMIT_DATA", "a sanitizer's build", "memory is watched only"});
#endif
  describe_missing_landlock(isolation);
}

// Where `layers` were not the first choice, why those before them were not taken.
void explain(Isolation& isolation, const std::map<Level, std::string>& failures) {
  const auto why = [&](Level level) {
    const auto failure = failures.find(level);
    return failure == failures.end() ? std::string("not tried") : failure->second;
  };
  for (auto& missing : isolation.not_in_force) {
    if (!missing.why.empty()) continue;
    if (missing.what == "pid namespace")
      missing.why = why(Level::L2);
    else if (missing.what == "separate uid")
      missing.why = why(Level::L1u);
    else
      missing.why = why(Level::L1n);
  }
}

std::vector<Layers> candidates() {
  const bool root = ::geteuid() == 0;
  const bool landlock = landlock_abi() > 0;
  std::vector<Layers> all;
  for (const Level level : {Level::L2, Level::L1n}) {
    if (root) all.push_back({.level = level, .separate_uid = true, .landlock = landlock});
    if (root) {
      all.push_back(
          {.level = level, .separate_uid = true, .user_namespace = false, .landlock = landlock});
    }
    all.push_back({.level = level, .landlock = landlock});
  }
  if (root && landlock) all.push_back({.level = Level::L1u, .separate_uid = true});
  if (landlock) all.push_back({.level = Level::L1});
  return all;
}

std::string first_unexpected(const Isolation& isolation) {
  for (const auto& attack : isolation.attacks) {
    if (attack.open && !attack.expected_open) return attack.name + " got through";
  }
  return "";
}

}  // namespace

void harden_supervisor() {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

Isolation self_test(const SelfTest& test, const Layers& layers) {
  Isolation isolation{.layers = layers, .profile = test.profile, .required = test.required};
  const Interview seen = interview(test, layers);
  isolation.outer = outer_wall();
  isolation.not_covered = {"host kernel"};
  if (test.profile == Profile::gpu)
    isolation.not_covered.emplace_back("NVIDIA driver ioctl surface");
  isolation.tested_at = now();
  if (!seen.failure.empty()) {
    isolation.failure = seen.failure;
    return isolation;
  }
  const FilterShape shape = filter_shape(confinement_of(test, layers), landlock_abi());
  isolation.profile_sha256 = sha256(filter_program(shape));
  isolation.attacks = seen.findings.attacks;
  judge(isolation, test);
  describe_in_force(isolation, seen, refused_calls(shape));
  describe_missing(isolation);
  return isolation;
}

Isolation best_available(const SelfTest& test) {
  std::map<Level, std::string> failures;
  Isolation best;
  best.required = test.required;
  best.profile = test.profile;
  best.failure = "the kernel has neither Landlock nor namespaces for us";
  for (const Layers& layers : candidates()) {
    Isolation isolation = self_test(test, layers);
    const bool as_named = isolation.failure.empty() && isolation.level == layers.level;
    const std::string why =
        isolation.failure.empty() ? first_unexpected(isolation) : isolation.failure;
    if (!as_named) failures.emplace(layers.level, why);
    const bool better =
        isolation.failure.empty() && (!best.failure.empty() || isolation.level > best.level);
    if (better) best = std::move(isolation);
    if (as_named) break;
  }
  if (!best.failure.empty() && !failures.empty()) best.failure = failures.rbegin()->second;
  explain(best, failures);
  return best;
}

json to_json(const Isolation& isolation) {
  json missing = json::array();
  for (const auto& [what, why, effect] : isolation.not_in_force) {
    missing.push_back({{"what", what}, {"why", why}, {"effect", effect}});
  }
  json open = json::array();
  std::size_t blocked = 0;
  std::size_t expected = 0;
  for (const auto& attack : isolation.attacks) {
    if (!attack.open) ++blocked;
    if (attack.expected_open) ++expected;
    if (attack.open) open.push_back(attack.name);
  }
  json all = {
      {"level", to_text(isolation.level)},
      {"required", to_text(isolation.required)},
      {"uid", isolation.in_force.value("uid", "same")},
      {"profile", std::string(to_text(isolation.profile)) + "-" + std::string(kProfileRevision)},
      {"profile_sha256", isolation.profile_sha256},
      {"in_force", isolation.in_force},
      {"not_in_force", std::move(missing)},
      {"self_test",
       {{"probes", isolation.attacks.size()},
        {"blocked", blocked},
        {"expected_open", expected},
        {"unexpected", isolation.attacks.size() - blocked - expected},
        {"open", std::move(open)},
        {"at", isolation.tested_at}}},
      {"not_covered", isolation.not_covered},
      {"outer", isolation.outer}};
  if (!isolation.failure.empty()) all["failure"] = isolation.failure;
  return all;
}

}  // namespace assay::confinement
