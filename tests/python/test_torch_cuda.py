"""torch_cuda without a GPU: the host half compiled against torch, the device half executed by the emulator."""

import os
import shutil
import tempfile
import unittest

from assay_client import ASSAY, tensor
from torch_cuda_sources import (ASSEMBLED, CHECKED, COOPERATIVE, DECLARED, FOREIGN, HEAD, HEADERS, IN_CPP, NO_TORCH_ON_DEVICE, OPERATORS, PLAIN,
                                REGISTERED, ROWS, RUNTIME, TAIL, TORCH_ON_DEVICE, VARIABLES, asking, inline)
from torch_server import SCALE, TorchServer, inputs, source

CENTRED = "import torch\n\ndef f(x):\n    return x - x.mean(dim=1, keepdim=True)\n"


class TorchCuda(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, text, io=None, reference=SCALE, function="scale", **more):
        return self.server.judge(source(text, "torch_cuda", io or inputs()), reference and
                                 source(reference, function_name=function), **more)

    def passes(self, text, **more):
        report = self.judge(text, **more)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report)
        return report

    def ends(self, verdict, says, text, **more):
        report = self.judge(text, **more)
        self.assertEqual(report["verdict"], verdict, report["summary"])
        self.assertIn(says, report["summary"])
        self.assertNotEqual(report["trust"], "verified")
        return report

    def test_a_kernel_beside_its_host_function(self):
        report = self.passes(inline(PLAIN))
        (built,) = report["kernel_exec_result"]["metadata"]["built"]
        self.assertEqual(built["kernels"], ["twice"])
        timed = next(stage for stage in report["stages"] if stage["name"] == "timed")
        self.assertEqual((timed["status"], report["timing"]["clock"]), ("skipped", "emulated"))

    def test_a_script_that_mixes_kernels_may_build_them_too(self):
        script = inline(PLAIN) + "\ndef run(x):\n    return ModelNew()(x)\n"
        report = self.server.judge(source(script, "multi_kernel", inputs(), entry_point="run"), source(SCALE, function_name="scale"))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])

    def test_what_was_built_is_not_built_again(self):
        text = inline(PLAIN.replace("twice", "kept"))
        cached = [self.passes(text)["kernel_exec_result"]["metadata"]["built"][0]["cached"] for _ in range(2)]
        self.assertEqual(cached, [False, True])

    def test_templates_dispatch_guards_and_checks(self):
        for dtype in ("float32", "float64", "float16"):
            with self.subTest(dtype):
                self.passes(inline(CHECKED), io=inputs(shape=(1000,), dtype=dtype))

    def test_small_floats_mix_with_other_numbers_as_torchs_do(self):
        # CUDA's own __half takes none of these.
        kernel = """
#include <torch/extension.h>
template <typename scalar_t>
__global__ void mixed(const scalar_t* __restrict__ a, scalar_t* __restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  scalar_t v = a[i];
  scalar_t relu = v > 0 ? v : scalar_t(0);
  relu += v * 2.0f + 1;
  out[i] = -v / (scalar_t(1) + exp(-v)) + relu;
}
torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  int n = a.numel();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, a.scalar_type(), "mixed", ([&] {
    mixed<scalar_t><<<(n + 127) / 128, 128>>>(a.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n);
  }));
  return out;
}
"""
        reference = "import torch\n\ndef f(x):\n    x = x.float()\n    return (-x * torch.sigmoid(x) + x.relu() + x * 2 + 1).to(KIND)\n"
        for dtype, rtol in (("float32", 1e-5), ("float16", 4e-3), ("bfloat16", 4e-2)):
            with self.subTest(dtype):
                self.passes(inline(kernel), io=inputs(shape=(1000,), dtype=dtype), reference=reference.replace("KIND", f"torch.{dtype}"), function="f",
                            atol=rtol, rtol=rtol)
        self.ends("compile_failed", "nonsense", inline(kernel.replace("v > 0", "nonsense(v) > 0")), io=inputs(shape=(1000,)))

    def test_a_line_before_a_launch_without_its_end_is_told_as_that(self):
        self.ends("compile_failed", "';' before 'static_cast' (a launch is compiled as one)", inline(PLAIN.replace("a.numel();", "a.numel()")))

    def test_kernels_whose_heads_only_the_preprocessor_knows_are_unsupported(self):
        head = "__global__ void twice(const float* a, float* out, int n)"
        for said, text in (("a kernel that a macro makes, at kernel.py:", "#define KERNEL __global__ __launch_bounds__(256)\nKERNEL void twice(const float* a, float* out, int n)"),
                           ("a kernel that a macro makes, at kernel.py:", "#define DEF(NAME, T) __global__ void NAME(const T* a, T* out, int n)\nDEF(twice, float)"),
                           ("a kernel whose head depends on the preprocessor, at kernel.py:",
                            "__global__ void twice(const float* a, float* out,\n#ifdef WITH\nconst float* b,\n#endif\nint n)")):
            with self.subTest(text):
                self.ends("unsupported", said, inline(PLAIN.replace(head, text)))

    def test_two_kernels_with_dynamic_shared_memory(self):
        self.passes(inline(ROWS), reference=CENTRED, function="f", io=inputs(shape=(33, 70)))

    def test_much_dynamic_shared_memory_is_asked_for_first_as_on_a_gpu(self):
        launched = "template <int N> __global__ void k(float* y) { extern __shared__ float s[]; s[threadIdx.x] = 2.0f; y[threadIdx.x] = s[threadIdx.x] * N; }\n"
        host = ("torch::Tensor forward(torch::Tensor x) { auto y = torch::empty_like(x); constexpr int kOne = 1; %s"
                " k<kOne><<<1, 64, 100000>>>(y.data_ptr<float>()); return y; }")
        asks = "cudaFuncSetAttribute(k<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, %s);"
        io = {"args": [tensor("x", 64, kind="randn", seed=3), tensor("y", 64, role="output")]}
        reference = "import torch\ndef f(x):\n    return torch.full_like(x, 2.0)\n"
        self.passes(inline(launched + host % (asks % 100000)), reference=reference, function="f", io=io)
        for text in ("", asks % 65536):
            self.ends("crashed", "cudaFuncAttributeMaxDynamicSharedMemorySize", inline(launched + host % text), reference=reference, function="f", io=io)

    def test_a_define_in_two_words_is_one(self):
        factor = PLAIN.replace("2.0f", "FACTOR")
        for flags in (["-DFACTOR=2.0f"], ["-D", "FACTOR=2.0f"], ["-O2", "-D", "FACTOR=2.0f", "-DOTHER"]):
            self.passes(inline(factor, extra_cuda_cflags=flags))

    def test_the_launch_may_stand_in_cpp_sources(self):
        self.passes(inline(*IN_CPP))

    def test_texts_in_the_call_lists_and_bindings_of_its_own(self):
        self.passes(f"{HEAD}module = load_inline('mine', [{DECLARED!r}], [{PLAIN!r}], ['forward'])\n{TAIL}")
        bound = "#include <torch/extension.h>\n" + DECLARED + "\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"forward\", &forward); }"
        self.passes(inline(PLAIN, bound, functions="None"))

    def test_operators_that_it_registers_are_called_as_torchs(self):
        report = self.passes(inline(REGISTERED, cpp="", functions="None", tail=OPERATORS, is_python_module=False))
        self.assertEqual(report["kernel_exec_result"]["metadata"]["built"][0]["kernels"], ["twice"])
        self.passes(inline(REGISTERED, tail=OPERATORS))
        self.ends("wrong_output", "", inline(REGISTERED.replace("a / by", "a / (by + 1)"), cpp="", functions="None", tail=OPERATORS,
                                             is_python_module=False))
        self.ends("crashed", "'mine_ops'", inline(PLAIN, cpp="", functions="None", tail=OPERATORS, is_python_module=False))

    def test_two_extensions_in_one_source(self):
        second = PLAIN.replace("twice", "thrice").replace("2.0f", "3.0f")
        text = inline(PLAIN, tail="") + (f"other = load_inline('other', '{DECLARED}', r'''{second}''', ['forward'])\n"
                                         "class ModelNew(nn.Module):\n    def forward(self, x):\n        return other.forward(x) - module.forward(x)\n")
        self.passes(text, reference="def f(x):\n    return x\n", function="f")

    def test_it_is_the_reference_of_device_code(self):
        text = inline(PLAIN)
        twice = "__global__ void twice(const float* x, float* y, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = x[i] * 2.0f; }"
        io = {"args": [tensor("x", 1000, kind="randn", seed=3), tensor("y", 1000, role="output"), {"name": "n", "type": "int", "value": 1000}],
              "launch": {"grid": {"x": 4}, "block": {"x": 256}}}
        for factor, verdict in (("2.0f", "passed"), ("2.5f", "wrong_output")):
            report = self.server.judge(source(twice.replace("2.0f", factor), "cuda", io), source(text, "torch_cuda"), until="validated")
            self.assertEqual(report["verdict"], verdict, report["summary"])
        triton = ("import triton\nimport triton.language as tl\n@triton.jit\ndef twice(x, y, n, B: tl.constexpr):\n"
                  "    at = tl.program_id(0) * B + tl.arange(0, B)\n    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)\n")
        io = {**io, "args": [*io["args"], {"name": "B", "type": "int", "value": 256, "is_meta": True}], "launch": {"grid": {"x": 4}}}
        report = self.server.judge(source(triton, "triton", io), source(text, "torch_cuda"), until="validated")
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        broken = self.server.judge(source(triton, "triton", io), source(text.replace("* 2.0f", "* two"), "torch_cuda"), until="validated")
        self.assertNotEqual(broken["verdict"], "passed")
        self.assertIn("two", broken["summary"])

    def test_a_wrong_kernel_is_wrong(self):
        self.ends("wrong_output", "", inline(PLAIN.replace("2.0f", "2.5f")))

    def test_errors_are_told_in_the_users_lines(self):
        text = inline(PLAIN.replace("a[i] * 2.0f", "b[i] * 2.0f"))
        line = text.split("\n").index("  if (i < n) out[i] = b[i] * 2.0f;") + 1
        report = self.ends("compile_failed", f"kernel.py:{line}", text)
        self.assertIn("b", report["summary"])
        text = inline(PLAIN.replace("int n = a.numel();", "int n = a.count_of_all();"))
        line = text.split("\n").index("  int n = a.count_of_all();") + 1
        self.ends("compile_failed", f"kernel.py:{line}: ", text)
        self.ends("compile_failed", "`functions` names must be defined", inline(PLAIN, functions="['backward']"))

    def test_a_mistake_that_reading_alone_finds_is_the_authors(self):
        launch = "twice<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), out.data_ptr<float>(), n);"
        for wrong, says in ((launch[:-2] + ";", "'(' has no ')'"),
                            (launch.replace(">>>(", ">>("), "the launch has no '>>>(' behind its '<<<'"),
                            (launch.replace(">>>(", ">>> "), "')' has no '('"),
                            (launch.replace("<<<(", "<<<(("), "'(' has no ')'"),
                            (launch.replace(", 256>>>", ">>>"), "a launch takes 2 to 4 parameters: grid, block, dynamic shared memory, stream; got 1"),
                            (launch.replace("256>>>", "256, 0, 0, 0>>>"), "a launch takes 2 to 4 parameters: grid, block, dynamic shared memory, stream; got 5")):
            with self.subTest(wrong):
                text = inline(PLAIN.replace(launch, wrong))
                line = next(i for i, one in enumerate(text.split("\n"), 1) if "<<<" in one)
                report = self.ends("compile_failed", f"The source does not compile at kernel.py:{line}: {says}", text)
                told = report["diagnostics"][0]
                self.assertEqual((told["line"], told["excerpt"].strip()), (line, wrong))
        text = inline(PLAIN.replace("2.0f;\n}", "2.0f;\n"))
        line = next(i for i, one in enumerate(text.split("\n"), 1) if "__global__" in one)
        self.ends("compile_failed", f"kernel.py:{line}: '{{' has no '}}'", text)

    def test_a_macros_launch_of_too_few_parameters_is_told_in_words_of_launches(self):
        macro = "#define RUN(k, ...) k<<<__VA_ARGS__>>>(a.data_ptr<float>(), out.data_ptr<float>(), n)\n"
        text = inline(macro + PLAIN.replace("twice<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), out.data_ptr<float>(), n);", "RUN(twice, (n + 255) / 256, 256);"))
        self.passes(text)
        report = self.ends("compile_failed", "a launch takes 2 to 4 parameters", text.replace("/ 256, 256)", "/ 256)"))
        self.assertNotIn("assay", report["summary"])

    def test_brackets_that_the_preprocessor_chooses_are_no_mistake(self):
        self.passes(inline("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint two() { return 2; }\n#ifdef __cplusplus\n}\n#endif\n" + PLAIN))
        torn = inline(PLAIN.replace("torch::Tensor forward(torch::Tensor a) {", "#ifdef ELSEWHERE\ntorch::Tensor forward(torch::Tensor a, int b) {\n"
                                    "#else\ntorch::Tensor forward(torch::Tensor a) {\n#endif"))
        line = torn.split("\n").index("#else") + 1
        self.ends("unsupported", f"brackets that the preprocessor opens or closes at kernel.py:{line}, which only torch's own build on a GPU has", torn)
        self.passes(inline("#define BEGIN namespace mine {\n#define END }\nBEGIN\nint one() { return 1; }\nEND\n" + PLAIN))

    def test_errors_in_a_text_that_python_made_are_told_in_its_own_lines(self):
        made = inline(PLAIN.replace("2.0f", "FACTOR"))
        wrong = made.replace("cpp_source = ", "cuda_source = cuda_source.replace('FACTOR', 'factor')\ncpp_source = ")
        line = PLAIN.split("\n").index("  if (i < n) out[i] = a[i] * 2.0f;") + 1
        self.ends("compile_failed", f"cuda_sources:{line}", wrong)
        self.passes(made.replace("cpp_source = ", "cuda_source = cuda_source.replace('FACTOR', '2.0f')\ncpp_source = "))

    def test_what_the_host_throws_stands_at_the_call(self):
        text = inline(PLAIN.replace("int n = a.numel();", "int n = a.numel(); TORCH_CHECK(n == 7, \"seven are wanted, not \", n);"))
        line = text.split("\n").index("        return module.forward(x)") + 1
        self.ends("crashed", f"kernel.py:{line}", text)
        self.ends("crashed", "seven are wanted, not 4096", text)

    def test_what_the_emulator_finds_is_told_with_its_line(self):
        io = inputs(shape=(1000,))
        text = inline(PLAIN.replace("if (i < n)", "if (i <= n)"))
        line = text.split("\n").index("  if (i <= n) out[i] = a[i] * 2.0f;") + 1
        self.ends("crashed", f"kernel.py:{line}", text, io=io)
        caught = text.replace("return module.forward(x)", "try:\n            return module.forward(x)\n"
                              "        except Exception:\n            return x * 2.0")
        self.ends("crashed", f"kernel.py:{line}", caught, io=io)
        self.ends("launch_failed", "", inline(PLAIN.replace("/ 256, 256", "/ 2048, 2048")))

    def test_what_no_assembler_takes_does_not_compile(self):
        table = PLAIN.replace("__global__", "__constant__ float table[20000];\n__global__", 1).replace("* 2.0f", "* 2.0f + table[i]")
        written = table.replace("twice<<<", "std::vector<float> host(20000); cudaMemcpyToSymbol(table, host.data(), 80000);\n  twice<<<")
        for text, says in ((asking('asm volatile("garbage %%r1;");', in_kernel=True), "kernel.py:{}:3: assembler: Parsing error near '%'"),
                           (asking('asm volatile("add.s32 foo, bar, baz;");', in_kernel=True), "kernel.py:{}:3: assembler: Arguments mismatch"),
                           (table, "assembler: File uses too much global constant data"),
                           (written, "assembler: File uses too much global constant data")):
            with self.subTest(says):
                text = inline(text)
                line = next((number for number, one in enumerate(text.split("\n"), 1) if "asm volatile" in one), 0)
                self.ends("compile_failed", says.format(line), text)
        self.passes(inline(written.replace("20000", "10000").replace("80000", "40000").replace("table[i]", "table[i % 10000]")))
        self.ends("unsupported", "The emulator cannot execute wgmma.fence", inline(asking('asm volatile("wgmma.fence.sync.aligned;");', in_kernel=True)))

    def test_a_cooperative_launch_of_more_blocks_than_a_device_has_at_once_is_no_launch(self):
        for blocks, verdict, says in (("each * parts", "passed", ""), ("each * parts + 1", "launch_failed", "cudaErrorCooperativeLaunchTooLarge"),
                                      ("100000", "launch_failed", "No device takes this launch of twice: Too many blocks for a cooperative launch")):
            with self.subTest(blocks):
                self.ends(verdict, says, inline(COOPERATIVE.replace("BLOCKS", blocks)))

    def test_what_honest_host_code_asks_of_the_runtime_is_answered(self):
        report = self.passes(inline(RUNTIME))
        self.assertEqual(report["kernel_exec_result"]["metadata"]["built"][0]["kernels"], ["twice"])

    def test_variables_of_the_device_are_written_and_read_by_the_host(self):
        report = self.passes(inline(VARIABLES))
        self.assertEqual(report["kernel_exec_result"]["metadata"]["built"][0]["kernels"], ["apply"])
        self.ends("wrong_output", "", inline(VARIABLES.replace("four = torch::full({1}, 4.0", "four = torch::full({1}, 3.0")))

    def test_device_headers_and_flags_of_both_compilers(self):
        self.passes(inline(HEADERS, extra_cuda_cflags=["-O3", "-DTHREADS=64", "--expt-relaxed-constexpr", "-lineinfo"]))
        self.passes(inline(HEADERS, extra_cflags=["-O2", "-DTHREADS=32"], extra_cuda_cflags=["-DTHREADS=32", "--use_fast_math"]))

    def test_empty_flags_are_none(self):
        self.passes(inline(PLAIN, extra_cflags=[""], extra_ldflags=[""], verbose=True))

    def test_what_only_cudas_own_compiler_builds_is_named(self):
        for name, (text, what) in FOREIGN.items():
            with self.subTest(name):
                report = self.ends("unsupported", what, inline(text))
                self.assertIn("only torch's own build on a GPU has", report["summary"])
                self.assertRegex(report["summary"], r"kernel\.py:\d+")
        for name, text in ASSEMBLED.items():
            with self.subTest(name):
                self.ends("unsupported", f"calls {name}, which has no stand-in", inline(text))

    def test_device_code_that_takes_torchs_headers_is_told_by_its_place(self):
        for name, (text, what) in TORCH_ON_DEVICE.items():
            with self.subTest(name):
                text = inline(text)
                line = next(i for i, one in enumerate(text.split("\n"), 1) if what in one)
                self.ends("unsupported", f"The device code uses {what} at kernel.py:{line}, which only torch's own build on a GPU has", text)

    def test_a_mistake_in_device_code_without_torch_is_the_authors(self):
        for name, text in NO_TORCH_ON_DEVICE.items():
            with self.subTest(name):
                text = inline(text)
                line = next(i for i, one in enumerate(text.split("\n"), 1) if "< m)" in one or "LOOP(i, m)" in one)
                self.ends("compile_failed", f"kernel.py:{line}", text)
                self.passes(text.replace("i < m)", "i < n)").replace("LOOP(i, m)", "LOOP(i, n)"))

    def test_a_mistake_in_a_cuda_name_is_the_authors(self):
        self.ends("compile_failed", "did you mean", inline(PLAIN.replace("auto out", "cudaDeviceSynchronise(); auto out")))

    def test_what_needs_a_gpu_is_unsupported_and_named(self):
        blas = PLAIN.replace("auto out", "cublasHandle_t handle = nullptr; cublasCreate(&handle); auto out")
        line = next(i for i, one in enumerate(inline(blas).split("\n"), 1) if "cublas" in one)
        self.ends("unsupported", f"cublasHandle_t at kernel.py:{line},", inline(blas))
        self.ends("unsupported", "-lcublas", inline(PLAIN, extra_ldflags=["-lcublas"]))
        graph = PLAIN.replace("return out;", "size_t f = 0, t = 0; cudaMemGetInfo(&f, &t); return out;")
        self.ends("unsupported", "cudaMemGetInfo", inline(graph))

    def test_a_library_call_in_a_kernels_place_is_said(self):
        report = self.passes(inline(PLAIN.replace("twice<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), out.data_ptr<float>(), n);",
                                                  "out = a * 2;")))
        self.assertIn("launches", [item["check"] for item in report["evidence"]])
        self.assertTrue(any("No kernel of its own was launched" in item["message"] for item in report["warnings"]))

    def test_files_of_the_machine_cannot_be_read_by_including_them(self):
        for text in (PLAIN.replace("#include <cuda_runtime.h>", "#include \"/etc/passwd\""),
                     PLAIN.replace("#include <cuda_runtime.h>", "#include \"/proc/self/environ\""),
                     PLAIN.replace("#include <cuda_runtime.h>", "asm(\".incbin \\\"/etc/passwd\\\"\");")):
            report = self.ends("compile_failed", "", inline(text))
            self.assertNotIn("root:", str(report))

    def test_code_that_runs_when_the_library_is_loaded_is_confined(self):
        bad = PLAIN + "\n#include <unistd.h>\n#include <cstdlib>\nstruct Early { Early() { if (fork() == 0) _exit(0); _exit(3); } } early;\n"
        self.ends("crashed", "", inline(bad))
        self.passes(inline(PLAIN))

    def test_an_endless_compile_ends(self):
        bomb = PLAIN + "\ntemplate <int N> struct B { static constexpr int v = B<N - 1>::v + B<N - 2>::v; };\n" \
            "template <class T, int N> struct D { typename D<D<T, N - 1>, N - 1>::type a; typename D<D<T*, N - 1>, N - 1>::type b; };\n" \
            "int x = sizeof(D<int, 1000>);\n"
        report = self.judge(inline(bomb))
        self.assertIn(report["verdict"], ("compile_failed", "timed_out", "out_of_memory"), report["summary"])
        self.passes(inline(PLAIN))

    def test_a_source_of_megabytes_is_answered(self):
        report = self.judge(inline(PLAIN + "// " + "x" * 900_000 + "\n" + "<" * 100_000), until="compiled")
        self.assertEqual(report["verdict"], "unsupported", report["summary"])
        self.assertRegex(report["summary"], r"a launch that cannot be read at kernel\.py:\d+,")


