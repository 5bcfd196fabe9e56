#include "engine/runner/zygote.h"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "engine/confinement/child.h"
#include "engine/confinement/enter.h"

namespace assay::runner {
namespace {

using frames::Channel;
using frames::Frame;

constexpr frames::Caps kCaps{.descriptors = confinement::kHandedDescriptors};

class Zygote {
 public:
  explicit Zygote(Channel& channel) : channel_(channel) {}
  ~Zygote() {
    if (!pch_.empty()) ::unlink(pch_.c_str());
  }
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  int run();

 private:
  Frame prepare(const Frame& request);
  void warm(const Frame& request);
  [[nodiscard]] bool wait_for_word() const;
  void fork_one(Frame request);
  [[noreturn]] void become_runner(Frame request);

  Channel& channel_;
  std::unique_ptr<Nvrtc> nvrtc_{};
  std::string pch_{};
  int idle_ms_ = -1;
};

Frame Zygote::prepare(const Frame& request) {
  Frame reply;
  try {
    nvrtc_ = std::make_unique<Nvrtc>(request.body.at("nvrtc").get<std::string>());
  } catch (const std::runtime_error& error) {
    reply.body = {{"type", "missing"}, {"what", error.what()}};
    return reply;
  }
  keep_freed_memory();
  warm(request);
  idle_ms_ = request.body.at("idle_ms");
  const auto [major, minor] = nvrtc_->version();
  reply.body = {{"type", "ready"},
                {"version", std::to_string(major) + "." + std::to_string(minor)},
                {"architectures", nvrtc_->architectures()},
                {"pch", pch_}};
  return reply;
}

// The first compile of a process takes twice as long as later ones, headers many times.
void Zygote::warm(const Frame& request) {
  CompileRequest first{.options = request.body.at("options").get<std::vector<std::string>>()};
  for (const auto& header : request.body.at("headers")) {
    first.source += "#include <" + header.get<std::string>() + ">\n";
  }
  first.source += rehearsal().source;
  const auto pch = request.body.at("pch").get<std::string>();
  if (!pch.empty()) {
    pch_ = pch;  // whatever becomes of it is ours to remove
    first.options.push_back("--create-pch=" + pch);
    first.options.emplace_back("--pch-messages=false");
  }
  if (!nvrtc_->compile(first).ok && !pch_.empty()) {
    ::unlink(pch_.c_str());
    pch_.clear();
  }
}

bool Zygote::wait_for_word() const {
  pollfd waiting{.fd = channel_.descriptor(), .events = POLLIN, .revents = 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, idle_ms_);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

void Zygote::become_runner(Frame request) {
  ::prctl(PR_SET_NAME, "assay-runner", 0, 0, 0);
  int code = 70;
  // Outside of what may throw: it is where a fault is told, and closes its descriptor when it goes.
  std::optional<Channel> channel;
  try {
    const auto environment = request.body.at("environment").get<std::vector<std::string>>();
    if (const auto done =
            confinement::enter_confinement_forked(std::move(request.descriptors), environment)) {
      ::_exit(*done);  // the keeper and the init
    }
    channel.emplace(posix::Descriptor(confinement::kChannelDescriptor), frames::Caps{}, true);
    code = serve_compile_with(*channel, std::move(nvrtc_));
  } catch (const std::exception& error) {
    Frame fault;
    fault.body = {{"type", "fault"}, {"message", error.what()}};
    if (channel) channel->send(std::move(fault));
  }
  // Not through the destructors: what they would tidy up is the zygote's.
  ::_exit(code);
}

void Zygote::fork_one(Frame request) {
  // By itself, because fork() cannot make the new process our parent's child. The keeper needs
  // nothing that glibc's fork() would set right, and forks again.
  const auto pid =
      static_cast<pid_t>(::syscall(SYS_clone, static_cast<unsigned long>(CLONE_PARENT | SIGCHLD),
                                   nullptr, nullptr, nullptr, 0UL));
  if (pid == 0) become_runner(std::move(request));
  Frame reply;
  reply.body = {{"type", "forked"}, {"pid", pid}};
  channel_.send(std::move(reply));
}

int Zygote::run() {
  while (wait_for_word()) {
    auto request = channel_.receive();
    if (!request) return 0;
    if (request->type() == "prepare") {
      Frame reply = prepare(*request);
      const bool ready = reply.type() == "ready";
      channel_.send(std::move(reply));
      if (!ready) return 0;
    } else if (request->type() == "fork" && nvrtc_) {
      fork_one(std::move(*request));
    } else {
      return 2;
    }
  }
  return 0;
}

}  // namespace

int run_zygote() {
  ::prctl(PR_SET_NAME, "assay-zygote", 0, 0, 0);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  std::signal(SIGPIPE, SIG_IGN);
  Channel channel(posix::Descriptor(confinement::kChannelDescriptor), kCaps, true);
  try {
    return Zygote(channel).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-runner: the zygote ended: %s\n", error.what());
    return 70;
  }
}

}  // namespace assay::runner
