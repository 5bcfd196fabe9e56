"""What only a machine with a GPU can show: the same verdicts as the emulator gives, the device alive after every
fault, and times that can be believed. Run by hand (or by a machine that has one):

    ASSAY=build/release/bin/assay python3 tests/gpu/check_gpu.py
"""

import json
import os
import statistics
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "end_to_end"))
os.environ.setdefault("ASSAY", os.path.join(os.path.dirname(__file__), "..", "..", "build", "release", "bin", "assay"))
from assay_client import ADD, FOREVER, Server, contract, kernel, tensor  # noqa: E402

MILLION = 1 << 20


def add_of(n):
    return contract(n=n)


def body(text):
    return "__global__ void add(const float* a, const float* b, float* out, int n) {" + text + "}"


GUARDED = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "
FAULTS = {
    "illegal address": (body(GUARDED + "out[i + (1ll << 34)] = a[i];"), {"crashed"}),
    "wild write beside the tensor": (body(GUARDED + "out[i] = a[i] + b[i]; if (i == 0) out[n + 8] = 1;"), {"crashed"}),
    "misaligned": (body("*(int*)((char*)out + 1) = 1;"), {"crashed"}),
    "trap": (body("asm(\"trap;\");"), {"crashed"}),
    "endless": (FOREVER, {"timed_out"}),
    "wrong": (body(GUARDED + "out[i] = a[i] - b[i];"), {"wrong_output"}),
    "tail": (body(GUARDED + "if (i < n - 5) out[i] = a[i] + b[i];"), {"wrong_output"}),
    "nothing": (body(""), {"wrong_output"}),
    "printf flood": (body(GUARDED + "for (int k = 0; k < 100000; ++k) printf(\"%d\\n\", k);"),
                     {"passed", "wrong_output", "crashed", "timed_out"}),
    "deep recursion": ("__device__ int f(int n) { volatile int x[256]; x[n & 255] = n; return n <= 0 ? x[0] : f(n - 1) + x[n & 255]; }\n"
                       + body(GUARDED + "out[i] = f(1 << 20);"), {"crashed", "wrong_output"}),
}


class Gpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()
        cls.capabilities = cls.server.call("check_capabilities", {})["structuredContent"]
        gpus = [d for d in cls.capabilities["devices"] if d["kind"] == "gpu"]
        if not gpus:
            raise unittest.SkipTest("no GPU: " + str(cls.capabilities.get("no_gpu")))
        print(json.dumps(gpus), json.dumps(cls.capabilities["isolation"])[:600], file=sys.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def evaluate(self, source, n=1000, ref=None, timeout=5, **more):
        arguments = {"kernel": kernel(source, add_of(n)), "timeout": timeout, **more}
        if ref:
            arguments["ref_kernel"] = {"source_code": ref, "kernel_type": "cuda"}
        return self.server.call("evaluate", arguments)["structuredContent"]

    def test_a_right_kernel_passes_on_the_device(self):
        report = self.evaluate(ADD, MILLION, ADD)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertEqual(report["trust"], "verified")
        self.assertEqual(report["kernel_exec_result"]["metadata"]["device"], "gpu:0")
        self.assertEqual(report["timing"]["clock"], "gpu")
        self.assertGreaterEqual(report["timing"]["runs_examined"], 3)
        print(json.dumps(report["timing"]), json.dumps(report["speedup"]), file=sys.stderr)

    def test_every_fault_costs_its_own_job_only(self):
        for name, (source, verdicts) in FAULTS.items():
            with self.subTest(fault=name):
                report = self.evaluate(source, ref=ADD)
                self.assertIn(report["verdict"], verdicts, report["summary"])
                begin = time.monotonic()
                good = self.evaluate(ADD, ref=ADD, until="validated")
                took = time.monotonic() - begin
                self.assertEqual(good["verdict"], "passed", (name, good["summary"]))
                print(f"{name}: {report['verdict']}: {report['summary'][:150]} · next {took * 1e3:.0f} ms", file=sys.stderr)

    def test_printf_comes_back(self):
        report = self.evaluate(body(GUARDED + "{ out[i] = a[i] + b[i]; if (i == 3) printf(\"hello %d\\n\", i); }"))
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn("hello 3", report["validation"]["printf"])

    def test_a_copy_reaches_the_memorys_bandwidth(self):
        n = 1 << 26
        source = ("__global__ void copy(const float4* a, float4* out, int n) {"
                  " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n / 4) out[i] = a[i]; }")
        io = {"args": [tensor("a", n, kind="uniform", seed=1), tensor("out", n, role="output"),
                       {"name": "n", "type": "int", "value": n}],
              "launch": {"grid": {"x": n // 4 // 256}, "block": {"x": 256}}}
        report = self.server.call("evaluate", {"kernel": {"source_code": source, "kernel_type": "cuda", "io": io},
                                               "num_trials": 30, "validation_trials": 1})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"])
        timing = report["timing"]
        rate = 2 * 4 * n / timing["cold"]["median_ns"]
        print(f"copy of {4 * n >> 20} MiB: {rate:.0f} GB/s cold", json.dumps(timing), file=sys.stderr)
        self.assertGreater(rate, 1000)

    def test_identical_kernels_are_indistinguishable_and_slower_ones_slower(self):
        slow = ("__global__ void add(const float* a, const float* b, float* out, int n) {"
                " int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;"
                " for (int k = 0; k < %d; ++k) s = s * 0.5f + a[i]; if (i < n) out[i] = a[i] + b[i] + (s == 1234.5f); }")
        for n in (1 << 14, MILLION, 1 << 23):
            with self.subTest(n=n):
                args = {"ref_kernel": kernel(slow % 400, add_of(n)), "custom_kernel": kernel(slow % 400 + " ", add_of(n))}
                report = self.server.call("compare", args)["structuredContent"]
                self.assertEqual(report["verdict"], "passed", report["summary"])
                print(n, "same:", json.dumps(report["speedup"]), file=sys.stderr)
                args["custom_kernel"] = kernel(slow % 440, add_of(n))
                report = self.server.call("compare", args)["structuredContent"]
                print(n, "10% more:", json.dumps(report["speedup"]), file=sys.stderr)

    def test_warm_evaluations_are_quick(self):
        times = []
        for i in range(12):
            begin = time.monotonic()
            report = self.evaluate(ADD + f"\n// {time.time()} {i}", MILLION)
            times.append(time.monotonic() - begin)
            self.assertEqual(report["verdict"], "passed", report["summary"])
        stages = {stage["name"]: round(stage["ms"], 1) for stage in report["stages"]}
        print("warm evaluate of 1 M elements, new source, 100 runs [ms]:",
              [round(t * 1e3) for t in times], "median", round(statistics.median(times) * 1e3), stages, file=sys.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
