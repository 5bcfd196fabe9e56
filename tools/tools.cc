#include "tools/tools.h"

#include <functional>
#include <system_error>

#include "engine/journal/unavailable.h"
#include "tools/answer_cap.h"
#include "tools/refusal.h"

namespace assay::tools {

namespace {

// The journal's storage or the machine's last thread: expected to fail now and then, ours, and
// worth another try. Everything else a tool throws is a bug, which the protocol layer answers and
// logs.
std::function<mcp::ToolResult(const mcp::Json&, mcp::CallContext&)> answering_faults(
    std::function<mcp::ToolResult(const mcp::Json&, mcp::CallContext&)> run) {
  return [run = std::move(run)](const mcp::Json& arguments, mcp::CallContext& context) {
    try {
      return run(arguments, context);
    } catch (const journal::JournalUnavailable& error) {
      return server_fault(std::string("The server's journal is unavailable: ") + error.what(),
                          true);
    } catch (const std::system_error& error) {
      return server_fault(
          std::string("The machine refused the server something it needs: ") + error.what(), true);
    }
  };
}

}  // namespace

References references_of(Jobs& jobs, const Library* library, const mcp::CallContext& context) {
  return {.library = library,
          .principal = context.principal,
          .find_job = [&jobs, principal = context.principal](const std::string& job_id) {
            return jobs.find(job_id, principal);
          }};
}

std::vector<mcp::Tool> kernel_tools(Jobs& jobs, const Library* library) {
  std::vector<mcp::Tool> tools;
  tools.push_back(compile_kernel(jobs, library));
  tools.push_back(evaluate(jobs, library));
  tools.push_back(compare(jobs, library));
  tools.push_back(sweep(jobs, library));
  tools.push_back(build_io_contract(jobs, library));
  tools.push_back(get_job(jobs));
  tools.push_back(cancel_job(jobs));
  tools.push_back(check_capabilities(jobs));
  tools.push_back(get_server_stats(jobs));
  for (auto& tool : tools) {
    tool.run = answering_faults(std::move(tool.run));
    tool = capped(std::move(tool));
  }
  return tools;
}

std::vector<mcp::Tool> all(Jobs& jobs, const Library* library, Commands commands) {
  std::vector<mcp::Tool> tools = kernel_tools(jobs, library);
  const std::size_t of_kernels = tools.size();
  tools.push_back(run_plan(jobs, library, commands));
  tools.push_back(run_test_generator(jobs, library, commands));
  tools.push_back(benchmark_commits(jobs, library, commands));
  tools.push_back(run_scenario(jobs, library, commands));
  for (std::size_t i = of_kernels; i < tools.size(); ++i) {
    tools[i].run = answering_faults(std::move(tools[i].run));
    tools[i] = capped(std::move(tools[i]));
  }
  return tools;
}

std::string instructions() {
  return "Assay judges GPU kernels. `compile_kernel` gives diagnostics, registers, occupancy and a "
         "contract to start from; `evaluate` compiles a kernel, runs it with fresh inputs "
         "against a "
         "reference and reports a verdict; a failing kernel is a successful evaluation (isError "
         "false), "
         "so read `verdict` and `summary`. A call answers within `wait_s`; if `state` is not "
         "final, "
         "call `get_job` with the `job_id`. How each kernel type and a contract are written: "
         "resources "
         "assay://guide/{cuda,torch,torch_cuda,triton,multi_kernel,io_contract}.";
}

}  // namespace assay::tools
