"""Kernels in Python on a real device: judged as on the CPU, timed so that neither waiting nor remembering pays.

    ASSAY=build/release/bin/assay python3 tests/gpu/check_python.py        (on a machine with a GPU and torch)
"""

import os
import statistics
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "end_to_end"), os.path.join(HERE, "..", "python")]
os.environ.setdefault("ASSAY", os.path.join(HERE, "..", "..", "build", "release", "bin", "assay"))
os.environ.setdefault("ASSAY_PYTHON", sys.executable)
from figures import tell  # noqa: E402
from modules import MODULES  # noqa: E402
from pipeline import SAME_IN_TORCH, TRITON_AND_CUPY  # noqa: E402
from python_cheats import CHEATS, REFERENCE  # noqa: E402
from torch_cuda_sources import ASSEMBLED, FOREIGN, HEADERS, PLAIN, RUNTIME, TORCH_ON_DEVICE, VARIABLES, inline  # noqa: E402
from test_triton_tuning import MATMUL, MATMUL_IO  # noqa: E402
from torch_server import SCALE, TorchServer, inputs, source  # noqa: E402
from triton_kernels import ADD, ADD_IO, KERNELS  # noqa: E402

CUDA_ADD = """__global__ void add(const float* x_ptr, const float* y_ptr, float* out_ptr, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out_ptr[i] = x_ptr[i] + y_ptr[i];
}
"""

TORCH_CUDA = r'''import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
torch::Tensor add_cuda(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty_like(a);
    int n = a.numel();
    add<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), n);
    return c;
}
"""
module = load_inline(name="adding", cpp_sources="torch::Tensor add_cuda(torch::Tensor a, torch::Tensor b);",
                     cuda_sources=cuda_source, functions=["add_cuda"])

class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return module.add_cuda(a, b)
'''


# What is lifted is verified, and what cannot be is audited: tests/gpu/check_lift.py says which.
HONEST = (("passed", "audited"), ("passed", "verified"))


def in_place(report):
    """A call's time where Python makes the launches."""
    return report["timing"].get("in_place", report["timing"])["per_call"]


class OnDevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()
        began = time.monotonic()
        report = cls.server.judge(source("def f(x):\n    return x + x\n", io=inputs(), function_name="f"))
        print(f"first: {time.monotonic() - began:.1f} s {report['verdict']} {report['environment']} {report['summary']}",
              file=sys.stderr)
        if report["environment"]["device"] == "cpu":
            raise unittest.SkipTest("no GPU, or no torch for it")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_modules_of_every_kind_pass_and_are_not_suspected(self):
        for name, (reference, candidate) in MODULES.items():
            with self.subTest(name):
                began = time.monotonic()
                report = self.server.judge(source(candidate), source(reference))
                self.assertIn((report["verdict"], report["trust"]), HONEST, (report["summary"], report["evidence"]))
                self.assertEqual(report["timing"]["clock"], "gpu" if report["trust"] == "verified" else "wall")
                per_call = in_place(report)["median_ns"] / 1e3
                print(f"  {name}: {per_call:.1f} us a call, {report['speedup']['ratio']:.3f} {report['speedup']['verdict']}, "
                      f"job {time.monotonic() - began:.2f} s", file=sys.stderr)

    def test_two_triton_and_two_cupy_kernels_in_one_script(self):
        io = inputs(names="xy", shape=(100_000,))
        reference = source(SAME_IN_TORCH, "multi_kernel", io, entry_point="run")
        report = self.server.judge(source(TRITON_AND_CUPY, "multi_kernel", io, entry_point="run"), reference)
        print(report["summary"], in_place(report), file=sys.stderr)
        self.assertIn((report["verdict"], report["trust"]), HONEST, (report["summary"], report["evidence"]))
        wrong = TRITON_AND_CUPY.replace("+ 1.0f", "+ 2.0f")
        report = self.server.judge(source(wrong, "multi_kernel", io, entry_point="run"), reference)
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_cupy_was_imported_before_the_source_and_finds_its_device(self):
        text = ("import sys\nahead = 'cupy' in sys.modules\nimport cupy\nimport torch\ndef run(x):\n    if not ahead:\n"
                "        raise RuntimeError('it was imported late')\n    return torch.as_tensor(cupy.asarray(x) * 2)\n")
        io = inputs(shape=(1000,))
        began = time.monotonic()
        report = self.server.judge(source(text, "multi_kernel", io, entry_point="run"),
                                   source("def run(x):\n    return x * 2\n", "multi_kernel", io, entry_point="run"))
        print(f"  cupy: {report['verdict']} {report['trust']} {time.monotonic() - began:.2f} s {report['summary'][:200]}", file=sys.stderr)
        if "No module named 'cupy'" in str(report.get("error")):
            self.skipTest("no CuPy here")
        self.assertIn((report["verdict"], report["trust"]), HONEST, (report["summary"], report["evidence"]))

    def test_triton_kernels_run_without_the_process_that_compiled_them(self):
        for name, (text, contract, reference) in KERNELS.items():
            with self.subTest(name):
                began = time.monotonic()
                report = self.server.judge(source(text, "triton", contract), source(reference, function_name="f"),
                                           atol=2e-3, rtol=2e-3)
                if name in ("descriptors", "matmul of integers") and report["verdict"] in ("unsupported", "compile_failed"):
                    continue  # of this Triton: scratch memory that a plain launch has not, a product that it refuses
                print(f"  {name}: {report['verdict']} {report['trust']} {1e3 * (time.monotonic() - began):.0f} ms "
                      f"{report.get('timing', {}).get('cold')} {report['summary'][:150]}", file=sys.stderr)
                self.assertEqual((report["verdict"], report["trust"], report["environment"]["device"]),
                                 ("passed", "verified", "gpu:0"), report["summary"])

    def test_triton_beside_cuda(self):
        n = 1 << 22
        args = [{**arg, "tensor_spec": {**arg["tensor_spec"], "shape": [n]}} if arg["type"] == "tensor" else arg
                for arg in ADD_IO["args"]]
        args[3] = {**args[3], "value": n}
        io = {"args": args, "launch": {"grid": {"x": n // 128}}}
        cuda_io = {"args": args[:4], "launch": {"grid": {"x": n // 128}, "block": {"x": 128}}}
        report = self.server.call("compare", {"ref_kernel": source(CUDA_ADD, "cuda", cuda_io), "wait_s": 100,
                                              "custom_kernel": source(ADD, "triton", io)})["structuredContent"]
        print(report["summary"], report.get("speedup"), report.get("timing"), file=sys.stderr)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_choices_of_an_autotuner_are_ranked_by_the_engines_clock(self):
        n = 1 << 22
        args = [{**arg, "tensor_spec": {**arg["tensor_spec"], "shape": [n]}} if arg["type"] == "tensor" else arg
                for arg in ADD_IO["args"]][:4]
        args[3] = {**args[3], "value": n}
        configs = ", ".join(f'triton.Config({{"BLOCK": {block}}}, num_warps={warps})' for block in (64, 1024) for warps in (1, 4))
        tuned = ADD.replace("@triton.jit", f'@triton.autotune(configs=[{configs}], key=["n"])\n@triton.jit')
        free = {"args": args, "launch": {"grid": {"x": n // 64}}}
        report = self.server.judge(source(tuned, "triton", free), until="validated")
        chosen = report["kernel_exec_result"]["metadata"]["configuration"]
        self.assertEqual((chosen["configurations"], chosen["chosen"], len(chosen["choices"])), (4, 0, 4), report["summary"])
        parameters = {"BLOCK": sorted({one["metas"]["BLOCK"] for one in chosen["choices"]}),
                      "num_warps": sorted({one["num_warps"] for one in chosen["choices"]})}
        free["launch"]["grid"]["x"] = "ceildiv(n, BLOCK)"
        swept = self.server.call("sweep", {"kernel": source(ADD, "triton", free), "parameters": parameters, "wait_s": 200,
                                           "ref_kernel": source("def f(x_ptr, y_ptr):\n    return x_ptr + y_ptr\n", function_name="f"),
                                           "num_trials": 200, "budget_s": 150}, patience_s=260)["structuredContent"]
        for line in swept["table"]:
            print("  ", line["parameters"], line["verdict"], line["trust"], line.get("cost_ns"), line.get("tied_with_best"), file=sys.stderr)
        self.assertEqual((swept["verdict"], swept["ranked_by"], len(swept["table"])), ("passed", "cost_ns", 4), swept["summary"])
        self.assertEqual({line["trust"] for line in swept["table"]}, {"verified"})
        times = [line["cost_ns"] for line in swept["table"]]
        self.assertEqual(times, sorted(times))

    def test_a_triton_source_hears_of_the_gpu_that_runs_it(self):
        asked = "import torch; p = torch.cuda.get_device_properties(0); print(p.multi_processor_count, p.major, p.minor)"
        count, major, minor = subprocess.run([os.environ["ASSAY_PYTHON"], "-c", asked], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
        asks = f"""import torch
import triton
DEVICE = triton.runtime.driver.active.get_active_torch_device()
assert triton.runtime.driver.active.get_current_target().arch == {major}{minor}
assert torch.cuda.get_device_capability() == ({major}, {minor})
assert torch.cuda.get_device_properties(DEVICE).multi_processor_count == {count}
"""
        report = self.server.judge(source(asks + ADD, "triton", ADD_IO), source("def f(x_ptr, y_ptr):\n    return x_ptr + y_ptr\n", function_name="f"))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_a_configuration_that_the_gpu_has_no_room_for_is_passed_over(self):
        for stages in (2, 9):
            report = self.server.judge(source(MATMUL % stages, "triton", MATMUL_IO), source("def f(a, b):\n    return a @ b\n", function_name="f"),
                                       atol=1e-2, rtol=1e-2, until="validated")
            self.assertEqual(report["verdict"], "passed", report["summary"])
            chosen = report["kernel_exec_result"]["metadata"]["configuration"]
            self.assertEqual(chosen["chosen"], 0 if stages == 2 else 1, chosen)

    def test_several_tensors_that_a_call_changes_are_returned_or_changed_in_place(self):
        (x,) = inputs(shape=(1 << 16,))["args"]
        io = {"args": [{**x, "name": name, "role": "inout"} for name in "ab"]}
        ways = ("def f(a, b):\n    return a * 2, b + 1\n", "def f(a, b):\n    a.mul_(2)\n    b.add_(1)\n")
        for text, reference in (ways, ways[::-1]):
            report = self.server.judge(source(text, io=io, function_name="f"), source(reference, io=io, function_name="f"))
            self.assertEqual((report["verdict"], report["trust"] in ("audited", "verified")), ("passed", True), report["summary"])

    def test_a_triton_kernel_that_was_compiled_is_not_compiled_again(self):
        kernel = source(ADD + f"# {time.time_ns()}\n", "triton", ADD_IO)
        stages = []
        for _ in range(2):
            report = self.server.judge(kernel, detail="full")
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
            stages.append({stage["name"]: stage for stage in report["stages"]}["compiled"])
        print(f"  triton compile: {stages[0]['ms']:.1f} ms, cached {stages[1]['ms']:.1f} ms", file=sys.stderr)
        self.assertEqual([stage["body"]["cached"] for stage in stages], [False, True])

    def test_an_interpreter_is_chosen_by_name(self):
        kernel = source("def f(x):\n    return x + x\n", io=inputs(), function_name="f")
        with TorchServer("--python", "again=" + os.environ["ASSAY_PYTHON"]) as server:
            for python in ("again", os.environ["ASSAY_PYTHON"]):
                report = server.judge(kernel, python=python)
                self.assertIn((report["verdict"], report["trust"]), HONEST, report["summary"])
                self.assertEqual(report["environment"]["device"], "gpu:0")

    def test_torch_builds_its_own_cuda(self):
        io = inputs(names="ab", shape=(100_000,))
        began = time.monotonic()
        report = self.server.judge(source(TORCH_CUDA, "torch_cuda", io),
                                   source("def f(a, b):\n    return a + b\n", io=io, function_name="f"))
        took = time.monotonic() - began
        print(report["summary"], report.get("timing"), file=sys.stderr)
        tell("torch_cuda, first build", f"{took:.1f} s", "9 s", took <= 9)
        self.assertIn((report["verdict"], report["trust"]), HONEST, (report["summary"], report.get("evidence")))

    def built(self, text, **more):
        """How a source that doubles its input was built, after it was judged."""
        began = time.monotonic()
        report = self.server.judge(source(text, "torch_cuda", inputs()), source(SCALE, function_name="scale"), timeout=300, **more)
        self.assertIn((report["verdict"], report["trust"]), HONEST, (report["summary"], report.get("evidence")))
        return next((item["detail"] for item in report["evidence"] if item["check"] == "build"), "by assay"), time.monotonic() - began

    def test_what_host_code_asks_of_the_runtime_needs_no_build_of_torchs(self):
        rows = {"runtime": inline(RUNTIME), "variables": inline(VARIABLES),
                "headers": inline(HEADERS, extra_cuda_cflags=["-DTHREADS=128"]),
                **{name: inline(text) for name, text in ASSEMBLED.items()}}
        for name, text in rows.items():
            with self.subTest(name):
                how, took = self.built(text)
                print(f"  {name}: {how}, {took:.1f} s", file=sys.stderr)
                self.assertEqual(how, "by assay")

    def test_libraries_are_built_by_torch_and_it_is_said(self):
        rows = {"cuBLAS by torch's handle": {"extra_ldflags": ["-lcublas"], "extra_cuda_cflags": ["-O2"]}, "thrust": {}, "CUB over the device": {}}
        for name, flags in rows.items():
            with self.subTest(name):
                text, what = FOREIGN[name]
                how, took = self.built(inline(text, **flags))
                print(f"  {name}: {how}, {took:.1f} s", file=sys.stderr)
                self.assertIn("torch's own load_inline built it", how)
                self.assertTrue(what in how or "-lcublas" in how, how)

    def test_device_code_that_takes_torchs_headers_is_built_by_torch_and_it_is_said(self):
        for name in ("an accessor", "a type to accumulate in"):
            with self.subTest(name):
                text, what = TORCH_ON_DEVICE[name]
                how, took = self.built(inline(text))
                print(f"  {name}: {how}, {took:.1f} s", file=sys.stderr)
                self.assertIn("torch's own load_inline built it", how)
                self.assertIn(what, how)

    def test_a_mistake_that_no_compiler_takes_is_told_once(self):
        began = time.monotonic()
        wrong = inline(PLAIN.replace("a.numel()", "a.count_of_all()"))
        report = self.server.judge(source(wrong, "torch_cuda", inputs()))
        self.assertEqual(report["verdict"], "compile_failed", report["summary"])
        print(f"  a mistake in the host code: {time.monotonic() - began:.1f} s", file=sys.stderr)

    def test_checks_on_the_emulator_look_at_what_is_launched_there_whatever_gpu_there_is(self):
        adds = PLAIN.replace("out[i] = a[i] * 2.0f", "out[i] += a[i] * 2.0f")
        for text, kinds in ((PLAIN, []), (adds, ["uninitialised_global"])):
            report = self.server.judge(source(inline(text), "torch_cuda", inputs()), checks=["memory", "races", "initialised", "barriers"],
                                       device="emulator", timeout=300)
            checks = report["validation"]["checks"]
            self.assertEqual((checks["ran"], [found["kind"] for found in checks["findings"]]), (True, kinds), checks)

    def test_what_no_compiler_takes_is_told_without_a_build(self):
        for wrong, says in ((PLAIN.replace(">>>(", ">>("), "the launch has no '>>>(' behind its '<<<'"),
                            (PLAIN.replace(", 256>>>", ">>>"), "a launch takes 2 to 4 parameters"),
                            (PLAIN.replace("2.0f;\n}", "2.0f;\n"), "'{' has no '}'")):
            report = self.server.judge(source(inline(wrong), "torch_cuda", inputs()))
            self.assertEqual(report["verdict"], "compile_failed", report["summary"])
            self.assertIn(says, report["summary"])

    def test_torch_cuda_is_the_reference_of_a_kernel_in_cuda(self):
        twice = "__global__ void twice(const float* x, float* y, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = x[i] * 2.0f; }"
        (x,) = inputs(shape=(1000,))["args"]
        y = {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [1000], "dtype": "float32"}}
        io = {"args": [x, y, {"name": "n", "type": "int", "value": 1000}], "launch": {"grid": {"x": 4}, "block": {"x": 256}}}
        report = self.server.judge(source(twice, "cuda", io), source(inline(PLAIN), "torch_cuda"))
        self.assertEqual((report["verdict"], report["trust"], report["environment"]["device"]), ("passed", "verified", "gpu:0"), report["summary"])

    def test_each_cheat_is_caught(self):
        io = inputs(shape=(512, 512))
        reference = source(REFERENCE, io=io, function_name="f")
        for name, text in CHEATS.items():
            with self.subTest(name):
                report = self.server.judge(source(text, io=io, function_name="f"), reference)
                print(f"  {name}: {report['verdict']} {report['trust']}: {report['summary'][:160]}", file=sys.stderr)
                caught = report["verdict"] == "wrong_output" or report["trust"] in ("suspect", "rejected")
                lifted = any(one["check"] == "lifted" and one["result"] == "agrees" for one in report["evidence"])
                # The times of a repetition are of a process that its thread is not in: then it has gained nothing.
                if lifted and name == "works ahead while its inputs are made":
                    caught = report["speedup"]["verdict"] != "faster"
                self.assertTrue(caught, (report["verdict"], report["trust"], report["evidence"]))

    def test_what_goes_wrong_is_told_and_costs_its_own_job(self):
        io = inputs(shape=(64, 64))
        rows = (("def f(x):\n    return x @ x[:3]\n", "crashed", "RuntimeError"),
                ("import torch\ndef f(x):\n    return torch.empty(1 << 40, device='cuda')\n", "out_of_memory", ""),
                ("import torch\ndef f(x):\n    y = torch.zeros(4, device='cuda')\n"
                 "    return x + y[torch.tensor([1 << 20], device='cuda')].sum()\n", "crashed", "assert"),
                ("import torch\ndef f(x):\n    torch.cuda._sleep(1 << 62)\n    return x\n", "timed_out", ""))
        for text, verdict, says in rows:
            report = self.server.judge(source(text, io=io, function_name="f"), timeout=5)
            print(f"  {report['verdict']}: {report['summary'][:200]}", file=sys.stderr)
            self.assertEqual(report["verdict"], verdict, report["summary"])
            self.assertIn(says, report["summary"])
            began = time.monotonic()
            good = self.server.judge(source("def f(x):\n    return x + x\n", io=io, function_name="f"), until="validated")
            print(f"    next {time.monotonic() - began:.2f} s", file=sys.stderr)
            self.assertEqual(good["verdict"], "passed", good["summary"])

    def test_times_of_a_warm_evaluation(self):
        text = "def f(x):\n    return x * 2.0 + {}\n"
        for n in (1 << 16, 1 << 20, 1 << 24):
            io = inputs(shape=(n,))
            took = []
            for attempt in range(6):
                began = time.monotonic()
                report = self.server.judge(source(text.format(attempt), io=io, function_name="f"), num_trials=100)
                took.append(1e3 * (time.monotonic() - began))
                self.assertIn((report["verdict"], report["trust"]), HONEST, (report["summary"], report["evidence"]))
            stages = {stage["name"]: round(stage["ms"]) for stage in report["stages"]}
            print(f"  {n}: {stages}, {in_place(report)}", file=sys.stderr)
            median = statistics.median(took)
            tell(f"warm evaluate of a torch function, {n} elements", f"p50 {median:.0f} ms", "600 ms", median <= 600)
            same = source(text.format(0), io=io, function_name="f")
            report = self.server.judge(same, same, num_trials=100)
            print(f"  {n}: against itself {report['speedup']}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
