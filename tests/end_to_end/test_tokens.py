"""What an agent pays: tools/list and default answers, in tokens, and nothing said twice.

A tokenizer is not at hand; a token is taken as 3 bytes of UTF-8. Tokenizers of today's models need 3.2 to 4.2
bytes of such JSON for one, so that what is counted here is more than what is paid."""

import json
import subprocess
import unittest

from assay_client import ADD, ASSAY, Server, contract, kernel, tensor

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
                self.assertNotIn('"$ref"', json.dumps(tool["inputSchema"]), tool["name"])

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
        yield "compile_failed", "compile_kernel", {"kernel": {"source_code": errors, "kernel_type": "cuda"}}

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

    def test_counters_that_were_asked_for_are_told_whole(self):
        for sections in ("on", ["access_pattern_metrics", "memory_metrics", "compute_metrics"]):
            with self.subTest(sections):
                asked = {"kernel": kernel(ADD), "device_metrics": sections}
                short, full = (self.answer("evaluate", {**asked, "detail": detail})["structuredContent"] for detail in ("short", "full"))
                self.assertEqual(short["device_metrics"].keys(), full["device_metrics"].keys())
                self.assertNotIn("truncated", short)

    def test_the_text_is_short_and_repeats_no_json(self):
        for verdict, tool, arguments in self.cases():
            result = self.server.call(tool, arguments)
            text = "".join(block.get("text", "") for block in result["content"])
            with self.subTest(tool=tool, verdict=verdict):
                self.assertNotIn('{"', text)
                self.assertNotIn('":', text)
                if verdict != "compile_failed":
                    self.assertLessEqual(len(text.splitlines()), 8, text)

    def check_short(self, result):
        text = "".join(block.get("text", "") for block in result["content"])
        self.assertLessEqual(len(text.splitlines()), 8, text)
        self.assertLessEqual(tokens(result["structuredContent"]) + tokens(result["content"]), MAX_ANSWER)
        return result["structuredContent"]

    def test_a_refusal_is_affordable_whatever_was_wrong(self):
        bad = {"args": [{"name": f"x{k}", "type": "tensor", "tensor_spec": {"shape": [0], "dtype": "float99"}} for k in range(500)]}
        error = self.check_short(self.server.call("evaluate", {"kernel": kernel(ADD, bad)}))["error"]
        self.assertGreaterEqual(error["violations_total"], 500)
        self.assertEqual(error["violations"][0]["pointer"], "/kernel/io/args/0/tensor_spec/dtype")
        unknown = {f"{'n' * 150}_{k}": 1 for k in range(300)}
        for tool in ("evaluate", "compile_kernel", "build_io_contract", "get_job"):
            with self.subTest(tool):
                error = self.check_short(self.server.call(tool, unknown))["error"]
                self.assertLess(len(error["violations"]), error["violations_total"])

    def test_a_large_contract_is_left_out_whole_and_can_be_had(self):
        _, io = many_outputs(100)
        source, _ = many_outputs(60)
        for arguments in ({"io": io}, {"kernel": {"source_code": "#define SCALE 1\n" + source}}):
            with self.subTest(list(arguments)):
                brief = self.check_short(self.server.call("build_io_contract", arguments))
                self.assertNotIn("io_contract", brief)
                self.assertIn("save_as", brief["io_contract_omitted"])
                self.assertGreater(brief["explanation_total"], 50)
                whole = self.server.call("build_io_contract", {**arguments, "detail": "full"})["structuredContent"]
                self.assertGreater(len(whole["io_contract"]["args"]), 60)
                self.assertEqual(len(whole["explanation"]), brief["explanation_total"])
        small = self.check_short(self.server.call("build_io_contract", {"io": contract()}))
        self.assertEqual([arg["name"] for arg in small["io_contract"]["args"]], ["a", "b", "out", "n"])

    def test_many_kernels_of_many_parameters_are_affordable(self):
        source, _ = many_outputs(60)
        many = "#define SCALE 1\n" + "".join(source.replace("many(", f"many_{k}(") for k in range(20))
        report = self.check_short(self.server.call("compile_kernel", {"kernel": {"source_code": many, "kernel_type": "cuda"}}))
        self.assertEqual((report["verdict"], report["kernels_total"]), ("passed", 20))

    def test_a_list_of_jobs_is_affordable(self):
        with Server() as server:
            for k in range(12):
                server.call("compile_kernel", {"kernel": {"source_code": f"__global__ void k{k}() {{}}", "kernel_type": "cuda"}})
            listed = self.check_short(server.call("get_job", {}))
            self.assertEqual((len(listed["jobs"]), listed["older"]), (10, True))
            everything = server.call("get_job", {"limit": 200})["structuredContent"]
            self.assertEqual((len(everything["jobs"]), "older" in everything), (12, False))

    def test_no_answer_is_longer_than_its_cap(self):
        many = "".join(ADD.replace("add", f"add_{k}") for k in range(40))
        arguments = {"kernel": {"source_code": many, "kernel_type": "cuda"}, "include_ptx": True, "detail": "full"}
        for cap in (300, 2000, 20000):
            result = self.server.call("compile_kernel", {**arguments, "max_tokens": cap})
            with self.subTest(cap):
                said = "".join(block.get("text", "") for block in result["content"])
                self.assertLessEqual(tokens(result["structuredContent"]) + tokens(said), cap)
                report = result["structuredContent"]
                self.assertEqual((report["verdict"], report["status"]), ("passed", "success"))
                for cut in report.get("truncated", []):
                    self.assertLess(cut["kept"], cut["of"])
        self.assertNotIn("truncated", self.server.call("compile_kernel", {**arguments, "max_tokens": 1000000})["structuredContent"])
        refused = self.server.call("evaluate", {"kernel": kernel(ADD), "max_tokens": 5})
        self.assertEqual(refused["structuredContent"]["error"]["violations"][0]["pointer"], "/max_tokens")

    def test_every_tool_that_can_answer_long_takes_a_cap(self):
        listed = self.server.answer(self.server.send("tools/list"))["result"]["tools"]
        uncapped = [tool["name"] for tool in listed if "max_tokens" not in tool["inputSchema"].get("properties", {})]
        self.assertEqual(uncapped, ["get_server_stats"])
        stats = self.server.call("get_server_stats")
        self.assertLessEqual(tokens(stats["structuredContent"]) + tokens(stats["content"]), MAX_ANSWER)
        job = self.server.call("evaluate", {"kernel": kernel(ADD), "wait_s": 60})["structuredContent"]["job_id"]
        # Each with something that it answers at length here.
        asked = {"compile_kernel": {"kernel": {"source_code": ADD, "kernel_type": "cuda"}, "detail": "full", "include_ptx": True},
                 "evaluate": {"kernel": kernel(ADD), "ref_kernel": kernel(ADD), "detail": "full"},
                 "compare": {"custom_kernel": kernel(ADD), "ref_kernel": kernel(ADD), "detail": "full"},
                 "build_io_contract": {"io": contract(), "detail": "full"},
                 "sweep": {"kernel": kernel(ADD), "variants": [{}, {"io": contract(block=128)}], "num_trials": 2, "detail": "full"},
                 "get_job": {"job_id": job, "detail": "full"}, "cancel_job": {"job_id": job}, "check_capabilities": {},
                 "run_plan": {"plan": "cases: [" + ", ".join(f"unknown_{k}" for k in range(300)) + "]", "mode": "validate"},
                 "run_test_generator": {"script": "no-such-file-" + "x" * 3000}, "benchmark_commits": {"repo": "no-such-repository-" + "x" * 3000, "head": "HEAD"},
                 "run_scenario": {"mode": "audit_log", "log": "pip install xformers --find-links /cache\n" * 500, "detail": "full"}}
        self.assertEqual(set(asked), {tool["name"] for tool in listed} - set(uncapped))
        for tool in listed:
            if tool["name"] in uncapped:
                continue
            with self.subTest(tool["name"]):
                for cap in (200, 600):
                    result = self.server.call(tool["name"], {**asked[tool["name"]], "max_tokens": cap})
                    refused = result["structuredContent"].get("error")
                    self.assertNotIn("unknown property", json.dumps(refused))
                    said = "".join(block.get("text", "") for block in result["content"])
                    self.assertLessEqual(tokens(result["structuredContent"]) + tokens(said), cap, json.dumps(result)[:2000])

    def test_ptx_in_an_answer_is_bounded_and_its_resource_is_whole(self):
        table = ", ".join(str(k) for k in range(50000))
        large = f"__device__ int table[50000] = {{{table}}};\n" + ADD.replace("a[i]", "a[i] + table[i]")
        for text, omitted in ((ADD, False), (large, True)):
            report = self.server.call("compile_kernel", {"kernel": {"source_code": text, "kernel_type": "cuda"}, "include_ptx": True, "wait_s": 120})["structuredContent"]
            self.assertEqual((report["verdict"], "ptx_omitted" in report, "ptx" in report), ("passed", omitted, not omitted))
            if omitted:
                self.assertGreater(report["ptx_omitted"]["bytes"], 256 << 10)
                read = self.server.answer(self.server.send("resources/read", {"uri": report["ptx_omitted"]["uri"]}))
                self.assertIn(".entry", read["result"]["contents"][0]["text"])

    def test_what_is_left_out_can_be_read(self):
        verdict, tool, arguments = next(case for case in self.cases() if case[0] == "compile_failed")
        report = self.answer(tool, arguments)["structuredContent"]
        log = next(one for one in report["artifacts"] if one["name"] == "log")
        read = self.server.answer(self.server.send("resources/read", {"uri": log["uri"]}))
        self.assertIn("undefined_99", read["result"]["contents"][0]["text"])


if __name__ == "__main__":
    unittest.main()
