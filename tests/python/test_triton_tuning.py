"""Autotuned kernels: which configuration is compiled where some are pruned or fit no device, and heuristics of a launch."""

import unittest

from torch_server import TorchServer, inputs, source
from triton_kernels import ADD, ADD_IO, ADD_TORCH, HEAD, io, meta, number, out, tensor

FREE = {**ADD_IO, "args": ADD_IO["args"][:4], "launch": {"grid": {"x": "ceildiv(n, BLOCK)"}}}
CONFIGS = '@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 64})], key=["n"]%s)\n@triton.jit'
ASSERTED = "    tl.static_assert(BLOCK <= %d)\n    at ="
PRUNE = """def prune(configs, named, **metas):
    assert named["x_ptr"].element_size() == 4 and named["n"] == 1000
    return [one for one in configs if one.kwargs["BLOCK"] <= 64]
"""
MATMUL = HEAD + """@triton.autotune(configs=[triton.Config({"B": 128}, num_stages=%d), triton.Config({"B": 32}, num_stages=2)], key=["K"])
@triton.jit
def matmul(a, b, c, K, N: tl.constexpr, B: tl.constexpr):
    rm = tl.program_id(0) * N + tl.arange(0, N)
    rn = tl.arange(0, N)
    acc = tl.zeros((N, N), dtype=tl.float32)
    for k in range(0, K, B):
        rk = k + tl.arange(0, B)
        acc = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]), acc, input_precision="ieee")
    tl.store(c + rm[:, None] * N + rn[None, :], acc)
"""
MATMUL_IO = io(tensor("a", 64, 512), tensor("b", 512, 64, seed=5), out("c", 64, 64), number("K", 512), meta("N", 64))
SCRIPT = ADD.replace("import triton\n", "import torch\nimport triton\n") + """
def run(x, y):
    z = torch.empty_like(x)
    add_kernel[lambda metas: (triton.cdiv(x.numel(), metas["BLOCK"]),)](x, y, z, x.numel())
    return z
"""


def tuned(more="", before="", asserted=None, text=ADD):
    text = text.replace("@triton.jit", before + CONFIGS % more)
    return text if asserted is None else text.replace("    at =", ASSERTED % asserted, 1)


def torch(text):
    return source(text, function_name="f")


