"""Clients that are killed in the middle of a call: nothing of theirs goes on, on any transport."""

import json
import shutil
import subprocess
import time
import unittest
import urllib.request

from assay_client import ASSAY, FOREVER, descendants, kernel, wait_gone
from client_test import HERE, NODE, TOKEN, ClientTest, find, needs

MODERN = "2026-07-28"


@needs("node", "sdk2")
class KilledClients(ClientTest):
    def begin(self, **plan):
        """A client of the TypeScript SDK in the middle of a kernel that never ends."""
        for name in ("visit_v2.mjs", "visit.mjs"):
            shutil.copy(HERE / name, self.work / name)
        (self.work / "node_modules").symlink_to(find("sdk2", "node_modules"))
        plan = {"evaluate": {"kernel": kernel(FOREVER), "timeout": 300}, "forever": {}, "token": TOKEN, "mode": {"pin": MODERN}, **plan}
        client = subprocess.Popen([str(NODE), "visit_v2.mjs"], cwd=self.work, env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (client.kill(), client.wait()))
        client.stdin.write(json.dumps(plan).encode())
        client.stdin.close()
        return client

    def wait_for_runners(self, pid):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            below = descendants(pid)
            if any("--role=kernel" in command for _, command in below):
                return [one for one, _ in below]
            time.sleep(0.05)
        self.fail(f"no kernel is run: {descendants(pid)}")

    def test_on_stdio_server_engine_and_runners_are_gone(self):
        client = self.begin(transport="stdio", command=[ASSAY, "serve", "--stdio", "--state", self.state])
        below = self.wait_for_runners(client.pid)
        self.assertGreaterEqual(len(below), 3)
        client.kill()
        client.wait()
        self.assertEqual(wait_gone(below, 20), [])

    def test_over_http_the_job_is_cancelled_and_the_server_serves_on(self):
        url = self.serve_http()
        client = self.begin(transport="http", url=url)
        self.wait_for_runners(self.server.pid)
        client.kill()
        client.wait()
        request = urllib.request.Request(url.removesuffix("/mcp") + "/jobs?limit=1", headers={"Authorization": "Bearer " + TOKEN})
        state, end = None, time.monotonic() + 30
        while state != "cancelled" and time.monotonic() < end:
            with urllib.request.urlopen(request, timeout=30) as answer:
                state = json.loads(answer.read())["jobs"][0]["state"]
            time.sleep(0.05)
        self.assertEqual(state, "cancelled")


if __name__ == "__main__":
    unittest.main()
