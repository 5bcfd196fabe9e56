"""The manual's rules as a table: the server does what each row says, and docs/manual-rules.md is that table."""

import json
import os
import unittest

from assay_client import Server, tensor
from manual_rules import SECTIONS, document
from rule_calls import call

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "manual-rules.md")
FIRST = "__global__ void k(const float* x, float* y) { %s; }"


def outcome_of(result):
    report = result["structuredContent"]
    if result["isError"] or report.get("verdict", "passed") != "passed":
        return "refuse"
    said = report.get("warnings") or report.get("evidence") or report.get("trust") == "suspect"
    return "warning" if said else "pass"


class ManualRules(unittest.TestCase):
    def holds(self, answer, promised, at):
        if isinstance(promised, dict):
            for key, value in promised.items():
                self.assertIn(key, answer, at)
                self.holds(answer[key], value, f"{at}/{key}")
        elif isinstance(answer, list) and isinstance(promised, list):
            self.assertEqual(len(answer), len(promised), at)
            for have, want in zip(answer, promised):
                self.holds(have, want, at)
        elif isinstance(answer, list):
            self.assertIn(promised, [item["name"] for item in answer], at)
        elif isinstance(promised, str):
            self.assertTrue(answer.startswith(promised), (at, answer))
        else:
            self.assertEqual(answer, promised, at)

    def judge(self, server, rule):
        result = server.call(rule.tool, rule.call)
        report = result["structuredContent"]
        text = result["content"][0]["text"]
        self.assertEqual(outcome_of(result), rule.outcome, text)
        verdict = "refused" if result["isError"] else report.get("verdict", "passed")
        self.assertEqual(verdict, rule.verdict, text)
        self.assertIn(rule.says, text + json.dumps(report, ensure_ascii=False))
        self.holds(report, rule.promises, rule.rule)

    def test_every_rule_has_its_outcome(self):
        with Server() as server:
            for title, rules in SECTIONS:
                for rule in rules:
                    with self.subTest(f"{title}: {rule.rule}"):
                        self.judge(server, rule)

    def test_every_trial_has_inputs_of_its_own(self):
        """A kernel that knows what the first trial wants fails a later one."""
        io = {"args": [tensor("x", 1, kind="randn", seed=42), tensor("y", 1, role="output")], "launch": {"grid": 1, "block": 1}}
        right = FIRST % "y[0] = x[0]"
        with Server() as server:
            printing = FIRST % 'printf("%.9g", x[0]), y[0] = x[0]'
            seen = server.call("evaluate", {**call(printing, io), "detail": "full"})["structuredContent"]
            value = next(s["body"]["printf"] for s in seen["stages"] if s["name"] == "validated")
            knowing = FIRST % f"y[0] = {float(value)!r}f"
            for trials in (1, 2):
                report = server.call("evaluate", call(knowing, io, ref=right, validation_trials=trials, until="validated"))
                self.assertEqual(report["structuredContent"]["verdict"], "wrong_output", report["content"])

    def test_the_page_is_this_table(self):
        with open(PAGE, encoding="utf-8") as file:
            self.assertEqual(file.read(), document(), "print it anew: python3 tests/end_to_end/manual_rules.py")


if __name__ == "__main__":
    unittest.main()
