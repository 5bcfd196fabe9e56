#include "cli/kernel_kind.h"

#include "engine/node/python_job.h"

namespace assay::cli {
namespace {

using Place = std::variant<node::Devices::Chosen, node::Ended>;

node::Conclusion told(const node::Ended& ended) {
  return {.verdict = ended.verdict, .body = {{"summary", ended.summary}, {"detail", ended.detail}}};
}

Place choose(const KernelBench& bench, const node::KernelTask& task, const std::string& device,
             const std::stop_token& stop) {
  const auto use =
      task.until == node::Until::compiled ? node::Devices::Use::compiles : node::Devices::Use::runs;
  return bench.devices.choose(device, use, task.client, stop);
}

// The GPU that a Python source runs on; none for CPU tensors.
Place place_of_python(const KernelBench& bench, const node::Interpreter& interpreter,
                      const node::KernelTask& task, const std::stop_token& stop) {
  auto place = choose(bench, task, task.device, stop);
  const auto* chosen = std::get_if<node::Devices::Chosen>(&place);
  if (chosen == nullptr || chosen->pool == nullptr || !interpreter.cuda.empty()) return place;
  if (!task.device.starts_with("gpu")) return node::Devices::Chosen{};
  return node::Ended{.verdict = job::Verdict::unsupported,
                     .summary = "The torch of " + interpreter.executable +
                                " was built for CPU tensors only: name another interpreter with "
                                "--python, or leave `device` at auto.",
                     .detail = {{"missing", "a torch built for CUDA"}}};
}

// Where device code runs: what CPU tensors judge runs beside them, whatever else there is.
Place place_of_device_code(const KernelBench& bench, const node::KernelTask& task,
                           const std::stop_token& stop) {
  if (!task.has_python_reference()) return choose(bench, task, task.device, stop);
  const auto chosen = bench.pythons.choose(task.reference->python);
  const auto* zygote = std::get_if<node::PythonZygote*>(&chosen);
  const bool on_gpu = zygote != nullptr && !(*zygote)->interpreter().cuda.empty();
  return choose(bench, task, on_gpu ? task.device : "emulator", stop);
}

// Of a job that ran: what it says of the device is noted, what it ran under is told.
node::Conclusion concluded(const KernelBench& bench, node::GpuPool* pool,
                           node::Conclusion conclusion) {
  if (pool != nullptr) bench.devices.note(*pool, conclusion);
  conclusion.body["environment"]["isolation"] = bench.isolation;
  return conclusion;
}

node::Conclusion judge_python(const KernelBench& bench, node::KernelTask task,
                              node::Reporter& reporter, const std::stop_token& stop) {
  const auto chosen = bench.pythons.choose(task.kernel.python);
  if (const auto* none = std::get_if<node::Ended>(&chosen)) {
    return told(node::unsupported_python(task, nullptr).value_or(*none));
  }
  node::PythonZygote& zygote = *std::get<node::PythonZygote*>(chosen);
  const auto place = place_of_python(bench, zygote.interpreter(), task, stop);
  if (const auto* none = std::get_if<node::Ended>(&place)) return told(*none);
  node::GpuPool* const pool = std::get<node::Devices::Chosen>(place).pool;
  const node::Gpu* gpu = pool != nullptr ? &pool->gpu() : nullptr;
  if (const auto unsupported = node::unsupported_python(task, gpu)) return told(*unsupported);
  node::PythonSpares* spares =
      gpu != nullptr ? &bench.pythons.spares(bench.runners, zygote, *gpu) : nullptr;
  auto conclusion =
      node::PythonJob(bench.runners, zygote, pool, spares, bench.compiler.wrapper_tools(zygote),
                      std::move(task), reporter, stop)
          .run();
  return concluded(bench, pool, std::move(conclusion));
}

node::Conclusion judge_device_code(const KernelBench& bench, node::KernelTask task,
                                   node::Reporter& reporter, const std::stop_token& stop) {
  const auto place = place_of_device_code(bench, task, stop);
  if (const auto* none = std::get_if<node::Ended>(&place)) return told(*none);
  node::GpuPool* const pool = std::get<node::Devices::Chosen>(place).pool;
  const node::Gpu* gpu = pool != nullptr ? &pool->gpu() : nullptr;
  if (const auto unsupported = node::unsupported_python(task, gpu)) return told(*unsupported);
  auto conclusion = node::KernelJob(bench.runners, bench.compiler, bench.pythons, pool,
                                    std::move(task), reporter, stop)
                        .run();
  conclusion.body["environment"]["driver"] = bench.devices.gpus().driver;
  return concluded(bench, pool, std::move(conclusion));
}

}  // namespace

node::Conclusion judge_kernel(const KernelBench& bench, const node::Order& order,
                              node::Reporter& reporter, const std::stop_token& stop) {
  auto task = node::decode_kernel_task(order.request);
  task.client = order.client;
  task.job_id = order.job_id;
  return task.kernel.is_python() ? judge_python(bench, std::move(task), reporter, stop)
                                 : judge_device_code(bench, std::move(task), reporter, stop);
}

}  // namespace assay::cli
