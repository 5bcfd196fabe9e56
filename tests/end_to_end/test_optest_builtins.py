"""Every builtin assertion against an independent computation of the same operator."""

import importlib.util
import json
import math
import os
import random
import sys
import unittest

import tensor_operators
from optest_client import PlanFolder

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tensor_operators.py")


def case(operator, shapes, output_shape, dtypes=None, output_dtype=None, params=None, generator=None):
    dtypes = dtypes or ["float32"] * len(shapes)
    return {"operator": operator, "shapes": shapes, "output_shape": output_shape, "dtypes": dtypes,
            "output_dtype": output_dtype or dtypes[0], "params": params or {}, "generator": generator or {}}


WIDE = {"name": "builtin.uniform", "params": {"low": -100, "high": 100}}
NARROW = {"name": "builtin.uniform", "params": {"low": -4, "high": 4}}
NEGATIVE = {"name": "builtin.uniform", "params": {"low": -9, "high": -1}}
POSITIVE = {"name": "builtin.uniform", "params": {"low": 1, "high": 9}}


def elementwise():
    for operator in ("elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_div"):
        generator = POSITIVE if operator == "elementwise_div" else WIDE
        yield case(operator, [[3, 5], [3, 5]], [3, 5], generator=generator)
        yield case(operator, [[4, 1, 3], [2, 1]], [4, 2, 3], ["float64", "float64"], generator=generator)
        yield case(operator, [[7], [7]], [7], ["float16", "float16"], generator=NARROW if generator is WIDE else generator)
        yield case(operator, [[9], [1]], [9], ["bfloat16", "bfloat16"], generator=generator)
    for dtype in ("int8", "uint8", "int16", "int32", "int64", "uint64"):
        for operator in ("elementwise_add", "elementwise_sub", "elementwise_mul"):
            yield case(operator, [[64], [64]], [64], [dtype, dtype], generator=POSITIVE if dtype[0] == "u" else WIDE)
    yield case("elementwise_mul", [[5], [5]], [5], ["int32", "float32"], output_dtype="float32", generator=WIDE)


def comparisons():
    for operator in ("equal", "greater", "less", "less_equal", "greater_equal"):
        for dtype in ("int8", "int64", "bool", "float32"):
            yield case(operator, [[40], [40]], [40], [dtype, dtype], output_dtype="bool", generator={} if dtype == "bool" else NARROW)
        yield case(operator, [[6, 1], [1, 7]], [6, 7], ["int32", "int32"], output_dtype="bool", generator=NARROW)
        yield case(operator, [[12], [12]], [12], ["float32", "float32"])


def vectors():
    for dtype in ("float32", "float64", "float16", "int32", "int8"):
        yield case("vector_dot", [[33], [33]], [1], [dtype, dtype], output_dtype="int64" if dtype[0] == "i" else dtype, generator=NARROW)
        yield case("vector_sum", [[33]], [1], [dtype], output_dtype="int64" if dtype[0] == "i" else dtype, generator=NARROW)
    yield case("vector_dot", [[300], [300]], [1], ["int8", "int8"], output_dtype="int8", generator=WIDE)
    yield case("vector_norm", [[50]], [1], ["float32"])
    yield case("vector_norm", [[50]], [1], ["int8"], output_dtype="float32", generator=WIDE)


def products():
    for a in (False, True):
        for b in (False, True):
            yield case("gemm", [[4, 3] if a else [3, 4], [5, 4] if b else [4, 5]], [3, 5], params={"trans_a": a, "trans_b": b})
    yield case("gemm", [[3, 4], [4, 5], [5]], [3, 5], ["float32"] * 3, params={"alpha": 2.5, "beta": -1})
    yield case("gemm", [[3, 40], [40, 2]], [3, 2], ["int8", "int8"], output_dtype="int32", generator=WIDE)
    yield case("gemm", [[3, 40], [40, 2]], [3, 2], ["int8", "int8"], generator=WIDE)
    yield case("gemm", [[2, 300], [300, 2]], [2, 2], ["float16", "float16"], output_dtype="float32")
    for a, b, out in (([5], [5], [1]), ([3, 5], [5], [3]), ([5], [5, 2], [2]), ([2, 3, 4], [2, 4, 5], [2, 3, 5]),
                      ([3, 4], [6, 4, 2], [6, 3, 2]), ([2, 1, 3, 4], [5, 4, 2], [2, 5, 3, 2])):
        yield case("matmul", [a, b], out)
    yield case("matmul", [[3, 4], [4, 5]], [3, 5], ["int64", "int64"], generator=WIDE)


