// The referee's kernels, run by the emulator: every answer is that of the host's examiner.
#include <random>

#include "tests/engine/examiner_pair.h"

using namespace assay;
using namespace assay::examiner_pair;

TEST_CASE("a right output is clean on the device, and never fetched") {
  Pair pair(in_and_out("float32", 300));
  pair.turn(0, writes_floats(pair, 300, 1.0F));
  CHECK(pair.agreed_expect().at("findings").empty());
  // Within tolerance, and not equal.
  pair.turn(0, writes_floats(pair, 300, 1.000001F));
  const json said = pair.agreed_check();
  CHECK(said.at("ok") == true);
  CHECK(said.at("outputs").at(0).at("max_abs_error") > 0.0);
  CHECK(said.at("outputs").at(0).at("max_ulp_error") > 0);
  pair.turn(0, writes_floats(pair, 300, 1.000001F));
  CHECK(pair.agreed_check().at("findings").empty());
}

TEST_CASE("outputs of the contract's own inputs have a digest, the same from both, once") {
  Pair pair(in_and_out("float32", 301));
  pair.turn(0, writes_floats(pair, 301, 1.0F));
  const json first = pair.agreed_check();
  CHECK(first.at("digests").size() == 1);
  CHECK(first.at("digests").at("out").get<std::string>().size() == 16);
  pair.turn(0, writes_floats(pair, 301, 1.0F));
  CHECK_FALSE(pair.agreed_check().contains("digests"));
  pair.turn(1, writes_floats(pair, 301, 1.0F));
  CHECK_FALSE(pair.agreed_check().contains("digests"));

  Pair other(in_and_out("float32", 301));
  other.turn(0, writes_floats(other, 301, 2.0F));
  CHECK(other.agreed_check().at("digests") != first.at("digests"));
}

TEST_CASE("what is wrong is told by the device's examiner as by the host's") {
  struct Fault {
    const char* name;
    std::function<void(const Pair&, std::span<std::byte>)> apply;
  };
  const std::vector<Fault> faults = {
      {"one element", [](const Pair& p, auto arena) { put(arena, p.offset(1), 17, 999.0F); }},
      {"NaN", [](const Pair& p, auto arena) { put(arena, p.offset(1), 3, std::nanf("")); }},
      {"infinity", [](const Pair& p, auto arena) { put(arena, p.offset(1), 3, INFINITY); }},
      {"behind the output", [](const Pair& p, auto arena) { put(arena, p.offset(1), 301, 1.0F); }},
      {"before the output",
       [](const Pair& p, auto arena) { put(arena, p.offset(1) - 4, 0, 1.0F); }},
      {"input", [](const Pair& p, auto arena) { put(arena, p.offset(0), 200, 1.0F); }},
      {"last byte of the input",
       [](const Pair& p, auto arena) { put(arena, p.offset(0) + 1203, 0, std::uint8_t{0x5A}); }},
  };
  for (const auto& fault : faults) {
    INFO(fault.name);
    Pair pair(in_and_out("float32", 301));
    pair.turn(0, writes_floats(pair, 301, 1.0F));
    (void)pair.agreed_expect();
    pair.turn(0, [&](std::span<std::byte> arena) {
      writes_floats(pair, 301, 1.0F)(arena);
      fault.apply(pair, arena);
    });
    const json said = pair.agreed_check();
    CHECK((said.at("ok") == false || !said.at("findings").empty()));
    // And again: the next run is judged as if nothing had been.
    pair.turn(1, writes_floats(pair, 301, 2.0F));
    (void)pair.agreed_expect();
    pair.turn(1, writes_floats(pair, 301, 2.0F));
    CHECK(pair.agreed_check().at("ok") == true);
  }
}

