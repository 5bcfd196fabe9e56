"""A torch reference evaluated in double: how exact a kernel is beside how exact the reference is."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "end_to_end"))
from assay_client import ADD, contract, kernel, tensor  # noqa: E402
from torch_server import TorchServer  # noqa: E402

N = 1024
DOT = """import torch

def dot(a, b):
    return torch.sum(a.view(-1, 32) * b.view(-1, 32), dim=1)
"""
MODULE = """import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(32, 1, bias=False)
    def forward(self, a, b):
        return torch.sum(a.view(-1, 32) * b.view(-1, 32), dim=1) + 0 * self.layer(a.view(-1, 32))[:, 0]
"""
RANDOM = "import torch\n\ndef dot(a, b):\n    return torch.sum(a.view(-1, 32) * b.view(-1, 32), dim=1) + torch.rand(32)\n"
ENDS_IN_FLOAT = DOT.replace("dim=1)", "dim=1).float()")
IN_PLACE = "def dot(a, b, out):\n    out.copy_((a.view(-1, 32) * b.view(-1, 32)).sum(dim=1))\n"


def rows(product, dtype="float32", before=""):
    """One thread a row of 32: the sum of what `product` makes of x and y."""
    c_type = {"float32": "float", "float16": "__half"}[dtype]
    source = (before + f"__global__ void dot(const float* a, const float* b, {c_type}* out) {{ int i = threadIdx.x; float s = 0;"
              f" for (int k = 0; k < 32; ++k) {{ float x = a[i * 32 + k], y = b[i * 32 + k]; s += {product}; }} out[i] = s; }}")
    return {"source_code": source, "kernel_type": "cuda", "io": {
        "args": [tensor("a", N, seed=1), tensor("b", N, seed=2),
                 tensor("out", 32, role="output", dtype=dtype)],
        "launch": {"grid": {"x": 1}, "block": {"x": 32}}}}


def torch(text):
    named = {"class_name": "Model"} if "class" in text else {"function_name": "dot"}
    return {"source_code": text, "kernel_type": "torch", "metadata": named}


HALF = "#include <cuda_fp16.h>\n"
FEWER_BITS = "__half2float(__float2half(x)) * __half2float(__float2half(y))"


class Oracle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, candidate, reference=DOT, **more):
        return self.server.judge(candidate, torch(reference), oracle="float64", until="validated", **more)

    def precision(self, report):
        return report["validation"]["outputs"][0]["precision"]

    def test_both_errors_are_told_and_an_honest_kernel_is_as_exact_as_the_reference(self):
        for reference in (DOT, MODULE, ENDS_IN_FLOAT, IN_PLACE):
            with self.subTest(reference=reference):
                report = self.judge(rows("x * y"), reference)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
                told = self.precision(report)
                self.assertEqual(told["elements"], 32)
                self.assertGreater(told["reference_error"], 0)
                self.assertLess(told["max_error"], 1e-5)
                self.assertLess(told["ratio"], 20)

    def test_fewer_bits_within_the_tolerance_are_suspect(self):
        report = self.judge(rows(FEWER_BITS, before=HALF), atol=0.1, rtol=0.1)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"), report["summary"])
        self.assertIn("it computes in fewer bits", report["summary"])
        self.assertGreater(self.precision(report)["ratio"], 200)
        unasked = self.server.judge(rows(FEWER_BITS, before=HALF), torch(DOT), until="validated",
                                    atol=0.1, rtol=0.1)
        self.assertEqual((unasked["verdict"], unasked["trust"]), ("passed", "verified"))
        self.assertNotIn("precision", unasked["validation"]["outputs"][0])

    def test_an_output_of_fewer_bits_is_no_fault_of_the_kernels(self):
        # Rounding to the output's type is the least error that there is.
        report = self.judge(rows("x * y", "float16", HALF), DOT.replace("dim=1)", "dim=1).half()"))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        self.assertLess(self.precision(report)["ratio"], 2)

    def test_a_reference_that_is_another_in_double_says_nothing(self):
        report = self.judge(rows("x * y"), RANDOM)
        # It is wrong, and by the tolerance alone.
        self.assertEqual(report["verdict"], "wrong_output")
        constant = "import torch\n\ndef dot(a, b):\n    return torch.sum(a.view(-1, 32) * b.view(-1, 32), dim=1) + (1 if a.dtype == torch.float64 else 0)\n"
        report = self.judge(rows("x * y"), constant)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        self.assertIn("differs from itself", self.precision(report)["unusable"])

    def test_what_cannot_be_evaluated_in_double_is_unsupported_with_the_reason(self):
        # What a `cuda` reference makes of it: tests/end_to_end/test_in_double.py.
        triton = {"source_code": "import triton\n@triton.jit\ndef add(a, b, out, n):\n    pass\n", "kernel_type": "triton"}
        for arguments, words in (({"kernel": kernel(ADD, contract()), "ref_kernel": triton}, "computes in the types that its source names"),
                                 ({"kernel": kernel(ADD, contract())}, "needs a reference in `torch`"),
                                 ({"kernel": torch(DOT),
                                   "ref_kernel": torch(DOT)}, "`cuda` and `triton` kernels")):
            with self.subTest(words):
                report = self.server.call("evaluate", {**arguments, "oracle": "float64"})["structuredContent"]
                self.assertEqual(report["verdict"], "unsupported")
                self.assertIn(words, report["summary"])


if __name__ == "__main__":
    unittest.main()