def convolutions():
    for params, out in (({}, [5, 4]), ({"padding": 1}, [7, 6]), ({"padding": [2, 1], "stride": [2, 3]}, [5, 2]),
                        ({"padding": [0, 2, 1, 3]}, [7, 8]), ({"padding": "same"}, [7, 6]), ({"padding": "valid"}, [5, 4]),
                        ({"padding": "same", "stride": 2}, [4, 3]), ({"dilation": 2}, [3, 2]), ({"dilation": [1, 2], "padding": 2}, [9, 6])):
        yield case("conv2d", [[2, 3, 7, 6], [4, 3, 3, 3]], [2, 4, *out], params=params)
    yield case("conv2d", [[1, 4, 5, 5], [6, 2, 3, 3]], [1, 6, 3, 3], params={"groups": 2})
    yield case("conv2d", [[1, 3, 5, 5], [3, 1, 2, 2], [3]], [1, 3, 4, 4], ["float32"] * 3, params={"groups": 3})
    yield case("conv2d", [[1, 3, 6, 6], [2, 3, 3, 3]], [1, 2, 6, 6], ["int8", "int8"], output_dtype="int32",
               params={"padding": 1}, generator=WIDE)
    yield case("conv2d", [[1, 2, 4, 4], [2, 2, 2, 2]], [1, 2, 3, 3], ["int8", "int8"], generator=WIDE)
    yield case("conv2d", [[1, 2, 5, 5], [2, 2, 2, 4]], [1, 2, 5, 5], ["float64", "float64"], params={"padding": "same"})


def pools():
    for operator in ("maxpool2d", "avgpool2d"):
        for generator in (WIDE, NEGATIVE):
            yield case(operator, [[2, 3, 6, 6]], [2, 3, 3, 3], params={"kernel_size": 2}, generator=generator)
            yield case(operator, [[1, 2, 5, 7]], [1, 2, 5, 7], params={"kernel_size": 3, "stride": 1, "padding": 1}, generator=generator)
            yield case(operator, [[1, 1, 5, 5]], [1, 1, 4, 3], params={"kernel_size": [2, 3], "stride": [1, 2], "padding": [0, 0, 1, 1]},
                       generator=generator)
            yield case(operator, [[1, 1, 5, 5]], [1, 1, 5, 5], params={"kernel_size": 2, "stride": 1, "padding": "same"}, generator=generator)
        yield case(operator, [[1, 2, 4, 4]], [1, 2, 2, 2], ["int8"], params={"kernel_size": 2},
                   output_dtype="int8" if operator == "maxpool2d" else "float32", generator=NEGATIVE)
    yield case("maxpool2d", [[1, 1, 7, 7]], [1, 1, 3, 3], params={"kernel_size": 3, "dilation": 2, "stride": 1}, generator=NEGATIVE)
    yield case("avgpool2d", [[1, 2, 5, 5]], [1, 2, 3, 3], params={"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": True})


def functions():
    for operator in ("relu", "sigmoid", "tanh", "leaky_relu", "sinh"):
        for dtype in ("float32", "float64", "float16", "bfloat16"):
            yield case(operator, [[4, 9]], [4, 9], [dtype], generator=NARROW)
        yield case(operator, [[31]], [31], ["int8"], output_dtype="int8" if operator == "relu" else "float32", generator=NARROW)
    yield case("leaky_relu", [[31]], [31], params={"alpha": 0.3})
    yield case("softmax", [[4, 9]], [4, 9])
    yield case("softmax", [[4, 9]], [4, 9], params={"axis": 0}, generator=WIDE)
    yield case("softmax", [[2, 5, 3]], [2, 5, 3], ["float64"], params={"axis": -2})


