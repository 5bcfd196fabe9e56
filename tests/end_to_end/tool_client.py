"""`assay call` on files in a folder of the test's own."""

import json
import os
import subprocess
import unittest

from assay_client import ASSAY
from state_folder import StateFolder


class ToolFolder(unittest.TestCase):
    def setUp(self):
        self._folder = StateFolder(prefix="assay-tools-")
        self.folder = os.path.realpath(self._folder.name)

    def tearDown(self):
        self._folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def call(self, tool, env=None, **arguments):
        done = subprocess.run([ASSAY, "call", tool, "-", "--state", self.path("state"), "--source-root", self.folder],
                              capture_output=True, text=True, timeout=300, input=json.dumps(arguments) + "\n", env={**os.environ, **(env or {})})
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)
