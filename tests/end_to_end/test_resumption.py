"""Streams that break and are taken up again, on raw connections to a real server: the rest comes, once, in order, to its own client."""

import json
import socket
import unittest

from http_service import HttpService

ACCEPT = "Accept: application/json, text/event-stream\r\n"


class Connection:
    """Says bytes and reads one chunked stream, event by event."""

    def __init__(self, port, head, body=""):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.sendall(f"{head}Host: localhost\r\n{ACCEPT}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        self.file = self.socket.makefile("rb")
        self.next_answer()

    def next_answer(self):
        self.status = int(self.file.readline().split()[1])
        self.fields = dict(line.decode().strip().lower().split(": ", 1) for line in iter(self.file.readline, b"\r\n"))

    def body(self):
        return self.file.read(int(self.fields.get("content-length", 0)))

    def chunk(self):
        size = int(self.file.readline(), 16)
        text = self.file.read(size).decode()
        self.file.readline()
        return text

    def events(self):
        """Each with its fields; comments are skipped. Ends with the stream."""
        for text in iter(self.chunk, ""):
            if not text.startswith(":"):
                yield dict(line.split(": ", 1) for line in text.strip("\n").split("\n"))

    def abort(self):
        self.file.close()
        self.socket.close()


class Resumption(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = HttpService("--conformance-fixtures").__enter__()
        cls.addClassCleanup(cls.service.__exit__)

    def open(self, head, body=""):
        connection = Connection(self.service.port, head, body)
        self.addCleanup(connection.abort)
        return connection

    def post(self, method, params, session=None, identity=1):
        of_session = f"Mcp-Session-Id: {session}\r\n" if session else ""
        body = json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        return self.open(f"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n{of_session}", body)

    def resume(self, session, last_event):
        return self.open(f"GET /mcp HTTP/1.1\r\nMcp-Session-Id: {session}\r\nLast-Event-ID: {last_event}\r\n")

    def session(self, revision="2025-11-25"):
        answer = self.post("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}})
        self.assertEqual(answer.status, 200)
        return answer.fields["mcp-session-id"]

    def call(self, session, tool, identity=1):
        called = self.post("tools/call", {"name": tool, "arguments": {}, "_meta": {"progressToken": identity}}, session, identity)
        self.assertEqual((called.status, called.fields["content-type"]), (200, "text/event-stream"))
        return called

    def check_progress(self, events, identity):
        """All of the call's three steps and its answer, each once."""
        said = [json.loads(event["data"]) for event in events if event["data"]]
        self.assertEqual([one["params"]["progress"] for one in said[:-1]], [0, 50, 100])
        self.assertEqual({one["params"]["progressToken"] for one in said[:-1]}, {identity})
        self.assertEqual(said[-1]["id"], identity)
        ids = [event["id"] for event in events]
        self.assertEqual(len(set(ids)), len(ids))

    def test_a_stream_that_breaks_in_the_middle_goes_on_where_it_broke(self):
        for revision, before_the_first in (("2025-11-25", 1), ("2025-06-18", 0), ("2025-03-26", 0)):
            session = self.session(revision)
            for seen in range(1, before_the_first + 4):
                with self.subTest(revision=revision, seen=seen):
                    broken = self.call(session, "test_tool_with_progress", seen)
                    events = broken.events()
                    had = [next(events) for _ in range(seen)]
                    broken.abort()
                    back = self.resume(session, had[-1]["id"])
                    self.assertEqual(back.status, 200)
                    self.check_progress(had + list(back.events()), seen)

    def test_a_stream_that_breaks_again_and_again_is_whole_in_the_end(self):
        session = self.session()
        connection, had = self.call(session, "test_tool_with_progress", 7), []
        for _ in range(4):
            had.append(next(connection.events()))
            connection.abort()
            connection = self.resume(session, had[-1]["id"])
        self.check_progress(had + list(connection.events()), 7)

    def test_two_streams_of_one_session_do_not_mix(self):
        session = self.session()
        calls = {identity: self.call(session, "test_tool_with_progress", identity) for identity in ("one", "two")}
        had = {identity: [next(call.events())] for identity, call in calls.items()}
        for call in calls.values():
            call.abort()
        for identity in ("two", "one"):
            self.check_progress(had[identity] + list(self.resume(session, had[identity][-1]["id"]).events()), identity)

    def test_a_call_that_lets_its_client_go_answers_when_it_comes_back(self):
        session = self.session()
        events = list(self.call(session, "test_reconnection").events())
        self.assertEqual([(event["data"], int(event["retry"]) > 0) for event in events], [("", True)])
        answer, = self.resume(session, events[0]["id"]).events()
        self.assertEqual(json.loads(answer["data"])["id"], 1)
        # And when it has that, there is nothing to come back for.
        self.assertEqual(self.resume(session, answer["id"]).status, 204)

    def test_a_call_does_not_let_a_client_go_that_would_not_come_back(self):
        answer = self.post("tools/call", {"name": "test_reconnection", "arguments": {}}, self.session("2025-06-18"))
        self.assertEqual((answer.status, answer.fields["content-type"]), (200, "application/json"))
        self.assertEqual(json.loads(answer.body())["id"], 1)

    def test_a_stream_is_taken_up_on_the_connection_on_which_it_ended(self):
        # Asked for early: it is served in the moment in which the call is answered.
        session = self.session()
        call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
                           {"name": "test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": 1}}})
        head = f"HTTP/1.1\r\nHost: localhost\r\n{ACCEPT}Mcp-Session-Id: {session}\r\n"
        both = self.open(f"POST /mcp {head}Content-Type: application/json\r\nContent-Length: {len(call)}\r\n\r\n{call}"
                         f"GET /mcp {head}Last-Event-ID: 1-0\r\n\r\n"
                         f"GET /mcp HTTP/1.1\r\nMcp-Session-Id: {session}\r\nLast-Event-ID: 1-4\r\n")
        events = list(both.events())
        self.check_progress(events, 1)
        both.next_answer()
        self.assertEqual((both.status, list(both.events())), (200, events[1:]))
        both.next_answer()
        self.assertEqual(both.status, 204)

    def test_an_id_of_another_session_replays_nothing(self):
        mine, yours = self.session(), self.session()
        last = list(self.call(mine, "test_tool_with_progress").events())[0]["id"]
        refused = self.resume(yours, last)
        self.assertEqual((refused.status, json.loads(refused.body())["error"]["code"]), (400, -32000))
        nowhere = self.resume("0" * 36, last)
        self.assertEqual((nowhere.status, json.loads(nowhere.body())["error"]["code"]), (404, -32001))


if __name__ == "__main__":
    unittest.main()
