// The role `sanitizer`: has compute-sanitizer look at one launch, and tells what it found. All of
// it, the tool, the launch and this, stands between the same walls; a process per tool.
//
//   → {type: "sanitize", sanitizer: path, tool, kernel, arguments, ptx_bytes, grid, block,
//      shared_bytes, arena_bytes} + PTX and machine code + the arena, in host memory
//      (or of a sequence: sanitized_launch.h)
//   ← {type: "sanitized", findings} (sanitizer_report.h)
//     or {type: "not_sanitized", message}: the tool did not run, or did not get as far as a launch
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "engine/confinement/confinement.h"
#include "engine/runner/role.h"
#include "engine/runner/sanitized_launch.h"
#include "engine/runner/sanitizer_report.h"

extern char** environ;

namespace assay::runner {
namespace {

using frames::Frame;
using nlohmann::json;

constexpr const char* kFolder = "/tmp";  // private: the role is for where there are namespaces
constexpr std::size_t kToldBytes = 1000;

std::string in_folder(const char* name) { return std::string(kFolder) + "/" + name; }

void write_file(const char* name, std::string_view bytes) {
  std::ofstream file(in_folder(name), std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + in_folder(name));
}

std::string read_file(const char* name, std::size_t most) {
  std::ifstream file(in_folder(name), std::ios::binary);
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

// The tool's exit code; what it and the launch wrote lands in the file `output`.
int run_tool(const json& order) {
  const std::string self = "/proc/" + std::to_string(::getpid()) + "/exe";
  std::array<char, 4096> executable{};
  if (::readlink(self.c_str(), executable.data(), executable.size() - 1) <= 0) {
    throw std::system_error(errno, std::generic_category(), self);
  }
  std::vector<std::string> words{order.at("sanitizer").get<std::string>(),
                                 "--tool",
                                 order.at("tool").get<std::string>(),
                                 "--xml",
                                 "--save",
                                 in_folder("report.xml"),
                                 "--show-backtrace",
                                 "no",
                                 "--report-api-errors",
                                 "no",
                                 "--target-processes",
                                 "application-only"};
  // What leaves a tensor is to meet nobody else's memory.
  if (order.at("tool") == "memcheck") words.insert(words.end(), {"--padding", "1048576"});
  words.insert(words.end(), {executable.data(), kSanitizedFlag, kFolder});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, in_folder("output").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, words.front().c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), words.front());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<SanitizedTensor> tensors_told() {
  std::vector<SanitizedTensor> tensors;
  for (const auto& item : json::parse(read_file("places.json", kMaxReportBytes))) {
    tensors.push_back(
        {.name = item.at("name"), .address = item.at("address"), .bytes = item.at("bytes")});
  }
  return tensors;
}

json answer(Frame& request) {
  json& body = request.body;
  if (body.at("type") != "sanitize") throw std::runtime_error("unknown request");
  const auto arena = posix::SharedMemory::adopt(request.descriptors.at(0).duplicate(),
                                                body.at("arena_bytes").get<std::size_t>());
  const auto bytes = arena.bytes();
  write_file("arena", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  write_file("program", request.blob);
  write_file("launch.json", body.dump());
  const int code = run_tool(body);
  const std::string said = read_file("output", kMaxReportBytes);
  const auto not_sanitized = [&](const std::string& why) -> json {
    const auto from = said.size() - std::min(said.size(), kToldBytes);
    std::string last = said.substr(from);
    for (char& c : last) {
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
    return {{"type", "not_sanitized"}, {"message", why + " It said: " + last}};
  };
  if (said.find("launched: ") == std::string::npos) {
    return not_sanitized("The tool ended with exit code " + std::to_string(code) +
                         " before the launch.");
  }
  try {
    return {
        {"type", "sanitized"},
        {"findings", findings_of(read_file("report.xml", kMaxReportBytes + 1), tensors_told())}};
  } catch (const std::exception& error) {
    return not_sanitized(std::string(error.what()) + ".");
  }
}

}  // namespace

int serve_sanitizer(frames::Channel& channel) {
  while (auto request = channel.receive()) {
    Frame reply;
    try {
      reply.body = answer(*request);
    } catch (const std::exception& error) {
      reply.body = {{"type", "not_sanitized"}, {"message", error.what()}};
    }
    channel.send(std::move(reply));
  }
  return 0;
}

}  // namespace assay::runner
