"""The manual's REST interface on a real server: what its clients send, what they get, who may see what."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from assay_client import ADD, FOREVER, descendants, kernel, wait_gone
from state_folder import StateFolder

ASSAY = os.environ["ASSAY"]
WRONG = ADD.replace("a[i] + b[i]", "a[i] - b[i]")
ADA, BOB = "a-token-that-ada-has", "a-token-that-bob-has"


class Rest(unittest.TestCase):
    def setUp(self):
        self.folder = StateFolder(prefix="assay-rest-")
        self.addCleanup(self.folder.cleanup)

    def serve(self, *options):
        self.server = subprocess.Popen([ASSAY, "serve", "--http", "0", "--state", self.folder.name + "/state", *options],
                                       stderr=subprocess.PIPE)
        self.addCleanup(lambda: (self.server.kill(), self.server.wait(), self.server.stderr.close()))
        for line in self.server.stderr:
            if b"http://" in line:
                self.port = int(line.rsplit(b":", 1)[1].split(b"/")[0])
                return
        self.fail("the server does not say where it listens")

    def ask(self, method, path, body=None, token=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if token:
            headers["Authorization"] = "Bearer " + token
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        self.headers = response.headers
        return response.status, json.loads(text) if "json" in response.headers.get("Content-Type", "") else text.decode()

    def test_the_manuals_batch_submits_then_polls(self):
        self.serve()
        jobs = []
        for source in (ADD, WRONG):
            status, body = self.ask("POST", "/compare?wait=0", {
                "ref_kernel": kernel(ADD), "custom_kernel": kernel(source), "num_trials": 5})
            self.assertIn(status, (200, 202))
            jobs.append(body["job_id"])
        reports = []
        for job in jobs:
            end = time.monotonic() + 60
            while True:
                status, body = self.ask("GET", "/job/" + job)
                self.assertEqual(status, 200)
                if body["status"] not in ("submitted", "compiling", "validating", "profiling"):
                    break
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            self.assertEqual(body["status"], "completed")
            reports.append(body["result"])
        self.assertEqual([r["verdict"] for r in reports], ["passed", "wrong_output"])
        self.assertEqual([r["kernel_exec_result"]["correctness"] for r in reports], [True, False])
        status, stats = self.ask("GET", "/stats")
        self.assertEqual(stats["throughput"]["total_requests"], 2)
        self.assertEqual(stats["throughput"]["completed_requests"], 2)
        self.assertEqual(stats["profiling_metrics"]["correctness_passed"], 1)
        self.assertEqual(stats["profiling_metrics"]["correctness_failed"], 1)
        self.assertEqual(stats["compilation_metrics"]["total_compilations"], 2)
        self.assertGreater(stats["compilation_metrics"]["total_time_seconds"], 0)

    def test_a_synchronous_evaluation_is_answered_when_it_has_ended(self):
        self.serve()
        status, body = self.ask("POST", "/evaluate", {"kernel": kernel(ADD), "num_trials": 3})
        self.assertEqual((status, body["status"], body["state"]), (200, "success", "completed"))
        self.assertGreater(body["kernel_exec_result"]["runtime_stats"]["mean"], 0)
        for part, beginning in (("plot.svg", "<svg"), ("source", "__global__"), ("ptx", "//")):
            status, text = self.ask("GET", f"/job/{body['job_id']}/{part}")
            self.assertEqual(status, 200)
            self.assertTrue(text.startswith(beginning), text[:80])
        status, samples = self.ask("GET", f"/job/{body['job_id']}/samples")
        self.assertEqual(len(samples["samples_ns"]), body["timing"]["runs"])
        status, health = self.ask("GET", "/health")
        self.assertEqual((status, health["status"], health["active_jobs"]), (200, "healthy", 0))

    def test_a_kernels_own_hang_is_an_answer(self):
        self.serve()
        status, body = self.ask("POST", "/evaluate", {"kernel": kernel(FOREVER), "timeout": 5})
        self.assertEqual((status, body["status"], body["verdict"]), (200, "success", "timed_out"))

    def test_a_client_that_hangs_up_leaves_nothing_running(self):
        self.serve()
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", "/evaluate", json.dumps({"kernel": kernel(FOREVER), "timeout": 600}),
                           {"Content-Type": "application/json"})
        state, jobs = None, []
        end = time.monotonic() + 60
        while state != "validating" and time.monotonic() < end:
            jobs = self.ask("GET", "/jobs")[1]["jobs"]
            state = jobs[0]["state"] if jobs else None
            time.sleep(0.02)
        self.assertEqual(state, "validating")
        connection.close()
        while state not in ("cancelled", "completed", "failed") and time.monotonic() < end:
            state = self.ask("GET", "/job/" + jobs[0]["job_id"])[1]["status"]
            time.sleep(0.02)
        self.assertEqual(state, "cancelled")
        self.assertEqual(self.ask("GET", "/stats")[1]["throughput"]["active_jobs"], 0)

    def test_a_job_and_its_parts_belong_to_the_token_that_made_it(self):
        tokens = pathlib.Path(self.folder.name, "tokens")
        tokens.write_text(f"{ADA}\n{BOB}\n")
        self.serve("--token-file", str(tokens))
        body = {"kernel": kernel(ADD), "num_trials": 2}
        self.assertEqual(self.ask("POST", "/evaluate", body)[0], 401)
        self.assertEqual(self.ask("POST", "/evaluate", body, "a-token-that-nobody-has")[0], 401)
        job = self.ask("POST", "/evaluate", body, ADA)[1]["job_id"]
        for path in ("/job/" + job, f"/job/{job}/source", f"/job/{job}/ptx"):
            self.assertEqual([self.ask("GET", path, None, token)[0] for token in (ADA, BOB, None)], [200, 404, 401], path)
        self.assertEqual(len(self.ask("GET", "/jobs", None, ADA)[1]["jobs"]), 1)
        self.assertEqual(self.ask("GET", "/jobs", None, BOB)[1]["jobs"], [])
        # The page and the health are for everybody; a wrong token is still wrong.
        for path in ("/", "/page.js", "/page.css", "/health"):
            self.assertEqual([self.ask("GET", path, None, token)[0] for token in (None, ADA, "wrong-token")], [200, 200, 401])
        # Without a token no more of it than the kinds.
        self.assertNotIn("active_jobs", self.ask("GET", "/health")[1])
        self.assertNotIn("job_stats", self.ask("GET", "/health")[1])
        self.assertIn("active_jobs", self.ask("GET", "/health", None, ADA)[1])
        for query, field in (("offset=-1", "/offset"), ("length=x", "/length"), ("offset=1&offset=1", "/offset"),
                             ("offset=99999999999999999999", "/offset"), ("lines=3", "/lines")):
            status, refused = self.ask("GET", f"/job/{job}/ptx?{query}", None, ADA)
            self.assertEqual((status, refused["status"]), (400, "client_error"), query)
            self.assertIn(field, json.dumps(refused), query)
        self.assertEqual(self.ask("GET", f"/job/{job}/ptx?offset=2&length=3", None, ADA)[0], 200)
        self.assertEqual(self.ask("GET", "/stats")[0], 401)
        self.assertEqual(self.ask("GET", "/stats")[1]["status"], "client_error")

    def test_jobs_are_forgotten_when_their_time_is_over(self):
        self.serve("--cleanup-every", "1", "--keep-jobs-for", "1")
        job = self.ask("POST", "/evaluate", {"kernel": kernel(ADD), "num_trials": 1})[1]["job_id"]
        end = time.monotonic() + 60
        while self.ask("GET", "/job/" + job)[0] != 404:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def test_a_journal_that_was_taken_away_is_told_by_health_and_nothing_runs(self):
        self.serve()
        self.assertEqual(self.ask("GET", "/health")[0], 200)
        pathlib.Path(self.folder.name, "state/journal.db").rename(pathlib.Path(self.folder.name, "journal.db"))
        status, health = self.ask("GET", "/health")
        self.assertEqual((status, health["status"]), (500, "unhealthy"))
        self.assertIn("journal", health["error"])
        status, body = self.ask("POST", "/evaluate", {"kernel": kernel(ADD)})
        self.assertEqual((status, body["status"], body["retryable"]), (500, "error", True))

    def test_a_stopped_server_answers_who_waits_and_leaves_no_process(self):
        self.serve()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST", "/evaluate", json.dumps({"kernel": kernel(FOREVER), "timeout": 600}),
                           {"Content-Type": "application/json"})
        while not self.ask("GET", "/jobs")[1]["jobs"]:
            time.sleep(0.02)
        below = [pid for pid, _ in descendants(self.server.pid)]
        self.server.send_signal(signal.SIGTERM)
        response = connection.getresponse()
        self.assertEqual(response.status, 503)
        self.assertEqual(json.loads(response.read())["status"], "error")
        connection.close()
        self.assertEqual(self.server.wait(timeout=30), 0)
        self.assertEqual(wait_gone(below), [])


if __name__ == "__main__":
    unittest.main()
