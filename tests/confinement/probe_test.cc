#include "engine/confinement/probe.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "engine/confinement/targets.h"
#include "engine/posix/descriptor.h"
#include "tests/catch.h"

namespace assay::confinement {

TEST_CASE("a probe that cannot read its targets tries nothing, and says why") {
  auto line = posix::make_socket_pair();
  const std::string question = R"({"supervisor": "nobody"})";
  REQUIRE(::write(line.ours.get(), question.data(), question.size()) > 0);
  ::shutdown(line.ours.get(), SHUT_WR);
  CHECK(run_probe(line.theirs.get()) == 1);
  std::string answer(4096, '\0');
  const auto length = ::read(line.ours.get(), answer.data(), answer.size());
  REQUIRE(length > 0);
  answer.resize(static_cast<std::size_t>(length));
  const Findings told = findings_from_json(nlohmann::json::parse(answer));
  CHECK(told.attacks.empty());
  CHECK_THAT(told.fault, Catch::Contains("must be number"));
}

}  // namespace assay::confinement
