#include <signal.h>
#include <unistd.h>

#include "engine/confinement/child.h"
#include "tests/misbehaving/misdeeds.h"

namespace assay::misbehaving {
namespace {

[[noreturn]] void sleep_for_ever() {
  for (;;) ::pause();
}

int hang(const Options&) { sleep_for_ever(); }

int hang_loudly(const Options&) {
  announce("hanging");
  sleep_for_ever();
}

int ignore_sigterm(const Options&) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU}) ::signal(signal, SIG_IGN);
  announce("ignoring");
  sleep_for_ever();
}

int spin(const Options&) {
  announce("spinning");
  volatile bool forever = true;
  while (forever) {
  }
  return 0;
}

int close_channel(const Options&) {
  ::close(confinement::kChannelDescriptor);
  announce("closed");
  sleep_for_ever();
}

int close_everything(const Options&) {
  for (int fd = 0; fd < 64; ++fd) ::close(fd);
  sleep_for_ever();
}

constexpr Misdeed kSilences[] = {
    {"hang", "never says a word", hang},
    {"hang_loudly", "says that it hangs, then hangs", hang_loudly},
    {"ignore_sigterm", "ignores every signal that can be ignored", ignore_sigterm},
    {"spin", "uses the processor for ever", spin},
    {"close_channel", "closes its channel and lives on", close_channel},
    {"close_everything", "closes all its descriptors and lives on", close_everything},
};

}  // namespace

std::span<const Misdeed> silences() { return kSilences; }

}  // namespace assay::misbehaving
