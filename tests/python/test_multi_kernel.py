"""multi_kernel: the entry point is mandatory and called by position; the manual's messages, verbatim."""

import os
import subprocess
import unittest

from torch_server import TorchServer, inputs, source
from triton_kernels import KERNELS, script

RUN = """import torch

def run(x, y):
    return torch.relu(x) + y.mean()
"""
TRITON = """import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)

def run(x, y):
    out = torch.empty_like(x)
    add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel(), BLOCK=256)
    return out * 2
"""


class MultiKernel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_the_rules_one_by_one(self):
        io = inputs(names="xy", shape=(256,))
        rows = (
            # what is asked, outcome (pass, or the verdict of a refusal), words of the reason
            (source(RUN, "multi_kernel", io, entry_point="run"), "passed", "Ran to its end"),
            (source(RUN, "multi_kernel", io, entry_point="run", description="relu"), "passed", "Ran to its end"),
            (source(RUN, "multi_kernel", io), "refused", "entry_point must be specified in metadata"),
            (source(RUN, "multi_kernel", None, entry_point="run"), "refused",
             "IOContract is required for multi-kernel sequences. Please provide input/output specifications."),
            (source(RUN, "multi_kernel", io, entry_point="go"), "contract_invalid",
             "Entry point function 'go' not found in module. Available: functions [run]"),
            (source(RUN, "multi_kernel", io, entry_point="rum"), "contract_invalid", "; nearest: run."),
            (source("import triton\n@triton.jit\ndef run(x, y):\n    pass\n", "multi_kernel", io, entry_point="run"), "contract_invalid",
             "'run' is a kernel of Triton, not a function. Available: functions [], classes [], kernels of Triton [run]"),
            (source("run = 3\n", "multi_kernel", io, entry_point="run"), "contract_invalid", "an int, not a function"),
            (source("def run(x):\n    return x\n", "multi_kernel", io, entry_point="run"), "contract_invalid",
             "run(x) at line 1 does not take 2 positional arguments"),
            (source("import nothere\n" + RUN, "multi_kernel", io, entry_point="run"), "compile_failed",
             "Module 'nothere' is not installed"),
            (source("import cupy as cp\n" + RUN, "multi_kernel", io, entry_point="run"), "unsupported", "needs a GPU"),
            (source("from . import other\n" + RUN, "multi_kernel", io, entry_point="run"), "compile_failed",
             "relative import"),
            (source(RUN + "\nif __name__ == '__main__':\n    run(1, 2)\n", "multi_kernel", io, entry_point="run"), "passed",
             "Ran to its end"),
        )
        for kernel, outcome, says in rows:
            with self.subTest(says=says):
                result = self.server.call("evaluate", {"kernel": kernel, "until": "validated", "wait_s": 200}, patience_s=260)
                if outcome == "refused":
                    self.assertTrue(result["isError"])
                    self.assertIn(says, result["content"][0]["text"])
                    continue
                report = result["structuredContent"]
                self.assertEqual(report["verdict"], outcome, report["summary"])
                self.assertIn(says, report["summary"])

    def test_what_tritons_launcher_refuses_is_refused_where_it_is_interpreted(self):
        plain = TRITON.replace("lambda meta: (triton.cdiv(x.numel(), meta[\"BLOCK\"]),)", "GRID").replace("BLOCK=256)", "BLOCK=256MORE)")
        tuned = plain.replace("@triton.jit", "@triton.autotune(configs=[CONFIGS], key=['n'])\n@triton.jit").replace(", BLOCK=256MORE", "")
        io = inputs(names="xy", shape=(256,))
        grid, config = "(1,)", "triton.Config({'BLOCK': 256}, num_warps=%s)"
        rows = ((plain, grid, ", num_warps=3", "AssertionError {}: num_warps must be a power of 2"),
                (plain, grid, ", num_warps=64", "OutOfResources {}: out of resource: threads, Required: 2048, Hardware limit: 1024"),
                (plain, grid, ", waves=4", "KeyError {}: 'Keyword argument waves was specified but unrecognised'"),
                (plain.replace("x.numel(), BLOCK=256MORE", "BLOCK=256"), grid, "", "TypeError {}: add_kernel() missing 1 required positional argument: 'n'"),
                (plain.replace("[GRID]", ""), grid, "", "RuntimeError {}: Cannot call @triton.jit'd outside of the scope of a kernel"),
                (plain, "(1.0,)", "", "TypeError {}: 'float' object cannot be interpreted as an integer"),
                (plain, "(1, 65536)", "", "RuntimeError {}: Triton Error [CUDA]: invalid argument"),
                (plain, "lambda meta: (1, 1, 65536)", "", "RuntimeError {}: Triton Error [CUDA]: invalid argument"),
                (tuned.replace("CONFIGS", config % 3), grid, "", "AssertionError {}: num_warps must be a power of 2"),
                (tuned.replace("CONFIGS", "triton.Config({'BLOCK': 256, 'LOST': 1})"), grid, "", "KeyError {}: 'Keyword argument LOST"),
                (plain, grid, ", num_warps=8, num_stages=2, maxnreg=64, num_ctas=1, debug=True", None), (plain, "[1]", "", None),
                (plain, "lambda meta: [1]", "", None), (tuned.replace("CONFIGS", config % 64 + ", " + config % 4), grid, "", None))
        for text, launched, more, says in rows:
            text = text.replace("GRID", launched).replace("MORE", more)
            line = next(number for number, one in enumerate(text.split("\n"), 1) if one.startswith("    add_kernel"))
            with self.subTest(says, grid=launched):
                report = self.server.judge(source(text, "multi_kernel", io, entry_point="run"),
                                           source("def f(x, y):\n    return (x + y) * 2\n", function_name="f"), until="validated")
                self.assertEqual(report["verdict"], "crashed" if says else "passed", report["summary"])
                if says:
                    kind, _, rest = says.partition(" {}: ")
                    self.assertIn(f"{kind} when it was called at kernel.py:{line} (", report["summary"])
                    self.assertIn(rest, report["summary"])
                    self.assertNotIn("UserWarning", str(report["error"]))  # of Triton's own

    def test_where_an_interpreted_kernel_stores_beyond_a_tensor_is_told(self):
        # name: (the kernel's last line, what is said of it; none: it passes)
        plain = "tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)"
        beyond = "4 bytes, {} of 'out_ptr', which has 1024"
        rows = {"one behind": (plain.replace("out_ptr + at,", "out_ptr + at + 1,"), "a store of add_kernel in block (0, 0, 0)", beyond.format("right behind the end")),
                "far behind": (plain.replace("out_ptr + at,", "out_ptr + at + (1 << 30),"), "a store", beyond.format("4294966272 bytes behind the end")),
                "before": (plain.replace("out_ptr + at,", "out_ptr + at - 4,"), "a store", beyond.format("16 bytes before the beginning")),
                "an atomic": ("tl.atomic_add(out_ptr + at + 8, 1.0)", "an atomic operation of add_kernel", beyond.format("right behind the end")),
                "an exchange": ("tl.atomic_cas(out_ptr.to(tl.pointer_type(tl.int32)) + at + 8, 0, 1)", "an atomic operation", "right behind the end"),
                "a load of nothing": (plain.replace("tl.load(x_ptr + at,", "tl.load(x_ptr + at + (1 << 40),"), "a load of add_kernel", "_ptr', which has 1024"),
                "masked": (plain.replace("out_ptr + at,", "out_ptr + at + (at >= n) * (1 << 40),"), "", ""),
                "what it reads beyond is used for nothing": (plain.replace("tl.load(x_ptr + at,", "tl.where(at < 0, tl.load(out_ptr + at + 1), 0.0) + tl.load(x_ptr + at,"), "", "")}
        for name, (line, says, more) in rows.items():
            text = TRITON.replace(plain, line)
            number = text.split("\n").index("    " + line) + 1
            with self.subTest(name):
                report = self.server.judge(source(text, "multi_kernel", inputs(names="xy", shape=(256,)), entry_point="run"),
                                           source("def f(x, y):\n    return (x + y) * 2\n", function_name="f"), until="validated")
                self.assertEqual(report["verdict"], "crashed" if says else "passed", report["summary"])
                if says:
                    self.assertIn(f"OutOfBounds when it was called at kernel.py:{number} (", report["summary"])
                    self.assertIn(says, report["summary"])
                    self.assertIn("lies beyond every tensor", report["summary"])
                    self.assertIn(more, report["summary"])

    def test_what_another_version_of_the_interpreter_is_not_looked_at_for_is_said(self):
        script = """import types, unittest.mock
from assay_runner import interpreted_memory, launch_rules, source
other = types.SimpleNamespace()
assert not interpreted_memory.install(other) and not launch_rules.install(other)
for unseen in (True, False):
    with unittest.mock.patch.object(interpreted_memory, "install", return_value=not unseen):
        read = source.Source("import triton", "kernel.py", "multi_kernel")
    print([warning["message"] for warning in read.warnings if warning.get("code") == "interpreted_unseen"])
"""
        package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "engine", "python")
        ran = subprocess.run([os.environ["ASSAY_PYTHON"], "-c", script], env={**os.environ, "PYTHONPATH": package}, capture_output=True,
                             text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        unseen, seen = ran.stdout.splitlines()
        self.assertIn("these are not told: stores beyond every tensor", unseen)
        self.assertEqual(seen, "[]")

    def test_a_table_of_pointers_leads_to_tensors_that_were_not_passed(self):
        text = TRITON.replace("out_ptr, n,", "table_ptr, n,").replace("    mask =", "    out_ptr = tl.load(table_ptr).to(tl.pointer_type(tl.float32))\n    mask =")
        text = text.replace("y, out, x.numel()", "y, torch.tensor([out.data_ptr()]), x.numel()")
        report = self.server.judge(source(text, "multi_kernel", inputs(names="xy", shape=(256,)), entry_point="run"),
                                   source("def f(x, y):\n    return (x + y) * 2\n", function_name="f"), until="validated")
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_arguments_come_in_the_contracts_order(self):
        io = inputs(names="ab", shape=(16,))
        report = self.server.judge(source("def run(p, q):\n    return p - q\n", "multi_kernel", io, entry_point="run"),
                                   source("def run(a, b):\n    return a - b\n", "multi_kernel", io, entry_point="run"))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])

    def test_tritons_kernels_are_interpreted_beside_torch(self):
        io = inputs(names="xy", shape=(1000,))
        reference = source("def run(x, y):\n    return (x + y) * 2\n", "multi_kernel", io, entry_point="run")
        report = self.server.judge(source(TRITON, "multi_kernel", io, entry_point="run"), reference)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        wrong = TRITON.replace("mask=mask) + tl.load", "mask=mask) - tl.load")
        report = self.server.judge(source(wrong, "multi_kernel", io, entry_point="run"), reference)
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])
        self.assertTrue(any("interpreter" in warning["message"] for warning in report["warnings"]), report["warnings"])

    def test_an_autotuned_kernel_takes_its_first_configuration_and_says_which(self):
        io = inputs(names="xy", shape=(1000,))
        reference = source("def run(x, y):\n    return (x + y) * 2\n", "multi_kernel", io, entry_point="run")
        tuned = TRITON.replace(", BLOCK=256", "").replace("@triton.jit", """@triton.autotune(configs=[
    triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128}, num_warps=8, num_stages=4), triton.Config({"BLOCK": 32})], key=["n"]%s)
@triton.jit""")
        for more, chosen in (("", "add_kernel: BLOCK 64, num_warps 2, num_stages 3 (one of 3)"),
                             (", prune_configs_by={'early_config_prune': lambda configs, named, **more: configs[1:]}",
                              "add_kernel: BLOCK 128, num_warps 8, num_stages 4 (one of 3)"),
                             (", reset_to_zero=['out_ptr']", "add_kernel: BLOCK 64, num_warps 2, num_stages 3 (one of 3)")):
            with self.subTest(more):
                report = self.server.judge(source(tuned % more, "multi_kernel", io, entry_point="run"), reference)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
                self.assertEqual(report["validation"]["configurations"], [chosen])
                (told,) = [warning["message"] for warning in report["warnings"] if warning["code"] == "autotune"]
                self.assertIn(chosen, told)

    def test_whole_kernels_are_interpreted_as_they_are_compiled(self):
        # What Triton's interpreter has not, or rounds otherwise.
        lacking = {"bfloat16 out of halves", "eight bits", "a scalar of each kind", "a one, which is folded"}
        for name, (text, contract, reference) in KERNELS.items():
            if name in lacking:
                continue
            with self.subTest(name):
                made, io = script(text, contract)
                report = self.server.judge(source(made, "multi_kernel", io, entry_point="run"),
                                           source(reference, "torch", io, function_name="f"), until="validated", atol=2e-3, rtol=2e-3)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])

    def test_a_function_of_libdevice_that_torch_has_not_needs_a_gpu(self):
        text = TRITON.replace("import triton.language as tl", "import triton.language as tl\nfrom triton.language.extra import libdevice")
        io = inputs(names="xy", shape=(1000,))
        for function, verdict in (("fma_rd", "unsupported"), ("tanh", "passed")):
            script_text = text.replace("tl.load(x_ptr + at, mask=mask)", f"libdevice.{function}(tl.load(x_ptr + at, mask=mask))")
            report = self.server.judge(source(script_text, "multi_kernel", io, entry_point="run"))
            self.assertEqual(report["verdict"], verdict, report["summary"])
            self.assertEqual("libdevice.fma_rd()" in report["summary"], verdict == "unsupported", report["summary"])


if __name__ == "__main__":
    unittest.main()
