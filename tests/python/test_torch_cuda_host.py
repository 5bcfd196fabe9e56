"""torch_cuda without a GPU: what the host half may say besides launches, as torch's own build takes it."""

import unittest

from torch_cuda_sources import HEAD, PLAIN, inline
from torch_server import SCALE, TorchServer, inputs, source

ATTRIBUTES = """
#include <torch/extension.h>
[[nodiscard]] __device__ __forceinline__ float twice(float v) { return v * 2; }
struct alignas(8) Two { float v[2]; };
__attribute__((always_inline)) inline __device__ Two both(Two two) { return {{twice(two.v[0]), twice(two.v[1])}}; }
template <int N> __launch_bounds__(N) __global__ void scale(const Two* a, Two* out, int n) {
  int i = blockIdx.x * N + threadIdx.x;
  if (i < n) out[i] = both(a[i]);
}
[[maybe_unused]] __global__ void negate(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = -out[i];
}
torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  const int n = a.numel();
  scale<128><<<(n / 2 + 127) / 128, 128>>>(reinterpret_cast<const Two*>(a.data_ptr<float>()), reinterpret_cast<Two*>(out.data_ptr<float>()), n / 2);
  negate<<<(n + 127) / 128, 128>>>(out.data_ptr<float>(), n);
  return -out;
}
"""

# On the device and on the host: 2 * a.
FUNCTIONS = PLAIN.replace("a[i] * 2.0f", "of(a[i])").replace("#include <cuda_runtime.h>", """
#include <cmath>
#include <utility>
struct Split { float whole, rest; };
__host__ __device__ inline Split split(float v) { return {std::trunc(v), std::fmod(v, 1.0f)}; }
template <typename T> __device__ T of(T v) {
  static_assert(sizeof(std::tanh(v)) == sizeof(T) && sizeof(std::log(3)) == sizeof(double), "");
  auto parts = split(v);
  std::swap(parts.whole, parts.rest);
  const T size = std::copysign(std::hypot(v, T(0)), v) + (std::isfinite(std::lgamma(v)) ? 0 : 1);
  return std::fma(parts.whole + parts.rest, T(2), std::log(std::exp(size)) - std::cbrt(std::pow(size, 3)));
}
""")

# Parts of torch that are not compiled ahead: named alone, or included.
PARTS = PLAIN.replace("__global__", """
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/cpu/vec/vec.h>
#include <pybind11/numpy.h>
namespace F = torch::nn::functional;
struct Kept : torch::autograd::Function<Kept> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, torch::Tensor x) { return x * 1; }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext*, torch::autograd::tensor_list given) { return given; }
};
__global__""").replace("return out;", """
  TORCH_CHECK(a.is_cuda() && a.device().type() == torch::kCUDA && at::vec::Vectorized<float>::size() >= 4);
  std::atomic<int64_t> seen{0};
  at::parallel_for(0, n, 64, [&](int64_t from, int64_t to) { seen += to - from; });
  TORCH_CHECK(seen == n);
  auto both = at::TensorIteratorConfig().add_output(out).add_input(a).build();
  TORCH_CHECK(both.numel() == n);
  return Kept::apply(F::relu(out) - F::relu(-out));""")

# C++ alone, with names that CUDA has, too.
CPP_ALONE = f"""{HEAD}
module = load_inline('alone', '''
struct float4 {{ float x, by; }};
torch::Tensor half(torch::Tensor a) {{ TORCH_CHECK(a.is_cuda()); return a / 2; }}
torch::Tensor scale(torch::Tensor a) {{ return half(a) * float4{{0, 4}}.by; }}''', functions=['scale', 'half'])
class ModelNew(nn.Module):
    def forward(self, x):
        return module.scale(x)
"""
PLAIN_BESIDE = f"""
beside = load_inline('beside', 'torch::Tensor forward(torch::Tensor a);', r'''{PLAIN}''', functions=['forward'])
class ModelNew(nn.Module):
    def forward(self, x):
        return beside.forward(module.scale(x)) / 2
"""


class Host(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def passes(self, text, reference=SCALE, function="scale"):
        report = self.server.judge(source(text, "torch_cuda", inputs(shape=(64, 64))), source(reference, function_name=function),
                                   until="validated")
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        return report

    def test_attributes_before_the_marks_of_the_device(self):
        self.passes(inline(ATTRIBUTES))

    def test_functions_of_cmath_on_the_device(self):
        self.passes(inline(FUNCTIONS))

    def test_parts_of_torch_that_are_not_compiled_ahead(self):
        self.passes(inline(PARTS))

    def test_cpp_alone_may_have_names_that_are_cudas(self):
        self.passes(CPP_ALONE)
        self.passes(CPP_ALONE.replace("ModelNew", "Other") + PLAIN_BESIDE)


if __name__ == "__main__":
    unittest.main()
