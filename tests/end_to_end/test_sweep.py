"""sweep: one call, many variants, each judged."""

import unittest

from assay_client import ADD, FOREVER, Server, contract, kernel

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

    def test_a_parameter_may_be_named_as_a_word_of_the_compilers_own_text(self):
        for name in ("T", "_T"):
            source = tiled(TILED.replace("PER_THREAD", name))
            source["io"]["launch"]["grid"]["x"] = f"ceildiv(n, 256 * {name})"
            report = self.sweep(kernel=source, parameters={name: [1, 2]})["structuredContent"]
            self.assertEqual([line["verdict"] for line in report["table"]], ["passed", "passed"], report)
        # Lines are those of the source.
        wrong = kernel("__global__ void add(const float* a, const float* b, float* out, int n) {\n  out[0] = T + nothing;\n}\n",
                       compiler_options=["-DT=2"])
        report = self.server.call("compile_kernel", {"kernel": wrong})["structuredContent"]
        self.assertEqual([(d["file"], d["line"]) for d in report["diagnostics"]], [("kernel.cu", 2)], report)

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

    def test_without_a_reference_variants_are_held_against_each_other(self):
        plain = kernel("#ifndef X\n#define X 1\n#endif\n" + ADD.replace("a[i] + b[i]", "X == 1 ? a[i] + b[i] : X == 2 ? b[i] + a[i] : 1.0f"))
        report = self.server.call("sweep", {"kernel": plain, "parameters": {"X": [1, 2]}})["structuredContent"]
        self.assertIn("checked against each other only", report["summary"])
        self.assertEqual(report["best"]["trust"], "verified", report)
        report = self.server.call("sweep", {"kernel": plain, "parameters": {"X": [1, 3]}})["structuredContent"]
        self.assertIsNone(report["best"], report)
        self.assertEqual([(line["verdict"], line["trust"]) for line in report["table"]], [("passed", "audited")] * 2)
        self.assertIn("variants_disagree", [warning["code"] for warning in report["warnings"]])

    def test_a_variant_that_hangs_leaves_the_others_their_time(self):
        variants = [{"name": "hangs", "source_code": FOREVER}, {"name": "good"}]
        report = self.sweep(kernel=kernel(ADD), variants=variants, budget_s=6, timeout=30)["structuredContent"]
        self.assertEqual(report["best"]["name"], "good", report)
        self.assertIn("cut by the budget", report["table"][1]["note"])

    def test_too_many_combinations_are_refused_with_a_pointer(self):
        answer = self.sweep(kernel=tiled(), parameters={"PER_THREAD": list(range(1, 40)), "OTHER": [1, 2]})
        self.assertTrue(answer["isError"])
        self.assertIn("/parameters", str(answer["structuredContent"]["error"]))

    def test_a_wrong_contract_of_one_variant_is_refused_where_it_stands(self):
        variants = [{"name": "good"}, {"name": "bad", "io": {"args": [{"name": "a", "type": "what"}]}}]
        answer = self.sweep(kernel=tiled(), variants=variants)
        self.assertTrue(answer["isError"])
        self.assertIn("/variants/1/io", str(answer["structuredContent"]["error"]))

    def test_hostile_sweeps_are_refused_where_they_are_wrong(self):
        x = kernel("#ifndef X\n#define X 1\n#endif\n" + ADD.replace("a[i] + b[i]", "a[i] + b[i] + 0 * (X)"))
        for pointer, arguments in {
                "/variants/1/name": {"variants": [{"name": "a"}, {"name": "a"}]},
                "/variants/2/name": {"variants": [{"name": "variant 2"}, {}, {}]},
                "/variants/0/name": {"variants": [{"name": "a\nb"}]},
                "/parameters/X/1": {"parameters": {"X": [1, "1"]}},
                "/parameters": {"parameters": {name: list(range(10)) for name in ("X", "A", "B", "C", "D", "E")}},
                "/parameters/X": {"parameters": {"X": []}},
                "/kernel/metadata/compiler_options/0": {"parameters": {"X": ["2\n#define n 0"]}},
                "/budget_s": {"budget_s": 0}}.items():
            with self.subTest(pointer=pointer):
                answer = self.sweep(kernel=x, **arguments)
                self.assertTrue(answer["isError"], answer)
                self.assertEqual(answer["structuredContent"]["error"]["violations"][0]["pointer"], pointer)

    def test_hostile_variants_cost_themselves_alone(self):
        x = "#ifndef X\n#define X 1\n#endif\n" + ADD.replace("a[i] + b[i]", "a[i] + b[i] + 0 * (X)")
        variants = [{"name": "fine"}, {"name": "hangs", "source_code": FOREVER}, {"name": "no kernel", "source_code": "int main("},
                    {"name": "trap", "source_code": ADD.replace("if (i < n)", 'asm("trap;"); if (i < n)')},
                    {"name": "outside", "source_code": ADD.replace("out[i]", "out[i + 100000000]")}]
        report = self.sweep(kernel=kernel(x), variants=variants, timeout=5)["structuredContent"]
        self.assertEqual({line["name"]: line["verdict"] for line in report["table"]}, {
            "fine": "passed", "hangs": "timed_out", "no kernel": "contract_invalid", "trap": "crashed", "outside": "crashed"})
        quoted = ['1"; system("x")', "$(id)", "", "1 2", "\\", "@/etc/passwd", "0) + 1e30f * (1", "1 //"]
        report = self.sweep(kernel=kernel(x), parameters={"X": quoted})["structuredContent"]
        verdicts = {line["parameters"]["X"]: line["verdict"] for line in report["table"]}
        self.assertEqual([verdicts[text] for text in quoted], ["compile_failed"] * 6 + ["wrong_output", "passed"])
        none = self.sweep(kernel=kernel(x), parameters={"X": [""]})["structuredContent"]
        self.assertNotIn("ranked_by", none)

    def test_a_budget_that_is_spent_ends_the_compiling_too(self):
        heavy = "\n".join(f"__global__ void k{i}(float* a) {{ for (int j = 0; j < X; ++j) a[j] = sinf(a[j]) * {i}; }}" for i in range(150))
        report = self.sweep(kernel=kernel(ADD + heavy), parameters={"X": list(range(1, 65))}, budget_s=1, max_tokens=100000)["structuredContent"]
        self.assertEqual(len(report["table"]), 64)
        self.assertGreater(sum(line["verdict"] is None for line in report["table"]), 0)

    def test_the_job_can_be_asked_for_again(self):
        report = self.sweep(kernel=kernel(ADD))["structuredContent"]
        again = self.server.call("get_job", {"job_id": report["job_id"]})["structuredContent"]
        self.assertEqual(again["table"], report["table"])


if __name__ == "__main__":
    unittest.main()
