"""`assay mcp-config` prints what works: each text is read as its client reads it, and what it names is started. And `assay call --url`."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import tomllib
import unittest

from assay_client import ADD, FOREVER, META, kernel
from state_folder import StateFolder

ASSAY = os.environ["ASSAY"]
TOKEN = "a-token-for-these-tests"


def config(client, *options):
    done = subprocess.run([ASSAY, "mcp-config", client, *options], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


def started_by(client, text):
    """The command line in a configuration, read as the client reads it."""
    if client == "codex":
        entry = tomllib.loads(text)["mcp_servers"]["assay"]
        return [entry["command"], *entry["args"]]
    document = json.loads(text)
    if client == "opencode":
        return document["mcp"]["assay"]["command"]
    entry = document["servers" if client == "vscode" else "mcpServers"]["assay"]
    return [entry["command"], *entry["args"]]


class Config(unittest.TestCase):
    BY_URL = ("claude", "codex", "cursor", "gemini", "opencode", "vscode")
    CLIENTS = (*BY_URL, "claude-desktop")

    def test_what_a_configuration_names_is_a_server(self):
        request = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}
        for client in self.CLIENTS:
            with self.subTest(client=client), tempfile.TemporaryDirectory() as state:
                code, text = config(client, "--", "--state", state)
                self.assertEqual(code, 0)
                done = subprocess.run(started_by(client, text), input=json.dumps(request) + "\n", capture_output=True, text=True, timeout=60)
                self.assertEqual(json.loads(done.stdout)["result"]["supportedVersions"], ["2026-07-28"])

    def test_a_server_by_url_never_has_its_token_in_the_file(self):
        for client in self.BY_URL:
            code, text = config(client, "--url", "http://box:8000/mcp", "--token-variable", "ASSAY_TOKEN")
            self.assertEqual(code, 0)
            self.assertIn("http://box:8000/mcp", text)
            self.assertIn("ASSAY_TOKEN", text)
            self.assertNotIn("--stdio", text)
            tomllib.loads(text) if client == "codex" else json.loads(text)

    def test_the_address_of_a_server_means_its_endpoint_and_a_path_is_the_users_own(self):
        for given, meant in {"http://box:8000": "http://box:8000/mcp", "http://box:8000/": "http://box:8000/mcp", "https://[::1]:8000": "https://[::1]:8000/mcp",
                             "http://box:8000/mcp/": "http://box:8000/mcp/", "http://box/gpu/mcp": "http://box/gpu/mcp", "http://box/sse": "http://box/sse"}.items():
            for client in self.BY_URL:
                code, text = config(client, "--url", given)
                self.assertEqual(code, 0)
                self.assertIn(f'"{meant}"', text)

    def test_what_a_client_would_drop_without_a_word_is_a_mistake_of_usage(self):
        for options in (("claude-desktop", "--url", "http://box:8000"), ("claude", "--token-variable", "ASSAY_TOKEN"),
                        ("claude", "--url", "http://box:8000", "--", "--state", "here")):
            with self.subTest(options):
                self.assertEqual(config(*options), (2, ""))

    def test_what_is_no_url_is_a_mistake_of_usage(self):
        for url in ("box:1", "box", "http://", "https:///mcp", "ftp://box:1", "http://two words", ""):
            with self.subTest(url):
                self.assertEqual(config("claude", "--url", url), (2, ""))

    def test_a_client_nobody_knows_is_a_mistake_of_usage(self):
        self.assertEqual(config("emacs")[0], 2)
        self.assertEqual(config("claude", "--name", "two words")[0], 2)


class Call(unittest.TestCase):
    def setUp(self):
        self.folder = StateFolder(prefix="assay-url-")
        self.addCleanup(self.folder.cleanup)
        tokens = pathlib.Path(self.folder.name, "tokens")
        tokens.write_text(TOKEN + "\n")
        self.tokens = str(tokens)
        self.server = subprocess.Popen([ASSAY, "serve", "--http", "0", "--token-file", self.tokens,
                                        "--state", self.folder.name + "/state"], stderr=subprocess.PIPE)
        self.addCleanup(lambda: (self.server.kill(), self.server.wait(), self.server.stderr.close()))
        for line in self.server.stderr:
            if b"http://" in line:
                self.url = line.split()[-1].decode()
                break

    def command(self, tool, *options, url=None, tokens=True):
        return [ASSAY, "call", tool, "-", "--url", url or self.url, *(["--token-file", self.tokens] if tokens else []), *options]

    def call(self, tool, arguments, *options, **how):
        done = subprocess.run(self.command(tool, *options, **how), input=json.dumps(arguments), capture_output=True, text=True, timeout=120)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    def test_a_call_by_url_is_the_servers(self):
        code, report = self.call("evaluate", {"kernel": kernel(ADD), "num_trials": 2}, "--check")
        self.assertEqual((code, report["verdict"]), (0, "passed"))
        code, again = self.call("get_job", {"job_id": report["job_id"]}, url=self.url.removesuffix("/mcp"))
        self.assertEqual((code, again["verdict"]), (0, "passed"))
        wrong = kernel(ADD.replace("a[i] + b[i]", "a[i] - b[i]"))
        code, report = self.call("compare", {"ref_kernel": kernel(ADD), "custom_kernel": wrong}, "--check")
        self.assertEqual((code, report["verdict"]), (1, "wrong_output"))
        self.assertEqual(self.call("evaluate", {"kernel": 3})[0], 3)

    def test_old_names_and_forms_are_the_servers_too(self):
        flat = {"kernel_source": ADD, "kernel_type": "cuda", "io_contract": kernel(ADD)["io"], "num_trials": 1}
        for tool in ("evaluate_kernel", "validate_kernel", "evaluate"):
            with self.subTest(tool):
                code, report = self.call(tool, flat, "--check")
                self.assertEqual((code, report["verdict"]), (0, "passed"), report)
        code, told = self.call("get_job_status", {"job_id": report["job_id"]})
        self.assertEqual((code, told["verdict"]), (0, "passed"))
        code, report = self.call("compare_kernels", {"request": json.dumps({"ref_kernel": kernel(ADD), "custom_kernel": kernel(ADD), "num_trials": 1})}, "--check")
        self.assertEqual((code, report["verdict"]), (0, "passed"), report)
        code, said = self.call("evaluate_kernels", flat)
        self.assertEqual(code, 2)
        self.assertNotIn("evaluate_kernel", said.split("there are:")[1])

    def test_what_cannot_be_called_says_why(self):
        self.assertEqual(self.call("nothing", {})[0], 2)
        code, why = self.call("get_job", {}, tokens=False)
        self.assertEqual(code, 4)
        self.assertIn("401", why)
        for url in ("ftp://x", "http://", "http://127.0.0.1:port", "nonsense"):
            self.assertEqual(self.call("get_job", {}, url=url)[0], 2, url)
        code, why = self.call("get_job", {}, url="http://127.0.0.1:1")
        self.assertEqual(code, 4)
        self.assertIn("127.0.0.1:1", why)

    def test_a_call_that_is_given_up_is_cancelled_there(self):
        caller = subprocess.Popen(self.command("evaluate"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        caller.stdin.write(json.dumps({"kernel": kernel(FOREVER), "timeout": 600}).encode())
        caller.stdin.close()
        jobs, end = [], time.monotonic() + 60
        while (not jobs or jobs[0]["state"] != "validating") and time.monotonic() < end:
            jobs = self.call("get_job", {})[1]["jobs"]
        caller.send_signal(signal.SIGTERM)
        self.assertEqual(caller.wait(timeout=60), 5)
        caller.stdout.close(), caller.stderr.close()
        state = None
        while state != "cancelled" and time.monotonic() < end:
            state = self.call("get_job", {"job_id": jobs[0]["job_id"], "wait_s": 5})[1]["state"]
        self.assertEqual(state, "cancelled")


if __name__ == "__main__":
    unittest.main()
