"""How a benchmark talks to `assay serve --stdio`: one question at a time, timed from the first byte written to the
last byte read."""

import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ASSAY = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "assay")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Server:
    def __init__(self, state):
        self.start = time.perf_counter()
        self.process = subprocess.Popen([ASSAY, "serve", "--stdio", "--state", state],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 17)
        self.id = 0

    def ask(self, method, **params):
        self.id += 1
        params["_meta"] = META
        line = json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        before = time.perf_counter()
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        took = time.perf_counter() - before  # what the client does with the answer is its own time
        return json.loads(answer), took

    def call(self, tool, arguments):
        """The structured answer and how long it took."""
        answer, took = self.ask("tools/call", name=tool, arguments=arguments)
        report = answer["result"]["structuredContent"]
        assert report["verdict"] == "passed", report["summary"]
        return report, took

    def family_kib(self):
        """Proportional memory of the server and everything below it."""
        total, waiting = {}, [self.process.pid]
        while waiting:
            pid = waiting.pop()
            try:
                with open(f"/proc/{pid}/smaps_rollup") as file:
                    total[pid] = sum(int(l.split()[1]) for l in file if l.startswith("Pss:"))
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/children") as file:
                        waiting += [int(child) for child in file.read().split()]
            except OSError:
                pass
        return total

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


def ms(seconds):
    return f"{seconds * 1e3:.2f} ms"


def quantiles(values):
    ordered = sorted(values)
    return (f"p50 {ms(statistics.median(ordered))}, p95 {ms(ordered[int(len(ordered) * 0.95)])}, "
            f"n={len(ordered)}")
