#include "engine/confinement/grants.h"

namespace assay::confinement {
namespace {

// Shared objects and locale data. Nothing else of the system is needed to run NVRTC or the driver.
constexpr const char* kLibraries[] = {"/usr/lib", "/usr/lib32", "/usr/lib64",
                                      "/lib",     "/lib64",     "/etc/ld.so.cache"};
// Compilers, interpreters and what they look up by name.
constexpr const char* kPrograms[] = {"/usr",
                                     "/bin",
                                     "/sbin",
                                     "/lib",
                                     "/lib64",
                                     "/etc/ld.so.cache",
                                     "/etc/ld.so.conf",
                                     "/etc/ld.so.conf.d",
                                     "/etc/alternatives",
                                     "/etc/localtime"};
// How many processors and memory nodes there are.
constexpr const char* kTopology[] = {"/sys/devices/system"};
constexpr const char* kDriver[] = {"/sys", "/usr/local/nvidia", "/usr/local/cuda", "/run/nvidia"};
constexpr const char* kHarmlessDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom",
                                            "/dev/random"};

}  // namespace

std::vector<Grant> grants(const Confinement& confinement) {
  std::vector<Grant> all;
  const auto system = [&](const auto& paths, Access access) {
    for (const char* path : paths) all.push_back({.path = path, .access = access});
  };
  if (confinement.may_start_processes) {
    system(kPrograms, Access::read);
  } else {
    system(kLibraries, Access::read);
  }
  if (confinement.profile == Profile::gpu) {
    system(kDriver, Access::read);
  } else {
    system(kTopology, Access::read);
  }
  system(kHarmlessDevices, Access::device);
  const auto requested = [&](const std::vector<std::string>& paths, Access access) {
    for (const auto& path : paths) {
      all.push_back({.path = path, .access = access, .required = true});
    }
  };
  requested(confinement.readable, Access::read);
  requested(confinement.writable, Access::read_write);
  requested(confinement.devices, Access::device);
  return all;
}

const std::vector<std::string>& readable_proc_files() {
  static const std::vector<std::string> files{
      "/proc/cpuinfo", "/proc/meminfo",   "/proc/stat",        "/proc/devices",
      "/proc/modules", "/proc/version",   "/proc/filesystems", "/proc/driver/nvidia",
      "/proc/sys/vm",  "/proc/sys/kernel"};
  return files;
}

}  // namespace assay::confinement
