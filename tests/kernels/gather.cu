// Rows of a table by int64 indices (an embedding lookup); negative indices count from the end.
/* contract
{"args": ["in table float32[entries,width]", "in index int64[n] uniform low=-40 high=39", "out y float32[n,width]",
          "int entries = 40", "int width = 12", "int n = 33"],
 "launch": {"grid": "n", "block": 16}}
*/
// wrong wrong_type wrong_output: const long long* index -> const int* index
// wrong negative_index crashed: if (at < 0) at += entries; ->
// wrong wrong_stride wrong_output+out_of_bounds_read: table[at * width + t] -> table[at * entries + t]
// wrong copy_of_input wrong_output: table[at * width + t] -> table[blockIdx.x * width + t]
// wrong missing_tail wrong_output+unwritten: if (t < width) -> if (t < width - 1)
__global__ void gather(const float* table, const long long* index, float* y, int entries, int width, int n) {
  int t = threadIdx.x;
  long long at = index[blockIdx.x];
  if (at < 0) at += entries;
  if (t < width) y[blockIdx.x * width + t] = table[at * width + t];
}
// reference
__global__ void reference(const float* table, const long long* index, float* y, int entries, int width, int n) {
  for (int k = 0; k < n; ++k)
    for (int c = 0; c < width; ++c) y[k * width + c] = table[(index[k] + entries) % entries * width + c];
}
