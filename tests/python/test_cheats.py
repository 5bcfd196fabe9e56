"""Ways to cheat that need no GPU: each ends as wrong_output, suspect or rejected, whatever else it does.

ASSAY_CASES="patches the clocks|lazy subclass" leaves all others out (tests/defences).
"""

import os
import re
import unittest

from cheat_sources import ASIDE, CHEATS, FORGERIES, HONEST, PADDING, REFERENCE
from torch_server import TorchServer, inputs, source

DOCUMENTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python.md")


class Cheats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, text):
        io = inputs()
        return self.server.judge(source(text, io=io, function_name="f"), source(REFERENCE, io=io, function_name="f"))

    def test_each_is_caught_as_it_is_documented(self):
        with open(DOCUMENTED, encoding="utf-8") as file:
            chapter = file.read().partition("## Each cheat has its test")[2].partition("\n## ")[0]
        documented = dict(re.findall(r"^\| ([^|]+) \| `(wrong_output|suspect|rejected)` \| ", chapter, re.M))
        self.assertEqual(set(documented), set(CHEATS))
        wanted = os.environ.get("ASSAY_CASES")
        for name, text in CHEATS.items():
            if wanted and name not in wanted.split("|"):
                continue
            with self.subTest(name):
                report = self.judge(text)
                caught = report["trust"] if report["trust"] in ("suspect", "rejected") else report["verdict"]
                self.assertEqual(caught, documented[name], report["summary"])

    def test_the_same_without_a_trick_is_audited(self):
        for text in (REFERENCE, HONEST, HONEST.replace("def f", "import math, time, threading, gc\n\ndef f"),
                     HONEST.replace("def f", "torch.set_num_threads(2)\n\ndef f"),
                     HONEST.replace("def f", "torch.set_num_threads(4)\n\ndef f"),
                     HONEST.replace("def f", "import concurrent.futures\npool = concurrent.futures.ThreadPoolExecutor(2)\npool.submit(int).result()\n\ndef f"),
                     HONEST.replace("def f", "import torch._dynamo\n\n@torch.compiler.disable\ndef f"),
                     HONEST.replace("def f", "torch.set_default_device('cpu')\ntorch.set_default_dtype(torch.float32)\n\ndef f")):
            report = self.judge(text)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"),
                             (report["summary"], report["evidence"]))

    def test_work_in_the_references_turn_is_suspect_though_all_is_quiet_at_the_end(self):
        slow = "import time, torch\ndef f(x):\n    time.sleep(0.004)\n    return torch.tanh(x @ x) + 1.0\n"
        for text, trust, said in ((ASIDE, "suspect", "disagrees"), (slow, "audited", "agrees")):
            report = self.server.judge(source(text, io=inputs(), function_name="f"), source(slow, io=inputs(), function_name="f"), num_trials=20)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", trust), report["summary"])
            checks = {item["check"]: item["result"] for item in report["evidence"]}
            self.assertEqual(checks["quiet_in_others_turn"], said)

    def test_turns_made_longer_gain_nothing(self):
        slow = "import time, torch\ndef f(x):\n    time.sleep(0.004)\n    return torch.tanh(x @ x) + 1.0\n"
        report = self.server.judge(source(PADDING, io=inputs(), function_name="f"),
                                   source(slow, io=inputs(), function_name="f"), num_trials=20)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn("speedup", report)
        self.assertLess(report["speedup"]["ratio"], 1.2, report["speedup"])

    def test_forged_answers_of_odd_kinds_are_the_sources_end(self):
        for name, kernel_type in (("fails to load with a traceback that is no text", "torch"), ("is loaded with a build that is no text", "torch"),
                                  ("asks for a build without a name", "torch_cuda"), ("asks for a build without a name", "torch")):
            with self.subTest(name, kernel_type=kernel_type):
                report = self.server.judge(source(FORGERIES[name], kernel_type, io=inputs(), function_name="f"),
                                           source(REFERENCE, io=inputs(), function_name="f"), until="validated")
                self.assertIn(report["verdict"], ("crashed", "compile_failed"), report["summary"])

    def test_forged_frames_are_proven_cheating(self):
        for name in ("writes frames of its own", "writes rubbish to the channel", "writes a frame nested without end",
                     "claims a fault of ours"):
            report = self.judge(CHEATS[name])
            self.assertEqual((report["verdict"], report["trust"]), ("crashed", "rejected"), report["summary"])


if __name__ == "__main__":
    unittest.main()
