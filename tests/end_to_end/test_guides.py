"""assay://guide/…: every example in them is run, and does what the guide says."""

import ast
import json
import re
import unittest

from assay_client import Server

NAMES = {"cuda", "torch", "torch_cuda", "triton", "multi_kernel", "io_contract"}
CUDA = re.compile(r"```cuda ?(\w*)\n(.*?)```\s*```json contract\n(.*?)```", re.S)
PYTHON = re.compile(r"```python metadata=(.*?)\n(.*?)```\s*```json contract\n(.*?)```", re.S)
COMPACT = re.compile(r"```compact\n(.*?)```", re.S)
MAX_BYTES = 6000  # a model reads the whole of it: about 1,500 tokens


class Guides(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server("--python", "/nonexistent/python"))
        listed = cls.server.answer(cls.server.send("resources/list"))["result"]["resources"]
        cls.guides = {}
        for resource in listed:
            if resource["uri"].startswith("assay://guide/"):
                read = cls.server.answer(cls.server.send("resources/read", {"uri": resource["uri"]}))
                cls.guides[resource["name"]] = read["result"]["contents"][0]["text"]

    def evaluate(self, source, kernel_type, io, **metadata):
        kernel = {"source_code": source, "kernel_type": kernel_type, "io": json.loads(io)}
        if metadata:
            kernel["metadata"] = metadata
        return self.server.call("evaluate", {"kernel": kernel, "num_trials": 2})["structuredContent"]

    def test_there_is_one_for_every_type_and_the_contract_and_each_is_short(self):
        self.assertEqual(set(self.guides), NAMES)
        for name, text in self.guides.items():
            self.assertTrue(text.startswith(f"# {name}: "), name)
            self.assertLess(len(text.encode()), MAX_BYTES, name)

    def test_every_cuda_example_ends_as_it_says(self):
        seen = 0
        for name, text in self.guides.items():
            self.assertEqual(len(CUDA.findall(text)), text.count("```cuda"), name)
            for verdict, source, io in CUDA.findall(text):
                seen += 1
                with self.subTest(guide=name, source=source):
                    report = self.evaluate(source, "cuda", io)
                    self.assertEqual(report["verdict"], verdict or "passed", report["summary"])
                    self.assertEqual([w for w in report["warnings"] if not verdict], [])
        self.assertGreaterEqual(seen, 4)

    def test_every_python_example_is_python_and_where_it_is_unsupported_the_reason_is_told(self):
        for name in NAMES - {"cuda", "io_contract"}:
            examples = PYTHON.findall(self.guides[name])
            self.assertEqual(len(examples), self.guides[name].count("```python"), name)
            self.assertGreaterEqual(len(examples), 1, name)
            self.assertRegex(self.guides[name], r"`unsupported`|\*\*It needs an interpreter")
            for metadata, source, io in examples:
                with self.subTest(guide=name):
                    functions = {node.name for node in ast.walk(ast.parse(source))
                                 if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
                    metadata = json.loads(metadata)
                    self.assertLessEqual(set(metadata.values()), functions)
                    report = self.evaluate(source, name, io, **metadata)
                    self.assertEqual(report["verdict"], "unsupported")
                    self.assertIn("--python", report["summary"])

    def test_the_device_code_of_torch_cuda_can_be_judged_as_cuda(self):
        ((_, source, io),) = PYTHON.findall(self.guides["torch_cuda"])
        io = json.loads(io)
        io["args"] += [{"name": "out", "type": "tensor", "role": "output", "tensor_spec": {"shape": [1024], "dtype": "float32"}},
                       {"name": "n", "type": "int", "value": 1024}]
        io["launch"] = {"grid": {"x": 4}, "block": {"x": 256}}
        report = self.evaluate(source, "cuda", json.dumps(io))
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_the_compact_text_is_the_contract_above_it(self):
        text = self.guides["io_contract"]
        (compact,), ((_, source, io),) = COMPACT.findall(text), CUDA.findall(text)
        built = self.server.call("build_io_contract", {"text": compact})["structuredContent"]["io_contract"]
        again = self.server.call("build_io_contract", {"text": compact.replace("; block", ";  block")})
        self.assertEqual(again["structuredContent"]["io_contract"], built)
        kernels = [{"source_code": source, "kernel_type": "cuda", "io": contract} for contract in (built, json.loads(io))]
        jobs = [self.server.call("evaluate", {"kernel": kernel, "num_trials": 1})["structuredContent"] for kernel in kernels]
        self.assertEqual([job["verdict"] for job in jobs], ["passed", "passed"])
        # The same seeds, shapes and launch: the engine did exactly the same work.
        self.assertEqual(jobs[0]["validation"]["counters"], jobs[1]["validation"]["counters"])


if __name__ == "__main__":
    unittest.main()
