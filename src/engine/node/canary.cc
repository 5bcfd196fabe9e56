#include "engine/node/canary.h"

#include <chrono>
#include <cstring>
#include <random>
#include <vector>

#include "engine/node/kernel_session.h"
#include "engine/posix/descriptor.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::uint32_t kElements = 1U << 16;
constexpr std::uint32_t kBlock = 256;
constexpr std::uint64_t kTensorBytes = std::uint64_t{kElements} * sizeof(std::uint32_t);
constexpr std::chrono::seconds kLimit{5};
constexpr std::uint32_t kFactor = 2'654'435'761U;
constexpr int kRounds = 64;

// out[i] = a[i], multiplied by kFactor and the index added, 64 times over: arithmetic, memory, a
// loop and every multiprocessor, and no two elements alike.
constexpr const char* kPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry assay_canary(.param .u64 a, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r6, [%rd4];
  mov.u32 %r7, 0;
AGAIN:
  mul.lo.s32 %r6, %r6, -1640531535;
  add.s32 %r6, %r6, %r5;
  add.s32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 64;
  @%p2 bra AGAIN;
  st.global.u32 [%rd5], %r6;
DONE:
  ret;
}
)";

contract::Contract contract_of_canary() {
  const auto tensor = [](const char* name, const char* role) {
    return json{{"name", name},
                {"type", "tensor"},
                {"role", role},
                {"tensor_spec", {{"shape", {kElements}}, {"dtype", "uint32"}}}};
  };
  const auto parsed = contract::parse(
      {{"args",
        {tensor("a", "input"),
         tensor("out", "output"),
         {{"name", "n"}, {"type", "int"}, {"value", kElements}}}},
       {"launch", {{"grid", {{"x", kElements / kBlock}}}, {"block", {{"x", kBlock}}}}}});
  return std::get<contract::Parsed>(parsed).contract;
}

// The memory of a run: inputs that nobody knew before, and outputs that are surely wrong.
struct Arena {
  posix::SharedMemory memory = posix::SharedMemory::create("canary", 2 * kTensorBytes);
  std::vector<std::uint32_t> expected = std::vector<std::uint32_t>(kElements);

  Arena() {
    std::mt19937 random(std::random_device{}());
    std::vector<std::uint32_t> words(2 * std::size_t{kElements});
    for (std::uint32_t i = 0; i < kElements; ++i) {
      std::uint32_t word = words[i] = static_cast<std::uint32_t>(random());
      for (int round = 0; round < kRounds; ++round) word = word * kFactor + i;
      expected[i] = word;
      words[kElements + i] = ~word;
    }
    std::memcpy(memory.bytes().data(), words.data(), 2 * kTensorBytes);
  }

  [[nodiscard]] std::uint32_t wrong_elements() const {
    std::vector<std::uint32_t> found(kElements);
    std::memcpy(found.data(), memory.bytes().data() + kTensorBytes, kTensorBytes);
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < kElements; ++i) wrong += found[i] != expected[i] ? 1 : 0;
    return wrong;
  }
};

// The driver's assembler is a library of its own, which small containers lack: a context was made,
// and what is missing says nothing against the device.
bool is_without_assembler(const Ended& ended) {
  return ended.verdict == job::Verdict::unsupported &&
         ended.summary.find("CUDA_ERROR_JIT_") != std::string::npos;
}

}  // namespace

std::string run_canary(std::unique_ptr<RunnerProcess> process, RunnerRole role,
                       const std::stop_token& stop) {
  KernelSession session(std::move(process), role, "/canary", stop);
  const KernelSource source{.kernel_type = "cuda",
                            .kernel_name = "assay_canary",
                            .contract = contract_of_canary(),
                            .has_contract = true};
  const std::vector<TensorPlace> places{
      {.name = "a", .argument = 0, .offset = 0, .bytes = kTensorBytes},
      {.name = "out", .argument = 1, .offset = kTensorBytes, .bytes = kTensorBytes}};
  const auto loaded = session.load(source, {.ptx = kPtx}, source.contract, places);
  if (const auto* ended = std::get_if<Ended>(&loaded)) {
    return is_without_assembler(*ended) ? std::string() : ended->summary;
  }
  const Arena arena;
  std::chrono::nanoseconds left = kLimit;
  const auto ran = session.run(
      {.descriptor = arena.memory.descriptor().duplicate(), .bytes = 2 * kTensorBytes}, left);
  if (const auto* ended = std::get_if<Ended>(&ran)) return ended->summary;
  const std::uint32_t wrong = arena.wrong_elements();
  if (wrong == 0) return {};
  return std::to_string(wrong) + " of " + std::to_string(kElements) +
         " elements of a known kernel are wrong";
}

}  // namespace assay::node
