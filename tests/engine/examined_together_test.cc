// Runs that are examined in one round trip: every answer is that of one after the other.
#include <array>

#include "tests/engine/examiner_pair.h"

using namespace assay;
using namespace assay::examiner_pair;

TEST_CASE("several runs are judged together as one after the other") {
  struct Left {
    std::uint32_t trial;
    float scale;
  };
  // Of trial 1 two, which differ; once more of trial 0, which is as it was.
  constexpr std::array kLeft{Left{0, 1.0F}, Left{1, 1.0F}, Left{1, 1.5F}, Left{2, 1.0F},
                             Left{0, 1.0F}};
  for (const bool expects : {true, false}) {
    Pair pair(in_and_out("float32", 300));
    for (std::uint32_t trial = 0; expects && trial < 3; ++trial) {
      pair.turn(trial, writes_floats(pair, 300, trial == 2 ? 3.0F : 1.0F));
      CHECK(pair.agreed_expect().at("findings").empty());
    }
    std::vector<std::uint32_t> slots;
    for (const Left& left : kLeft) {
      const auto slot = static_cast<std::uint32_t>(slots.size());
      const auto write = writes_floats(pair, 300, left.scale);
      write(posix::SharedMemory::adopt(pair.host.fill(left.trial, slot), pair.bytes()).bytes());
      write(pair.space.lent(pair.device.fill(left.trial, slot)));
      slots.push_back(slot);
    }
    const auto said = pair.host.check_all(slots);
    CHECK(pair.device.check_all(slots) == said);
    REQUIRE(said.size() == kLeft.size());
    CHECK(said[0].contains("digests"));
    CHECK_FALSE(said[4].contains("digests"));
    if (expects) {
      const std::array ok{true, true, false, false, true};
      for (std::size_t i = 0; i < ok.size(); ++i) CHECK(said[i].at("ok") == ok.at(i));
    } else {
      CHECK(said[2].at("findings").at(0).at("check") == "repeat_differs");
    }
  }
}
