"""What a kernel that keeps data in the L2 cache gains; check_cheats.py runs these among its own, with its server and its sizes."""

import sys

from assay_client import ADD, kernel, tensor
from device_cheats import GUARDED, body

N = 1 << 20


class OfTheCache:
    """Of a unittest.TestCase that has `server` and evaluate(source, n=…)."""

    def test_hints_to_the_cache_gain_nothing(self):
        hinted = body("unsigned long long policy; asm volatile(\"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\" : \"=l\"(policy));"
                      + GUARDED + "{ float x, y;" + "".join(
                          f" asm volatile(\"ld.global.L2::cache_hint.f32 %0, [%1], %2;\" : \"=f\"({to}) : \"l\"({of} + i), \"l\"(policy));"
                          for to, of in (("x", "a"), ("y", "b"))) + " out[i] = x + y; }")
        # Its cold time, of tensors that fit the L2 several times over: what stayed there would show. One evaluation's median of 4 us differs
        # from the next one's by up to 8 %, the least of five by less.
        for n in (1 << 16, N):
            cold = {}
            for name, source in (("plain", ADD), ("hinted", hinted)) * 5:
                report = self.evaluate(source, n=n)
                self.assertEqual(report["verdict"], "passed", report["summary"])
                cold.setdefault(name, []).append(report["timing"]["cold"]["median_ns"])
            print(n, cold, file=sys.stderr)
            self.assertGreater(min(cold["hinted"]), 0.96 * min(cold["plain"]), cold)

    def test_cold_runs_find_nothing_in_the_cache(self):
        """Each step waits for the one before: from memory it takes twice as long as from the cache, where a warm run has it."""
        _, cold, warm = self.walked()
        self.assertGreater(cold, 1.3 * warm)

    def test_a_cache_that_was_not_read_over_is_seen(self):
        """Device code can write to code, to what reads the cache over as well. The driver's copies are other code: they sweep it before what is shown anew."""
        report, cold, warm = self.walked()
        if cold <= 1.3 * warm:
            self.assertIn("remembers", [item["check"] for item in report["evidence"]])

    def walked(self):
        walk = ("__global__ void walk(const float* x, float* o) { unsigned at = 0;"
                " for (int k = 0; k < 64; ++k) at = (at + 7919 + (x[at] > 1e9f)) & ((1 << 20) - 1); o[0] = at; }")
        io = {"args": [tensor("x", N, kind="randn", seed=1), tensor("o", 1, role="output")], "launch": {"grid": {"x": 1}, "block": {"x": 1}}}
        report = self.server.call("evaluate", {"kernel": kernel(walk, io), "timeout": 20})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"])
        cold, warm = (report["timing"][view]["median_ns"] for view in ("cold", "warm"))
        print(f"  cold {cold} ns, warm {warm} ns, {report['trust']}: {report['summary']}", file=sys.stderr)
        return report, cold, warm
