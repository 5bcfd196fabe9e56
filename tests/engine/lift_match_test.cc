// Two captures of a source made one sequence: what is an address, what is a number, and what makes
// them too different to be one.
#include "engine/node/lift_match.h"

#include <cstring>
#include <random>

#include "tests/catch.h"

using namespace assay::node;
using nlohmann::json;

namespace {

constexpr std::uint64_t kArenaBytes = 1000;

std::string words(const std::vector<std::uint64_t>& list) {
  std::string bytes(list.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(bytes.data(), list.data(), bytes.size());
  return bytes;
}

std::uint64_t word(const std::string& bytes, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

CapturedStep launch(std::string parameters, std::size_t program = 0) {
  CapturedStep step{.what = "launch", .program = program, .entry = "k"};
  step.parameters = std::move(parameters);
  return step;
}

// A process whose memory begins at `base`: the arena, and two buffers behind it.
CapturedCall process(std::uint64_t base) {
  return {.arena = {.address = base, .bytes = kArenaBytes},
          .regions = {{.address = base, .bytes = 2048},
                      {.address = base + 0x10000, .bytes = 4096},
                      {.address = base + 0x20000, .bytes = 100}}};
}

std::string why(const CapturedCall& one, const CapturedCall& other) {
  const auto answer = matched(one, other);
  const auto* text = std::get_if<std::string>(&answer);
  return text != nullptr ? *text : std::string();
}

}  // namespace

TEST_CASE("addresses become offsets by the buffer they lie in, whatever they were") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t bases[2] = {0x7f0000000000 + (random() % 1024) * 0x100000,
                                    0x7e0000000000 + (random() % 1024) * 0x100000};
    const std::uint64_t in_arena = random() % kArenaBytes;
    const std::uint64_t in_buffer = random() % 4096;
    const std::uint64_t number = random() % 1'000'000;
    CapturedCall calls[2];
    for (int i = 0; i < 2; ++i) {
      calls[i] = process(bases[i]);
      calls[i].steps = {
          launch(words({bases[i] + 0x20000 + 99, number})),
          launch(words({number, bases[i] + in_arena, bases[i] + 0x10000 + in_buffer}), 5)};
    }
    const auto answer = matched(calls[0], calls[1]);
    REQUIRE(std::holds_alternative<LiftedWork>(answer));
    const auto& work = std::get<LiftedWork>(answer);
    // Independent: the buffer met first lies first behind the arena, each at a multiple of 512.
    CHECK(work.scratch == std::vector<std::uint64_t>{100, 4096});
    CHECK(work.scratch_begin == 1024);
    CHECK(work.memory_bytes == 1024 + 512 + 4096);
    CHECK(word(work.parameters, 0) == 1024 + 99);
    CHECK(word(work.parameters, 1) == number);
    CHECK(word(work.parameters, 2) == number);
    CHECK(word(work.parameters, 3) == in_arena);
    CHECK(word(work.parameters, 4) == 1024 + 512 + in_buffer);
    CHECK(work.steps[0]["pointers"] == json({0}));
    CHECK(work.steps[1]["pointers"] == json({8, 16}));
    CHECK(work.programs == std::vector<std::size_t>{0, 5});
    CHECK(work.blanked_bytes == 0);
  }
}

TEST_CASE("what was returned takes the place of the output it is") {
  CapturedCall one = process(0x100000);
  CapturedCall other = process(0x900000);
  one.outputs = {{.range = {.address = 0x110100, .bytes = 64}, .place = 200}};
  other.outputs = {{.range = {.address = 0x910800, .bytes = 64}, .place = 200}};
  one.steps = {launch(words({0x110100, 0x110120}))};
  other.steps = {launch(words({0x910800, 0x910820}))};
  const auto answer = matched(one, other);
  const auto& work = std::get<LiftedWork>(answer);
  CHECK(word(work.parameters, 0) == 200);
  CHECK(word(work.parameters, 1) == 232);
  CHECK(work.scratch.empty());
}

