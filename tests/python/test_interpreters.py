"""Several interpreters: a call names one that the server was started with, never a path of its own."""

import os
import tempfile
import unittest

from assay_client import descendants
from torch_server import PYTHON, TorchServer, inputs, source
from triton_kernels import ADD, ADD_IO, ADD_TORCH

# Tells which interpreter it runs on.
TELLING = "import sys\ndef f(x):\n    return x * (3.0 if 'second' in sys._xoptions else 2.0)\n"
TWICE, THRICE = (f"def f(x):\n    return x * {factor}\n" for factor in (2.0, 3.0))


class Interpreters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.second = os.path.join(folder, "second")
        with open(cls.second, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {PYTHON} -X second=yes "$@"\n')
        os.chmod(cls.second, 0o755)
        cls.server = TorchServer("--python", f"new={cls.second}", "--python", "none=/nonexistent/python",
                                 "--python", f"new={PYTHON}")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, kernel, reference=None, **more):
        return self.server.judge(kernel, reference, until="validated", **more)

    def test_capabilities_list_each_with_its_packages(self):
        listed = self.server.call("check_capabilities")["structuredContent"]["python"]
        self.assertEqual([one["name"] for one in listed], [PYTHON, "new", "none", "new"])
        self.assertEqual([one["usable"] for one in listed], [True, True, False, False])
        self.assertEqual([one["default"] for one in listed], [True, False, False, False])
        self.assertIn("same name", listed[3]["missing"])
        for one in listed[:2]:
            self.assertIn("torch", one["packages"])

    def test_a_call_chooses_by_name_or_path(self):
        kernel = source(TELLING, io=inputs(), function_name="f")
        for python, right, wrong in ((None, TWICE, THRICE), (PYTHON, TWICE, THRICE), ("new", THRICE, TWICE),
                                     (self.second, THRICE, TWICE)):
            named = {} if python is None else {"python": python}
            for reference, verdict in ((right, "passed"), (wrong, "wrong_output")):
                report = self.judge(kernel, source(reference, io=inputs(), function_name="f"), **named)
                self.assertEqual(report["verdict"], verdict, (python, report["summary"]))
            self.assertEqual(report["environment"]["interpreter"], self.second if right is THRICE else PYTHON)

    def test_triton_and_references_in_torch_go_where_the_call_says(self):
        text = "import sys\n" + ADD
        text += "\nassert ('second' in sys._xoptions) == SECOND\n"
        reference = "import sys\nassert ('second' in sys._xoptions) == SECOND\n" + ADD_TORCH
        for python, second in ((PYTHON, "False"), ("new", "True")):
            report = self.judge(source(text.replace("SECOND", second), "triton", ADD_IO),
                                source(reference.replace("SECOND", second), function_name="f"), python=python)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
            self.assertEqual(report["environment"]["interpreter"], self.second if second == "True" else PYTHON)
        swept = self.server.call("sweep", {"kernel": source(text.replace("SECOND", "True"), "triton", ADD_IO), "python": "new",
                                           "parameters": {"num_warps": [1, 2]}, "wait_s": 200}, patience_s=260)["structuredContent"]
        self.assertEqual([line["verdict"] for line in swept["table"]], ["passed", "passed"])
        compiled = self.server.call("compile_kernel", {"kernel": source(text.replace("SECOND", "True"), "triton", ADD_IO),
                                                       "python": "new", "wait_s": 200}, patience_s=260)["structuredContent"]
        self.assertEqual(compiled["verdict"], "passed", compiled["summary"])

    def test_an_unknown_one_is_refused_with_the_list(self):
        kernel = source(TWICE, io=inputs(), function_name="f")
        for tool, arguments in (("evaluate", {"kernel": kernel}), ("compare", {"custom_kernel": kernel, "ref_kernel": kernel}),
                                ("sweep", {"kernel": source(ADD, "triton", ADD_IO)}),
                                ("compile_kernel", {"kernel": source(ADD, "triton", ADD_IO)})):
            for python in ("old", "/usr/bin/python3", "new/../new", ""):
                answer = self.server.call(tool, {**arguments, "python": python})
                self.assertTrue(answer["isError"], (tool, python))
                self.assertIn("/python", answer["content"][0]["text"])
            answer = self.server.call(tool, {**arguments, "python": "old"})
            self.assertIn("new", answer["content"][0]["text"])

    def test_one_that_cannot_be_used_says_why(self):
        report = self.judge(source(TWICE, io=inputs(), function_name="f"), python="none")
        self.assertEqual(report["verdict"], "unsupported")
        self.assertIn("there is no such executable", report["summary"])

    def test_each_has_a_zygote_of_its_own(self):
        for python in (PYTHON, "new"):
            self.judge(source(TWICE, io=inputs(), function_name="f"), python=python)
        zygotes = [command for _, command in descendants(self.server.process.pid) if command.startswith(PYTHON)]
        self.assertEqual(sorted("second=yes" in command for command in zygotes), [False, True], zygotes)


if __name__ == "__main__":
    unittest.main()
