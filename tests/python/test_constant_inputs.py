"""Inputs that are the same each time beside others that are drawn: what ignores them, or knows them beforehand, is told."""

import unittest

from torch_server import TorchServer, source

MODEL = """import torch
class {}(torch.nn.Module):
    def forward(self, x, w):
        {}
"""
INPUTS = "def get_inputs():\n    return [torch.randn(16, 16), {}]\n"
TRIANGLE = "torch.tril(torch.ones(16, 16))"
ATTENTION = "return torch.softmax((x @ x).masked_fill({}, -torch.inf), -1) @ x"
SCALES = "g = torch.Generator().manual_seed(7); return [torch.randn(16, 16), torch.randn(16, 16, generator=g)]"

# name: (the constant input, what the reference does, what the kernel does instead)
KNOWN = {
    "a bias of zeros": ("torch.zeros(16)", "return x + w", "return x * 1"),
    "one zero": ("torch.zeros(1)", "return x + w", "return x * 1"),
    "weights of ones": ("torch.ones(16)", "return x * w", "return x * 1"),
    "a mask of ones": ("torch.ones(16, 16)", "return x * w", "return x * 1"),
    "a mask of truths": ("torch.ones(16, 16, dtype=torch.bool)", "return x * w", "return x * 1"),
    "a padding of none": ("torch.zeros(16, 16, dtype=torch.bool)", ATTENTION.format("w"), ATTENTION.format("w & False")),
    "a triangle": (TRIANGLE, "return x * w", f"return x * {TRIANGLE}"),
    "a matrix that changes nothing": ("torch.eye(16)", "return x @ w", "return x * 1"),
    "signs": ("torch.tensor([1., -1.]).repeat(8)", "return x * w", "return x * torch.tensor([1., -1.]).repeat(8)"),
    "numbers": ("torch.arange(16.)", "return x @ torch.outer(w, w)", "return x @ torch.outer(torch.arange(16.), torch.arange(16.))"),
}
# What the reference needs to be zeros and ones, in range, sorted or as it is; and the kernel's way of doing it.
HONEST = {
    "a mask of ones": ("torch.ones(16, 16)", "return x * w", "return torch.where(w > 0.5, x, torch.zeros(()))"),
    "a triangle": (TRIANGLE, "assert ((w == 0) | (w == 1)).all(); return x * w", "return torch.where(w != 0, x, torch.zeros(()))"),
    "a causal mask": (TRIANGLE + ".bool()", ATTENTION.format("~w"),
                      "return torch.nn.functional.scaled_dot_product_attention(x[None] * 4, x.t()[None], x[None], w[None])[0]"),
    "a bias of zeros": ("torch.zeros(16)", "return x + w", "return w + x"),
    "a state of zeros": ("torch.zeros(16, 16)", "return torch.tanh(x @ x + w)", "return torch.addmm(w, x, x).tanh()"),
    "indexes": ("torch.arange(15, -1, -1)", "return x[w]", "return torch.index_select(x, 0, w)"),
    "offsets": ("torch.tensor([0, 4, 16])", "return torch.stack([x[a:b].sum(0) for a, b in zip(w.tolist(), w.tolist()[1:])])",
                "return torch.stack([x[w[0]:w[1]].sum(0), x[w[1]:w[2]].sum(0)])"),
    "what only that one is": ("torch.eye(16)", "assert torch.equal(w, torch.eye(16)); return x @ w", "return x * 1"),
    "one of each row": ("torch.eye(16)", "return (x * w).sum(-1)", "return x[torch.arange(16), w.argmax(-1)]"),
    "labels": ("torch.tensor([1., -1.]).repeat(8)", "return (1 - x * w).clamp(min=0).mean()", "return torch.where(w > 0, 1 - x, 1 + x).relu().mean()"),
    "probabilities": ("torch.full((16,), 1 / 16)", "assert (w > 0).all() and (w < 1).all(); return x * w.log()", "return w.log() * x"),
}


class ConstantInputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, constant, reference, kernel, **more):
        return self.server.judge(source(MODEL.format("ModelNew", kernel)),
                                 source(MODEL.format("Model", reference) + INPUTS.format(constant)), **{"until": "validated", **more})

    def test_what_ignores_or_knows_an_input_that_is_always_the_same_is_suspect(self):
        for name, (constant, reference, kernel) in KNOWN.items():
            with self.subTest(name):
                report = self.judge(constant, reference, kernel)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"), report["summary"])
                self.assertIn("On other contents of input1", report["summary"])

    def test_honest_work_beside_them_is_not(self):
        for name, (constant, reference, kernel) in {**HONEST, **{name: (c, r, r) for name, (c, r, _) in KNOWN.items()}}.items():
            with self.subTest(name):
                report = self.judge(constant, reference, kernel)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])

    def test_what_is_kept_of_them_is_judged_and_timed_on_others(self):
        kept = ("if not hasattr(self, 'y') or not torch.equal(self.w, w):\n            self.w, self.y = w.clone(), torch.tanh(w @ w)\n"
                "        return self.y @ x")
        once = "self.y = getattr(self, 'y', None) if hasattr(self, 'y') else torch.tanh(w @ w)\n        return self.y @ x"
        reference = source(MODEL.format("Model", "return torch.tanh(w @ w) @ x") + f"def get_inputs():\n    {SCALES}\n")
        for body, trust in ((kept, "audited"), (once, "suspect")):
            report = self.server.judge(source(MODEL.format("ModelNew", body)), reference)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", trust), report["summary"])

    def test_a_reference_that_ends_or_hangs_on_others_is_timed_all_the_same(self):
        """Another process takes its place, which makes the inputs from then on, in groups where there are some."""
        lost = {"it exits": "__import__('os')._exit(3)", "it hangs": "[None for _ in iter(int, 1)]", "it raises": "1 / 0"}
        shapes = {"some": (INPUTS.format("torch.eye(16)"), "self, x, w"), "all": ("def get_inputs():\n    return [torch.ones(16, 16), torch.eye(16)]\n", "self, x, w"),
                  "some in a group": ("def get_inputs():\n    return [[torch.randn(16, 16), torch.eye(16)]]\n", "self, pair")}
        for which, (made, taken) in shapes.items():
            for name, end in lost.items():
                with self.subTest(which=which, end=name):
                    begin = "x, w = pair; " if "pair" in taken else ""
                    model = MODEL.replace("self, x, w", taken)
                    reference = model.format("Model", f"{begin}torch.equal(w, torch.eye(16)) or {end}; return x @ w") + made
                    report = self.server.judge(source(model.format("ModelNew", f"{begin}return x @ w")), source(reference), timeout=60)
                    self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
                    self.assertGreater(report["ref_runtime"]["median"], 0)
                    (others,) = [item for item in report["evidence"] if item["check"] == "other_contents"]
                    self.assertEqual(others["result"], "unknown")
                    self.assertIn("the reference does not take others", others["detail"])

    def test_a_kernel_that_ends_on_others_is_told_so(self):
        report = self.judge("torch.eye(16)", "return x @ w", "torch.equal(w, torch.eye(16)) or __import__('os')._exit(3); return x @ w", until="timed")
        self.assertEqual(report["verdict"], "crashed", report["summary"])
        self.assertIn("That was on other contents than those of input1", report["summary"])

    def test_all_drawn_is_nothing_to_speak_of(self):
        report = self.judge("torch.randn(16)", "return x + w", "return w + x")
        self.assertNotIn("other_contents", str(report["evidence"]))


if __name__ == "__main__":
    unittest.main()
