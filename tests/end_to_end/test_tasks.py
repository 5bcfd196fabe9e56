"""A job as a task: how long it says it is kept, and what a client that knows no tasks is told of their methods."""

import unittest

from assay_client import FOREVER, MODERN, Server, kernel

TASKS = {"io.modelcontextprotocol/protocolVersion": MODERN,
         "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}
KEPT_FOR_S = 1234


class Tasks(unittest.TestCase):
    def test_a_task_says_how_long_it_is_kept_at_least(self):
        with Server("--keep-jobs-for", str(KEPT_FOR_S)) as server:
            call = {"name": "evaluate", "arguments": {"kernel": kernel(FOREVER), "timeout": 5}}
            task = server.answer(server.send("tools/call", call, **TASKS))["result"]
            self.assertEqual(task["resultType"], "task")
            self.assertGreaterEqual(task["ttlMs"], KEPT_FOR_S * 1000)
            told = task
            while told["status"] == "working":
                self.assertLessEqual(task["ttlMs"], told["ttlMs"])
                told = server.answer(server.send("tasks/get", {"taskId": task["taskId"]}, **TASKS))["result"]
            self.assertEqual(told["status"], "completed")
            # Kept from its end on, but counted from its creation: what it took is added.
            self.assertGreater(told["ttlMs"], KEPT_FOR_S * 1000 + 1000)
            self.assertLess(told["ttlMs"], KEPT_FOR_S * 1000 + 120_000)

    def test_methods_of_the_modern_era_do_not_exist_in_a_session_of_an_older_one(self):
        for method in ("tasks/get", "server/discover", "subscriptions/listen"):
            with self.subTest(method), Server() as server:
                params = {"taskId": "x"} if method == "tasks/get" else {}
                # Nothing agreed on yet: what is missing is the envelope.
                self.assertEqual(server.answer(server.send(method, params, meta=False))["error"]["code"], -32602)
                server.answer(server.send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                                         "clientInfo": {"name": "t", "version": "1"}}, meta=False))
                self.assertEqual(server.answer(server.send(method, params, meta=False))["error"]["code"], -32601)
                self.assertNotEqual(server.answer(server.send("server/discover")).get("result"), None)


if __name__ == "__main__":
    unittest.main()
