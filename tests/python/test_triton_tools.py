"""Triton in the tools that `cuda` has: compile_kernel, sweep, generalise; and what was compiled once is not again."""

import time
import unittest

from assay_client import descendants
from torch_server import PYTHON, TorchServer, source
from triton_kernels import ADD, ADD_IO, ADD_TORCH, JIT, io, meta, number, out, tensor

# The contract says sizes by name: they can be varied.
SIZED = io(tensor("x_ptr", "n"), tensor("y_ptr", "n", seed=9), out("out_ptr", "n"), number("n", 1000), meta("BLOCK", 128),
           grid={"x": "ceildiv(n, BLOCK)"})
FREE = io(tensor("x_ptr", "n"), tensor("y_ptr", "n", seed=9), out("out_ptr", "n"), number("n", 1000),
          grid={"x": "ceildiv(n, BLOCK)"})
MATMUL = JIT + """def matmul(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y))
"""
MATMUL_IO = io(tensor("a", 64, 64, dtype="float16"), tensor("b", 64, 64, dtype="float16", seed=4), out("c", 64, 64),
               meta("M", 64), meta("N", 64), meta("K", 64))
PRODUCT = "def f(a, b):\n    return a.float() @ b.float()\n"


def triton(text, contract, **metadata):
    return source(text, "triton", contract, **metadata)


