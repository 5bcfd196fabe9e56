// The server's side of its engine, with a real process on the other end.
#include "engine/node/engine_process.h"

#include <thread>

#include "tests/catch.h"

using namespace assay;
using namespace std::chrono_literals;

TEST_CASE("an engine that had nothing to do for long is given time before its silence counts") {
  std::vector<std::string> said;
  node::EngineProcess engine({.executable = ASSAY_FAKE_ENGINE, .silence = 400ms},
                             [&](const std::string& text) { said.push_back(text); });
  const auto run = [&](const std::string& id) {
    return engine.run({.job_id = id, .kind = "test"}, [](const node::StageEvent&) {}, {});
  };
  CHECK(run("one").verdict == job::Verdict::passed);
  const int pid = engine.pid();
  for (const char* id : {"two", "three", "four"}) {
    std::this_thread::sleep_for(700ms);
    CHECK(run(id).verdict == job::Verdict::passed);
  }
  CHECK(engine.pid() == pid);
  CHECK(said.empty());
}
