"""What the prompts tell a model can be done: the tools they name take that kernel type, the guides they name are there, the job is the caller's own."""

import re
import unittest

from assay_client import ADD, Server, kernel

TYPES = ("cuda", "triton", "torch", "torch_cuda", "multi_kernel")
COMPILED = ("cuda", "triton")


class Prompts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())

    def prompt(self, name, **arguments):
        return self.server.answer(self.server.send("prompts/get", {"name": name, "arguments": arguments}))

    def text(self, name, **arguments):
        return self.prompt(name, **arguments)["result"]["messages"][0]["content"]["text"]

    def refusal(self, name, **arguments):
        error = self.prompt(name, **arguments)["error"]
        self.assertEqual(error["code"], -32602)
        return error["message"]

    def test_write_kernel_names_what_takes_its_type(self):
        for kernel_type in TYPES:
            with self.subTest(kernel_type):
                text = self.text("write_kernel", task="adds", kernel_type=kernel_type)
                self.assertIn(f"assay://guide/{kernel_type}", text)
                for uri in re.findall(r"assay://guide/\w+", text):
                    read = self.server.answer(self.server.send("resources/read", {"uri": uri}))
                    self.assertIn("result", read, uri)
                self.assertEqual("`compile_kernel`" in text, kernel_type in COMPILED)
                answer = self.server.call("compile_kernel", {"kernel": {"source_code": ADD, "kernel_type": kernel_type}})
                takes = answer["structuredContent"].get("verdict") != "unsupported"
                self.assertEqual(takes, kernel_type in COMPILED)
        self.assertEqual(self.text("write_kernel", task="adds"), self.text("write_kernel", task="adds", kernel_type="cuda"))

    def test_write_kernel_for_a_type_that_is_none_is_refused(self):
        for kernel_type in ("opencl", "CUDA", "x" * 10000):
            message = self.refusal("write_kernel", task="adds", kernel_type=kernel_type)
            self.assertIn("multi_kernel", message)
            self.assertLess(len(message), 300)

    def test_prompts_of_a_job_are_for_jobs_that_are_there(self):
        for name in ("optimise_kernel", "explain_failure"):
            self.assertIn("not found", self.refusal(name, job_id="no-such-job"))
        passed = self.server.call("evaluate", {"kernel": kernel(ADD), "num_trials": 1})["structuredContent"]["job_id"]
        failed = self.server.call("evaluate", {"kernel": kernel("not C++"), "num_trials": 1})["structuredContent"]["job_id"]
        self.assertIn(passed, self.text("optimise_kernel", job_id=passed))
        self.assertIn(failed, self.text("explain_failure", job_id=failed))
        self.assertIn("passed", self.refusal("explain_failure", job_id=passed))


if __name__ == "__main__":
    unittest.main()
