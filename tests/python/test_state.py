"""Sources that keep state between calls: told as what they are, and no call but the judged ones is seen by them."""

import unittest

from torch_server import TorchServer, inputs, io_of, source, tensor

MODEL = """import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.mean = torch.zeros(64)
    def forward(self, x):
        {}
def get_inputs():
    return [torch.randn(64)]
"""
PURE = "return x * 2.0"
COUNTS = "self.n += 1; return x * 2.0 + self.n"
LATE = "self.n += 1; return x * 2.0 + (self.n > 1)"
AVERAGES = "self.mean = 0.9 * self.mean + 0.1 * x; return x - self.mean"
GLOBAL = "import torch\nn = 0\ndef f(x):\n    global n\n    n += 1\n    return x * 2.0 + n\n"
# As many calls as there are trials, and not one more.
THREE_CALLS = "self.n += 1; assert self.n <= 3, 'a call too many'; return x * 2.0"


def model(body):
    return source(MODEL.format(body))


class State(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, kernel, reference):
        return self.server.judge(kernel, reference, until="validated")

    def test_the_call_that_finds_shapes_is_not_seen(self):
        report = self.judge(model(PURE), model(THREE_CALLS))
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_a_reference_with_state_judges_nothing(self):
        for kernel in (PURE, COUNTS):
            for reference in (COUNTS, AVERAGES):
                with self.subTest(kernel=kernel, reference=reference):
                    report = self.judge(model(kernel), model(reference))
                    self.assertEqual((report["verdict"], report["trust"]), ("contract_invalid", None), report["summary"])
                    self.assertIn("The reference: Called again on the same inputs", report["summary"])
                    self.assertIn("keeps state between calls", report["summary"])
                    self.assertEqual((report["error"]["why"], report["error"]["which"]), ("stateful", "ref_kernel"))

    def test_so_does_one_whose_state_is_the_modules(self):
        io = io_of(*inputs()["args"], tensor("y", 0, role="output", shape=[64, 64]))
        report = self.judge(source(GLOBAL, io=io, function_name="f"), source(GLOBAL, io=io, function_name="f"))
        self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
        self.assertIn("keeps state between calls", report["summary"])

    def test_a_kernel_with_state_is_wrong_and_told_why(self):
        for body in (COUNTS, LATE, AVERAGES):
            with self.subTest(body):
                report = self.judge(model(body), model(PURE))
                self.assertEqual((report["verdict"], report["trust"]), ("wrong_output", None), report["summary"])
                self.assertIn("Called again on the same inputs it gives other values", report["summary"])
                self.assertEqual((report["error"]["why"], report["error"]["which"]), ("stateful", "kernel"))

    def test_what_is_wrong_without_state_is_wrong_alone(self):
        report = self.judge(model("return x * 3.0"), model(PURE))
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])
        self.assertNotIn("Called again", report["summary"])


if __name__ == "__main__":
    unittest.main()