TEST_CASE("nothing that a run left behind the tensors of lent memory is there for the next") {
  Pair pair(in_and_out("float32", 301));
  const std::size_t behind = pair.bytes();
  const auto first = pair.space.lent(pair.device.fill(0, 0));
  REQUIRE(first.size() > behind);
  put(first, behind, 0, 0x5EED);
  put(first, first.size() - sizeof(int), 0, 0x5EED);
  const auto next = pair.space.lent(pair.device.fill(1, 0));
  REQUIRE(next.data() == first.data());
  int near = 0x5EED;
  int far = 0x5EED;
  std::memcpy(&near, next.data() + behind, sizeof near);
  std::memcpy(&far, next.data() + next.size() - sizeof far, sizeof far);
  CHECK(near != 0x5EED);
  CHECK(far == near);
}

TEST_CASE("elements left unwritten are seen for every dtype, by reference and by candidate") {
  for (const char* dtype : {"float64", "float32", "float16", "bfloat16", "int64", "int32", "int16",
                            "int8", "uint64", "uint8", "bool"}) {
    INFO(dtype);
    Pair pair(in_and_out(dtype, 64));
    const std::size_t size = contract::size_bytes(*contract::parse_dtype(dtype));
    // All but the last eight elements.
    const auto partly = [&](std::span<std::byte> arena) {
      std::fill_n(arena.data() + pair.offset(1), 56 * size, std::byte{1});
    };
    const auto whole = [&](std::span<std::byte> arena) {
      std::fill_n(arena.data() + pair.offset(1), 64 * size, std::byte{1});
    };
    pair.turn(0, whole);
    (void)pair.agreed_expect();
    pair.turn(0, partly);
    CHECK(pair.agreed_check().at("findings").at(0).at("check") == "unwritten");
    // A reference that leaves them excuses the candidate.
    pair.turn(1, partly);
    CHECK(pair.agreed_expect().at("findings").at(0).at("count") == 8);
    pair.turn(1, partly);
    CHECK(pair.agreed_check().at("ok") == true);
    pair.turn(1, whole);
    CHECK(pair.agreed_check().at("ok") == true);
  }
}

TEST_CASE("a kernel that does not repeat is seen, with and without a reference") {
  Pair pair(in_and_out("float32", 40));
  pair.turn(0, writes_floats(pair, 40, 1.0F));
  CHECK(pair.agreed_check().at("findings").empty());
  pair.turn(0, writes_floats(pair, 40, 1.5F));
  CHECK(pair.agreed_check().at("findings").at(0).at("check") == "repeat_differs");
  pair.turn(0, writes_floats(pair, 40, 1.0F));
  CHECK(pair.agreed_check().at("findings").empty());
}

TEST_CASE("poison is no answer where the reference has NaN") {
  Pair pair(in_and_out("float32", 40));
  pair.turn(0, [&](std::span<std::byte> arena) {
    for (std::size_t i = 0; i < 40; ++i) put(arena, pair.offset(1), i, std::nanf(""));
  });
  (void)pair.agreed_expect();
  pair.turn(0, [](std::span<std::byte>) {});
  CHECK(pair.agreed_check().at("ok") == false);
  pair.turn(0, [&](std::span<std::byte> arena) {
    for (std::size_t i = 0; i < 40; ++i) put(arena, pair.offset(1), i, -std::nanf(""));
  });
  CHECK(pair.agreed_check().at("ok") == true);
}

TEST_CASE("an inout tensor begins as the contract says and is compared") {
  Pair pair({tensor("a", "input", {{"shape", {50}}, {"dtype", "float16"}}),
             tensor("x", "inout", {{"shape", {50}}, {"dtype", "int32"}})});
  const auto adds_one = [&](std::span<std::byte> arena) {
    for (std::size_t i = 0; i < 50; ++i) {
      std::int32_t value = 0;
      std::memcpy(&value, arena.data() + pair.offset(1) + 4 * i, 4);
      put(arena, pair.offset(1), i, value + 1);
    }
  };
  for (std::uint32_t trial = 0; trial < 3; ++trial) {
    pair.turn(trial, adds_one);
    (void)pair.agreed_expect();
    pair.turn(trial, adds_one);
    CHECK(pair.agreed_check().at("ok") == true);
    pair.turn(trial, [](std::span<std::byte>) {});
    CHECK(pair.agreed_check().at("ok") == false);
  }
}

