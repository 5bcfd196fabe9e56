#include "tools/prompts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "mcp/utf8.h"
#include "tools/job_resources.h"

namespace assay::tools {
namespace {

using mcp::CallContext;
using mcp::PromptArguments;

constexpr std::array<std::string_view, 5> kKernelTypes = {"cuda", "triton", "torch_cuda", "torch",
                                                          "multi_kernel"};
constexpr std::size_t kSuggestedJobs = 50;

std::string given(const PromptArguments& arguments, const char* name, const char* otherwise) {
  const auto found = arguments.find(name);
  return found == arguments.end() || found->second.empty() ? otherwise : found->second;
}

mcp::PromptResult say(std::string text) {
  return {.messages = {{.content = mcp::text_content(std::move(text))}}};
}

std::vector<std::string> kernel_types(const std::string& prefix, const CallContext&) {
  std::vector<std::string> values;
  for (const std::string_view type : kKernelTypes)
    if (type.starts_with(prefix)) values.emplace_back(type);
  return values;
}

// Throws mcp::BadRequest for a type that nothing here runs.
std::string known_type(const std::string& type) {
  std::string known;
  for (const std::string_view one : kKernelTypes) {
    if (one == type) return type;
    known += (known.empty() ? "" : ", ") + std::string(one);
  }
  throw mcp::BadRequest("there is no kernel_type \"" + mcp::shortened(type, 60) + "\"; there are " +
                        known);
}

// Not every type has a compile step of its own.
std::string how_to_compile(const std::string& type) {
  const std::string sizes = "real sizes, also one that is no multiple of the block.";
  if (type == "cuda") {
    return "`compile_kernel` until it compiles; its answer holds a contract to start from. "
           "Complete that with `build_io_contract`: " +
           sizes;
  }
  if (type == "triton") {
    return "Make its contract with `build_io_contract`, the constexpr parameters as metas: " +
           sizes + " With it as `io`, `compile_kernel` until it compiles.";
  }
  const std::string until = " `evaluate` it alone with until \"validated\" until it runs.";
  if (type == "multi_kernel")
    return "Make the entry point's contract with `build_io_contract`." + until;
  return "State its inputs as the guide says." + until;
}

// The caller's job of that id. Throws mcp::BadRequest.
job::JobRecord own_job(Jobs& jobs, const PromptArguments& arguments, const CallContext& context) {
  const std::string job_id = given(arguments, "job_id", "");
  auto record = jobs.find(job_id, context.principal);
  if (!record) throw mcp::BadRequest("Job " + mcp::shortened(job_id, 100) + " not found");
  return *std::move(record);
}

mcp::PromptArgument job_argument(Jobs& jobs, bool only_failed) {
  return {.name = "job_id",
          .description = "The job, as a report names it.",
          .required = true,
          .complete = [&jobs, only_failed](const std::string& prefix, const CallContext& context) {
            std::vector<std::string> values;
            for (const auto& record : jobs.recent(context.principal, kSuggestedJobs)) {
              const bool passed = record.verdict == job::Verdict::passed;
              if (record.id.starts_with(prefix) && !(only_failed && passed))
                values.push_back(record.id);
            }
            return values;
          }};
}

mcp::Prompt write_kernel() {
  return {
      .name = "write_kernel",
      .title = "Write a kernel",
      .description = "A kernel for a stated computation, proven right before it is handed over.",
      .arguments = {{.name = "task", .description = "What it computes.", .required = true},
                    {.name = "kernel_type",
                     .description = "cuda unless stated.",
                     .complete = kernel_types}},
      .get = [](const PromptArguments& arguments, const CallContext&) {
        const std::string type = known_type(given(arguments, "kernel_type", "cuda"));
        return say("Write a GPU kernel (kernel_type \"" + type + "\") that does this:\n\n" +
                   given(arguments, "task", "") + "\n\n1. Read assay://guide/" + type +
                   " and assay://guide/io_contract. Write the kernel, and a plain reference that "
                   "is obviously right.\n2. " +
                   how_to_compile(type) +
                   "\n3. `evaluate` with the reference as `ref_kernel`. Read `verdict` and "
                   "`summary`, mend the one cause they name, and try again.\n"
                   "4. Stop at verdict `passed`. Show the kernel, its contract, and what the "
                   "report says of its time and of what was not checked.");
      }};
}

mcp::Prompt optimise_kernel(Jobs& jobs) {
  return {
      .name = "optimise_kernel",
      .title = "Make a kernel faster",
      .description = "Faster versions of the kernel of a job, each proven right and compared.",
      .arguments = {job_argument(jobs, false),
                    {.name = "goal", .description = "What is to be reached."}},
      .get = [&jobs](const PromptArguments& arguments, const CallContext& context) {
        const job::JobRecord record = own_job(jobs, arguments, context);
        const std::string& job_id = record.id;
        if (record.kind != "kernel")
          throw mcp::BadRequest("job " + job_id + " is a " + record.kind + ", not of one kernel");
        return say("Make the kernel of job " + job_id +
                   " faster. Goal: " + given(arguments, "goal", "as fast as this device allows") +
                   ".\n\n1. Read " + job_uri(job_id) +
                   ": what was measured, on which device, and what limits it.\n"
                   "2. Change one thing at a time. `compare` each version (`custom_kernel`) with "
                   "the kernel of that job (`ref_kernel`: {\"job_id\": \"" +
                   job_id +
                   "\"}) under the same contract. Only the verdict of `compare` says faster; "
                   "`indistinguishable` means it is not, and times of an emulator are no times.\n"
                   "3. Keep what is right and faster. Report the ratio with its interval, and "
                   "what did not help.");
      }};
}

mcp::Prompt explain_failure(Jobs& jobs) {
  return {.name = "explain_failure",
          .title = "Explain why a kernel failed",
          .description =
              "The cause of a job's verdict, at its line, and the smallest change that mends it.",
          .arguments = {job_argument(jobs, true)},
          .get = [&jobs](const PromptArguments& arguments, const CallContext& context) {
            const job::JobRecord record = own_job(jobs, arguments, context);
            const std::string& job_id = record.id;
            if (!job::is_final(record.state))
              throw mcp::BadRequest("job " + job_id + " has not ended yet");
            if (record.verdict == job::Verdict::passed)
              throw mcp::BadRequest("job " + job_id + " passed: there is no failure to explain");
            return say("Explain why job " + job_id +
                       " did not pass.\n\n1. `get_job` with detail \"full\", or read " +
                       job_uri(job_id) +
                       ": the stage it ended in, the diagnostics, the first mismatch, the findings "
                       "with their lines.\n"
                       "2. Name the one cause, at its line, and how the evidence shows it. If two "
                       "causes fit, say what would tell them apart, and try that.\n"
                       "3. Make the smallest change that mends it and prove it with `evaluate`.");
          }};
}

}  // namespace

std::vector<mcp::Prompt> prompts(Jobs& jobs) {
  std::vector<mcp::Prompt> all;
  all.push_back(write_kernel());
  all.push_back(optimise_kernel(jobs));
  all.push_back(explain_failure(jobs));
  return all;
}

}  // namespace assay::tools
