"""Where results go when a contract writes several tensors: returned, written in place, or some of each."""

import unittest

from assay_client import tensor
from torch_server import TorchServer, io_of, source
from triton_kernels import HEAD, io, meta, number
from triton_kernels import tensor as triton_tensor

BOTH_TRITON = HEAD + """@triton.jit
def k(a, b, n, B: tl.constexpr):
    p = tl.arange(0, B)
    m = p < n
    tl.store(a + p, tl.load(a + p, mask=m) * 2, mask=m)
    tl.store(b + p, tl.load(b + p, mask=m) + 1, mask=m)
"""
BOTH_CUDA = 'extern "C" __global__ void k(float* a, float* b) { int p = threadIdx.x; a[p] = a[p] * 2; b[p] = b[p] + 1; }'
RETURNED = "def f(a, b):\n    return a * 2, b + 1\n"
IN_PLACE = "def f(a, b):\n    a.mul_(2)\n    b.add_(1)\n"
BOTH_WAYS = "def f(a, b):\n    return a.mul_(2), b.add_(1)\n"
FIRST_RETURNED = "def f(a, b):\n    b.add_(1)\n    return a * 2\n"
SECOND_RETURNED = IN_PLACE + "    return b\n"
SWAPPED = "def f(a, b):\n    return b, a\n"
SWAPPED_APART = "def f(a, b):\n    return b.clone(), a.clone()\n"
ADAM = """def f(p, g, m, v):
    m = m * 0.9 + g * 0.1
    v = v * 0.99 + g * g * 0.01
    return p - m / (v.abs().sqrt() + 1), m, v
"""
ADAM_IN_PLACE = """def f(p, g, m, v):
    m.mul_(0.9).add_(g * 0.1)
    v.mul_(0.99).add_(g * g * 0.01)
    p.sub_(m / (v.abs().sqrt() + 1))
"""


def contract(**roles):
    return io_of(*(tensor(name, 100, role=role, **({} if role == "output" else {"seed": 1 + i}))
                   for i, (name, role) in enumerate(roles.items())))


BOTH = contract(a="inout", b="inout")


def f(text, io=None):
    return source(text, io=io, function_name="f")


class WrittenArguments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def ends(self, kernel, reference, verdict="passed", **more):
        report = self.server.judge(kernel, reference, num_trials=3, until="validated", **more)
        self.assertEqual(report["verdict"], verdict, report["summary"])
        return report

    def test_two_that_a_call_changes_are_returned_or_changed_in_place(self):
        for text in (RETURNED, IN_PLACE, BOTH_WAYS, FIRST_RETURNED):
            with self.subTest(text):
                self.ends(f(text, BOTH), f(RETURNED, BOTH))
                self.ends(f(RETURNED, BOTH), f(text, BOTH))
        self.ends(f(FIRST_RETURNED.replace("    b.add_(1)\n", ""), BOTH), f(RETURNED, BOTH), "wrong_output")

    def test_they_are_bound_in_the_order_of_the_contract(self):
        wrong = self.ends(f("def f(a, b):\n    return b + 1, a * 2\n", BOTH), f(RETURNED, BOTH), "wrong_output")
        self.assertEqual(wrong["error"]["output"]["name"], "a")
        # With an output, too: the order is the contract's, whatever each one's role is.
        mixed = contract(x="input", h="inout", o="output")
        self.ends(f("def f(x, h):\n    return h * 2, x + h\n", mixed),
                  f("def f(x, h):\n    o = x + h\n    h.mul_(2)\n    return o\n", mixed))

    def test_an_argument_returned_for_another_is_read_first(self):
        self.ends(f(SWAPPED, BOTH), f(SWAPPED_APART, BOTH))

    def test_one_that_is_returned_is_the_argument_that_it_is(self):
        self.ends(f(SECOND_RETURNED, BOTH), f(RETURNED, BOTH))
        self.ends(f(RETURNED, BOTH), f(SECOND_RETURNED, BOTH))
        self.ends(f(SECOND_RETURNED.replace("    a.mul_(2)\n", ""), BOTH), f(RETURNED, BOTH), "wrong_output")
        # An output that the call does not get is what it returns, wherever that lies.
        mixed = contract(x="input", h="inout", o="output")
        self.ends(f("def f(x, h):\n    return h.mul_(2)\n", mixed), f("def f(x, h):\n    return h * 2, h * 2\n", mixed))
        self.ends(f("def f(x, h):\n    return h.mul_(2)\n", mixed), f("def f(x, h):\n    h.mul_(2)\n    return h.clone()\n", mixed))

    def test_a_dict_with_the_contracts_names_is_taken_by_them(self):
        self.ends(f("def f(a, b):\n    return {'b': b + 1, 'a': a * 2}\n", BOTH), f(RETURNED, BOTH))
        self.ends(f("def f(a, b):\n    return {'y': a * 2, 'x': b + 1}\n", BOTH), f(RETURNED, BOTH))
        apart = contract(x="input", p="output", o="output")
        self.ends(f("def f(x):\n    return {'o': x + 1, 'p': x * 2}\n", apart), f("def f(x):\n    return x * 2, x + 1\n", apart))

    def test_an_optimizers_step(self):
        step = contract(p="inout", g="input", m="inout", v="inout")
        self.ends(f(ADAM, step), f(ADAM_IN_PLACE, step))
        self.ends(f(ADAM_IN_PLACE, step), f(ADAM, step))

    def test_a_reference_returns_what_a_kernel_writes(self):
        launched = io(triton_tensor("a", 100, role="inout"), triton_tensor("b", 100, role="inout", seed=5), number("n", 100), meta("B", 128))
        self.ends(source(BOTH_TRITON, "triton", launched), f(RETURNED))
        cuda = {**BOTH, "launch": {"grid": {"x": 1}, "block": {"x": 100}}}
        for text in (RETURNED, FIRST_RETURNED, SECOND_RETURNED):
            for oracle in ("reference", "float64"):
                with self.subTest(text=text, oracle=oracle):
                    self.ends(source(BOTH_CUDA, "cuda", cuda), f(text), oracle=oracle)

    def test_a_number_that_fits_neither_is_refused_with_both(self):
        report = self.ends(f("def f(a, b):\n    return a, b, a\n", BOTH), f(RETURNED, BOTH), "contract_invalid")
        self.assertIn("returned 3 tensors, but 1 outputs are expected, or all 2 that the contract has it write", report["summary"])


if __name__ == "__main__":
    unittest.main()
