"""`checks` and `device_metrics` of evaluate on the emulator: what an agent is told of mistakes that no output shows."""

import unittest

from assay_client import Server

BROKEN = """__global__ void reverse(const float* a, float* b) {
  __shared__ float tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  tile[threadIdx.x] = a[i];
  b[i] = tile[127 - threadIdx.x];
}
"""
RIGHT = BROKEN.replace("a[i];\n", "a[i];\n  __syncthreads();\n")
ALL = ["memory", "races", "initialised", "barriers", "numbers"]


def tensor(name, role):
    spec = {"shape": [256], "dtype": "float32"}
    if role != "output":
        spec["init"] = {"kind": "uniform", "seed": 1, "low": 1, "high": 2}
    return {"name": name, "type": "tensor", "role": role, "tensor_spec": spec}


def evaluate(server, source, b_role="output", **more):
    io = {"args": [tensor("a", "input"), tensor("b", b_role)], "launch": {"grid": {"x": 2}, "block": {"x": 128}}}
    kernel = {"source_code": source, "kernel_type": "cuda", "io": io}
    return server.call("evaluate", {"kernel": kernel, "device": "emulator", "num_trials": 1, **more})


class Checks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def checks(self, source, wanted=None, **more):
        report = evaluate(self.server, source, checks=wanted or ALL, until="validated", **more)["structuredContent"]
        return report, report["validation"]["checks"]

    def test_a_missing_barrier_is_told_with_both_lines_and_the_element(self):
        report, checks = self.checks(BROKEN)
        self.assertTrue(checks["ran"])
        race = next(f for f in checks["findings"] if f["kind"] == "shared_race")
        self.assertEqual({race["where"]["line"], race["other"]["where"]["line"]}, {4, 5})
        self.assertEqual(race["memory"], "tile")
        self.assertNotEqual(race["thread"], race["other"]["thread"])
        self.assertGreater(race["count"], 1)
        self.assertIn("Checks found", report["summary"])

    def test_nothing_is_said_about_a_right_kernel(self):
        report, checks = self.checks(RIGHT)
        self.assertEqual(report["verdict"], "passed")
        self.assertEqual((checks["ran"], checks["findings"], checks["notes"]), (True, [], []))
        self.assertNotIn("Checks", report["summary"])

    def test_an_index_that_wrapped_is_told_with_the_line_that_wrapped_it(self):
        source = RIGHT.replace("a[i];", "a[i];\n  unsigned before = i - 1;").replace("b[i] =", "b[i] = a[before] +")
        report, checks = self.checks(source, ["numbers"])
        wrapped = next(f for f in checks["findings"] if f["kind"] == "index_wrapped")
        self.assertEqual((wrapped["other"]["where"]["line"], wrapped["thread"], wrapped["block"]), (5, [0, 0, 0], [0, 0, 0]))
        self.assertIn("-1 does not fit 32 bits and became 4294967295", wrapped["message"])
        self.assertEqual(report["verdict"], "crashed")
        masked = RIGHT.replace("b[i] =", "b[i] = a[i * 2654435761u >> 25] +")
        self.assertEqual(self.checks(masked, ["numbers"])[1]["findings"], [])

    def test_a_sample_of_blocks_is_named_as_one(self):
        _, every = self.checks(BROKEN)
        _, one = self.checks(BROKEN, check_blocks=1)
        self.assertEqual((every["blocks"], one["blocks"]), ({"checked": 2, "of": 2}, {"checked": 1, "of": 2}))
        counts = [sum(f["count"] for f in c["findings"]) for c in (every, one)]
        self.assertEqual(counts[0], 2 * counts[1])
        self.assertIn("1 of 2 blocks", one["notes"][0])

    def test_idioms_that_look_like_mistakes_are_none(self):
        idioms = RIGHT.replace("  b[i] =", """  __shared__ int most;
  if (threadIdx.x == 0) {  // a long way round, and the others wait
    unsigned h = i;
    for (int k = 0; k < 9000; ++k) h = h * 69069u + 1u;
    most = h > 0 ? 0 : 1;
  }
  __syncthreads();
  int old = most, seen;  // a swap loop begins with a plain read
  do { seen = old; old = atomicCAS(&most, seen, seen + 1); } while (old != seen);
  __syncthreads();
  if (most < 128) b[0] = 0;
  b[i] =""")
        report, checks = self.checks(idioms)
        self.assertEqual((report["verdict"], checks["findings"]), ("passed", []), report["summary"])

    def test_an_output_that_is_added_to_is_uninitialised_unless_it_is_inout(self):
        adds = RIGHT.replace("b[i] =", "b[i] +=")
        _, checks = self.checks(adds)
        self.assertEqual([f["kind"] for f in checks["findings"]], ["uninitialised_global"])
        self.assertEqual((checks["findings"][0]["memory"], checks["findings"][0]["count"]), ("b", 256))
        _, checks = self.checks(adds, b_role="inout")
        self.assertEqual(checks["findings"], [])

    def test_a_local_that_nobody_set_is_told_by_its_name_and_what_it_decides(self):
        source = RIGHT.replace("  b[i] =", """  float scale;
  if (a[i] > 1.5f) scale = 2;
  float part[3];
  for (int k = 0; k < 2; ++k) part[k] = a[i];
  if (part[i % 3] > 100) b[i] = 0;
  b[i] = scale *""")
        report, checks = self.checks(source, ["initialised"])
        told = {f["memory"]: f for f in checks["findings"]}
        self.assertEqual(set(told), {"scale", "part"})
        self.assertEqual({f["kind"] for f in checks["findings"]}, {"uninitialised_local"})
        self.assertEqual((told["scale"]["where"]["line"], told["part"]["where"]["line"]), (11, 10))
        self.assertEqual(told["part"]["element"], 2)
        self.assertIn("decides a branch", told["part"]["message"])
        self.assertIn("in element", told["scale"]["message"])
        self.assertTrue(checks["locals"]["ran"])
        self.assertGreater(checks["locals"]["compile_ms"], 0)

    def test_a_debug_build_that_does_not_run_leaves_the_other_findings(self):
        source = RIGHT.replace("__global__", "#ifdef __CUDACC_DEBUG__\n#error no\n#endif\n__global__")
        report, checks = self.checks(source.replace("b[i] =", "b[i] +="), ["initialised"])
        self.assertEqual([f["kind"] for f in checks["findings"]], ["uninitialised_global"])
        self.assertFalse(checks["locals"]["ran"])
        self.assertIn("-G", checks["notes"][0])

    def test_a_flag_in_shared_memory_that_is_an_atomic_is_no_race_and_a_plain_one_is(self):
        source = """#include <cuda/atomic>
__global__ void hands_over(const float* a, float* b) {
  __shared__ float tile[32]; __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
  int t = threadIdx.x;
  if (t == 0) ready.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  if (t < 32) {
    tile[t] = a[blockIdx.x * 128 + t];
    __syncwarp();
    if (t == 0) ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
  }
  b[blockIdx.x * 128 + t] = t < 32 ? 0 : tile[t & 31];
}"""
        report, checks = self.checks(source, ["races"])
        self.assertEqual((report["verdict"], checks["findings"]), ("passed", []))
        plain = source.replace("cuda::atomic<int, cuda::thread_scope_block> ready", "volatile int ready")
        for old, new in (("ready.store(0, cuda::memory_order_relaxed)", "ready = 0"),
                         ("ready.store(1, cuda::memory_order_release)", "ready = 1"),
                         ("ready.load(cuda::memory_order_acquire)", "ready")):
            plain = plain.replace(old, new)
        report, checks = self.checks(plain, ["races"])
        self.assertIn("tile", [f["memory"] for f in checks["findings"]])

    def test_a_kernel_that_waits_in_vain_is_not_built_again_to_wait_once_more(self):
        source = """#include <cuda/barrier>
__global__ void waits(const float* a, float* b) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x + 1);
  __syncthreads();
  bar.arrive_and_wait();
  b[blockIdx.x * 128 + threadIdx.x] = a[0];
}"""
        report, checks = self.checks(source)
        self.assertEqual(report["verdict"], "timed_out", report["summary"])
        self.assertIn("'bar'", report["summary"])
        self.assertIn("128 of 129", report["summary"])
        self.assertFalse(checks["locals"]["ran"])
        self.assertIn("waits for what never comes", str(checks["notes"]))

    def test_findings_of_a_kernel_that_crashes_are_kept(self):
        crashes = BROKEN.replace("tile[127 - threadIdx.x]", "tile[127 - threadIdx.x] + a[i + (1 << 24)]")
        report, checks = self.checks(crashes)
        self.assertEqual(report["verdict"], "crashed")
        self.assertTrue(checks["ran"])
        self.assertIn("ended early (faulted)", checks["notes"][0])

    def test_a_barrier_that_no_device_would_miss_makes_a_passed_kernel_suspect(self):
        # Warp 0 writes what the others read right after the barrier: as in softmax kernels that are in wide use.
        source = """__global__ void k(const float* a, float* out, int n) {
  __shared__ float first; int t = threadIdx.x;
  if (t == 0) first = a[0];
  __syncthreads();
  float v = first, s = 0;
  for (int i = 0; i < 50; ++i) s += a[i % n];
  if (t == 0) first = s;
  out[t] = v;
}"""
        io = {"args": [tensor("a", "input"), tensor("out", "output"), {"name": "n", "type": "int", "value": 256}],
              "launch": {"grid": 1, "block": 256}}
        reference = "__global__ void r(const float* a, float* out, int n) { out[threadIdx.x] = a[0]; }"
        kernel, ref = ({"source_code": text, "kernel_type": "cuda", "io": io} for text in (source, reference))
        report = self.server.call("evaluate", {"kernel": kernel, "ref_kernel": ref, "device": "emulator",
                                               "checks": ["races"]})["structuredContent"]
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"), report["summary"])
        self.assertIn("order_of_warps", [item["check"] for item in report["evidence"]])
        self.assertIn("shared_race", [f["kind"] for f in report["validation"]["checks"]["findings"]])

    def test_sums_by_atomics_without_a_reference_are_not_suspected(self):
        source = """__global__ void sum(const float* a, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(out, a[i % 256] * (1.0f + i * 1e-3f));
}"""
        total = {"name": "out", "type": "tensor", "role": "output",
                 "tensor_spec": {"shape": [1], "dtype": "float32", "init": {"kind": "zeros"}}}
        io = {"args": [tensor("a", "input"), total], "launch": {"grid": 256, "block": 256}}
        kernel = {"source_code": source, "kernel_type": "cuda", "io": io}
        for _ in range(3):
            report = self.server.call("evaluate", {"kernel": kernel, "device": "emulator", "rtol": 1e-3})["structuredContent"]
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
            told = [w["code"] for w in report["warnings"]]
            self.assertLessEqual(set(told), {"order_of_atomics"})

    def test_memory_alone_needs_no_further_run_and_no_checks_leave_no_trace(self):
        _, checks = self.checks(RIGHT, ["memory"])
        self.assertEqual((checks["ran"], checks["findings"]), (True, []))
        report = evaluate(self.server, RIGHT)["structuredContent"]
        self.assertNotIn("checks", report["validation"])
        self.assertNotIn("device_metrics", report)

    def test_memory_alone_tells_who_leaves_one_shared_array_for_another(self):
        source = RIGHT.replace("  __shared__", "  __shared__ float scale[4];\n  if (threadIdx.x < 4) scale[threadIdx.x] = 1;\n  __shared__")
        self.assertEqual(self.checks(source.replace("b[i] =", "b[i] = scale[i % 4] *"), ["memory"])[1]["findings"], [])
        report, checks = self.checks(source.replace("b[i] =", "b[i] = scale[i % 5] *"), ["memory"])
        told, = checks["findings"]
        self.assertEqual((told["kind"], told["memory"], told["element"], told["where"]["line"]),
                         ("out_of_bounds", "scale", 4, 8))

    def test_a_division_of_64_bits_is_told_at_its_own_line(self):
        source = RIGHT.replace("  b[i] =", """  long long wide = i, none = __float2int_rz(a[i]) - 1;  // a / b
  long long q = wide / none;
  q += 3;
  b[i] = q *""")
        report, checks = self.checks(source, ["numbers"])
        told, = checks["findings"]
        self.assertEqual((told["kind"], told["where"]["line"], told["count"]), ("division_by_zero", 7, 256))

    def test_a_library_that_reads_ahead_is_no_error_of_the_users(self):
        source = """#include <cub/block/block_merge_sort.cuh>
struct Less { __device__ bool operator()(const float& a, const float& b) const { return a < b; } };
__global__ void sorts(const float* a, float* b) {
  using Sort = cub::BlockMergeSort<float, 128, 1>;
  __shared__ typename Sort::TempStorage storage;
  float key[1] = {a[blockIdx.x * 128 + threadIdx.x]};
  Sort(storage).Sort(key, Less());
  b[blockIdx.x * 128 + threadIdx.x] = key[0];
}"""
        report, checks = self.checks(source, ["memory", "races", "initialised", "barriers"])
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertEqual([f for f in checks["findings"] if f["severity"] == "error"], [])

    def test_an_unknown_check_is_refused(self):
        result = evaluate(self.server, RIGHT, checks=["luck"])
        self.assertTrue(result["isError"])
        self.assertIn("/checks/0", result["content"][0]["text"])

    def test_counters_bear_the_names_of_nsight_compute_and_come_by_line_on_request(self):
        report = evaluate(self.server, RIGHT, device_metrics="on")["structuredContent"]
        metrics = report["device_metrics"]["metrics"]
        self.assertEqual(metrics["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"], 4)
        self.assertEqual(metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], 0)
        self.assertEqual(report["device_metrics"]["estimate"]["bound"], "memory")
        self.assertNotIn("lines", report["device_metrics"])
        strided = RIGHT.replace("a[i]", "a[threadIdx.x % 8 * 32]")
        report = evaluate(self.server, strided, device_metrics=["SourceCounters"])["structuredContent"]
        line = next(l for l in report["device_metrics"]["lines"] if l["where"]["line"] == 4)
        self.assertEqual(line["global_sectors"] / line["global_requests"], 8)
        self.assertTrue(line["irregular"])

    def test_a_line_has_the_distance_between_its_lanes(self):
        strided = RIGHT.replace("a[i]", "a[threadIdx.x * 2]")
        line = self.line(strided, 4)
        self.assertEqual(line["global_strides_bytes"], [8])
        self.assertEqual(line["global_sectors_per_request"], 8)
        self.assertNotIn("irregular", line)
        self.assertEqual(self.line(RIGHT, 4)["global_strides_bytes"], [4])
        self.assertEqual(self.line(RIGHT.replace("a[i]", "a[7]"), 4)["global_strides_bytes"], [0])

    def test_a_bound_without_a_cache_is_not_above_the_one_with_it(self):
        sparse = RIGHT.replace("a[i]", "(i < 32 ? a[i * 8] : 0) * 1.5f")
        estimate = evaluate(self.server, sparse, device_metrics="on")["structuredContent"]["device_metrics"]["estimate"]
        intensity = estimate["arithmetic_intensity"]
        self.assertLessEqual(intensity["low"], intensity["high"], estimate)

    def line(self, source, number):
        report = evaluate(self.server, source, device_metrics=["SourceCounters"])["structuredContent"]
        return next(l for l in report["device_metrics"]["lines"] if l["where"]["line"] == number)

    def test_counters_are_the_same_every_time(self):
        first, second = (evaluate(self.server, RIGHT, device_metrics="on")["structuredContent"] for _ in range(2))
        self.assertEqual(first["device_metrics"], second["device_metrics"])


if __name__ == "__main__":
    unittest.main()
