// One step of the Adam optimiser: parameters and both moments are read and written in place.
__global__ void adam_step(float* parameter, float* first, float* second, const float* gradient, int n,
                          float rate, float beta1, float beta2, float epsilon, float decay, int step) {
  float correction1 = 1.0f - powf(beta1, (float)step);
  float correction2 = 1.0f - powf(beta2, (float)step);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float p = parameter[i];
    float g = gradient[i];
    float m = beta1 * first[i] + (1.0f - beta1) * g;
    float v = beta2 * second[i] + (1.0f - beta2) * g * g;
    first[i] = m;
    second[i] = v;
    float update = (m / correction1) / (sqrtf(v / correction2) + epsilon);
    parameter[i] = p - rate * (update + decay * p);
  }
}
