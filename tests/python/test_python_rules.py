"""The manual's rules for Python sources: the server does what each row of the table says."""

import unittest

import test_manual_rules as table
from python_rules import PYTHON_SECTIONS
from torch_server import TorchServer


class PythonRules(unittest.TestCase):
    holds = table.ManualRules.holds
    judge = table.ManualRules.judge

    def test_every_rule_has_its_outcome(self):
        with TorchServer(shares_state=True) as server:
            for title, rules in PYTHON_SECTIONS:
                for rule in rules:
                    with self.subTest(f"{title}: {rule.rule}"):
                        self.judge(server, rule)


if __name__ == "__main__":
    unittest.main()
