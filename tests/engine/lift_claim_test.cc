// A captured call as its process tells it: what is taken, and what is refused whoever says it.
#include "engine/node/lift_claim.h"

#include "tests/catch.h"
#include "tests/fuzz/lift_fuzz.h"

using namespace assay::node;
using nlohmann::json;

namespace {

constexpr std::uint64_t kArenaBytes = 4096;

json launch(std::size_t parameter_bytes) {
  return {{"do", "launch"},
          {"program", 3},
          {"entry", "add"},
          {"grid", {8, 1, 1}},
          {"block", {128, 1, 1}},
          {"shared_bytes", 64},
          {"parameter_bytes", parameter_bytes},
          {"traits", {{4, 2, 1, 1}}}};
}

json claim() {
  return {{"refused", ""},
          {"address", 0x10000},
          {"regions", {{0x40000, 512}, {0x20000, 4096}}},
          {"outputs", {{0x20100, 0x10200, 256}}},
          {"steps",
           {launch(16),
            {{"do", "copy"}, {"to", 1}, {"from", 2}, {"bytes", 3}},
            {{"do", "fill"}, {"to", 4}, {"value", 7}, {"width", 4}, {"bytes", 8}}}}};
}

std::string wrong(const json& body,
                  std::string_view parameters = std::string_view("0123456789abcdef")) {
  // As it comes over the channel.
  const auto answer = captured_call(json::parse(body.dump()), parameters, kArenaBytes);
  const auto* why = std::get_if<std::string>(&answer);
  return why != nullptr ? *why : std::string();
}

}  // namespace

TEST_CASE("a captured call is taken as it is told") {
  const auto answer = captured_call(json::parse(claim().dump()), "0123456789abcdef", kArenaBytes);
  const auto& call = std::get<CapturedCall>(answer);
  REQUIRE(call.steps.size() == 3);
  CHECK(call.steps[0].entry == "add");
  CHECK(call.steps[0].parameters == "0123456789abcdef");
  CHECK(call.steps[0].traits.at(0) == std::array{4, 2, 1, 1});
  CHECK(call.steps[1].from == 2);
  CHECK(call.steps[2].value == 7);
  CHECK(call.outputs.at(0).place == 0x200);
  CHECK(call.regions.at(0).address == 0x20000);
}

TEST_CASE("what a capture refuses needs no steps") {
  const auto answer = captured_call({{"refused", "a copy to the host"}}, "", kArenaBytes);
  CHECK(std::get<CapturedCall>(answer).refused == "a copy to the host");
}

TEST_CASE("sizes and ranges of a claim are checked before they are used") {
  const auto with = [](const char* pointer, const json& value) {
    json body = claim();
    body[json::json_pointer(pointer)] = value;
    return body;
  };
  CHECK(wrong(claim(), "too short") == "parameters that are missing");
  CHECK(wrong(with("/steps/0/parameter_bytes", std::uint64_t{1} << 40)) ==
        "parameters that are missing");
  CHECK(wrong(with("/steps/0/grid", {1, 2})) == "a dimension that is none");
  CHECK(wrong(with("/steps/0/grid", {-1, 1, 1})) == "a size that is none");
  CHECK(wrong(with("/steps/0/grid", {std::uint64_t{1} << 40, 1, 1})) == "a size beyond all sizes");
  CHECK(wrong(with("/steps/0/traits", {{7, 0, 0, 0}})) ==
        "a launch attribute that cannot be honoured");
  CHECK(wrong(with("/steps/0/entry", "")) == "a kernel without a name");
  CHECK(wrong(with("/steps/1/do", "host function")) == "a step of no kind");
  CHECK(wrong(with("/steps/2/width", 3)) == "a fill of an odd width");
  CHECK(wrong(with("/steps/2/to", 5)) == "a fill out of step");
  CHECK(wrong(with("/outputs/0/1", 0x9000)) == "an output beside the memory it was lent");
  CHECK(wrong(with("/outputs/0/2", 0x10000)) == "an output beside the memory it was lent");
  CHECK(wrong(with("/regions/0", {~std::uint64_t{0}, 2})) == "a range beyond all addresses");
  CHECK(wrong(with("/regions/0", {0x20010, 512})) ==
        "memory that was freed and taken again in other sizes");
  json many = claim();
  many["steps"] = json(std::vector<json>(513, launch(0)));
  CHECK(wrong(many) == "too many steps");
  many["steps"] = json(std::vector<json>(512, launch(0)));
  for (auto& step : many["steps"]) step["entry"] = std::string(4000, 'k');
  CHECK(wrong(many, "") == "names of kernels that are too long");
  const std::string too_many((1U << 20) + 1, 'p');
  CHECK(wrong(claim(), too_many) == "too many parameters");
  CHECK_THROWS_AS(wrong(with("/steps/0/traits", {{4, "two", 1, 1}})), json::exception);
}

TEST_CASE("claims broken at random are refused and never crash") {
  const std::string text = claim().dump();
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    std::string broken = text;
    broken[cut] = static_cast<char>('0' + cut % 10);
    broken += '\n';
    broken += "0123456789abcdef";
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(broken.data()), broken.size());
  }
}
