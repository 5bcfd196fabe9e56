#!/usr/bin/env python3
"""Figures of the server through its real door: start, idle memory, round trips, a warm evaluate.

usage: bench_server [PATH/TO/assay]      (default: the assay beside this file)

Medians of several runs; nothing here passes or fails. Each line names its goal.
"""

import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from connection import ASSAY, Server, quantiles  # noqa: E402

ADD = """__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + %d.0f;
}
"""


def contract(n):
    def tensor(name, role="input", **init):
        spec = {"shape": [n], "dtype": "float32"}
        if init:
            spec["init"] = init
        return {"name": name, "type": "tensor", "role": role, "tensor_spec": spec}

    return {"args": [tensor("a", kind="randn", seed=1), tensor("b", kind="randn", seed=2),
                     tensor("out", "output"), {"name": "n", "type": "int", "value": n}],
            "launch": {"grid": {"x": (n + 255) // 256}, "block": {"x": 256}}}


def evaluate(server, i, n=1024):
    report, took = server.call("evaluate", {
        "kernel": {"source_code": ADD % i, "kernel_type": "cuda", "io": contract(n)}})
    return took, report


def main():
    print(f"{ASSAY}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    starts = []
    for _ in range(10):
        with tempfile.TemporaryDirectory() as state:
            server = Server(state)
            server.ask("server/discover")
            starts.append(time.perf_counter() - server.start)
            server.close()
    print("start to first answer:", quantiles(starts), "(goal 50 ms)")

    with tempfile.TemporaryDirectory() as state:
        server = Server(state)
        server.ask("server/discover")
        time.sleep(0.3)
        before = server.family_kib()
        print(f"idle memory, before any job: {sum(before.values()) / 1024:.1f} MiB in "
              f"{len(before)} processes (goal 25 MiB)")
        server.ask("tools/list")
        print("tools/list round trip:", quantiles([server.ask("tools/list")[1] for _ in range(500)]),
              "(goal p50 0.15 ms)")
        evaluate(server, 0)
        runs = [evaluate(server, i) for i in range(1, 41)]
        print("warm evaluate, new vector add of 1024 elements:", quantiles([took for took, _ in runs]),
              "(goal p50 80 ms)")
        for stage in runs[0][1]["stages"]:
            name = stage["name"]
            values = [s["ms"] for _, r in runs for s in r["stages"] if s["name"] == name]
            print(f"    {name}: p50 {statistics.median(values):.2f} ms")
        large = [evaluate(server, 100 + i, 1 << 20)[0] for i in range(10)]
        print("warm evaluate, new vector add of 1 Mi elements:", quantiles(large))
        after = server.family_kib()
        print(f"idle memory, after jobs: {sum(after.values()) / 1024:.1f} MiB in {len(after)} processes")
        server.close()


if __name__ == "__main__":
    main()
