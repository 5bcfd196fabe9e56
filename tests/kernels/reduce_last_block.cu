// The last block to finish adds the partial sums (fence and counter).
/* contract
{"args": ["in x float32[n]", "out partial float32[blocks] atol=1e-3", "inout done int32[1] zeros", "out total float32[1] atol=1e-2", "int n = 4096", "int blocks = 16"],
 "launch": {"grid": "blocks", "block": 128}}
*/
// tolerance: the order of the sum differs
// wrong wrong_count wrong_output: gridDim.x - 1 -> gridDim.x - 2
// wrong partial_rows wrong_output: b < gridDim.x; -> b < gridDim.x / 2;
__global__ void reduce_last_block(const float* x, float* partial, int* done, float* total, int n, int blocks) {
  __shared__ float s[128];
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd(done, 1) == gridDim.x - 1;
    if (last) {
      float sum = 0;
      for (int b = 0; b < gridDim.x; ++b) sum += ((volatile float*)partial)[b];
      *total = sum;
    }
  }
}
// reference
__global__ void reference(const float* x, float* partial, int* done, float* total, int n, int blocks) {
  double all = 0;
  for (int b = 0; b < blocks; ++b) {
    double s = 0;
    for (int i = 0; i < n; ++i) if (i / 128 % blocks == b) s += x[i];
    partial[b] = (float)s;
    all += s;
  }
  *done = blocks;
  *total = (float)all;
}
