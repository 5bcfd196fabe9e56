"""What runs before and beside the calls has its limits: get_inputs(), and a Triton source as it is executed."""

import unittest

from torch_server import TorchServer, inputs, source
from triton_kernels import ADD, ADD_IO

MODEL = """import time, torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
asked = 0
def get_inputs():
    global asked
    asked += 1
    {}
    return [torch.randn(8, 8)]
"""


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_get_inputs_that_hangs_is_timed_out_and_named(self):
        for body in ("time.sleep(1000)", "if asked == 4: time.sleep(1000)", "time.sleep(4)"):
            with self.subTest(body):
                report = self.server.judge(source(MODEL.format(body)), source(MODEL.format(body)), timeout=5)
                self.assertEqual(report["verdict"], "timed_out", report["summary"])
                self.assertIn("get_inputs()", report["summary"])

    def test_slow_inputs_are_made_for_fewer_calls_and_that_is_said(self):
        # Slow enough for a turn of one call: on a busy host calls that seem to take milliseconds have short turns anyway.
        slow = source(MODEL.format("time.sleep(0.25)"))
        report = self.server.judge(slow, source(MODEL.format("")), timeout=20)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertNotIn("slow_inputs", str(report["warnings"]))  # the reference's are taken, which are quick
        report = self.server.judge(slow, timeout=40)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn("slow_inputs", [warning["code"] for warning in report["warnings"]])

    def test_a_triton_source_that_hangs_as_it_is_executed_gets_the_timeout(self):
        report = self.server.judge(source(ADD + "\nwhile True:\n    pass\n", "triton", ADD_IO), timeout=5)
        self.assertEqual(report["verdict"], "timed_out", report["summary"])

    def test_a_triton_source_that_dies_as_it_is_executed_has_crashed(self):
        report = self.server.judge(source(ADD + "\nimport ctypes\nctypes.string_at(0)\n", "triton", ADD_IO))
        self.assertEqual(report["verdict"], "crashed", report["summary"])

    def test_a_source_that_closed_its_output_prints_into_nothing_that_was_lent(self):
        for closed in ("os.close(1)", "os.close(1); os.close(2)", "os.close(0); os.close(1); os.close(2)"):
            text = f"import os, torch\n{closed}\ndef f(x):\n    try:\n        print('printed' * 100, flush=True)\n    except OSError:\n" \
                   "        pass\n    return x * 2\n"
            with self.subTest(closed):
                report = self.server.judge(source(text, io=inputs(), function_name="f"))
                self.assertEqual(report["verdict"], "passed", report["summary"])


if __name__ == "__main__":
    unittest.main()
