"""What a kernel may do to a device costs its own job only: every kind of fault, one by one, and two hundred of them
in a random order with a good job after each. check_gpu.py has these tests too, on its own server.

    ASSAY=build/release/bin/assay python3 tests/gpu/check_faults.py
"""

import collections
import copy
import dataclasses
import json
import os
import random
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from device_case import GUARDED, DeviceCase, add_of, body  # noqa: E402
from assay_client import ADD, FOREVER, contract, kernel  # noqa: E402
from figures import tell  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Fault:
    source: str
    verdicts: frozenset
    io: dict = None  # where it is not that of the sums: such a fault has no reference, which would be launched likewise
    draws: int = 0  # how often it is among the two hundred; 0: its share of those that are left
    options: dict = dataclasses.field(default_factory=dict)

    def arguments(self):
        """Of the call that commits it."""
        arguments = {"kernel": kernel(self.source, self.io or add_of(1000)), "timeout": 5, **self.options}
        return arguments if self.io else {**arguments, "ref_kernel": {"source_code": ADD, "kernel_type": "cuda"}}


def fault(source, *verdicts, **more):
    return Fault(source, frozenset(verdicts), **more)


def with_grid(block, **grid):
    io = copy.deepcopy(contract(n=1000, block=block))
    io["launch"]["grid"] = grid
    return io


# In 64 bits: more threads than 32 can count, and none of them writes beside the tensors.
WIDE_ADD = body("long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = a[i] + b[i];")
MOST_BLOCKS = 2**31 - 1
BAD_JOBS = 200

FAULTS = {
    "illegal address": fault(body(GUARDED + "out[i + (1ll << 34)] = a[i];"), "crashed"),
    "wild write beside the tensor": fault(body(GUARDED + "out[i] = a[i] + b[i]; if (i == 0) out[n + 8] = 1;"), "crashed"),
    "misaligned": fault(body("*(int*)((char*)out + 1) = 1;"), "crashed"),
    "trap": fault(body("asm(\"trap;\");"), "crashed"),
    "assert": fault(body(GUARDED + "{ assert(n < 0); out[i] = a[i] + b[i]; }"), "crashed"),
    "100 GiB": fault(body(GUARDED + "{ if (i == 0 && malloc(100ull << 30) != nullptr) out[i] = 0; else out[i] = a[i] + b[i]; }"), "passed"),
    "endless": fault(FOREVER, "timed_out", draws=2),
    "wrong": fault(body(GUARDED + "out[i] = a[i] - b[i];"), "wrong_output"),
    # Right as often as it is validated.
    "trap among the timed runs": fault("__device__ int launches;\n" + body(
        "if (blockIdx.x == 0 && threadIdx.x == 0 && atomicAdd(&launches, 1) > 5) asm(\"trap;\");" + GUARDED + "out[i] = a[i] + b[i];"), "crashed"),
    "tail": fault(body(GUARDED + "if (i < n - 5) out[i] = a[i] + b[i];"), "wrong_output"),
    "nothing": fault(body(""), "wrong_output"),
    "printf flood": fault(body(GUARDED + "for (int k = 0; k < 100000; ++k) printf(\"%d\\n\", k);"),
                          "wrong_output", "timed_out", draws=2),
    "deep recursion": fault("__device__ int f(int n) { volatile int x[256]; x[n & 255] = n; return n <= 0 ? x[0] : f(n - 1) + x[n & 255]; }\n"
                            + body(GUARDED + "out[i] = f(1 << 20);"), "crashed", "wrong_output", draws=3),
    "huge grid": fault(WIDE_ADD, "passed", "timed_out", io=with_grid(32, x=MOST_BLOCKS), draws=2,
                       options={"until": "validated", "validation_trials": 1}),
    # Refused as it is read: there is no job, hence no verdict.
    "grid that no device takes": fault(WIDE_ADD, "client_error", io=with_grid(32, x=1, y=65536), draws=3),
}


