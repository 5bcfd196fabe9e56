"""What only a machine with a GPU can show: the same verdicts as the emulator gives, the device alive after every
fault, and times that can be believed. Run by hand (or by a machine that has one):

    ASSAY=build/release/bin/assay python3 tests/gpu/check_gpu.py
"""

import json
import os
import statistics
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import check_claims  # noqa: E402
import check_counters  # noqa: E402
import check_faults  # noqa: E402
import check_textures  # noqa: E402
from device_case import GUARDED, MILLION, add_of, body  # noqa: E402
from assay_client import ADD, FOREVER, Server, kernel, tensor  # noqa: E402
from figures import tell  # noqa: E402

ROOT = os.path.join(HERE, "..", "..")

# 64 x 64 results of a block, 4 x 4 of a thread.
FLOAT4_PRODUCT = """__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float left[16][68], right[16][64];
  int column = threadIdx.x % 16 * 4, row = threadIdx.x / 16 * 4;
  float sum[4][4] = {};
  for (int at = 0; at < k; at += 16) {
    int r = threadIdx.x / 4, q = threadIdx.x % 4 * 4;
    float4 v = *(const float4*)(a + (blockIdx.y * 64 + r) * k + at + q);
    left[q][r] = v.x; left[q + 1][r] = v.y; left[q + 2][r] = v.z; left[q + 3][r] = v.w;
    *(float4*)&right[threadIdx.x / 16][column] = *(const float4*)(b + (at + threadIdx.x / 16) * n + blockIdx.x * 64 + column);
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      float4 x = *(const float4*)&left[i][row], y = *(const float4*)&right[i][column];
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
      for (int p = 0; p < 4; ++p) for (int w = 0; w < 4; ++w) sum[p][w] += xs[p] * ys[w];
    }
    __syncthreads();
  }
  for (int p = 0; p < 4; ++p)
    *(float4*)(c + (blockIdx.y * 64 + row + p) * n + blockIdx.x * 64 + column) = make_float4(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
}
"""


