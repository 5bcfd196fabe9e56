// More of mistakes.cu, by the same rules and called the same way: numbers that are none and decide
// something, without ever getting to memory, beside guards and choices that look like that.
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x
#define INF __int_as_float(0x7f800000)

// --- not_a_number ---
KERNEL(not_a_number__arc_cosine_compared) { b[I] = acosf(a[I] + 1.0f) > 0; }
KERNEL(not_a_number__power_compared) { b[I] = powf(-a[I], 0.5f) > 0 ? 2.0f : 3.0f; }
KERNEL(not_a_number__quotient_of_doubles_compared) {
  double d = a[I] - 3.0, q = d / d;
  b[I] = q >= 1.0 ? 1.0f : 0.0f;
}
KERNEL(not_a_number__ends_a_loop) {
  float x = a[I];
  do x -= 0.3f; while (sqrtf(x - 2.0f) > 0.1f);
  b[I] = x < 100.0f;
}
KERNEL(not_a_number__counted_by_a_vote) { b[I] = __popc(__ballot_sync(~0u, sqrtf(2.5f - a[I]) > 0.5f)); }
KERNEL(not_a_number__equal_to_nothing) { float d = a[I] - 3.0f; b[I] = d / d == 1.0f; }
KERNEL(not_a_number__picks_an_index) {
  int best = 0;
  float most = -INF;
  for (int k = 0; k < 4; ++k) {
    float v = sqrtf(a[(I + k) % n] - 2.5f);
    if (v > most) { most = v; best = k; }
  }
  b[I] = best;
}

// --- clean ---
KERNEL(clean__guarded_by_isnan) { float d = a[I] - 3.0f, q = d / d; b[I] = isnan(q) ? 0.0f : q > 0.5f ? 1.0f : 2.0f; }
KERNEL(clean__guarded_by_inequality) { float d = a[I] - 3.0f, q = d / d; b[I] = q != q ? 0.0f : q; }
KERNEL(clean__guarded_by_isfinite) { float d = a[I] - 3.0f, q = d / d; b[I] = isfinite(q) ? q : 0.0f; }
KERNEL(clean__guarded_by_isinf) { float d = a[I] - 3.0f, q = 1.0f / d; b[I] = isinf(q) ? 0.0f : q; }
KERNEL(clean__guarded_by_an_unordered_comparison) { float r = sqrtf(2.5f - a[I]); b[I] = !(r > 0.5f) ? 0.0f : 1.0f; }
KERNEL(clean__guarded_by_an_unordered_branch) {
  float root = sqrtf(2.5f - a[I]);
  if (!(root > 0.5f)) { atomicAdd(c, 1); root = 0.0f; }
  b[I] = root;
}
KERNEL(clean__guarded_by_what_went_in) {
  float d = 2.5f - a[I], root = sqrtf(d);
  b[I] = d >= 0.0f && root > 0.5f ? 1.0f : 2.0f;
}
KERNEL(clean__guarded_by_what_went_in_as_a_choice) {
  float d = 2.5f - a[I];
  int hit = d < 0.0f ? 0 : sqrtf(d) > 0.5f ? 1 : 2;
  b[I] = hit;
}
KERNEL(clean__guarded_by_the_count) {
  float count = a[I] - 3.0f, mean = (a[I] - 3.0f) / count;
  b[I] = count > 0.0f && mean > 0.1f;
}
KERNEL(clean__clamped_by_choices) {
  float d = a[I] - 3.0f, q = d / d;
  q = q > 0.0f ? q : 0.0f;
  b[I] = q < 1.0f ? q : 1.0f;
}
KERNEL(clean__clamped_by_extremes) { float d = a[I] - 3.0f, q = d / d; b[I] = fminf(fmaxf(q, 0.0f), 1.0f) > 0.5f; }
KERNEL(clean__library_guarded_by_isnan) {
  float r = logf(sqrtf(2.5f - a[I]) + 2.0f);
  b[I] = isnan(r) ? 0.0f : r;
}
KERNEL(clean__thrown_away) { float r = sqrtf(2.5f - a[I]); int x = r > 0.5f; if (n == 255) b[I] = x; else b[I] = 1.0f; }
KERNEL(clean__escape_out_of_the_range) {
  float x = a[I], y = a[I] * 0.5f;
  int inside = 0;
  for (int k = 0; k < 12; ++k) {
    float xx = x * x - y * y + 0.3f;
    y = 2.0f * x * y + 0.2f;
    x = xx;
    inside += x * x + y * y < 4.0f;
  }
  b[I] = inside;
}
KERNEL(clean__infinity_compared) { b[I] = 1.0f / (a[I] - 3.0f) > 5.0f ? 1.0f : 0.0f; }
KERNEL(clean__largest_by_choices) {
  float most = -INF;
  int at = -1;
  for (int k = 0; k < 8; ++k) {
    float v = a[(I + k) % n];
    if (v > most) { most = v; at = k; }
  }
  b[I] = at;
}
KERNEL(clean__largest_of_extremes) {
  float most = -INF;
  for (int k = 0; k < 8; ++k) most = fmaxf(most, a[(I + k) % n]);
  b[I] = most > 4.0f;
}
KERNEL(clean__online_softmax) {
  float most = -INF, sum = 0;
  for (int k = 0; k < 8; ++k) {
    float v = a[(I + k) % n], now = fmaxf(most, v);
    sum = sum * __expf(most - now) + __expf(v - now);
    most = now;
  }
  b[I] = sum > 1.0f ? __expf(a[I] - most) / sum : 1.0f;
}
KERNEL(clean__masked_scores) {
  float most = -INF, sum = 0;
  for (int k = 0; k < 8; ++k) most = fmaxf(most, k > (int)T % 8 ? -INF : a[k]);
  for (int k = 0; k < 8; ++k) {
    float p = __expf((k > (int)T % 8 ? -INF : a[k]) - most);
    sum += p > 1e-6f ? p : 0.0f;
  }
  b[I] = sum;
}
KERNEL(clean__rows_that_are_all_masked_guarded) {
  float most = -INF, sum = 0;
  for (int k = 0; k < 4; ++k) most = fmaxf(most, T < 64 ? -INF : a[k]);
  for (int k = 0; k < 4; ++k) {
    float p = __expf((T < 64 ? -INF : a[k]) - most);
    sum += most > -1e30f && p > 0.1f ? p : 0.0f;
  }
  b[I] = sum > 0.0f ? 1.0f / sum : 0.0f;
}
