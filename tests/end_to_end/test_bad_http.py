"""One table of what HTTP clients do wrong, byte for byte, against a real server: each the status and the code of the reference."""

import json
import os
import socket
import subprocess
import tempfile
import threading
import unittest

from assay_client import FOREVER, META, kernel

ASSAY = os.environ["ASSAY"]
HEAD = "Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
MODERN = "MCP-Protocol-Version: 2026-07-28\r\n"


def envelope(revision="2026-07-28"):
    return {**META, "io.modelcontextprotocol/protocolVersion": revision}


def message(method, identity=1, revision="2026-07-28", **params):
    return json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": {**params, "_meta": envelope(revision)}})


def post(body, fields=HEAD, path="/mcp"):
    body = body if isinstance(body, bytes) else body.encode()
    return f"POST {path} HTTP/1.1\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body


def modern(method, more="", name=None, headers=None, **how):
    params = {key: value for key, value in how.items() if key not in ("identity", "revision")}
    named = f"Mcp-Name: {name}\r\n" if name else ""
    return post(message(method, how.get("identity", 1), how.get("revision", "2026-07-28"), **params),
                headers or HEAD + MODERN + f"Mcp-Method: {method}\r\n" + named + more)


CHUNKED = HEAD + MODERN + "Mcp-Method: tools/list\r\nTransfer-Encoding: chunked\r\n"


def chunked(*pieces, ending="0\r\n\r\n"):
    text = "".join(f"{len(piece):x}\r\n{piece}\r\n" for piece in pieces)
    return (f"POST /mcp HTTP/1.1\r\n{CHUNKED}\r\n" + text + ending).encode()


