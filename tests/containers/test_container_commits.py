"""benchmark_commits in containers: an image per commit, built once and found again; the toy repository of test_commits."""

import os
import time
import unittest

import test_commits
from assay_client import Server
from engine import Workshop, podman, python_root

IMAGE = "localhost/assay-python-test:1"
RECIPE = f"FROM {IMAGE}\nARG COMMIT\nCOPY toy.py /made/toy.py\nRUN echo $COMMIT > /made/commit\n"


class CommitsInContainers(Workshop):
    IMAGE = IMAGE
    git, commit = test_commits.Commits.git, test_commits.Commits.commit

    @classmethod
    def make_root(cls, root):
        python_root(root)

    def setUp(self):
        super().setUp()
        self.repo = self.path("repo")
        os.mkdir(self.repo)
        self.git("init", "--quiet", "--initial-branch=main")
        self.base = self.commit(test_commits.SLOW, "Slow")
        self.head = self.commit(test_commits.FAST, "Fast")
        self.wrong = self.commit(test_commits.WRONG, "Wrong")
        self.write("g.py", test_commits.GENERATOR)
        self.write("Dockerfile", RECIPE)
        self.addCleanup(self.remove_commit_images)

    def remove_commit_images(self):
        for image in self.images():
            if image.startswith("localhost/assay-commit:"):
                podman("image", "rm", "--force", image, check=False)

    def benchmark(self, **more):
        return self.call("benchmark_commits", **{"repo": "repo", "head": self.head, "script": "g.py", "dockerfile": "Dockerfile", "repeats": 3,
                                                 "engine": "podman", "wait_s": 250, **more})

    def every_image(self):
        return set(podman("images", "--all", "--quiet", "--no-trunc").stdout.decode().split())

    def phase(self, report, side, name):
        return next(one for one in report["result"]["sides"][side]["phases"] if one["phase"] == name)

    def test_a_commits_image_is_built_once_and_found_again(self):
        before = self.every_image()
        first = self.benchmark()
        self.assertEqual(first["verdict"], "passed", first["summary"])
        self.assertEqual(first["result"]["environment"]["kind"], "container")
        self.assertEqual(first["result"]["speedup"]["head"]["verdict"], "faster")
        self.assertTrue(first["result"]["checkout"]["untouched"])
        images = [self.phase(first, side, "image") for side in ("base", "head")]
        self.assertEqual([one["cached"] for one in images], [False, False])
        self.assertNotEqual(images[0]["image"], images[1]["image"])
        made = podman("run", "--rm", images[1]["image"], "cat", "/made/commit").stdout.decode().strip()
        self.assertEqual(made, self.head)
        again = self.benchmark()
        self.assertEqual([self.phase(again, side, "image")["cached"] for side in ("base", "head")], [True, True])
        self.assertEqual(again["verdict"], "passed", again["summary"])
        self.assertEqual(self.containers(), [])
        self.assertEqual(len(self.every_image() - before), 2, "no images of single instructions")

    def test_another_recipe_is_another_image(self):
        self.benchmark(repeats=2)
        self.write("Dockerfile", RECIPE + "RUN true\n")
        self.assertFalse(self.phase(self.benchmark(repeats=2), "head", "image")["cached"])

    def test_a_wrong_head_is_the_codes_fault(self):
        report = self.benchmark(head=self.wrong)
        self.assertEqual((report["verdict"], report["result"]["fault"]), ("failed", "code"), report["summary"])

    def test_an_image_that_cannot_be_had_is_the_environments_fault(self):
        report = self.call("benchmark_commits", repo="repo", head=self.head, script="g.py", environment="container", image="localhost/assay-none:1",
                           engine="podman", repeats=2, wait_s=250)
        self.assertEqual((report["verdict"], report["result"]["fault"]), ("failed", "environment"), report["summary"])
        self.assertIn("assay-none", report["result"]["cause"])

    def test_an_image_that_does_not_build_is_the_environments_fault_with_its_command(self):
        self.write("Dockerfile", f"FROM {IMAGE}\nRUN echo no such wheel >&2 && false\n")
        before = self.every_image()
        report = self.benchmark()
        self.assertEqual((report["verdict"], report["result"]["status"], report["result"]["fault"]), ("failed", "install_failed", "environment"))
        self.assertIn("podman build", report["result"]["command"])
        self.assertEqual(self.every_image(), before, "nothing of the failed build is left")

    def test_an_image_that_exists_is_used_as_it_is(self):
        report = self.call("benchmark_commits", repo="repo", head=self.head, script="g.py", image=IMAGE, engine="podman", repeats=2, wait_s=250)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn(IMAGE, self.images())

    def test_a_cancelled_measurement_leaves_no_container(self):
        self.write("g.py", test_commits.GENERATOR.replace("    result = experiment(data)\n", "    time.sleep(1000)\n    result = experiment(data)\n"))
        with Server("--source-root", self.folder, state=self.path("state")) as server:
            job = server.call("benchmark_commits", {"repo": "repo", "head": self.head, "script": "g.py", "dockerfile": "Dockerfile",
                                                    "engine": "podman", "wait_s": 0})["structuredContent"]["job_id"]
            end = time.monotonic() + 120
            while not self.containers() and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual(len(self.containers()), 1)
            server.call("cancel_job", {"job_id": job})
            report = server.call("get_job", {"job_id": job, "wait_s": 60})["structuredContent"]
            self.assertEqual(report["verdict"], "cancelled")
            self.assertEqual(self.containers(), [])


if __name__ == "__main__":
    unittest.main()
