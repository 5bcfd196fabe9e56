// A gather through linear texture memory: what lies outside the table is zero without a test.
/* contract
{"args": ["in table float32[entries] texture", "in index int32[n] uniform low=-9 high=108", "out y float32[n]",
          "int entries = 100", "int n = 300"],
 "launch": {"grid": "ceildiv(n, 64)", "block": 64}}
*/
// wrong wrong_type crashed: tex1Dfetch<float> -> tex1Dfetch<int>
// wrong copy_of_input wrong_output: table, index[i] -> table, i
// wrong clamped wrong_output: index[i]) -> min(max(index[i], 0), entries - 1))
// wrong as_pointer crashed: tex1Dfetch<float>(table, index[i]) -> ((const float*)table)[index[i]]
// wrong missing_tail wrong_output+unwritten: i < n -> i < n - 1
__global__ void gather(cudaTextureObject_t table, const int* index, float* y, int entries, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tex1Dfetch<float>(table, index[i]);
}
// reference
__global__ void reference(const float* table, const int* index, float* y, int entries, int n) {
  for (int k = 0; k < n; ++k) y[k] = index[k] < 0 || index[k] >= entries ? 0.0f : table[index[k]];
}
