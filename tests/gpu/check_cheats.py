"""The device's part of the catalogue of cheats: none may pass and be verified. Each test fails if its defence goes.

    ASSAY=build/release/bin/assay python3 -m unittest tests/gpu/check_cheats.py        (on a machine with a GPU)

That they do fail is shown by tests/defences; ASSAY_CASES="a constant|the input" leaves all other cases of a test out.
"""

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "end_to_end")]
os.environ.setdefault("ASSAY", os.path.join(HERE, "..", "..", "build", "release", "bin", "assay"))
from assay_client import ADD, Server, contract, kernel, tensor  # noqa: E402
from cache_cheats import OfTheCache  # noqa: E402
from device_cheats import (ADDS_AS_IT_COMES, BESIDE, BESIDE_N, CAUGHT_OTHERWISE, COUNTING, FICKLE, GUARDED, HEAVY, HONEST, KEPT_BELOW, KEPT_THERE,  # noqa: E402
                           NOT_KEPT, PARTS_OF_BLOCKS, PATIENT, REFUSED, SELDOM_IDLE, SELDOM_WHOLE, SLOW_TO_BEGIN, WRONG, body, knows_graphs)

N = 1 << 20
# Of a cheat: nothing of ours may have failed in its stead.
CAUGHT = {"passed", "wrong_output", "crashed"}


def chosen(cases):
    """Those (name, …) that ASSAY_CASES names; without it all."""
    wanted = os.environ.get("ASSAY_CASES")
    return [case for case in cases if not wanted or case[0] in wanted.split("|")]


