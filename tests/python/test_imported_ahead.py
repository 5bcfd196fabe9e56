"""What an interpreter has is imported once, before any source: CuPy too, unless no process could be forked after it. The
CuPy of these tests is none: a module of that name in an interpreter of their own."""

import os
import subprocess
import tempfile
import unittest

from torch_server import PYTHON, TorchServer, inputs, source

QUIET = "__version__ = '14.0'\n"
# As a module would that asks the device how it is.
THREADED = QUIET + "import threading, time\nthreading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()\n"
BROKEN = "raise OSError('libnothing.so: cannot open shared object file')\n"
TELLING = "import sys\nassert ('cupy' in sys.modules) == {}\ndef run(x):\n    return x * 2\n"


def interpreter_with(folder, cupy):
    """One with all that PYTHON has, and a module cupy."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder], check=True)
    told = subprocess.run([os.path.join(folder, "bin", "python"), "-c", "import site; print(site.getsitepackages()[0])"],
                          check=True, capture_output=True, text=True).stdout.strip()
    there = subprocess.run([PYTHON, "-c", "import torch, os; print(os.path.dirname(os.path.dirname(torch.__file__)))"],
                           check=True, capture_output=True, text=True).stdout.strip()
    for name, text in (("there.pth", there + "\n"), ("cupy.py", cupy)):
        with open(os.path.join(told, name), "w", encoding="utf-8") as file:
            file.write(text)
    return os.path.join(folder, "bin", "python")


class ImportedAhead(unittest.TestCase):
    def judge(self, cupy, text):
        with tempfile.TemporaryDirectory() as folder:
            python = interpreter_with(folder, cupy)
            with TorchServer("--python", f"own={python}") as server:
                report = server.judge(source(text, "multi_kernel", inputs(), entry_point="run"), until="validated", python="own")
                self.assertEqual(report["environment"]["interpreter"], python, report["summary"])
                return report

    def test_cupy_is_there_before_a_source_asks_for_it(self):
        report = self.judge(QUIET, TELLING.format(True))
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_its_cache_is_no_folder_of_the_machines(self):
        # As CuPy 14 does: it makes the folder while it is imported, and keeps to it.
        cached = QUIET + "import os\nfolder = os.environ.get('CUPY_CACHE_DIR', '/nonexistent')\nassert os.path.isdir(folder)\n"
        report = self.judge(cached, "import os\n" + TELLING.format(True) + "assert 'CUPY_CACHE_DIR' not in os.environ\n")
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_one_that_leaves_threads_costs_nobody_the_interpreter(self):
        report = self.judge(THREADED, TELLING.format(False))
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_a_broken_one_is_told_to_who_wants_it(self):
        report = self.judge(BROKEN, TELLING.format(False))
        self.assertEqual(report["verdict"], "passed", report["summary"])
        report = self.judge(BROKEN, "import cupy\ndef run(x):\n    return x\n")
        self.assertEqual(report["verdict"], "compile_failed", report["summary"])
        self.assertIn("libnothing.so", report["summary"])

    def test_a_cupy_without_a_device_needs_one(self):
        empty = QUIET + "def zeros(n):\n    raise RuntimeError('cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version')\n"
        report = self.judge(empty, "import cupy\ndef run(x):\n    cupy.zeros(3)\n    return x\n")
        self.assertEqual(report["verdict"], "unsupported", report["summary"])
        self.assertIn("needs a GPU", report["summary"])


if __name__ == "__main__":
    unittest.main()
