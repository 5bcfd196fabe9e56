#include "engine/node/interpreter.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "engine/posix/descriptor.h"

namespace assay::node {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// A cold disk was seen to take seconds for the standard library alone.
constexpr std::chrono::seconds kAskLimit{30};
constexpr std::size_t kMaxAnswerBytes = 64U << 10;

// Versions come from the packages' metadata: importing torch takes seconds.
constexpr const char* kQuestion = R"(
import importlib.metadata, importlib.util, json, os, platform, sys, sysconfig
packages = {}
wheels = {'cupy': ('cupy', 'cupy-cuda13x', 'cupy-cuda12x', 'cupy-cuda11x')}
for name in ('torch', 'triton', 'numpy', 'cupy'):
    for wheel in wheels.get(name, (name,)):
        try:
            packages.setdefault(name, importlib.metadata.version(wheel))
        except importlib.metadata.PackageNotFoundError:
            pass
cuda = {}
spec = importlib.util.find_spec('torch')
version = os.path.join(os.path.dirname(spec.origin), 'version.py') if spec and spec.origin else ''
if os.path.isfile(version):
    exec(open(version).read(), cuda)
folders = ('stdlib', 'platstdlib', 'purelib', 'platlib', 'include', 'platinclude',
           'scripts')
paths = sys.path + list(map(sysconfig.get_path, folders))
paths = [p for p in paths if p and os.path.isabs(p) and os.path.isdir(p)]
paths = sorted({*paths, *map(os.path.realpath, paths)})
print(json.dumps({'version': platform.python_version(), 'packages': packages, 'readable': paths,
                  'cuda': cuda.get('cuda') or ''}))
)";

std::string path_of_environment() {
  const char* path = std::getenv("PATH");
  return path != nullptr && *path != '\0' ? path : "/usr/bin:/bin";
}

// "" if no folder of $PATH has it.
std::string on_path(const std::string& name) {
  const std::string path = path_of_environment();
  for (std::size_t at = 0; at <= path.size();) {
    const auto colon = std::min(path.find(':', at), path.size());
    const fs::path candidate = fs::path(path.substr(at, colon - at)) / name;
    if (candidate.is_absolute() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    at = colon + 1;
  }
  return {};
}

struct Answer {
  std::string text{};
  int status = -1;
};

// What the interpreter prints. It runs our question with the operator's environment, no user code.
Answer ask(const std::string& executable) {
  auto pipe = posix::make_pipe();
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, pipe.theirs.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  std::array<std::string, 5> words{executable, "-I", "-B", "-c", kQuestion};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                       words[3].data(), words[4].data(), nullptr};
  pid_t pid = -1;
  Answer answer;
  const int error = ::posix_spawn(&pid, executable.c_str(), &files, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) return answer;
  pipe.theirs.reset();
  const auto deadline = Clock::now() + kAskLimit;
  std::array<char, 4096> block{};
  while (answer.text.size() < kMaxAnswerBytes) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{.fd = pipe.ours.get(), .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) == 0) break;
    const auto got = ::read(pipe.ours.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.text.append(block.data(), static_cast<std::size_t>(got));
  }
  if (Clock::now() >= deadline) ::kill(pid, SIGKILL);
  while (::waitpid(pid, &answer.status, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

// "old=/opt/old/bin/python" is called "old"; a path may hold a '=' behind its first '/'.
Interpreter examine(const std::string& text) {
  const auto equals = std::min(text.find('='), text.size());
  const bool is_named = equals > 0 && equals < text.size() && text.find('/') > equals;
  const std::string command = is_named ? text.substr(equals + 1) : text;
  Interpreter found{.name = text.substr(0, is_named ? equals : text.size()),
                    .executable = command.find('/') == std::string::npos
                                      ? on_path(command)
                                      : fs::absolute(command).lexically_normal().string()};
  if (found.executable.empty() || ::access(found.executable.c_str(), X_OK) != 0) {
    if (found.executable.empty()) found.executable = command;
    found.missing = "there is no such executable";
    return found;
  }
  const Answer answer = ask(found.executable);
  const json said = json::parse(answer.text, nullptr, false);
  if (answer.status != 0 || !said.is_object()) {
    found.missing = "it does not answer as a Python 3.9 or newer does";
    return found;
  }
  found.version = said.value("version", std::string());
  found.cuda = said.value("cuda", std::string());
  found.readable = said.value("readable", std::vector<std::string>{});
  found.packages = said.value("packages", std::map<std::string, std::string>{});
  // A child is shown the system's libraries anyway, and the root is no folder to be shown.
  std::erase_if(found.readable, [](const std::string& path) { return path.size() < 2; });
  if (!found.packages.contains("torch")) found.missing = "it has no torch";
  return found;
}

}  // namespace

std::vector<Interpreter> find_interpreters(const std::vector<std::string>& named) {
  std::vector<Interpreter> found;
  for (const auto& text : named.empty() ? std::vector<std::string>{"python3"} : named) {
    Interpreter one = examine(text);
    const bool is_taken = std::any_of(found.begin(), found.end(), [&](const Interpreter& other) {
      return other.name == one.name;
    });
    if (is_taken) one.missing = "an interpreter before it has the same name";
    found.push_back(std::move(one));
  }
  return found;
}

const Interpreter* usable(const std::vector<Interpreter>& interpreters,
                          const std::string& package) {
  const Interpreter* first = nullptr;
  for (const auto& one : interpreters) {
    if (!one.missing.empty()) continue;
    if (one.packages.contains(package)) return &one;
    if (first == nullptr) first = &one;
  }
  return first;
}

const Interpreter* named(const std::vector<Interpreter>& interpreters, const std::string& wanted) {
  const auto found = std::find_if(
      interpreters.begin(), interpreters.end(),
      [&](const Interpreter& one) { return one.name == wanted || one.executable == wanted; });
  return found == interpreters.end() ? nullptr : &*found;
}

std::string why_no_python(const std::vector<Interpreter>& interpreters) {
  std::string text = "No Python with torch is known here (";
  for (std::size_t i = 0; i < interpreters.size(); ++i) {
    text += (i == 0 ? "" : "; ") + interpreters[i].executable + ": " + interpreters[i].missing;
  }
  return text +
         "). Start the server with --python PATH of an interpreter that can import torch; the CPU "
         "build is enough.";
}

json describe(const std::vector<Interpreter>& interpreters) {
  json list = json::array();
  for (const auto& one : interpreters) {
    json item = {{"name", one.name},
                 {"executable", one.executable},
                 {"version", one.version.empty() ? json(nullptr) : json(one.version)},
                 {"packages", one.packages},
                 {"cuda", one.cuda.empty() ? json(nullptr) : json(one.cuda)},
                 {"usable", one.missing.empty()}};
    if (!one.missing.empty()) item["missing"] = one.missing;
    item["default"] = &one == usable(interpreters);
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace assay::node
