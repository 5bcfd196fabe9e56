#include "engine/runner/one_launch.h"

#include "engine/runner/gpu_launch.h"

namespace assay::runner {

OneLaunch::OneLaunch(const GpuContext& context, cuda::Handle function, const TimedLaunch& launch)
    : context_(context),
      function_(function),
      launch_(launch),
      textures_(context, launch.launch.textures) {}

int OneLaunch::prepare(cuda::Address place) const {
  auto block = placed(launch_.launch.parameters, launch_.pointer_offsets, place);
  return textures_.put_into(block);
}

int OneLaunch::queue(cuda::Address place) const {
  auto block = placed(launch_.launch.parameters, launch_.pointer_offsets, place);
  if (const int result = textures_.put_into(block); result != cuda::kSuccess) return result;
  return queue_launch(context_, function_, launch_.launch, std::move(block));
}

// A graph that is kept would name texture objects that end with this.
std::string OneLaunch::identity() const {
  const emulator::Launch& launch = launch_.launch;
  if (!launch.textures.empty()) return {};
  std::string bytes = launch.kernel + '\n';
  for (const auto& size : {launch.grid, launch.block}) {
    for (const auto part : {size.x, size.y, size.z}) bytes += std::to_string(part) + ' ';
  }
  bytes += std::to_string(launch.dynamic_shared_bytes) + (launch.cooperative ? " c" : " -");
  for (const std::size_t offset : launch_.pointer_offsets) bytes += ' ' + std::to_string(offset);
  bytes += '\n';
  bytes.append(reinterpret_cast<const char*>(launch.parameters.data()), launch.parameters.size());
  return bytes;
}

}  // namespace assay::runner
