// A captured call against any bytes: a line of JSON, then parameters. Built with libFuzzer it
// searches; linked into the tests it is given broken claims. The claims: nothing crashes, nothing
// throws but what decode_claim() catches; work that is matched keeps to its memory.
#include "tests/fuzz/lift_fuzz.h"

#include <cstdlib>
#include <string_view>

#include "engine/node/lift_match.h"
#include "engine/runner/sequence.h"

namespace {

using namespace assay;

void require(bool holds) {
  if (!holds) std::abort();
}

// What is matched the runner takes, without a word: throws otherwise.
void check_work(const node::LiftedWork& work) {
  require(work.scratch_begin <= work.memory_bytes);
  nlohmann::json body = {{"programs", std::vector<std::uint64_t>(work.programs.size(), 0)},
                         {"scratch_begin", work.scratch_begin},
                         {"memory_bytes", work.memory_bytes},
                         {"steps", work.steps}};
  const auto sequence = runner::decode_sequence(body, work.parameters);
  require(sequence.steps.size() == work.steps.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find('\n');
  const auto body = nlohmann::json::parse(bytes.substr(0, end), nullptr, false);
  if (body.is_discarded()) return 0;
  const auto parameters = end == bytes.npos ? std::string_view() : bytes.substr(end + 1);
  try {
    const auto call = node::captured_call(body, parameters, 4096);
    const auto* good = std::get_if<node::CapturedCall>(&call);
    if (good == nullptr) return 0;
    const auto work = node::matched(*good, *good);
    if (const auto* matched = std::get_if<node::LiftedWork>(&work)) check_work(*matched);
  } catch (const nlohmann::json::exception&) {
    return 0;
  }
  return 0;
}
