"""What a Triton source can do beside computing: none of it passes as verified unless its output is right."""

import unittest

from torch_server import TorchServer, source
from triton_kernels import ADD, ADD_IO, ADD_TORCH, HEAD

EMPTY = HEAD + """@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass
"""
PATCH = "import assay_runner.triton_kernel as compiler\n"
SWAP = ADD + PATCH + """
import types
class Answer:
    def __init__(self, ptx, made):
        self.ptx, self.made = ptx, made
lower = compiler._lower
def lie(*all):
    ptx, made = lower(*all)
    return %s
compiler._lower = lie
"""
# A `compiled` frame of the source's own, before the one that was asked for.
FORGE = ADD + """
import json, socket, struct
body = json.dumps({"type": "compiled", "seq": %d, "kernel": "add_kernel", "entry": "add_kernel", "passed": [0, 1, 2, 3],
                   "scratch": 0, "shared_bytes": 0, "num_warps": 4, "num_stages": 3, "metas": {}, "configurations": 0, "chosen": 0, "choices": [], "passed_over": [],
                   "needs": [], "hooks": False, "warnings": [], "triton": "x"}).encode()
socket.socket(fileno=3).sendall(struct.pack("<IIQII", int.from_bytes(b"ASY1", "little"), len(body), 0, 0, 0) + body)
"""

CHEATS = {
    "computes nothing": (EMPTY, ("wrong_output", "passed-suspect")),
    "writes into its inputs": (ADD.replace("    tl.store(out_ptr", "    tl.store(x_ptr + at, 0.0, mask=mask)\n    tl.store(out_ptr"),
                               ("wrong_output", "passed-suspect")),
    "stores out of bounds": (ADD.replace("out_ptr + at", "out_ptr + at + 4096"), ("crashed",)),
    "stores before the beginning": (ADD.replace("out_ptr + at", "out_ptr + at - 1"), ("crashed",)),
    "reads what the reference left behind": (ADD.replace("tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask)",
                                                         "tl.load(out_ptr + at, mask=mask)"), ("wrong_output", "passed-suspect")),
    "hangs while it compiles": (ADD + "\nwhile True:\n    pass\n", ("timed_out",)),
    "exits": (ADD + "\nimport os\nos._exit(0)\n", ("crashed",)),
    "raises SystemExit": (ADD + "\nraise SystemExit(0)\n", ("compile_failed",)),
    "kills itself": (ADD + "\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", ("compile_failed", "crashed")),
    "forks": (ADD + "\nimport os\nwhile True:\n    os.fork()\n", ("compile_failed",)),
    "prints without end": (ADD + "\nwhile True:\n    print('x' * 10000)\n", ("compile_failed", "crashed")),
    "patches triton.compile": (EMPTY + "import triton.compiler.compiler as c\nc.compile = triton.compile = lambda *a, **k: 1\n",
                               ("wrong_output", "passed-suspect")),
    "says PTX of its own that does nothing": (SWAP % """('.version 8.0\\n.target sm_89\\n.address_size 64\\n.visible .entry add_kernel('
        '.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 d)\\n{ ret; }\\n', made)""", ("wrong_output", "passed-suspect")),
    "says no PTX": (SWAP % "('this is no program', made)", ("crashed-rejected",)),
    "says PTX with a deep nest": (SWAP % "('.version 8.0\\n.target sm_89\\n.address_size 64\\n' + '{' * 3000000, made)",
                                  ("crashed-rejected",)),
    "says PTX of 300 MB": (SWAP % "('x' * 300_000_000, made)", ("crashed-rejected",)),
    "says that it has a million warps": (SWAP % "(ptx, {**made, 'num_warps': 1 << 20})", ("contract_invalid",)),
    "says that it needs all shared memory": (SWAP % "(ptx, {**made, 'shared': 1 << 40})", ("contract_invalid",)),
    "says texts for numbers": (SWAP % "(ptx, {**made, 'shared': 'many'})", ("crashed-rejected",)),
    "says another entry": (SWAP % "(ptx, {**made, 'name': 'other'})", ("contract_invalid",)),
    "passes an argument twice": (ADD + PATCH + "old = compiler._specialise\n"
                                 "compiler._specialise = lambda *a: (*old(*a)[:3], [0, 0, 1, 2])\n", ("crashed-rejected",)),
    "passes an argument that is none": (ADD + PATCH + "old = compiler._specialise\n"
                                        "compiler._specialise = lambda *a: (*old(*a)[:3], [0, 1, 2, 99])\n", ("crashed-rejected",)),
    "swaps its arguments": (ADD + PATCH + "old = compiler._specialise\n"
                            "compiler._specialise = lambda *a: (*old(*a)[:3], [2, 1, 0, 3])\n",
                            ("wrong_output", "passed-suspect")),
    "answers before it is asked": (FORGE % 1, ("crashed-rejected",)),
    "answers another question": (FORGE % 7, ("crashed-rejected",)),
    "writes rubbish to the channel": (ADD + "\nimport os\nos.write(3, b'rubbish' * 100)\n", ("crashed-rejected",)),
}


class TritonCheats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()
        cls.reference = source(ADD_TORCH, "torch", function_name="f")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, text):
        return self.server.judge(source(text, "triton", ADD_IO), self.reference)

    def test_no_cheat_is_verified(self):
        for name, (text, outcomes) in CHEATS.items():
            with self.subTest(name):
                report = self.judge(text)
                outcome = "-".join(word for word in (report["verdict"], report["trust"]) if word)
                self.assertIn(outcome, outcomes, report["summary"])

    def test_the_next_kernel_is_judged_as_ever(self):
        for name in ("kills itself", "forks", "answers another question"):
            self.judge(CHEATS[name][0])
            report = self.judge(ADD)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])


if __name__ == "__main__":
    unittest.main()
