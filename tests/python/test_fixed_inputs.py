"""Inputs that a contract fixes, beside others that are drawn: named in the report where the reference follows them."""

import unittest

from assay_client import tensor
from torch_server import TorchServer, io_of, source

IO = io_of(tensor("x", 0, shape=[8, 16], dtype="float32", kind="randn", seed=1),
           tensor("gamma", 0, shape=[16], dtype="float32", kind="ones"), tensor("beta", 0, shape=[16], dtype="float32", kind="zeros"))
NORM = "import torch.nn.functional as F\ndef f(x, gamma, beta):\n    return F.layer_norm(x, (16,), gamma, beta)\n"
IGNORING = "import torch.nn.functional as F\ndef f(x, gamma, beta):\n    return F.layer_norm(x, (16,))\n"
ENDLESS = NORM.replace("    return", "    while bool((gamma != 1).any()): pass\n    return")
ENDING = NORM.replace("    return", "    bool((gamma == 1).all()) or __import__('os')._exit(3)\n    return")
STRICT = NORM.replace("    return", "    assert bool((gamma == 1).all())\n    return")


class FixedInputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def said(self, kernel, reference):
        report = self.server.judge(source(kernel, io=IO, function_name="f"), source(reference, io=IO, function_name="f"), until="validated")
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        return [item for item in report["evidence"] if item["check"] == "fixed_inputs"], report

    def test_they_are_named_where_the_answer_follows_them(self):
        for kernel in (NORM, IGNORING):
            (item,), report = self.said(kernel, NORM)
            self.assertEqual((item["result"], item["which"]), ("unknown", "task"))
            self.assertIn("'gamma' (ones), 'beta' (zeros)", item["detail"])
            self.assertNotIn("gamma", report["summary"])

    def test_nothing_is_said_where_it_does_not_or_where_nobody_knows(self):
        self.assertEqual(self.said(IGNORING, IGNORING)[0], [])
        self.assertEqual(self.said(NORM, STRICT)[0], [])

    def test_a_reference_that_does_not_end_on_other_contents_is_timed_all_the_same(self):
        for reference in (ENDLESS, STRICT, ENDING):
            report = self.server.judge(source(NORM, io=IO, function_name="f"), source(reference, io=IO, function_name="f"), timeout=30)
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertGreater(report["ref_runtime"]["median"], 0)


if __name__ == "__main__":
    unittest.main()
