"""torch_cuda without a GPU: names that C++ tells apart by their types, and what happens as the built library is loaded."""

import unittest

from torch_cuda_sources import PLAIN, inline
from torch_server import SCALE, TorchServer, inputs, source

# Kernels of one name, templates among them, that differ in what they take; a namespace's own; and one that is specialised.
OVERLOADED = """
#include <torch/extension.h>
struct Pair { float a, b; };
namespace ops { __global__ void add(float* out, int n); }
__global__ void add(const float* __restrict__ a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i];
}
__global__ void add(const float* a, const float* b, float* out, const int64_t n, Pair by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * by.a + b[i] * by.b;
}
template <typename T, int N = 1> __global__ void add(T* out, const T by[], dim3, bool) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] += by[0] * N;
}
namespace ops { __global__ void add(float* out, int n) { if (threadIdx.x == 0) out[blockIdx.x] += 1.0f; } }
template <typename T> __global__ void fill(T* out, T value) { out[threadIdx.x] = value; }
template <> __global__ void fill<float>(float* out, float value) { out[threadIdx.x] = value * 2; }

torch::Tensor forward(torch::Tensor a) {
  auto first = torch::empty_like(a), out = torch::empty_like(a), one = torch::empty({1}, a.options());
  const int64_t n = a.numel();
  const int blocks = (n + 255) / 256;
  float* const made = first.data_ptr<float>();
  add<<<blocks, 256>>>(a.data_ptr<float>(), made, static_cast<int>(n));
  add<<<blocks, 256>>>(a.data_ptr<float>(), made, out.data_ptr<float>(), n, Pair{0.5f, 1.5f});
  fill<<<1, 1>>>(one.data_ptr<float>(), 1.0f);
  add<float><<<blocks, 256>>>(out.data_ptr<float>(), one.data_ptr<float>(), dim3(1), true);
  ops::add<<<n, 32>>>(out.data_ptr<float>(), 1);
  return out - 3;
}
"""
EARLY = "\n#include <chrono>\n#include <thread>\nstruct Early { Early() { std::this_thread::sleep_for(std::chrono::seconds(600)); } } early;\n"


# Built when it is first called, as many sources have it.
LAZY = f"""import torch
from torch.utils.cpp_extension import load_inline
cuda_source = r'''{PLAIN}'''
calls, made = [0], []
def get(name="lazy", text=cuda_source):
    return load_inline(name=name, cpp_sources="torch::Tensor forward(torch::Tensor a);", cuda_sources=text, functions=["forward"])
class ModelNew(torch.nn.Module):
    def forward(self, x):
        calls[0] += 1
        CALL
        return made[0].forward(x)
"""
ONCE = LAZY.replace("CALL", "made or made.append(get())")
AGAIN = LAZY.replace("CALL", """try:
            made or made.append(get(text="#error at first" if calls[0] == 1 else cuda_source))
        except RuntimeError:
            made.append(get())""")
INSTEAD = LAZY.replace("CALL", """try:
            made or made.append(get(text=cuda_source.replace("2.0f;", "2.0f")))
        except RuntimeError:
            return x * 2""")
MISTAKEN = LAZY.replace("CALL", 'made or made.append(get(text=cuda_source.replace("2.0f;", "2.0f")))')


class Loading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, text, shape=(64, 64), **more):
        return self.server.judge(source(text, "torch_cuda", inputs(shape=shape)), source(SCALE, function_name="scale"),
                                 **{"until": "validated", **more})

    def test_what_is_built_in_the_first_call_is_built_like_any_other(self):
        for name, text in (("once", ONCE), ("at the second attempt", AGAIN)):
            with self.subTest(name):
                report = self.judge(text, until="timed", num_trials=3)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
                self.assertNotIn("load_inline failed", str(report["warnings"]))
        reference = self.server.judge(source(SCALE, function_name="scale", io=inputs(shape=(64, 64))), source(ONCE.replace("ModelNew", "Model"), "torch_cuda"), until="validated")
        self.assertEqual(reference["verdict"], "passed", reference["summary"])

    def test_a_build_that_fails_in_a_call_is_told(self):
        report = self.judge(MISTAKEN)
        self.assertEqual((report["verdict"], report["error"].get("forged")), ("compile_failed", None), report["summary"])
        self.assertIn("expected", report["summary"])
        report = self.judge(INSTEAD)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn("A load_inline failed, and the source went on without it", str(report["warnings"]))

    def test_kernels_of_one_name_are_told_apart_by_their_types(self):
        report = self.judge(inline(OVERLOADED))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        kernels = report["kernel_exec_result"]["metadata"]["built"][0]["kernels"]
        self.assertIn("ops::add", kernels)
        self.assertEqual(len(set(kernels)), 5, kernels)
        report = self.judge(inline(OVERLOADED.replace("by.b;", "by.a;")))
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_a_convolution_of_a_batch_runs_beside_a_kernel_of_its_own(self):
        model = ("class {name}(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                 "        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)\n"
                 "    def forward(self, x):\n        return {result}\n"
                 "def get_inputs():\n    return [torch.randn(4, 3, 16, 16)]\ndef get_init_inputs():\n    return []\n")
        mine = model.format(name="ModelNew", result="module.forward(self.conv(x))")
        report = self.server.judge(source(inline(PLAIN, tail=mine), "torch_cuda"),
                                   source("import torch\n" + model.format(name="Model", result="self.conv(x) * 2")), until="validated")
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])

    def test_a_tensor_that_is_left_is_named_or_told_by_the_argument_that_points_there(self):
        for text, named in ((PLAIN.replace("out[i] = a[i]", "out[i] = a[i + 1]"), "tensor 'x' (4000 bytes)"),
                            (PLAIN.replace("out[i] = a[i]", "out[i + 1] = a[i]"), "tensor 'argument 1' (4000 bytes)")):
            report = self.judge(inline(text), shape=(1000,))
            self.assertEqual(report["verdict"], "crashed", report["summary"])
            self.assertIn(named, report["summary"])

    def test_what_is_defined_nowhere_is_named_as_it_is_written(self):
        missing = PLAIN.replace("torch::Tensor forward", "namespace ops { torch::Tensor scaled(torch::Tensor a, float by); }\ntorch::Tensor forward")
        text = inline(missing.replace("return out;", "return ops::scaled(out, 1);"))
        report = self.judge(text)
        self.assertEqual(report["verdict"], "compile_failed", report["summary"])
        self.assertIn("ops::scaled(at::Tensor, float) is declared and used", report["summary"])
        self.assertIn("kernel.py:", report["summary"])

    def test_the_time_limit_is_that_of_loading_too(self):
        report = self.judge(inline(PLAIN + EARLY), timeout=5)
        self.assertEqual(report["verdict"], "timed_out", report["summary"])


if __name__ == "__main__":
    unittest.main()