class Gpu(check_faults.Faults, check_counters.Counters, check_textures.Textures, check_claims.Claims):
    """Its own tests, and those of faults, counters, textures and claims on the same server."""

    def test_a_right_kernel_passes_on_the_device(self):
        report = self.evaluate(ADD, MILLION, ADD)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertEqual(report["trust"], "verified")
        self.assertEqual(report["kernel_exec_result"]["metadata"]["device"], "gpu:0")
        self.assertEqual(report["timing"]["clock"], "gpu")
        self.assertGreaterEqual(report["timing"]["runs_examined"], 3)
        print(json.dumps(report["timing"]), json.dumps(report["speedup"]), file=sys.stderr)

    def test_the_canary_proved_the_device_and_no_kernel_makes_it_doubtful(self):
        self.assertEqual(self.evaluate(ADD, ref=ADD, until="validated")["verdict"], "passed")
        for name in ("illegal address", "trap", "endless"):
            self.assertIn(self.commit(name)[0], check_faults.FAULTS[name].verdicts)
        devices = self.server.call("check_capabilities", {"refresh": True})["structuredContent"]["devices"]
        health = next(device["health"] for device in devices if device["name"] == "gpu:0")
        self.assertEqual((health["condition"], health["why"], health["canaries_wrong"]), ("trusted", None, 0), health)
        self.assertGreaterEqual(health["canaries"], 1)
        tell("canary on the device", f"{health['canaries']} right, {health['canaries_wrong']} wrong", "none wrong", health["canaries_wrong"] == 0)

    def test_clusters_that_a_kernel_asks_for_itself_run_or_are_refused_and_the_device_stays_trusted(self):
        major = next(d["compute_major"] for d in self.capabilities["devices"] if d["kind"] == "gpu")
        if major < 9:
            self.skipTest("clusters are of sm_90 and later")
        for blocks, verdicts in ((2, {"passed"}), (8, {"passed"}), (16, {"passed", "launch_failed"}), (3, {"launch_failed"})):
            with self.subTest(blocks=blocks):
                source = body(GUARDED + "out[i] = a[i] + b[i];").replace("__global__ void", f"__global__ void __cluster_dims__({blocks}, 1, 1)")
                report = self.evaluate(source, n=1 << 14)
                self.assertIn(report["verdict"], verdicts, report["summary"])
        devices = self.server.call("check_capabilities", {"refresh": True})["structuredContent"]["devices"]
        self.assertEqual(devices[0]["health"]["condition"], "trusted", devices[0])

    def test_a_device_that_reaches_the_host_says_so_and_verifies_nothing(self):
        reaches = next(d["pageable_memory_access"] for d in self.capabilities["devices"] if d["kind"] == "gpu")
        report = self.evaluate(ADD, ref=ADD)
        codes = [warning["code"] for warning in report["warnings"]]
        self.assertEqual((report["trust"], "host_memory_reachable" in codes), ("audited" if reaches else "verified", reaches), report["summary"])

    def test_nobody_is_timed_beside_a_kernel_that_hangs(self):
        """Who waits for the device gets it when the process that hangs is dead, not when its answer is known."""
        alone = statistics.median(self.evaluate(ADD, MILLION)["timing"]["cold"]["median_ns"] for _ in range(3))
        for _ in range(3):
            hangs = self.server.call("evaluate", {"kernel": kernel(FOREVER, add_of(1000)), "timeout": 5, "wait_s": 0})["structuredContent"]["job_id"]
            good = self.evaluate(ADD, MILLION)
            self.assertEqual(good["verdict"], "passed", good["summary"])
            self.assertEqual(self.server.call("get_job", {"job_id": hangs, "wait_s": 30})["structuredContent"]["verdict"], "timed_out")
            self.assertLess(good["timing"]["cold"]["median_ns"], 1.2 * alone, good["timing"]["cold"])

    def test_a_server_that_was_killed_with_the_device_leaves_it_to_the_next(self):
        with Server() as other:
            other.call("evaluate", {"kernel": kernel(FOREVER, add_of(1000)), "timeout": 60, "wait_s": 0})
            time.sleep(3)
            other.process.kill()
        report = self.evaluate(ADD, ref=ADD, timeout=30)
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def sanitized(self, source, n=1000):
        """The findings by line and kind, and `checks` itself, of all that compute-sanitizer has a tool for."""
        begin = time.monotonic()
        report = self.evaluate(source, n, until="validated", timeout=20, checks=["memory", "races", "initialised", "barriers"])
        checks = report["validation"]["checks"]
        print(f"{report['verdict']} in {time.monotonic() - begin:.1f} s: {json.dumps(checks)[:3000]}", file=sys.stderr)
        if "reason" in checks["sanitizer"]:
            self.skipTest(checks["sanitizer"]["reason"])
        self.assertEqual([tool["tool"] for tool in checks["sanitizer"]["tools"] if tool["ran"]],
                         ["memcheck", "racecheck", "initcheck", "synccheck"], checks["sanitizer"])
        return {finding["kind"]: finding for finding in checks["findings"]
                if "compute-sanitizer" in (finding.get("by"), finding.get("also_by"))}, checks

    def test_compute_sanitizer_finds_nothing_in_a_right_kernel(self):
        found, checks = self.sanitized(ADD)
        self.assertEqual((found, checks["on"]), ({}, "emulator"))

    def test_compute_sanitizer_names_line_thread_and_element(self):
        found, _ = self.sanitized(body("int i = blockIdx.x * blockDim.x + threadIdx.x;\n__shared__ float s[256];\n"
                                       "s[threadIdx.x] = a[i % n];\nfloat v = s[(threadIdx.x + 32) % 256];\n"
                                       "if (i < n) out[i == n - 1 ? n + 4 : i] = v + b[i];"))
        self.assertIn("shared_race", found)
        beyond = found.get("out_of_bounds") or found["invalid_access"]
        self.assertEqual(beyond["where"]["line"], found["shared_race"]["where"]["line"] + 1)
        self.assertIn(list(beyond["thread"]), ([999 % 256, 0, 0],))

    def test_what_the_emulator_cannot_execute_is_looked_at_on_the_device(self):
        found, checks = self.sanitized(
            "#include <cooperative_groups.h>\n" + body("cooperative_groups::this_cluster().sync();\n"
            "int i = blockIdx.x * blockDim.x + threadIdx.x;\n__shared__ float s[256];\ns[threadIdx.x] = i < n ? a[i] : 0;\n"
            "float v = s[(threadIdx.x + 32) % 256];\nif (i < n) out[i] = v + b[i];").replace("__global__ void", "__global__ void __cluster_dims__(2, 1, 1)"))
        self.assertEqual((checks["ran"], checks["on"]), (True, "gpu"))
        self.assertIn("shared_race", found)

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
        best = device_copy_rate(4 * n)
        print(json.dumps(timing), file=sys.stderr)
        tell(f"copy of {4 * n >> 20} MiB, cold", f"{rate:.0f} GB/s; the driver's own copy {best:.0f} GB/s", "within 3 %", rate >= 0.97 * best)
        self.assertGreater(rate, 0.8 * best)

    def test_a_neighbour_that_computes_is_told_as_far_as_the_driver_names_it(self):
        self.assertEqual(self.evaluate(ADD, MILLION)["verdict"], "passed")  # its runner is there
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keep_busy.py")
        with subprocess.Popen([sys.executable, script, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as neighbour:
            self.assertEqual(neighbour.stdout.readline(), "busy\n")
            time.sleep(2)
            report = self.evaluate(ADD, MILLION, detail="full")
            neighbour.stdin.close()
        self.assertEqual(report["verdict"], "passed", report["summary"])
        told = report["timing"]["neighbours"]
        warned = [warning["message"] for warning in report["warnings"] if warning["code"] == "co_tenants"]
        print(json.dumps(told), warned, json.dumps(report["timing"]["clocks"]), file=sys.stderr)
        tell("a process that computes beside a measurement", f"told: {bool(warned)}; {json.dumps(told)}", "told", bool(warned))
        if told["visible"] or told["busy_before_pct"] is not None:
            self.assertTrue(warned, told)

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
                self.assertEqual(report["speedup"]["verdict"], "indistinguishable", report["speedup"])
                args["custom_kernel"] = kernel(slow % 440, add_of(n))
                report = self.server.call("compare", args)["structuredContent"]
                print(n, "10% more:", json.dumps(report["speedup"]), file=sys.stderr)
                found = ("slower",) if n >= MILLION else ("slower", "indistinguishable")  # of some microseconds
                self.assertIn(report["speedup"]["verdict"], found, report["speedup"])

    def test_a_comparison_has_a_ratio_however_few_runs_were_asked_for(self):
        for n, runs in ((1 << 12, 1), (1 << 24, 1), (1 << 24, 2)):
            report = self.server.call("compare", {"ref_kernel": kernel(ADD, add_of(n)), "custom_kernel": kernel(ADD + " ", add_of(n)),
                                                  "num_trials": runs})["structuredContent"]
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertGreaterEqual(report["speedup"]["pairs"], 2, report["speedup"])

    def test_a_cooperative_launch_is_captured_in_a_graph(self):
        meets = "#include <cooperative_groups.h>\n" + body("cooperative_groups::this_grid().sync();" + GUARDED + "out[i] = a[i] + b[i];")
        report = self.server.call("evaluate", {"kernel": kernel(meets, add_of(1 << 14)), "ref_kernel": kernel(ADD, add_of(1 << 14))})["structuredContent"]
        self.assertEqual((report["verdict"], report["trust"], report["warnings"]), ("passed", "verified", []), report["summary"])
        self.assertGreater(report["timing"]["graph"]["median_ns"], 0)

    def test_what_is_wrong_on_the_device_is_told_from_the_same_inputs_on_the_host(self):
        # The host makes the inputs once more to explain a wrong output: a single differing bit would be a finding.
        for dtype, c_type in (("float32", "float"), ("float64", "double"), ("int32", "int"), ("uint8", "unsigned char"),
                              ("int64", "long long"), ("float16", "unsigned short"), ("bfloat16", "unsigned short")):
            for kind in ("randn", "uniform", "ones"):
                with self.subTest(dtype=dtype, kind=kind):
                    n = 4099
                    io = {"args": [tensor("a", n, dtype=dtype, kind=kind, seed=7), tensor("out", n, role="output", dtype=dtype),
                                   {"name": "n", "type": "int", "value": n}],
                          "launch": {"grid": {"x": 17}, "block": {"x": 256}}}
                    copy = ("__global__ void k(const %s* a, %s* out, int n) { int i = blockIdx.x * 256 + threadIdx.x;"
                            " if (i < n) out[i] = a[%%s]; }" % (c_type, c_type))
                    report = self.server.call("evaluate", {
                        "kernel": {"source_code": copy % "n - 1 - i", "kernel_type": "cuda", "io": io}, "timeout": 5,
                        "ref_kernel": {"source_code": copy % "i", "kernel_type": "cuda"}})["structuredContent"]
                    self.assertEqual(report["verdict"], "passed" if kind == "ones" else "wrong_output", report["summary"])
                    self.assertEqual([e for e in report["evidence"] if e["check"] != "weak_oracle"], [], report["evidence"])

    def test_a_kernel_that_stops_working_after_some_launches_is_caught_among_the_timed_runs(self):
        lazy = ("__device__ int launches;\n" + body(
            "if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(&launches, 1);" + GUARDED
            + "if (*(volatile int*)&launches < 20) out[i] = a[i] + b[i];"))
        for ref in (ADD, None):
            report = self.evaluate(lazy, MILLION, ref)
            self.assertNotEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_a_kernel_that_cannot_be_launched_again_on_what_it_left_is_timed_cold_alone(self):
        source = """__global__ void meet(int* flags, const float* a, float* out, int n) {
  if (threadIdx.x == 0) { atomicAdd(flags, 1); while (*(volatile int*)flags != gridDim.x); }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = 2 * a[i];
}"""
        ref = source.replace("while", "if (0) while")
        io = {"args": [tensor("flags", 1, role="inout", dtype="int32", kind="zeros"), tensor("a", 2000), tensor("out", 2000, role="output"),
                       {"name": "n", "type": "int", "value": 2000}], "launch": {"grid": 8, "block": 256}}
        for given in (ref, None):
            arguments = {"kernel": {"source_code": source, "kernel_type": "cuda", "io": io}, "timeout": 10}
            if given:
                arguments["ref_kernel"] = {"source_code": given, "kernel_type": "cuda"}
            begin = time.monotonic()
            report = self.server.call("evaluate", arguments)["structuredContent"]
            took = time.monotonic() - begin
            self.assertEqual(report["verdict"], "passed", report["summary"])
            codes = {warning["code"] for warning in report["warnings"]}
            self.assertLessEqual({"not_repeatable", "times_not_held"}, codes)
            self.assertNotEqual(report["trust"], "verified")
            self.assertGreater(report["timing"]["cold"]["median_ns"], 0)
            self.assertEqual(self.evaluate(ADD, ref=ADD, until="validated")["verdict"], "passed")
            tell("a kernel that waits for ever when launched again" + (" beside a reference" if given else ""),
                 f"{report['trust']}, cold {report['timing']['cold']['median_ns'] * 1e-3:.1f} us, job {took:.1f} s", "passed", True)
        remembers = ("__device__ float kept[2048]; __device__ int full;\n" + source.replace(
            "out[i] = 2 * a[i]", "{ if (full) out[i] = kept[i]; else kept[i] = out[i] = 2 * a[i]; if (i == n - 1) full = 1; }"))
        report = self.server.call("evaluate", {"kernel": {"source_code": remembers, "kernel_type": "cuda", "io": io}, "timeout": 10,
                                               "ref_kernel": {"source_code": ref, "kernel_type": "cuda"}})["structuredContent"]
        self.assertNotEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_a_kernel_that_returns_what_it_remembers_is_caught(self):
        remembers = ("__device__ float kept[1 << 20]; __device__ int full;\n" + body(
            GUARDED + "{ if (full) out[i] = kept[i]; else { kept[i] = out[i] = a[i] + b[i]; } if (i == n - 1) full = 1; }"))
        report = self.evaluate(remembers, MILLION, ADD)
        self.assertNotEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_a_sweep_ranks_by_time_and_says_ties(self):
        source = ("__global__ void add(const float* a, const float* b, float* out, int n) {\n"
                  "  for (int k = 0; k < PER_THREAD; ++k) { int i = (blockIdx.x * PER_THREAD + k) * blockDim.x + threadIdx.x;"
                  " float s = 0; for (int j = 0; j < LOOP; ++j) s = fmaf(s, 0.5f, a[i % n]);"
                  " if (i < n) out[i] = a[i] + b[i] + (s == 1234.5f); } }")
        io = add_of(MILLION)
        io["launch"] = {"grid": {"x": "ceildiv(n, 256 * PER_THREAD)"}, "block": {"x": 256}}
        begin = time.monotonic()
        report = self.server.call("sweep", {"kernel": kernel(source, io), "ref_kernel": kernel(ADD, add_of(MILLION)),
                                            "parameters": {"PER_THREAD": [1, 2, 4], "LOOP": [10, 400]}})["structuredContent"]
        print(f"sweep of 6 in {time.monotonic() - begin:.2f} s:", report["summary"], json.dumps(report["table"]), file=sys.stderr)
        self.assertEqual(report["verdict"], "passed", report)
        self.assertEqual(report["ranked_by"], "cost_ns")
        self.assertEqual([line["parameters"]["LOOP"] for line in report["table"][:3]], [10, 10, 10])

    def test_a_grid_of_two_billion_blocks_ends_or_is_ended(self):
        io = add_of(1000)
        io["launch"] = {"grid": {"x": 2147483647}, "block": {"x": 256}}
        report = self.server.call("evaluate", {"kernel": kernel(ADD.replace("int i = ", "long long i = (long long)"), io), "timeout": 5,
                                               "ref_kernel": kernel(ADD, add_of(1000)), "until": "validated"})["structuredContent"]
        print("two billion blocks:", report["verdict"], report["summary"], file=sys.stderr)
        self.assertIn(report["verdict"], {"passed", "timed_out"})
        self.assertEqual(self.evaluate(ADD, ref=ADD, until="validated")["verdict"], "passed")

    def test_a_matrix_product_of_float4_is_faster_than_a_tiled_one(self):
        with open(os.path.join(ROOT, "examples", "kernels", "sgemm_tiled.cu"), encoding="utf-8") as file:
            tiled = file.read()
        with open(os.path.join(ROOT, "examples", "kernels", "sgemm_tiled.contract.json"), encoding="utf-8") as file:
            io = json.load(file)
        io["sizes"] = {"m": 1024, "n": 1024, "k": 1024}
        io["args"][2]["tensor_spec"]["tolerance"] = {"atol": 1e-2, "rtol": 1e-3}
        wide = {**io, "launch": {"grid": ["n / 64", "m / 64"], "block": 256}}
        report = self.server.call("compare", {
            "ref_kernel": {"source_code": tiled, "kernel_type": "cuda", "io": io},
            "custom_kernel": {"source_code": FLOAT4_PRODUCT, "kernel_type": "cuda", "io": wide}})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"])
        tell("matrix product of float4 against tiled", f"{report['speedup']['verdict']} {report['speedup']['ratio']:.2f}", "faster",
             report["speedup"]["verdict"] == "faster")
        self.assertEqual(report["speedup"]["verdict"], "faster")

    def test_a_tiled_matrix_product_is_faster_than_a_naive_one(self):
        kernels = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "kernels")
        with open(os.path.join(kernels, "sgemm_tiled.cu"), encoding="utf-8") as file:
            tiled = file.read()
        with open(os.path.join(kernels, "sgemm_tiled.contract.json"), encoding="utf-8") as file:
            io = json.load(file)
        io["sizes"] = {"m": 1024, "n": 1024, "k": 1024}
        io["args"][2]["tensor_spec"]["tolerance"] = {"atol": 1e-2, "rtol": 1e-3}
        each = {**io, "launch": {"grid": ["ceildiv(n, 32)", "ceildiv(m, 8)"], "block": [32, 8]}}
        naive = ("__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {"
                 " int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; float s = 0;"
                 " for (int i = 0; x < n && y < m && i < k; ++i) s += a[y * k + i] * b[i * n + x]; if (x < n && y < m) c[y * n + x] = s; }")
        report = self.server.call("compare", {
            "ref_kernel": {"source_code": naive, "kernel_type": "cuda", "io": each},
            "custom_kernel": {"source_code": tiled, "kernel_type": "cuda", "io": io}})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"])
        print("tiled against naive:", json.dumps(report["speedup"]), file=sys.stderr)
        tell("tiled matrix product against naive", f"{report['speedup']['verdict']} {report['speedup']['ratio']:.2f}", "faster",
             report["speedup"]["verdict"] == "faster")
        self.assertEqual(report["speedup"]["verdict"], "faster")

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


def device_copy_rate(size):
    """GB/s of the driver's own copy, bytes read and written, the best of some: what the memory gives."""
    ran = subprocess.run([sys.executable, os.path.join(ROOT, "benchmarks", "device_copy.py"), str(size)],
                         capture_output=True, text=True, timeout=60, check=True)
    return float(ran.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
