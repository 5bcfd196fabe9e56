"""What get_inputs() and get_init_inputs() may return, and what is said of what they may not."""

import unittest

from torch_server import TorchServer, inputs, source

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
    "arguments and keywords": ("[[8], {'n': 5}]", "m, *, n", "self.n"),
    "arguments and a keyword that may be left out": ("[[8], {'k': 5}]", "n, k=None", "self.n"),
    "sizes and options": ("[[8], {'k': 5}]", "n, options=None", "self.n[0]"),
    "sizes and no options": ("[[8], {}]", "n, options=None", "self.n[0]"),
}

SAME = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1) @ x
def get_inputs():
    {}
"""
HONEST = SAME.replace("Model", "ModelNew").partition("def get_inputs")[0].replace("torch.softmax(x, dim=-1)", "x.softmax(-1)")
# Inputs that are the same each time: what get_inputs() does.
SAME_INPUTS = {
    "a seed of its own": "torch.manual_seed(0); return [torch.randn(32, 32)]",
    "a sequence": "return [torch.arange(1024, dtype=torch.float32).view(32, 32) / 1024]",
    "halves": "return [torch.linspace(-2, 2, 1024).view(32, 32).half()]",
    "one number": "return [torch.full((32, 32), 0.5)]",
}
BEFOREHAND = SAME.replace("Model", "Known") + """
answer = Known()(*get_inputs())
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return {}
"""


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
                made_by = INPUTS.format(made)
                report = self.server.judge(source(MODEL.format("ModelNew", body)), source(MODEL.format("Model", body) + made_by),
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
        reference = source(MODEL.format("Model", "return {'a': x[0] * 2, 'b': x[0] + 1}") + INPUTS.format(f"[{X}]"))
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

    def test_an_answer_computed_beforehand_for_inputs_that_are_always_the_same_is_suspect(self):
        for name, made in SAME_INPUTS.items():
            for answer in ("answer.clone()", "answer.clone() if torch.equal(x, get_inputs()[0]) else torch.zeros_like(x)"):
                with self.subTest(name, answer=answer):
                    report = self.server.judge(source(BEFOREHAND.format(made, answer)), source(SAME.format(made)))
                    self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"), report["summary"])
                    self.assertIn("On other contents of the same shapes", report["summary"])

    def test_what_is_remembered_by_its_contents_is_timed_on_others(self):
        slow = SAME.replace("return torch", "import time; time.sleep(0.004); return torch")
        made = SAME_INPUTS["a sequence"]
        kept = BEFOREHAND.format(made, "answer.clone() if torch.equal(x, get_inputs()[0]) else Known()(x)").replace("return torch.s",
                                                                                                              "import time; time.sleep(0.004); return torch.s")
        report = self.server.judge(source(kept), source(slow.format(made)), num_trials=20)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        self.assertLess(report["speedup"]["ratio"], 1.2, report["speedup"])

    def test_honest_work_on_inputs_that_are_always_the_same_is_not_flagged(self):
        for name, made in SAME_INPUTS.items():
            with self.subTest(name):
                report = self.server.judge(source(HONEST), source(SAME.format(made)))
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
                (others,) = [item for item in report["evidence"] if item["check"] == "other_contents"]
                self.assertEqual(others["result"], "agrees")
                self.assertIn("on contents of its own", str(report["evidence"]))

    def test_where_no_other_contents_mean_anything_the_task_is_weak(self):
        for made, body in (("return [torch.arange(32)]", "x * 2"), ("return [torch.zeros(8)]", "x + 3"),
                           ("return [torch.arange(64.).view(8, 8)]", "x.argmax(-1)"),
                           ("return [torch.arange(64.).view(8, 8)]", "x * (1 if x[7, 7] == 63 else 1 / 0)")):
            with self.subTest(made, body=body):
                text = SAME.format(made).replace("torch.softmax(x, dim=-1) @ x", body)
                report = self.server.judge(source(text.replace("Model", "ModelNew")), source(text))
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
                self.assertIn("The task is weak: get_inputs() gives the same each time", report["summary"])
                self.assertIn("all on the same contents", str(report["evidence"]))

    def test_a_contract_that_draws_no_input_is_weak(self):
        text = "import torch\ndef f(x, y):\n    return x * 2 + torch.tensor([[3., 4.]]).repeat(64, 32) * y\n"
        for kind, weak in (("ones", True), ("randn", False)):
            io = inputs(names="y", kind=kind)
            io["args"].insert(0, inputs(kind="arange")["args"][0])
            report = self.server.judge(source(text, io=io, function_name="f"), source(text, function_name="f"))
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
            self.assertEqual("the contract gives the same inputs each time" in report["summary"], weak, report["summary"])

    def test_other_contents_keep_what_inputs_are_like(self):
        made = ("return [torch.linspace(0, 1, 64), torch.tensor([0., 1.]).repeat(32), torch.tensor([-torch.inf, 0., 1., torch.nan]).repeat(16),"
                " torch.eye(8) * 3, torch.arange(8).bool()]")
        body = ("assert (s.diff() > 0).all() and s.min() == 0 and s.max() <= 1; assert ((m == 0) == (torch.arange(64) % 2 == 0)).all();"
                " assert (i.isinf() == (torch.arange(64) % 4 == 0)).all() and i.isnan().sum() == 16; torch.linalg.cholesky(e);"
                " assert b.sum() == 7; return s * 2 + m")
        text = SAME.format(made).replace("self, x", "self, s, m, i, e, b").replace("return torch.softmax(x, dim=-1) @ x", body)
        report = self.server.judge(source(text.replace("Model", "ModelNew")), source(text))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        self.assertIn("judged and timed on other contents", str(report["evidence"]))

    def test_a_reference_whose_shape_depends_on_its_data_judges_nothing(self):
        made = INPUTS.format("[torch.randn(4096)]")  # of two draws few have as many
        for body in ("return x[0][x[0] > 0]", "return torch.nonzero(x[0] > 0.3)", "return (x[0] * 1000).round().unique()",
                     "return [x[0] * part for part in range(1, 2 + int(x[0].abs().sum() * 1000) % 997)]"):
            with self.subTest(body):
                for until in ("validated", "timed"):
                    report = self.server.judge(source(MODEL.format("ModelNew", body)), source(MODEL.format("Model", body) + made), until=until)
                    self.assertEqual((report["verdict"], report["trust"]), ("contract_invalid", None), report["summary"])
                    self.assertIn("The reference: ", report["summary"])
                    self.assertIn("depends on what its inputs hold", report["summary"])
        alone = self.server.judge(source(MODEL.format("Model", "return x[0][x[0] > 0]") + made), until="validated")
        self.assertEqual(alone["verdict"], "contract_invalid", alone["summary"])
        self.assertNotIn("The reference", alone["summary"])

    def test_a_shape_that_depends_on_data_is_wrong_where_the_references_does_not(self):
        made = INPUTS.format("[torch.randn(64)]")
        report = self.server.judge(source(MODEL.format("ModelNew", "return x[0][x[0] > 0]")),
                                   source(MODEL.format("Model", "return x[0].relu()") + made), until="validated")
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_a_reference_that_does_not_fit_the_contract_judges_nothing(self):
        io = inputs(shape=(8,))
        io["args"].append({"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [8], "dtype": "float32"}})
        text = "import torch\ndef f(x):\n    return x[:4] * 2\n"
        right = source(text.replace("[:4]", ""), io=io, function_name="f")
        report = self.server.judge(right, source(text, io=io, function_name="f"), until="validated")
        self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
        self.assertIn("The reference: Output 0 is", report["summary"])
        report = self.server.judge(source(text, io=io, function_name="f"), right, until="validated")
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_groups_that_change_are_refused(self):
        made = f"n = 0\ndef get_inputs():\n    global n\n    n += 1\n    return [{X}, [None] * n]\n"
        report = self.server.judge(source(MODEL.format("Model", "return x[0] * 2") + made), until="validated")
        self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
        self.assertIn("other groups", report["summary"])

    def test_constructors_get_what_is_meant(self):
        for name, (made, parameters, factor) in CONSTRUCTORS.items():
            with self.subTest(name):
                text = CONSTRUCTED.format("Model", parameters, factor) + INPUTS.format(f"[{X}]")
                report = self.server.judge(source(f"{text}def get_init_inputs():\n    return {made}\n"), until="validated")
                self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_a_kernel_without_arguments_for_its_constructor_is_made_from_the_references(self):
        made = "[8, [4, None, {'scale': 2.5, 'big': 1 << 70}], (True, 'up'), torch.float64, float('inf')]"
        reference = MODEL.format("Model", "return x[0] * self.made[0]") + INPUTS.format(f"[{X}]") + f"def get_init_inputs():\n    return {made}\n"
        cases = {
            "it takes them": (MODEL.format("ModelNew", f"assert repr(self.made) == repr(tuple({made})); return x[0] * self.made[0]"), "passed"),
            "its own": (MODEL.format("ModelNew", "return x[0] * self.made[0]") + "def get_init_inputs():\n    return [8]\n", "passed"),
            "its own are others": (MODEL.format("ModelNew", "return x[0] * self.made[0]") + "def get_init_inputs():\n    return [9]\n", "wrong_output"),
            "it takes none": ("import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x * 8\n", "passed"),
            "it takes another number": ("import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, n=8):\n        super().__init__()\n"
                                        "        self.n = n\n    def forward(self, x):\n        return x * self.n\n", "passed"),
        }
        for name, (text, verdict) in cases.items():
            with self.subTest(name):
                report = self.server.judge(source(text), source(reference), until="validated")
                self.assertEqual(report["verdict"], verdict, report["summary"])

    def test_weights_are_the_same_where_the_reference_says_how_many(self):
        text = ("import torch\nclass {}(torch.nn.Module):\n    def __init__(self, n, *, m):\n        super().__init__()\n"
                "        self.layer = torch.nn.Linear(n, m)\n    def forward(self, x):\n        return {}\n")
        reference = text.format("Model", "self.layer(x)") + INPUTS.format(f"[{X}]") + "def get_init_inputs():\n    return [[8], {'m': 4}]\n"
        kernel = text.format("ModelNew", "x @ self.layer.weight.T + self.layer.bias")
        for made, verdict in (("", "passed"), ("def get_init_inputs():\n    return [[torch.zeros(8)], {}]\n", "failed")):
            report = self.server.judge(source(kernel + made), source(reference), until="validated")
            self.assertEqual(report["verdict"] == "passed", verdict == "passed", report["summary"])
        told = reference.replace("[[8], {'m': 4}]", "[[torch.tensor(8)], {'m': 4}]")  # no plain value: nothing is passed on
        report = self.server.judge(source(kernel), source(told), until="validated")
        self.assertIn("missing", report["summary"])

    def test_a_constructor_that_the_references_arguments_do_not_fit_is_told_so(self):
        text = "import torch\nclass {}(torch.nn.Module):\n    def __init__(self, {}):\n        super().__init__()\n    def forward(self, x):\n        return x\n"
        reference = text.format("Model", "n, m") + INPUTS.format(f"[{X}]") + "def get_init_inputs():\n    return [8, {'m': 4}]\n"
        report = self.server.judge(source(text.format("ModelNew", "w")), source(reference), until="validated")
        self.assertEqual(report["verdict"], "compile_failed", report["summary"])
        self.assertIn("gives [8, {'m': 4}], which this constructor does not take", report["summary"])

    def test_a_constructor_gets_no_number_alone(self):
        text = CONSTRUCTED.format("Model", "n", "self.n") + INPUTS.format(f"[{X}]") + "def get_init_inputs():\n    return 3\n"
        report = self.server.judge(source(text), until="validated")
        self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
        self.assertIn("get_init_inputs() returned a int, not a list", report["summary"])


if __name__ == "__main__":
    unittest.main()
