"""`assay serve --http` as a user starts it: addresses, tokens, both transports at once, a client that leaves."""

import http.client
import json
import os
import pathlib
import signal
from state_folder import StateFolder
import subprocess
import time
import unittest

ASSAY = os.environ["ASSAY"]
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}
TOKEN = "a-token-for-these-tests"
SPIN = "__global__ void k(float* x) { while (x[0] == x[0]) x[1] += 1; }"
KERNEL = {"source_code": SPIN, "kernel_type": "cuda", "io": {
    "args": [{"name": "x", "type": "tensor", "role": "inout",
              "tensor_spec": {"shape": [4], "dtype": "float32", "init": {"kind": "ones"}}}],
    "launch": {"grid": {"x": 1}, "block": {"x": 1}}}}


def serve(state, *options, **popen):
    return subprocess.Popen([ASSAY, "serve", "--state", state, *options], stderr=subprocess.PIPE, **popen)


def port_of(server):
    """The server says where it listens before it serves."""
    for line in server.stderr:
        if b"http://" in line:
            return int(line.rsplit(b":", 1)[1].split(b"/")[0])
    raise AssertionError("the server does not say where it listens")


def request(method, params, identity=1):
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": {**params, "_meta": META}}


def post(port, message, headers=None, timeout=60):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
              "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": message["method"], **(headers or {})}
    if "name" in message["params"]:
        fields["Mcp-Name"] = message["params"]["name"]
    connection.request("POST", "/mcp", json.dumps(message), fields)
    return connection


def ask(port, message, headers=None):
    connection = post(port, message, headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    if response.headers.get("Content-Type") == "text/event-stream":
        body = [line for line in body.split(b"\n") if line.startswith(b"data: ")][-1][6:]
    return response.status, json.loads(body)


class Http(unittest.TestCase):
    def setUp(self):
        self.folder = StateFolder(prefix="assay-http-")
        self.addCleanup(self.folder.cleanup)
        self.state = self.folder.name

    def started(self, *options, **popen):
        server = serve(self.state, *options, **popen)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stderr.close()))
        return server

    def test_an_address_that_others_reach_needs_a_token(self):
        short = pathlib.Path(self.state, "short")
        short.write_text("too short\n")
        empty = pathlib.Path(self.state, "empty")
        empty.write_text("# nobody\n\n")
        for options in (["--http", "0.0.0.0:0"], ["--http", "[::]:0"], ["--http", "localhost:x"], ["--http", "1:2:3"],
                        ["--http", "70000"], ["--http", "0", "--token-file", str(short)],
                        ["--http", "0", "--token-file", str(empty)], ["--http", "0", "--token-file", "/no/such"]):
            with self.subTest(options=options):
                server = self.started(*options)
                self.assertEqual(server.wait(timeout=30), 2)
                self.assertTrue(server.stderr.read())

    def test_a_token_is_asked_for(self):
        tokens = pathlib.Path(self.state, "tokens")
        tokens.write_text("# one line each\n \t" + TOKEN + " \t\r\n")
        server = self.started("--http", "0.0.0.0:0", "--token-file", str(tokens))
        port = port_of(server)
        discover = request("server/discover", {})
        self.assertEqual(ask(port, discover)[0], 401)
        self.assertEqual(ask(port, discover, {"Authorization": "Bearer " + TOKEN + "x"})[0], 401)
        status, answer = ask(port, discover, {"Authorization": "Bearer " + TOKEN})
        self.assertEqual(status, 200)
        self.assertEqual(answer["result"]["supportedVersions"], ["2026-07-28"])

    def test_a_terminated_server_ends_well(self):
        server = self.started("--http", "0")
        self.assertEqual(ask(port_of(server), request("tools/list", {}))[0], 200)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=30), 0)

    def test_both_transports_see_the_same_jobs_and_end_with_the_pipe(self):
        server = self.started("--stdio", "--http", "0", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        port = port_of(server)
        call = request("tools/call", {"name": "compile_kernel", "arguments": {
            "kernel": {"source_code": SPIN, "kernel_type": "cuda"}}})
        status, answer = ask(port, call)
        self.assertEqual(status, 200)
        job_id = answer["result"]["structuredContent"]["job_id"]
        server.stdin.write(json.dumps(request("resources/read", {"uri": "assay://jobs/" + job_id})).encode() + b"\n")
        server.stdin.flush()
        read = json.loads(server.stdout.readline())
        self.assertEqual(json.loads(read["result"]["contents"][0]["text"])["job_id"], job_id)
        server.stdin.close()
        self.assertEqual(server.wait(timeout=30), 0)
        server.stdout.close()

    def test_a_client_that_leaves_has_cancelled_its_job(self):
        port = port_of(self.started("--http", "0"))
        leaving = post(port, request("tools/call", {"name": "evaluate", "arguments": {"kernel": KERNEL}}))
        deadline = time.monotonic() + 60
        state = None
        while time.monotonic() < deadline and state not in ("compiling", "validating", "profiling"):
            _, answer = ask(port, request("tools/call", {"name": "get_job", "arguments": {}}))
            jobs = answer["result"]["structuredContent"]["jobs"]
            state = jobs[0]["state"] if jobs else None
            time.sleep(0.02)
        leaving.close()
        job = {"name": "get_job", "arguments": {"job_id": jobs[0]["job_id"], "wait_s": 30}}
        _, answer = ask(port, request("tools/call", job))
        self.assertEqual(answer["result"]["structuredContent"]["state"], "cancelled")


if __name__ == "__main__":
    unittest.main()
