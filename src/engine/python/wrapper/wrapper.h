// Everything that a torch_cuda source's host half is compiled with: one precompiled header per
// interpreter, compiler and device. `ASSAY_ON_GPU` chooses the half.
//
// torch/extension.h less torch::nn, torch::optim and others, which take as much again: whoever
// names them gets them before its source (engine/source/torch_headers.h).
#pragma once

#include <torch/types.h>

#include <torch/csrc/utils/pybind.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "launches.h"
#include "variables.h"

#ifdef ASSAY_ON_GPU
#include "on_gpu.h"
#else
#include "on_cpu.h"
#endif

#define cudaLaunchKernel(function, ...) ::assay::launch_kernel(function, __VA_ARGS__)
#define cudaLaunchCooperativeKernel(function, ...) \
  ::assay::launch_cooperative_kernel(function, __VA_ARGS__)
#define cudaFuncSetAttribute(function, ...) ::assay::set_attribute(function, __VA_ARGS__)
#define cudaFuncSetCacheConfig(function, ...) ::assay::set_cache_config(function, __VA_ARGS__)
#define cudaFuncGetAttributes(attributes, function) ::assay::get_attributes(attributes, function)
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, ...) \
  ::assay::active_blocks(blocks, __VA_ARGS__)
#define cudaOccupancyMaxPotentialBlockSize(grid, ...) ::assay::potential_block(grid, __VA_ARGS__)
#define cudaMemcpyToSymbol(symbol, ...) ::assay::copy_to(symbol, __VA_ARGS__)
#define cudaMemcpyToSymbolAsync(symbol, ...) ::assay::copy_to_async(symbol, __VA_ARGS__)
#define cudaMemcpyFromSymbol(to, ...) ::assay::copy_from(to, __VA_ARGS__)
#define cudaMemcpyFromSymbolAsync(to, ...) ::assay::copy_from_async(to, __VA_ARGS__)

// Of the device's headers: `using namespace` and aliases of them stand outside of kernels, too.
namespace cooperative_groups {}
namespace nvcuda::wmma {}
namespace nvcuda::experimental {}
namespace cub {}
