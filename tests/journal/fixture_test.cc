#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace assay::journal {
namespace {

constexpr int kTellFd = 3;
constexpr const char* kFolderVariable = "ASSAY_JOURNAL_TEST_FOLDER";

}  // namespace

Process::Process(const std::string& test_case, const std::filesystem::path& folder) {
  posix::Pair input = posix::make_pipe();
  posix::Pair told = posix::make_pipe();
  // Above 3, so that the child's descriptor 3 is not overwritten by itself.
  const posix::Descriptor tell_end(::fcntl(told.theirs.get(), F_DUPFD_CLOEXEC, 10));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.ours.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, tell_end.get(), kTellFd);
  ::setenv(kFolderVariable, folder.c_str(), 1);
  std::string program = "/proc/self/exe";
  std::string name = test_case;
  char* const arguments[] = {program.data(), name.data(), nullptr};
  const int error = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("posix_spawn failed");
  input_ = std::move(input.theirs);
  told_ = std::move(told.ours);
}

Process::~Process() { kill(); }

std::string Process::line() {
  for (;;) {
    const auto end = buffer_.find('\n');
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    char block[4096];
    const ssize_t got = ::read(told_.get(), block, sizeof block);
    if (got <= 0) return {};
    buffer_.append(block, static_cast<std::size_t>(got));
  }
}

int Process::finish() {
  input_.reset();
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Process::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::filesystem::path child_folder() {
  const char* folder = std::getenv(kFolderVariable);
  if (folder == nullptr) throw std::runtime_error("this test case is run by another one");
  return folder;
}

void tell(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(kTellFd, whole.data(), whole.size()) < 0) std::_Exit(3);
}

void until_input_ends() {
  char byte = 0;
  while (::read(0, &byte, 1) > 0) {
  }
}

Options options() { return {.kinds = {job::kernel_kind()}}; }

job::JobRecord new_job(const std::string& principal) {
  return {.id = job::new_job_id(),
          .kind = "kernel",
          .principal = principal,
          .request = {{"source", "__global__ void k() {}"}}};
}

job::StageRecord large_stage() {
  return {.name = "compiled", .body = {{"log", std::string(200'000, 'x')}}};
}

JournalUnavailable::Why refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const JournalUnavailable& error) {
    UNSCOPED_INFO(error.what());
    return error.why;
  }
  FAIL("the storage took it");
  return JournalUnavailable::Why::io_error;
}

std::string query(const std::filesystem::path& state_dir, const std::string& sql) {
  sqlite3* database = nullptr;
  std::string text;
  const auto take = [](void* out, int columns, char** values, char**) {
    if (columns > 0 && values[0] != nullptr) *static_cast<std::string*>(out) += values[0];
    return 0;
  };
  char* error = nullptr;
  if (::sqlite3_open((state_dir / "journal.db").c_str(), &database) == SQLITE_OK) {
    ::sqlite3_exec(database, sql.c_str(), take, &text, &error);
  }
  if (error != nullptr) text = error;
  ::sqlite3_free(error);
  ::sqlite3_close(database);
  return text;
}

}  // namespace assay::journal
