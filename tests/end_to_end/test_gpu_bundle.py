"""What ./dev gpu-bundle makes works where nothing of the build is, its table tells failure from success, and its faults are
all committed."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from assay_client import ASSAY, SANITIZED

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(ASSAY).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "gpu"))
import check_faults  # noqa: E402
import run  # noqa: E402


class Table(unittest.TestCase):
    def rows(self, script, seconds=30):
        """The rows of a part that is this script."""
        with tempfile.TemporaryDirectory(prefix="assay-bundle-") as folder:
            part = os.path.join(folder, "part.py")
            pathlib.Path(part).write_text(f"import sys, time\nsys.path.insert(0, {str(ROOT / 'tests' / 'gpu')!r})\n{script}", encoding="utf-8")
            self.addCleanup(run.PARTS.pop, "mine", None)
            run.PARTS["mine"] = part
            return run.run_part("mine", ASSAY, seconds, folder)

    def suite(self, body):
        return f"import unittest\nclass T(unittest.TestCase):\n{body}\nunittest.main()\n"

    def test_what_fails_is_not_met(self):
        for script in ("sys.exit(1)", "raise ValueError('no')", "import os; os.kill(os.getpid(), 9)",
                       self.suite("  def test_a(self): self.fail()"), self.suite("  def test_a(self): pass\n  def test_b(self): 1 / 0")):
            with self.subTest(script):
                self.assertIs(self.rows(script)[0]["met"], False)

    def test_what_passes_is_met(self):
        for script in ("pass", self.suite("  def test_a(self): pass")):
            with self.subTest(script):
                self.assertIs(self.rows(script)[0]["met"], True)

    def test_what_did_not_run_is_neither(self):
        skipped = self.suite("  @classmethod\n  def setUpClass(cls): raise unittest.SkipTest('no torch')\n  def test_a(self): pass")
        self.assertIs(self.rows(skipped)[0]["met"], None)
        self.assertIs(self.rows("print('no ncu here: nothing was compared')")[0]["met"], None)

    def test_figures_of_a_part_that_hangs_are_kept(self):
        rows = self.rows("from figures import tell\ntell('speed', '3 ms', '2 ms', False)\ntell('size', '3', '4', True)\ntime.sleep(60)", seconds=2)
        self.assertEqual([row["met"] for row in rows], [False, False, True])
        self.assertIn("ended after 2 s", rows[0]["figure"])
        self.assertIn("NOT MET", run.table(rows))

    def test_a_part_that_is_not_known_is_refused(self):
        ran = subprocess.run([sys.executable, str(ROOT / "tests/gpu/run.py"), "nonsense"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("there is no part nonsense", ran.stderr)


class Order(unittest.TestCase):
    def test_every_kind_of_fault_is_drawn_more_than_once_and_the_slow_ones_no_more_than_they_say(self):
        for seed in range(20):
            names = check_faults.shuffled(100, seed)
            self.assertEqual(len(names), 100)
            for name, fault in check_faults.FAULTS.items():
                self.assertGreaterEqual(names.count(name), 2, name)
                if fault.draws:
                    self.assertEqual(names.count(name), fault.draws, name)
        self.assertEqual(check_faults.shuffled(100, 7), check_faults.shuffled(100, 7))
        self.assertNotEqual(check_faults.shuffled(100, 7), check_faults.shuffled(100, 8))
        self.assertIn("endless", check_faults.FAULTS)


@unittest.skipIf(SANITIZED, "what is carried to other machines is not sanitized")
class Bundle(unittest.TestCase):
    def test_it_runs_elsewhere_up_to_the_gpu(self):
        with tempfile.TemporaryDirectory(prefix="assay-bundle-") as folder:
            place = os.path.join(folder, "with a space")
            subprocess.run([str(ROOT / "tests/gpu/bundle"), str(BUILD), place], check=True, capture_output=True, timeout=120)
            environment = {"PATH": os.environ["PATH"], "HOME": folder}
            ran = subprocess.run([os.path.join(place, "run"), "--seconds", "1"], capture_output=True, text=True, timeout=120, cwd="/",
                                 env=environment, check=False)
            told = subprocess.run([ASSAY, "call", "check_capabilities", "-"], input="{}\n", capture_output=True, text=True, timeout=60, check=True)
            if any(device["kind"] == "gpu" for device in json.loads(told.stdout)["devices"]):
                self.assertIn("no time was left", ran.stdout)
            else:
                self.assertEqual((ran.returncode, ran.stderr), (2, ""), ran.stdout)
                self.assertTrue(ran.stdout.startswith("no GPU: "), ran.stdout)


if __name__ == "__main__":
    unittest.main()
