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
