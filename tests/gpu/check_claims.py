"""What a kernel's times are held against on a device: a host's clock, the memory's rate, the device's own clock.
check_gpu.py has these tests too, on its own server.

    ASSAY=build/release/bin/assay python3 tests/gpu/check_claims.py
"""

import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from device_case import GUARDED, MILLION, DeviceCase, add_of, body  # noqa: E402
from assay_client import ADD, kernel, tensor  # noqa: E402
from figures import tell  # noqa: E402


def timing_samples(server, report):
    uri = next(artifact["uri"] for artifact in report["artifacts"] if artifact["name"] == "samples")
    answer = server.answer(server.send("resources/read", {"uri": uri}))
    return json.loads(answer["result"]["contents"][0]["text"])["samples_ns"]


class Claims(DeviceCase):
    def test_what_a_time_is_held_against_is_told_and_accuses_no_honest_kernel(self):
        many = 1 << 26
        fill = "__global__ void fill(float4* out, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n / 4) out[i] = {1, 2, 3, 4}; }"
        gather = ("__global__ void gather(const float* table, const int* at, float* out, int n) {"
                  " int i = blockIdx.x * 256 + threadIdx.x; if (i < n) out[i] = table[(at[i] & 0x7fffffff) %% %d]; }" % many)
        busy = body(GUARDED + "{ float s = a[i]; for (int k = 0; k < 20000; ++k) s = fmaf(s, 0.999f, b[i]); out[i] = s; }")
        number = {"name": "n", "type": "int", "value": many}
        kernels = {
            "add of 1 Mi": (ADD, add_of(MILLION)),
            "add of 16 Mi": (ADD, add_of(1 << 24)),
            "fill of 64 Mi": (fill, {"args": [tensor("out", many, role="output"), number], "launch": {"grid": {"x": many // 1024}, "block": {"x": 256}}}),
            "gather of 1,000 in 64 Mi": (gather, {
                "args": [tensor("table", many, kind="uniform", seed=1), tensor("at", 1000, dtype="int32", kind="uniform", seed=2),
                         tensor("out", 1000, role="output"), {**number, "value": 1000}],
                "launch": {"grid": {"x": 4}, "block": {"x": 256}}}),
            "a long loop": (busy, add_of(MILLION)),
        }
        for name, (source, io) in kernels.items():
            with self.subTest(kernel=name):
                begin = time.monotonic()
                report = self.server.call("evaluate", {"kernel": kernel(source, io), "detail": "full", "validation_trials": 2})["structuredContent"]
                took = time.monotonic() - begin
                self.assertEqual(report["verdict"], "passed", report["summary"])
                timing = report["timing"]
                cold, clocks, wall, floor = timing["cold"], timing["clocks"], timing["wall_clock"], timing["floor"]
                print(name, f"{took * 1e3:.0f} ms", json.dumps({key: timing[key] for key in ("clocks", "wall_clock", "floor", "neighbours")}),
                      json.dumps(report["warnings"]), file=sys.stderr)
                self.assertEqual(report["evidence"], [])
                self.assertEqual(wall["result"], "agrees", wall)
                self.assertGreaterEqual(cold["runs"], 100)
                self.assertEqual(cold["runs"], len(timing_samples(self.server, report)))
                self.assertIn(cold["stopped_by"], ("interval", "resolution", "budget"))
                self.assertEqual(cold["stopped_by"] == "interval", cold["half_width_pct"] <= 0.5)
                self.assertGreater(clocks["sm_mhz_highest"], 500)
                self.assertGreaterEqual(clocks["sm_mhz_max"], 0.75 * clocks["sm_mhz_highest"])
                self.assertGreater(cold["median_ns"], floor["must_ns"])
                self.assertEqual(floor["must_bytes"] > 0, name in ("fill of 64 Mi", "add of 16 Mi"), floor)
                tell(f"{name}, by the host's clock beside events", f"{wall['wall_ns'] * 1e-3:.0f} / {wall['events_ns'] * 1e-3:.0f} us over"
                     f" {wall['launches']}; {cold['runs']} runs ({cold['stopped_by']}, {cold['half_width_pct']:.2f} %), ramped {clocks['ramped_ms']:.0f} ms",
                     "they agree", wall["result"] == "agrees")
        report = self.evaluate(ADD, MILLION, num_trials=37)
        self.assertEqual((report["timing"]["cold"]["runs"], report["timing"]["cold"]["stopped_by"]), (37, "num_trials"))

    def test_without_a_graph_long_times_are_held_and_short_ones_doubted(self):
        heavy = body(GUARDED + "{ float s = a[i]; for (int k = 0; k < 20000; ++k) s = fmaf(s, 0.5f, b[i]); out[i] = a[i] + b[i] + (s == 1234.5f); }")
        for source, result, trust in ((heavy, "agrees", "verified"), (ADD, "unknown", "audited")):
            report = self.evaluate(source, n=MILLION, ref=heavy if source is heavy else ADD, timing_method="events", timeout=30, detail="full")
            self.assertEqual((report["verdict"], report["trust"], report["timing"]["wall_clock"]["result"]), ("passed", trust, result), report["summary"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
