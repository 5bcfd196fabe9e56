"""Whole files as models write them, pasted as `cuda`: their device code compiles, and the contract that is
inferred from each fits the signature which the compiler sees."""

import os
import tempfile
import unittest

from assay_client import Server

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pasted")
SIZES = {"n": 500, "size": 500, "numElements": 500, "count": 500, "rows": 8, "cols": 40, "width": 500,
         "M": 40, "N": 24, "K": 36}


def evaluate(server, kernel, **more):
    arguments = {"kernel": kernel, "num_trials": 1, "wait_s": 140, **more}
    return server.call("evaluate", arguments)["structuredContent"]


class Paste(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def infer(self, text):
        result = self.server.call("build_io_contract", {"kernel": {"source_code": text}})
        self.assertFalse(result.get("isError"), result["content"][0]["text"])
        contract = result["structuredContent"]["io_contract"]
        ints = {arg["name"] for arg in contract["args"] if arg["type"] == "int"}
        sizes = {name: SIZES[name] for name in ints if name in SIZES}
        result = self.server.call("build_io_contract", {"kernel": {"source_code": text}, "sizes": sizes})
        return result["structuredContent"]

    def judge(self, name):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            text = file.read()
        built = self.infer(text)
        report = evaluate(self.server, {"source_code": text, "kernel_type": "cuda",
                                              "io": built["io_contract"]}, until="validated")
        self.assertEqual(report["verdict"], "passed", (name, report["summary"], report["warnings"],
                                                       built["text"]))
        return report

    def test_a_compiler_message_points_at_the_pasted_files_own_line(self):
        with open(os.path.join(FOLDER, "main_harness.cu"), encoding="utf-8") as file:
            text = file.read().replace("C[i] = A[i] + B[i];", "C[i] = A[i] + missing;")
        line = next(i for i, row in enumerate(text.split("\n"), 1) if "missing" in row)
        io = self.infer(text)["io_contract"]
        report = evaluate(self.server, {"source_code": text, "kernel_type": "cuda", "io": io})
        self.assertEqual(report["verdict"], "compile_failed")
        self.assertIn(f":{line}:", report["summary"])
        self.assertTrue(any("main" in warning["message"] for warning in report["warnings"]), report["warnings"])

    def test_python_is_read_as_python_and_messages_point_at_its_lines(self):
        with open(os.path.join(FOLDER, "composed_strings.py"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(self.judge("composed_strings.py")["verdict"], "passed")
        wrong = text.replace("TWICE(x[i]);", "missing(x[i]);")
        line = next(i for i, row in enumerate(wrong.split("\n"), 1) if "missing" in row)
        report = self.server.call("compile_kernel", {"kernel": {"source_code": wrong, "kernel_type": "cuda"}})["structuredContent"]
        self.assertIn(f"kernel.cu:{line}:", report["summary"])
        self.assertEqual(report["diagnostics"][0]["excerpt"].strip(), "if (i < n) y[i] = missing(x[i]);")

    def test_what_python_would_make_otherwise_is_said(self):
        text = "import torch\nsource = f'__global__ void k(float* p) {{ p[{INDEX}] = 1; }}'\nload_inline(cuda_sources=source)\n"
        report = self.server.call("compile_kernel", {"kernel": {"source_code": text, "kernel_type": "cuda"}})["structuredContent"]
        self.assertTrue(any("line 2" in warning["message"] and "{INDEX}" in warning["message"]
                            for warning in report["warnings"]), report["warnings"])
        again = self.server.call("get_job", {"job_id": report["job_id"]})["structuredContent"]
        self.assertEqual(again["warnings"], report["warnings"])

    def test_an_instance_is_of_the_type_that_is_launched_or_that_the_contract_has(self):
        kernel = ("template <typename T> __global__ void third(const T* x, T* y, int n) "
                  "{ int i = threadIdx.x; if (i < n) y[i] = x[i] / T(3); }\n")
        hosts = {
            "uint32": ["void go(uint32_t* x, uint32_t* y) { third<uint32_t><<<1, 64>>>(x, y, 64); }",
                       "void go(torch::Tensor x, torch::Tensor y) { AT_DISPATCH_ALL_TYPES(x.scalar_type(), \"third\", "
                       "([&] { third<scalar_t><<<1, 64>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), 64); })); }"],
            "float64": ["void go(double* x, double* y) { third<<<1, 64>>>(x, y, 64); }",
                        "using real = double;\nvoid go(real* x, real* y) { third<real><<<1, 64>>>(x, y, 64); }",
                        "template <class S> void go(S* x, S* y) { third<S><<<1, 64>>>(x, y, 64); }\n"
                        "int main() { double *a, *b; go<double>(a, b); }",
                        "void go(double* x, double* y) { int n = 64; void* args[] = {&x, &y, &n}; "
                        "cudaLaunchKernel((void*)third<double>, 1, 64, args, 0, 0); }"],
        }
        for dtype, c_type in (("uint32", "unsigned"), ("float64", "double")):
            contents = {"kind": "uniform", "low": 1000, "high": 30000, "seed": 1}
            tensors = [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [64], "dtype": dtype, "init": contents}},
                       {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [64], "dtype": dtype}}]
            io = {"args": tensors + [{"name": "n", "type": "int", "value": 64}], "launch": {"grid": 1, "block": 64}}
            reference = kernel.replace("template <typename T> ", "").replace("T*", c_type + "*").replace("T(3)", c_type + "(3)")
            for host in hosts[dtype]:
                with self.subTest(host):
                    report = self.server.call("compare", {
                        "custom_kernel": {"source_code": kernel + host, "kernel_type": "cuda", "io": io},
                        "ref_kernel": {"source_code": reference, "kernel_type": "cuda", "io": io},
                        "num_trials": 1, "until": "validated", "wait_s": 140})["structuredContent"]
                    self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
                    self.assertFalse(any("third<float>" in each["message"] for each in report["warnings"]))

    def test_a_type_that_nothing_tells_is_said_to_be_assumed(self):
        text = ("template <typename T> __global__ void k(T* x) { x[0] = T(1); }\n"
                "void go(torch::Tensor x) { k<scalar_t><<<1, 1>>>(x.data_ptr<scalar_t>()); }")
        report = self.server.call("compile_kernel", {"kernel": {"source_code": text, "kernel_type": "cuda"}})["structuredContent"]
        said = [each["message"] for each in report["warnings"] if "k<float>" in each["message"]]
        self.assertEqual(len(said), 1, report["warnings"])
        self.assertIn("assumed", said[0])
        self.assertNotIn("taken from the launches", said[0])

    def test_the_flags_of_a_python_file_reach_the_compiler_or_are_named(self):
        text = ("from torch.utils.cpp_extension import load_inline\n"
                "src = '__global__ void k(float* x) { x[threadIdx.x] = BLOCK; }'\n"
                "load_inline(name='m', cuda_sources=src, extra_cuda_cflags=['-O3', '-DBLOCK=128', '-Xptxas=-v'])\n")
        report = self.server.call("compile_kernel", {"kernel": {"source_code": text, "kernel_type": "cuda"}})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"])
        said = [each["message"] for each in report["warnings"] if "compile flags" in each["message"]]
        self.assertEqual(len(said), 1, report["warnings"])
        self.assertIn("-O3, -Xptxas=-v", said[0])
        self.assertNotIn("BLOCK", said[0])
        built = self.server.call("build_io_contract", {"kernel": {"source_code": text}})["structuredContent"]
        self.assertTrue(any("set aside" in each["message"] for each in built["warnings"]), built["warnings"])

    def test_a_chain_of_strings_costs_no_memory_and_is_told(self):
        lines = ["import torch", "a0 = 'aaaaaaaaaaaaaaaa'"]
        lines += ["a%d = f'{a%d}{a%d}'" % (i + 1, i, i) for i in range(18)]
        lines += ["b%d = f'{a18}{a17}'" % i for i in range(100)]
        text = "\n".join(lines) + "\nload_inline(cuda_sources='__global__ void k(float* x) { x[0] = 1; }')\n"
        report = self.server.call("compile_kernel", {"kernel": {"source_code": text, "kernel_type": "cuda"}})["structuredContent"]
        self.assertTrue(any("more text together than is followed" in each["message"] for each in report["warnings"]),
                        report["warnings"])

    def test_a_stored_contract_and_an_earlier_job_stand_for_themselves(self):
        with open(os.path.join(FOLDER, "pybind_module.cu"), encoding="utf-8") as file:
            text = file.read()
        self.server.call("build_io_contract", {"kernel": {"source_code": text}, "sizes": {"n": 300},
                                               "save_as": "silu"})
        first = evaluate(self.server, {"source_code": text, "kernel_type": "cuda", "io": "silu"})
        self.assertEqual(first["verdict"], "passed", first["summary"])
        again = evaluate(self.server, {"job_id": first["job_id"]})
        self.assertEqual(again["verdict"], "passed", again)
        refused = self.server.call("evaluate", {"kernel": {"job_id": "nobody", "kernel_type": "cuda"}})
        self.assertTrue(refused["isError"])
        self.assertIn("/kernel/job_id", refused["content"][0]["text"])


