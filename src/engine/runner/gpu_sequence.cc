#include "engine/runner/gpu_sequence.h"

#include <algorithm>

#include "engine/runner/gpu_launch.h"

namespace assay::runner {
namespace {

bool has_large_clusters(const SequenceStep& step) {
  return std::any_of(step.traits.begin(), step.traits.end(), [](const LaunchTrait& trait) {
    return trait.id == cuda::LaunchAttribute::kClusterDimension &&
           is_large_cluster(trait.value[0], trait.value[1], trait.value[2]);
  });
}

}  // namespace

GpuSequence::GpuSequence(GpuContext& context, Sequence sequence)
    : context_(context), sequence_(std::move(sequence)) {}

GpuSequence::~GpuSequence() { unload(); }

void GpuSequence::unload() noexcept {
  for (const auto& module : modules_) context_.driver().ModuleUnload(module);
  modules_.clear();
  functions_.clear();
}

std::string GpuSequence::load() {
  std::string failure;
  (void)load_programs(failure);
  return failure;
}

void GpuSequence::reload() {
  if (!sequence_.has_variables()) return;
  std::string failure;
  const int result = load_programs(failure);
  if (result == cuda::kSuccess) return;
  throw cuda::DriverError(result, "the sequence was loaded before: " + failure);
}

int GpuSequence::load_programs(std::string& failure) {
  unload();
  for (const auto& program : sequence_.programs) {
    cuda::Handle module = nullptr;
    const int result = context_.driver().ModuleLoadData(&module, program.data());
    if (result != cuda::kSuccess) {
      failure = context_.driver().text(result);
      return result;
    }
    modules_.push_back(module);
  }
  for (const auto& step : sequence_.steps) {
    const int result = find_function(step, failure);
    if (result != cuda::kSuccess) return result;
  }
  return cuda::kSuccess;
}

int GpuSequence::find_function(const SequenceStep& step, std::string& failure) {
  const auto& driver = context_.driver();
  cuda::Handle function = nullptr;
  functions_.push_back(nullptr);
  if (step.kind != SequenceStep::Kind::launch) return cuda::kSuccess;
  const std::string& name = step.launch.kernel;
  const auto said = [&](int result, const std::string& of_what) {
    if (result != cuda::kSuccess) failure = name + ": " + of_what + driver.text(result);
    return result;
  };
  int result = driver.ModuleGetFunction(&function, modules_.at(step.program), name.c_str());
  if (result != cuda::kSuccess) return said(result, "");
  const auto shared = static_cast<int>(step.launch.dynamic_shared_bytes);
  result = driver.FuncSetAttribute(function, cuda::kFunctionMaxDynamicShared, shared);
  if (result != cuda::kSuccess) {
    return said(result, std::to_string(shared) + " bytes of shared memory: ");
  }
  result = has_large_clusters(step)
               ? driver.FuncSetAttribute(function, cuda::kFunctionLargeClusters, 1)
               : allow_own_clusters(driver, function);
  if (result == cuda::kSuccess) functions_.back() = function;
  return said(result, "its clusters: ");
}

int GpuSequence::queue_step(std::size_t index, cuda::Address memory) const {
  const SequenceStep& step = sequence_.steps.at(index);
  const auto& driver = context_.driver();
  const cuda::Handle stream = context_.stream();
  if (step.kind == SequenceStep::Kind::launch) {
    return queue_launch(context_, functions_.at(index), step.launch,
                        placed(step.launch.parameters, step.pointer_offsets, memory), step.traits);
  }
  if (step.bytes == 0) return cuda::kSuccess;
  const cuda::Address to = memory + step.to;
  if (step.kind == SequenceStep::Kind::copy) {
    return driver.MemcpyDtoDAsync(to, memory + step.from, step.bytes, stream);
  }
  if (step.width == 4) return driver.MemsetD32Async(to, step.value, step.bytes / 4, stream);
  if (step.width == 2) {
    return driver.MemsetD16Async(to, static_cast<unsigned short>(step.value), step.bytes / 2,
                                 stream);
  }
  return driver.MemsetD8Async(to, static_cast<unsigned char>(step.value), step.bytes, stream);
}

int GpuSequence::queue(cuda::Address memory) const {
  for (std::size_t i = 0; i < sequence_.steps.size(); ++i) {
    const int result = queue_step(i, memory);
    if (result != cuda::kSuccess) return result;
  }
  return cuda::kSuccess;
}

int GpuSequence::clear_scratch(cuda::Address memory) const {
  if (sequence_.scratch_bytes() == 0) return cuda::kSuccess;
  return context_.driver().MemsetD32Async(memory + sequence_.scratch_begin, 0,
                                          sequence_.scratch_bytes() / 4, context_.stream());
}

}  // namespace assay::runner
