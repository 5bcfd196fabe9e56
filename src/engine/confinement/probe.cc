#include "engine/confinement/probe.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

#include "engine/confinement/attacks.h"
#include "engine/confinement/targets.h"

namespace assay::confinement {
namespace {

constexpr std::size_t kMaxQuestion = 64U << 10;

std::string read_to_the_end(int channel) {
  std::string text;
  std::array<char, 4096> room{};
  while (text.size() < kMaxQuestion) {
    const auto length = ::read(channel, room.data(), room.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;
    text.append(room.data(), static_cast<std::size_t>(length));
  }
  return text;
}

bool write_all(int channel, std::string_view text) {
  while (!text.empty()) {
    const auto length = ::write(channel, text.data(), text.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(length));
  }
  return true;
}

std::string namespace_name(const char* kind) {
  std::array<char, 64> name{};
  const std::string path = std::string("/proc/self/ns/") + kind;
  const auto length = ::readlink(path.c_str(), name.data(), name.size());
  return length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : "";
}

// "Seccomp:	2" and its like, as the kernel tells them of this process.
std::string status_field(std::string_view field) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(field) || line.size() <= field.size() || line[field.size()] != ':') {
      continue;
    }
    const auto value = line.find_first_not_of(" \t", field.size() + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

nlohmann::json describe_self() {
  nlohmann::json namespaces = nlohmann::json::object();
  for (const char* kind : {"user", "pid", "net", "ipc", "mnt", "uts", "cgroup"}) {
    namespaces[kind] = namespace_name(kind);
  }
  return {{"no_new_privs", status_field("NoNewPrivs")},
          {"seccomp", status_field("Seccomp")},
          {"capabilities", status_field("CapEff")},
          {"uid", ::getuid()},
          {"namespaces", std::move(namespaces)}};
}

void attempt_all(std::span<const AttackKind> kinds, const Targets& targets, Findings& findings) {
  for (const AttackKind& kind : kinds) {
    const int error = kind.attempt(targets);
    findings.attacks.push_back(
        {.name = std::string(kind.name), .open = error == 0, .error = error});
  }
}

}  // namespace

int run_probe(int channel) {
  try {
    const Targets targets = targets_from_json(nlohmann::json::parse(read_to_the_end(channel)));
    Findings findings;
    findings.self = describe_self();
    attempt_all(attacks_on_processes(), targets, findings);
    attempt_all(attacks_on_files(), targets, findings);
    attempt_all(attacks_on_the_kernel(), targets, findings);
    return write_all(channel, to_json(findings).dump()) ? 0 : 1;
  } catch (const std::exception& error) {
    static_cast<void>(write_all(channel, to_json(Findings{.fault = error.what()}).dump()));
    return 1;
  }
}

}  // namespace assay::confinement
