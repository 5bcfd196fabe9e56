"""The corpus of the emulator (tests/kernels) on a real device: what is right is right there too, and what is wrong is not
believed. Prints what differs from the emulator. And the same bits: outputs of the contract's own inputs have the digest
that they have on the emulator, where the order of operations is fixed and no instruction is approximate.

    ASSAY=build/release/bin/assay python3 tests/gpu/check_corpus.py        (on a machine with a GPU)
"""

import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "end_to_end"))
os.environ.setdefault("ASSAY", os.path.join(os.path.dirname(__file__), "..", "..", "build", "release", "bin", "assay"))
from assay_client import Server  # noqa: E402
from figures import tell  # noqa: E402
from kernel_file import all_kernels  # noqa: E402
from test_kernels import cases_of, complaint, judged  # noqa: E402

# A mistake that shows when threads meet, or in what memory happens to hold, need not show on a device.
BY_CHANCE = ("barrier", "race", "uninitialised", "volatile", "fence", "atomic", "sync", "mask", "reduce_last_block")
# What the ISA lets a device round as it likes, or do in any order; products that ptxas may fuse with a sum; a texture unit's filter.
FREE = re.compile(r"\.approx|\batom\.\S*cas|\btex\.2d|\b(?:atom|red)\.\S*\.(?:f16|f16x2|bf16|bf16x2|f32|f64)\b|\bw?mma\.\S*\.(?:f16|bf16|tf32|f32|f64)|\bmul\.(?:ftz\.)?f(?:32|64)\b")
# Products rounded by themselves, so that ptxas may not fuse them.
UNFUSED = ["--fmad=false"]


def unfused(arguments):
    kernel = arguments["kernel"]
    metadata = kernel.get("metadata") or {}
    options = metadata.get("compiler_options", []) + UNFUSED
    return {**arguments, "kernel": {**kernel, "metadata": {**metadata, "compiler_options": options}}}


def digests(server, cases, device):
    """{name: (digests, job)} of the right kernels, from their trial on the contract's own inputs."""
    asked = ((name, verdict, evidence, arguments | {"device": device, "detail": "full", "validation_trials": 1})
             for name, verdict, evidence, arguments in cases if verdict == "passed")
    answers = {}
    for (name, _, _, _), message in judged(server, asked):
        report = message["result"]["structuredContent"]
        assert "verdict" in report, (name, report)
        if report["verdict"] == "passed":
            answers[name] = (report["validation"]["digests"], report["job_id"])
    return answers


def differ(server, there, here):
    """{name: what leaves its digest to the device, or nothing} of those with another digest here."""
    found = {}
    for name, (digest, job) in sorted(here.items()):
        if there[name][0] != digest:
            ptx = server.answer(server.send("resources/read", {"uri": f"assay://jobs/{job}/ptx"}))["result"]["contents"][0]["text"]
            why = FREE.search(ptx)
            found[name] = why[0] if why else ""
    return found


class Corpus(unittest.TestCase):
    def test_outputs_are_bit_for_bit_those_of_the_emulator(self):
        cases = [(name, verdict, evidence, {**arguments, "until": "validated", "timeout": 60})
                 for kernel_file in all_kernels() for name, verdict, evidence, arguments in cases_of(kernel_file)
                 if evidence != "order_of_warps"]
        devices = os.environ.get("DEVICES", "gpu:0,emulator").split(",")
        with Server() as server:
            there, here = (digests(server, cases, device) for device in devices)
            self.assertGreater(len(here), 100)
            self.assertEqual(sorted(there), sorted(here))
            free, wrong = [], []
            differing = differ(server, there, here)
            again = [(name, verdict, evidence, unfused(arguments)) for name, verdict, evidence, arguments in cases
                     if verdict == "passed" and differing.get(name, "").startswith("mul")]
            apart = [digests(server, again, device) for device in devices]
            self.assertEqual([len(one) for one in apart], [len(again)] * 2)
            still = differ(server, *apart)
            alike = sorted(set(apart[0]) - set(still))
            for name, why in (differing | still).items():
                if name not in alike:
                    (free if why else wrong).append(f"{name} ({why})" if why else name)
        tell("the same bits as on the emulator", f"{len(here) - len(differing)} of {len(here)}; {len(alike)} more where products are not "
             f"fused with sums; {len(free)} use what a device rounds as it likes", "no other", not wrong)
        print("  once products are not fused: " + ", ".join(alike), file=sys.stderr)
        print("  free to differ: " + ", ".join(free), file=sys.stderr)
        self.assertEqual(wrong, [])

    def test_verdicts_are_those_of_the_emulator(self):
        cases = []
        for kernel_file in all_kernels():
            for name, verdict, evidence, arguments in cases_of(kernel_file):
                if evidence == "out_of_bounds_read":
                    evidence = None  # a device does not tell
                cases.append((name, verdict, evidence, {**arguments, "until": "validated", "device": "gpu:0", "timeout": 10}))
        is_right = {name: verdict == "passed" and evidence != "order_of_warps" for name, verdict, evidence, _ in cases}
        cases.sort(key=lambda case: not is_right[case[0]])
        begin, right, wrong, differing, refused = time.monotonic(), 0, 0, [], 0
        limit = float(os.environ.get("LIMIT_S", "1e9"))
        with Server() as server:
            for (name, verdict, evidence, _), message in judged(server, (case for case in cases if time.monotonic() - begin < limit)):
                report = message["result"]["structuredContent"]
                why = complaint(report, verdict, evidence)
                believed = report["verdict"] == "passed" and report["trust"] == "verified"
                right += is_right[name]
                wrong += not is_right[name]
                refused += is_right[name] and why != ""
                if why:
                    differing.append((name, why))
                    print(f"  {name}: {why}"[:300], file=sys.stderr, flush=True)
                with self.subTest(name):
                    if is_right[name]:
                        self.assertEqual(why, "")
                    elif verdict != "suspect" and not any(word in name for word in BY_CHANCE):
                        self.assertFalse(believed, name)
        tell("the emulator's corpus on the device", f"{right} right and {wrong} wrong ones judged, {len(differing)} differ",
             "no right one differs", not refused)
        print(f"{right} right kernels and {wrong} of {len(cases) - right} wrong ones in {time.monotonic() - begin:.0f} s;"
              f" {len(differing)} differ from the emulator", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
