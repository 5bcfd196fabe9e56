#include "engine/node/toolkit.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace assay::node {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The folders of the wheels below a folder of packages: nvidia/cu13, or nvidia/cuda_nvrtc and its
// siblings in wheels of CUDA 12, which share no folder and are not used.
void add_wheels(const fs::path& packages, std::vector<fs::path>& folders) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(packages / "nvidia", ignored)) {
    if (entry.path().filename().string().starts_with("cu1")) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  folders.insert(folders.end(), found.begin(), found.end());
}

// <prefix>/lib/python3.N/{site,dist}-packages
void add_python(const fs::path& prefix, std::vector<fs::path>& folders) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", ignored)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    add_wheels(entry.path() / "site-packages", folders);
    add_wheels(entry.path() / "dist-packages", folders);
  }
}

// The environment of the `python3` that a shell would run.
void add_python_on_path(std::vector<fs::path>& folders) {
  std::string path = environment("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path folder = path.substr(begin, end - begin);
    std::error_code ignored;
    if (fs::exists(folder / "python3", ignored)) {
      add_python(folder.parent_path(), folders);
      const fs::path real = fs::weakly_canonical(folder / "python3", ignored);
      return add_python(real.parent_path().parent_path(), folders);
    }
    begin = end + 1;
  }
}

void add_pythons(std::vector<fs::path>& folders) {
  const std::string home = environment("HOME");
  if (!home.empty()) add_wheels(fs::path(home) / ".local/share/assay/cuda", folders);
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string prefix = environment(name); !prefix.empty()) add_python(prefix, folders);
  }
  add_python_on_path(folders);
  if (!home.empty()) add_python(fs::path(home) / ".local", folders);
  add_python("/usr/local", folders);
  add_python("/usr", folders);
}

std::vector<fs::path> candidates(const fs::path& executable_folder) {
  std::vector<fs::path> folders;
  const auto from_environment = [&](const char* name) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') {
      folders.emplace_back(value);
    }
  };
  from_environment("ASSAY_CUDA_DIR");
  folders.push_back(executable_folder / ".." / "cuda");
  folders.push_back(executable_folder / ".." / "lib" / "assay" / "cuda");  // as it is installed
  from_environment("CUDA_HOME");
  folders.emplace_back("/usr/local/cuda");
  std::error_code ignored;
  std::vector<fs::path> versions;
  for (const auto& entry : fs::directory_iterator("/usr/local", ignored)) {
    if (entry.path().filename().string().rfind("cuda-", 0) == 0) versions.push_back(entry.path());
  }
  std::sort(versions.rbegin(), versions.rend());
  folders.insert(folders.end(), versions.begin(), versions.end());
  add_pythons(folders);
  return folders;
}

fs::path find_library(const fs::path& folder, const std::string& stem) {
  for (const char* lib : {"lib64", "lib", "targets/x86_64-linux/lib", "extras/CUPTI/lib64"}) {
    std::error_code ignored;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder / lib, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind(stem + ".so", 0) == 0) found.push_back(entry.path());
    }
    // The shortest name is the soname's link or the library itself.
    std::sort(found.begin(), found.end());
    if (!found.empty()) return fs::weakly_canonical(found.front(), ignored);
  }
  return {};
}

fs::path find_disassembler(const fs::path& folder) {
  for (const char* name : {"nvdisasm", "cuobjdump"}) {
    std::error_code ignored;
    const fs::path found = folder / "bin" / name;
    if (fs::is_regular_file(found, ignored)) return found;
  }
  return {};
}

// In CUDA and in the wheel: a folder of that name with the program and its libraries.
fs::path find_sanitizer(const fs::path& folder) {
  std::error_code ignored;
  const fs::path found = folder / "compute-sanitizer" / "compute-sanitizer";
  return fs::is_regular_file(found, ignored) ? fs::weakly_canonical(found, ignored) : fs::path();
}

std::vector<fs::path> find_includes(const fs::path& folder) {
  std::vector<fs::path> includes;
  std::error_code ignored;
  const fs::path main = folder / "include";
  if (!fs::exists(main / "cuda_runtime.h", ignored)) return includes;
  includes.push_back(main);
  if (fs::exists(main / "cccl", ignored)) includes.push_back(main / "cccl");
  return includes;
}

}  // namespace

std::vector<fs::path> Toolkit::readable_folders() const {
  std::set<fs::path> folders;
  std::error_code ignored;
  if (has_compiler()) folders.insert(nvrtc.parent_path());
  if (!cupti.empty()) folders.insert(cupti.parent_path());
  for (const auto& include : include_folders) {
    folders.insert(include);
    folders.insert(fs::weakly_canonical(include, ignored));
    // A folder of links (the build makes one) needs what the links point to.
    for (const auto& entry : fs::directory_iterator(include, ignored)) {
      if (!entry.is_symlink(ignored)) continue;
      const fs::path target = fs::weakly_canonical(entry.path(), ignored);
      folders.insert(entry.is_directory(ignored) ? target : target.parent_path());
    }
  }
  return {folders.begin(), folders.end()};
}

Toolkit find_toolkit(const fs::path& executable_folder) {
  Toolkit toolkit;
  for (const fs::path& folder : candidates(executable_folder)) {
    toolkit.searched.push_back(folder.lexically_normal().string());
    if (toolkit.nvrtc.empty()) toolkit.nvrtc = find_library(folder, "libnvrtc");
    if (toolkit.cupti.empty()) toolkit.cupti = find_library(folder, "libcupti");
    if (toolkit.disassembler.empty()) toolkit.disassembler = find_disassembler(folder);
    if (toolkit.sanitizer.empty()) toolkit.sanitizer = find_sanitizer(folder);
    if (toolkit.include_folders.empty()) toolkit.include_folders = find_includes(folder);
  }
  return toolkit;
}

}  // namespace assay::node
