"""tests/kernels: every right kernel passes and is verified, every wrong variant gets exactly its verdict."""

import collections
import os
import struct
import unittest

from assay_client import SANITIZED, Server, tensor
from kernel_file import all_kernels

# Every kernel is judged several times over; what must be covered, and how often at least.
KINDS = ("sub_for_add", "missing_tail", "missing_barrier", "wrong_stride", "wrong_type", "swapped_arguments",
         "partial_rows", "constant", "copy_of_input", "uninitialised")
AT_LEAST = 5
IN_FLIGHT = 4


def chosen(kernels):
    """KERNELS=name,name picks some by hand; a sanitized build judges every third."""
    names = os.environ.get("KERNELS")
    if names:
        return [k for k in kernels if k.name in names.split(",")]
    return kernels[::3] if SANITIZED else kernels


def cases_of(kernel_file, looked_at={}):
    """(name, expected verdict, expected evidence, arguments) of a kernel and its variants; further arguments of the right one."""
    yield kernel_file.name, "passed", None, kernel_file.arguments(kernel_file.source) | looked_at
    for wrong in kernel_file.wrong:
        source = wrong.applied(kernel_file.source)
        arguments = kernel_file.arguments(source)
        if wrong.verdict == "timed_out":
            arguments["timeout"] = 5
        yield f"{kernel_file.name} {wrong.name}", wrong.verdict, wrong.evidence, arguments


def complaint(report, verdict, evidence):
    """Why a report is not the expected one; empty if it is."""
    summary = report.get("summary", "")
    if verdict == "suspect" and report["verdict"] == "wrong_output":
        verdict = "wrong_output"  # by what lies beside a tensor
    if report["verdict"] != {"suspect": "passed"}.get(verdict, verdict):
        return f"{report['verdict']} instead of {verdict}: {summary}"
    found = {(item["check"], item["which"]) for item in report["evidence"]}
    if evidence and (evidence, "kernel") not in found:
        return f"no evidence '{evidence}' but {found}: {summary}"
    is_suspect = evidence in ("input_mutated", "order_of_warps")
    trust = {"passed": "suspect" if is_suspect else "verified", "suspect": "suspect"}.get(verdict)
    if report["trust"] != trust:
        return f"trust {report['trust']} instead of {trust}: {summary}"
    against = [item for item in report["evidence"] if item["which"] != "task"]
    if verdict == "passed" and not evidence and against:
        return f"a right kernel has evidence against it: {against}"
    checks = report.get("validation", {}).get("checks", {"findings": [], "notes": []})
    if verdict == "passed" and checks["findings"] + checks["notes"]:
        return f"checks say of a right kernel: {checks['findings']} {checks['notes']}"
    weak = [w["message"] for w in report["warnings"] if w["code"] == "weak_oracle"]
    if verdict == "passed" and weak:
        return f"a task that a trivial answer passes proves nothing: {weak}"
    return ""


def judged(server, cases):
    """Yields each case with the message that answers it, in the order of arrival, a few in flight at a time."""
    cases, flying = iter(cases), {}
    while True:
        while len(flying) < IN_FLIGHT and (case := next(cases, None)) is not None:
            flying[server.send("tools/call", {"name": "evaluate", "arguments": case[3]})] = case
        if not flying:
            return
        message = server.next_message(timeout=300)
        if message.get("id") in flying:
            yield flying.pop(message["id"]), message


class Kernels(unittest.TestCase):
    def test_right_kernels_pass_and_wrong_ones_do_not(self):
        looked_at = {"checks": ["initialised"]}
        cases = [case for kernel_file in chosen(all_kernels()) for case in cases_of(kernel_file, looked_at)]
        with Server() as server:
            for (name, verdict, evidence, _), message in judged(server, cases):
                with self.subTest(name):
                    self.assertIn("result", message, name)
                    report = message["result"]["structuredContent"]
                    self.assertIn("verdict", report, message["result"]["content"])
                    self.assertEqual(complaint(report, verdict, evidence), "", name)

    def test_every_kind_of_mistake_is_covered(self):
        kernels = all_kernels()
        self.assertGreaterEqual(len(kernels), 40)
        count = collections.Counter(wrong.kind for k in kernels for wrong in k.wrong)
        for kind in KINDS:
            self.assertGreaterEqual(count[kind], AT_LEAST, kind)
        for k in kernels:
            self.assertGreaterEqual(len(k.wrong), 2, k.name)


SCALAR_BITS = """__global__ void bits(unsigned* single, unsigned long long* wide, float f, double d, int i, long long l, bool b) {
  *single = __float_as_uint(f);
  wide[0] = __double_as_longlong(d);
  wide[1] = (unsigned long long)(long long)i;
  wide[2] = l;
  wide[3] = b;
}
"""

