#include "tests/transcripts/pipe_endpoint.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace assay::transcripts {
namespace {

using mcp::OwnedFd;

struct Pipe {
  OwnedFd read{};
  OwnedFd write{};
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

void make_nonblocking(const OwnedFd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

pid_t spawn(const std::vector<std::string>& command, int in, int out) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t child = -1;
  const int fault = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) throw std::system_error(fault, std::generic_category(), command.front());
  return child;
}

}  // namespace

PipeEndpoint::PipeEndpoint(mcp::ServerConfig config) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  to_server_ = std::move(in.write);
  from_server_ = std::move(out.read);
  make_nonblocking(to_server_);
  thread_ = std::thread([config = std::move(config), stop = stop_.get_token(),
                         streams = mcp::StdioStreams{.in = std::move(in.read),
                                                     .out = std::move(out.write)}]() mutable {
    mcp::StdioServer server(std::move(config), std::move(streams));
    static_cast<void>(server.run(stop));
  });
}

PipeEndpoint::PipeEndpoint(const std::vector<std::string>& command) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  child_ = spawn(command, in.read.get(), out.write.get());
  to_server_ = std::move(in.write);
  from_server_ = std::move(out.read);
  make_nonblocking(to_server_);
}

PipeEndpoint::~PipeEndpoint() {
  stop_.request_stop();
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  to_server_.reset();
  from_server_.reset();
  if (thread_.joinable()) thread_.join();
}

void PipeEndpoint::send(std::string_view bytes) {
  while (!bytes.empty() && to_server_) {
    const ssize_t count = ::write(to_server_.get(), bytes.data(), bytes.size());
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return;
    // The server may wait for us to read before it reads on.
    std::array<pollfd, 2> waits{{{to_server_.get(), POLLOUT, 0}, {from_server_.get(), POLLIN, 0}}};
    ::poll(waits.data(), output_closed_ ? 1 : 2, -1);
    if (waits[1].revents != 0) read_more(std::chrono::milliseconds(0));
  }
}

bool PipeEndpoint::read_more(std::chrono::milliseconds patience) {
  pollfd ready{from_server_.get(), POLLIN, 0};
  if (output_closed_ || ::poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return false;
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(from_server_.get(), buffer.data(), buffer.size());
  if (count > 0)
    received_.append(buffer.data(), static_cast<std::size_t>(count));
  else
    output_closed_ = true;
  return count > 0;
}

std::optional<std::string> PipeEndpoint::receive(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = received_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (!read_more(std::max(left, std::chrono::milliseconds(0)))) return std::nullopt;
  }
}

std::string PipeEndpoint::finish(std::chrono::milliseconds patience) {
  close_input();
  if (const auto line = receive(patience)) return "more than was expected: " + *line;
  if (!output_closed_) return "the server did not end after its input had";
  if (!received_.empty()) return "an unfinished line: " + received_;
  if (child_ < 0) return {};
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0
             ? ""
             : "the server ended with wait status " + std::to_string(status);
}

}  // namespace assay::transcripts
