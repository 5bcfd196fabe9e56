// Each thread builds a list on the device's heap and frees it.
/* contract
{"args": ["in x int32[n] uniform low=0 high=20", "out y int32[n]", "int n = 200"],
 "launch": {"grid": "ceildiv(n, 64)", "block": 64}}
*/
// wrong wrong_order wrong_output: e->value = k -> e->value = x[i] - k
// wrong missing_tail wrong_output: if (i >= n) return; -> if (i >= n - 9) return;
struct Item { int value; Item* next; };
__global__ void heap_lists(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Item* first = nullptr;
  for (int k = 0; k <= x[i]; ++k) {
    Item* e = (Item*)malloc(sizeof(Item));
    e->value = k;
    e->next = first;
    first = e;
  }
  int sum = 0, at = 1;
  while (first) {
    Item* next = first->next;
    sum += first->value * at++;
    free(first);
    first = next;
  }
  y[i] = sum;
}
// reference
__global__ void reference(const int* x, int* y, int n) {
  for (int i = 0; i < n; ++i) {
    y[i] = 0;
    for (int v = 0; v <= x[i]; ++v) y[i] += v * (x[i] - v + 1);
  }
}
