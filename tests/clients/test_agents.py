"""Coding agents, unmodified and without an account, shown the server by what `assay mcp-config` prints for each.

Each connects and says so; that it asked for the tools and was answered is read from the tap. What needs a
model (and so an account) is not tried: whether a tool is called is the model's choice.
"""

import json
import subprocess
import threading
import unittest

from assay_client import ASSAY
from client_test import NODE, TOKEN, ClientTest, build_for_this_machine, find, needs

SECRETS = {"ASSAY_TOKEN": TOKEN}


class Agent(ClientTest):
    PROGRAM = str(NODE)

    def setUp(self):
        if not self.PROGRAM:
            self.skipTest("unsupported: the package has no build for this machine")
        super().setUp()

    def config(self, client, *options):
        done = subprocess.run([ASSAY, "mcp-config", client, *options], capture_output=True, text=True, check=True)
        return done.stdout

    def stdio_config(self, client):
        """The command that `mcp-config` names, behind the tap."""
        text = self.config(client, "--", "--state", self.state)
        if client == "codex":
            lines = text.splitlines()
            command = self.stdio_command()
            return "\n".join([lines[0], f"command = {json.dumps(command[0])}", f"args = {json.dumps(command[1:])}"]) + "\n"
        document = json.loads(text)
        if client == "opencode":
            self.assertEqual(document["mcp"]["assay"]["command"], [ASSAY, "serve", "--stdio", "--state", self.state])
            document["mcp"]["assay"]["command"] = self.stdio_command()
        else:
            entry = document["mcpServers"]["assay"]
            self.assertEqual([entry["command"], *entry["args"]], [ASSAY, "serve", "--stdio", "--state", self.state])
            entry["command"], *entry["args"] = self.stdio_command()
        return json.dumps(document)

    def http_config(self, client, url=None):
        return self.config(client, "--url", url or self.serve_http(), "--token-variable", "ASSAY_TOKEN")

    def write(self, place, text):
        file = self.home / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def succeeded(self, done):
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout + done.stderr


@needs("claude")
class Claude(Agent):
    PROGRAM = build_for_this_machine("claude", "@anthropic-ai/claude-code-linux-*/claude")

    def listed(self, text):
        # A file in a project waits for a person's approval; a person's own configuration does not.
        entry = json.dumps(json.loads(text)["mcpServers"]["assay"])
        self.succeeded(self.run_client(self.PROGRAM, "mcp", "add-json", "--scope", "user", "assay", entry, environment=SECRETS))
        return self.succeeded(self.run_client(self.PROGRAM, "mcp", "list", environment=SECRETS))

    def test_stdio(self):
        said = self.listed(self.stdio_config("claude"))
        self.assertRegex(said, "assay: .*Connected")
        self.assert_all_answered()

    def test_http(self):
        self.assertRegex(self.listed(self.http_config("claude")), "assay: .*Connected")

    def test_http_with_a_wrong_token_is_not_connected(self):
        said = self.listed(self.http_config("claude").replace("${ASSAY_TOKEN}", "a-wrong-token-here"))
        self.assertNotIn("Connected", said)


@needs("node", "codex")
class Codex(Agent):
    def tools(self):
        """What `codex app-server` says of its MCP servers."""
        server = subprocess.Popen([str(NODE), find("codex", "node_modules/@openai/codex/bin/codex.js"), "app-server"], cwd=self.work, text=True,
                                  env=self.environment(**SECRETS), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        late = threading.Timer(120, server.kill)
        late.start()
        try:
            for message in ({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
                            {"method": "initialized"}, {"id": 2, "method": "mcpServerStatus/list", "params": {}}):
                server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            for line in server.stdout:
                if json.loads(line).get("id") == 2:
                    return {one["name"]: set(one["tools"]) for one in json.loads(line)["result"]["data"]}
            raise AssertionError("codex app-server ended without an answer")
        finally:
            late.cancel()
            server.kill()
            server.wait()
            server.stdin.close(), server.stdout.close()

    def test_stdio(self):
        self.write(".codex/config.toml", self.stdio_config("codex"))
        self.assertLessEqual({"evaluate", "compare"}, self.tools()["assay"])
        self.assertIn("tools/list", self.assert_all_answered())

    def test_http(self):
        self.write(".codex/config.toml", self.http_config("codex"))
        self.assertLessEqual({"evaluate", "compare"}, self.tools()["assay"])


@needs("node", "gemini")
class Gemini(Agent):
    def listed(self):
        return self.succeeded(self.run_client(str(NODE), find("gemini", "node_modules/.bin/gemini"), "mcp", "list",
                                              environment={"GEMINI_CLI_TRUST_WORKSPACE": "true", **SECRETS}))

    def test_stdio(self):
        self.write(".gemini/settings.json", self.stdio_config("gemini"))
        self.assertRegex(self.listed(), "assay: .*Connected")
        self.assert_all_answered()

    def test_http(self):
        self.write(".gemini/settings.json", self.http_config("gemini"))
        self.assertRegex(self.listed(), "assay: .*Connected")


@needs("opencode")
class Opencode(Agent):
    PROGRAM = build_for_this_machine("opencode", "opencode-linux-*/bin/opencode")

    def listed(self):
        return self.succeeded(self.run_client(self.PROGRAM, "mcp", "list", environment=SECRETS))

    def test_stdio(self):
        self.write("work/opencode.json", self.stdio_config("opencode"))
        self.assertRegex(self.listed(), "assay.*connected")
        self.assert_all_answered()

    def test_http(self):
        self.write("work/opencode.json", self.http_config("opencode"))
        self.assertRegex(self.listed(), "assay.*connected")


if __name__ == "__main__":
    unittest.main()
