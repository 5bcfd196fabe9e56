"""What tests of real clients share: a home and an environment of the client's own, a server over HTTP, the tap."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import packages
from assay_client import ASSAY, wait_gone, descendants

HERE = pathlib.Path(__file__).resolve().parent
TOKEN = "a-token-that-real-clients-send"
NODE = packages.FOLDER / "node" / "node_modules" / "node" / "bin" / "node"


def needs(*names):
    """Skips a class whose packages could not be had; `run` has said why."""
    missing = [name for name in names if not packages.installed(name)]
    return unittest.skipIf(missing, f"unsupported: {', '.join(missing)} could not be installed here")


def find(name, inside):
    return str(packages.FOLDER / name / inside)


def build_for_this_machine(name, pattern):
    """A package's program for this processor, or None: packages have one build for each."""
    return next(map(str, sorted((packages.FOLDER / name / "node_modules").glob(pattern))), None)


class ClientTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="assay-clients-")
        self.addCleanup(self._folder.cleanup)
        self.home = pathlib.Path(os.path.realpath(self._folder.name))
        self.work = self.home / "work"
        self.work.mkdir()
        self.state = str(self.home / "state")
        self.tapped = self.home / "tap.log"

    def environment(self, **more):
        """Nothing of the user's: no account, no configuration, no proxy."""
        return {"HOME": str(self.home), "PATH": f"{NODE.parent}:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", **more}

    def run_client(self, *command, environment=None, timeout=240, **more):
        return subprocess.run(command, cwd=self.work, env={**self.environment(), **(environment or {})}, capture_output=True, text=True,
                              timeout=timeout, **({"stdin": subprocess.DEVNULL} if "input" not in more else {}), **more)

    def stdio_command(self):
        return [sys.executable, str(HERE / "tap.py"), str(self.tapped), ASSAY, "serve", "--stdio", "--state", self.state]

    def serve_http(self, *options):
        """A server with a token; its address, which ends in /mcp."""
        tokens = self.home / "tokens"
        tokens.write_text(TOKEN + "\n")
        server = subprocess.Popen([ASSAY, "serve", "--http", "0", "--state", self.state, "--token-file", str(tokens), *options], stderr=subprocess.PIPE)
        self.addCleanup(self.stop_http, server)
        for line in server.stderr:
            if line.startswith(b"assay: http://"):
                self.server = server
                return line.split()[-1].decode()
        raise AssertionError("the server does not say where it listens")

    def stop_http(self, server):
        below = [pid for pid, _ in descendants(server.pid)]
        server.terminate()
        server.wait(timeout=60)
        server.stderr.close()
        self.assertEqual(wait_gone(below), [], "processes outlive the server")

    def conversation(self):
        """What the tap saw: ([requests], {id: answer}, [notifications of the client])."""
        requests, answers, notifications = [], {}, []
        for line in self.tapped.read_text().splitlines():
            message = json.loads(line[2:])
            if line[0] == "<":
                if "id" in message and "method" not in message:
                    answers[message["id"]] = message
            elif "method" in message:
                (requests if "id" in message else notifications).append(message)
        return requests, answers, notifications

    def assert_all_answered(self, may_fail=()):
        """Every question that was not cancelled has its answer, and none an error but of the methods that are named."""
        requests, answers, notifications = self.conversation()
        self.assertTrue(requests, "the client asked nothing")
        cancelled = {one["params"]["requestId"] for one in notifications if one["method"] == "notifications/cancelled"}
        for request in requests:
            answer = answers.get(request["id"])
            if request["id"] in cancelled:
                self.assertIsNone(answer, "a cancelled request is not answered")
                continue
            self.assertIsNotNone(answer, f"not answered: {request['method']}")
            if request["method"] not in may_fail:
                self.assertIn("result", answer, request["method"])
        return [request["method"] for request in requests]
