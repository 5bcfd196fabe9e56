"""The MCP Inspector's command line, unmodified: each transport in each of its eras, with its own check of tools' schemas."""

import json
import unittest

from assay_client import ADD, ASSAY, kernel
from client_test import NODE, TOKEN, ClientTest, find, needs

PROGRAM = find("inspector", "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
TOOLS = {"compile_kernel", "evaluate", "compare", "sweep", "build_io_contract", "get_job", "cancel_job", "check_capabilities", "get_server_stats"}


@needs("node", "inspector")
class Inspector(ClientTest):
    def inspect(self, where, era, method, *options):
        done = self.run_client(str(NODE), PROGRAM, "--cli", *where, "--protocol-era", era, "--method", method, "--format", "json", *options)
        self.assertEqual(done.returncode, 0, f"{where[-1]} {era} {method}: {done.stderr[-1500:]}")
        return json.loads(done.stdout)["result"], done.stderr

    def tour(self, where, eras):
        """Everything the Inspector can do with a server of ours, in each era that the transport has."""
        call = ["--tool-name", "evaluate", "--tool-args-json", json.dumps({"kernel": kernel(ADD), "num_trials": 2})]
        for era in eras:
            with self.subTest(era=era):
                listed, complaints = self.inspect(where, era, "tools/list", "--strict")
                self.assertLessEqual(TOOLS, {tool["name"] for tool in listed["tools"]})
                self.assertNotRegex(complaints, "(Error|Warning): tool")
                report, _ = self.inspect(where, era, "tools/call", *call)
                self.assertEqual(report["structuredContent"]["verdict"], "passed")
                self.assertFalse(report.get("isError", False))
                templates, _ = self.inspect(where, era, "resources/templates/list")
                self.assertIn("assay://jobs/{job_id}", {one["uriTemplate"] for one in templates["resourceTemplates"]})
                guide, _ = self.inspect(where, era, "resources/read", "--uri", "assay://guide/cuda")
                self.assertIn("__global__", guide["contents"][0]["text"])
                prompts, _ = self.inspect(where, era, "prompts/list")
                self.assertEqual({one["name"] for one in prompts["prompts"]}, {"write_kernel", "optimise_kernel", "explain_failure"})

    def test_stdio_in_every_era(self):
        self.tour([ASSAY, "serve", "--stdio", "--state", self.state], ("legacy", "auto", "modern"))

    def test_streamable_http_in_every_era(self):
        self.tour(["--server-url", self.serve_http(), "--transport", "http", "--header", f"Authorization: Bearer {TOKEN}"], ("legacy", "auto", "modern"))

    def test_http_with_sse(self):
        # The transport of 2024-11-05 has no modern era.
        url = self.serve_http().removesuffix("/mcp") + "/sse"
        self.tour(["--server-url", url, "--transport", "sse", "--header", f"Authorization: Bearer {TOKEN}"], ("legacy", "auto"))

    def test_without_the_token_it_is_not_let_in(self):
        url = self.serve_http()
        done = self.run_client(str(NODE), PROGRAM, "--cli", "--server-url", url, "--transport", "http", "--method", "tools/list", "--format", "json")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("compile_kernel", done.stdout)

    def test_a_load_of_its_own_making_has_no_errors(self):
        where = ["--server-url", self.serve_http(), "--transport", "http", "--header", f"Authorization: Bearer {TOKEN}"]
        done = self.run_client(str(NODE), PROGRAM, "--cli", *where, "--protocol-era", "modern", "--method", "tools/call", "--tool-name", "get_job",
                               "--load", "--load-concurrency", "16", "--load-requests", "500", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr[-1500:])
        self.assertRegex(done.stdout, r'"(errors|failed|errorCount)"\s*:\s*0', done.stdout[:2000])


if __name__ == "__main__":
    unittest.main()
