// Everything that a torch_cuda source's host half is compiled with: one precompiled header per
// interpreter, compiler and device. `ASSAY_ON_GPU` chooses the half.
//
// torch/extension.h less torch::nn and torch::optim, which take as much again.
#pragma once

#include <torch/types.h>

#include <torch/csrc/utils/pybind.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <vector_functions.h>

#include <algorithm>
#include <cmath>
#include <vector>

#ifdef ASSAY_ON_GPU
#include "on_gpu.h"
#else
#include "on_cpu.h"
#endif

#define cudaLaunchKernel(function, ...) ::assay::launch_kernel(function, __VA_ARGS__)
#define cudaLaunchCooperativeKernel(function, ...) \
  ::assay::launch_cooperative_kernel(function, __VA_ARGS__)
#define cudaFuncSetAttribute(function, ...) ::assay::set_attribute(function, __VA_ARGS__)
#define cudaFuncSetCacheConfig(function, ...) ::assay::set_cache(function, __VA_ARGS__)
