// Texture objects over a launch's tensors: one for each place that runs put a tensor at, made when
// it is first met and destroyed with all others. An object of a place that holds other bytes in the
// next run reads those: it knows the address only.
//
// Owned by what queues the launch; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/emulator/emulator.h"
#include "engine/runner/gpu_context.h"

namespace assay::runner {

class GpuTextures {
 public:
  // Borrows both.
  GpuTextures(const GpuContext& context, const std::vector<emulator::Texture>& textures)
      : context_(context), textures_(textures) {}
  // Destroys nothing while work may still use it, or once the context died: then the process ends.
  ~GpuTextures();
  GpuTextures(const GpuTextures&) = delete;
  GpuTextures& operator=(const GpuTextures&) = delete;

  // Puts an object wherever the parameter block has the address of a texture's tensor. Answers the
  // driver's result.
  [[nodiscard]] int put_into(std::vector<std::byte>& block);

 private:
  const GpuContext& context_;
  const std::vector<emulator::Texture>& textures_;
  std::map<std::pair<std::size_t, cuda::Address>, std::uint64_t> objects_{};
};

}  // namespace assay::runner
