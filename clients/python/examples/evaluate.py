"""One kernel from source to report: a contract by the builder, the kernel, the answer.

usage: evaluate.py      ($ASSAY_URL, $ASSAY_TOKEN, $ASSAY_CA_FILE; exit 1 unless it passed)
"""

import sys

from assay_rest import Client, IOContractBuilder, KernelCode, create_randn_spec

SOURCE = """
__global__ void saxpy(float a, const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
"""
REFERENCE = """
__global__ void saxpy(float a, const float* x, const float* y, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}
"""


def contract(grid, block):
    return (
        IOContractBuilder()
        .add_scalar("a", "float", 2.0)
        .add_input_tensor("x", create_randn_spec(["n"], seed=42))
        .add_input_tensor("y", create_randn_spec(["n"], seed=43))
        .add_output_tensor("out", ["n"])
        .add_scalar("n", "int", 4096)
        .set_grid(grid)
        .set_block(block)
        .build()
    )


report = Client.from_environment().evaluate(
    KernelCode(SOURCE, "cuda", contract("ceildiv(n, 256)", 256)),
    KernelCode(REFERENCE, "cuda", contract(1, 1)),
    num_trials=20)
print(f"{report.verdict}, {report.trust}: {report.summary}")
if report.runtime_ms is not None:
    print(f"{report.runtime_ms:.4f} ms on {report.raw['environment']['device']}")
sys.exit(0 if report.passed else 1)
