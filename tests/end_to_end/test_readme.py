"""MCP_README.md's examples are run, and their answers hold what it says."""

import json
import os
import re
import unittest

from assay_client import Server

DOCUMENT = os.path.join(os.path.dirname(__file__), "..", "..", "MCP_README.md")
EXAMPLE = re.compile(r"```json call (\w+)\n(.*?)```\s*```json answer\n(.*?)```", re.S)


class Readme(unittest.TestCase):
    def holds(self, answer, promised, at=""):
        """Everything promised is in the answer; lists are promised by their first elements."""
        if isinstance(promised, dict):
            for key, value in promised.items():
                self.assertIn(key, answer, at)
                self.holds(answer[key], value, f"{at}/{key}")
        elif isinstance(promised, list):
            self.assertIsInstance(answer, list, at)
            for have, want in zip(answer, promised):
                self.holds(have, want, at)
            self.assertGreaterEqual(len(answer), len(promised), at)
        else:
            self.assertEqual(answer, promised, at)

    def test_every_example_answers_as_it_says(self):
        with open(DOCUMENT) as file:
            examples = EXAMPLE.findall(file.read())
        with Server("--source-root", os.path.dirname(DOCUMENT)) as server:
            id = server.send("tools/list")
            tools = [tool["name"] for tool in server.answer(id)["result"]["tools"]]
            self.assertEqual({tool for tool, _, _ in examples}, set(tools), "every tool has an example")
            for tool, arguments, promised in examples:
                with self.subTest(tool=tool):
                    answer = server.call(tool, json.loads(arguments))["structuredContent"]
                    self.holds(answer, json.loads(promised))


if __name__ == "__main__":
    unittest.main()
