"""What only a machine with several GPUs can show: jobs are spread over them, one that cannot be used leaves the others
at work, and all give the same answers.

    ASSAY=build/release/bin/assay python3 -m unittest tests/gpu/check_gpus.py        (on a machine with at least two GPUs)
"""

import collections
import json
import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "end_to_end"))
os.environ.setdefault("ASSAY", os.path.join(ROOT, "build", "release", "bin", "assay"))
from assay_client import ADD, ASSAY, Server, contract, kernel  # noqa: E402
from figures import tell  # noqa: E402
from http_service import HttpService, token_files  # noqa: E402

MILLION = 1 << 20
JOBS, CLIENTS = 40, 4
RACE_S = 6


def arguments(n=MILLION, source=ADD, **more):
    return {"kernel": kernel(source, contract(n=n)), **more}


def device_of(report):
    return report["kernel_exec_result"]["metadata"]["device"]


def gpus_of(server):
    told = server.call("check_capabilities", {"refresh": True})["structuredContent"]["devices"]
    return {device["name"]: device for device in told if device["kind"] == "gpu"}


def rate(server, device, flying_at_once=8):
    """Evaluations a second with so many in flight, and how many each device served."""
    begin, served, flying = time.monotonic(), collections.Counter(), set()
    while time.monotonic() - begin < RACE_S or flying:
        while len(flying) < flying_at_once and time.monotonic() - begin < RACE_S:
            flying.add(server.send("tools/call", {"name": "evaluate", "arguments": arguments(device=device)}))
        message = server.next_message()
        if message.get("id") in flying:
            flying.discard(message["id"])
            report = message["result"]["structuredContent"]
            assert report["verdict"] == "passed", report["summary"]
            served[device_of(report)] += 1
    return sum(served.values()) / (time.monotonic() - begin), served


class Gpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Server() as server:
            gpus = gpus_of(server)
        if len(gpus) < 2:
            raise unittest.SkipTest(f"{len(gpus)} GPUs here")
        cls.names = sorted(gpus)
        print(json.dumps([gpus[name]["model"] for name in cls.names]), file=sys.stderr)

    def test_forty_jobs_of_four_clients_use_all_of_them(self):
        with token_files(CLIENTS) as (of_all, files):
            with HttpService("--token-file", of_all) as service:
                begin = time.monotonic()
                callers = [subprocess.Popen([ASSAY, "call", "evaluate", "-", "--url", service.url + "/mcp", "--token-file", path],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for path in files]
                lines = "".join(json.dumps(arguments(ref_kernel={"source_code": ADD, "kernel_type": "cuda"})) + "\n"
                                for _ in range(JOBS // CLIENTS))
                for caller in callers:
                    caller.stdin.write(lines)
                    caller.stdin.close()
                reports = [json.loads(line) for caller in callers for line in caller.stdout]
                for caller in callers:
                    self.assertEqual(caller.wait(timeout=60), 0)
                    caller.stdout.close()
                took = time.monotonic() - begin
        self.assertEqual([(r["verdict"], r["trust"]) for r in reports], [("passed", "verified")] * JOBS)
        served = collections.Counter(map(device_of, reports))
        tell(f"{JOBS} comparisons of {CLIENTS} clients on one server", f"{dict(served)} in {took:.1f} s", "all devices serve",
             set(served) == set(self.names))
        self.assertEqual(set(served), set(self.names))

    def test_all_devices_do_more_than_one(self):
        with Server() as server:
            for name in self.names:
                self.assertEqual(server.call("evaluate", arguments(device=name))["structuredContent"]["verdict"], "passed")
            rate(server, "gpu")
            one, served_by_one = rate(server, self.names[0])
            all_of_them, served = rate(server, "gpu")
        self.assertEqual(set(served_by_one), {self.names[0]})
        ratio, goal = all_of_them / one, 0.75 * len(self.names)
        tell(f"cached evaluations, 8 in flight, {len(self.names)} devices against one",
             f"{all_of_them:.1f} and {one:.1f} a second: {ratio:.2f} times; {dict(served)}", f"{goal:.1f} times", ratio >= goal)
        self.assertGreater(ratio, 1)

    def test_servers_leave_each_other_the_free_device(self):
        # Each has an engine of its own: only the leases know of the others.
        with Server() as first, Server() as second:
            for server in (first, second):
                for name in self.names:
                    self.assertEqual(server.call("evaluate", arguments(device=name))["structuredContent"]["verdict"], "passed")
            slow = ADD.replace("  if (i < n) out[i] =", """  float s = 0;
  for (int k = 0; k < 20000000; ++k) s = fmaf(s, 0.5f, a[i % n]);
  if (i < n) out[i] = s == 1234.5f ? 1 :""")
            held = first.send("tools/call", {"name": "evaluate", "arguments": arguments(4096, slow, device=self.names[0], num_trials=200)})
            time.sleep(0.7)
            report = second.call("evaluate", arguments())["structuredContent"]
            self.assertEqual((report["verdict"], device_of(report)), ("passed", self.names[1]))
            self.assertEqual(first.answer(held, 120)["result"]["structuredContent"]["verdict"], "passed")

    def test_a_device_that_cannot_be_used_leaves_the_others_at_work(self):
        # All memory of the last device is taken: no context can be made there, and its canary cannot run.
        name = self.names[-1]
        hog = subprocess.Popen([sys.executable, os.path.join(HERE, "take_memory.py"), name.split(":")[1]],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.assertTrue(hog.stdout.readline().startswith("taken"))
            with Server() as server:
                ids = [server.send("tools/call", {"name": "evaluate", "arguments": arguments()}) for _ in range(8)]
                reports = [server.answer(id, 120)["result"]["structuredContent"] for id in ids]
                self.assertEqual({r["verdict"] for r in reports}, {"passed"})
                self.assertNotIn(name, set(map(device_of, reports)))
                self.assertEqual(gpus_of(server)[name]["health"]["condition"], "quarantined")
                refused = server.call("evaluate", arguments(device=name))
                self.assertTrue(refused["isError"])
                self.assertIn("quarantine", refused["structuredContent"]["summary"])
                hog.stdin.close()
                hog.wait(timeout=30)
                begin, verdict = time.monotonic(), ""
                while verdict != "passed" and time.monotonic() - begin < 60:
                    time.sleep(1)
                    verdict = server.call("evaluate", arguments(device=name))["structuredContent"]["verdict"]
                self.assertEqual(verdict, "passed")
                self.assertEqual(gpus_of(server)[name]["health"]["condition"], "trusted")
            tell("a device without memory in quarantine", f"8 jobs passed beside it; back {time.monotonic() - begin:.0f} s after", "others go on", True)
        finally:
            hog.kill()
            hog.wait()
            hog.stdout.close()

    def test_answers_are_the_same_on_all(self):
        # What is wrong is told with its values, from the contract's own seeds.
        wrong = ADD.replace("a[i] + b[i]", "a[i] * b[i] + sinf(b[i])")
        told = {}
        with Server() as server:
            for name in self.names:
                report = server.call("evaluate", arguments(source=wrong, device=name, ref_kernel={"source_code": ADD, "kernel_type": "cuda"}))
                report = report["structuredContent"]
                self.assertEqual((report["verdict"], device_of(report)), ("wrong_output", name))
                told[name] = json.dumps(report["kernel_exec_result"]["validation_error"])
        self.assertEqual(len(set(told.values())), 1, told)
        self.assertNotEqual(told[self.names[0]], "null")


if __name__ == "__main__":
    unittest.main(verbosity=2)
