// Rotary position embedding, half-split layout, in place over [tokens, heads, width].
/* contract
{"args": ["inout x float32[tokens,heads,width] atol=2e-4", "in position int32[tokens] uniform low=0 high=200", "int tokens = 5", "int heads = 3",
          "int width = 16", "float base = 10000"],
 "launch": {"grid": ["tokens", "heads"], "block": 8}}
*/
// tolerance: angles reach 200 rad, where float arguments differ by 1e-5 from double ones.
// wrong sub_for_add wrong_output: a * c - b * s -> a * c + b * s
// wrong swapped_arguments wrong_output: sincosf(angle, &s, &c) -> sincosf(angle, &c, &s)
// wrong wrong_stride wrong_output: head[t + half] = -> head[2 * t + 1] =
// wrong partial_rows wrong_output: float* head = -> if (blockIdx.y + 1 == gridDim.y) return; float* head =
// wrong constant wrong_output: position[blockIdx.x] * powf -> 1 * powf
__global__ void rope(float* x, const int* position, int tokens, int heads, int width, float base) {
  int t = threadIdx.x, half = width / 2;
  float* head = x + (blockIdx.x * heads + blockIdx.y) * width;
  float angle = position[blockIdx.x] * powf(base, -2.0f * t / width);
  float s, c;
  sincosf(angle, &s, &c);
  float a = head[t], b = head[t + half];
  head[t] = a * c - b * s;
  head[t + half] = a * s + b * c;
}
// reference
__global__ void reference(float* x, const int* position, int tokens, int heads, int width, float base) {
  for (int h = 0; h < tokens * heads; ++h) {
    for (int t = 0; t < width / 2; ++t) {
      double angle = position[h / heads] * pow(10000.0, -2.0 * t / width);
      double a = x[h * width + t], b = x[h * width + t + width / 2];
      x[h * width + t] = (float)(a * cos(angle) - b * sin(angle));
      x[h * width + t + width / 2] = (float)(b * cos(angle) + a * sin(angle));
    }
  }
}
