#include "cli/termination_signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <cerrno>

namespace assay::cli {

TerminationSignals::TerminationSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = posix::Descriptor(::signalfd(-1, &set, SFD_CLOEXEC));
  thread_ = std::thread([this] { watch(); });
}

TerminationSignals::~TerminationSignals() {
  posix::signal_event(done_);
  thread_.join();
}

void TerminationSignals::watch() {
  pollfd entries[] = {{signals_.get(), POLLIN, 0}, {done_.get(), POLLIN, 0}};
  while (::poll(entries, 2, -1) < 0 && errno == EINTR) {
  }
  if (entries[0].revents != 0) source_.request_stop();
}

}  // namespace assay::cli
