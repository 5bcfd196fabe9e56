"""200 cancels under load over HTTP, every way a client has of going away: afterwards nothing is left of them."""

import http.client
import json
import os
import random
import subprocess
import threading
import time
import unittest

from assay_client import ADD, FOREVER, META, SANITIZED, descendants, kernel
from state_folder import StateFolder

ASSAY = os.environ["ASSAY"]
CANCELS, CLIENTS, SLOTS = 200, 12, 3
SETTLE_S = 60
# Descriptors of the engine for a zygote (its channel), and for a compiler made ahead (its channel, the
# pipes to it and to its keeper, what tells of their end).
OF_A_ZYGOTE, OF_A_SPARE = 1, 6
SLOW_TO_COMPILE = "#include <cuda_fp16.h>\n" + "".join(f"__device__ float f{k}(float x) {{ return sinf(x) * {k}; }}\n" for k in range(400)) + ADD


class Cancels(unittest.TestCase):
    def setUp(self):
        self.folder = StateFolder(prefix="assay-cancels-")
        self.addCleanup(self.folder.cleanup)
        self.server = subprocess.Popen(
            [ASSAY, "serve", "--http", "0", "--state", self.folder.name + "/state", "--slots", str(SLOTS)],
            stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": self.tmp()})
        self.addCleanup(lambda: (self.server.kill(), self.server.wait(), self.server.stderr.close()))
        for line in self.server.stderr:
            if b"http://" in line:
                self.port = int(line.rsplit(b":", 1)[1].split(b"/")[0])
                break
        # What else it says must not fill the pipe.
        threading.Thread(target=self.server.stderr.read, daemon=True).start()

    def tmp(self):
        path = self.folder.name + "/tmp"
        os.makedirs(path, exist_ok=True)
        return path

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def ask(self, method, path, body=None):
        connection = self.connect()
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def modern(self, tool, arguments):
        connection = self.connect()
        connection.request("POST", "/mcp", json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": META}}),
            {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
             "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool})
        return connection

    # Each begins something, waits, and gives it up.
    def leave_modern(self, arguments, after_s):
        connection = self.modern("evaluate", arguments)
        time.sleep(after_s)
        connection.close()

    def leave_rest(self, arguments, after_s):
        connection = self.connect()
        connection.request("POST", "/evaluate", json.dumps(arguments), {"Content-Type": "application/json"})
        time.sleep(after_s)
        connection.close()

    def cancel_by_tool(self, arguments, after_s):
        job = self.ask("POST", "/evaluate?wait=0", arguments)["job_id"]
        time.sleep(after_s)
        connection = self.modern("cancel_job", {"job_id": job})
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()

    def cancel_by_notification(self, arguments, after_s):
        def post(message, session=None):
            connection = self.connect()
            connection.request("POST", "/mcp", json.dumps(message), {
                "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                **({"Mcp-Session-Id": session} if session else {})})
            return connection

        opening = post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
        response = opening.getresponse()
        session = response.headers["Mcp-Session-Id"]
        opening.close()
        call = post({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "evaluate", "arguments": arguments}}, session)
        time.sleep(after_s)
        notice = post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}, session)
        self.assertEqual(notice.getresponse().status, 202)
        notice.close()
        call.close()
        ending = self.connect()
        ending.request("DELETE", "/mcp", None, {"Mcp-Session-Id": session})
        ending.getresponse().read()
        ending.close()

    def kind(self, pid, command):
        kind = command.split(" --state")[0].split("/")[-1][:60]
        if "--zygote" in command:  # what it forked bears its command line, and a name of its own
            try:
                with open(f"/proc/{pid}/comm") as file:
                    kind += " " + ("itself" if file.read().strip() == "assay-zygote" else "forked")
            except OSError:
                pass
        return kind

    def ready(self, kinds):
        """(zygotes, compilers made ahead) among `kinds`; each of the latter is three processes."""
        forked = sum(kind.endswith(" forked") for kind in kinds)
        self.assertEqual(forked % 3, 0, kinds)
        return sum(kind.endswith(" itself") for kind in kinds), forked // 3

    def held(self):
        """(kinds of processes below the server, descriptors of the server and of its engine)."""
        below = descendants(self.server.pid)
        kinds = sorted(self.kind(pid, command) for pid, command in below)
        pids = [self.server.pid] + [pid for pid, command in below if " engine " in command]
        fds = []
        for pid in pids:
            try:
                fds.append(sum(not os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:[")
                               or pid != self.server.pid for fd in os.listdir(f"/proc/{pid}/fd")))
            except OSError:
                fds.append(-1)
        return kinds, fds

    def files(self):
        found = [os.path.join(folder, name) for folder, _, names in os.walk(self.tmp()) for name in names]
        state = [os.path.join(folder, name) for folder, _, names in os.walk(self.folder.name + "/state/artifacts") for name in names]
        # An artifact is named by its whole digest; what is aside or half written is not.
        return found, [path for path in state if len(os.path.basename(path)) not in (62, 64) and "lock" not in path]

    def idle(self):
        """What is held once nothing is under way and it has stopped changing."""
        end = time.monotonic() + SETTLE_S
        before = None
        while time.monotonic() < end:
            active = self.ask("GET", "/stats")["throughput"]["active_jobs"]
            now = self.held()
            if active == 0 and now == before:
                return now
            before = now
            time.sleep(1.0)
        self.fail(f"it does not come to rest: {active} jobs, {before}")

    def test_nothing_is_left_of_200_cancels_under_load(self):
        # What it keeps ahead of its work is there before anything is counted.
        warming = [threading.Thread(target=self.ask, args=("POST", "/evaluate", {"kernel": kernel(ADD + f"// warm {k}")}))
                   for k in range(12)]
        for one in warming:
            one.start()
        for one in warming:
            one.join()
        shared = set(os.listdir("/dev/shm"))
        before = self.idle()
        begun = self.ask("GET", "/stats")["throughput"]["total_requests"]
        ways = [self.leave_modern, self.leave_rest, self.cancel_by_tool, self.cancel_by_notification]
        left, failures, lock = list(range(CANCELS)), [], threading.Lock()

        def client(seed):
            dice = random.Random(seed)
            while True:
                with lock:
                    if not left or failures:
                        return
                    number = left.pop()
                source = dice.choice([FOREVER, FOREVER, SLOW_TO_COMPILE + f"// {number}", ADD + f"// {number}"])
                arguments = {"kernel": kernel(source), "timeout": 300, "num_trials": 50}
                try:
                    dice.choice(ways)(arguments, dice.random() ** 2 * (2.0 if SANITIZED else 0.7))
                except Exception as failure:  # told below, with the seed
                    failures.append((seed, number, repr(failure)))

        clients = [threading.Thread(target=client, args=(seed,)) for seed in range(CLIENTS)]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        self.assertEqual(failures, [])
        after = self.idle()
        # How many compilers stand ready depends on what was asked last; everything else is as it was.
        (zygotes, spares), (zygotes_before, spares_before) = self.ready(after[0]), self.ready(before[0])
        self.assertLessEqual(zygotes, SLOTS)
        self.assertLessEqual(spares, max(1, min(4, os.cpu_count() // 4)))
        self.assertEqual([kind for kind in after[0] if "--zygote" not in kind],
                         [kind for kind in before[0] if "--zygote" not in kind], "processes")
        self.assertEqual(after[1][0], before[1][0], "the server's descriptors")
        self.assertEqual(after[1][1] - OF_A_ZYGOTE * zygotes - OF_A_SPARE * spares,
                         before[1][1] - OF_A_ZYGOTE * zygotes_before - OF_A_SPARE * spares_before,
                         f"the engine's descriptors, beside those of {zygotes} zygotes and {spares} spares "
                         f"({zygotes_before} and {spares_before} before)")
        self.assertEqual(self.files(), ([], []))
        self.assertEqual(set(os.listdir("/dev/shm")) - shared, set())
        stats = self.ask("GET", "/stats")
        self.assertEqual(stats["gpu_utilization"]["active_sessions"], 0)
        self.assertEqual(stats["throughput"]["failed_requests"], 0)
        self.assertGreater(stats["verdicts"].get("cancelled", 0), CANCELS // 4)
        self.assertLessEqual(stats["throughput"]["total_requests"], begun + CANCELS)
        self.assertEqual(self.ask("POST", "/evaluate", {"kernel": kernel(ADD), "num_trials": 2})["verdict"], "passed")


if __name__ == "__main__":
    unittest.main()
