#include "plans/disassembly_job.h"

#include <algorithm>
#include <string>
#include <variant>

#include "engine/contract/payload.h"
#include "plans/scratch_folder.h"
#include "plans/text_file.h"

namespace assay::plans {
namespace {

namespace fs = std::filesystem;
using job::Verdict;

constexpr std::chrono::seconds kTimeout{20};
constexpr std::uint64_t kMemoryBytes = 2ULL << 30;
constexpr std::size_t kToldBytes = 300;
constexpr const char* kCut = "\n// cut here: the rest is longer than is kept\n";

node::Conclusion unsupported(const std::string& why) {
  return {.verdict = Verdict::unsupported, .body = {{"summary", why}}};
}

// Machine code with the lines of the source it comes from.
std::vector<std::string> command_of(const fs::path& disassembler, const fs::path& cubin) {
  if (disassembler.filename() == "cuobjdump")
    return {disassembler.string(), "-sass", cubin.string()};
  return {disassembler.string(), "-c", "-gi", cubin.string()};
}

std::string why_it_failed(const fs::path& disassembler, const StepEnd& end) {
  std::string why = disassembler.filename().string() + ": " + describe(end);
  const std::string last = end.tail.substr(end.tail.size() - std::min(end.tail.size(), kToldBytes));
  if (!last.empty() && end.why == StepEnd::Why::exited) why += ": " + printable(last);
  return why;
}

Step step_for(const fs::path& disassembler, const fs::path& folder) {
  return {.name = "disassemble",
          .argv = command_of(disassembler, folder / "cubin"),
          .cwd = folder,
          .timeout = kTimeout,
          .enclosure = {.confined = true,
                        .readable = {disassembler.parent_path().string()},
                        .writable = {folder.string()},
                        .memory_bytes = kMemoryBytes}};
}

}  // namespace

node::Conclusion run_disassembly_job(const node::Order& order, node::Reporter& reporter,
                                     const std::stop_token& stop, const Workshop& workshop,
                                     const fs::path& disassembler) {
  if (disassembler.empty()) return unsupported("there is no disassembler on this machine");
  const StepRunner& steps = workshop.steps();
  if (!steps.can_confine())
    return unsupported("the disassembler cannot be confined: " + steps.missing());
  const auto cubin =
      contract::decode_payload(order.request.at("cubin").get<std::string>(),
                               contract::Compression::none, order.request.at("bytes"));
  if (!std::holds_alternative<std::string>(cubin)) return unsupported("the cubin is damaged");

  const ScratchFolder scratch;
  const fs::path folder = scratch.make("cubin");
  plans::write_text(folder / "cubin", std::get<std::string>(cubin));
  const StepEnd end = steps.run(step_for(fs::canonical(disassembler), folder), stop);
  if (end.why == StepEnd::Why::cancelled) return {.verdict = Verdict::cancelled};
  if (!end.succeeded()) return unsupported(why_it_failed(disassembler, end));
  std::string text = printable(end.standard_output);
  if (end.output_bytes > kKeptOutputBytes) text += kCut;
  Stages(reporter).tell("disassembled", job::StageStatus::passed, nlohmann::json::object(),
                        {{"sass", "text/plain", std::move(text)}});
  return {.verdict = Verdict::passed};
}

}  // namespace assay::plans
