"""What an agent pays: tools/list and default answers, in tokens, and nothing said twice.

A tokenizer is not at hand; a token is taken as 3 bytes of UTF-8. Tokenizers of today's models need 3.2 to 4.2
bytes of such JSON for one, so that what is counted here is more than what is paid."""

import json
import subprocess
import unittest

from assay_client import ADD, ASSAY, META, Server, contract, kernel, tensor

BYTES_PER_TOKEN = 3
MAX_LIST, MAX_ANSWER = 9000, 2000
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def tokens(value):
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return len(text.encode()) // BYTES_PER_TOKEN


def many_outputs(count):
    body = "".join(f"  if (i < n) o{k}[i] = i * SCALE + {k};\n" for k in range(count))
    source = ("__global__ void many(" + "".join(f"float* o{k}, " for k in range(count)) + "int n) {\n"
              "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + body + "}\n")
    io = {"args": [tensor(f"o{k}", 1000, role="output") for k in range(count)] + [{"name": "n", "type": "int", "value": 1000}],
          "launch": {"grid": {"x": 4}, "block": {"x": 256}}}
    return source, io


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())

    def answer(self, tool, arguments):
        return self.server.call(tool, {"wait_s": 120, **arguments})

    def test_the_list_of_tools_is_affordable_in_every_revision(self):
        listed = {"2026-07-28": self.server.answer(self.server.send("tools/list"))["result"]}
        for revision in REVISIONS:
            with Server() as server:
                server.answer(server.send("initialize", {"protocolVersion": revision, "capabilities": {},
                                                         "clientInfo": {"name": "t", "version": "1"}}, meta=False))
                listed[revision] = server.answer(server.send("tools/list", meta=False))["result"]
        for revision, result in listed.items():
            self.assertLessEqual(tokens(result), MAX_LIST, revision)
            for tool in result["tools"]:
                self.assertEqual(tool["inputSchema"]["type"], "object", tool["name"])
                self.assertFalse({"allOf", "anyOf", "oneOf", "$ref"} & set(tool["inputSchema"]), tool["name"])

    def test_who_wants_kernels_only_pays_for_no_more(self):
        def names(server):
            return [tool["name"] for tool in server.answer(server.send("tools/list"))["result"]["tools"]]

        steps = {"run_plan", "run_test_generator", "benchmark_commits", "run_scenario"}
        everything = names(self.server)
        self.assertLessEqual(steps, set(everything))
        with Server("--tools", "kernel") as server:
            self.assertEqual(names(server), [name for name in everything if name not in steps])
            refused = server.answer(server.send("tools/call", {"name": "run_plan", "arguments": {}}))
            self.assertEqual(refused["error"]["code"], -32602)
        with Server("--tools", "all") as server:
            self.assertEqual(names(server), everything)
        unknown = subprocess.run([ASSAY, "serve", "--tools", "some"], capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual((unknown.returncode, unknown.stdout), (2, b""))

    def cases(self):
        wrong = ADD.replace("a[i] + b[i]", "a[i] - b[i]")
        errors = "".join(f"undefined_{k} x{k};\n" for k in range(120)) + ADD
        noisy = ADD.replace("if (i < n)", 'printf("thread %d says something long that nobody will read\\n", i);\n  if (i < n)')
        source, io = many_outputs(12)
        both = {"ref_kernel": kernel("#define SCALE 1\n" + source, io), "kernel": kernel("#define SCALE 2\n" + source, io)}
        yield "passed", "evaluate", {"kernel": kernel(ADD), "ref_kernel": kernel(ADD)}
        yield "wrong_output", "evaluate", {"kernel": kernel(wrong), "ref_kernel": kernel(ADD)}
        yield "wrong_output", "evaluate", both
        yield "passed", "evaluate", {"kernel": both["kernel"], "ref_kernel": both["kernel"]}
        yield "compile_failed", "evaluate", {"kernel": kernel(errors)}
        yield "crashed", "evaluate", {"kernel": kernel(ADD.replace("out[i]", "out[i + 1000000]"))}
        yield "passed", "evaluate", {"kernel": kernel(noisy)}
        yield "passed", "compare", {"custom_kernel": kernel(ADD), "ref_kernel": kernel(ADD)}
        yield "passed", "compile_kernel", {"kernel": {"source_code": ADD, "kernel_type": "cuda"}}
        thirty = "".join(ADD.replace("add", f"add_number_{k}") for k in range(30))
        yield "passed", "compile_kernel", {"kernel": {"source_code": thirty, "kernel_type": "cuda"}}

    def test_a_default_answer_is_affordable_whatever_it_says(self):
        for verdict, tool, arguments in self.cases():
            with self.subTest(tool=tool, verdict=verdict):
                if tool == "compile_kernel":
                    result = self.server.call(tool, arguments)
                else:
                    result = self.answer(tool, arguments)
                self.assertEqual(result["structuredContent"]["verdict"], verdict)
                paid = tokens(result["structuredContent"]) + tokens(result["content"])
                self.assertLessEqual(paid, MAX_ANSWER, json.dumps(result)[:6000])

    def test_the_text_is_short_and_repeats_no_json(self):
        for verdict, tool, arguments in self.cases():
            result = self.server.call(tool, arguments)
            text = "".join(block.get("text", "") for block in result["content"])
            with self.subTest(tool=tool, verdict=verdict):
                self.assertNotIn('{"', text)
                self.assertNotIn('":', text)
                if verdict != "compile_failed":
                    self.assertLessEqual(len(text.splitlines()), 8, text)

    def test_what_is_left_out_can_be_read(self):
        verdict, tool, arguments = next(case for case in self.cases() if case[0] == "compile_failed")
        report = self.answer(tool, arguments)["structuredContent"]
        log = next(one for one in report["artifacts"] if one["name"] == "log")
        read = self.server.answer(self.server.send("resources/read", {"uri": log["uri"]}))
        self.assertIn("undefined_99", read["result"]["contents"][0]["text"])


if __name__ == "__main__":
    unittest.main()
