"""The lift on a real device: what Python sources launch, repeated without them.

    ASSAY=build/release/bin/assay python3 tests/gpu/check_lift.py        (on a machine with a GPU and torch)
"""

import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "end_to_end"), os.path.join(HERE, "..", "python")]
os.environ.setdefault("ASSAY", os.path.join(HERE, "..", "..", "build", "release", "bin", "assay"))
os.environ.setdefault("ASSAY_PYTHON", sys.executable)
from figures import tell  # noqa: E402
from lift_sources import CHEATED, CHEATS, KERNELS, LAUNCHES, LOOKED_AT, NO_GAIN  # noqa: E402
from torch_server import TorchServer, inputs, source  # noqa: E402


def lift_of(report):
    """What evidence says of the lift."""
    return next((item for item in report.get("evidence", []) if item["check"] == "lifted"), {"result": "", "detail": "no word of it"})


def body_of(server, report, stage):
    job = server.call("get_job", {"job_id": report["job_id"], "detail": "full"})["structuredContent"]
    return next(one["body"] for one in job["stages"] if one["name"] == stage)


def us(stats):
    return f"{stats['median_ns'] / 1e3:9.1f}" if stats and "median_ns" in stats else "        -"


class Lift(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()
        report = cls.server.judge(source("def f(x):\n    return x + x\n", io=inputs(), function_name="f"))
        print(f"first: {report['verdict']} {report['trust']} {lift_of(report)}", file=sys.stderr)
        if report["environment"]["device"] == "cpu":
            raise unittest.SkipTest("no GPU, or no torch for it")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_kernels_of_every_kind_are_lifted_and_timed_beside_their_calls_in_place(self):
        print("\n  kernel                      in place us      cold      warm     graph   ratio  job s  trust", file=sys.stderr)
        lifted = honest = 0
        for name, (kernel, reference, can, options) in KERNELS.items():
            with self.subTest(name):
                began = time.monotonic()
                report = self.server.judge(kernel, reference, num_trials=50, detail="full", **options)
                took = time.monotonic() - began
                timing = report.get("timing", {})
                place = timing.get("in_place", timing).get("per_call")
                told = lift_of(report)
                ratio = (report.get("speedup") or {}).get("ratio", 0)
                print(f"  {name:28}{us(place)}   {us(timing.get('cold'))} {us(timing.get('warm'))} {us(timing.get('graph'))} "
                      f"{ratio:7.3f} {took:6.2f}  {report['trust']}  "
                      f"{({k: round(v) for k, v in timing.get('lifted', {}).get('ms', {}).items()})} {told['detail'][:150]}", file=sys.stderr)
                kernels = next((one for one in report["evidence"] if one["check"] == "kernel_set"), None)
                if kernels:
                    print(f"    in place: {kernels['result']}: {kernels['detail'][:120]}", file=sys.stderr)
                self.assertFalse(kernels and told["result"] == "agrees", report["evidence"])
                self.assertEqual(report["verdict"], "passed", report["summary"])
                self.assertEqual((report["trust"], told["result"]), ("verified", "agrees") if can else ("audited", "unknown"), told)
                honest += can
                lifted += can and told["result"] == "agrees"
        tell("kernels lifted", f"{lifted} of {honest}", "all", lifted == honest)

    def test_what_cannot_be_trusted_is_not_lifted(self):
        io = inputs(shape=(1024, 1024))
        for name, text in CHEATS.items():
            with self.subTest(name):
                began = time.monotonic()
                report = self.server.judge(source(text, "multi_kernel", io, entry_point="run"), CHEATED)
                print(f"  {name}: {report['verdict']} {report['trust']}: {lift_of(report)['detail'][:170]} "
                      f"({time.monotonic() - began:.1f} s) {report['summary'][:120]}", file=sys.stderr)
                if name in NO_GAIN and report["trust"] == "verified":
                    # What it hopes for happens in no timed run: then there is nothing to catch.
                    cold, place = report["timing"]["cold"], report["timing"]["in_place"]["per_call"]
                    self.assertGreater(cold["median_ns"], 0.7 * place["median_ns"], report["timing"])
                else:
                    self.assertNotEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["evidence"])
                good = self.server.judge(source("def f(x):\n    return x + x\n", io=io, function_name="f"), until="validated")
                self.assertEqual(good["verdict"], "passed", good["summary"])

    def test_without_a_reference_the_repetition_must_give_the_sources_own_answers(self):
        report = self.server.judge(source("def f(x):\n    return (x * 3).tanh()\n", io=inputs(shape=(1 << 20,)), function_name="f"))
        self.assertEqual((report["verdict"], report["trust"], lift_of(report)["result"]), ("passed", "verified", "agrees"), report["evidence"])
        self.assertEqual(report["timing"]["lifted"]["launches"], 2)

    def test_other_kinds_of_launches_are_honoured_or_say_why_not(self):
        for name, (kernel, reference, must) in LAUNCHES.items():
            with self.subTest(name):
                report = self.server.judge(kernel, reference, num_trials=20)
                told = lift_of(report)
                print(f"  {name}: {report['verdict']} {report['trust']}: {told['detail'][:200]}", file=sys.stderr)
                self.assertEqual(report["verdict"], "passed", report["summary"])
                if must or report["trust"] == "verified":
                    self.assertEqual((report["trust"], told["result"]), ("verified", "agrees"), (told, report["warnings"]))
                    self.assertNotIn("graph_failed", [warning["code"] for warning in report["warnings"]])
                else:
                    # Said of the launch itself, and nothing speaks against the source.
                    self.assertEqual((report["trust"], told["result"]), ("audited", "unknown"), report["evidence"])
                    self.assertRegex(told["detail"], "launch attribute|cluster|does not take it|repetition failed")

    def test_what_is_lifted_has_counters_of_its_heaviest_launch(self):
        kernel, reference, launches = LOOKED_AT["right"]
        report = self.server.judge(kernel, reference, device_metrics="on", detail="full")
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        told = report["device_metrics"]["kernel"]
        print(f"  {told}; {({s['name']: round(s['ms']) for s in report['stages']})}", file=sys.stderr)
        self.assertEqual(told["launches"], launches)
        self.assertIn(told["launch"]["index"], range(launches))
        self.assertGreater(told["launch"]["share_pct"], 100 / launches - 1, "the heaviest has its share at least")
        self.assertIn(told["launch"]["kernel"], report["timing"]["lifted"]["kernels"])
        for side in ("original_device_metrics", "custom_device_metrics"):
            metrics = report["kernel_exec_result"]["metadata"]["device_metrics"][side]
            if "unavailable" in metrics:
                self.skipTest(metrics["unavailable"])
            self.assertGreater(metrics["speed_of_light"]["dram_throughput_pct"], 0, metrics)
            self.assertGreater(metrics["timing_metrics"]["gpu_time_duration_sum"], 100, metrics)
            self.assertGreater(metrics["occupancy_metrics"]["registers_per_thread"], 0, metrics)
            self.assertIn(metrics["limiter"], ("memory", "compute", "latency", "occupancy", "launch"))

    def test_what_is_lifted_is_checked_by_compute_sanitizer(self):
        wanted = ["memory", "races", "initialised", "barriers"]
        for name, kinds in (("right", set()), ("mistaken", {"shared_race", "out_of_bounds"})):
            kernel, reference, _ = LOOKED_AT[name]
            report = self.server.judge(kernel, reference, checks=wanted, until="timed")
            self.assertEqual(report["verdict"], "passed", report["summary"])
            checks = report["validation"]["checks"]
            if "reason" in checks["sanitizer"]:
                self.assertEqual((checks["ran"], checks["notes"]), (False, ["Nothing was looked at: " + checks["sanitizer"]["reason"]]))
                self.skipTest(checks["sanitizer"]["reason"])
            print(f"  {name}: {checks['sanitizer']['tools']}; {checks['findings']}", file=sys.stderr)
            self.assertEqual([tool["ran"] for tool in checks["sanitizer"]["tools"]], [True] * 4, checks)
            found = {finding["kind"] for finding in checks["findings"]}
            # What lies beyond an input may be an output that nobody has written yet.
            self.assertTrue(kinds <= found <= kinds | ({"uninitialised_global"} if kinds else set()), checks)
            self.assertTrue(all(finding["kernel"] == "mistaken" for finding in checks["findings"]), checks)
            self.assertEqual("Checks found" in report["summary"], bool(kinds), report["summary"])

    def test_what_a_lift_adds_to_a_job(self):
        took = []
        for attempt in range(5):
            text = f"def f(x):\n    return x * 2.0 + {attempt}\n"
            began = time.monotonic()
            report = self.server.judge(source(text, io=inputs(shape=(1 << 20,)), function_name="f"), num_trials=100, detail="full")
            took.append(1e3 * (time.monotonic() - began))
        stages = {stage["name"]: round(stage["ms"]) for stage in report["stages"]}
        print(f"  took {[round(one) for one in took]} ms, of the lift {report['timing'].get('lifted', {}).get('ms')}", file=sys.stderr)
        median = sorted(took)[2]
        print(f"  {stages}; of the repetition's timing {body_of(self.server, report, 'timed').get('spent_ms')}", file=sys.stderr)
        tell("warm evaluate of a torch function, lifted", f"p50 {median:.0f} ms", "600 ms", median <= 600)


if __name__ == "__main__":
    unittest.main(verbosity=2)
