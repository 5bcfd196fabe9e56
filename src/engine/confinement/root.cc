#include "engine/confinement/root.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "engine/confinement/wire.h"

// <sys/mount.h> and <linux/mount.h> of glibc 2.36 cannot be included together.
extern "C" int mount(const char* source, const char* target, const char* type, unsigned long flags,
                     const void* data) noexcept;
extern "C" int umount2(const char* target, int flags) noexcept;

namespace assay::confinement {
namespace {

constexpr const char* kLayer = "private root";
constexpr int kDetach = 2;  // MNT_DETACH

[[noreturn]] void fail(const std::string& what) { throw SetupFailure(kLayer, what, errno); }

std::uint64_t restrictions(Access access) {
  switch (access) {
    case Access::read:
      return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    case Access::read_write:
      return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    case Access::device:
      return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
  }
  return 0;
}

void set_attributes(int fd, const std::string& path, std::uint64_t attributes, unsigned flags) {
  mount_attr change{};
  change.attr_set = attributes;
  if (::syscall(SYS_mount_setattr, fd, path.c_str(), flags, &change, sizeof change) != 0) {
    fail("mount_setattr " + path);
  }
}

bool lies_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// What is seen already through a read-only tree above it needs no mount of its own.
bool covered(const Grant& grant, const std::vector<ClonedTree>& trees) {
  return grant.access == Access::read &&
         std::any_of(trees.begin(), trees.end(), [&](const ClonedTree& tree) {
           return tree.folder && tree.grant.access == Access::read &&
                  (tree.grant.path == grant.path || lies_below(grant.path, tree.grant.path));
         });
}

std::string link_target(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const auto length = ::readlink(path.c_str(), target.data(), target.size());
  if (length < 0) fail(path);
  return {target.data(), static_cast<std::size_t>(length)};
}

// /lib and its like are links into /usr nearly everywhere and stay so. Other links are followed:
// what they point to may not be granted under its own name.
bool stays_a_link(const Grant& grant, const struct stat& status) {
  return S_ISLNK(status.st_mode) && !grant.required && grant.path.rfind('/') == 0;
}

void clone_into(std::vector<ClonedTree>& trees, const Grant& grant) {
  struct stat status {};
  if (::lstat(grant.path.c_str(), &status) != 0) {
    if (grant.required) fail(grant.path);
    return;
  }
  if (stays_a_link(grant, status)) {
    trees.push_back({.grant = grant, .link_target = link_target(grant.path)});
    return;
  }
  // The folders of a tree may hold mounts that the user namespace does not allow to be uncovered.
  const auto fd = ::syscall(SYS_open_tree, AT_FDCWD, grant.path.c_str(),
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (fd < 0) fail(grant.path);
  ClonedTree tree{.grant = grant, .mount = posix::Descriptor(static_cast<int>(fd))};
  if (::stat(grant.path.c_str(), &status) != 0) fail(grant.path);
  tree.folder = S_ISDIR(status.st_mode);
  set_attributes(tree.mount.get(), "", restrictions(grant.access), AT_EMPTY_PATH | AT_RECURSIVE);
  trees.push_back(std::move(tree));
}

// Paths below the new root are relative: it is the working directory while it is being built.
std::string relative(const std::string& path) { return path.substr(1); }

void make_folders_above(const std::string& path) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) fail(folder);
  }
}

void make_folder(const std::string& path) {
  make_folders_above(path);
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) fail(path);
}

void make_mount_point(const ClonedTree& tree, const std::string& path) {
  if (tree.folder) return make_folder(path);
  make_folders_above(path);
  const posix::Descriptor file(::open(path.c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0444));
  // In a tree that is mounted already the file is there, and a device node may refuse to be opened.
  if (!file && ::access(path.c_str(), F_OK) != 0) fail(path);
}

