"""What get_inputs() and get_init_inputs() may return, and what is said of what they may not."""

import unittest

from torch_server import TorchServer, source

MODEL = """import torch
class {}(torch.nn.Module):
    def __init__(self, *made, **named):
        super().__init__()
        self.made = made
    def forward(self, *x):
        {}
"""
INPUTS = "def get_inputs():\n    return {}\n"
X = "torch.randn(8)"

# name: (get_inputs(), body of forward)
GOOD = {
    "None": (f"[{X}, None]", "assert x[1] is None; return x[0] * 2"),
    "None in front": (f"[None, {X}]", "assert x[0] is None; return x[1] * 2"),
    "a list of tensors": (f"[[{X}, {X}], {X}]", "assert type(x[0]) is list; return x[0][0] - x[0][1] + x[1] * 3"),
    "a tuple of tensors": (f"[({X}, {X})]", "h, c = x[0]; assert type(x[0]) is tuple; return h - 2 * c"),
    "lists in lists": (f"[[[{X}], [{X}, 3], None], 'up']", "assert x[0][2] is None and x[1] == 'up'; return x[0][0][0] - x[0][1][0] * x[0][1][1]"),
    "a dict": (f"[{{'a': {X}, 'b': [{X}]}}]", "return x[0]['a'] - 2 * x[0]['b'][0]"),
    "a shape": (f"[{X}, (2, 4), torch.Size([4, 2])]", "return x[0].view(x[1]) + x[0].view(x[2]).t()"),
    "an empty list": (f"[{X}, []]", "assert x[1] == []; return x[0] * 2"),
    "numbers": (f"[{X}, 3, 2.5, True, -1]", "assert x[3] is True; return x[0] * x[1] + x[2] + x[4]"),
    "numbers that JSON has not": (f"[{X}, float('inf'), float('nan')]", "assert x[2] != x[2]; return x[0].clamp(max=x[1])"),
    "a type": (f"[{X}, torch.float64]", "return x[0].to(x[1])"),
}
# name: (get_inputs(), words of the summary)
BAD = {
    "an object": (f"[{X}, object()]", ("input 1 is a object", "only tensors")),
    "an object in a list": (f"[{X}, [{X}, {{'k': object()}}]]", ("input 1[1]['k'] is a object",)),
    "an array": ("[__import__('numpy').ones(3)]", ("input 0 is a ndarray",)),
    "a sparse tensor": ("[torch.eye(3).to_sparse()]", ("input 0 is a torch.sparse_coo tensor", "only dense")),
    "a type without a name": ("[torch.ones(1, dtype=torch.complex32)]", ("input 0 is of torch.complex32",)),
    "a great number": (f"[{X}, 1 << 70]", ("input 1 is an integer beyond 64 bits",)),
    "a tensor alone": (X, ("returned a Tensor, not a list",)),
    "nothing": ("None", ("returned a NoneType, not a list",)),
    "a long list": (f"[{X}, list(range(10000))]", ("more than 1000 entries",)),
    "a list that holds itself": (f"(lambda a: a.append(a) or [{X}, a])([])", ("16 deep",)),
    "numbers alone": ("[3, None]", ("takes no tensor",)),
}
CONSTRUCTED = """import torch
class {}(torch.nn.Module):
    def __init__(self, {}):
        super().__init__()
        self.n = n
    def forward(self, x):
        return x * {}
"""
# name: (get_init_inputs(), parameters, the factor)
CONSTRUCTORS = {
    "lists and None": ("[[2, 3], None]", "n, m", "self.n[1]"),
    "None": ("None", "n=4", "self.n"),
    "keywords": ("{'n': 5}", "*, n", "self.n"),
    "keywords behind nothing": ("[[], {'n': 6}]", "n=1", "self.n"),
    "a list and a dict": ("[[], {'k': 7}]", "m, n", "self.n['k']"),
    "a list of sizes and a dict": ("[[2], {'k': 8}]", "m, n", "self.n['k']"),
}


class OwnInputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_what_has_a_meaning_arrives_as_it_is_on_both_sides(self):
        for name, (made, body) in GOOD.items():
            with self.subTest(name):
                inputs = INPUTS.format(made)
                report = self.server.judge(source(MODEL.format("ModelNew", body)), source(MODEL.format("Model", body) + inputs),
                                           until="validated")
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])

    def test_grouped_inputs_are_timed(self):
        body = "return x[0][0] - x[0][1] * x[2]"
        report = self.server.judge(source(MODEL.format("ModelNew", body)),
                                   source(MODEL.format("Model", body) + INPUTS.format(f"[[{X}, {X}], None, {X}]")))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        self.assertGreater(report["timing"]["runs_examined"], 0)

    def test_a_wrong_member_of_a_group_is_wrong(self):
        report = self.server.judge(source(MODEL.format("ModelNew", "return x[0][1] * 2")),
                                   source(MODEL.format("Model", "return x[0][0] * 2") + INPUTS.format(f"[[{X}, {X}]]")), until="validated")
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_what_a_dict_returns_is_told_apart_by_its_keys(self):
        inputs = INPUTS.format(f"[{X}]")
        reference = source(MODEL.format("Model", "return {'a': x[0] * 2, 'b': x[0] + 1}") + inputs)
        for body, verdict in (("return {'b': x[0] + 1, 'a': x[0] * 2}", "passed"), ("return {'b': x[0] * 2, 'a': x[0] + 1}", "wrong_output")):
            report = self.server.judge(source(MODEL.format("ModelNew", body)), reference, until="timed")
            self.assertEqual(report["verdict"], verdict, report["summary"])

    def test_what_has_none_is_refused_by_its_place(self):
        for name, (made, says) in BAD.items():
            with self.subTest(name):
                report = self.server.judge(source(MODEL.format("Model", "return x[0]") + INPUTS.format(made)), until="validated")
                self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
                for words in says:
                    self.assertIn(words, report["summary"])

    def test_groups_that_change_are_refused(self):
        inputs = f"n = 0\ndef get_inputs():\n    global n\n    n += 1\n    return [{X}, [None] * n]\n"
        report = self.server.judge(source(MODEL.format("Model", "return x[0] * 2") + inputs), until="validated")
        self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
        self.assertIn("other groups", report["summary"])

    def test_constructors_get_what_is_meant(self):
        for name, (made, parameters, factor) in CONSTRUCTORS.items():
            with self.subTest(name):
                text = CONSTRUCTED.format("Model", parameters, factor) + INPUTS.format(f"[{X}]")
                report = self.server.judge(source(f"{text}def get_init_inputs():\n    return {made}\n"), until="validated")
                self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_a_constructor_gets_no_number_alone(self):
        text = CONSTRUCTED.format("Model", "n", "self.n") + INPUTS.format(f"[{X}]") + "def get_init_inputs():\n    return 3\n"
        report = self.server.judge(source(text), until="validated")
        self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
        self.assertIn("get_init_inputs() returned a int, not a list", report["summary"])


if __name__ == "__main__":
    unittest.main()
