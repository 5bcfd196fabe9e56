// What the journal's tests share: second processes. One is this test program again, running one
// hidden test case by its name: it gets the directory in the environment, tells what it has done on
// descriptor 3, and goes on until its standard input ends.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/journal/journal.h"
#include "engine/posix/descriptor.h"
#include "tests/folder.h"

namespace assay::journal {

using tests::Folder;

class Process {
 public:
  Process(const std::string& test_case, const std::filesystem::path& folder);
  ~Process();  // kills it if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The next line it tells; "" once it has ended.
  [[nodiscard]] std::string line();
  // Ends its standard input and waits. Returns its exit status, or 128 + the signal.
  int finish();
  // SIGKILL, reaped.
  void kill();

 private:
  pid_t pid_ = -1;
  posix::Descriptor input_{};
  posix::Descriptor told_{};
  std::string buffer_{};
};

// In the second process.
[[nodiscard]] std::filesystem::path child_folder();
void tell(const std::string& line);  // one write: whole or not at all
void until_input_ends();

[[nodiscard]] Options options();
[[nodiscard]] job::JobRecord new_job(const std::string& principal = "alice");
// As much as a disk of megabytes has room for a few of.
[[nodiscard]] job::StageRecord large_stage();
// Why the journal refused the call; fails the test if it took it.
[[nodiscard]] JournalUnavailable::Why refused(const std::function<void()>& call);
// The text an SQL query gives on a second connection.
[[nodiscard]] std::string query(const std::filesystem::path& state_dir, const std::string& sql);

}  // namespace assay::journal