def reductions():
    for operator in ("reduce_sum", "reduce_mean"):
        for params, out in (({}, [1]), ({"axis": 1}, [2, 4]), ({"axis": [0, 2]}, [3]), ({"axis": -1, "keepdims": True}, [2, 3, 1]),
                            ({"axis": None, "keepdims": True}, [1, 1, 1])):
            yield case(operator, [[2, 3, 4]], out, params=params)
        yield case(operator, [[6, 50]], [6], ["int8"], params={"axis": 1}, output_dtype="int32" if operator == "reduce_sum" else "float32",
                   generator=WIDE)
        yield case(operator, [[6, 50]], [50], ["bool"], params={"axis": 0}, output_dtype="int32" if operator == "reduce_sum" else "float32")
    yield case("broadcast_to", [[3, 1]], [2, 3, 4], params={"shape": [2, 3, 4]})
    yield case("broadcast_to", [[4]], [3, 4], ["int8"], generator=WIDE)
    yield case("broadcast_to", [[1]], [5], ["bool"])


def all_cases():
    every = [*elementwise(), *comparisons(), *vectors(), *products(), *convolutions(), *pools(), *functions(), *reductions()]
    return {f"{one['operator']}_{number}": one for number, one in enumerate(every)}


# Both sides round the same exact result once, but sums of floats differ in their last bits before that.
TOLERANCES = {"float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 1e-2), "float32": (2e-6, 2e-6), "float64": (1e-12, 1e-12)}


class Builtins(PlanFolder):
    def plan(self):
        cases = all_cases()
        specification = self.write("specification.json", json.dumps(cases))
        lines = []
        for name, one in cases.items():
            rtol, atol = TOLERANCES.get(one["output_dtype"], (0, 0))
            count = len(one["shapes"])
            generator = {"name": "builtin.random", "seed": 7, **one["generator"]}
            lines.append(json.dumps({
                "name": name, "dtypes": one["dtypes"], "shapes": [{"inputs": one["shapes"], "outputs": [one["output_shape"]]}],
                "inputs": [f"data/{name}_{i}.bin" for i in range(count)], "outputs": [f"out/{name}.bin"], "generator": generator,
                "assertion": {"name": one["operator"], "params": one["params"], "output_dtypes": [one["output_dtype"]],
                              "rtol": rtol, "atol": atol}}))
        command = json.dumps([sys.executable, PROGRAM, specification, "{case}", "{inputs}", "{output0}"])
        return ("operator: all\ninputs: [a]\noutputs: [b]\nbackends:\n"
                f"  - {{type: cuda, chip: any, command: {command}}}\ncases:\n" + "".join(f"  - {line}\n" for line in lines))

    def test_every_builtin_agrees_with_its_definition(self):
        report = self.run_plan(self.plan())
        wrong = {one["id"]: one["details"] for one in report["cases"] if one["status"] != "passed"}
        self.assertEqual(wrong, {})
        operators = {one["operator"] for one in all_cases().values()}
        self.assertEqual(len(operators), 26, "every builtin but identity")
        self.assertEqual(report["summary"]["failures"], 0)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed here")
    def test_the_witness_agrees_with_numpy(self):
        import numpy_operators
        choose = random.Random(5)
        for name, one in all_cases().items():
            low = -9 if one["dtypes"][0][0] != "u" and one["operator"] != "elementwise_div" else 1
            draw = choose.random if one["dtypes"][0] == "bool" else lambda: choose.uniform(low, 9)
            inputs = [[round(draw()) if dtype[0] in "uib" and dtype != "bfloat16" else draw() for _ in range(math.prod(shape))]
                      for dtype, shape in zip(one["dtypes"], one["shapes"])]
            ours, theirs = tensor_operators.compute(one, inputs), numpy_operators.compute(one, inputs)
            self.assertEqual(len(ours), len(theirs), name)
            if one["output_dtype"] in tensor_operators.BITS:  # numbers of a width wrap around
                ours, theirs = [[value % (1 << 64) if isinstance(value, int) else value for value in side] for side in (ours, theirs)]
            for mine, other in zip(ours, theirs):
                self.assertTrue(math.isclose(mine, other, rel_tol=1e-12, abs_tol=1e-12), (name, mine, other))

    def test_one_wrong_element_is_found_in_every_one_of_them(self):
        report = self.run_plan(self.plan(), env={"SPOIL": "1"}, code=1)
        self.assertEqual({one["status"] for one in report["cases"]}, {"failed"},
                         [one["id"] for one in report["cases"] if one["status"] != "failed"])
        for one in report["cases"]:
            self.assertRegex(one["details"], r"output0: 1 of \d+ mismatched, worst at \[")


if __name__ == "__main__":
    unittest.main()
