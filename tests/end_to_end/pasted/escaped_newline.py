from torch.utils.cpp_extension import load_inline
cuda_source = '''
#include <stdio.h>
__global__ void double_it(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 0) printf("negative \\n");
  if (i < n) x[i] *= 2.0f;
}
void double_it_host(float* x, int n) { double_it<<<(n + 127) / 128, 128>>>(x, n); }
'''
m = load_inline(name='m', cpp_sources='', cuda_sources=cuda_source)
