// What a kernel prints: the driver writes it to standard output, which is a file of ours while this
// lives.
//
// One at a time in a process; the thread that queues the kernel.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "engine/emulator/emulator.h"
#include "engine/posix/descriptor.h"

namespace assay::runner {

class CapturedOutput {
 public:
  CapturedOutput()
      : file_(::memfd_create("printf", MFD_CLOEXEC)), before_(::fcntl(1, F_DUPFD_CLOEXEC, 3)) {
    std::fflush(stdout);
    ::dup2(file_.get(), STDOUT_FILENO);
  }
  ~CapturedOutput() {
    std::fflush(stdout);
    ::dup2(before_.get(), STDOUT_FILENO);
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

  void take(std::size_t limit, emulator::Outcome& outcome) const {
    std::fflush(stdout);
    std::string text(limit + 1, '\0');
    const auto got = ::pread(file_.get(), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    outcome.printf_truncated = text.size() > limit;
    if (outcome.printf_truncated) text.resize(limit);
    outcome.printf_output = std::move(text);
  }

 private:
  posix::Descriptor file_;
  posix::Descriptor before_;
};

}  // namespace assay::runner
