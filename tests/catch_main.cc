// main() of every test executable. Writes to somebody who has gone are answers here as in the
// product, whose every main() ignores SIGPIPE: a test whose peer dies would otherwise end all the
// others.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include "tests/catch.h"
#endif

#include <csignal>

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return Catch::Session().run(argc, argv);
}