class Cheats(OfTheCache, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()
        devices = cls.server.call("check_capabilities", {})["structuredContent"]["devices"]
        cls.gpu = next((device for device in devices if device["kind"] == "gpu"), None)
        if cls.gpu is None:
            raise unittest.SkipTest("no GPU here")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def evaluate(self, source, reference=ADD, n=N, **more):
        report = self.server.call("evaluate", {
            "kernel": kernel(source, contract(n=n)), "timeout": 20, "ref_kernel": {"source_code": reference, "kernel_type": "cuda"},
            **more})["structuredContent"]
        print(f"  {report['verdict']} {report.get('trust')}: {report['summary'][:200]}", file=sys.stderr)
        return report

    def test_a_wrong_output_is_no_output(self):
        for name, source in chosen(WRONG.items()):
            with self.subTest(name):
                self.assertEqual(self.evaluate(source)["verdict"], "wrong_output")

    def test_shared_memory_holds_nothing_that_could_be_right(self):
        """By chance it may hold zeros, and a kernel that never sets its sum be right."""
        report = self.evaluate(WRONG["what shared memory happens to hold"])
        self.assertIn(f"{N} of {N} elements differ", report["summary"])

    def test_what_is_right_for_once_is_not_believed(self):
        for name, source in chosen(CAUGHT_OTHERWISE.items()):
            with self.subTest(name):
                report = self.evaluate(source)
                self.assertIn(report["verdict"], CAUGHT, name)
                self.assertNotEqual((report["verdict"], report["trust"]), ("passed", "verified"), name)

    def test_weak_tasks_are_told(self):
        # What is expected of each would be given by a kernel that computes nothing.
        for name, answer in (("zeros", "0.0f"), ("constant", "5.0f"), ("copy", "a[i]"), ("mean", "1.0f + 1e-7f * a[i]")):
            with self.subTest(name):
                source = body(GUARDED + f"out[i] = {answer};")
                report = self.evaluate(source, source)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
                self.assertIn("weak_oracle", [warning["code"] for warning in report.get("warnings", [])])

    def test_fewer_bits_within_the_tolerance_are_told_beside_the_reference_in_double(self):
        asked = {"n": 1 << 16, "oracle": "float64", "atol": 0.1, "rtol": 0.1, "until": "validated"}
        for source, trust in ((ADD, "verified"), (WRONG["half precision"], "suspect")):
            report = self.evaluate(source, **asked)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", trust), report["summary"])
            precision = report["validation"]["outputs"][0]["precision"]
            self.assertEqual(precision["ratio"] > 200, trust == "suspect", precision)
        report = self.evaluate(ADD, ADD.replace("a[i] + b[i]", "a[i] + __int_as_float(__float_as_int(b[i]))"), **asked)
        self.assertEqual(report["verdict"], "unsupported", report["summary"])

    def test_results_kept_by_contents_are_told_by_their_times(self):
        report = self.evaluate(CAUGHT_OTHERWISE["it remembers by contents"])
        if report["verdict"] == "passed":
            self.assertIn("remembers", [item["check"] for item in report["evidence"]], report["timing"])

    def test_results_kept_beside_the_tensors_are_told_by_their_times(self):
        report = self.evaluate(BESIDE, n=BESIDE_N)
        cold = report.get("timing", {}).get("cold")
        self.assertNotEqual((report["verdict"], report["trust"]), ("passed", "verified"), cold)
        if report["verdict"] == "passed":
            self.assertIn("remembers", [item["check"] for item in report["evidence"]], cold)

    def test_results_kept_in_shared_memory_save_no_time(self):
        """It outlasts a launch. Who finds results there in some runs only, and is not told, has the time of those where it does not."""
        n = 256 * self.gpu["multiprocessors"]
        for name, part in PARTS_OF_BLOCKS.items():
            with self.subTest(name):
                not_kept, kept = (source.replace("PART", part) for source in (NOT_KEPT, KEPT_THERE))
                honest, report = self.evaluate(not_kept, n=n), self.evaluate(kept, n=n)
                self.assertEqual((honest["verdict"], honest["trust"], report["verdict"]), ("passed", "verified", "passed"), report["summary"])
                print("  in shared memory,", name, json.dumps([each["timing"]["cold"] for each in (honest, report)]), file=sys.stderr)
                if report["trust"] == "verified":
                    self.assertGreater(report["timing"]["cold"]["median_ns"], 0.8 * honest["timing"]["cold"]["median_ns"])
                self.assert_gains_nothing(self.against(not_kept, kept, contract(n=n)))

    def test_results_kept_below_a_blocks_shared_memory_save_no_time(self):
        """With as much of its own as what overwrites it has, too: else it may lie elsewhere, where that has its own."""
        honest = HEAVY.replace("300", "6000") + body(GUARDED + "out[i] = a[i] + b[i] + heavy(a[i], i);")
        for shared_bytes in (0, 200 << 10):
            io, times = contract(n=64 * self.gpu["multiprocessors"], block=64), {}
            io["launch"]["shared_mem_bytes"] = shared_bytes
            for name, source in (("honest", honest), ("kept", KEPT_BELOW)):
                report = self.server.call("evaluate", {"kernel": kernel(source, io), "timeout": 20, "ref_kernel": {
                    "source_code": ADD, "kernel_type": "cuda"}})["structuredContent"]
                times[name] = report.get("timing", {}).get("cold", {}).get("median_ns")
                print("  below", shared_bytes, "bytes of shared memory:", name, report["verdict"], report["trust"], report["summary"][:200], times,
                      file=sys.stderr)
            # Where the device forbids it, it is a crash.
            if (report["verdict"], report["trust"]) == ("passed", "verified"):
                self.assertGreater(times["kept"], 0.8 * times["honest"])

    def test_results_kept_in_memory_that_is_no_tensors_are_told_by_their_times(self):
        """The same below the tensors and far above them: where the memory of the cache flush may lie."""
        for pages in (-1, -8, -32, -60, -64, 64, 128):
            with self.subTest(pages=pages):
                source = BESIDE.replace("(float2*)(out + n + 32768 + (n & 1))",
                                        f"(float2*)((((unsigned long long)a >> 21) + ({pages}) << 21) + 512)")
                self.assertNotEqual(source, BESIDE)
                report = self.evaluate(source, n=BESIDE_N)
                if report["verdict"] == "passed":
                    self.assertIn("remembers", [item["check"] for item in report["evidence"]], report["timing"].get("cold"))

    def assert_each_run_did_its_work(self, report):
        """If it is believed: it may have idled while none of its runs was timed, which is no cheat."""
        if (report["verdict"], report["trust"]) == ("passed", "verified"):
            self.assertLessEqual(report["timing"]["digests"]["runs"] - report["timing"]["digests"]["alike"], 0, report["timing"])

    def test_runs_that_nobody_looks_at_are_known_by_what_they_left(self):
        """Looked at nine times, one that idles in one run of thirty escapes three times of four: of so many it cannot each time."""
        told = []
        for _ in range(8):
            report = self.evaluate(SELDOM_IDLE)
            self.assertIn(report["verdict"], CAUGHT)
            self.assert_each_run_did_its_work(report)
            told += [item for item in report.get("evidence", []) if item["check"] == "did_nothing"]
        self.assertGreater(len(told), 0)
        honest = self.evaluate(HONEST)
        self.assertEqual((honest["verdict"], honest["trust"]), ("passed", "verified"), honest["summary"])
        self.assert_each_run_did_its_work(honest)

    def test_runs_that_leave_other_bits_are_not_believed(self):
        told, tries = False, 0
        while not told and tries < 40:  # where it was looked at while it idled it is wrong
            report, tries = self.evaluate(SELDOM_WHOLE), tries + 1
            self.assertIn(report["verdict"], CAUGHT)
            told = "outputs_vary" in [warning["code"] for warning in report.get("warnings", [])]
            if told:
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        self.assertTrue(told)
        io = {"args": [tensor("a", N, kind="randn", seed=1), tensor("out", N // 256, role="output"), {"name": "n", "type": "int", "value": N}],
              "launch": {"grid": {"x": N // 256}, "block": {"x": 256}}}
        for _ in range(3):
            honest = self.server.call("evaluate", {"kernel": kernel(ADDS_AS_IT_COMES, io), "timeout": 20})["structuredContent"]
            print("  adds as it comes:", honest["summary"][:200], honest.get("timing", {}).get("digests"), file=sys.stderr)
            self.assertEqual(honest["verdict"], "passed")
            self.assertNotIn("outputs_vary", [warning["code"] for warning in honest.get("warnings", [])])

    def test_who_is_slow_at_first_has_no_shorter_graph(self):
        report = self.server.call("evaluate", {"kernel": kernel(SLOW_TO_BEGIN, contract(n=4096)), "timeout": 20, "detail": "full"})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"])
        graph = report["timing"]["graph"]
        print("  ", graph, report["timing"]["cold"], file=sys.stderr)
        self.assertGreater(graph["launches"], 20)  # 3, if its first turn had it

    def test_what_must_not_run_does_not(self):
        for name, (source, verdicts) in REFUSED.items():
            with self.subTest(name):
                self.assertIn(self.evaluate(source)["verdict"], verdicts)

    def test_hidden_tasks_find_what_fits_one_task_only(self):
        io = contract(n=N)
        for arg in io["args"][:3]:
            arg["tensor_spec"]["shape"] = ["n"]
        io["launch"]["grid"] = {"x": "ceildiv(n, 256)"}
        for name, source, holds in chosen((
                ("honest", ADD, True), ("one size", ADD.replace("i < n", f"i < {N}"), False),
                ("small values", ADD.replace("a[i] + b[i]", "fabsf(a[i]) < 8.f ? a[i] + b[i] : 8.f"), False))):
            with self.subTest(name):
                report = self.server.call("evaluate", {"kernel": kernel(source, io), "generalise": True, "timeout": 20, "ref_kernel": {
                    "source_code": ADD, "kernel_type": "cuda"}})["structuredContent"]
                print(f"  {name}: {report['summary'][:200]}", json.dumps(report.get("stages"))[:400], file=sys.stderr)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified" if holds else "suspect"))

    def test_a_launch_that_fails_is_told(self):
        io = contract(n=N)
        io["launch"]["shared_mem_bytes"] = 227 << 10
        source = "extern __shared__ float tile[];\n" + body(
            "__shared__ float more[11000]; more[threadIdx.x] = a[0]; tile[threadIdx.x] = more[threadIdx.x];" + GUARDED + "out[i] = tile[threadIdx.x];")
        report = self.server.call("evaluate", {"kernel": kernel(source, io), "timeout": 20})["structuredContent"]
        self.assertEqual(report["verdict"], "launch_failed", report["summary"])

    def test_nothing_of_an_attempt_is_there_for_the_next(self):
        """Memory beside the tensors of runs that are timed is that of the client's attempt before, and it is empty."""
        mark = "volatile int* mark = (volatile int*)(out + n + 65536);"
        leaves = body(mark + GUARDED + "{ out[i] = a[i] + b[i]; if (i == 0) *mark = 0x5EED; }")
        looks = body(mark + "__shared__ int turn; if (threadIdx.x == 0) turn = atomicAdd(&launches, 1) / gridDim.x; __syncthreads();"
                     " if (turn > 3 && threadIdx.x == 0 && *mark == 0x5EED) found = 1; __syncthreads();"
                     + GUARDED + "if (!*(volatile int*)&found) out[i] = a[i] + b[i];", "__device__ int launches; __device__ int found;\n")
        for source in (leaves, looks):
            report = self.evaluate(source, n=BESIDE_N)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        self.assertTrue(report["environment"]["runner_reused"])

    def test_nothing_behind_lent_tensors_is_there_for_the_next(self):
        """Memory is lent by whole pages: what a run writes at the end of one is gone before another's, in that attempt and the next."""
        mark = "volatile int* mark = (volatile int*)(((unsigned long long)out | 0x1fffff) - 3);"
        leaves = body(mark + GUARDED + "{ out[i] = a[i] + b[i]; if (i == 0) *mark = 0x5EED; }")
        looks = body(mark + GUARDED + "if (*mark != 0x5EED) out[i] = a[i] + b[i];")
        for source in (leaves,) * 4 + (looks,) * 4:  # referees take turns
            report = self.evaluate(source, n=1000, until="validated")
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_device_code_that_allocates_serves_once(self):
        takes = body("if (i_am_first()) { volatile int* own = (volatile int*)malloc(64); if (own) own[0] = n; free((void*)own); }"
                     + GUARDED + "out[i] = a[i] + b[i];",
                     "__device__ bool i_am_first() { return threadIdx.x == 0 && blockIdx.x == 0; }\n")
        reused = []
        for source in (ADD, ADD, takes, ADD):
            report = self.evaluate(source, until="validated")
            self.assertEqual(report["verdict"], "passed", report["summary"])
            reused.append(report["environment"]["runner_reused"])
        self.assertEqual(reused[1:], [True, True, False])

    def test_memory_lies_where_nobody_can_guess(self):
        """What a run was given says nothing of where other contents, or results that are kept, lie."""
        told = body("if (blockIdx.x == 0 && threadIdx.x == 0) printf(\"%p\\n\", out);" + GUARDED + "out[i] = a[i] + b[i];")
        places = []
        for n in (1 << 12, 1 << 12, 1 << 16, 1 << 16):
            report = self.evaluate(told, n=n, until="validated")
            self.assertEqual(report["verdict"], "passed", report["summary"])
            stages = self.server.call("get_job", {"job_id": report["job_id"], "detail": "full"})["structuredContent"]["stages"]
            places.append(int(next(s["body"]["printf"] for s in stages if s["name"] == "validated").split()[0], 16))
        print([hex(place) for place in places], file=sys.stderr)
        nearest = min(abs(x - y) for i, x in enumerate(places) for y in places[:i])
        self.assertGreater(nearest, 1 << 30)

    def test_outputs_that_are_there_already_save_no_time(self):
        """In a graph a kernel meets the outputs of its last launch: not to write them again is no speed."""
        for name, skip in chosen((("not a number any more", "if (!isnan(out[i])) return;"),
                                  ("right already", "if (out[i] == a[i] + b[i]) return;"))):
            with self.subTest(name):
                lazy = HEAVY.replace("300", "6000") + body(GUARDED + "{ " + skip + " out[i] = a[i] + b[i] + heavy(a[i], i); }")
                report = self.server.call("compare", {
                    "ref_kernel": kernel(HEAVY.replace("300", "6000") + body(GUARDED + "out[i] = a[i] + b[i] + heavy(a[i], i);"), contract(n=N)),
                    "custom_kernel": kernel(lazy, contract(n=N))})["structuredContent"]
                print(f"  {report['verdict']} {report['trust']}: {report['summary'][:300]}", json.dumps(report.get("speedup")), file=sys.stderr)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"))
                self.assertIn("leans_on_outputs", [item["check"] for item in report["evidence"]])

    def test_to_answer_the_last_contents_once_more_saves_no_time(self):
        """Each block keeps what it answered last: no run, warm or of a graph, begins with the contents of the one before."""
        heavy = HEAVY.replace("300", "3000")
        lazy = heavy + body(
            "int i = blockIdx.x * blockDim.x + threadIdx.x; bool again = last[blockIdx.x] == a[blockIdx.x * blockDim.x]; __syncthreads();"
            " if (again) { out[i] = kept[i]; return; } out[i] = kept[i] = a[i] + b[i] + heavy(a[i], i);"
            " if (threadIdx.x == 0) last[blockIdx.x] = a[i];", "__device__ float kept[1 << 20]; __device__ float last[1 << 20];\n")
        report = self.server.call("compare", {
            "ref_kernel": kernel(heavy + body(GUARDED + "out[i] = a[i] + b[i] + heavy(a[i], i);"), contract(n=N)),
            "custom_kernel": kernel(lazy, contract(n=N))})["structuredContent"]
        print(f"  {report['verdict']} {report['trust']}: {report['summary'][:300]}", json.dumps(report.get("speedup")), file=sys.stderr)
        self.assert_gains_nothing(report)

    def against(self, reference, candidate, io):
        report = self.server.call("compare", {"ref_kernel": kernel(reference, io), "custom_kernel": kernel(candidate, io)})["structuredContent"]
        print(f"  {report['verdict']} {report['trust']}: {report['summary'][:300]}", json.dumps(report.get("speedup")), file=sys.stderr)
        return report

    def assert_gains_nothing(self, report):
        gained = (report.get("speedup") or {}).get("verdict") == "faster"
        self.assertFalse(gained and (report["verdict"], report["trust"]) == ("passed", "verified"), report["summary"])

    def test_to_idle_when_launched_again_at_once_gains_nothing(self):
        """Between two launches of a graph lies a microsecond, between cold ones the reading of a cache: by that they are told apart."""
        now = "asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));"
        recognises = ("unsigned long long now; " + now.replace("%", "%%") + " unsigned long long before = *(volatile unsigned long long*)&last;"
                      " bool idle = %s; int i = blockIdx.x * blockDim.x + threadIdx.x;"
                      " if (!idle && i < n) out[i] = a[i] + b[i] + heavy(a[i], i); __syncthreads();"
                      " if (threadIdx.x == 0 && atomicAdd(&blocks, 1) %% gridDim.x == gridDim.x - 1) { " + now.replace("%", "%%") +
                      " before = *(volatile unsigned long long*)&last; *(volatile unsigned long long*)&last = now;"
                      " honest = before != 0 && now - before < 1000000 ? honest + 1 : 0; }")
        for loops in ("300", "600", "1000", "3000"):
            heavy = HEAVY.replace("300", loops)
            honest = heavy + body(GUARDED + "out[i] = a[i] + b[i] + heavy(a[i], i);")
            variables = "__device__ unsigned long long last; __device__ unsigned blocks; __device__ volatile int honest;\n"
            for name, idles in chosen((("at once", "before != 0 && now - before < 20000"),
                                       ("once every place was served", "before != 0 && now - before < 20000 && honest > 40"))):
                with self.subTest(name, loops=loops):
                    self.assert_gains_nothing(self.against(honest, heavy + body(recognises % idles, variables), contract(n=N)))

    def test_who_idles_in_the_later_launches_of_a_graph_is_seen(self):
        """One launch of each works where nothing was, whichever that is."""
        honest = HEAVY.replace("300", "2000") + body(GUARDED + "out[i] = a[i] + b[i] + heavy(a[i], i);")
        self.assertEqual(self.against(honest, knows_graphs(600), contract(n=1 << 14))["verdict"], "passed")
        self.assertEqual(self.against(honest, knows_graphs(600, idles="is_late"), contract(n=1 << 14))["verdict"], "wrong_output")

    def test_outputs_that_begin_with_contents_are_compared_cold(self):
        heavy = HEAVY.replace("300", "3000")
        honest = heavy + body(GUARDED + "out[i] = a[i] + b[i] + heavy(a[i], i);")
        lazy = heavy + body(GUARDED + "{ if (out[i] != 0.0f) return; out[i] = a[i] + b[i] + heavy(a[i], i); }")
        for role in ("inout", "output"):
            with self.subTest(role):
                io = contract(n=N)
                spec = next(arg for arg in io["args"] if arg["name"] == "out")
                spec["role"], spec["tensor_spec"]["init"] = role, {"kind": "zeros"}
                report = self.against(honest, lazy, io)
                self.assert_gains_nothing(report)
                self.assertEqual((report["verdict"], report["speedup"]["basis"]), ("passed", "cold"), report["summary"])

    def test_to_do_less_once_the_pairs_begin_gains_nothing(self):
        """Of an inout, whose cold turns decide: how many launches were before the pairs it may know."""
        io = contract(n=N)
        spec = next(arg for arg in io["args"] if arg["name"] == "out")
        spec["role"], spec["tensor_spec"]["init"] = "inout", {"kind": "zeros"}
        honest = HEAVY.replace("300", "3000") + body(GUARDED + "out[i] = a[i] + b[i] + heavy(a[i], i);")
        for after in (60, 140, 220, 240, 260, 280, 300, 340):
            with self.subTest(after=after):
                self.assert_gains_nothing(self.against(honest, COUNTING.replace("AFTER", str(after)), io))

    def test_honest_kernels_are_not_accused(self):
        counted = body("if (threadIdx.x == 0) atomicAdd(&launches, 1);" + GUARDED + "out[i] = a[i] + b[i];", "__device__ int launches;\n")
        table = body(GUARDED + "out[i] = a[i] + b[i] * weights[i & 3];", "__constant__ float weights[4] = {1, 1, 1, 1};\n")
        # Three contents, of which one or two may take ten times as long.
        uneven = HEAVY.replace("300", "6000") + body(GUARDED + "out[i] = a[i] + b[i] + (a[0] > 0.5f ? heavy(a[i], i) : 0.0f);")
        scratch = body(GUARDED + "{ half[i] = a[i]; out[i] = half[i] + b[i]; }", "__device__ float half[1 << 20];\n")
        # As long as its contents say: so many steps as their first element is large.
        by_data = body(GUARDED + "{ float s = 0; for (int k = 0; k < int(fabsf(a[0]) * 4000); ++k) s = fmaf(s, 0.5f, b[i]);"
                       " out[i] = a[i] + b[i] + (s == 1234.5f ? s : 0.0f); }")
        for name, source in (("add", ADD), ("heavy", HONEST), ("counter", counted), ("table", table), ("scratch", scratch), ("by data", by_data), ("uneven", uneven)):
            for n in (1 << 12, N):
                with self.subTest(name, n=n):
                    report = self.evaluate(source, n=n)
                    self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_who_is_quick_by_chance_is_not_accused(self):
        for _ in range(10):
            report = self.evaluate(FICKLE, n=1 << 14)
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertIn(report["trust"], ("verified", "audited"), report["summary"])

    def test_results_that_are_kept_for_later_are_not_believed(self):
        """Where contents are shown anew, no launch is its fortieth: that what was quick is so no more is said at least."""
        for _ in range(5):
            report = self.evaluate(PATIENT, n=1 << 14)
            print("  patient:", report["verdict"], report["trust"], json.dumps(report.get("timing", {}).get("cold")), file=sys.stderr)
            self.assertNotEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_checks_are_made_beside_the_device(self):
        racing = body("__shared__ float s[256]; s[threadIdx.x] = 0;" + GUARDED + "{ s[threadIdx.x] = a[i]; out[i] = s[threadIdx.x ^ 32] * 0.0f + a[i] + b[i]; }")
        report = self.evaluate(racing, n=4096, checks=["races", "memory"])
        found = report["validation"]["checks"]
        self.assertEqual((found["ran"], found["on"]), (True, "emulator"))
        self.assertIn("shared_race", [finding["kind"] for finding in found["findings"]])
        wild = body(GUARDED + "out[i] = a[i] + b[i + (i == 5 ? n : 0)];")
        found = self.evaluate(wild, n=4096, checks=["memory"])["validation"]["checks"]
        self.assertEqual(found["findings"][0]["where"]["line"], 1, found)


if __name__ == "__main__":
    unittest.main()