REFERENCE = source(ADD_TORCH, "torch", function_name="f")


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def call(self, tool, **arguments):
        return self.server.call(tool, {"wait_s": 200, **arguments}, patience_s=260)

    def test_compile_kernel_says_what_the_kernel_takes_and_how_it_is_launched(self):
        report = self.call("compile_kernel", kernel=triton(MATMUL, MATMUL_IO), include_ptx=True)["structuredContent"]
        self.assertEqual((report["verdict"], report["compiled"], report["trust"], report["arch"]),
                         ("passed", True, None, "sm_89"), report["summary"])
        self.assertTrue(report["compiler"].startswith("Triton "))
        kernel, = report["kernels"]
        self.assertEqual([arg["name"] for arg in kernel["args"]][:3], ["a", "b", "c"])
        self.assertEqual((kernel["name"], kernel["runs_on"]), ("matmul", ["emulator"]))
        self.assertIn("matmul(", kernel["signature"])
        told = report["configuration"]
        self.assertEqual((told["metas"], told["num_warps"]), ({"M": 64, "N": 64, "K": 64}, 4))
        self.assertGreater(told["shared_bytes"], 0)
        self.assertIn(".entry matmul", report["ptx"])
        self.assertIn(".target sm_89", report["ptx"])

    def test_compile_kernel_says_what_the_assembler_of_triton_says(self):
        report = self.call("compile_kernel", kernel=triton(MATMUL, MATMUL_IO))["structuredContent"]
        kernel, = report["kernels"]
        occupancy = kernel["occupancy"]
        self.assertTrue(8 <= kernel["registers"] <= 255, kernel)
        self.assertEqual((kernel["spill_store_bytes"], kernel["spill_load_bytes"]), (0, 0))
        self.assertEqual((occupancy["block_threads"], occupancy["block_assumed"]), (128, False), "num_warps of the program")
        self.assertEqual(occupancy["dynamic_shared_bytes"], report["configuration"]["shared_bytes"])
        self.assertIn(f"{kernel['registers']} registers", report["summary"])
        wide = io(tensor("a", 32, 512), out("c", 32, 512), meta("M", 32), meta("K", 512), num_warps=1)
        spilling = JIT + ("def wide(a, c, M: tl.constexpr, K: tl.constexpr):\n    m, k = tl.arange(0, M), tl.arange(0, K)\n"
                          "    x = tl.load(a + m[:, None] * K + k[None, :])\n"
                          "    tl.store(c + m[:, None] * K + k[None, :], x / tl.sum(x * x) + tl.sum(x, axis=1)[:, None])\n")
        report = self.call("compile_kernel", kernel=triton(spilling, wide))["structuredContent"]
        kernel, = report["kernels"]
        self.assertGreater(kernel["registers"], 32, report["summary"])
        self.assertGreater(kernel["spill_store_bytes"], 100)
        self.assertGreater(kernel["spill_load_bytes"], 100)
        self.assertIn("spills", report["summary"])

    def test_a_hopper_target_gives_instructions_that_the_emulator_lacks(self):
        report = self.call("compile_kernel", kernel=triton(MATMUL, MATMUL_IO), arch="sm_90")["structuredContent"]
        kernel, = report["kernels"]
        self.assertEqual((report["verdict"], kernel["runs_on"]), ("passed", []), report["summary"])
        self.assertIn("wgmma", kernel["unsupported"]["instruction"])

    def test_every_target_of_tritons_is_compiled_for(self):
        for arch in ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120a"):
            report = self.call("compile_kernel", kernel=triton(ADD, ADD_IO), arch=arch, include_ptx=True)["structuredContent"]
            self.assertEqual(report["verdict"], "passed", (arch, report["summary"], report.get("error")))
            self.assertIn(".target " + arch.rstrip("a"), report["ptx"])
            self.assertGreater(report["kernels"][0]["registers"], 0, arch)

    def test_compile_kernel_refuses_what_triton_cannot_be_asked(self):
        for arguments, says in (({"kernel": triton(ADD, None)}, "/kernel/io"),
                                ({"kernel": triton(ADD, ADD_IO), "arch": "compute_90"}, "real targets"),
                                ({"kernel": triton(ADD, ADD_IO), "arch": "sm_999"}, "real targets"),
                                ({"kernel": triton(ADD, ADD_IO), "arch": "sm_80a"}, "real targets")):
            answer = self.call("compile_kernel", **arguments)
            self.assertTrue(answer["isError"])
            self.assertIn(says, answer["content"][0]["text"])
        broken = self.call("compile_kernel", kernel=triton(ADD.replace("at < n", "at < m"), ADD_IO))["structuredContent"]
        self.assertEqual((broken["verdict"], broken["diagnostics"][0]["line"]), ("compile_failed", 7))
        torch = self.call("compile_kernel", kernel=source("def f(x):\n    return x\n", function_name="f"))["structuredContent"]
        self.assertEqual(torch["verdict"], "unsupported")

    def test_a_sweep_puts_parameters_where_a_launch_has_them(self):
        report = self.call("sweep", kernel=triton(ADD, FREE), ref_kernel=REFERENCE, budget_s=200,
                           parameters={"BLOCK": [64, 128, 100], "num_warps": [1, 4]})["structuredContent"]
        self.assertEqual((report["verdict"], len(report["table"])), ("passed", 6), report["summary"])
        for line in report["table"]:
            wanted = "compile_failed" if line["parameters"]["BLOCK"] == 100 else "passed"  # no power of two
            self.assertEqual(line["verdict"], wanted, line)
        costs = {(line["parameters"]["BLOCK"], line["parameters"]["num_warps"]): line["thread_instructions"]
                 for line in report["table"] if line["verdict"] == "passed"}
        self.assertEqual(len(set(costs.values())), len(costs), "each was compiled and launched in its own way")
        replaced = self.call("sweep", kernel=triton(ADD, SIZED), parameters={"BLOCK": [64, 256]})["structuredContent"]
        self.assertEqual([line["verdict"] for line in replaced["table"]], ["passed", "passed"], replaced["summary"])

    def test_a_sweep_finds_the_wrong_variant(self):
        wrong = ADD.replace("mask=mask) + tl.load", "mask=mask) - tl.load")
        report = self.call("sweep", kernel=triton(ADD, SIZED), ref_kernel=REFERENCE,
                           variants=[{"name": "right"}, {"name": "wrong", "source_code": wrong}])["structuredContent"]
        self.assertEqual({line["name"]: line["verdict"] for line in report["table"]},
                         {"right": "passed", "wrong": "wrong_output"})

    def test_a_sweep_of_an_earlier_jobs_kernel_says_what_it_needs(self):
        job = self.server.judge(triton(ADD, SIZED), until="validated")
        answer = self.call("sweep", kernel={"job_id": job["job_id"]}, parameters={"BLOCK": [64, 128]})
        self.assertTrue(answer["isError"])
        self.assertIn("give it here", answer["content"][0]["text"])
        again = self.call("sweep", kernel={"job_id": job["job_id"], "io": SIZED}, parameters={"BLOCK": [64, 128]})
        self.assertEqual([line["verdict"] for line in again["structuredContent"]["table"]], ["passed", "passed"])

    def test_hidden_sizes_find_a_kernel_that_knows_its_own(self):
        honest = self.server.judge(triton(ADD, SIZED), REFERENCE, generalise=True)
        self.assertEqual((honest["verdict"], honest["trust"]), ("passed", "verified"), honest["summary"])
        told = honest["generalisation"]
        self.assertEqual((told["asked"], told["held"]), (8, 8), told)
        self.assertEqual({name for task in told["tasks"] for name in task["changed"].get("sizes", {})}, {"n"})
        knowing = ADD.replace("at < n", "at < 1000").replace("x_ptr, y_ptr, out_ptr, n,", "x_ptr, y_ptr, out_ptr, n: tl.constexpr,")
        found = self.server.judge(triton(knowing, SIZED), REFERENCE, generalise=True)
        self.assertEqual((found["verdict"], found["trust"]), ("passed", "suspect"), found["summary"])
        torch = self.call("evaluate", kernel=REFERENCE | {"io": ADD_IO}, ref_kernel=REFERENCE, generalise=True)
        self.assertTrue(torch["isError"])

    def test_what_a_kernel_is_compiled_for_is_not_varied(self):
        text = JIT + """def twice(x, y, n, D: tl.constexpr):
    at = tl.program_id(0) * D + tl.arange(0, D)
    tl.store(y + at, tl.load(x + at) * 2)
"""
        contract = io(tensor("x", "n", "D"), out("y", "n", "D"), number("n", 12), meta("D", 64), grid={"x": "n"})
        report = self.server.judge(triton(text, contract), source("def f(x):\n    return x * 2\n", function_name="f"), generalise=True)
        told = report["generalisation"]
        self.assertEqual((report["trust"], told["held"], told["asked"]), ("verified", 8, 8), report["summary"])
        self.assertEqual({name for task in told["tasks"] for name in task["changed"].get("sizes", {})}, {"n"})

    def test_what_was_compiled_is_not_compiled_again(self):
        text = MATMUL + f"# {time.time_ns()}\n"
        first = self.server.judge(triton(text, MATMUL_IO), until="compiled", detail="full")
        again = self.server.judge(triton(text, MATMUL_IO), until="compiled", detail="full")
        took = [{stage["name"]: stage for stage in report["stages"]}["compiled"] for report in (first, again)]
        self.assertEqual([stage["body"]["cached"] for stage in took], [False, True])
        self.assertLess(took[1]["ms"], took[0]["ms"])
        print(f"\ntriton compile: {took[0]['ms']:.1f} ms, cached {took[1]['ms']:.1f} ms")
        for other in (triton(text, MATMUL_IO | {"launch": {"grid": {"x": 1}, "num_warps": 8}}),
                      triton(text + "#\n", MATMUL_IO), triton(text.replace("tl.dot(x, y)", "tl.dot(x, y) + 1"), MATMUL_IO)):
            report = self.server.judge(other, until="compiled", detail="full")
            stage = {stage["name"]: stage for stage in report["stages"]}["compiled"]
            self.assertFalse(stage["body"]["cached"])
        wrong = self.server.judge(triton(text.replace("tl.dot(x, y)", "tl.dot(x, y) + 1"), MATMUL_IO),
                                  source(PRODUCT, function_name="f"), until="validated")
        self.assertEqual(wrong["verdict"], "wrong_output", wrong["summary"])

    def test_a_cached_compile_needs_no_zygote(self):
        text = ADD + f"# {time.time_ns()}\n"
        self.server.judge(triton(text, ADD_IO), until="compiled")
        with TorchServer(state=self.server.state) as second:
            report = second.judge(triton(text, ADD_IO))
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
            self.assertFalse([c for _, c in descendants(second.process.pid) if c.startswith(PYTHON)])

    def test_a_failed_compile_is_not_kept(self):
        text = "import nothere\n" + ADD
        for _ in range(2):
            report = self.server.judge(triton(text, ADD_IO), until="compiled")
            self.assertEqual(report["verdict"], "compile_failed", report["summary"])
            self.assertIn("Module 'nothere' is not installed", report["summary"])

    def test_checks_of_host_code_are_refused_with_what_can_be_checked(self):
        for kernel, says in ((source("def f(x):\n    return x\n", io=ADD_IO, function_name="f"), "kernel_type `triton` or `cuda`"),
                             (source("def f(x):\n    return x\n", "multi_kernel", ADD_IO, entry_point="f"), "one by one as kernel_type `triton`")):
            answer = self.call("evaluate", kernel=kernel, checks=["races"])
            self.assertTrue(answer["isError"])
            self.assertIn("/checks", answer["content"][0]["text"])
            self.assertIn(says, answer["content"][0]["text"])


if __name__ == "__main__":
    unittest.main()
