"""The SDKs' own clients: what each can ask of a server, on each of its transports, in each of its eras."""

import json
import shutil
import unittest

from assay_client import ADD, FOREVER, kernel
from client_test import HERE, NODE, TOKEN, ClientTest, find, needs

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
PLAN = {"evaluate": {"kernel": kernel(ADD), "num_trials": 2}, "forever": {"kernel": kernel(FOREVER), "timeout": 300}, "token": TOKEN}
PROMPTS = ["write_kernel", "optimise_kernel", "explain_failure"]


class Visits(ClientTest):
    def typescript(self, package, script, **plan):
        # Node looks for packages beside the script.
        for name in (script, "visit.mjs"):
            shutil.copy(HERE / name, self.work / name)
        if not (self.work / "node_modules").exists():
            (self.work / "node_modules").symlink_to(find(package, "node_modules"))
        return self.visit([str(NODE), str(self.work / script)], plan)

    def python(self, package, **plan):
        return self.visit([find(package, "bin/python"), "-B", str(HERE / "visit.py")], plan)

    def visit(self, command, plan):
        done = self.run_client(*command, input=json.dumps({**PLAN, **plan}))
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return json.loads(done.stdout.splitlines()[-1])

    def assert_complete(self, seen):
        self.assertIn(seen["server"], ("assay", None))
        self.assertLessEqual({"evaluate", "compare", "get_job"}, set(seen["tools"]))
        self.assertEqual(seen["verdict"], "passed")
        self.assertGreater(seen["text"], 0)
        self.assertGreaterEqual(len(seen["progress"]), 2)
        self.assertEqual(seen["progress"], sorted(set(seen["progress"])), "progress only grows")
        self.assertTrue(seen["refused"])
        self.assertEqual(seen["source"], ADD)
        self.assertEqual(seen["prompts"], PROMPTS)
        self.assertTrue(seen["prompt"])
        self.assertEqual(seen["cancelled"]["state"], "cancelled")

    def assert_complete_typescript(self, seen):
        self.assert_complete(seen)
        self.assertGreater(seen["instructions"], 0)
        self.assertTrue(seen["guide"])
        self.assertIn("assay://guide/cuda", seen["resources"])
        self.assertIn(seen["job"], seen["completion"])
        self.assertTrue(seen["cancelled"]["rejected"])


@needs("node", "sdk1")
class TypeScript1(Visits):
    def test_stdio(self):
        self.assert_complete_typescript(self.typescript("sdk1", "visit_v1.mjs", transport="stdio", command=self.stdio_command()))
        self.assertIn("initialize", self.assert_all_answered())

    def test_streamable_http(self):
        self.assert_complete_typescript(self.typescript("sdk1", "visit_v1.mjs", transport="http", url=self.serve_http()))

    def test_http_with_sse(self):
        url = self.serve_http().removesuffix("/mcp") + "/sse"
        self.assert_complete_typescript(self.typescript("sdk1", "visit_v1.mjs", transport="sse", url=url))

    def test_it_comes_back_for_the_answer_of_a_call_that_let_it_hang_up(self):
        seen = self.typescript("sdk1", "reconnect_v1.mjs", url=self.serve_http("--conformance-fixtures"))
        self.assertEqual(len(seen["gets"]), 1)
        self.assertIn("after the connection", seen["answer"]["content"][0]["text"])


@needs("node", "sdk2")
class TypeScript2(Visits):
    MODES = (("legacy", LEGACY), ("auto", MODERN), ({"pin": MODERN}, MODERN))

    def test_stdio_in_every_era(self):
        for mode, revision in self.MODES:
            with self.subTest(mode=mode):
                self.tapped.unlink(missing_ok=True)
                seen = self.typescript("sdk2", "visit_v2.mjs", transport="stdio", command=self.stdio_command(), mode=mode)
                self.assert_complete_typescript(seen)
                self.assertEqual(seen["revision"], revision)

    def test_streamable_http_in_every_era(self):
        url = self.serve_http()
        for mode, revision in self.MODES:
            with self.subTest(mode=mode):
                seen = self.typescript("sdk2", "visit_v2.mjs", transport="http", url=url, mode=mode)
                self.assert_complete_typescript(seen)
                self.assertEqual(seen["revision"], revision)

    def test_http_with_sse(self):
        url = self.serve_http().removesuffix("/mcp") + "/sse"
        self.assert_complete_typescript(self.typescript("sdk2", "visit_v2.mjs", transport="sse", url=url, mode="legacy"))


@needs("node", "tasks")
class Tasks(Visits):
    def test_a_long_call_is_a_task_that_can_be_waited_for_and_cancelled(self):
        slow = {"kernel": kernel(FOREVER), "timeout": 5}
        seen = self.typescript("tasks", "visit_tasks.mjs", url=self.serve_http(), slow=slow)
        self.assertEqual(seen["quick"]["status"], "completed")
        self.assertEqual(seen["slow"]["status"], "completed")
        self.assertEqual(seen["slow"]["result"]["structuredContent"]["verdict"], "timed_out")
        self.assertEqual(seen["cancelled"]["status"], "cancelled")
        self.assertEqual(seen["job"], "cancelled")
        self.assertLessEqual({"tools/call", "tasks/get", "tasks/cancel"}, {one["method"] for one in seen["methods"]})


@needs("python2")
class Python2(Visits):
    MODES = (("legacy", LEGACY), ("auto", MODERN), (MODERN, MODERN))

    def test_stdio_in_every_era(self):
        for mode, revision in self.MODES:
            with self.subTest(mode=mode):
                self.tapped.unlink(missing_ok=True)
                seen = self.python("python2", transport="stdio", command=self.stdio_command(), mode=mode)
                self.assert_complete(seen)
                self.assertEqual(seen["revision"], revision)

    def test_streamable_http_in_every_era(self):
        url = self.serve_http()
        for mode, revision in self.MODES:
            with self.subTest(mode=mode):
                seen = self.python("python2", transport="http", url=url, mode=mode)
                self.assert_complete(seen)
                self.assertEqual(seen["revision"], revision)

    def test_http_with_sse(self):
        url = self.serve_http().removesuffix("/mcp") + "/sse"
        self.assert_complete(self.python("python2", transport="sse", url=url, mode="legacy"))


@needs("python1")
class Python1(Visits):
    def test_stdio(self):
        seen = self.python("python1", transport="stdio", command=self.stdio_command())
        self.assert_complete(seen)
        self.assertEqual(seen["revision"], LEGACY)

    def test_streamable_http(self):
        self.assert_complete(self.python("python1", transport="http", url=self.serve_http()))

    def test_http_with_sse(self):
        url = self.serve_http().removesuffix("/mcp") + "/sse"
        self.assert_complete(self.python("python1", transport="sse", url=url))


if __name__ == "__main__":
    unittest.main()
