// The fake tools behind real standard streams, as a process: for tests that need one. It chatters
// on stdout as libraries and children do; none of it may reach the client. Ends on SIGTERM.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "mcp/server.h"
#include "tests/mcp/fake_tools.h"

int main() {
  using namespace assay::mcp;
  StdioStreams streams = StdioStreams::take();
  std::puts("chatter of the C library");
  std::cout << "chatter of a stream" << std::endl;
  if (std::system("echo chatter of a child; read line && echo input $line") < 0) return 1;

  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::stop_source stop;
  std::thread([&ends, &stop] {
    int signal = 0;
    sigwait(&ends, &signal);
    stop.request_stop();
  }).detach();

  StdioServer server({.version = "1.2.3", .instructions = "Try echo first.", .tools = fake_tools()},
                     std::move(streams));
  const Outcome outcome = server.run(stop.get_token());
  std::fflush(stdout);
  std::_Exit(outcome.ended == Ended::input_ended ? 0 : 3);
}
