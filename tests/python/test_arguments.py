"""Data of every kind and contracts of every size, in each kind of Python source: sixteen-bit floats and bytes, atomics into an
output, tensors without elements, thirty arguments."""

import unittest

from assay_client import tensor
from torch_cuda_sources import TAIL, inline
from torch_server import TorchServer, inputs, io_of, source
from triton_kernels import HEAD, io, meta, number, out
from triton_kernels import tensor as triton_tensor

# Sums of columns by atomics, in whatever type; a bias that may have no elements; counts of bytes by atomics.
MIXED = """
#include <torch/extension.h>
template <typename T>
__global__ void scale(const T* a, const T* bias, bool has_bias, T* out, float* sums, int columns) {
  const int column = threadIdx.x;
  const int at = blockIdx.x * columns + column;
  const float value = 2.0f * static_cast<float>(a[at]) + (has_bias ? static_cast<float>(bias[column]) : 0.0f);
  out[at] = static_cast<T>(value);
  atomicAdd(&sums[column], value);
}
__global__ void count(const int8_t* a, int* counts, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&counts[a[i] + 128], 1);
}
std::vector<torch::Tensor> forward(torch::Tensor a, torch::Tensor bias, torch::Tensor bytes) {
  auto out = torch::empty_like(a);
  auto sums = torch::zeros({a.size(1)}, a.options().dtype(torch::kFloat32));
  auto counts = torch::zeros({256}, a.options().dtype(torch::kInt32));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, a.scalar_type(), "scale", [&] {
    scale<scalar_t><<<a.size(0), a.size(1)>>>(a.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), bias.numel() > 0,
                                              out.data_ptr<scalar_t>(), sums.data_ptr<float>(), a.size(1));
  });
  count<<<2, 64>>>(bytes.data_ptr<int8_t>(), counts.data_ptr<int>(), bytes.numel());
  return {out, sums, counts};
}
"""
MIXED_TORCH = """import torch
def f(a, bias, bytes):
    value = 2.0 * a.float() + (bias.float() if bias.numel() else 0.0)
    return value.to(a.dtype), value.sum(0), torch.bincount(bytes.flatten().int() + 128, minlength=256).int()
"""
NAMES = [f"a{i}" for i in range(29)]
SUM_TORCH = f"def f({', '.join(NAMES)}):\n    return {' + '.join(NAMES)}\n"
SUM_TRITON = HEAD + f"""@triton.jit
def total({', '.join(NAMES)}, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.zeros((B,), tl.float32)
""" + "".join(f"    v += tl.load({name} + at, mask=at < n, other=0.0)\n" for name in NAMES) + "    tl.store(y + at, v, mask=at < n)\n"
SUM_CUDA = ("#include <torch/extension.h>\n__global__ void total(" + ", ".join(f"const float* {name}" for name in NAMES)
            + ", float* y, int n) {\n  int i = threadIdx.x;\n  if (i < n) y[i] = " + " + ".join(f"{name}[i]" for name in NAMES) + ";\n}\n"
            + "torch::Tensor forward(" + ", ".join(f"torch::Tensor {name}" for name in NAMES) + ") {\n  auto y = torch::empty_like(a0);\n  total<<<1, 128>>>("
            + ", ".join(f"{name}.data_ptr<float>()" for name in NAMES) + ", y.data_ptr<float>(), y.numel());\n  return y;\n}\n")
STARRED = TAIL.replace("(self, x)", "(self, *all)").replace("forward(x)", "forward(*all)")


def declared(text):
    """The head of its host function, for cpp_sources."""
    at = text.rindex("forward(")
    begin = text.rindex("\n", 0, at) + 1
    return text[begin:text.index("{", at)].strip() + ";"


class Arguments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def passes(self, kernel, reference, trust="audited", **more):
        report = self.server.judge(kernel, reference, until="validated", **more)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", trust), report["summary"])
        return report

    def test_types_atomics_and_tensors_without_elements_in_torch_cuda(self):
        text = inline(MIXED, declared(MIXED), tail=STARRED)
        for dtype, columns in (("bfloat16", 33), ("float16", 0), ("float64", 33)):
            with self.subTest(f"{dtype}, bias of {columns}"):
                contract = io_of(tensor("a", 0, shape=[20, 33], dtype=dtype, kind="randn", seed=1),
                                 tensor("bias", 0, shape=[columns], dtype=dtype, kind="randn", seed=2),
                                 tensor("bytes", 0, shape=[500], dtype="int8", kind="uniform", low=-100, high=100, seed=3))
                reference = source(MIXED_TORCH, function_name="f")
                self.passes(source(text, "torch_cuda", contract), reference, atol=1e-2, rtol=1e-2)
                wrong = source(text.replace("atomicAdd(&counts[a[i] + 128], 1)", "counts[a[i] + 128] = 1"), "torch_cuda", contract)
                if dtype == "bfloat16":
                    report = self.server.judge(wrong, reference, until="validated", atol=1e-2, rtol=1e-2)
                    self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_thirty_arguments_in_each_kind(self):
        contract = inputs(names=NAMES, shape=(100,))
        reference = source(SUM_TORCH, function_name="f")
        self.passes(source(inline(SUM_CUDA, declared(SUM_CUDA), tail=STARRED), "torch_cuda", contract), reference)
        self.passes(source(SUM_TORCH, "multi_kernel", contract, entry_point="f"), reference)
        launched = io(*(triton_tensor(name, 100, seed=i) for i, name in enumerate(NAMES)), out("y", 100), number("n", 100), meta("B", 128))
        self.passes(source(SUM_TRITON, "triton", launched), reference, trust="verified")

    def test_a_tensor_without_elements_in_a_triton_kernel(self):
        text = HEAD + ("@triton.jit\ndef add(x, bias, y, n, m, B: tl.constexpr):\n    at = tl.arange(0, B)\n    v = tl.load(x + at, mask=at < n) * 2\n"
                       "    if m > 0:\n        v += tl.load(bias + at, mask=at < m, other=0.0)\n    tl.store(y + at, v, mask=at < n)\n")
        for m in (0, 100):
            with self.subTest(m):
                launched = io(triton_tensor("x", 100), triton_tensor("bias", m, seed=5), out("y", 100), number("n", 100), number("m", m), meta("B", 128))
                self.passes(source(text, "triton", launched),
                            source("def f(x, bias):\n    return 2 * x + (bias if bias.numel() else 0)\n", function_name="f"), trust="verified")


if __name__ == "__main__":
    unittest.main()
