"""`generalise`: a kernel that is right only for the task it was shown is found out, an honest one is not."""

import unittest

from assay_client import Server

REFERENCE = """__global__ void twice(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] + x[i];
}"""
HONEST = """__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}"""
# Right for every multiple of its block.
NO_TAIL = HONEST.replace("if (i < n)", "if (blockIdx.x < n / blockDim.x)")
# Right for the 1000 elements it was shown.
ONE_SIZE = HONEST.replace("i < n", "i < 1000")
# Right for what a normal distribution gives.
SNIFFING = HONEST.replace("2.0f * x[i]", "fabsf(x[i]) < 8.0f ? 2.0f * x[i] : 16.0f")


def contract(n, shape="n", init=None, grid="ceildiv(n, 64)"):
    init = init or {"kind": "randn", "seed": 3}
    return {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [shape], "dtype": "float32", "init": init}},
                     {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [shape], "dtype": "float32"}},
                     {"name": "n", "type": "int", "value": n}],
            "launch": {"grid": {"x": grid}, "block": {"x": 64}}}


class Generalise(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, source, io, reference=REFERENCE, **more):
        serial = {**io, "launch": {"grid": {"x": 1}, "block": {"x": 1}}}
        arguments = {"kernel": {"source_code": source, "kernel_type": "cuda", "io": io}, "num_trials": 1, "generalise": True,
                     "wait_s": 140, **more}
        if reference:
            arguments["ref_kernel"] = {"source_code": reference, "kernel_type": "cuda", "io": serial}
        return self.server.call("evaluate", arguments)["structuredContent"]

    def test_an_honest_kernel_holds_on_every_hidden_task(self):
        report = self.judge(HONEST, contract(1000))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        told = report["generalisation"]
        self.assertEqual((told["asked"], told["held"]), (8, 8), told)
        self.assertIn("held on 8 of 8 hidden tasks.", report["summary"])
        sizes = [task["changed"]["sizes"]["n"] for task in told["tasks"] if "sizes" in task["changed"]]
        self.assertEqual(len(sizes), 4)
        self.assertNotIn(1000, sizes)

    def test_hidden_sizes_are_drawn_anew(self):
        seen = set()
        for _ in range(3):
            told = self.judge(HONEST, contract(1000))["generalisation"]
            seen.add(tuple(task["changed"]["sizes"]["n"] for task in told["tasks"][:4]))
        self.assertGreater(len(seen), 1)

    def broke(self, report):
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"), report["summary"])
        finding, = [item for item in report["evidence"] if item["check"] == "generalises"]
        self.assertIn("does not hold beyond what was asked", report["summary"])
        self.assertLess(report["generalisation"]["held"], 8)
        return finding

    def test_a_kernel_for_one_size_is_found_out(self):
        self.assertIn("sizes", self.broke(self.judge(ONE_SIZE, contract(1000)))["changed"])

    def test_a_forgotten_tail_is_found_out(self):
        finding = self.broke(self.judge(NO_TAIL, contract(1024)))
        self.assertEqual((finding["changed"], finding["verdict"]), ({"sizes": {"n": 1023}}, "wrong_output"))

    def test_a_kernel_for_one_distribution_is_found_out(self):
        self.assertIn("inputs", self.broke(self.judge(SNIFFING, contract(1000)))["changed"])

    def test_a_sum_in_another_order_is_not_blamed_for_larger_numbers(self):
        """Sixteen times as wide, both matrices give products 256 times as large, and of their rounding as much."""
        serial = """__global__ void product(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * 16 + j];
    c[i * 16 + j] = sum;
  }
}"""
        two_sums = """__global__ void product(const float* a, const float* b, float* c, int n) {
  int i = threadIdx.y, j = threadIdx.x;
  float even = 0, odd = 0;
  for (int k = 0; k + 1 < n; k += 2) { even += a[i * n + k] * b[k * 16 + j]; odd += a[i * n + k + 1] * b[(k + 1) * 16 + j]; }
  if (n % 2) even += a[i * n + n - 1] * b[(n - 1) * 16 + j];
  c[i * 16 + j] = even + odd;
}"""
        matrices = (("a", [16, "n"], "input"), ("b", ["n", 16], "input"), ("c", [16, 16], "output"))
        io = {"args": [{"name": name, "type": "tensor", "role": role, "tensor_spec": {
                  "shape": shape, "dtype": "float32", **({"init": {"kind": "randn"}} if role == "input" else {})}} for name, shape, role in matrices]
              + [{"name": "n", "type": "int", "value": 256}],
              "launch": {"grid": {"x": 1}, "block": {"x": 16, "y": 16}}}
        close = {"atol": 3e-5, "rtol": 1e-5}
        report = self.judge(two_sums, io, serial, **close)
        told = report["generalisation"]
        self.assertEqual((report["trust"], told["held"]), ("verified", 8), told)
        wide, = [task for task in told["tasks"] if "sixteen" in str(task["changed"])]
        self.assertAlmostEqual(wide["atol_times"]["c"] / 256, 1, delta=0.3)
        # By as much as larger numbers explain, and by no more.
        clamped = two_sums.replace("even + odd;", "fminf(even + odd, 500.0f);")
        self.broke(self.judge(clamped, io, serial, **close))

    def test_a_few_huge_numbers_excuse_nothing_of_the_rest(self):
        """Of powers a few are as large as all others together a billion times; what is small has to be right all the same."""
        power = HONEST.replace("2.0f * x[i]", "expf(x[i])")
        serial = REFERENCE.replace("x[i] + x[i]", "expf(x[i])")
        self.assertEqual(self.judge(power, contract(1000), serial)["trust"], "verified")
        clamped = power.replace("expf(x[i])", "expf(x[i] > 30.0f ? x[i] : fminf(fmaxf(x[i], -8.0f), 8.0f))")
        self.assertIn("inputs", self.broke(self.judge(clamped, contract(1000), serial))["changed"])

    def test_sizes_that_are_not_named_are_not_guessed(self):
        report = self.judge(ONE_SIZE, contract(1000, shape=1000, grid=16))
        self.assertEqual((report["trust"], report["generalisation"]["asked"]), ("verified", 4))
        self.assertIn("named sizes", report["generalisation"]["note"])
        self.assertIn("hidden tasks; no other sizes were tried.", report["summary"])

    def test_bounds_that_the_contract_gives_are_kept(self):
        table = """__global__ void look(const int* at, const float* table, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[at[i]];
}"""
        serial = table.replace("int i = blockIdx.x * blockDim.x + threadIdx.x;", "for (int i = 0; i < n; ++i)").replace("if (i < n) ", "")
        io = contract(300)
        io["args"][0] = {"name": "at", "type": "tensor", "tensor_spec": {"shape": ["n"], "dtype": "int32",
                                                                        "init": {"kind": "uniform", "low": 0, "high": 49}}}
        io["args"].insert(1, {"name": "table", "type": "tensor", "tensor_spec": {"shape": [50], "dtype": "float32",
                                                                                "init": {"kind": "randn"}}})
        report = self.judge(table, io, serial)
        self.assertEqual((report["trust"], report["generalisation"]["held"]), ("verified", 8), report["summary"])

    GATHER = """__global__ void look(const int* at, const float* table, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[at[i]];
}"""

    def gathering(self, init):
        io = contract(256)
        io["args"][0] = {"name": "at", "type": "tensor", "tensor_spec": {"shape": ["n"], "dtype": "int32", **init}}
        io["args"].insert(1, {"name": "table", "type": "tensor", "tensor_spec": {"shape": ["n"], "dtype": "float32",
                                                                                "init": {"kind": "randn"}}})
        return io

    def test_indices_stay_within_what_the_hidden_size_has(self):
        io = self.gathering({"init": {"kind": "uniform", "low": 0, "high": 255}})
        report = self.server.evaluate(self.GATHER, io, ref=self.GATHER, num_trials=1, generalise=True)
        self.assertEqual((report["trust"], report["generalisation"]["held"]), ("verified", 8), report["generalisation"])
        wrong = self.server.evaluate(self.GATHER.replace("i < n", "i < 256"), io, ref=self.GATHER, num_trials=1, generalise=True)
        self.assertEqual(wrong["trust"], "suspect", wrong["summary"])

    def test_where_the_reference_does_not_agree_with_itself_no_kernel_is_blamed(self):
        """Indices in floating point: nobody sees that they point outside, both read what lies there."""
        source = self.GATHER.replace("const int* at", "const float* at").replace("at[i]", "(int)at[i]")
        io = self.gathering({"dtype": "float32", "init": {"kind": "uniform", "low": 0.0, "high": 256.0}})
        report = self.server.evaluate(source, io, ref=source, num_trials=1, generalise=True)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["generalisation"])
        told = [task for task in report["generalisation"]["tasks"] if task["outcome"] == "no answer"]
        self.assertTrue(told, report["generalisation"])
        self.assertIn("does not agree with itself", told[0]["reason"])

    def test_a_contract_with_nulls_is_drawn_from_like_one_without(self):
        for member in ("mean", "std", "low", "high", "seed"):
            io = contract(64, init={"kind": "randn", "seed": 1, member: None})
            io["args"][0]["role"] = None
            report = self.judge(HONEST, io)
            self.assertEqual((report["trust"], report["generalisation"]["held"]), ("verified", 8), report["generalisation"])

    def test_contents_that_are_no_contract_are_refused_as_without_hidden_tasks(self):
        for init in ({"kind": "randn", "mean": "a"}, {"kind": "uniform", "low": "0", "high": 1}, {"kind": 5}, {"kind": "uniform", "low": [1], "high": {}}):
            for generalise in (False, True):
                refused = self.judge(HONEST, contract(64, init=init), generalise=generalise)
                self.assertTrue(refused["error"]["violations"][0]["pointer"].startswith("/kernel/io/args/0/tensor_spec/init"), refused)

    def test_without_a_reference_it_is_refused(self):
        refused = self.judge(HONEST, contract(100), reference=None)
        self.assertEqual(refused["error"]["violations"][0]["pointer"], "/generalise")

    def test_python_sources_are_refused_not_ignored(self):
        source = {"source_code": "import torch\ndef f(x):\n    return x\n", "kernel_type": "torch", "metadata": {"function_name": "f"}}
        refused = self.server.call("evaluate", {"kernel": source, "ref_kernel": source, "generalise": True})["structuredContent"]
        self.assertEqual(refused["error"]["violations"][0]["pointer"], "/generalise")

    def test_a_failing_kernel_is_not_asked_further(self):
        report = self.judge(HONEST.replace("2.0f", "3.0f"), contract(1000))
        self.assertEqual(report["verdict"], "wrong_output")
        self.assertNotIn("generalisation", report)


if __name__ == "__main__":
    unittest.main()
