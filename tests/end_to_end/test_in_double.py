"""oracle: float64 with a `cuda` reference: how exact a kernel is beside how exact the reference is, both against the
reference's own source in double."""

import unittest

from assay_client import ADD, Server, contract, kernel, tensor

HALF = "#include <cuda_fp16.h>\n"
BF16 = "#include <cuda_bf16.h>\n"


def rows(source, rows=32, columns=64, threads=32, out=None, shared=0, dtype="float32", out_dtype="float32", **more):
    """a, b: rows × columns; out: a row each unless said otherwise."""
    launch = {"grid": {"x": rows}, "block": {"x": threads}}
    if shared:
        launch["shared_mem_bytes"] = shared
    args = [tensor("a", 0, shape=[rows, columns], dtype=dtype, seed=1), tensor("b", 0, shape=[rows, columns], dtype=dtype, seed=2),
            tensor("out", 0, shape=out or [rows], role="output", dtype=out_dtype), {"name": "n", "type": "int", "value": columns}]
    return {"source_code": source, "kernel_type": "cuda", "io": {"args": args + more.pop("extra", []), "launch": launch}, **more}


def dot(product, before="", c_type="float", extra=""):
    return (f"{before}__global__ void dot(const {c_type}* a, const {c_type}* b, float* out, int n{extra}) {{\n"
            "  float s = 0.0f;\n"
            "  for (int k = threadIdx.x; k < n; k += 32) {\n"
            "    float x = a[blockIdx.x * n + k], y = b[blockIdx.x * n + k];\n"
            f"    s += {product};\n"
            "  }\n"
            "  for (int w = 16; w > 0; w /= 2) s += __shfl_xor_sync(0xffffffffu, s, w);\n"
            "  if (threadIdx.x == 0) out[blockIdx.x] = s;\n"
            "}\n")


SOFTMAX = """extern __shared__ float s[];
__global__ void softmax(const float* __restrict__ a, const float* b, float* out, int n) {
  const float* x = a + blockIdx.x * n;
  float most = -3.402823466e+38f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  s[threadIdx.x] = most;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (threadIdx.x < w) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + w]);
    __syncthreads();
  }
  most = s[0];
  __syncthreads();
  float sum = 0.f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += EXP(x[i] - most);
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
    __syncthreads();
  }
  sum = s[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = EXP(x[i] - most) / sum;
}
"""
LAYERNORM = """template <typename T, int N>
__global__ void layernorm(const T* a, const T* b, T* out, int n, float eps) {
  const float4* x = reinterpret_cast<const float4*>(a + blockIdx.x * N);
  const float4* g = reinterpret_cast<const float4*>(b + blockIdx.x * N);
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < N / 4; i += 32) {
    float4 v = __ldg(x + i);
    sum += v.x + v.y + v.z + v.w;
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
#pragma unroll
  for (int w = 16; w > 0; w /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, w);
    squares += __shfl_xor_sync(0xffffffffu, squares, w);
  }
  const float mean = sum / N, scale = rsqrtf(squares / N - mean * mean + eps);
  for (int i = threadIdx.x; i < N / 4; i += 32) {
    float4 v = x[i], w = g[i];
    v = make_float4((v.x - mean) * scale * w.x, (v.y - mean) * scale * w.y, (v.z - mean) * scale * w.z, (v.w - mean) * scale * w.w);
    ((float4*)(out + blockIdx.x * N))[i] = ROUND4(v);
  }
}
"""
PLAIN = "__device__ float4 ROUND4(float4 v) { return v; }\n"
IN_HALF = HALF + ("__device__ float in_half(float x) { return __half2float(__float2half(x)); }\n"
                  "__device__ float4 ROUND4(float4 v) { return make_float4(in_half(v.x), in_half(v.y), in_half(v.z), in_half(v.w)); }\n")


