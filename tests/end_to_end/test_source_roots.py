"""Sources and the server's own state: neither lies in the other's way, and where they do it is said."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from assay_client import ADD, ASSAY, Server, contract


class SourceRoots(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="assay-roots-")))

    def start(self, state, *options, cwd=None, env=None):
        """A server whose input ends at once: (exit code, standard error)."""
        named = [] if state is None else ["--state", state]
        done = subprocess.run([ASSAY, "serve", "--stdio", *named, *options], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120, cwd=cwd or self.folder, env={**os.environ, **(env or {})})
        return done.returncode, done.stderr

    def test_a_root_in_the_state_is_refused_at_the_start(self):
        state = self.folder / "state"
        (state / "inner").mkdir(parents=True)
        (self.folder / "link").symlink_to(state / "inner")
        before = sorted(state.rglob("*"))
        for root in (state, state / "inner", self.folder / "link", state / "inner" / ".."):
            for command in (["serve", "--stdio"], ["call", "get_job", "{}"]):
                with self.subTest(str(root), command=command[0]):
                    done = subprocess.run([ASSAY, *command, "--state", state, "--source-root", root], stdin=subprocess.DEVNULL,
                                          capture_output=True, text=True, timeout=120)
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    self.assertIn("lies in the state folder", done.stderr)
        self.assertEqual(sorted(state.rglob("*")), before)

    def test_a_folder_beside_the_state_is_no_overlap(self):
        (self.folder / "state-of-the-art").mkdir()
        self.assertEqual(self.start(self.folder / "state", "--source-root", self.folder / "state-of-the-art"), (0, ""))

    def test_a_state_below_a_root_is_said_and_never_read(self):
        code, said = self.start(self.folder / "state", "--source-root", self.folder)
        self.assertEqual(code, 0)
        self.assertIn("lies below the source root", said)
        (self.folder / "good.cu").write_text(ADD)
        (self.folder / "state" / "kept.cu").write_text(ADD)
        (self.folder / "link.cu").symlink_to("state/kept.cu")
        with Server("--source-root", str(self.folder), state=str(self.folder / "state")) as server:
            def evaluated(path):
                return server.call("evaluate", {"kernel": {"source_file": path, "kernel_type": "cuda", "io": contract()}, "until": "compiled"})
            self.assertEqual(evaluated("good.cu")["structuredContent"]["verdict"], "passed")
            for path in ("state/kept.cu", str(self.folder / "state" / "kept.cu"), "link.cu", "./state/../state/kept.cu"):
                with self.subTest(path):
                    refused = evaluated(path)
                    self.assertTrue(refused["isError"])
                    self.assertIn("keeps for itself", str(refused["structuredContent"]["error"]))

    def test_a_server_started_in_its_state_reads_no_sources_and_says_so(self):
        state = self.folder / "state"
        state.mkdir()
        code, said = self.start(None, cwd=state, env={"ASSAY_STATE": str(state)})
        self.assertEqual(code, 0)
        self.assertIn("the working directory lies in the state folder", said)


if __name__ == "__main__":
    unittest.main()
