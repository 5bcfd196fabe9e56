"""run_scenario with podman and runc, on an image made of busybox alone."""

import json
import subprocess
import unittest

from engine import Workshop, busybox_root, podman

IMAGE = "localhost/assay-scratch-test:1"


class Containers(Workshop):
    IMAGE = IMAGE

    @classmethod
    def make_root(cls, root):
        busybox_root(root)

    def scenario(self, dockerfile, verify="test -s built && echo INSIDE", **arguments):
        wanted = {**self.workspace(dockerfile), "verify": verify, "wait_s": 280, **arguments}
        before = self.image_ids()
        report = self.call("run_scenario", **wanted)
        if "--layers" in arguments.get("build_options", ()):
            podman("image", "prune", "--force")  # what was asked to be kept
        self.assert_nothing_is_left(before)
        return report, {one["criterion"]: one["ok"] for one in report["result"].get("criteria", [])}

    def test_a_build_from_nothing_that_compiles_once(self):
        report, criteria = self.scenario(f"FROM {IMAGE}\nRUN echo hello > /hello\n")
        self.assertEqual((report["verdict"], set(criteria.values())), ("passed", {True}), report["summary"])
        self.assertEqual(report["result"]["compile_count"], 1)
        self.assertEqual(report["result"]["base_images"], [IMAGE])

    def test_a_second_compile_in_the_image_is_found(self):
        report, criteria = self.scenario(f"FROM {IMAGE}\nRUN echo COMPILED\n")
        self.assertEqual((report["verdict"], criteria["compiled_exactly_once"], report["result"]["compile_count"]), ("failed", False, 2))

    def test_a_cached_step_is_found(self):
        # Options of the caller's own switch the cache on again: the log shows what happened.
        dockerfile = f"FROM {IMAGE}\nRUN echo once > /once\n"
        self.write("w/Dockerfile", dockerfile)
        podman("build", "--layers", "--tag", "localhost/assay-warm:1", self.path("w"))
        try:
            report, criteria = self.scenario(dockerfile, build_options=["--no-cache=false", "--layers"])
        finally:
            podman("image", "rm", "--force", "localhost/assay-warm:1")
        self.assertEqual((report["verdict"], criteria["no_cache_or_builder_image"]), ("failed", False), report["summary"])
        self.assertIn("step_cached", [one["kind"] for one in report["result"]["cache_violations"]])

    def test_a_verification_runs_inside(self):
        report, criteria = self.scenario(f"FROM {IMAGE}\nRUN echo here > /only-inside\n", verify="test -s /only-inside && test -s built")
        self.assertEqual((report["verdict"], criteria["verified_inside_the_run"]), ("passed", True), report["summary"])
        report, criteria = self.scenario(f"FROM {IMAGE}\n", verify="test -e /no-such-file")
        self.assertEqual((report["verdict"], criteria["verified_inside_the_run"]), ("failed", False))

    def test_only_listed_images_are_removed(self):
        for tag in ("localhost/assay-listed:1", "localhost/assay-unlisted:1"):
            podman("tag", IMAGE, tag)
        try:
            self.scenario(f"FROM {IMAGE}\n", remove_images=["localhost/assay-listed:1", "localhost/assay-not-there:1"])
            left = self.images()
            self.assertNotIn("localhost/assay-listed:1", left)
            self.assertIn("localhost/assay-unlisted:1", left)
            self.assertIn(IMAGE, left)
        finally:
            subprocess.run(["podman", "untag", "localhost/assay-unlisted:1"], check=False, capture_output=True)

    def test_a_build_that_fails_says_which_phase(self):
        report, criteria = self.scenario(f"FROM {IMAGE}\nRUN echo broken >&2 && false\n")
        self.assertEqual(report["verdict"], "failed")
        self.assertIn("build: exit code", report["summary"])
        self.assertIn("broken", report["result"]["tail"])

    def test_the_engine_is_reported(self):
        answer = self.call("check_capabilities", requires={"engine": "podman"})["requirements"]
        self.assertTrue(answer["supported"], json.dumps(answer))


if __name__ == "__main__":
    unittest.main()
