"""Bad input on the wire: one clear answer each, nothing lost, and the server goes on."""

import json
import unittest

from assay_client import ADD, SANITIZED, Server, contract, kernel


class BadInput(unittest.TestCase):
    def setUp(self):
        self.server = Server()

    def tearDown(self):
        self.still_serves()
        self.assertEqual(self.server.close(), 0)
        # Every line on standard output is one JSON-RPC message.
        for line in self.server.raw:
            self.assertEqual(json.loads(line)["jsonrpc"], "2.0")
        self.server.__exit__()

    def still_serves(self):
        id = self.server.send("tools/list")
        self.assertIn("result", self.server.answer(id))

    def error_of(self, data):
        self.server.write(data)
        message = self.server.next_message()
        self.assertIn("error", message)
        return message

    def test_truncated_json(self):
        self.assertEqual(self.error_of('{"jsonrpc":"2.0","id":1,"method":\n')["error"]["code"], -32700)

    def test_a_line_of_200_megabytes_is_refused_without_keeping_it(self):
        before = self.peak_kib()
        for _ in range(200):
            self.server.write(b"x" * (1 << 20))
        self.server.write(b"\n")
        self.assertLess(self.server.next_message()["error"]["code"], 0)
        if not SANITIZED:
            self.assertLess(self.peak_kib() - before, 100 << 10)

    def peak_kib(self):
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

    def test_nesting_100000_deep(self):
        self.assertLess(self.error_of("[" * 100_000 + "\n")["error"]["code"], 0)
        self.assertLess(self.error_of('{"jsonrpc":"2.0","id":9,"method":"ping","params":'
                                      + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}\n")["error"]["code"], 0)

    def test_invalid_utf8(self):
        self.assertEqual(self.error_of(b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}\n')["error"]["code"], -32700)

    def test_nan(self):
        self.assertEqual(self.error_of('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}\n')
                         ["error"]["code"], -32700)

    def test_unknown_method_and_tool(self):
        id = self.server.send("no/such")
        self.assertEqual(self.server.answer(id)["error"]["code"], -32601)
        id = self.server.send("tools/call", {"name": "no_such_tool", "arguments": {}})
        self.assertEqual(self.server.answer(id)["error"]["code"], -32602)

    def refused(self, arguments, *pointers):
        result = self.server.call("evaluate", arguments)
        self.assertTrue(result["isError"])
        text = result["content"][0]["text"]
        for pointer in pointers:
            self.assertIn(pointer, text)

    def test_missing_extra_and_mistyped_arguments_name_their_place(self):
        self.refused({}, "/kernel")
        self.refused({"kernel": kernel(ADD), "num_trails": 3}, "/num_trails", "num_trials")
        self.refused({"kernel": kernel(ADD), "num_trials": "many"}, "/num_trials")
        self.refused({"kernel": kernel(ADD), "timeout": 601}, "/timeout")
        self.refused({"kernel": 7}, "/kernel")

    def test_contracts_no_machine_can_meet(self):
        def with_shape(shape, dtype="float32"):
            io = contract()
            io["args"][0]["tensor_spec"].update(shape=shape, dtype=dtype)
            return {"kernel": kernel(ADD, io)}

        at = "/kernel/io/args/0/tensor_spec"
        self.refused(with_shape([2**62, 4], "float64"), at)
        self.refused(with_shape([10**6, 10**6]), at)
        self.refused(with_shape([-1]), at)
        for dim, value in (("grid", 0), ("block", 2048)):
            io = contract()
            io["launch"][dim]["x"] = value
            self.refused({"kernel": kernel(ADD, io)}, f"/kernel/io/launch/{dim}")

    def test_an_empty_source_is_refused(self):
        self.refused({"kernel": {**kernel(ADD), "source_code": ""}}, "/kernel/source_code")

    def test_a_zero_size_tensor_is_legal(self):
        io = contract(n=0, grid=1)
        report = self.server.evaluate(ADD, io=io)
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_objects_sent_as_json_text_are_understood(self):
        arguments = {"kernel": {"source_code": ADD, "kernel_type": "cuda", "io": json.dumps(contract())}}
        result = self.server.call("evaluate", arguments)
        self.assertEqual(result["structuredContent"]["verdict"], "passed")


class Protocol(unittest.TestCase):
    def test_eof_finishes_and_answers_what_was_accepted(self):
        with Server() as server:
            ids = [server.send("tools/call", {"name": "evaluate", "arguments": {"kernel": kernel(ADD)}})
                   for _ in range(3)]
            server.process.stdin.close()
            answered = [server.answer(id) for id in ids]
            self.assertEqual([a["result"]["structuredContent"]["verdict"] for a in answered], ["passed"] * 3)
            self.assertEqual(server.process.wait(timeout=30), 0)

    def test_the_legacy_era_works_beside_the_modern_one(self):
        with Server() as server:
            id = server.send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                            "clientInfo": {"name": "t", "version": "1"}}, meta=False)
            self.assertEqual(server.answer(id)["result"]["protocolVersion"], "2025-06-18")
            server.notify("notifications/initialized", meta=False)
            id = server.send("ping", meta=False)
            self.assertEqual(server.answer(id)["result"], {})
            id = server.send("tools/call", {"name": "evaluate", "arguments": {"kernel": kernel(ADD)}}, meta=False)
            result = server.answer(id)["result"]
            self.assertNotIn("resultType", result)
            self.assertEqual(result["structuredContent"]["verdict"], "passed")
            id = server.send("server/discover")
            self.assertEqual(server.answer(id)["result"]["supportedVersions"], ["2026-07-28"])

    def test_a_cancelled_call_is_not_answered_and_its_job_ends(self):
        with Server() as server:
            from assay_client import FOREVER
            id = server.send("tools/call", {"name": "evaluate", "arguments": {"kernel": kernel(FOREVER)}},
                             progressToken="p")
            # Who is told late is told the stage that it has come to: "compiled" may be over by then.
            while not any(message.endswith((": compiled", ": prepared")) for message in
                          (note.get("params", {}).get("message", "") for note in server.notes)):
                message = server.next_message()
                server.notes.append(message)
            server.notify("notifications/cancelled", {"requestId": id})
            jobs = server.call("get_job")["structuredContent"]["jobs"]
            end = server.call("get_job", {"job_id": jobs[0]["job_id"], "wait_s": 20})["structuredContent"]
            self.assertEqual(end["verdict"], "cancelled")
            self.assertNotIn(id, [json.loads(line).get("id") for line in server.raw])


if __name__ == "__main__":
    unittest.main()
