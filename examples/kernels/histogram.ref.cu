// Block 0's threads count a bin each.
__global__ void reference(const unsigned char* x, unsigned* bins, int n) {
  if (blockIdx.x != 0) return;
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    unsigned count = 0;
    for (int i = 0; i < n; ++i) count += x[i] == b;
    bins[b] = count;
  }
}