TEST_CASE("bytes that differ by chance are zero in the repetition, and counted") {
  CapturedCall one = process(0x100000);
  CapturedCall other = one;
  one.steps = {launch(words({0x11223344'00000005}) + "abc")};
  other.steps = {launch(words({0x55223344'00000005}) + "abX")};
  const auto answer = matched(one, other);
  const auto& work = std::get<LiftedWork>(answer);
  CHECK(word(work.parameters, 0) == 0x00223344'00000005);
  CHECK(work.parameters.substr(8) == std::string("ab\0", 3));
  CHECK(work.blanked_bytes == 2);
}

TEST_CASE("too many numbers that differ came from the data") {
  CapturedCall one = process(0x100000);
  CapturedCall other = one;
  one.steps = {launch(std::string(80, 'a'))};
  other.steps = {launch(std::string(80, 'b'))};
  CHECK(why(one, other) == "numbers that k is given differ from call to call");
}

TEST_CASE("captures that disagree on what is done are no sequence") {
  const CapturedCall base = process(0x100000);
  CapturedCall one = base;
  one.steps = {launch(words({1}))};
  const auto against = [&](const auto& change) {
    CapturedCall other = one;
    change(other);
    return why(one, other);
  };
  CHECK(against([](auto& call) { call.steps.clear(); }) == "a call does 1 steps, another 0");
  CHECK(against([](auto& call) { call.steps[0].entry = "other"; }).find("which kernels") == 0);
  CHECK(against([](auto& call) { call.steps[0].program = 9; }).find("which kernels") == 0);
  CHECK(against([](auto& call) { call.steps[0].grid[1] = 2; }) ==
        "the launch of k differs from call to call");
  CHECK(against([](auto& call) {
          call.steps[0].traits = {{2, 1, 0, 0}};
        }) == "the launch of k differs from call to call");
  CHECK(against([](auto& call) { call.steps[0].parameters += "more"; }) ==
        "the parameters of k differ from call to call");
  CHECK(against([](auto& call) { call.refused = "work on several streams"; }) ==
        "work on several streams");
  CHECK(why(base, base) == "it launches nothing");
}

TEST_CASE("buffers are paired for good") {
  CapturedCall one = process(0x100000);
  CapturedCall other = one;
  one.steps = {launch(words({0x110000, 0x120000}))};
  other.steps = {launch(words({0x110000, 0x110000}))};
  CHECK(why(one, other) == "the buffers of k differ from call to call");
}

TEST_CASE("what lies behind the lent memory in its mapping is nobody's buffer") {
  CapturedCall one = process(0x100000);
  one.steps = {launch(words({0x100000 + kArenaBytes + 8}))};
  CHECK(why(one, one) == "the buffers of k differ from call to call");
}

TEST_CASE("copies and fills keep to the memory of a run") {
  CapturedCall one = process(0x100000);
  CapturedStep fill{.what = "fill", .to = 0x110000, .bytes = 4096, .value = 3, .width = 4};
  CapturedStep copy{.what = "copy", .to = 0x100000, .from = 0x110000, .bytes = 64};
  one.steps = {fill, launch(""), copy};
  const auto answer = matched(one, one);
  const auto& work = std::get<LiftedWork>(answer);
  CHECK(work.steps[0]["to"] == 1024);
  CHECK(work.steps[2]["to"] == 0);
  CHECK(work.steps[2]["from"] == 1024);
  one.steps[0].bytes = 1 << 20;
  CHECK(why(one, one).find("a fill between memory") == 0);
  one.steps[0] = copy;
  one.steps[0].from = 0x42;
  CHECK(why(one, one).find("a copy between memory") == 0);
}

TEST_CASE("more scratch than is carried is refused") {
  CapturedCall one = process(0x100000);
  one.regions[1].bytes = 300ULL << 20;
  one.regions.pop_back();
  one.steps = {launch(words({0x110000}))};
  CHECK(why(one, one).find("it uses 300 MiB of buffers") == 0);
}

TEST_CASE("calls that launch the same kernels as often agree, in whatever order") {
  CapturedCall one = process(0x10000);
  CapturedCall other = process(0x20000);
  one.steps = {launch(words({1})), launch(words({2}), 1), launch(words({3}))};
  other.steps = {launch(words({4}), 1), launch(words({5})), launch(words({6}))};
  const json same = kernel_set(one, other);
  CHECK(same.at("result") == "agrees");
  CHECK(same.at("detail") == "calls on different inputs launch the same kernels: 2, in 3 launches");
  other.steps.pop_back();
  CHECK(kernel_set(one, other).at("result") == "unknown");
  other.steps.push_back(launch(words({6}), 1));
  CHECK(kernel_set(one, other).at("result") == "unknown");
}

TEST_CASE("of a call that cannot be repeated nobody knows all launches") {
  CapturedCall one = process(0x10000);
  const CapturedCall other = process(0x20000);
  one.refused = "it waits for the host";
  const json item = kernel_set(one, other);
  CHECK(item.at("result") == "unknown");
  CHECK(item.at("detail") == "its launches are not all known: it waits for the host");
}
