"""Triton kernels alone: compiled to PTX in a confined process, run on the emulator, judged against torch."""

import unittest

from torch_server import TorchServer, source
from triton_kernels import ADD, ADD_IO, ADD_TORCH, HEAD, KERNELS, io, meta, number, out, tensor

CUDA = """__global__ void add(const float* x_ptr, const float* y_ptr, float* out_ptr, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out_ptr[i] = x_ptr[i] + y_ptr[i];
}
"""
CUDA_IO = {**ADD_IO, "args": ADD_IO["args"][:4], "launch": {"grid": {"x": 8}, "block": {"x": 128}}}


def triton(text, contract, **metadata):
    return source(text, "triton", contract, **metadata)


def torch(text):
    return source(text, "torch", function_name="f")


class Triton(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, kernel, reference=None, **more):
        return self.server.judge(kernel, reference, until="validated", **more)

    def configuration(self, report):
        return report["kernel_exec_result"]["metadata"]["configuration"]

    def test_kernels_of_every_kind_agree_with_torch(self):
        for name, (text, contract, reference) in KERNELS.items():
            with self.subTest(name):
                report = self.judge(triton(text, contract), torch(reference), atol=2e-3, rtol=2e-3)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_a_wrong_kernel_does_not_pass(self):
        for text, verdict, says in (
                (ADD.replace("mask=mask) + tl.load", "mask=mask) - tl.load"), "wrong_output", "Wrong output 'out_ptr'"),
                (ADD.replace("mask = at < n", "mask = at < n - 1"), "wrong_output", "Wrong output"),
                (ADD.replace("mask = at < n", "mask = at < n + 5000"), "crashed", "kernel.py:8"),
                (ADD.replace("tl.store(out_ptr", "tl.store(out_ptr + 1000000"), "crashed", "Invalid __global__ write"),
                (ADD.replace("    tl.store(out", "    while tl.atomic_add(out_ptr, 0.0) > -1e30:\n        n += 1\n    tl.store(out"), "timed_out", "end")):
            with self.subTest(says=says):
                report = self.judge(triton(text, ADD_IO), torch(ADD_TORCH), timeout=5)
                self.assertEqual((report["verdict"], report["trust"]), (verdict, None), report["summary"])
                self.assertIn(says, report["summary"])

    def test_triton_and_cuda_judge_each_other(self):
        for kernel, reference in ((triton(ADD, ADD_IO), source(CUDA, "cuda", CUDA_IO)),
                                  (source(CUDA, "cuda", CUDA_IO), triton(ADD, ADD_IO)),
                                  (triton(ADD, ADD_IO), triton(ADD, ADD_IO)),
                                  (source(CUDA, "cuda", CUDA_IO), torch(ADD_TORCH))):
            report = self.server.judge(kernel, reference)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        report = self.server.judge(torch(ADD_TORCH) | {"io": CUDA_IO}, source(CUDA, "cuda", CUDA_IO))
        self.assertEqual(report["verdict"], "unsupported", report["summary"])
        self.assertIn("the other way round", report["summary"])

    def test_a_reference_in_torch_takes_what_its_parameters_name(self):
        for reference in ("def f(a, b):\n    return a + b\n", "def f(x_ptr, y_ptr, n):\n    return x_ptr + y_ptr + (n - 1000)\n",
                          "def f(a, b, alpha=1.0):\n    return a + b * alpha\n", "def f(*all):\n    return all[0] + all[1]\n",
                          "def f(x_ptr, y_ptr, out_ptr):\n    out_ptr.copy_(x_ptr + y_ptr)\n"):
            report = self.judge(triton(ADD, ADD_IO), torch(reference))
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), (reference, report["summary"]))
        model = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, a, b):\n        return a + b\n"
        self.assertEqual(self.judge(triton(ADD, ADD_IO), source(model))["verdict"], "passed")
        for broken, verdict, says in (("def f(a):\n    return a\n", "contract_invalid", "The reference: f(a) at line 1 does not take"),
                                      ("def f(a, b):\n    return a[:5]\n", "contract_invalid", "The reference: Output 0 is"),
                                      ("def g(a, b):\n    return a\n", "contract_invalid", "Function 'f' not found"),
                                      ("def f(a, b):\n    raise ValueError('no')\n", "crashed", "ref_kernel.py:2")):
            report = self.judge(triton(ADD, ADD_IO), torch(broken))
            self.assertEqual(report["verdict"], verdict, report["summary"])
            self.assertIn(says, report["summary"])
            self.assertEqual(report["error"]["which"], "ref_kernel")

    def test_a_comparison_with_torch_says_that_there_is_no_ratio(self):
        report = self.server.judge(triton(ADD, ADD_IO), torch(ADD_TORCH))
        self.assertIsNone(report.get("speedup"))
        self.assertIn("reference_untimed", [warning.get("code") for warning in report["warnings"]])

    def test_which_kernel_is_run(self):
        two = ADD + ADD[len(HEAD):].replace("add_kernel", "sub_kernel").replace(") + tl.load", ") - tl.load")
        helped = HEAD + "@triton.jit\ndef plus(a, b):\n    return a + b\n\n" + ADD[len(HEAD):].replace(
            "tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask)",
            "plus(tl.load(x_ptr + at, mask=mask), tl.load(y_ptr + at, mask=mask))")
        for text, metadata, verdict, says in (
                (two, {}, "passed", ""), (two, {"kernel_name": "sub_kernel"}, "wrong_output", ""), (helped, {}, "passed", ""),
                # `tl.load` is no use of a kernel that is called load.
                (two.replace("add_kernel", "load"), {}, "passed", ""),
                (two, {"kernel_name": "mul"}, "contract_invalid", "Kernel 'mul' not found. Available: [add_kernel, sub_kernel]"),
                (two, {"kernel_name": "subkernel"}, "contract_invalid", "[add_kernel, sub_kernel]; nearest: sub_kernel"),
                (ADD.replace("@triton.jit\n", ""), {}, "contract_invalid", "No @triton.jit kernels found")):
            report = self.judge(triton(text, ADD_IO, **metadata), torch(ADD_TORCH))
            self.assertEqual(report["verdict"], verdict, report["summary"])
            self.assertIn(says, report["summary"])

    def test_an_autotuned_kernel_says_what_was_chosen(self):
        tuned = ADD.replace("@triton.jit", """@triton.autotune(configs=[triton.Config({"BLOCK": 256}, num_warps=2),
                          triton.Config({"BLOCK": 128}, num_warps=8, num_stages=4)], key=["n"])
@triton.jit""")
        report = self.judge(triton(tuned, ADD_IO), torch(ADD_TORCH))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        chosen = self.configuration(report)
        self.assertEqual(chosen, {"kernel": "add_kernel", "metas": {"BLOCK": 128}, "num_warps": 8, "num_stages": 4,
                                  "shared_bytes": 0, "arch": "sm_89", "configurations": 2, "chosen": 1,
                                  "choices": [{"metas": {"BLOCK": 256}, "num_warps": 2, "num_stages": 3},
                                              {"metas": {"BLOCK": 128}, "num_warps": 8, "num_stages": 4}]})
        self.assertIn("autotune", [warning.get("code") for warning in report["warnings"]])
        free = {**ADD_IO, "args": ADD_IO["args"][:4], "launch": {"grid": {"x": 4}}}
        report = self.judge(triton(tuned, free), torch(ADD_TORCH))
        self.assertEqual((report["verdict"], self.configuration(report)["metas"]), ("passed", {"BLOCK": 256}))
        other = {**ADD_IO, "args": [*ADD_IO["args"][:4], meta("BLOCK", 64)]}
        report = self.judge(triton(tuned, other), torch(ADD_TORCH))
        self.assertEqual(report["verdict"], "contract_invalid")
        self.assertIn("None of the 2 configurations", report["summary"])
        hooked = tuned.replace('key=["n"]', 'key=["n"], reset_to_zero=["out_ptr"]')
        self.assertIn("hooks", [warning.get("code") for warning in self.judge(triton(hooked, ADD_IO))["warnings"]])

    def test_options_of_the_launch_may_stand_among_the_metas(self):
        args = ADD_IO["args"]
        tuned = ADD.replace("@triton.jit", '@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=2)], key=["n"])\n@triton.jit')
        for text in (ADD, tuned):
            report = self.judge(triton(text, {**ADD_IO, "args": [*args, meta("num_warps", 8), meta("num_stages", 2)]}), torch(ADD_TORCH))
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
            chosen = self.configuration(report)
            self.assertEqual((chosen["num_warps"], chosen["num_stages"], chosen["metas"]), (8, 2, {"BLOCK": 128}))
        # A kernel's own parameter of that name is what it says.
        own = ADD.replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr, num_stages: tl.constexpr").replace("at < n", "at < n - num_stages + 7")
        report = self.judge(triton(own, {**ADD_IO, "args": [*args, meta("num_stages", 7)]}), torch(ADD_TORCH))
        self.assertEqual((report["verdict"], self.configuration(report)["num_stages"]), ("passed", 3), report["summary"])
        for given, launch, says in ((meta("num_warps", 8), {"num_warps": 4}, "num_warps is 4 in launch and 8 among the metas"),
                                    (meta("num_warps", 3), {}, "num_warps is 3"), (meta("num_warps", 0), {}, "0 is none"),
                                    (meta("num_warps", 1.5), {}, "1.5 is none"), (number("num_warps", 8), {}, "takes 5 arguments")):
            with self.subTest(says):
                report = self.judge(triton(ADD, {**ADD_IO, "args": [*args, given], "launch": {**ADD_IO["launch"], **launch}}))
                self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
                self.assertIn(says, report["summary"])

    def test_heuristics_and_defaults_fill_metas_in(self):
        fewer = {**ADD_IO, "args": ADD_IO["args"][:4]}
        wise = ADD.replace("@triton.jit", '@triton.heuristics({"BLOCK": lambda args: 128 if args["n"] == 1000 else 1})\n@triton.jit')
        default = ADD.replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr = 128")
        for text in (wise, default):
            report = self.judge(triton(text, fewer), torch(ADD_TORCH))
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertEqual(self.configuration(report)["metas"], {"BLOCK": 128})

    def test_a_grid_may_be_an_expression_of_metas(self):
        for grid in ({"x": "ceildiv(n, BLOCK)"}, {"x": "(n + BLOCK - 1) / BLOCK", "y": 1, "z": 1}):
            report = self.judge(triton(ADD, {**ADD_IO, "launch": {"grid": grid}}), torch(ADD_TORCH))
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_a_grid_may_be_an_expression_of_what_is_chosen(self):
        def open_grid(grid, *more):
            return {**ADD_IO, "args": [*ADD_IO["args"][:4], *more], "launch": {"grid": grid}}
        tuned = ADD.replace("@triton.jit", """@triton.autotune(configs=[triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 64})], key=["n"])
@triton.jit""")
        wise = ADD.replace("@triton.jit", '@triton.heuristics({"BLOCK": lambda args: 128 if args["n"] == 1000 else 1})\n@triton.jit')
        default = ADD.replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr = 128")
        for text, block in ((tuned, 256), (wise, 128), (default, 128)):
            for grid in ({"x": "ceildiv(n, BLOCK)"}, ["(n + BLOCK - 1) // BLOCK"], "ceildiv(n, BLOCK)"):
                with self.subTest(block=block, grid=grid):
                    report = self.judge(triton(text, open_grid(grid)), torch(ADD_TORCH))
                    self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
                    self.assertEqual((self.configuration(report)["metas"]["BLOCK"], self.configuration(report)["grid"]),
                                     (block, [-(-1000 // block), 1, 1]))
        report = self.judge(triton(tuned, open_grid({"x": "n / BLOCK"})), torch(ADD_TORCH))
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])
        for grid, says in (({"x": 4, "y": "ceildiv(n, SIZE)"}, "grid.y: no size, argument or meta is called 'SIZE'"),
                           ({"x": "BLOCK - 256"}, "must be between 1 and 2147483647, but is BLOCK - 256 = 0")):
            report = self.judge(triton(tuned, open_grid(grid)))
            self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
            self.assertIn(says, report["summary"])
        for kernel in (triton(tuned, open_grid({"x": "ceildiv(n, BLOCK"})),
                       source(CUDA, "cuda", {**CUDA_IO, "launch": {"grid": {"x": "ceildiv(n, BLOCK)"}, "block": {"x": 128}}})):
            result = self.server.call("evaluate", {"kernel": kernel, "wait_s": 60})
            self.assertTrue(result["isError"])
            self.assertIn("/kernel/io/launch/grid/x", result["content"][0]["text"])

    def test_arguments_are_bound_as_a_launch_binds_them(self):
        args = ADD_IO["args"]
        renamed = [{**item, "name": name} for item, name in zip(args, "pqrs")] + [args[4]]
        between = HEAD + ADD[len(HEAD):].replace("x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr", "x_ptr, BLOCK: tl.constexpr, y_ptr, out_ptr, n")
        for text, given, verdict, says in (
                (ADD, renamed, "passed", ""), (ADD, list(reversed(args)), "passed", ""), (between, args, "passed", ""),
                (ADD, args[:3] + args[4:], "contract_invalid", "no argument for n"),
                (ADD, [*args, number("more", 3)], "contract_invalid", "takes 5 arguments"),
                (ADD, [*args, meta("SIZE", 3)], "contract_invalid", "no parameter 'SIZE'"),
                (ADD, [*args[:3], tensor("n", 4), args[4]], "compile_failed", "kernel.py:7"),
                (ADD, [*args[:4], tensor("BLOCK", 4)], "contract_invalid", "the contract gives a tensor")):
            with self.subTest(says=says, given=[item["name"] for item in given]):
                reference = torch("def f(a, b):\n    return a + b\n") if verdict == "passed" and given is not args[::-1] else None
                report = self.judge(triton(text, {**ADD_IO, "args": given}), reference)
                self.assertEqual(report["verdict"], verdict, report["summary"])
                self.assertIn(says, report["summary"])

    def test_an_optional_tensor_that_is_not_there_is_null(self):
        biased = HEAD + """@triton.jit
def add_kernel(x_ptr, bias, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = bias.to(tl.int64, bitcast=True) != 0
    more = tl.load(bias + at, mask=(at < n) & there, other=1.0)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) + more, mask=at < n)
"""
        for count, reference in ((0, "x_ptr + 1"), (1000, "x_ptr + bias")):
            io_of_both = io(tensor("x_ptr", 1000), tensor("bias", count), out("out_ptr", 1000), number("n", 1000), meta("BLOCK", 128), grid=8)
            report = self.judge(triton(biased, io_of_both), torch(f"def f(x_ptr, bias):\n    return {reference}\n"))
            self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_what_the_compiler_says_is_told_in_the_users_lines(self):
        helper = HEAD + "@triton.jit\ndef half(v):\n    return v.nothing\n\n" + ADD[len(HEAD):].replace("at < n", "half(at) < n")
        for text, says, line in (
                (ADD.replace("at < n", "at < m"), "NameError('m is not defined')", 7),
                (ADD.replace("BLOCK)\n", "BLOCK + 1)\n"), "power of 2", 6), (helper, "nothing", 6),
                ("import nothere\n" + ADD, "Module 'nothere' is not installed", 1),
                ("def broken(:\n" + ADD, "SyntaxError", 1), ("raise RuntimeError('early')\n" + ADD, "early", 1),
                (ADD.replace("    mask = at < n", "    tl.static_assert(BLOCK > 500)\n    mask = at < n"), "static_assert", 7)):
            with self.subTest(says=says):
                report = self.judge(triton(text, ADD_IO))
                self.assertEqual((report["verdict"], report["trust"]), ("compile_failed", None), report["summary"])
                self.assertIn(says, report["summary"])
                self.assertEqual(report["diagnostics"][0]["line"], line)

    def test_what_an_emulator_cannot_give_is_unsupported(self):
        clusters = ADD.replace("@triton.jit", '@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_ctas=2)], key=[])\n@triton.jit')
        report = self.judge(triton(clusters, ADD_IO))
        self.assertEqual(report["verdict"], "compile_failed" if "num_ctas" in report["summary"] else "unsupported", report["summary"])
        report = self.server.call("evaluate", {"kernel": triton(ADD, ADD_IO), "device": "gpu:0", "wait_s": 60})
        self.assertIn("gpu:0", report["content"][0]["text"])

    def test_checks_look_at_triton_kernels_too(self):
        racing = ADD.replace("tl.store(out_ptr + at,", "tl.store(out_ptr + at * 0,")
        report = self.judge(triton(racing, ADD_IO), checks=["races"])
        found = report["validation"]["checks"]["findings"]
        self.assertTrue(found, report["summary"])
        self.assertEqual((found[0]["where"]["file"], found[0]["where"]["line"]), ("kernel.py", 8))
        report = self.judge(triton(ADD, ADD_IO), checks=["memory", "races", "initialised", "barriers", "numbers"])
        self.assertEqual((report["verdict"], report["validation"]["checks"]["findings"]), ("passed", []), report["summary"])

    def test_a_reference_that_fails_is_named_with_its_own_file(self):
        for broken, verdict, says in ((ADD.replace("at < n", "at < m"), "compile_failed", "ref_kernel.py:7"),
                                      ("raise ValueError('early')\n" + ADD, "compile_failed", "ref_kernel.py:1"),
                                      (ADD.replace("tl.store(out_ptr", "tl.store(out_ptr + 1000000"), "crashed", "reference")):
            report = self.judge(triton(ADD, ADD_IO), triton(broken, ADD_IO))
            self.assertEqual((report["verdict"], report["error"]["which"]), (verdict, "ref_kernel"), report["summary"])
            self.assertIn(says, report["summary"])


if __name__ == "__main__":
    unittest.main()
