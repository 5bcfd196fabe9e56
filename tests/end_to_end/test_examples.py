"""examples/: what a reader would run does what examples/README.md says."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from assay_client import ASSAY, SANITIZED

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
KERNELS = os.path.join(FOLDER, "kernels")
# What an attempt may get wrong, and the verdict it gets.
SPOILT = {
    "softmax": ("row[c] - top", "row[c]", "wrong_output"),
    "adam_step": ("second[i] = v;", "", "wrong_output"),
    "transpose_view": ("row * pitch + column", "row * columns + column", "wrong_output"),
    "histogram": ("i < n;", "i <= n;", "wrong_output"),
}


def run(*arguments, script="run.py", **more):
    return subprocess.run([sys.executable, "-B", os.path.join(FOLDER, script), *arguments], capture_output=True, text=True,
                          env={**os.environ, "ASSAY": ASSAY}, timeout=300, **more)


class Examples(unittest.TestCase):
    def test_each_is_three_files_and_is_described(self):
        names = run().stdout.split()
        self.assertEqual(len(names), 10)
        with open(os.path.join(FOLDER, "README.md")) as file:
            text = file.read()
        files = {f"{name}{end}" for name in names for end in (".cu", ".ref.cu", ".contract.json")}
        self.assertEqual(set(os.listdir(KERNELS)), files)
        for name in names:
            self.assertIn(f"| `{name}` |", text)

    def test_a_source_or_a_program_that_is_not_there_is_said_in_one_line(self):
        with tempfile.NamedTemporaryFile(suffix=".cu") as file:
            file.write(b"\xff\xfe")
            file.flush()
            for arguments in (("softmax", "--source", "/no/such.cu"), ("softmax", "--source", file.name)):
                called = run(*arguments)
                self.assertEqual((called.returncode, called.stdout, called.stderr.count("\n")), (2, "", 1), called.stderr)
                self.assertIn(arguments[-1], called.stderr)
        called = subprocess.run([sys.executable, "-B", os.path.join(FOLDER, "run.py"), "softmax"], capture_output=True,
                                text=True, env={**os.environ, "ASSAY": "/no/such/assay"}, timeout=60)
        self.assertEqual((called.returncode, called.stderr.count("\n")), (2, 1), called.stderr)

    def test_each_passes_when_called_as_the_readme_says(self):
        lines = "".join(run(name, "--arguments").stdout for name in run().stdout.split())
        called = subprocess.run([ASSAY, "call", "evaluate", "-", "--check"], input=lines, capture_output=True, text=True,
                                timeout=300)
        reports = [json.loads(line) for line in called.stdout.splitlines()]
        for report in reports:
            self.assertEqual((report["verdict"], report["trust"], report["warnings"]), ("passed", "verified", []),
                             report["summary"])
        self.assertEqual((called.returncode, len(reports)), (0, 10), called.stderr)

    def test_an_attempt_of_ones_own_is_judged_by_the_same_contract(self):
        for name, (old, new, verdict) in SPOILT.items():
            with self.subTest(name), tempfile.NamedTemporaryFile("w", suffix=".cu") as attempt:
                with open(os.path.join(KERNELS, f"{name}.cu")) as file:
                    source = file.read()
                self.assertIn(old, source)
                attempt.write(source.replace(old, new))
                attempt.flush()
                called = run(name, "--source", attempt.name)
                self.assertEqual(called.returncode, 1, called.stdout + called.stderr)
                self.assertIn(f"{name}: {verdict} (None).", called.stdout)

    @unittest.skipIf(SANITIZED, "the demo's own patience is for a release build")
    def test_the_demo_meets_its_expectations(self):
        called = run(ASSAY, script="demo.py")
        self.assertEqual(called.returncode, 0, called.stdout[-3000:] + called.stderr[-1000:])


if __name__ == "__main__":
    unittest.main()
