"""Hundreds of calls that wait for a job, and beside them polls and cancels that are answered: over MCP on both
transports and over REST. Who waits is told at least every ten seconds that it goes on."""

import http.client
import json
import time
import unittest

from assay_client import ADD, FOREVER, META, MODERN, Server, kernel
from http_service import HttpService

WAITING, REST_WAITING = 200, 260
# Of one client; as much again stays free for others. Calls beyond it do not wait.
SHARE = 512
# Besides the calls that wait: those at work, and the server's own.
OTHER_THREADS = 150
# Far less than what is waited for, far more than an answer takes.
PATIENCE_S, JOB_S = 60, 600
# On the emulator a second or more for each time that it is launched, counted or not.
COUNTED_FOR_LONG = """__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float s = 0.0f;
  for (int k = 0; k < 300000; ++k) s = s + 1.0f;
  if (i < n) out[i] = a[i] + b[i];
}
"""
SLOW = {"kernel": kernel(FOREVER), "timeout": JOB_S}
TASKS = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}


def threads_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))


class Waiting(unittest.TestCase):
    def wait_for_threads(self, pid, count):
        end = time.monotonic() + 2 * PATIENCE_S
        while threads_of(pid) < count:
            self.assertLess(time.monotonic(), end, f"{threads_of(pid)} of {count} threads")
            time.sleep(0.05)

    def connection(self, service):
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)
        self.addCleanup(connection.close)
        return connection

    def post(self, service, path, body, headers=None):
        connection = self.connection(service)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **(headers or {})})
        return connection

    def mcp(self, service, method, params, meta=META):
        name = params.get("name", params.get("uri", params.get("taskId")))
        return self.post(service, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}},
                         {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MODERN,
                          "Mcp-Method": method, **({"Mcp-Name": name} if name else {})})

    def result(self, connection):
        """What a POST to /mcp is answered, as one document or as the end of a stream."""
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.getheader("Content-Type", "").startswith("text/event-stream"):
            text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
        return json.loads(text)["result"]

    def tool(self, service, name, **arguments):
        return self.mcp(service, "tools/call", {"name": name, "arguments": arguments})

    def report(self, connection):
        return self.result(connection)["structuredContent"]

    def test_over_http_polls_and_cancels_are_answered_beside_200_that_wait(self):
        with HttpService() as service:
            job = self.report(self.tool(service, "evaluate", wait_s=0, **SLOW))["job_id"]
            waiting = [self.tool(service, "get_job", job_id=job, wait_s=JOB_S) for _ in range(WAITING)]
            self.wait_for_threads(service.process.pid, WAITING)
            for _ in range(3):
                self.assertIsNone(self.report(self.tool(service, "get_job", job_id=job))["verdict"])
                self.assertIsNone(self.report(self.tool(service, "get_job", job_id=job, wait_s=1))["verdict"])
                self.assertEqual(self.result(self.mcp(service, "tasks/get", {"taskId": job}, TASKS))["status"], "working")
                self.assertTrue(self.result(self.mcp(service, "resources/read", {"uri": f"assay://jobs/{job}"}))["contents"])
                self.assertTrue(self.result(self.mcp(service, "prompts/list", {}))["prompts"])
            self.assertLess(threads_of(service.process.pid), WAITING + OTHER_THREADS)
            self.assertEqual(self.report(self.tool(service, "cancel_job", job_id=job))["state"], "cancelled")
            for connection in waiting:
                self.assertEqual(self.report(connection)["state"], "cancelled")

    def test_over_rest_what_does_not_wait_is_answered_beside_260_that_do(self):
        # With fewer slots more of them would wait than one client may have waiting.
        with HttpService("--slots", "8") as service:
            for _ in range(REST_WAITING):
                self.post(service, "/evaluate", SLOW)
            self.wait_for_threads(service.process.pid, REST_WAITING)
            answer = self.post(service, "/evaluate?wait=0", SLOW).getresponse()
            self.assertEqual(answer.status, 202)
            job = json.loads(answer.read())["job_id"]
            self.assertEqual(self.post(service, "/admin/cleanup-jobs", {}).getresponse().status, 200)
            self.assertTrue(self.report(self.tool(service, "cancel_job", job_id=job)))

    def test_over_stdio_a_client_waits_up_to_its_share_and_is_answered_at_once_beyond(self):
        beyond = 40
        with Server() as server:
            job = server.call("evaluate", {"wait_s": 0, **SLOW})["structuredContent"]["job_id"]
            arguments = {"job_id": job, "wait_s": JOB_S}
            ids = [server.send("tools/call", {"name": "get_job", "arguments": arguments}) for _ in range(SHARE + beyond)]
            early = [server.next_message(PATIENCE_S) for _ in range(beyond)]
            for message in early:
                self.assertIsNone(message["result"]["structuredContent"]["verdict"])
            self.assertEqual(len({message["id"] for message in early} & set(ids)), beyond)
            self.assertIsNone(server.call("get_job", {"job_id": job}, PATIENCE_S)["structuredContent"]["verdict"])
            self.assertLess(threads_of(server.process.pid), SHARE + OTHER_THREADS)
            # It has no place to wait for the end either, but it ends the job.
            server.call("cancel_job", {"job_id": job}, PATIENCE_S)
            for id in set(ids) - {message["id"] for message in early}:
                self.assertEqual(server.answer(id)["result"]["structuredContent"]["state"], "cancelled")

    def test_calls_that_wait_and_are_cancelled_leave_their_places(self):
        with Server() as server:
            job = server.call("evaluate", {"wait_s": 0, **SLOW})["structuredContent"]["job_id"]
            for _ in range(3):
                ids = [server.send("tools/call", {"name": "get_job", "arguments": {"job_id": job, "wait_s": JOB_S}})
                       for _ in range(SHARE)]
                self.wait_for_threads(server.process.pid, SHARE)
                for id in ids:
                    server.notify("notifications/cancelled", {"requestId": id})
                end = time.monotonic() + PATIENCE_S
                while threads_of(server.process.pid) > OTHER_THREADS:
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
            self.assertEqual(server.call("cancel_job", {"job_id": job})["structuredContent"]["state"], "cancelled")

    def test_a_stage_that_takes_long_is_told_of_as_it_goes_on(self):
        with Server() as server:
            report = server.call("evaluate", {"wait_s": 18, **SLOW}, progressToken="p")["structuredContent"]
            self.assertIsNone(report["verdict"])
            done = [note["params"]["progress"] for note in server.notes if note["method"] == "notifications/progress"]
            self.assertEqual(done, sorted(set(done)))
            self.assertGreaterEqual(len([value for value in done if value != int(value)]), 2, done)
            # It never claims the stage that has not ended.
            self.assertLess(done[-1], int(done[-1]) + 1)
            ended = server.call("evaluate", {"kernel": kernel(ADD), "num_trials": 1}, progressToken="q")["structuredContent"]
            self.assertEqual(ended["state"], "completed")
            server.call("cancel_job", {"job_id": report["job_id"]})

    def test_who_is_cancelled_while_it_counts_has_not_passed(self):
        with Server() as server:
            job = server.call("evaluate", {"wait_s": 0, "kernel": kernel(COUNTED_FOR_LONG), "num_trials": 1,
                                           "validation_trials": 1, "device_metrics": "on"})["structuredContent"]["job_id"]
            end = time.monotonic() + PATIENCE_S
            while "timed" not in [stage["name"] for stage in server.call("get_job", {"job_id": job})["structuredContent"]["stages"]]:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            server.call("cancel_job", {"job_id": job})
            report = server.call("get_job", {"job_id": job, "wait_s": 60})["structuredContent"]
            self.assertEqual((report["state"], report["verdict"]), ("cancelled", "cancelled"), report)
            # What was measured before stays.
            self.assertIn("timed", [stage["name"] for stage in report["stages"]])


if __name__ == "__main__":
    unittest.main()
