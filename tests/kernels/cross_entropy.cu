// Cross entropy of logits against int64 labels, one block a row; ignored labels give zero.
/* contract
{"args": ["in logits float32[rows,classes] randn std=4 mean=50", "in label int64[rows] uniform low=-2 high=49", "out loss float32[rows] atol=2e-5",
          "int rows = 12", "int classes = 50"],
 "launch": {"grid": "rows", "block": 32}}
*/
// tolerance: the loss is a difference of numbers near 50, each good to 4e-6.
// wrong sub_for_add wrong_output: top + logf(sum) - -> top - logf(sum) -
// wrong wrong_type wrong_output: const long long* label -> const int* label
// wrong constant wrong_output: expf(row[c] - top) -> 1.0f
// wrong partial_rows wrong_output+unwritten: if (lane == 0) -> if (lane == 0 && r < rows - 2)
// wrong missing_tail wrong_output: c < classes; c += 32) sum -> c < 32; c += 32) sum
__global__ void cross_entropy(const float* logits, const long long* label, float* loss, int rows, int classes) {
  int r = blockIdx.x, lane = threadIdx.x;
  const float* row = logits + r * classes;
  float top = -1e30f, sum = 0.0f;
  for (int c = lane; c < classes; c += 32) top = fmaxf(top, row[c]);
  for (int o = 16; o > 0; o >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
  for (int c = lane; c < classes; c += 32) sum += expf(row[c] - top);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) loss[r] = label[r] < 0 ? 0.0f : top + logf(sum) - row[label[r]];
}
// reference
__global__ void reference(const float* logits, const long long* label, float* loss, int rows, int classes) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    loss[r] = 0;
    if (label[r] < 0) continue;
    for (int c = 0; c < classes; ++c) sum += exp((double)logits[r * classes + c] - logits[r * classes + label[r]]);
    loss[r] = (float)log(sum);
  }
}
