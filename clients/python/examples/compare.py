"""Which of two kernels is faster, and is the second one right? It is not: its last row is missing.

usage: compare.py      ($ASSAY_URL, $ASSAY_TOKEN, $ASSAY_CA_FILE; exit 1 unless the mistake was found)
"""

import sys

from assay_rest import Client, IOContractBuilder, KernelCode, create_uniform_spec

TRANSPOSE = """
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < %s && c < columns) out[c * rows + r] = in[r * columns + c];
}
"""

io = (
    IOContractBuilder()
    .add_input_tensor("in", create_uniform_spec(["rows", "columns"], seed=7, low=-1.0, high=1.0))
    .add_output_tensor("out", ["columns", "rows"])
    .add_scalar("rows", "int", 48)
    .add_scalar("columns", "int", 80)
    .set_grid("ceildiv(columns, 16)", "ceildiv(rows, 16)")
    .set_block(16, 16)
    .build()
)
report = Client.from_environment().compare(
    ref_kernel=KernelCode(TRANSPOSE % "rows", "cuda", io),
    custom_kernel=KernelCode(TRANSPOSE % "rows - 1", "cuda", io),
    num_trials=20, atol=1e-5, rtol=1e-5)
print(f"{report.verdict}: {report.summary}")
print("speedup:", report.speedup if report.speedup is not None else "not measured")
sys.exit(0 if report.verdict == "wrong_output" else 1)
