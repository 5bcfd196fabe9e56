"""run_scenario through the devcontainer command, with podman under it."""

import os
import pathlib
import shutil
import subprocess
import unittest

from engine import Workshop, busybox_root

IMAGE = "localhost/assay-devcontainer-test:1"
COMMAND = pathlib.Path(__file__).resolve().parent.parent.parent / ".deps/devcontainer/node_modules/.bin"


@unittest.skipUnless((COMMAND / "devcontainer").exists() and shutil.which("node"), "unsupported: the devcontainer command could not be installed here")
class Devcontainer(Workshop):
    IMAGE = IMAGE

    @classmethod
    def make_root(cls, root):
        busybox_root(root)
        pathlib.Path(root, "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")
        pathlib.Path(root, "etc/group").write_text("root:x:0:\n")
        listed = subprocess.run(["busybox", "--list"], check=True, capture_output=True, text=True).stdout.split()
        for command in listed:
            if not os.path.lexists(os.path.join(root, "bin", command)):
                os.symlink("busybox", os.path.join(root, "bin", command))

    def run_in_devcontainer(self, **more):
        wanted = {**self.workspace(f"FROM {IMAGE}\nRUN echo hello > /hello\n"), "engine": "devcontainer", "wait_s": 280,
                  "compile": {"log": ["COMPILED *$"]}, **more}
        before = self.image_ids()
        report = self.call("run_scenario", env={"PATH": f"{COMMAND}:{os.environ['PATH']}"}, **wanted)
        self.assert_nothing_is_left(before)
        return report, {one["criterion"]: one["ok"] for one in report["result"].get("criteria", [])}

    def test_the_environment_is_built_without_image_and_cache_and_verified_inside(self):
        # Its own image and cache would be a shortcut: the edit leaves both out.
        self.write("w/.devcontainer/devcontainer.json", '{"image": "localhost/no-such-builder:1", // a comment\n "build": {"cacheFrom": "x"},}')
        # Debian's bash is not in busybox: post_create is run by `bash`.
        report, criteria = self.run_in_devcontainer(verify="test -s /hello && test -s built", devcontainer="w/.devcontainer/devcontainer.json")
        self.assertEqual(report["verdict"], "passed", report["summary"] + report["result"]["tail"])
        self.assertTrue(criteria["verified_inside_the_run"])
        self.assertEqual(report["result"]["compile_count"], 1)

    def test_a_verification_that_fails_is_told(self):
        report, criteria = self.run_in_devcontainer(verify="test -e /no-such-file")
        self.assertEqual((report["verdict"], criteria["verified_inside_the_run"]), ("failed", False))


if __name__ == "__main__":
    unittest.main()