LIST = message("tools/list")
#      what, the bytes, the status, the JSON-RPC code or the envelope's status
TABLE = [
    ("a list, for comparison", modern("tools/list"), 200, None),
    ("no Host", b"GET /health HTTP/1.1\r\n\r\n", 400, "client_error"),
    ("another Host", b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421, "client_error"),
    ("another Host, MCP", modern("tools/list", headers=HEAD.replace("localhost", "evil.example")), 421, -32000),
    ("another Origin", modern("tools/list", "Origin: http://evil.example\r\n"), 403, -32000),
    ("another Origin, REST", b"GET /stats HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n", 403, "client_error"),
    ("a header that says another revision", modern("tools/list", headers=HEAD + "MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/list\r\n"), 400, -32020),
    ("a header that says another method", modern("tools/list", headers=HEAD + MODERN + "Mcp-Method: tools/call\r\n"), 400, -32020),
    ("no method in a header", modern("tools/list", headers=HEAD + MODERN), 400, -32020),
    ("a header that says another name", modern("tools/call", name="evaluate", **{"arguments": {}}), 400, -32020),
    ("a name in bad base64", modern("tools/call", "Mcp-Name: =?base64?!!!?=\r\n"), 400, -32020),
    ("a revision nobody knows", modern("tools/list", revision="2031-01-01", headers=HEAD + "MCP-Protocol-Version: 2031-01-01\r\nMcp-Method: tools/list\r\n"), 400, -32022),
    ("no envelope under a modern header", post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', HEAD + MODERN), 400, -32602),
    ("initialize under a modern header", post('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', HEAD + MODERN), 400, -32020),
    ("a method nobody knows", modern("tools/dance"), 404, -32601),
    ("a legacy method in a modern envelope", modern("ping"), 404, -32601),
    ("a cursor nobody gave", modern("tools/list", cursor="x"), 200, -32602),
    ("no session", post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), 400, -32000),
    ("a session of yesterday", post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', HEAD + "Mcp-Session-Id: 1-2-3\r\n"), 404, -32001),
    ("the end of a session of yesterday", b"DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: 1-2-3\r\n\r\n", 404, -32001),
    ("no JSON", post('{"jsonrpc":', HEAD), 400, -32700),
    ("no UTF-8", post(b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}', HEAD), 400, -32700),
    ("no request", post('{"hello":"world"}', HEAD), 400, -32600),
    ("a null id", post('{"jsonrpc":"2.0","id":null,"method":"ping"}', HEAD), 400, -32600),
    ("another type of body", post("x=1", HEAD.replace("application/json\r\nAcc", "text/plain\r\nAcc")), 415, -32000),
    ("an answer nobody could read", post('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', HEAD.replace("application/json, text/event-stream", "image/png")), 406, -32000),
    ("another verb", b"PATCH /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, -32000),
    ("another verb, REST", b"DELETE /evaluate HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "client_error"),
    ("a path nobody serves", b"GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "error"),
    ("a body of 17 MB", f"POST /mcp HTTP/1.1\r\n{HEAD}Content-Length: 17000000\r\n\r\n".encode(), 413, -32000),
    ("a body of 17 MB, REST", f"POST /evaluate HTTP/1.1\r\n{HEAD}Content-Length: 17000000\r\n\r\n".encode(), 413, -32000),
    ("a chunked body of 17 MB", chunked(*["x" * 65536] * 260, ending=""), 413, -32000),
    ("a chunked list", chunked(LIST[:7], LIST[7:40], LIST[40:]), 200, None),
    ("a chunk of no size", f"POST /mcp HTTP/1.1\r\n{CHUNKED}\r\nzz\r\nabc\r\n".encode(), 400, -32000),
    ("two lengths", f"POST /mcp HTTP/1.1\r\n{HEAD}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd".encode(), 400, -32000),
    ("a length and chunks", f"POST /mcp HTTP/1.1\r\n{CHUNKED}Content-Length: 4\r\n\r\n0\r\n\r\n".encode(), 400, -32000),
    ("chunks and a length", f"POST /mcp HTTP/1.1\r\n{HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".encode(), 400, -32000),
    ("chunks before there were any", f"POST /mcp HTTP/1.0\r\n{CHUNKED}\r\n0\r\n\r\n".encode(), 400, -32000),
    *[(f"a transfer coding: {coding}", f"POST /mcp HTTP/1.1\r\n{HEAD}Transfer-Encoding: {coding}\r\n\r\n".encode(), 501, -32000)
      for coding in ("gzip, chunked", "gzip", "identity", "chunked, chunked", "chunked;q=1")],
    ("two transfer codings", f"POST /mcp HTTP/1.1\r\n{HEAD}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n".encode(), 501, -32000),
    ("a content coding", f"POST /mcp HTTP/1.1\r\n{HEAD}Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\n".encode(), 415, -32000),
    ("a content coding, REST", f"POST /evaluate HTTP/1.1\r\n{HEAD}Content-Encoding: identity, br\r\nContent-Length: 9\r\n\r\n".encode(), 415, "client_error"),
    ("no content coding", modern("tools/list", "Content-Encoding: Identity\r\n"), 200, None),
    ("an expectation", f"POST /mcp HTTP/1.1\r\n{HEAD}Expect: the-best\r\nContent-Length: 9\r\n\r\n".encode(), 417, -32000),
    ("two expectations", f"POST /mcp HTTP/1.1\r\n{HEAD}Expect: 100-continue\r\nExpect: more\r\nContent-Length: 9\r\n\r\n".encode(), 417, -32000),
    ("another Host in the target", b"GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 421, "client_error"),
    ("another Host in the target, MCP", modern("tools/list").replace(b"POST /mcp", b"POST http://evil.example/mcp"), 421, -32000),
    ("a user in the target", b"GET http://localhost@evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 421, "client_error"),
    ("nobody in the target", b"GET http:///health HTTP/1.1\r\nHost: localhost\r\n\r\n", 421, "client_error"),
    ("this server in the target", modern("tools/list").replace(b"POST /mcp", b"POST http://127.0.0.1:80/mcp"), 200, None),
    ("another Host, whose body never comes", f"POST /mcp HTTP/1.1\r\n{HEAD}Content-Length: 9\r\n\r\n".replace("localhost", "evil.example").encode(), 421, -32000),
    ("a length that is none", f"POST /mcp HTTP/1.1\r\n{HEAD}Content-Length: -1\r\n\r\n".encode(), 400, -32000),
    ("a header of 20 kB", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20000 + b"\r\n\r\n", 431, -32000),
    ("another HTTP", b"GET /health HTTP/3.7\r\nHost: localhost\r\n\r\n", 505, -32000),
    ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, -32000),
    ("a kernel that is no object, REST", post('{"kernel": 7}', HEAD, "/evaluate"), 400, "client_error"),
    ("a hundred thousand brackets, REST", post("[" * 100000, HEAD, "/evaluate"), 400, "client_error"),
    ("a job with a path in its name, REST", b"GET /job/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "error"),
]


class BadHttp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="assay-bad-"))
        cls.server = subprocess.Popen([ASSAY, "serve", "--http", "0", "--state", folder], stderr=subprocess.PIPE)
        cls.addClassCleanup(lambda: (cls.server.kill(), cls.server.wait(), cls.server.stderr.close()))
        for line in cls.server.stderr:
            if b"http://" in line:
                cls.port = int(line.rsplit(b":", 1)[1].split(b"/")[0])
                break

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.addCleanup(connection.close)
        return connection, connection.makefile("rb")

    def answer(self, stream):
        """(status, fields, body) of the next answer; None at the end."""
        first = stream.readline()
        if not first:
            return None
        fields = {}
        while (line := stream.readline().strip()):
            name, value = line.decode().split(":", 1)
            fields[name.lower()] = value.strip()
        body = stream.read(int(fields["content-length"])) if "content-length" in fields else b""
        if fields.get("transfer-encoding") == "chunked":
            while (size := int(stream.readline(), 16)):
                body += stream.read(size)
                stream.readline()
            stream.readline()
        return int(first.split()[1]), fields, body

    def said(self, body):
        if not body:
            return None
        if body.startswith(b"event:") or body.startswith(b":"):
            body = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: ")][-1]
        told = json.loads(body)
        return told["error"]["code"] if isinstance(told.get("error"), dict) else told.get("status")

    def test_each_mistake_has_its_status_and_code(self):
        for what, sent, status, code in TABLE:
            with self.subTest(what):
                connection, stream = self.connect()
                connection.sendall(sent)
                seen, _, body = self.answer(stream)
                self.assertEqual((seen, self.said(body)), (status, code), body[:300])

    def test_after_a_body_that_cannot_be_told_the_connection_ends(self):
        following = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for coding, status in (("gzip", 501), ("gzip, chunked", 501), ("chunked, identity", 501)):
            with self.subTest(coding):
                connection, stream = self.connect()
                connection.sendall(f"POST /mcp HTTP/1.1\r\n{HEAD}Transfer-Encoding: {coding}\r\n\r\n0\r\n\r\n".encode() + following)
                seen, fields, _ = self.answer(stream)
                self.assertEqual((seen, fields["connection"]), (status, "close"))
                self.assertIsNone(self.answer(stream))

    def test_who_is_refused_by_the_head_is_told_before_the_body_and_not_to_go_on(self):
        for what, more, status in (("Host", "Host: evil.example\r\n", 421), ("Origin", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403),
                                   ("coding", "Host: localhost\r\nContent-Encoding: br\r\n", 415)):
            with self.subTest(what):
                connection, stream = self.connect()
                connection.sendall(f"POST /mcp HTTP/1.1\r\n{more}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 4000000\r\n\r\n".encode())
                seen, fields, _ = self.answer(stream)
                self.assertEqual((seen, fields["connection"]), (status, "close"))

    def test_after_all_of_them_the_server_serves(self):
        for _, sent, _, _ in TABLE:
            connection, _ = self.connect()
            connection.sendall(sent[:max(1, len(sent) // 2)])  # half of it, and away
            connection.close()
        connection, stream = self.connect()
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(self.answer(stream)[0], 200)

    def test_pipelined_requests_are_answered_in_their_order(self):
        connection, stream = self.connect()
        connection.sendall(b"".join(modern("tools/list", identity=number) +
                                    f"GET /job/{number} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for number in range(20)))
        for number in range(20):
            self.assertEqual(json.loads(self.answer(stream)[2])["id"], number)
            self.assertEqual(json.loads(self.answer(stream)[2])["error"], f"Job {number} not found")

    def test_a_client_that_closes_its_half_is_not_waited_for(self):
        connection, stream = self.connect()
        connection.sendall(modern("tools/list")[:-10])
        connection.shutdown(socket.SHUT_WR)
        self.assertIsNone(self.answer(stream))

    def test_a_client_that_never_finishes_is_let_go(self):
        slow = [self.connect() for _ in range(20)]
        for number, (connection, _) in enumerate(slow):
            connection.sendall(b"GET /health HTTP/1.1\r\nHo" if number % 2 else b"GET /")
        connection, stream = self.connect()
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(self.answer(stream)[0], 200)
        for _, stream in slow:
            self.assertEqual(self.answer(stream)[0], 408)

    def test_an_id_is_used_by_one_request_at_a_time(self):
        def legacy(body, session=None):
            connection, stream = self.connect()
            connection.sendall(post(json.dumps(body), HEAD + (f"Mcp-Session-Id: {session}\r\n" if session else "")))
            return stream

        stream = legacy({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
        session = self.answer(stream)[1]["mcp-session-id"]
        call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": "evaluate", "arguments": {"kernel": kernel(FOREVER), "timeout": 5, "wait_s": 60}}}
        ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
        running = legacy(call, session)
        code = None
        while code is None:  # until the call has been taken up
            code = self.said(self.answer(legacy(ping, session))[2])
        self.assertEqual(code, -32600)
        done = []
        waiting = threading.Thread(target=lambda: done.append(self.answer(running)))
        waiting.start()
        waiting.join(timeout=120)
        self.assertEqual(done[0][0], 200)
        self.assertEqual(json.loads(self.answer(legacy(ping, session))[2])["result"], {})


if __name__ == "__main__":
    unittest.main()
