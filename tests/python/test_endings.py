"""What a source may do to its process, its zygote and its machine: it costs its own job, nothing else."""

import os
import signal
import unittest

from assay_client import Server, descendants
from torch_server import PYTHON, SCALE, TorchServer, inputs, source


def call_of(body):
    return source(f"import torch\ndef f(x):\n    {body}\n    return x * 2.0\n", io=inputs(), function_name="f")


class Endings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer("--slots", "2")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def good(self):
        return self.server.judge(source(SCALE, io=inputs(), function_name="scale"), until="validated")["verdict"]

    def test_nothing_outside_can_be_reached(self):
        for body, error in (("import os; os.fork()", "PermissionError"),
                            ("import subprocess; subprocess.run(['/bin/true'])", "PermissionError"),
                            ("import socket; socket.socket()", "PermissionError"),
                            ("open('/etc/passwd')", "FileNotFoundError"),
                            ("open('/usr/lib/assay', 'w')", "OSError")):
            with self.subTest(body):
                report = self.server.judge(call_of(body), until="validated")
                self.assertEqual(report["verdict"], "crashed", report["summary"])
                if error != "OSError":  # read-only or forbidden, by the level in force
                    self.assertIn(error, report["summary"])

    def test_a_flood_of_output_ends_its_process(self):
        report = self.server.judge(call_of("while True:\n        print('x' * 4096)"), until="validated", timeout=30)
        self.assertEqual(report["verdict"], "crashed", report["summary"])
        self.assertIn("more output", report["summary"])
        self.assertEqual(self.good(), "passed")

    def test_much_output_is_cut_and_what_it_does_counts(self):
        for body, verdict in (("print('x' * 50_000_000)", "passed"), ("import os; os.write(1, b'x' * 50_000_000)", "passed"),
                              ("for i in range(50_000): print('y' * 400)", "passed"), ("import sys; sys.stderr.write('z' * 50_000_000)", "passed"),
                              ("print('x' * 50_000_000); raise ValueError('the end')", "crashed"),
                              ("print('x' * 50_000_000)\n    while True:\n        pass", "timed_out")):
            with self.subTest(body):
                report = self.server.judge(call_of(body), source(SCALE, io=inputs(), function_name="scale"),
                                           until="validated", timeout=10)
                self.assertEqual(report["verdict"], verdict, report["summary"])
                self.assertIn("MiB to stdout and stderr: only the end of it is kept", str(report["warnings"]))
                if verdict == "crashed":
                    self.assertIn("the end", report["summary"])

    def test_two_at_once_do_not_meet(self):
        calls = []
        for factor in ("2.0", "3.0"):
            text = SCALE.replace("2.0", factor)
            kernel = source(text, io=inputs(), function_name="scale")
            calls.append(self.server.send("tools/call", {"name": "evaluate", "arguments": {
                "kernel": kernel, "ref_kernel": kernel, "wait_s": 200, "num_trials": 10}}))
        for call in calls:
            report = self.server.answer(call, 260)["result"]["structuredContent"]
            self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_a_zygote_that_was_killed_is_replaced(self):
        self.assertEqual(self.good(), "passed")
        zygotes = [pid for pid, command in descendants(self.server.process.pid) if command.startswith(PYTHON)]
        self.assertEqual(len(zygotes), 1)
        os.kill(zygotes[0], signal.SIGKILL)
        self.assertEqual(self.good(), "passed")

    def test_a_hang_can_be_cancelled(self):
        hang = call_of("while True:\n        pass")
        begun = self.server.call("evaluate", {"kernel": hang, "wait_s": 0})["structuredContent"]
        self.server.call("cancel_job", {"job_id": begun["job_id"]})
        ended = self.server.call("get_job", {"job_id": begun["job_id"], "wait_s": 60})["structuredContent"]
        self.assertEqual(ended["verdict"], "cancelled")
        self.assertEqual(self.good(), "passed")

    def test_no_process_outlives_its_job(self):
        self.assertEqual(self.good(), "passed")
        left = [command for _, command in descendants(self.server.process.pid) if command.startswith(PYTHON)]
        self.assertEqual(len(left), 1, "the zygote alone")


class Nobody(unittest.TestCase):
    def test_without_an_interpreter_the_answer_says_what_to_do(self):
        with Server("--python", "/nonexistent/python") as server:
            kernel = source(SCALE, io=inputs(), function_name="scale")
            report = server.call("evaluate", {"kernel": kernel})["structuredContent"]
            self.assertEqual(report["verdict"], "unsupported")
            self.assertIn("/nonexistent/python: there is no such executable", report["summary"])
            told = server.call("check_capabilities")["structuredContent"]
            self.assertFalse(told["kernel_types"]["torch"]["supported"])
            self.assertFalse(told["python"][0]["usable"])

    def test_the_first_interpreter_that_can_is_used(self):
        with Server("--python", "/nonexistent/python", "--python", PYTHON) as server:
            told = server.call("check_capabilities")["structuredContent"]
            self.assertEqual(told["kernel_types"]["torch"], {"supported": True, "runs_on": "cpu", "interpreter": PYTHON})


if __name__ == "__main__":
    unittest.main()
