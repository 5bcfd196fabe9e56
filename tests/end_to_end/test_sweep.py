"""sweep: one call, many variants, each judged."""

import unittest

from assay_client import ADD, Server, contract, kernel

TILED = """__global__ void add(const float* a, const float* b, float* out, int n) {
  for (int k = 0; k < PER_THREAD; ++k) {
    int i = (blockIdx.x * PER_THREAD + k) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
  }
}
"""


def tiled(source=TILED, n=1000):
    io = contract(n=n)
    io["launch"] = {"grid": {"x": "ceildiv(n, 256 * PER_THREAD)"}, "block": {"x": 256}}
    return kernel(source, io)


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def sweep(self, **arguments):
        return self.server.call("sweep", {"ref_kernel": kernel(ADD), **arguments})

    def test_a_parameter_is_a_macro_and_a_size_of_the_launch(self):
        report = self.sweep(kernel=tiled(), parameters={"PER_THREAD": [1, 2, 4]})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report)
        self.assertEqual(len(report["table"]), 3)
        self.assertTrue(all(line["verdict"] == "passed" for line in report["table"]))
        self.assertEqual(sorted(line["parameters"]["PER_THREAD"] for line in report["table"]), [1, 2, 4])
        self.assertEqual(report["ranked_by"], "thread_instructions")
        self.assertIn("no order of times", report["note"])

    def test_counts_that_are_as_good_as_equal_are_ties(self):
        """Emulated times rank nothing; what is counted does, and only as far as a count says something."""
        same = ADD.replace("a[i] + b[i]", "b[i] + a[i]")
        thrice = ADD.replace("out[i] = a[i] + b[i];", "{ float s = a[i] + b[i]; for (int k = 0; k < n % 7 + 3; ++k) s = s * 1.0f + 0.0f; out[i] = s; }")
        variants = [{"name": "thrice", "source_code": thrice}, {"name": "plain"}, {"name": "turned", "source_code": same}, {"name": "again"}]
        report = self.sweep(kernel=kernel(ADD), variants=variants)["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report)
        table = {line["name"]: line for line in report["table"]}
        self.assertEqual([table[name]["rank"] for name in ("plain", "turned", "again", "thrice")], [1, 1, 1, 4])
        self.assertEqual([line.get("tied_with_best", False) for line in report["table"]], [False, True, True, False])
        self.assertEqual(table["plain"]["thread_instructions"], table["again"]["thread_instructions"])
        self.assertIn("2 more cannot be told from it", report["summary"])
        self.assertIn("within 1 % of the best they are ties", report["note"])
        again = self.sweep(kernel=kernel(ADD), variants=variants)["structuredContent"]
        self.assertEqual([line["thread_instructions"] for line in again["table"]], [line["thread_instructions"] for line in report["table"]])

    def test_a_wrong_variant_and_one_that_does_not_compile_are_told_apart(self):
        variants = [{"name": "right"}, {"name": "wrong", "source_code": TILED.replace("a[i] + b[i]", "a[i] - b[i]")},
                    {"name": "broken", "source_code": TILED.replace("int i", "int")}]
        report = self.sweep(kernel=tiled(), variants=variants, parameters={"PER_THREAD": [2]})["structuredContent"]
        verdicts = {line["name"].split()[0]: line["verdict"] for line in report["table"]}
        self.assertEqual(verdicts, {"right": "passed", "wrong": "wrong_output", "broken": "compile_failed"})
        self.assertEqual(report["best"]["name"], "right PER_THREAD=2")

    def test_too_many_combinations_are_refused_with_a_pointer(self):
        answer = self.sweep(kernel=tiled(), parameters={"PER_THREAD": list(range(1, 40)), "OTHER": [1, 2]})
        self.assertTrue(answer["isError"])
        self.assertIn("/parameters", str(answer["structuredContent"]["error"]))

    def test_a_wrong_contract_of_one_variant_is_refused_where_it_stands(self):
        variants = [{"name": "good"}, {"name": "bad", "io": {"args": [{"name": "a", "type": "what"}]}}]
        answer = self.sweep(kernel=tiled(), variants=variants)
        self.assertTrue(answer["isError"])
        self.assertIn("/variants/1/io", str(answer["structuredContent"]["error"]))

    def test_the_job_can_be_asked_for_again(self):
        report = self.sweep(kernel=kernel(ADD))["structuredContent"]
        again = self.server.call("get_job", {"job_id": report["job_id"]})["structuredContent"]
        self.assertEqual(again["table"], report["table"])


if __name__ == "__main__":
    unittest.main()
