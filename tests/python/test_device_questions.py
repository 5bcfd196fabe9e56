"""Sources that ask about a GPU where their process has none: facts are answered, work on it is `unsupported`."""

import unittest

from torch_server import TorchServer, inputs, source
from triton_kernels import ADD, ADD_IO, ADD_TORCH

BOTH = inputs((1000,), "xy")
ACTIVE = "triton.runtime.driver.active"
MODULE_LEVEL = f"""import torch
import triton
DEVICE = {ACTIVE}.get_active_torch_device()
def is_cuda():
    return {ACTIVE}.get_current_target().backend == "cuda"
assert is_cuda() and {ACTIVE}.get_current_target().arch == 89
assert torch.cuda.get_device_capability() == (8, 9)
properties = {ACTIVE}.utils.get_device_properties(DEVICE.index)
NUM_SMS = torch.cuda.get_device_properties(DEVICE).multi_processor_count
assert NUM_SMS == properties["multiprocessor_count"] > 0 and properties["max_shared_mem"] > 48 << 10
"""
SCRIPT = ADD + f"""import torch
DEVICE = {ACTIVE}.get_active_torch_device()
NUM_SMS = torch.cuda.get_device_properties(DEVICE).multi_processor_count
def run(x, y):
    assert x.device == DEVICE and {ACTIVE}.get_current_target().backend == "cuda"
    z = torch.empty(x.shape, device=DEVICE)
    add_kernel[(max(8, NUM_SMS // NUM_SMS),)](x, y, z, x.numel(), BLOCK=128)
    return z
"""
NEEDS = ("torch.cuda.Event(enable_timing=True)", "torch.cuda.CUDAGraph()", "torch.cuda.Stream()", "torch.cuda.set_device(0)",
         "torch.cuda.device(0).__enter__()", "torch.cuda.nvtx.range_push('a')", "torch.Generator(device='cuda')",
         "torch.cuda.reset_peak_memory_stats()", "torch.Event('cuda')", "torch.cuda.graph(None)", "torch.cuda.synchronize()",
         "torch.empty(1, pin_memory=True)", "torch.cuda.FloatTensor(3)", "torch._C._cuda_getCurrentRawStream(0)",
         "torch.cuda.is_current_stream_capturing()", "torch.cuda.ExternalStream(0)", "torch.cuda.memory_summary()", "torch.ops.aten._scaled_dot_product_flash_attention(x[None, None], x[None, None], x[None, None])")


def warned(report):
    return {warning.get("code"): warning["message"] for warning in report["warnings"]}


class DeviceQuestions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_a_triton_source_hears_of_the_device_that_it_is_compiled_for(self):
        report = self.server.judge(source(MODULE_LEVEL + ADD, "triton", ADD_IO), source(ADD_TORCH, function_name="f"), num_trials=3)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        self.assertIn("true of a device called NVIDIA L40S (142 multiprocessors)", warned(report)["source"])
        # Of another target, what is known of that.
        arguments = {"kernel": source(MODULE_LEVEL.replace("89", "90").replace("(8, 9)", "(9, 0)") + ADD, "triton", ADD_IO), "arch": "sm_90", "wait_s": 60}
        made = self.server.call("compile_kernel", arguments)["structuredContent"]
        self.assertEqual(made["verdict"], "passed", made)

    def test_a_script_hears_of_the_device_that_its_tensors_are_on(self):
        reference = source("def f(x, y):\n    return x + y\n", io=BOTH, function_name="f")
        report = self.server.judge(source(SCRIPT, "multi_kernel", BOTH, entry_point="run"), reference, num_trials=3)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        self.assertIn("142 multiprocessors", str(report["warnings"]))

    def test_what_works_on_a_device_still_needs_one(self):
        for line in (f"{ACTIVE}.get_current_stream(0)", "triton.testing.do_bench(lambda: None)", f"x = torch.empty(8, device={ACTIVE}.get_active_torch_device())",
                     "torch.cuda.get_device_properties(0).clock_rate"):
            with self.subTest(line):
                report = self.server.judge(source(ADD + "import torch\n" + line + "\n", "triton", ADD_IO))
                self.assertEqual((report["verdict"], report["error"]["code"]), ("unsupported", "needs_gpu"), report["summary"])

    def test_what_nobody_knows_of_a_device_needs_one(self):
        tuned = '@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 64})], key=["n"], prune_configs_by={"perf_model": %s, "top_k": 1})\n@triton.jit'
        for model in ("lambda **_: triton.testing.get_dram_gbps(0)", f"lambda **_: {ACTIVE}.utils.get_device_properties(0)['mem_clock_rate']"):
            with self.subTest(model):
                contract = {**ADD_IO, "args": ADD_IO["args"][:4], "launch": {"grid": {"x": "ceildiv(n, BLOCK)"}}}
                report = self.server.judge(source(ADD.replace("@triton.jit", tuned % model), "triton", contract))
                self.assertEqual((report["verdict"], report["error"]["code"]), ("unsupported", "needs_gpu"), report["summary"])

    def test_every_way_to_want_a_gpu_is_told_as_such(self):
        for line in NEEDS:
            with self.subTest(line):
                report = self.server.judge(source(f"import torch\ndef f(x):\n    y = {line}\n    return x\n", io=inputs(), function_name="f"))
                self.assertEqual((report["verdict"], report["error"]["code"]), ("unsupported", "needs_gpu"), report["summary"])
                self.assertIn("kernel.py:3", report["summary"])
        # Of what the source itself does wrong beside it, a GPU would not make it right.
        self.assertEqual(self.server.judge(source("import torch\ndef f(x):\n    return torch.cuda.device()\n", io=inputs(), function_name="f"))["verdict"], "crashed")
        own = "def f(x):\n    raise RuntimeError('Tried to instantiate a base class')\n"
        self.assertEqual(self.server.judge(source(own, io=inputs(), function_name="f"))["verdict"], "crashed")


if __name__ == "__main__":
    unittest.main()
