// What one child may see, use and do. The engine fills it in, spawn() carries it to the child, and
// the child puts it in force before it runs a line of its role. A plain value; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/confinement/level.h"

namespace assay::confinement {

// What a level is made of on this machine; Isolation::layers holds those that the self-test proved.
struct Layers {
  Level level = Level::L1;
  // A uid that no other live process has. Needs a root engine.
  bool separate_uid = false;
  // Namespaces are made inside a user namespace; false only for a root engine where those are
  // forbidden.
  bool user_namespace = true;
  // False only at L0, or with namespaces on a kernel that has no Landlock.
  bool landlock = true;
};

// Enforced by the kernel unless the comment says otherwise. RLIMIT_AS is never set: it breaks CUDA.
struct Limits {
  std::uint64_t cpu_seconds = 900;
  // Private writable memory of each process. Not in force in sanitizer builds, whose shadow is
  // larger.
  std::uint64_t data_bytes = 8ULL << 30;
  std::uint64_t file_bytes = 256ULL << 20;
  std::uint64_t locked_bytes = 64ULL << 20;
  std::uint64_t open_files = 256;
  // Threads count too.
  std::uint64_t tasks = 512;
  // Of the private /tmp and the private /dev/shm (each); they exist at L1n and above.
  std::uint64_t temporary_bytes = 64ULL << 20;
  std::uint64_t temporary_files = 4096;
  // Watched by whoever supervises, through resident_bytes(); 0 means unwatched.
  std::uint64_t resident_bytes = 0;
};

struct Confinement {
  Layers layers{};
  Profile profile = Profile::compile;
  // Whether the worker may fork and execute. Python and host compilers need it, device-only roles
  // do not.
  bool may_start_processes = false;
  // Its processes may meet over sockets that reach nobody outside, and each of them may open the
  // driver: for a tool that starts the program it looks at. In force with a pid namespace only.
  bool is_company = false;
  // Files and folders to be readable beside the system's libraries, by absolute path. One that does
  // not exist is a set-up failure.
  std::vector<std::string> readable{};
  // Folders the engine made for this child alone, readable and writable under the same path. Their
  // size is the engine's to watch. With separate_uid they are given to that uid.
  std::vector<std::string> writable{};
  // Device nodes of the leased GPU.
  std::vector<std::string> devices{};
  Limits limits{};
};

// Where a child finds a folder to write in: /tmp where it is private, else the first writable
// folder, else a path that does not exist.
[[nodiscard]] std::string temporary_folder(const Confinement& confinement);

// The form in which a Confinement travels to the child. decode() throws std::runtime_error on
// anything it does not know.
[[nodiscard]] std::string encode(const Confinement& confinement);
[[nodiscard]] Confinement decode(std::string_view text);

}  // namespace assay::confinement