def shuffled(count, seed):
    """Names of faults: of each kind as many as it draws, of the others equally many to one, in the order of the seed."""
    names = [name for name, one in FAULTS.items() for _ in range(one.draws)]
    common = [name for name, one in FAULTS.items() if one.draws == 0]
    left = count - len(names)
    names += (common * (left // len(common) + 1))[:left]
    random.Random(seed).shuffle(names)
    return names


class Faults(DeviceCase):
    def commit(self, name):
        """The verdict (of a call that was refused its status), and all that was answered."""
        answer = self.server.call("evaluate", FAULTS[name].arguments())["structuredContent"]
        return answer.get("verdict", answer["status"]), answer

    def test_every_fault_costs_its_own_job_only(self):
        worst = 0.0
        for name, one in FAULTS.items():
            with self.subTest(fault=name):
                verdict, answer = self.commit(name)
                self.assertIn(verdict, one.verdicts, json.dumps(answer)[:1000])
                if verdict in ("crashed", "timed_out", "wrong_output"):
                    stages = {stage["name"]: stage["status"] for stage in answer["stages"]}
                    self.assertEqual([stages[name] for name in ("received", "compiled", "prepared")], ["passed"] * 3, stages)
                    self.assertIn("failed", stages.values())
                begin = time.monotonic()
                good = self.evaluate(ADD, ref=ADD, until="validated")
                took = time.monotonic() - begin
                worst = max(worst, took)
                self.assertEqual(good["verdict"], "passed", (name, good["summary"]))
                print(f"{name}: {verdict}: {answer.get('summary', '')[:150]} · next {took * 1e3:.0f} ms", file=sys.stderr)
        tell(f"next job after each of {len(FAULTS)} faults in turn", f"worst {worst * 1e3:.0f} ms", "1000 ms", worst <= 1)

    def test_a_crash_without_a_line_has_a_next_step_that_names_it(self):
        verdict, answer = self.commit("illegal address")
        self.assertEqual(verdict, "crashed", answer)
        self.assertIn('checks: ["memory"]', answer["summary"])
        asked = self.evaluate(FAULTS["illegal address"].source, ref=ADD, checks=["memory"], timeout=20)
        self.assertNotIn('with `checks: ["memory"]`', asked["summary"])
        findings = asked["validation"]["checks"]["findings"]
        self.assertIn(1, [finding.get("where", {}).get("line") for finding in findings], findings)

    def test_two_hundred_in_random_order_and_no_good_job_is_lost(self):
        drawn, waits, wrong = collections.Counter(), [], []
        for name in shuffled(BAD_JOBS, seed=7):
            verdict, answer = self.commit(name)
            drawn[name] += 1
            if verdict not in FAULTS[name].verdicts:
                wrong.append(f"{name}: {verdict}: {answer.get('summary')}")
            # Every tenth is timed as well.
            is_timed = len(waits) % 10 == 9
            begin = time.monotonic()
            good = self.evaluate(ADD) if is_timed else self.evaluate(ADD, ref=ADD, until="validated")
            waits.append((time.monotonic() - begin) * 1e3)
            if is_timed and (good["verdict"] != "passed" or good["timing"]["cold"]["median_ns"] <= 0):
                wrong.append(f"timed one after {name}: {good['verdict']}: {good['summary']}")
            if not is_timed and (good["verdict"], good["trust"]) != ("passed", "verified"):
                wrong.append(f"good one after {name}: {good['verdict']}, {good['trust']}: {good['summary']}")
        waits.sort()
        print(f"bad ones: {dict(drawn)}", file=sys.stderr)
        tell(f"{len(waits)} good jobs, each after a bad one", f"{len(wrong)} not as they should be; p50 {waits[len(waits) // 2]:.0f} ms, worst {waits[-1]:.0f} ms", "1000 ms",
             not wrong and waits[-1] <= 1000)
        self.assertEqual(wrong, [])
        self.assertEqual([name for name in FAULTS if drawn[name] == 0], [])
        self.assertEqual(sum(drawn.values()), BAD_JOBS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
