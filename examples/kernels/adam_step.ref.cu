// In double, from the textbook's formulas.
__global__ void reference(float* parameter, float* first, float* second, const float* gradient, int n,
                          float rate, float beta1, float beta2, float epsilon, float decay, int step) {
  double shrink1 = 1, shrink2 = 1;
  for (int k = 0; k < step; ++k) {
    shrink1 *= beta1;
    shrink2 *= beta2;
  }
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    double g = gradient[i], p = parameter[i];
    double m = g + (double)beta1 * (first[i] - g);
    double v = g * g + (double)beta2 * (second[i] - g * g);
    double m_hat = m / (1 - shrink1), v_hat = v / (1 - shrink2);
    first[i] = (float)m;
    second[i] = (float)v;
    parameter[i] = (float)(p * (1 - (double)rate * decay) - rate * m_hat / (sqrt(v_hat) + epsilon));
  }
}
