"""kill -9 of every process at random moments: nothing acknowledged is lost, nothing is left running."""

import json
import os
import random
import signal
import time
import unittest

from assay_client import ADD, SANITIZED, Server, contract, descendants, kernel, wait_gone
from state_folder import StateFolder

# About as long as a job whose source was compiled before.
LONGEST_S = 0.15 if SANITIZED else 0.05
ROUNDS = int(os.environ.get("ASSAY_KILL_ROUNDS", "20" if SANITIZED else "200"))


def is_ours(pid):
    """False for a stranger that was given the number of a process of ours that has gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"assay" in file.read()
    except OSError:
        return False


class Kills(unittest.TestCase):
    def setUp(self):
        self.folder = StateFolder(prefix="assay-kill-")
        self.random = random.Random(int(os.environ.get("ASSAY_SEED", "1")))

    def tearDown(self):
        self.folder.cleanup()

    def start_jobs(self, server, count=3):
        """One of a source that was compiled before, the others of new ones."""
        sources = [ADD] + [f"{ADD}\n// {self.random.random()}" for _ in range(count - 1)]
        return [server.send("tools/call", {"name": "evaluate", "arguments": {"kernel": kernel(source), "wait_s": 60}},
                            progressToken=f"p{i}") for i, source in enumerate(sources)]

    def acknowledged(self, server):
        """job id → the stages that were told as progress before the end."""
        stages = {}
        while True:
            line = server.lines.get(timeout=30)
            if line is None:
                return stages
            message = json.loads(line)
            if message.get("method") == "notifications/progress":
                job, stage = message["params"]["message"].removeprefix("job ").split(": ")
                stages.setdefault(job, []).append(stage.split(" ")[0])
            elif "result" in message:
                report = message["result"]["structuredContent"]
                stages.setdefault(report["job_id"], []).append("answered:" + str(report["verdict"]))

    def check_kept(self, server, stages):
        for job, told in stages.items():
            report = server.call("get_job", {"job_id": job})["structuredContent"]
            self.assertIn(report["state"], ("completed", "interrupted"), report)
            kept = [stage["name"] for stage in report["stages"]]
            for stage in told:
                if stage.startswith("answered:"):
                    self.assertEqual(report["verdict"], stage.split(":")[1])
                elif stage != "submitted":
                    self.assertIn(stage, kept)

    def test_server_killed(self):
        told = {}
        for _ in range(ROUNDS):
            server = Server(state=self.folder.name)
            self.start_jobs(server)
            time.sleep(self.random.uniform(0, 0.25))
            below = [pid for pid, _ in descendants(server.process.pid)]
            server.kill()
            told.update(self.acknowledged(server))
            left = [pid for pid in wait_gone(below) if is_ours(pid)]
            self.assertEqual(left, [], "processes outlive the server")
            server.__exit__()
        with Server(state=self.folder.name) as server:
            self.check_kept(server, told)
            self.assertEqual(server.evaluate(ADD)["verdict"], "passed")

    def assert_kept(self, server, report):
        """Every stage that was told as progress is in the report, whatever was killed."""
        kept = [stage["name"] for stage in report["stages"]]
        self.assertIn("received", kept)
        for note in [note for note in server.notes if report["job_id"] in note["params"].get("message", "")]:
            stage = note["params"]["message"].split(": ")[1].split(" ")[0]
            if stage != "submitted":
                self.assertIn(stage, kept, report)
            server.notes.remove(note)

    def kill_below(self, match):
        """Kills a random process below the server whose command line matches, in every round."""
        killed = 0
        seen = set()
        with Server(state=self.folder.name) as server:
            self.assertEqual(server.evaluate(ADD)["verdict"], "passed")
            for _ in range(ROUNDS):
                ids = self.start_jobs(server, 2)
                time.sleep(self.random.uniform(0, LONGEST_S))
                below = descendants(server.process.pid)
                seen.update(pid for pid, _ in below)
                candidates = [pid for pid, command in below if match in command]
                if candidates:
                    killed += 1
                    try:
                        os.kill(self.random.choice(candidates), signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                for id in ids:
                    report = server.answer(id)["result"]["structuredContent"]
                    self.assertIn((report["verdict"], report["state"]),
                                  (("passed", "completed"), ("engine_fault", "interrupted")), report["summary"])
                    self.assert_kept(server, report)
            self.assertEqual(server.evaluate(ADD)["verdict"], "passed")
            below = [pid for pid, _ in descendants(server.process.pid)]
            self.assertEqual(server.close(), 0)
        left = [pid for pid in wait_gone(sorted(seen.union(below))) if is_ours(pid)]
        self.assertEqual(left, [], "processes outlive the engine or runner that was killed")
        self.assertGreater(killed, ROUNDS // 4)

    def test_engine_killed(self):
        self.kill_below("assay engine")

    def test_runner_killed(self):
        self.kill_below("assay-runner")

    def test_two_servers_share_a_state_directory(self):
        with Server(state=self.folder.name) as one, Server(state=self.folder.name) as two:
            self.assertEqual(one.evaluate(ADD)["verdict"], "passed")
            self.assertEqual(two.evaluate(ADD)["verdict"], "passed")
            jobs = two.call("get_job")["structuredContent"]["jobs"]
            self.assertEqual(len(jobs), 2)
            two.kill()
            self.assertEqual(one.evaluate(ADD)["verdict"], "passed")

    def test_sigterm_ends_everything(self):
        from assay_client import FOREVER
        with Server(state=self.folder.name) as server:
            server.send("tools/call", {"name": "evaluate", "arguments": {"kernel": kernel(FOREVER, contract())}})
            end = time.monotonic() + 60
            while not any("assay-runner" in command for _, command in descendants(server.process.pid)):
                self.assertLess(time.monotonic(), end, "no runner was started")
                time.sleep(0.05)
            below = [pid for pid, _ in descendants(server.process.pid)]
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(timeout=20)
            self.assertEqual([pid for pid in wait_gone(below) if is_ours(pid)], [])


if __name__ == "__main__":
    unittest.main()
