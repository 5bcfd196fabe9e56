"""Scenarios that do not end by themselves: cancelled, killed with their engine, without room. Nothing of them stays."""

import json
import os
import signal
import subprocess
import time
import unittest

from assay_client import ASSAY, Server, descendants, wait_gone
from engine import Workshop, busybox_root

IMAGE = "localhost/assay-endings-test:1"


class Endings(Workshop):
    IMAGE = IMAGE

    @classmethod
    def make_root(cls, root):
        busybox_root(root)

    def setUp(self):
        super().setUp()
        self.before = self.image_ids()

    def server(self):
        return Server("--source-root", self.folder, state=self.path("state"))

    def begin(self, server, phase, **arguments):
        """A scenario that is in `phase`; its job."""
        wanted = arguments or self.workspace(f"FROM {IMAGE}\n", post="echo COMPILED\nsleep 1000\n")
        job = server.call("run_scenario", {**wanted, "wait_s": 0})["structuredContent"]["job_id"]
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if phase in self.running_commands():
                return job
            time.sleep(0.05)
        self.fail(f"{phase} was not reached: {server.call('get_job', {'job_id': job})}")

    def running_commands(self):
        """What is being done inside our containers, and outside by podman."""
        text = " ".join(command for _, command in descendants(os.getpid()))
        found = set()
        if "post.sh" in text and "sleep 1000" in text:
            found.add("post-create")
        if "podman build" in text and "sleep 999" in text:
            found.add("build")
        return found

    def assert_no_process_is_left(self, pids):
        self.assertEqual(wait_gone(pids, 20), [])

    def test_a_cancelled_scenario_leaves_no_container_image_or_process(self):
        with self.server() as server:
            job = self.begin(server, "post-create")
            below = [pid for pid, command in descendants(server.process.pid) if "podman" in command or "conmon" in command or "sleep" in command]
            self.assertGreater(len(below), 1)
            server.call("cancel_job", {"job_id": job})
            report = server.call("get_job", {"job_id": job, "wait_s": 60})["structuredContent"]
            self.assertEqual((report["state"], report["verdict"]), ("cancelled", "cancelled"))
            self.assert_no_process_is_left(below)
            self.assert_nothing_is_left(self.before)

    def test_a_scenario_cancelled_while_it_builds_leaves_no_container_and_no_process(self):
        with self.server() as server:
            job = self.begin(server, "build", **self.workspace(f"FROM {IMAGE}\nRUN sleep 999\n"))
            below = [pid for pid, command in descendants(server.process.pid) if "podman" in command or "sleep" in command]
            server.call("cancel_job", {"job_id": job})
            self.assertEqual(server.call("get_job", {"job_id": job, "wait_s": 60})["structuredContent"]["verdict"], "cancelled")
            self.assert_no_process_is_left(below)
            self.assert_nothing_is_left(self.before)

    def test_a_deadline_ends_a_phase_and_takes_everything_down(self):
        report = self.call("run_scenario", **self.workspace(f"FROM {IMAGE}\n", post="sleep 1000\n"), timeout=3, wait_s=120)
        self.assertEqual(report["verdict"], "failed")
        self.assertIn("post-create: timed out", report["summary"])
        self.assert_nothing_is_left(self.before)

    def test_what_a_killed_engine_leaves_is_taken_down_by_the_next_scenario(self):
        with self.server() as server:
            self.begin(server, "post-create")
            tree = [pid for pid, _ in descendants(server.process.pid)]
            for pid in (server.process.pid, *[pid for pid, command in descendants(server.process.pid) if " engine" in command]):
                os.kill(pid, signal.SIGKILL)
            server.process.wait(timeout=30)
            self.assert_no_process_is_left(tree)
        self.assertEqual(len(self.containers()), 1, "podman's own record of it")
        report = self.call("run_scenario", **self.workspace(f"FROM {IMAGE}\n"), verify="test -s built", wait_s=120)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assert_nothing_is_left(self.before)

    def test_two_scenarios_at_once_do_not_take_down_each_others(self):
        wanted = {**self.workspace(f"FROM {IMAGE}\n", post="sleep 2\ncp Dockerfile built\necho COMPILED\n"), "verify": "test -s built", "wait_s": 200}
        with self.server() as server:
            ids = [server.send("tools/call", {"name": "run_scenario", "arguments": wanted}) for _ in range(2)]
            reports = [server.answer(one, 200)["result"]["structuredContent"] for one in ids]
        self.assertEqual([one["verdict"] for one in reports], ["passed", "passed"], [one["summary"] for one in reports])
        self.assert_nothing_is_left(self.before)

    def test_a_machine_without_room_says_so(self):
        self.write("w/big", "x" * 8_000_000)
        wanted = {**self.workspace(f"FROM {IMAGE}\n"), "wait_s": 120}
        small = self.path("small")
        os.mkdir(small)
        command = 'mount -t tmpfs -o size=3m none "$0" && export TMPDIR="$0" && exec "$@"'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", command, small, ASSAY, "call", "run_scenario", "-", "--state", self.path("state"),
                               "--source-root", self.folder], input=json.dumps(wanted) + "\n", capture_output=True, text=True, timeout=200)
        if "unshare" in done.stderr or "mount" in done.stderr:
            self.skipTest("unsupported: a small file system cannot be mounted here: " + done.stderr.strip()[-200:])
        report = json.loads(done.stdout)
        self.assertIn("No space left on device", json.dumps(report))
        self.assertNotEqual(report["verdict"], "passed")
        self.assert_nothing_is_left(self.before)


if __name__ == "__main__":
    unittest.main()
