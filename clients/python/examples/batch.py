"""Several kernels at once: all are submitted, then each is waited for. What is wrong with one holds up none.

usage: batch.py      ($ASSAY_URL, $ASSAY_TOKEN, $ASSAY_CA_FILE; exit 1 unless all went as foreseen)
"""

import sys

from assay_rest import Client, InvalidRequest, IOContractBuilder, KernelCode, create_arange_spec

SQUARE = """
__global__ void square(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[%s] = x[i] * x[i];
}
"""
FORESEEN = {"i": "passed", "i + 1000000": "crashed", "j": "compile_failed"}


def contract(block):
    return (
        IOContractBuilder()
        .add_input_tensor("x", create_arange_spec(["n"], "int32"))
        .add_output_tensor("y", ["n"], "int32")
        .add_scalar("n", "int", 1000)
        .set_grid("ceildiv(n, 128)")
        .set_block(block)
        .build()
    )


client = Client.from_environment()
jobs = {where: client.submit_evaluate(KernelCode(SQUARE % where, "cuda", contract(128)), num_trials=5)
        for where in FORESEEN}
verdicts = {}
for where, job in jobs.items():
    report = job.wait(timeout_s=120)
    verdicts[where] = report.verdict
    print(f"y[{where}]: {report.verdict}: {report.summary.splitlines()[0]}")

try:
    client.submit_evaluate(KernelCode(SQUARE % "i", "cuda", contract(2048)))
except InvalidRequest as refusal:
    print(f"refused, nothing ran: {refusal.violations[0]}")
else:
    sys.exit("a block of 2048 threads was not refused")
sys.exit(0 if verdicts == FORESEEN else 1)