class WithoutCompiler(unittest.TestCase):
    """The executables alone, as somebody copies them to a machine that has no CUDA."""

    def test_a_missing_compiler_is_told_before_the_host_half_is_compiled(self):
        binaries = os.path.dirname(os.path.realpath(ASSAY))
        with tempfile.TemporaryDirectory(prefix="assay-alone-") as folder:
            alone = os.path.join(folder, "bin")
            os.mkdir(alone)
            for name in ("assay", "assay-runner", "libassay-python.so"):
                shutil.copy(os.path.join(binaries, name), alone)
            nowhere = {"HOME": folder, "PATH": "/usr/bin:/bin", "ASSAY_CUDA_DIR": "", "CUDA_HOME": "", "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}
            with TorchServer(executable=os.path.join(alone, "assay"), env=nowhere) as server:
                report = server.judge(source(inline(PLAIN), "torch_cuda", inputs()), until="validated")
                if report["verdict"] == "passed":
                    self.skipTest("a CUDA compiler is installed where every server looks")
                self.assertEqual(report["verdict"], "unsupported", report["summary"])
                self.assertIn("No CUDA compiler (NVRTC) on this machine", report["summary"])
                self.assertEqual(report["error"]["missing"], "libnvrtc")
                self.assertFalse(os.path.exists(os.path.join(server.state, "compiled", "wrappers")))


if __name__ == "__main__":
    unittest.main()