EXPECTED_BITS = """__global__ void expected(unsigned* single, unsigned long long* wide, float, double, int, long long, bool) {
  *single = 0x%xu;
  wide[0] = 0x%xull;
  wide[1] = 0x%xull;
  wide[2] = 0x%xull;
  wide[3] = %d;
}
"""


def bits_of(format, value):
    return int.from_bytes(struct.pack("<" + format, value), "little")


class Scalars(unittest.TestCase):
    """What a kernel receives is compared with the bits that Python's struct gives the same number."""

    def judged(self, server, single, double, integer, wide, flag, flip=0):
        io = {"args": [tensor("single", 1, role="output", dtype="uint32"), tensor("wide", 4, role="output", dtype="uint64"),
                       {"name": "f", "type": "float", "value": single}, {"name": "d", "type": "float", "value": double},
                       {"name": "i", "type": "int", "value": integer}, {"name": "l", "type": "int", "value": wide},
                       {"name": "b", "type": "bool", "value": flag}],
              "launch": {"grid": 1, "block": 1}}
        number = [float(v) for v in (single, double)]  # "nan" and "inf" are numbers too
        expected = (bits_of("f", number[0]) ^ flip, bits_of("d", number[1]), bits_of("q", integer), bits_of("q", wide), flag)
        return server.evaluate(SCALAR_BITS, io=io, ref=EXPECTED_BITS % expected, num_trials=1, validation_trials=1)

    def test_scalars_arrive_bit_for_bit(self):
        values = [(0.1, 0.1, -1, 2**53 + 1, True), (1e-42, 5e-324, 2**31 - 1, -2**63, False),
                  (3.4028234663852886e38, 1.7976931348623157e308, -2**31, 2**63 - 1, True),
                  (-0.0, -0.0, 0, 0, False), ("inf", "-inf", 1, -1, True), (16777217.0, 1 / 3, 7, 7, False),
                  (0.30000001192092896, 0.30000000000000004, 65536, 2**32, True)]
        with Server() as server:
            for value in values:
                with self.subTest(value):
                    report = self.judged(server, *value)
                    self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
            report = self.judged(server, *values[0], flip=1)
            self.assertEqual(report["verdict"], "wrong_output", "the last bit of a float must count")


class InPlace(unittest.TestCase):
    """Every run starts from the contract's contents: what an earlier run left in an inout is gone."""

    COUNT = "__global__ void count(float* x, int* runs) { x[threadIdx.x] += 1.0f; atomicAdd(runs, 1); }"
    ONCE = "__global__ void once(float* x, int* runs) { x[threadIdx.x] = 4.0f; *runs = 64; }"

    def test_runs_do_not_accumulate(self):
        io = {"args": [tensor("x", 64, role="inout", kind="full", fill_value=3),
                       tensor("runs", 1, role="output", dtype="int32", kind="zeros")],
              "launch": {"grid": 1, "block": 64}}
        with Server() as server:
            report = server.evaluate(self.COUNT, io=io, ref=self.ONCE, num_trials=50, num_warmup=20, validation_trials=6)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
            self.assertEqual(report["validation"]["trials_passed"], 6)
            self.assertGreater(report["timing"]["runs"], 1)
            twice = self.COUNT.replace("1.0f", "2.0f")
            self.assertEqual(server.evaluate(twice, io=io, ref=self.ONCE)["verdict"], "wrong_output")


class Explanations(unittest.TestCase):
    """The pattern blames what happened, not what it resembles."""

    ADD = "__global__ void add(const float* x, float* y) { y[threadIdx.x] += 2 * x[threadIdx.x]; }"

    def pattern(self, server, source, **init):
        io = {"args": [tensor("x", 256, kind="uniform", low=1, high=2), tensor("y", 256, role="output", **init)],
              "launch": {"grid": 1, "block": 256}}
        right = self.ADD.replace("+=", "=")
        report = server.evaluate(source, io=io, ref=right)
        self.assertEqual(report["verdict"], "wrong_output")
        return report["summary"].partition("Pattern: ")[2]

    def test_zeros_are_written_or_left_over(self):
        zeros = self.ADD.replace("+= 2 * x[threadIdx.x]", "= 0")
        idle = self.ADD.replace("y[threadIdx.x] += 2 * x[threadIdx.x];", "")
        with Server() as server:
            self.assertEqual(self.pattern(server, zeros), "all zero: the kernel wrote zeros.")
            self.assertEqual(self.pattern(server, idle), "output never written (poison).")
            self.assertEqual(self.pattern(server, idle, kind="zeros"), "all zero: output never written.")
            self.assertEqual(self.pattern(server, self.ADD), "NaN everywhere.")


if __name__ == "__main__":
    unittest.main()