void mount_tree(const ClonedTree& tree) {
  const std::string path = relative(tree.grant.path);
  if (!tree.mount) {
    make_folders_above(path);
    if (::symlink(tree.link_target.c_str(), path.c_str()) != 0 && errno != EEXIST) fail(path);
    return;
  }
  make_mount_point(tree, path);
  if (::syscall(SYS_move_mount, tree.mount.get(), "", AT_FDCWD, path.c_str(),
                MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    fail("move_mount " + tree.grant.path);
  }
}

void mount_tmpfs(const std::string& path, unsigned long flags, const std::string& options) {
  if (::mount("tmpfs", path.c_str(), "tmpfs", flags, options.c_str()) != 0) fail("tmpfs " + path);
}

void mount_writable(const std::string& path, const Confinement& confinement) {
  make_folder(path);
  const Limits& limits = confinement.limits;
  const unsigned long no_execution = confinement.may_start_processes ? 0 : MS_NOEXEC;
  mount_tmpfs(path, MS_NOSUID | MS_NODEV | no_execution,
              "mode=1777,size=" + std::to_string(limits.temporary_bytes) +
                  ",nr_inodes=" + std::to_string(limits.temporary_files));
}

// Landlock lets company write below /proc: the machine's settings are there, too.
void protect_settings() {
  for (const char* path : {"proc/bus", "proc/fs", "proc/irq", "proc/sys", "proc/sysrq-trigger"}) {
    if (::mount(path, path, nullptr, MS_BIND | MS_REC, nullptr) != 0) {
      if (errno == ENOENT) continue;  // this kernel has none
      fail(path);
    }
    set_attributes(AT_FDCWD, path, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0);
  }
}

// A pid namespace gets a /proc of its own; without one the machine's is all there is.
void mount_proc(const Confinement& confinement, const posix::Descriptor& machine_proc) {
  make_folder("proc");
  if (has_pid_namespace(confinement.layers.level)) {
    if (::mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
      throw SetupFailure("fresh /proc", "mount", errno);
    }
    if (confinement.is_company) protect_settings();
  } else if (::syscall(SYS_move_mount, machine_proc.get(), "", AT_FDCWD, "proc",
                       MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    fail("move_mount /proc");
  }
}

posix::Descriptor clone_machine_proc() {
  const auto fd = ::syscall(SYS_open_tree, AT_FDCWD, "/proc",
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (fd < 0) fail("/proc");
  return posix::Descriptor(static_cast<int>(fd));
}

void make_device_links() {
  constexpr std::array<std::pair<const char*, const char*>, 4> kLinks{
      {{"/proc/self/fd", "dev/fd"},
       {"/proc/self/fd/0", "dev/stdin"},
       {"/proc/self/fd/1", "dev/stdout"},
       {"/proc/self/fd/2", "dev/stderr"}}};
  for (const auto& [target, path] : kLinks) {
    if (::symlink(target, path) != 0) fail(path);
  }
}

// The old root is put on top of the new one and taken away from there: no folder is needed for it.
void swap_roots() {
  if (::syscall(SYS_pivot_root, ".", ".") != 0) fail("pivot_root");
  if (::umount2(".", kDetach) != 0) fail("umount2 of the old root");
  if (::chdir("/") != 0) fail("chdir");
  set_attributes(AT_FDCWD, "/", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0);
}

}  // namespace

std::vector<ClonedTree> clone_trees(const Confinement& confinement) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) fail("private mounts");
  std::vector<ClonedTree> trees;
  for (const auto& grant : grants(confinement)) {
    if (!covered(grant, trees)) clone_into(trees, grant);
  }
  return trees;
}

void enter_private_root(const Confinement& confinement, const std::vector<ClonedTree>& trees) {
  const bool needs_machine_proc = !has_pid_namespace(confinement.layers.level);
  const auto machine_proc = needs_machine_proc ? clone_machine_proc() : posix::Descriptor();
  // Any folder that surely exists will do as the mount point: it is hidden in this namespace only.
  const char* const kPlace = "/usr";
  mount_tmpfs(kPlace, MS_NOSUID | MS_NODEV, "mode=755,size=1m,nr_inodes=2048");
  if (::chdir(kPlace) != 0) fail(kPlace);
  mount_writable("tmp", confinement);
  mount_writable("dev/shm", confinement);
  mount_proc(confinement, machine_proc);
  for (const auto& tree : trees) mount_tree(tree);
  make_device_links();
  swap_roots();
}

}  // namespace assay::confinement
