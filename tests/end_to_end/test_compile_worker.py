"""The compile worker through the real server: whatever becomes of the zygote that forks compilers, of the headers it
compiled ahead or of the cache, a right source compiles."""

import contextlib
import os
import signal
import tempfile
import threading
import time
import unittest

from assay_client import ADD, SANITIZED, Server, descendants, wait_gone

HEAVY = """#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <mma.h>
namespace cg = cooperative_groups;
__global__ void half_sum(const __half* x, float* y) {
  cg::this_thread_block().sync();
  y[threadIdx.x] = __half2float(x[threadIdx.x]) + %d.0f;
}
"""


def small(i):
    return ADD.replace("a[i] + b[i]", f"a[i] + b[i] + {i}.0f")


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def zygotes(server):
    """What they forked ahead bears their command line, and a name of its own."""
    return [pid for pid, command in descendants(server.process.pid)
            if "--zygote" in command and name_of(pid) == "assay-zygote"]


def only_zygote(server):
    """One that was replaced may still be going while its successor comes."""
    for _ in range(200):
        found = zygotes(server)
        if len(found) == 1:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(f"not one zygote: {found}")


class CompileWorker(unittest.TestCase):
    def setUp(self):
        self.numbers = iter(range(10_000))  # each in one source only, so that the cache has none

    def judged(self, server, source):
        return server.call("compile_kernel", {"kernel": {"source_code": source, "kernel_type": "cuda"}})["structuredContent"]

    def compile(self, server, source):
        report = self.judged(server, source)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        return report

    def headers_of(self, server):
        folder = os.path.join(server.state, "compiled", "headers")
        return sorted(os.path.join(folder, name) for name in os.listdir(folder)) if os.path.isdir(folder) else []

    def warmed(self, server):
        """The files of compiled headers, once a zygote has made them and forks compilers that use them."""
        for _ in range(60):
            self.compile(server, HEAVY % next(self.numbers))
            headers = self.headers_of(server)
            if len(headers) == 1 and len(zygotes(server)) == 2:
                return headers
            time.sleep(0.2)
        self.fail("no headers were compiled ahead")

    def test_a_killed_zygote_is_replaced(self):
        with Server() as server:
            self.compile(server, small(0))
            for i in range(1, 6):
                zygote = only_zygote(server)
                os.kill(zygote, signal.SIGKILL)
                # The first may still meet the dying one and go without; the second has a new one.
                self.compile(server, small(2 * i))
                self.compile(server, small(2 * i + 1))
                self.assertNotEqual(zygotes(server), [zygote])

    def test_a_zygote_that_hangs_costs_its_limit_once(self):
        with Server() as server:
            self.compile(server, small(0))
            zygote = only_zygote(server)
            os.kill(zygote, signal.SIGSTOP)
            self.compile(server, small(1))
            self.compile(server, small(2))
            self.assertNotIn(zygote, zygotes(server), "the one that hung is gone")

    @unittest.skipIf(SANITIZED, "its patience is for a release build")
    def test_headers_are_compiled_once_and_removed_with_their_engine(self):
        with Server() as server:
            headers = self.warmed(server)
            self.assertEqual(len(headers), 1)
            server.close()
            self.assertEqual(self.headers_of(server), [])

    @unittest.skipIf(SANITIZED, "its patience is for a release build")
    def test_what_a_killed_engine_left_of_headers_the_next_removes(self):
        with tempfile.TemporaryDirectory() as state:
            with Server(state=state) as server:
                headers = self.warmed(server)
                killed = [pid for pid, _ in descendants(server.process.pid)]
                for pid in killed:
                    with contextlib.suppress(ProcessLookupError):  # it went with one before
                        os.kill(pid, signal.SIGKILL)
                self.assertEqual(wait_gone(killed), [])
                # The server may not have seen yet what became of its engine; the job is to be run again then.
                if self.judged(server, small(0))["verdict"] == "engine_fault":
                    self.compile(server, small(1))
                self.assertNotIn(headers[0], self.headers_of(server))

    @unittest.skipIf(SANITIZED, "its patience is for a release build")
    def test_damaged_headers_do_not_fail_a_right_source(self):
        with Server() as server:
            (header,) = self.warmed(server)
            size = os.path.getsize(header)
            for damage in (lambda file: file.truncate(size // 2), lambda file: file.write(b"\xff" * 4096),
                           lambda file: file.truncate(0)):
                with open(header, "r+b") as file:
                    damage(file)
                self.compile(server, HEAVY % next(self.numbers))
                (header,) = self.warmed(server)

    def test_two_servers_compile_the_same_sources_at_once_into_one_cache(self):
        answers = {}

        def work(which, server):
            answers[which] = [self.compile(server, small(i)) for i in range(12)]

        with tempfile.TemporaryDirectory() as state:
            with Server(state=state) as one, Server(state=state) as two:
                workers = [threading.Thread(target=work, args=item) for item in (("one", one), ("two", two))]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
                for left, right in zip(answers["one"], answers["two"], strict=True):
                    self.assertEqual(left["kernels"], right["kernels"])
                # Whoever wrote an entry last, it is whole.
                for server in (one, two):
                    for i in range(12):
                        self.assertTrue(self.compile(server, small(i))["cached"])


if __name__ == "__main__":
    unittest.main()
