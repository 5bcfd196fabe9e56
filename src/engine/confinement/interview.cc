#include "engine/confinement/interview.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>

#include "engine/confinement/canaries.h"
#include "engine/confinement/child.h"

namespace assay::confinement {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr auto kDeadline = std::chrono::seconds(5);
constexpr std::size_t kMaxAnswer = 1U << 20;

void tell(const posix::Descriptor& channel, const Targets& targets) {
  const std::string text = to_json(targets).dump();
  // Less than a socket's buffer: it never blocks. A probe that is dead already says so by its
  // silence.
  static_cast<void>(::send(channel.get(), text.data(), text.size(), MSG_NOSIGNAL));
  ::shutdown(channel.get(), SHUT_WR);
}

// What came until the probe closed its end, or until the deadline.
std::string listen(const posix::Descriptor& channel, Clock::time_point deadline) {
  std::string answer;
  std::array<char, 4096> room{};
  while (answer.size() < kMaxAnswer) {
    pollfd waiting{.fd = channel.get(), .events = POLLIN, .revents = 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    const auto length = ::read(channel.get(), room.data(), room.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;
    answer.append(room.data(), static_cast<std::size_t>(length));
  }
  return answer;
}

// What had no target was not tried.
void drop_untried(std::vector<Attack>& attacks, const Targets& targets) {
  if (targets.shared_memory_id >= 0) return;
  std::erase_if(attacks,
                [](const Attack& attack) { return attack.name == "attach_shared_memory"; });
}

// A right that was given is no attack.
void drop_permitted(std::vector<Attack>& attacks, const SelfTest& test) {
  if (!test.may_start_processes) return;
  std::erase_if(attacks, [](const Attack& attack) {
    return attack.name == "fork" || attack.name == "execute";
  });
}

Interview run(const SelfTest& test, const Layers& layers) {
  const Canaries canaries(test.canary_folder);
  auto line = posix::make_socket_pair();
  SpawnRequest request{.executable = test.runner,
                       .arguments = {"--role=probe"},
                       .confinement = confinement_of(test, layers),
                       .channel = std::move(line.theirs)};
  Targets targets = canaries.targets();
  targets.limits = request.confinement.limits;
  Child child = spawn(std::move(request));
  const auto deadline = Clock::now() + kDeadline;
  tell(line.ours, targets);
  const std::string answer = listen(line.ours, deadline);
  const End end = child.reap(deadline);
  if (!end.setup_failure.empty()) return {.failure = end.setup_failure};
  if (!end.clean_record || end.signal == SIGKILL) {
    return {.failure = "the probe was killed from outside", .is_killed = true};
  }
  if (end.signal != 0 || end.exit_code != 0) {
    const json told = json::parse(answer, nullptr, false);
    const std::string fault = told.is_object() ? findings_from_json(told).fault : "";
    return {.failure = "the probe ended with signal " + std::to_string(end.signal) +
                       ", exit code " + std::to_string(end.exit_code) +
                       (fault.empty() ? "" : ": " + fault)};
  }
  Interview seen{.findings = findings_from_json(json::parse(answer))};
  for (auto& attack : seen.findings.attacks) {
    if (attack.name == "plant_socket") attack.open = canaries.socket_was_planted();
  }
  drop_untried(seen.findings.attacks, canaries.targets());
  drop_permitted(seen.findings.attacks, test);
  return seen;
}

}  // namespace

Confinement confinement_of(const SelfTest& test, const Layers& layers) {
  Confinement confinement{.layers = layers,
                          .profile = test.profile,
                          .may_start_processes = test.may_start_processes,
                          .is_company = test.is_company,
                          .readable = test.readable,
                          .devices = test.devices};
  confinement.limits.cpu_seconds = 10;
  confinement.limits.temporary_files = 256;
  return confinement;
}

Interview interview(const SelfTest& test, const Layers& layers) noexcept {
  // Nothing in the probe can kill it so: whoever did says nothing of what confinement there is.
  constexpr int kAttempts = 3;
  try {
    Interview seen = run(test, layers);
    for (int again = 1; seen.is_killed && again < kAttempts; ++again) seen = run(test, layers);
    return seen;
  } catch (const std::exception& error) {
    return {.failure = std::string("self-test: ") + error.what()};
  }
}

json own_namespaces() {
  json all = json::object();
  for (const char* kind : {"user", "pid", "net", "ipc", "mnt", "uts", "cgroup"}) {
    std::error_code error;
    all[kind] = std::filesystem::read_symlink(std::string("/proc/self/ns/") + kind, error).string();
  }
  return all;
}

}  // namespace assay::confinement
