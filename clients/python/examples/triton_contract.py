"""A Triton kernel: meta parameters, num_warps, a contract kept in a file. Where the server has no Triton it says so.

usage: triton_contract.py [FILE]      ($ASSAY_URL, $ASSAY_TOKEN, $ASSAY_CA_FILE; exit 1 unless passed or unsupported)
"""

import os
import sys
import tempfile

from assay_rest import (Client, IOContractBuilder, KernelCode, LaunchConfig, LaunchDim, create_randn_spec,
                        create_uniform_spec, load_from_file, save_to_file)

SOURCE = '''
import triton
import triton.language as tl


@triton.jit
def scaled_add(x_ptr, y_ptr, out_ptr, alpha, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, alpha * x + y, mask=mask)
'''

contract = (
    IOContractBuilder()
    .add_input_tensor("x_ptr", create_randn_spec([4096], seed=42))
    .add_input_tensor("y_ptr", create_uniform_spec([4096], seed=43, low=-0.5, high=0.5))
    .add_output_tensor("out_ptr", [4096])
    .add_scalar("alpha", "float", 2.0)
    .add_scalar("n", "int", 4096)
    .add_meta_param("BLOCK_SIZE", 256)
    .set_launch_config(LaunchConfig(grid=LaunchDim(x=16), num_warps=4, num_stages=2))
    .build()
)
with tempfile.TemporaryDirectory() as folder:
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(folder, "scaled_add.json")
    save_to_file(contract, path)
    kernel = KernelCode(SOURCE, "triton", load_from_file(path), metadata={"kernel_name": "scaled_add"})
    report = Client.from_environment().evaluate(kernel, num_trials=20)
print(f"{report.verdict}: {report.summary}")
sys.exit(0 if report.verdict in ("passed", "unsupported") else 1)
