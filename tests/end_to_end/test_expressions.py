"""Random integer expressions of CUDA C++, compiled by NVRTC and run on the emulator, against Python's integers."""

import random
import unittest

from assay_client import Server

WORD = 1 << 32
EXPRESSIONS = 150
INPUTS = [3, -7, 1000003, -2147483647, 12, 65537, -1, 0, 31, 2147483647]
BINARY = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b), "==": lambda a, b: int(a == b),
}


def wrap(value):
    value %= WORD
    return value - WORD if value >= WORD // 2 else value


def truncated(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def expression(rng, depth):
    """(C text, value): unsigned arithmetic underneath, so that overflow is defined, signed results."""
    kind = rng.randrange(10) if depth > 0 else 9
    if kind == 9:
        i = rng.randrange(len(INPUTS))
        return f"x[{i}]", INPUTS[i]
    a, u = expression(rng, depth - 1)
    b, v = expression(rng, depth - 1)
    if kind < 5:
        op = rng.choice(list(BINARY))
        if op in "<==":
            return f"(int)({a} {op} {b})", BINARY[op](u, v)
        return f"(int)((unsigned)({a}) {op} (unsigned)({b}))", wrap(BINARY[op](u, v))
    if kind == 5:
        d = wrap(v | 1)
        if d == -1:  # INT_MIN / -1 is nobody's business
            return f"(int)~(unsigned)({a})", wrap(~u)
        return f"({a}) / (({b}) | 1)", wrap(truncated(u, d))
    if kind == 6:
        d = wrap(v | 1)
        if d == -1:
            return f"min({a}, {b})", min(u, v)
        return f"({a}) % (({b}) | 1)", wrap(u - truncated(u, d) * d)
    if kind == 7:
        return f"(int)((unsigned)({a}) << (({b}) & 31))", wrap(u << (v & 31))
    return f"(({a}) > 0 ? ({b}) >> 3 : ({a}))", v >> 3 if u > 0 else u


class Expressions(unittest.TestCase):
    def test_what_the_compiler_and_the_emulator_make_of_an_expression_is_its_value(self):
        rng = random.Random(20261121)
        cases = [expression(rng, 4) for _ in range(EXPRESSIONS)]
        values = "\n".join(f"  y[{i}] = {text};" for i, (text, _) in enumerate(cases))
        wanted = "\n".join(f"  y[{i}] = (int){value % WORD}u;" for i, (_, value) in enumerate(cases))
        fill = " ".join(f"x[{i}] = (int){value % WORD}u;" for i, value in enumerate(INPUTS))
        # The inputs come through memory, so that nothing is folded at compile time.
        head = "__global__ void k(volatile int* x, int* y) {\n"
        spec = {"shape": [len(INPUTS)], "dtype": "int32", "init": {"kind": "zeros"}}
        io = {"args": [{"name": "x", "type": "tensor", "role": "inout", "tensor_spec": spec},
                       {"name": "y", "type": "tensor", "role": "output",
                        "tensor_spec": {"shape": [EXPRESSIONS], "dtype": "int32"}}],
              "launch": {"grid": {"x": 1}, "block": {"x": 1}}}
        kernels = {name: {"source_code": head + fill + "\n" + body + "\n}", "kernel_type": "cuda", "io": io}
                   for name, body in (("kernel", values), ("ref_kernel", wanted))}
        with Server() as server:
            report = server.call("evaluate", {**kernels, "device": "emulator", "until": "validated",
                                              "wait_s": 120})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"])


if __name__ == "__main__":
    unittest.main()
