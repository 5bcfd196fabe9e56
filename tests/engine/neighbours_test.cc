// Who else is on a device, from what a runner claims that the driver has said.
#include "engine/node/neighbours.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.h"

using namespace assay::node;
using nlohmann::json;

namespace {

const auto kOurs = [](unsigned pid) { return pid >= 100 && pid < 200; };

json working(unsigned pid, unsigned sm_pct) { return {{"pid", pid}, {"sm_pct", sm_pct}}; }

json state(json pids, json working = json::array()) {
  return {{"pids", std::move(pids)}, {"working", std::move(working)}};
}

json list(json::initializer_list_t items) { return json::array(items); }

}  // namespace

TEST_CASE("a process that is not ours and computes is told, ours and idle ones are not") {
  const auto found =
      neighbours_of(state(list({101, 102, 4711, 4712}),
                          list({working(101, 40), working(4711, 87), working(4712, 1)})),
                    true, kOurs);
  CHECK(found.visible);
  CHECK(found.others == std::vector<unsigned>{4711, 4712});
  REQUIRE(found.computing.size() == 1);
  CHECK(found.computing[0].pid == 4711);
  CHECK(tell(found).at("others") == 2);
  CHECK(tenants_warning(found, nullptr).find("process 4711 (87 % of the time)") !=
        std::string::npos);
}

TEST_CASE("nobody but ours is no warning") {
  const auto found = neighbours_of(state(list({101}), list({working(101, 99)})), true, kOurs);
  CHECK(found.visible);
  CHECK(tell(found).at("others") == 0);
  CHECK(tenants_warning(found, nullptr).empty());
}

TEST_CASE(
    "where namespaces hide others nothing is said of them, and no number is taken for a process") {
  const json all = state(list({2, 101}), list({working(2, 99)}));
  CHECK_FALSE(neighbours_of(all, false, kOurs).visible);
  // Numbers of another namespace: the asker is not among them.
  const auto foreign = neighbours_of(state(list({2, 77}), list({working(77, 99)})), true, kOurs);
  CHECK_FALSE(foreign.visible);
  CHECK(foreign.computing.empty());
  CHECK_FALSE(tell(foreign).contains("others"));
}

TEST_CASE("a device that others used up before anybody of ours had it is told, less is not") {
  CHECK(tenants_warning({}, nullptr).empty());
  CHECK(tenants_warning({}, kBusyPct - 1).empty());
  CHECK_FALSE(tenants_warning({}, kBusyPct).empty());
}

TEST_CASE("a claim that is not one is left out") {
  for (const json& odd : {json(nullptr), json(3), json::object(), state("many"),
                          state(list({"a", -5, 1e30, nullptr, 101})),
                          state(list({101}), list({3,
                                                   json::object(),
                                                   {{"pid", -1}, {"sm_pct", 5}},
                                                   {{"pid", 7}, {"sm_pct", "x"}}}))}) {
    const auto found = neighbours_of(odd, true, kOurs);
    CHECK(found.others.empty());
    CHECK(found.computing.empty());
  }
  CHECK(neighbours_of(state(std::vector<int>(5000, 300)), true, kOurs).others.empty());
  CHECK(tenants_warning({}, "x").empty());
  CHECK(tenants_warning({}, -1).empty());
}

TEST_CASE("a child and its child are descendants, oneself and strangers are not") {
  const auto self = static_cast<unsigned>(::getpid());
  CHECK_FALSE(is_descendant(self, self));
  CHECK(is_descendant(self, static_cast<unsigned>(::getppid())));
  CHECK_FALSE(is_descendant(1, self));
  CHECK_FALSE(is_descendant(0, self));
  CHECK_FALSE(is_descendant(0x7fffffff, self));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::getppid() == static_cast<pid_t>(self) ? 0 : 1);
  CHECK(is_descendant(static_cast<unsigned>(child), self));  // a zombie at least
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(is_descendant(static_cast<unsigned>(child), self));
}