HALF2 = HALF + """__global__ void dot(const __half* a, const __half* b, float* out, int n) {
  const half2* x = reinterpret_cast<const half2*>(a + blockIdx.x * n);
  const half2* y = (const half2*)(b + blockIdx.x * n);
  half2 s = __float2half2_rn(0.0f);
  for (int k = threadIdx.x; k < n / 2; k += 32) s = __hfma2(x[k], y[k], s);
  float2 t = __half22float2(s);
  float r = t.x + t.y;
  for (int w = 16; w > 0; w /= 2) r += __shfl_down_sync(~0u, r, w);
  if (threadIdx.x == 0) out[blockIdx.x] = r;
}
"""
GROUPS = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void dot(const float* a, const float* b, float* out, int n) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  float s = 0;
  for (int k = threadIdx.x; k < n; k += 32) s += a[blockIdx.x * n + k] * b[blockIdx.x * n + k];
  s = cg::reduce(warp, s, cg::plus<float>());
  if (warp.thread_rank() == 0) out[blockIdx.x] = s;
}
"""
ATOMIC = """__global__ void dot(const float* a, const float* b, float* out, int n) {
  if (threadIdx.x == 0) out[blockIdx.x] = 0;
  __syncwarp();
  float s = 0;
  for (int k = threadIdx.x; k < n; k += 32) s = __fmaf_rn(a[blockIdx.x * n + k], b[blockIdx.x * n + k], s);
  atomicAdd(out + blockIdx.x, s);
}
"""
TEMPLATES = """template <typename T> struct Sum { T v; __device__ Sum operator+(const Sum& o) const { return Sum{v + o.v}; } };
template <> struct Sum<int> { int v; };
struct alignas(16) Vec { float v[4]; };
template <typename T, int W> __device__ __forceinline__ T warp(T x) {
#pragma unroll
  for (int w = W / 2; w > 0; w /= 2) x += __shfl_xor_sync(0xffffffffu, x, w);
  return x;
}
__global__ void dot(const float* __restrict__ a, const float* __restrict__ b, float* out, const int n) {
  const Vec* x = reinterpret_cast<const Vec*>(a + blockIdx.x * n);
  const Vec* y = reinterpret_cast<const Vec*>(b + blockIdx.x * n);
  Sum<float> s{0.f};
  for (int k = threadIdx.x; k < n / 4; k += 32) {
    Vec p = x[k], q = y[k];
    s = s + Sum<float>{p.v[0] * q.v[0] + p.v[1] * q.v[1] + p.v[2] * q.v[2] + p.v[3] * q.v[3]};
  }
  float r = warp<float, 32>(s.v);
  constexpr float kInf = 3.0e38f;
  if (threadIdx.x == 0) out[blockIdx.x] = r == kInf ? -INFINITY : r;
}
"""
BYTES = dot("x * y").replace("float s = 0.0f;", "extern __shared__ __align__(16) unsigned char raw[]; float* m = reinterpret_cast<float*>(raw); float* m2 = m + 32; m[threadIdx.x] = 0; m2[threadIdx.x] = 1; __syncwarp(); float s = m[threadIdx.x] * m2[threadIdx.x];")
ROUNDED = BF16 + """__global__ void dot(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int n) {
  float s = 0;
  for (int k = threadIdx.x; k < n; k += 32) s += __bfloat162float(a[blockIdx.x * n + k]) * __bfloat162float(__ldg(&b[blockIdx.x * n + k]));
  for (int w = 16; w > 0; w /= 2) s += __shfl_xor_sync(~0u, s, w);
  if (threadIdx.x == 0) out[blockIdx.x] = __float2bfloat16(s);
}
"""


class InDouble(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, candidate, reference, **more):
        arguments = {"kernel": candidate, "ref_kernel": reference, "oracle": "float64", "until": "validated", **more}
        report = self.server.call("evaluate", arguments)["structuredContent"]
        self.assertIn("verdict", report, report)
        return report

    def both(self, honest, lossy, reference, atol=0.2, rtol=0.2):
        """Of an honest kernel and one that computes in fewer bits: the reports' precision."""
        report = self.judge(honest, reference)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        told = report["validation"]["outputs"][0]["precision"]
        self.assertLess(told["ratio"], 20, told)
        self.assertGreater(told["reference_error"], 0, told)
        report = self.judge(lossy, reference, atol=atol, rtol=rtol)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"), report["summary"])
        self.assertIn("it computes in fewer bits", report["summary"])
        lost = report["validation"]["outputs"][0]["precision"]
        self.assertGreater(lost["ratio"], 200, lost)
        self.assertAlmostEqual(lost["reference_error"], told["reference_error"], delta=told["reference_error"])
        unasked = self.server.call("evaluate", {"kernel": lossy, "ref_kernel": reference, "until": "validated", "atol": atol, "rtol": rtol})
        unasked = unasked["structuredContent"]
        self.assertEqual((unasked["verdict"], unasked["trust"]), ("passed", "verified"), unasked["summary"])
        self.assertNotIn("precision", unasked["validation"]["outputs"][0])
        return told, lost

    def test_a_dot_product_in_half_is_told_from_one_in_another_order(self):
        honest = dot("x * y").replace("k = threadIdx.x; k < n; k += 32", "k = n - 1 - threadIdx.x; k >= 0; k -= 32")
        self.both(rows(honest), rows(dot("__half2float(__float2half(x)) * __half2float(__float2half(y))", HALF)), rows(dot("x * y")))

    def test_a_softmax_with_shared_memory_and_macros(self):
        options = {"out": [32, 64], "shared": 128}

        def softmax(exp, before=""):
            return rows(before + f"#define EXP(x) {exp}\n" + SOFTMAX, **options)

        self.both(softmax("__expf(x)"), softmax("__half2float(hexp(__float2half(x)))", HALF), softmax("expf(x)"), atol=1e-4, rtol=0.02)

    def test_a_layernorm_of_a_template_in_pieces_of_four(self):
        options = {"out": [32, 64], "extra": [{"name": "eps", "type": "float", "value": 1e-5}],
                   "metadata": {"kernel_name": "layernorm<float, 64>", "name_expressions": ["layernorm<float, 64>"]}}
        honest = LAYERNORM.replace("rsqrtf(squares / N - mean * mean + eps)", "1.0f / sqrtf(squares / N - mean * mean + eps)")
        self.both(rows(PLAIN + honest, **options), rows(IN_HALF + LAYERNORM, **options), rows(PLAIN + LAYERNORM, **options))

    def test_halves_are_computed_in_double_throughout(self):
        for dtype, c_type, before in (("float16", "__half", HALF), ("bfloat16", "__nv_bfloat16", BF16)):
            with self.subTest(dtype):
                reference = rows(dot("x * y", before, c_type), dtype=dtype)
                report = self.judge(rows(dot("x * y", before, c_type), dtype=dtype), reference)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
                told = report["validation"]["outputs"][0]["precision"]
                self.assertLess(told["max_error"], 1e-4)
                self.assertEqual(told["error"], told["reference_error"])

    def test_whatever_way_a_reference_is_written_it_is_as_exact_as_itself(self):
        for name, source in {"pairs of halves": rows(HALF2, dtype="float16"), "cooperative groups": rows(GROUPS), "atomics": rows(ATOMIC),
                             "a C name": rows('extern "C" ' + ATOMIC), "templates and structs": rows(TEMPLATES), "shared bytes": rows(BYTES, shared=256),
                             "a narrow output": rows(ROUNDED, dtype="bfloat16", out_dtype="bfloat16")}.items():
            with self.subTest(name):
                report = self.judge(source, source, atol=0.1, rtol=0.1)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
                told = report["validation"]["outputs"][0]["precision"]
                self.assertEqual(told["elements"], 32)
                self.assertAlmostEqual(told["error"], told["reference_error"], delta=told["reference_error"])
                self.assertLess(told["error"], 0.05)
                self.assertLess(told["ratio"], 3)

    def test_a_scalar_keeps_the_value_that_its_type_holds(self):
        extra = [{"name": "scale", "type": "float", "value": 0.1}]
        source = dot("x * y", extra=", float scale").replace("out[blockIdx.x] = s", "out[blockIdx.x] = s * scale")
        report = self.judge(rows(source, extra=extra), rows(source, extra=extra))
        told = report["validation"]["outputs"][0]["precision"]
        # In another number than the float nearest to 0.1 the answer would be off by 1.5e-8 of itself.
        one = source.replace("float s = 0.0f;", "double s = 0;").replace("float x =", "double x =").replace(", y =", "; double y =")
        exact = self.judge(rows(one, extra=extra), rows(source, extra=extra))["validation"]["outputs"][0]["precision"]
        self.assertLessEqual(exact["error"], exact["rounding_error"] * 1.01, (exact, told))

    def test_a_constant_of_a_header_is_a_double_where_auto_takes_its_type(self):
        exact = dot("x * y").replace("float s = 0.0f;", "double s = 0;").replace("float x =", "double x =").replace(", y =", "; double y =")
        for first, before in (("FLT_MIN", ""), ("1 / INFINITY", "#include <cmath>\n"), ("CUDART_ZERO_F", "#include <math_constants.h>\n"),
                              ("0 * LOWEST", "#define LOWEST (-FLT_MAX)\n")):
            with self.subTest(first):
                report = self.judge(rows(exact), rows(dot("x * y", before).replace("float s = 0.0f;", f"auto s = {first};")))
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
                told = report["validation"]["outputs"][0]["precision"]
                # Were the sum of the reference in double a float, it would be off by more than the answer's rounding.
                self.assertLessEqual(told["error"], told["rounding_error"] * 1.01, told)

    def test_inputs_that_are_written_and_left_alone(self):
        source = ("__global__ void f(const float* a, float* io, float* out, int n) { int i = threadIdx.x;\n"
                  "  io[i] = io[i] * 0.1f + a[i]; if (i % 2 == 0) out[i] = io[i] / 3.0f; }\n")
        io = {"args": [tensor("a", 64, seed=1), tensor("io", 64, role="inout", seed=2), tensor("out", 64, role="output"),
                       {"name": "n", "type": "int", "value": 64}], "launch": {"grid": {"x": 1}, "block": {"x": 64}}}
        report = self.judge(kernel(source, io), kernel(source, io))
        self.assertEqual(report["verdict"], "passed", report["summary"])
        for output in report["validation"]["outputs"]:
            self.assertLess(output["precision"]["ratio"], 2, output)
            self.assertGreaterEqual(output["precision"]["elements"], 32)

    def test_a_reference_that_is_exact_by_its_inputs_condemns_nobody(self):
        """Whole numbers are summed without an error, in any order; a quotient by a reciprocal has one rounding more."""
        def io():
            return {"args": [{"name": "a", "type": "tensor", "tensor_spec": {"shape": [64], "dtype": "float32", "init": {"kind": "arange", "start": 0, "step": 7}}},
                             tensor("out", 64, role="output")], "launch": {"grid": {"x": 1}, "block": {"x": 64}}}
        source = "__global__ void f(const float* a, float* out) { int i = threadIdx.x; out[i] = a[i] / 7.0f; }"
        report = self.judge(kernel(source.replace("a[i] / 7.0f", "a[i] * (1.0f / 7.0f)"), io()), kernel(source, io()))
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertNotEqual(report["trust"], "suspect", report["summary"])
        told = report["validation"]["outputs"][0]["precision"]
        self.assertEqual((told["reference_error"], told["rounding_error"]), (0, 0))
        self.assertGreater(told["error"], 0)
        self.assertLess(told["ratio"], 10)

    def test_what_is_another_in_double_says_nothing(self):
        source = dot("x * y").replace("out[blockIdx.x] = s", "out[blockIdx.x] = s + (sizeof(s) == 8 ? 1.0f : 0.0f)")
        report = self.judge(rows(dot("x * y")), rows(source))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        self.assertIn("differs from itself", report["validation"]["outputs"][0]["precision"]["unusable"])

    def test_what_has_no_form_in_double_is_unsupported_before_anything_runs(self):
        hostile = {
            "`__float_as_int`": dot("x * y * (__float_as_int(y) == 7 ? 0.5f : 1.0f)"),
            "`asm`": dot("x * y").replace("float s = 0.0f;", 'float s; asm("mov.f32 %0, 0f00000000;" : "=f"(s));'),
            "`union`": dot("x * y").replace("float s = 0.0f;", "union { float f; int i; } u; u.i = 0; float s = u.f;"),
            "memory is read as `int`": dot("x * y").replace("float s = 0.0f;", "float s = 0; int z = *(const int*)a; if (z == 1) s = 0;"),
            "which is `int4`": dot("x * y", "using V = int4;\n").replace("float s = 0.0f;", "float s = 0; V z = *(const V*)a; if (z.x == 1) s = 0;"),
            "`mystery`": dot("x * y").replace("if (threadIdx.x == 0) out[blockIdx.x] = s;", "extern __device__ float mystery(float); out[0] = mystery(s);"),
        }
        for words, source in hostile.items():
            with self.subTest(words):
                report = self.judge(rows(dot("x * y")), rows(source))
                if words == "`mystery`":
                    self.assertIn(report["verdict"], ("compile_failed", "unsupported", "contract_invalid"), report["summary"])
                    continue
                self.assertEqual(report["verdict"], "unsupported", report["summary"])
                self.assertIn("/oracle: float64: the reference cannot be computed in double", report["summary"])
                self.assertIn(words, report["summary"])
                self.assertRegex(report["summary"], r"line \d+")
                self.assertFalse([stage for stage in report["stages"] if stage["name"] == "validated" and stage["status"] != "skipped"])

    def test_a_tensor_that_is_read_as_bits_is_unsupported(self):
        bits = ("__global__ void dot(const unsigned* a, const float* b, float* out, int n) {\n"
                "  if (threadIdx.x == 0) out[blockIdx.x] = b[blockIdx.x * n] + (a[blockIdx.x * n] >> 31); }\n")
        report = self.judge(rows(bits), rows(bits))
        self.assertEqual(report["verdict"], "unsupported", report["summary"])
        self.assertIn("it takes 'a', which is float32, as unsigned int* then", report["summary"])

    def test_shared_memory_that_is_too_large_in_double_is_unsupported(self):
        source = dot("x * y").replace("float s = 0.0f;", "extern __shared__ float big[]; big[threadIdx.x] = 0; float s = big[threadIdx.x];")
        report = self.judge(rows(source, shared=160 << 10), rows(source, shared=160 << 10))
        self.assertEqual(report["verdict"], "unsupported", report["summary"])
        self.assertIn("it needs 327680 bytes of shared memory then, of 232448", report["summary"])

    def test_a_reference_that_faults_in_double_alone_is_no_fault_of_the_kernels(self):
        # Offsets in bytes, hidden from a reader of the text.
        source = dot("x * y").replace("float s = 0.0f;", "float s = 0.0f; if (sizeof(s) == 8) out[1 << 20] = s;")
        report = self.judge(rows(dot("x * y")), rows(source))
        self.assertEqual(report["verdict"], "unsupported", report["summary"])
        self.assertIn("the reference cannot be computed in double", report["summary"])
        hangs = dot("x * y").replace("float s = 0.0f;", "float s = 0.0f; while (sizeof(s) == 8) __nanosleep(100);")
        report = self.judge(rows(dot("x * y")), rows(hangs), timeout=5)
        self.assertEqual(report["verdict"], "unsupported", report["summary"])
        self.assertEqual(self.judge(rows(dot("x * y")), rows(dot("x * y")))["verdict"], "passed")

    def test_a_triton_reference_and_none_at_all_are_unsupported(self):
        answer = self.server.call("evaluate", {"kernel": kernel(ADD, contract()), "oracle": "float64"})["structuredContent"]
        self.assertEqual(answer["verdict"], "unsupported")
        self.assertIn("needs a reference in `torch` or `cuda`", answer["summary"])
        triton = {"source_code": "import triton\n@triton.jit\ndef add(a, b, out, n):\n    pass\n", "kernel_type": "triton"}
        report = self.judge(kernel(ADD, contract()), triton)
        self.assertEqual(report["verdict"], "unsupported")
        self.assertIn("computes in the types that its source names", report["summary"])

    def test_what_was_computed_can_be_read(self):
        report = self.judge(rows(dot("x * y")), rows(dot("x * y")))
        uri = f"assay://jobs/{report['job_id']}/ref_in_double.cu"
        answer = self.server.answer(self.server.send("resources/read", {"uri": uri}))
        self.assertIn("const double* a", answer["result"]["contents"][0]["text"])


if __name__ == "__main__":
    unittest.main()
