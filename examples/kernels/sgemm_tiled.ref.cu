// One thread an element, summed in double.
__global__ void reference(const float* a, const float* b, float* c, int m, int n, int k) {
  int thread = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
  int threads = gridDim.x * gridDim.y * blockDim.x * blockDim.y;
  for (int e = thread; e < m * n; e += threads) {
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += (double)a[e / n * k + i] * b[i * n + e % n];
    c[e] = (float)sum;
  }
}