class Tuning(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def configuration(self, text, contract=FREE, reference=ADD_TORCH, **more):
        report = self.server.judge(source(text, "triton", contract), torch(reference), num_trials=3, until="validated", **more)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        self.warned = {warning.get("code"): warning["message"] for warning in report["warnings"]}
        return report["kernel_exec_result"]["metadata"]["configuration"]

    def test_what_pruning_leaves_is_what_is_compiled(self):
        chosen = self.configuration(tuned(', prune_configs_by={"early_config_prune": prune}', PRUNE))
        self.assertEqual((chosen["chosen"], chosen["metas"], chosen["configurations"]), (2, {"BLOCK": 64}, 3))
        modelled = ', prune_configs_by={"perf_model": lambda x_ptr, n, BLOCK, **_: abs(BLOCK - 128), "top_k": 1}'
        self.assertEqual(self.configuration(tuned(modelled))["metas"], {"BLOCK": 128})
        # A configuration of pruning's own, and one that the contract names.
        own = 'def prune(configs, named, **metas):\n    return [triton.Config({"BLOCK": 32}, num_warps=1)]\n'
        chosen = self.configuration(tuned(', prune_configs_by={"early_config_prune": prune}', own))
        self.assertEqual((chosen["metas"], chosen["num_warps"], chosen["chosen"], chosen["configurations"]), ({"BLOCK": 32}, 1, 3, 4))
        named = {**FREE, "args": [*FREE["args"], meta("BLOCK", 128)]}
        self.assertEqual(self.configuration(tuned(', prune_configs_by={"early_config_prune": prune}', PRUNE), named)["chosen"], 1)

    def test_pruning_that_fails_or_leaves_nothing_is_told(self):
        for body, says in (("    return []\n", "No valid autotuner configs"), ("    return metas['HEADS']\n", "KeyError")):
            text = tuned(', prune_configs_by={"early_config_prune": prune}', "def prune(configs, named, **metas):\n" + body)
            report = self.server.judge(source(text, "triton", FREE), torch(ADD_TORCH))
            self.assertEqual(report["verdict"], "compile_failed", report["summary"])
            self.assertIn(says, report["summary"])

    def test_one_that_fails_its_assertion_is_passed_over(self):
        chosen = self.configuration(tuned(asserted=64))
        self.assertEqual((chosen["chosen"], chosen["metas"]), (2, {"BLOCK": 64}))
        self.assertEqual(chosen["passed_over"], [{"choice": number, "why": "CompileTimeAssertionFailure at line 7"} for number in (0, 1)])
        self.assertIn("that a device takes", self.warned["autotune"])
        report = self.server.judge(source(tuned(asserted=32), "triton", FREE), torch(ADD_TORCH))
        self.assertEqual((report["verdict"], report["error"]["exception"]), ("compile_failed", "CompileTimeAssertionFailure"))
        self.assertIn("kernel.py:", report["summary"])
        # What else a compiler refuses, Triton's autotuner does not go on from either.
        report = self.server.judge(source(tuned().replace("at < n", "at < m"), "triton", FREE), torch(ADD_TORCH))
        self.assertEqual(report["verdict"], "compile_failed", report["summary"])
        self.assertIn("NameError", report["summary"])

    def test_one_that_needs_too_much_shared_memory_is_passed_over(self):
        reference = "def f(a, b):\n    return a @ b\n"
        chosen = self.configuration(MATMUL % 5, MATMUL_IO, reference, atol=1e-3, rtol=1e-3)
        self.assertEqual((chosen["chosen"], chosen["metas"]["B"]), (1, 32))
        self.assertIn("bytes of shared memory", chosen["passed_over"][0]["why"])
        fits = self.configuration(MATMUL % 2, MATMUL_IO, reference, atol=1e-3, rtol=1e-3)
        self.assertEqual((fits["chosen"], fits.get("passed_over")), (0, None))
        alone = (MATMUL % 5).replace(', triton.Config({"B": 32}, num_stages=2)', "")
        report = self.server.judge(source(alone, "triton", MATMUL_IO), torch(reference))
        self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
        self.assertIn("bytes of shared memory for each block", report["summary"])

    def test_tensors_say_what_those_of_a_device_would(self):
        says = "args['x_ptr'].is_cuda and args['x_ptr'].device.type == 'cuda' and args['x_ptr'].get_device() == 0 and args['x_ptr'].data_ptr() % 16 == 0"
        wise = '@triton.heuristics({"BLOCK": lambda args: %s})\n@triton.jit'
        self.assertEqual(self.configuration(ADD.replace("@triton.jit", wise % f"64 if {says} else 100"))["metas"], {"BLOCK": 64})
        sized = "args['x_ptr'].view(10, -1).shape[1] - 36"
        self.assertEqual(self.configuration(ADD.replace("@triton.jit", wise % sized))["metas"], {"BLOCK": 64})
        for reads in ("64 if args['x_ptr'].max() > 3 else 32", "int(args['x_ptr'][0].item())", "len(args['x_ptr'].tolist())", "args['x_ptr'].cpu().numel()"):
            with self.subTest(reads):
                report = self.server.judge(source(ADD.replace("@triton.jit", wise % reads), "triton", FREE))
                self.assertEqual((report["verdict"], report["error"]["code"]), ("unsupported", "needs_gpu"), report["summary"])
                self.assertIn("kernel.py:4", report["summary"])
                self.assertNotIn("Take the device from an input", report["summary"])

    def test_a_configurations_own_hook_is_told_as_missing(self):
        hooked = tuned(before="def zero(named):\n    named['out_ptr'].zero_()\n").replace('{"BLOCK": 128})', '{"BLOCK": 128}, pre_hook=zero)')
        adds = hooked.replace("tl.store", "tl.atomic_add")
        named = {**FREE, "args": [*FREE["args"], meta("BLOCK", 128)]}
        report = self.server.judge(source(adds, "triton", named), torch(ADD_TORCH))
        self.assertEqual(report["verdict"], "unsupported", report["summary"])
        for words in ("pre_hook", "multi_kernel", "init"):
            self.assertIn(words, report["summary"])
        # The one that is chosen has none.
        self.assertEqual(self.configuration(hooked)["chosen"], 0)

    def test_heuristics_may_say_options_of_the_launch(self):
        wise = '@triton.heuristics({"BLOCK": lambda args: 64, "num_warps": lambda args: 8 if args["n"] == 1000 else 1})\n@triton.jit'
        chosen = self.configuration(ADD.replace("@triton.jit", wise))
        self.assertEqual((chosen["num_warps"], chosen["metas"]), (8, {"BLOCK": 64}))
        after = (CONFIGS % "").replace(
            "@triton.jit", '@triton.heuristics({"num_stages": lambda args: args["num_warps"] + args["BLOCK"] // 256})\n@triton.jit')
        self.assertEqual(self.configuration(ADD.replace("@triton.jit", after))["num_stages"], 5)
        for launch, text, says in ((4, wise, "num_warps is 4 in the contract and 8 by the kernel's heuristics"),
                                   (None, wise.replace("8 if", "3 if"), "num_warps is 3")):
            contract = FREE if launch is None else {**FREE, "launch": {**FREE["launch"], "num_warps": launch}}
            report = self.server.judge(source(ADD.replace("@triton.jit", text), "triton", contract))
            self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
            self.assertIn(says, report["summary"])

    def test_what_a_script_passes_over_has_stored_nothing(self):
        reference = source("def f(x, y):\n    return x + y\n", io=inputs((1000,), "xy"), function_name="f")
        adds = SCRIPT.replace("tl.store", "tl.atomic_add").replace("empty_like", "zeros_like")
        late = adds.replace("mask=mask)\n\n", "mask=mask)\n    tl.static_assert(BLOCK <= 64)\n\n")
        self.assertIn("static_assert", late)
        kernel = source(tuned(text=late), "multi_kernel", inputs((1000,), "xy"), entry_point="run")
        report = self.server.judge(kernel, reference, num_trials=3)
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_a_script_passes_over_what_fails_its_assertion_too(self):
        reference = source("def f(x, y):\n    return x + y\n", io=inputs((1000,), "xy"), function_name="f")
        for asserted, verdict in ((64, "passed"), (32, "crashed")):
            text = tuned(asserted=asserted, text=SCRIPT)
            report = self.server.judge(source(text, "multi_kernel", inputs((1000,), "xy"), entry_point="run"), reference, num_trials=3)
            self.assertEqual(report["verdict"], verdict, report["summary"])
            self.assertIn("BLOCK 64, num_warps 4, num_stages 3 (one of 3)" if verdict == "passed" else "static_assert", str(report))


if __name__ == "__main__":
    unittest.main()
