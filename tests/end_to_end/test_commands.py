"""`assay call` and `assay contract` as scripts use them: what is printed where, and the exit codes."""

import json
import os
import signal
import subprocess
import time
import unittest

from assay_client import ADD, ASSAY, FOREVER, contract, descendants, kernel, wait_gone
from state_folder import StateFolder

RIGHT = {"kernel": kernel(ADD), "num_trials": 1}
WRONG = {"kernel": kernel(ADD.replace("a[i] + b[i]", "a[i] - b[i]")), "ref_kernel": kernel(ADD), "num_trials": 1}
ENDLESS = {"kernel": kernel(FOREVER)}


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = StateFolder(prefix="assay-command-")
        self.state = ("--state", os.path.join(self.folder.name, "state"))

    def tearDown(self):
        self.folder.cleanup()

    def assay(self, *arguments, stdin=""):
        return subprocess.run([ASSAY, *arguments, *self.state], input=stdin, capture_output=True, text=True, timeout=120)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


class Call(Command):
    def call(self, arguments, *flags, tool="evaluate"):
        return self.assay("call", tool, arguments if isinstance(arguments, str) else json.dumps(arguments), *flags)

    def test_arguments_come_as_text_as_a_file_or_on_standard_input(self):
        pretty = json.dumps(RIGHT, indent=2)
        for called in (self.call(RIGHT), self.call(self.file("a.json", pretty)),
                       self.assay("call", "evaluate", "-", stdin=pretty)):
            self.assertEqual(called.returncode, 0, called.stderr)
            self.assertEqual(json.loads(called.stdout)["verdict"], "passed")
            self.assertEqual(called.stdout.count("\n"), 1, "one line for whoever reads lines")

    def test_without_check_any_report_is_0(self):
        called = self.call(WRONG)
        self.assertEqual((called.returncode, json.loads(called.stdout)["verdict"]), (0, "wrong_output"))

    def test_check_tells_by_its_code(self):
        for arguments, code in ((RIGHT, 0), (WRONG, 1), ({"kernel": kernel(ADD[:-3])}, 1), ({}, 3),
                                ({"kernel": {"source_code": ADD, "kernel_type": "cuda"}}, 3)):
            called = self.call(arguments, "--check")
            self.assertEqual(called.returncode, code, called.stdout + called.stderr)
            self.assertEqual(json.loads(called.stdout)["status"], "client_error" if code == 3 else "success")
        self.assertEqual(self.call({"job_id": "0" * 32}, "--check", tool="get_job").returncode, 3)

    def test_a_result_that_cannot_be_written_is_no_success(self):
        for arguments in (("call", "evaluate", json.dumps(RIGHT)), ("call", "evaluate", "-", "--check"), ("capabilities",),
                          ("contract", "build", "--text", "in a: float32[4]")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                called = subprocess.run([ASSAY, *arguments, *self.state], input=json.dumps(RIGHT) + "\n" + json.dumps(RIGHT),
                                        stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
            self.assertEqual(called.returncode, 70, called.stderr)
            self.assertIn("could not be written", called.stderr)

    def test_every_exit_code_stands_in_the_help(self):
        for command, codes in ((("call",), "0 1 2 3 4 5 70"), (("contract",), "0 2 3 4 70"), ((), "0 2 70")):
            told = subprocess.run([ASSAY, *command, "--help"], capture_output=True, text=True, timeout=60).stdout
            told = told[told.index("Exit codes"):]
            for code in codes.split():
                self.assertRegex(told, rf"\b{code}\b")

    def test_what_cannot_be_understood_is_usage(self):
        for arguments in (("call",), ("call", "no_such_tool"), ("call", "evaluate", "/no/such/file"),
                          ("call", "evaluate", "{not json"), ("call", "evaluate", "{}", "--no-such-flag"), ("no_such_command",)):
            called = self.assay(*arguments)
            self.assertEqual(called.returncode, 2, arguments)
            self.assertEqual(called.stdout, "")
            self.assertNotEqual(called.stderr, "")
        self.assertIn("compile_kernel", self.call("{}", tool="no_such_tool").stderr)

    def test_json_lines_in_are_json_lines_out_on_one_engine(self):
        lines = [json.dumps(one) for one in (RIGHT, WRONG, {}, RIGHT)]
        called = self.assay("call", "evaluate", "-", "--check", stdin="\n" + lines[0] + "\n\n" + "\n".join(lines[1:]))
        reports = [json.loads(line) for line in called.stdout.splitlines()]
        self.assertEqual([r.get("verdict") for r in reports], ["passed", "wrong_output", None, "passed"])
        self.assertEqual(called.returncode, 3, "the highest code of all")

    def test_a_line_that_is_no_json_does_not_stop_the_others(self):
        called = self.assay("call", "evaluate", "-", "--check", stdin="\n".join([json.dumps(RIGHT), "{nonsense", json.dumps(RIGHT)]))
        answers = [json.loads(line) for line in called.stdout.splitlines()]
        self.assertEqual([one.get("verdict") for one in answers], ["passed", None, "passed"], "a line for each")
        self.assertEqual(answers[1]["status"], "client_error")
        self.assertEqual(called.returncode, 2)

    def running(self, *flags, stdin=None):
        """A call whose kernel runs and runs."""
        process = subprocess.Popen([ASSAY, "call", "evaluate", "-" if stdin else json.dumps(ENDLESS), *flags, *self.state],
                                   stdin=subprocess.PIPE if stdin else subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        if stdin:
            process.stdin.write(stdin)
            process.stdin.flush()
        for _ in range(300):
            below = descendants(process.pid)
            if any("--role=kernel" in command for _, command in below):
                time.sleep(0.3)  # until it runs: a job that is cancelled earlier ends likewise
                return process, [pid for pid, _ in below]
            time.sleep(0.05)
        self.fail("no kernel runner appeared")

    def test_a_signal_cancels_the_job_and_prints_its_report(self):
        for sig in (signal.SIGINT, signal.SIGTERM):
            process, below = self.running()
            process.send_signal(sig)
            out, _ = process.communicate(timeout=30)
            report = json.loads(out)
            self.assertEqual((process.returncode, report["verdict"], report["state"]), (5, "cancelled", "cancelled"))
            self.assertIn("compiled", [s["name"] for s in report["stages"]])
            self.assertEqual(wait_gone(below), [])

    def test_a_signal_leaves_the_lines_that_follow(self):
        process, _ = self.running(stdin=json.dumps(ENDLESS) + "\n" + json.dumps(RIGHT) + "\n")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        self.assertEqual([json.loads(line)["verdict"] for line in out.splitlines()], ["cancelled"])
        self.assertEqual(process.returncode, 5)

    def test_a_signal_while_nothing_is_typed_ends_it(self):
        process = subprocess.Popen([ASSAY, "call", "evaluate", "-", *self.state], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 5)
        process.communicate()

    def test_an_engine_that_dies_is_told_apart(self):
        process, _ = self.running("--check")
        for pid, command in descendants(process.pid):
            if "assay engine" in command:
                os.kill(pid, signal.SIGKILL)
        out, _ = process.communicate(timeout=30)
        report = json.loads(out)
        self.assertEqual((report["verdict"], report["state"]), ("engine_fault", "interrupted"))
        self.assertEqual(process.returncode, 5)

    def test_what_no_engine_can_run_is_an_engine_fault(self):
        called = self.call(RIGHT, "--check", "--runner", "/no/such/runner")
        self.assertEqual(called.returncode, 4, called.stdout)
        self.assertEqual(json.loads(called.stdout)["verdict"], "engine_fault")


class Contract(Command):
    TEXT = "in x: float32[n] randn(seed=3)\nout y: float32[n]\nn: int = 8\ngrid ceil(n/4); block 4\n"

    def contract(self, *arguments, stdin=""):
        return self.assay("contract", *arguments, stdin=stdin)

    def test_text_becomes_json_that_evaluates(self):
        built = self.contract("build", "--text", self.TEXT)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertIn("x: float32[8], input", built.stderr)
        io = json.loads(built.stdout)
        self.assertEqual(io["args"][0]["tensor_spec"]["shape"], ["n"])
        source = "__global__ void k(const float* x, float* y, int n) { int i = blockIdx.x * 4 + threadIdx.x; if (i < n) y[i] = x[i]; }"
        called = self.assay("call", "evaluate", json.dumps({"kernel": kernel(source, io)}), "--check")
        self.assertEqual(called.returncode, 0, called.stdout)

    def test_a_contract_is_inferred_from_a_cuda_file(self):
        path = self.file("add.cu", ADD + "int main() { add<<<4, 128>>>(0, 0, 0, 512); }\n")
        built = self.contract("build", path, "--size", "n=300", "--kernel", "add")
        io = json.loads(built.stdout)
        self.assertEqual([a["name"] for a in io["args"]], ["a", "b", "out", "n"])
        self.assertEqual(io["args"][3]["value"], 300)
        self.assertEqual(io["launch"]["block"][0], 128)
        unknown = self.contract("build", path, "--kernel", "sub")
        self.assertEqual(unknown.returncode, 3)
        self.assertIn("Kernel 'sub' not found. Available: [add]", unknown.stderr)

    def test_stored_ones_are_listed_loaded_printed_and_used_by_name(self):
        self.assertEqual(self.contract("list").stdout, "")
        saved = self.contract("save", "vector", self.file("c.json", json.dumps(contract())))
        self.assertEqual(saved.returncode, 0, saved.stderr)
        self.assertEqual(self.contract("build", "-", "--save", "other", stdin=self.TEXT).returncode, 0)
        self.assertEqual(self.contract("list").stdout.split(), ["other", "vector"])
        self.assertEqual(json.loads(self.contract("load", "vector").stdout), contract())
        text = self.contract("print", "vector").stdout
        self.assertIn("in a: float32[1000] randn", text)
        again = self.contract("build", "-", stdin=text)
        self.assertEqual(json.loads(again.stdout)["args"][3]["value"], 1000)
        called = self.assay("call", "evaluate", json.dumps({"kernel": {**kernel(ADD), "io": "vector"}}), "--check")
        self.assertEqual(called.returncode, 0, called.stdout)

    def test_codes_tell_usage_refusal_and_a_state_that_cannot_be_used(self):
        for arguments, code in ((("build",), 2), (("build", "/no/such"), 2), (("build", "--text", "n: int = 1", "--size", "n=x"), 2),
                                (("build", "--text", "n: int = 1", "--save", "../escape"), 2), ((), 2),
                                (("build", "--text", "in x: float33[4]"), 3), (("load", "nobody"), 3),
                                (("build", "--text", "n: int = 1", "--kernel-type", "cuda"), 3)):
            called = self.contract(*arguments)
            self.assertEqual(called.returncode, code, (arguments, called.stderr))
            self.assertEqual(called.stdout, "")
        self.state = ("--state", "/proc/no-such-folder")
        self.assertEqual(self.contract("build", "--text", "n: int = 1", "--save", "x").returncode, 4)


if __name__ == "__main__":
    unittest.main()
