"""Runs the optest command on plans in a folder of the test's own."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

from assay_client import ASSAY


class PlanFolder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="assay-optest-")
        self.folder = os.path.realpath(self._folder.name)

    def tearDown(self):
        self._folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb" if isinstance(text, bytes) else "w") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def optest(self, *arguments, env=None, timeout=180):
        return subprocess.run([ASSAY, "optest", *arguments], capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})

    def run_plan(self, plan, *arguments, env=None, code=None):
        """The JSON report of a plan given as text or as a file."""
        path = self.write("plan.yaml", plan) if "\n" in plan else plan
        done = self.optest("run", "--plan", path, "--report", "json", "--python", sys.executable,
                           "--state", self.path("state"), *arguments, env=env)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)

    def statuses(self, report):
        return {one["id"]: one["status"] for one in report["cases"]}


# One case; its command is a shell script. A scalar float32 in, a scalar out.
ONE_CASE = """
operator: copy
inputs: [in.bin]
outputs: [out.bin]
generator: {{name: builtin.random, seed: 1}}
assertion: {{name: {assertion}}}
backends:
  - type: cuda
    chip: any
    command: {command}
{more}
cases:
  - name: one
    dtypes: [float32]
    shapes: [{{inputs: [[4]], outputs: [[4]]}}]
{case}
"""


def one_case(command, more="", case="", assertion="builtin.relu"):
    """A plan's text: `more` goes to its backend, `case` to its case."""
    return ONE_CASE.format(command=json.dumps(command), more=textwrap.indent(more, "    "),
                           case=textwrap.indent(case, "    "), assertion=assertion)
