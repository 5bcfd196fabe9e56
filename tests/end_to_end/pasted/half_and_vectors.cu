#include <cuda_fp16.h>
#include <torch/extension.h>
__global__ void scale_half2(const __half2* __restrict__ in, __half2* __restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hmul2(in[i], __float2half2_rn(2.0f));
}
torch::Tensor scale(torch::Tensor x) {
  auto out = torch::empty_like(x);
  int n = x.numel() / 2;
  scale_half2<<<(n + 255) / 256, 256>>>(reinterpret_cast<const __half2*>(x.data_ptr<at::Half>()),
                                        reinterpret_cast<__half2*>(out.data_ptr<at::Half>()), n);
  return out;
}
