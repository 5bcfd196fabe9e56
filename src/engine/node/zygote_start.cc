#include "engine/node/zygote_start.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <system_error>

namespace assay::node {
namespace {

// Above all places that something is put at, so that nothing overwrites a source.
constexpr int kHighDescriptor = 64;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

pid_t start_zygote(ZygoteStart start) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_RDWR, 0);
  if (start.is_silent) {
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_RDWR, 0);
  }
  std::vector<posix::Descriptor> high;
  int place = confinement::kChannelDescriptor;
  for (const posix::Descriptor* handed : start.handed) {
    high.emplace_back(::fcntl(handed->get(), F_DUPFD_CLOEXEC, kHighDescriptor));
    ::posix_spawn_file_actions_adddup2(&files, high.back().get(), place++);
  }
  ::posix_spawn_file_actions_addclosefrom_np(&files, place);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  const std::string& executable = start.arguments.front();
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, executable.c_str(), &files, &attributes, pointers(start.arguments).data(),
                    pointers(start.environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), executable);
  return pid;
}

std::optional<confinement::Child> fork_confined(
    frames::Channel& channel, confinement::SpawnRequest request,
    const std::function<std::optional<frames::Frame>()>& next) {
  auto handover = confinement::prepare_spawn(std::move(request));
  frames::Frame word;
  word.body = {{"type", "fork"}, {"environment", handover.environment}};
  word.descriptors = std::move(handover.descriptors);
  channel.queue(std::move(word));
  const auto reply = next();
  const pid_t pid = reply ? reply->body.value("pid", -1) : -1;
  if (pid <= 0) return std::nullopt;
  return confinement::finish_spawn(std::move(handover), pid);
}

}  // namespace assay::node
