"""Hardware counters on a device: what limits a kernel, values or why there are none, and what is told without them.
check_gpu.py has these tests too, on its own server.

    ASSAY=build/release/bin/assay python3 tests/gpu/check_counters.py
"""

import glob
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from device_case import GUARDED, MILLION, DeviceCase, add_of, body  # noqa: E402
from assay_client import ADD, Server, kernel  # noqa: E402
from figures import tell  # noqa: E402


def cupti():
    """A CUPTI as the server would find it, or None."""
    folders = [os.environ.get("ASSAY_CUDA_DIR", ""), os.environ.get("CUDA_HOME", ""), *sorted(glob.glob("/usr/local/cuda*"), reverse=True),
               *glob.glob(os.path.expanduser("~/.local/share/assay/cuda/nvidia/cu1*")),
               *(found for place in sys.path for found in glob.glob(os.path.join(place, "nvidia", "cu1*")))]
    for folder in filter(None, folders):
        for part in ("lib64", "lib", "targets/x86_64-linux/lib", "extras/CUPTI/lib64"):
            if found := sorted(glob.glob(os.path.join(folder, part, "libcupti.so*"))):
                return found[0]
    return None


class Counters(DeviceCase):
    def test_counters_say_what_limits_a_kernel(self):
        n = 1 << 24
        busy = body(GUARDED + "{ float s = a[i], t = b[i]; for (int k = 0; k < 4096; ++k) { s = fmaf(s, 0.999f, t); t = fmaf(t, 0.5f, s); }"
                    " out[i] = s + t; }")
        for source, size, limiter in ((ADD, n, "memory"), (busy, MILLION, "compute"), (ADD, 1000, "launch")):
            report = self.evaluate(source, size, device_metrics="on", timeout=60)
            self.assertEqual(report["verdict"], "passed", report["summary"])
            told = report["device_metrics"]["kernel"]
            metrics = report["kernel_exec_result"]["metadata"]["device_metrics"]["original_device_metrics"]
            print(limiter, json.dumps(told), metrics["passes"], "passes", round(metrics["setup_ms"]), "+",
                  round(metrics["counting_ms"]), "ms", file=sys.stderr)
            self.assertEqual(told["limiter"], limiter)
            self.assertNotIn("unavailable", told)
            self.assertEqual((told["basis"], told["confidence"]), ("timing" if limiter == "launch" else "counters", "high"))
            self.assertEqual(set(metrics["sections"]), {"speed_of_light", "detailed_metrics", "occupancy_metrics", "timing_metrics"})
            parts = [metrics["runner_ms"], metrics["setup_ms"], metrics["counting_ms"]]
            tell("default counters" + (", first of the server" if limiter == "memory" else ""),
                 f"{metrics['passes']} passes, {' + '.join(f'{part:.0f}' for part in parts)} ms of a stage of "
                 f"{next(stage['ms'] for stage in report['stages'] if stage['name'] == 'profiled'):.0f}", "1200 ms", sum(parts) <= 1200)

    def test_every_counter_has_a_value_or_says_why_not(self):
        strided = body(GUARDED + "out[i] = a[(i & 31) * (n / 32) + i / 32];")
        for source, loads, in_vain, flops in ((ADD, 4, 0, 1), (strided, 32, 28 / 36, 0)):
            n = 1 << 24
            report = self.evaluate(source, n, device_metrics="all", timeout=60, detail="full")
            self.assertEqual(report["verdict"], "passed", report["summary"])
            metadata = report["kernel_exec_result"]["metadata"]
            metrics = metadata["device_metrics"]["original_device_metrics"]
            print(json.dumps(metrics), json.dumps(metadata["resources"]), file=sys.stderr)
            nulls = {f"{section}.{key}" for section, values in metrics.items() if section.endswith(("_metrics", "_light"))
                     for key, value in values.items() if value is None}
            self.assertEqual(set(metrics.get("why_null", {})), nulls)
            access, reached = metrics["access_pattern_metrics"], metrics["roofline_metrics"]
            self.assertAlmostEqual(access["l1_load_sectors_per_req"], loads, delta=0.01 * loads)
            self.assertAlmostEqual(access["l2_excess_frac"], in_vain, delta=0.02)
            self.assertAlmostEqual(reached["flop_count_total"], flops * n, delta=0.001 * n)
            self.assertAlmostEqual(reached["dram_bytes_read_sum"] + reached["dram_bytes_write_sum"], reached["dram_bytes_sum"],
                                   delta=0.05 * reached["dram_bytes_sum"])
            self.assertEqual(metrics["compute_metrics"]["registers_per_thread"], metadata["resources"]["registers"])
            self.assertTrue(metadata["resources"]["occupancy"]["limited_by"])
        tell("all sections", f"{metrics['passes']} passes, {metrics['setup_ms']:.0f} + {metrics['counting_ms']:.0f} ms")

    def test_without_counters_the_launch_and_the_contract_say_what_there_is(self):
        library = cupti()
        if not library:
            self.skipTest("no CUPTI here")
        # As an old CUPTI is: it records launches, and profiles none.
        old = open(library, "rb").read().replace(b"\0cuptiRangeProfilerEnable\0", b"\0cuptiRangeProfilerXnable\0")
        for content, records in ((old, True), (b"no library", False)):
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(os.path.join(folder, "lib"))
                with open(os.path.join(folder, "lib", "libcupti.so.13"), "wb") as file:
                    file.write(content)
                with Server(env={"ASSAY_CUDA_DIR": folder}) as server:
                    report = server.call("evaluate", {"kernel": kernel(ADD, add_of(1 << 24)), "device_metrics": "on", "timeout": 30})
            report = report["structuredContent"]
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertIn("no_counters", [warning["code"] for warning in report["warnings"]])
            told = report["device_metrics"]["kernel"]
            metrics = report["kernel_exec_result"]["metadata"]["device_metrics"]["original_device_metrics"]
            print("without counters:", json.dumps(told), file=sys.stderr)
            self.assertEqual((told["limiter"], told["basis"]), ("memory", "computed"), told)
            self.assertGreater(told["floor"]["gb_s"], 1000)
            self.assertGreater(metrics["occupancy_metrics"]["registers_per_thread"], 0)
            self.assertIsNone(metrics["speed_of_light"]["sm_throughput_pct"])
            self.assertEqual("unavailable" in told["activity"], not records, told["activity"])
            if records:
                # As allocated, by eights.
                self.assertEqual(told["activity"]["registers_per_thread"], -(-metrics["occupancy_metrics"]["registers_per_thread"] // 8) * 8)
                self.assertEqual(told["activity"]["launches"], 5)
                cold = report["timing"]["cold"]["median_ns"]
                self.assertLess(abs(told["activity"]["median_ns"] / cold - 1), 0.2, (told["activity"], cold))
                tell("a launch by CUPTI's records, no counters", f"{told['activity']['median_ns'] * 1e-3:.1f} us, cold between events {cold * 1e-3:.1f}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
