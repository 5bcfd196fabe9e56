# A softmax per row
import torch
from torch.utils.cpp_extension import load_inline
src = r'''
#include <torch/extension.h>
#include <cmath>
#include <cfloat>
__global__ void softmax_kernel(const float* __restrict__ input, float* __restrict__ output, int rows, int cols) {
  int row = blockIdx.x;
  if (row >= rows) return;
  __shared__ float red[256];
  float m = -FLT_MAX;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, input[row * cols + c]);
  red[threadIdx.x] = m; __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (threadIdx.x < s) red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + s]); __syncthreads(); }
  m = red[0]; __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(input[row * cols + c] - m);
  red[threadIdx.x] = sum; __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (threadIdx.x < s) red[threadIdx.x] += red[threadIdx.x + s]; __syncthreads(); }
  for (int c = threadIdx.x; c < cols; c += blockDim.x) output[row * cols + c] = expf(input[row * cols + c] - m) / red[0];
}
torch::Tensor softmax(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2, "2-D only");
  auto y = torch::empty_like(x);
  softmax_kernel<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
  return y;
}
'''
mod = load_inline("softmax", cpp_sources=["torch::Tensor softmax(torch::Tensor x);"], cuda_sources=[src], functions=["softmax"])
