"""Headers of torch_cuda wrappers, compiled ahead: a server that is killed while it does so, two that want the same at
once, and a disk that has no room for them."""

import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from assay_client import ASSAY, descendants
from torch_cuda_sources import PLAIN, inline
from torch_server import SCALE, TorchServer, inputs, source

KERNEL = source(inline(PLAIN), "torch_cuda", inputs())
ARGUMENTS = {"kernel": KERNEL, "ref_kernel": source(SCALE, function_name="scale"), "until": "validated", "wait_s": 280}
# A file system of its own, too small for what is compiled ahead.
SMALL = """#!/bin/sh
exec unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=128m none "$ASSAY_SMALL" && exec "$0" "$@"' {assay} "$@"
"""


def begin(server):
    return server.send("tools/call", {"name": "evaluate", "arguments": ARGUMENTS})


def built(server, call):
    report = server.answer(call, 400)["result"]["structuredContent"]
    if report["verdict"] != "passed":
        raise AssertionError(report["summary"])
    return report["kernel_exec_result"]["metadata"]["built"][0]


def until(holds, patience_s=200):
    end = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("it never came to that")
        time.sleep(0.05)


class WrapperEnvironment(unittest.TestCase):
    def test_a_killed_maker_is_followed_by_one_of_those_who_want_it(self):
        with tempfile.TemporaryDirectory(prefix="assay-test-") as state:
            folder = os.path.join(state, "compiled", "wrappers")
            with TorchServer(state=state) as first:
                begin(first)
                until(lambda: glob.glob(os.path.join(folder, ".aside-*", "*.new")))
                engines = [pid for pid, command in descendants(first.process.pid) if " engine" in command]
                for pid in (first.process.pid, *engines):  # whoever compiles goes with them, or goes on for nobody
                    os.kill(pid, signal.SIGKILL)
            self.assertEqual(glob.glob(os.path.join(folder, "*", "*.gch")), [], "nothing that is not whole is found")
            with TorchServer(state=state) as one, TorchServer(state=state) as other:
                calls = [(server, begin(server)) for server in (one, other)]
                told = [built(server, call) for server, call in calls]
                self.assertEqual(sum("headers_ms" in item for item in told), 1, "one made them, one waited")
                self.assertEqual([item.get("note") for item in told], [None, None])
            self.assertEqual(len(glob.glob(os.path.join(folder, "*", "wrapper.h.gch"))), 1)
            self.assertEqual(glob.glob(os.path.join(folder, ".aside-*")), [], "what the killed one left has gone")

    def test_without_room_it_is_compiled_without_them_and_said(self):
        with tempfile.TemporaryDirectory(prefix="assay-test-") as place:
            state, script = os.path.join(place, "state"), os.path.join(place, "assay")
            os.mkdir(state)
            if subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", state],
                              capture_output=True, check=False).returncode != 0:
                self.skipTest("no file system of one's own can be mounted here")
            with open(script, "w", encoding="utf-8") as out:
                out.write(SMALL.format(assay=shutil.which(ASSAY) or ASSAY))
            os.chmod(script, 0o755)
            with TorchServer(state=state, env={"ASSAY_SMALL": state}, executable=script) as server:
                told = built(server, begin(server))
                self.assertIn("there is no room for them", told.get("note", ""))
                self.assertFalse(told["cached"])
                self.assertEqual(built(server, begin(server))["kernels"], ["twice"])


if __name__ == "__main__":
    unittest.main()
