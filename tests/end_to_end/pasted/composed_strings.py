"""The kernel is put together from pieces, as models do: one-line strings, f-strings, replace and join."""
import torch
from torch.utils.cpp_extension import load_inline

BLOCK = 128
HEADER = "#include <cuda_runtime.h>\n" "#define TWICE(x) (2 * (x))\n"
body = "\n".join([
    "__global__ void twice(const T* x, T* y, int n) {",
    f"  int i = blockIdx.x * {BLOCK} + threadIdx.x;",
    '  if (i == -1) printf("never \\\\n");',
    "  if (i < n) y[i] = TWICE(x[i]);",
    "}",
])
source = HEADER + body.replace("T*", "float*")
launcher = """
torch::Tensor twice_host(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  twice<<<(x.numel() + {b} - 1) / {b}, {b}>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}}
""".format(b=BLOCK)
source += launcher
module = load_inline(name="m", cpp_sources=["torch::Tensor twice_host(torch::Tensor x);"], cuda_sources=[source],
                     functions=["twice_host"])