TEST_CASE("inputs that were made elsewhere are taken and watched on a device as on the host") {
  constexpr std::size_t kN = 300;
  Pair pair(in_and_out("float32", kN));
  const auto given = posix::SharedMemory::create("given", pair.bytes());
  for (std::size_t i = 0; i < kN; ++i)
    put(given.bytes(), pair.offset(0), i, 0.5F + static_cast<float>(i));
  const auto turn = [&](float changed, float scale) {
    const auto host_arena = posix::SharedMemory::adopt(pair.host.fill(3, 0), pair.bytes());
    const auto lent = pair.device.fill(3, 0);
    pair.host.take_inputs(given.descriptor().duplicate());
    pair.device.take_inputs(given.descriptor().duplicate());
    const auto device_arena = pair.space.lent(lent);
    REQUIRE(std::equal(host_arena.bytes().begin(), host_arena.bytes().end(), device_arena.begin()));
    for (const auto arena : {host_arena.bytes(), device_arena}) {
      put(arena, pair.offset(0), 7, changed);
      writes_floats(pair, kN, scale)(arena);
    }
  };
  turn(7.5F, 2);
  CHECK(pair.agreed_expect().at("findings").empty());
  turn(7.5F, 2);
  CHECK(pair.agreed_check().at("ok") == true);
  turn(7.5F, 3);
  CHECK(pair.agreed_check().at("ok") == false);
  turn(1.0F, 2);
  CHECK(pair.agreed_check().at("findings").at(0).at("check") == "input_mutated");
  // The next run of the slot begins with its own again.
  (void)pair.host.fill(4, 0);
  (void)pair.device.fill(4, 0);
  CHECK(pair.device.check() == pair.host.check());
}

TEST_CASE("a weak task is told from the device as from the host") {
  Pair pair(in_and_out("float32", 64));
  pair.turn(0, [&](std::span<std::byte> arena) {
    for (std::size_t i = 0; i < 64; ++i) put(arena, pair.offset(1), i, 1e-9F);
  });
  (void)pair.agreed_expect();
  const json said = pair.host.weak_oracle();
  CHECK(!said.at("warnings").empty());
  CHECK(said.at("expected").begin()->at("middle_size").get<double>() == Approx(1e-9));
  CHECK(pair.device.weak_oracle() == said);
}

TEST_CASE("random outputs of every comparable dtype are judged alike") {
  std::mt19937 random(7);
  for (const DType dtype : contract::all_dtypes()) {
    const auto args = in_and_out(std::string(contract::name(dtype)).c_str(), 96);
    if (!DeviceExamination::suits(contract_of(args))) continue;
    const std::size_t size = contract::size_bytes(dtype);
    for (int round = 0; round < 6; ++round) {
      Pair pair(args);
      std::vector<std::byte> wanted(96 * size);
      for (auto& byte : wanted) byte = static_cast<std::byte>(random() & 0x7F);
      auto got = wanted;
      for (int i = 0; i < round; ++i) {
        got[random() % got.size()] ^= static_cast<std::byte>(1U << (random() % 8));
      }
      const auto writes = [&](const std::vector<std::byte>& bytes) {
        return [&](std::span<std::byte> arena) {
          std::copy(bytes.begin(), bytes.end(),
                    arena.begin() + static_cast<std::ptrdiff_t>(pair.offset(1)));
        };
      };
      INFO(contract::name(dtype) << " round " << round);
      pair.turn(0, writes(wanted));
      (void)pair.agreed_expect();
      pair.turn(0, writes(got));
      (void)pair.agreed_check();
    }
  }
}

