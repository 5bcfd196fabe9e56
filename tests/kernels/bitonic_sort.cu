// Bitonic sort of one block's int32 keys, ascending, in place.
/* contract
{"args": ["inout keys int32[256]"],
 "launch": {"grid": 1, "block": 256}}
*/
// wrong missing_barrier wrong_output: __syncthreads();  // merged ->
// wrong descending wrong_output: (t & size) == 0 -> (t & size) != 0
// wrong missing_pass wrong_output: size <= 256 -> size < 256
// wrong wrong_type wrong_output: int mine = s[t], other = s[partner] -> unsigned mine = s[t], other = s[partner]
// wrong copy_of_input wrong_output: keys[t] = s[t] ->
__global__ void bitonic_sort(int* keys) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = keys[t];
  for (int size = 2; size <= 256; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();  // merged
      int partner = t ^ stride;
      if (partner > t) {
        int mine = s[t], other = s[partner];
        bool ascending = (t & size) == 0;
        if ((mine > other) == ascending) {
          s[t] = other;
          s[partner] = mine;
        }
      }
    }
  }
  __syncthreads();
  keys[t] = s[t];
}
// reference
__global__ void reference(int* keys) {
  for (int k = 1; k < 256; ++k) {
    int key = keys[k], at = k;
    for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
    keys[at] = key;
  }
}