class SourceFiles(unittest.TestCase):
    def test_only_files_below_the_root_are_read(self):
        with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as outside:
            secret = os.path.join(outside, "secret.cu")
            with open(secret, "w", encoding="utf-8") as file:
                file.write("__global__ void k(float* x) { x[0] = 1; }")
            os.symlink(secret, os.path.join(root, "link.cu"))
            os.symlink(outside, os.path.join(root, "folder"))
            os.mkfifo(os.path.join(root, "fifo.cu"))
            with open(os.path.join(root, "k.cu"), "w", encoding="utf-8") as file:
                file.write("__global__ void k(float* x) { x[threadIdx.x] = 1; }")
            io = {"args": [{"name": "x", "type": "tensor", "role": "output", "tensor_spec": {"shape": [32]}}],
                  "launch": {"grid": 1, "block": 32}}
            with Server("--source-root", root) as server:
                for path in (secret, "../" + os.path.basename(outside) + "/secret.cu", "link.cu",
                             "folder/secret.cu", "fifo.cu", "missing.cu", ".", "/etc/passwd", "/proc/self/environ"):
                    result = server.call("evaluate", {"kernel": {"source_file": path, "kernel_type": "cuda", "io": io}})
                    self.assertTrue(result["isError"], path)
                    self.assertIn("/kernel/source_file", result["content"][0]["text"])
                for path in ("k.cu", "./k.cu", os.path.join(root, "k.cu")):
                    report = evaluate(server, {"source_file": path, "kernel_type": "cuda", "io": io})
                    self.assertEqual(report["verdict"], "passed", report)


def add_cases():
    for name in sorted(os.listdir(FOLDER)):
        def test(self, name=name):
            self.judge(name)
        setattr(Paste, "test_pasted_" + name.replace(".", "_"), test)


add_cases()

if __name__ == "__main__":
    unittest.main()