TEST_CASE(
    "a job's device memory is free again when its examination ends, and running out is told") {
  const auto contract = contract_of(in_and_out("float32", 1000));
  EmulatorSpace space(runner::referee_kernels());
  {
    DeviceExamination device(contract, {}, kSecret, space);
    for (std::uint32_t trial = 0; trial < 4; ++trial) {
      (void)device.fill(trial, trial % 2);
      (void)device.expect();
      (void)device.check();
    }
    CHECK(space.used_bytes() > 0);
  }
  CHECK(space.used_bytes() == 0);
  space.room_bytes = 200'000;
  CHECK_THROWS_AS(
      [&] {
        DeviceExamination device(contract, {}, kSecret, space);
        for (std::uint32_t slot = 0; slot < 100; ++slot) (void)device.fill(0, slot);
      }(),
      runner::OutOfMemory);
}

TEST_CASE("a run that counts as another trial's is held against that one's answers") {
  Pair pair(
      {tensor("x", "input",
              {{"shape", {64}}, {"dtype", "float32"}, {"init", {{"kind", "randn"}, {"seed", 1}}}}),
       tensor("y", "output", {{"shape", {64}}, {"dtype", "float32"}}),
       tensor("same", "output", {{"shape", {64}}, {"dtype", "float32"}})});
  const auto answer = [&](std::span<std::byte> arena) {
    std::copy_n(arena.begin() + static_cast<std::ptrdiff_t>(pair.offset(0)), 256,
                arena.begin() + static_cast<std::ptrdiff_t>(pair.offset(1)));
    std::fill_n(arena.begin() + static_cast<std::ptrdiff_t>(pair.offset(2)), 256, std::byte{0x3F});
  };
  for (const std::uint32_t trial : {5U, 6U}) {
    pair.turn(trial, answer);
    (void)pair.host.expect();
    (void)pair.device.expect();
  }
  pair.turn(6, answer);
  CHECK(pair.agreed_check().at("ok") == true);
  pair.host.count_as(5);
  pair.device.count_as(5);
  const json host = pair.host.outline();
  const json device = pair.device.outline();
  CHECK(host == device);
  CHECK(device.at("outputs").at(0) == json({{"name", "y"}, {"shape", {64}}, {"ok", false}}));
  CHECK(device.at("outputs").at(1).at("ok") == true);
}

TEST_CASE(
    "what the contract fixes is drawn otherwise, the same by both, and nothing else changes") {
  Pair pair(json{
      tensor("x", "input", {{"shape", {9}}, {"init", {{"kind", "randn"}}}}),
      tensor("gamma", "input", {{"shape", {300}}, {"init", {{"kind", "ones"}}}}),
      tensor("beta", "input", {{"shape", {7}}, {"init", {{"kind", "zeros"}}}}),
      tensor("count", "input", {{"shape", {5}}, {"dtype", "int32"}, {"init", {{"kind", "ones"}}}}),
      tensor("out", "output", {{"shape", {9}}})});
  const auto host_before = posix::SharedMemory::adopt(pair.host.fill(0, 1), pair.bytes());
  const std::vector<std::byte> before(host_before.bytes().begin(), host_before.bytes().end());
  pair.host.draw_otherwise();
  const auto lent = pair.device.fill(0, 1);
  pair.device.draw_otherwise();
  const auto host = host_before.bytes();
  CHECK(std::equal(host.begin(), host.end(), pair.space.lent(lent).begin()));
  for (const std::size_t i : {0U, 1U, 2U, 3U, 4U}) {
    const auto& place = pair.host.layout().placements.at(i);
    const auto there = host.subspan(place.offset, place.bytes);
    const bool is_same = std::equal(there.begin(), there.end(),
                                    before.begin() + static_cast<std::ptrdiff_t>(place.offset));
    CHECK(is_same == (i != 1 && i != 2));
  }
  float gamma = 0;
  std::memcpy(&gamma, host.data() + pair.offset(1), sizeof gamma);
  CHECK(gamma >= 0.5F);
  CHECK(gamma < 1.0F);
}
