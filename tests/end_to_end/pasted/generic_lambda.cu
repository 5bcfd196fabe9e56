#include <torch/torch.h>
#include <cuda_bf16.h>
__global__ void to_bf16(const float* x, __nv_bfloat16* y, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(x[i]);
}
static auto launcher = [](torch::Tensor x, torch::Tensor y) {
  auto n = x.numel();
  to_bf16<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), (__nv_bfloat16*)y.data_ptr(), n);
};
