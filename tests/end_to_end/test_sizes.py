"""How large a call may be, at the edge of each bound, the same on standard input, over HTTP and over REST."""

import json
import unittest
import urllib.error
import urllib.request

from assay_client import ADD, META, Server, kernel
from http_service import HttpService

MAX_SOURCE, MAX_MESSAGE = 1 << 20, 16 << 20
FILLER = "@FILLER@"


def source(size):
    """A kernel of exactly `size` bytes once its filler is put in, and how much filler that is."""
    text = ADD + "/*" + FILLER + "*/"
    return text, size - len(text) + len(FILLER)


def evaluation(size, fill):
    """An evaluation of two sources of `size` bytes each as JSON; `fill(count)` is the JSON text of `count` spaces."""
    text, count = source(size)
    arguments = {"kernel": kernel(text), "ref_kernel": kernel(text), "until": "compiled", "wait_s": 120}
    return json.dumps(arguments).replace(FILLER, fill(count))


def as_it_is(count):
    return " " * count


def escaped(count):
    return "\\u0020" * count


def message(arguments, method="tools/call"):
    head = json.dumps({"jsonrpc": "2.0", "id": 77, "method": method, "params": {"name": "evaluate", "_meta": META}})
    return head[:-2] + ', "arguments": ' + arguments + "}}"


class Sizes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stdio = cls.enterClassContext(Server())
        cls.http = cls.enterClassContext(HttpService())

    def by_stdio(self, text):
        self.stdio.write(text + "\n")
        while True:
            answer = self.stdio.next_message(120)
            if answer.get("id") in (77, None) and "method" not in answer:
                return 413 if "error" in answer and answer["error"]["code"] == -32600 else 200, answer

    def post(self, path, text, **fields):
        request = urllib.request.Request(self.http.url + path, text.encode(), {"Content-Type": "application/json", **fields})
        try:
            with urllib.request.urlopen(request, timeout=150) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def by_http(self, text):
        fields = {"Accept": "application/json", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "evaluate"}
        return self.post("/mcp", text, **fields)

    def doors(self):
        """Each takes arguments as text, and gives the status and the report."""
        for name, ask in (("stdio", self.by_stdio), ("http", self.by_http)):
            yield name, lambda arguments, ask=ask: (lambda status, told: (status, told["result"]["structuredContent"]))(*ask(message(arguments)))
        yield "rest", lambda arguments: self.post("/evaluate", arguments)

    def test_two_of_the_largest_sources_are_taken_however_they_are_escaped(self):
        for name, ask in self.doors():
            for fill in (as_it_is, escaped):
                with self.subTest(name, fill=fill.__name__):
                    status, report = ask(evaluation(MAX_SOURCE, fill))
                    self.assertEqual((status, report["verdict"]), (200, "passed"), str(report)[:500])

    def test_a_source_of_a_byte_more_is_refused_by_name(self):
        for name, ask in self.doors():
            with self.subTest(name):
                status, report = ask(evaluation(MAX_SOURCE + 1, as_it_is))
                self.assertEqual((status, report["status"]), (400 if name == "rest" else 200, "client_error"))
                told = json.dumps(report)
                self.assertIn("/kernel/source_code", told)
                self.assertIn("/ref_kernel/source_code", told)

    def test_the_bound_counts_bytes_and_not_characters(self):
        text, count = source(MAX_SOURCE)
        for more, expected in ((0, "passed"), (1, None)):
            wide = text.replace(FILLER, "é" * (count // 2) + "x" * (count % 2 + more))
            report = self.stdio.call("evaluate", {"kernel": kernel(wide), "until": "compiled", "wait_s": 120})["structuredContent"]
            self.assertEqual(report.get("verdict"), expected, str(report)[:300])
            if expected is None:
                self.assertIn(str(MAX_SOURCE + 1), json.dumps(report))

    def test_a_message_at_the_bound_is_read_and_a_byte_more_is_not(self):
        for name, ask in (("stdio", self.by_stdio), ("http", self.by_http)):
            for more, status in ((0, 200), (1, 413)):
                with self.subTest(name, more=more):
                    text = message('{"kernel": 7}')
                    seen, answer = ask(text[:1] + " " * (MAX_MESSAGE + more - len(text)) + text[1:])
                    self.assertEqual(seen, status, str(answer)[:300])
        for more, status in ((0, 400), (1, 413)):
            text = '{"kernel": 7}'
            seen, _ = self.post("/evaluate", text[:1] + " " * (MAX_MESSAGE + more - len(text)) + text[1:])
            self.assertEqual(seen, status)


if __name__ == "__main__":
    unittest.main()
