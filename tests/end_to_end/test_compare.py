"""compare: the reference first, a mismatch explained, what the reference completed kept; baselines."""

import json
import unittest

from assay_client import ADD, Server, contract, kernel, tensor

MATRIX_IO = {
    "args": [tensor("x", 0, shape=[48, 64], kind="randn", seed=7),
             tensor("y", 0, role="output", shape=[64, 48]),
             {"name": "rows", "type": "int", "value": 48}, {"name": "columns", "type": "int", "value": 64}],
    "launch": {"grid": {"x": 12}, "block": {"x": 256}},
}
TRANSPOSE = """__global__ void transpose(const float* x, float* y, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) y[(i % columns) * rows + i / columns] = x[i];
}
"""


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def compare(self, reference, candidate, io=None, tool="compare", **more):
        arguments = {"ref_kernel": kernel(reference, io), "custom_kernel": kernel(candidate, io),
                     "wait_s": 140, "validation_trials": 1, "num_trials": 1, **more}
        return self.server.call(tool, arguments)["structuredContent"]

    def add(self, body):
        return ADD.replace("if (i < n) out[i] = a[i] + b[i];", body)

    def test_equal_kernels_pass_and_the_emulators_times_rank_nothing(self):
        report = self.compare(ADD, ADD)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"))
        self.assertIn("mean", report["ref_runtime"])
        self.assertIsNone(report["speedup"])
        self.assertIn("not a GPU time", report["timing"]["note"])

    def test_the_old_names_and_spellings_are_accepted(self):
        self.assertEqual(self.compare(ADD, ADD, tool="compare_kernels")["verdict"], "passed")
        io = contract()
        flat = {"kernel_source": ADD, "kernel_type": "cuda", "io_contract": io, "num_trials": 1}
        for tool, arguments in (
                ("evaluate_kernel", flat), ("validate_kernel", flat), ("evaluate_kernel", {"request": {"kernel": kernel(ADD)}}),
                ("evaluate_kernel", {"request": json.dumps({"kernel": kernel(ADD)})}),
                ("evaluate_kernel", {**flat, "reference_kernel_source": ADD, "reference_kernel_type": "cuda"}),
                ("compare_kernels", {"ref_kernel_source": ADD, "ref_kernel_type": "cuda", "custom_kernel_source": ADD,
                                     "custom_kernel_type": "cuda", "custom_kernel_io": io})):
            with self.subTest(tool=tool, arguments=sorted(arguments)):
                result = self.server.call(tool, arguments)
                self.assertEqual(result["structuredContent"].get("verdict"), "passed", result["content"])
        listed = self.server.answer(self.server.send("tools/list"))["result"]["tools"]
        self.assertFalse({"evaluate_kernel", "validate_kernel", "compare_kernels"} & {tool["name"] for tool in listed})

    def test_a_missing_tail_is_named(self):
        report = self.compare(ADD, self.add("if (i < n / 256 * 256) out[i] = a[i] + b[i];"))
        self.assertEqual(report["verdict"], "wrong_output")
        self.assertIn("768", report["summary"])

    def test_a_transposed_output_is_named(self):
        square = {**MATRIX_IO, "args": [tensor("x", 0, shape=[64, 64], kind="randn", seed=7),
                                        tensor("y", 0, role="output", shape=[64, 64]),
                                        {"name": "rows", "type": "int", "value": 64},
                                        {"name": "columns", "type": "int", "value": 64}],
                  "launch": {"grid": {"x": 16}, "block": {"x": 256}}}
        report = self.compare(TRANSPOSE, TRANSPOSE.replace("y[(i % columns) * rows + i / columns]", "y[i]"), square)
        self.assertEqual(report["verdict"], "wrong_output")
        self.assertIn("transposed", report["summary"])

    def test_what_the_reference_completed_is_kept_when_the_candidate_fails(self):
        report = self.compare(ADD, self.add("out[i] = a[i] + b[i];"), detail="full")
        self.assertEqual(report["verdict"], "crashed")
        validated = next(s for s in report["stages"] if s["name"] == "validated")
        self.assertTrue(validated["body"]["reference"]["ran"])

    def test_a_failing_reference_is_said_to_be_the_reference(self):
        report = self.compare(self.add("out[i] = a[i]"), ADD)
        self.assertEqual(report["verdict"], "compile_failed")
        self.assertEqual(report["about"], "ref_kernel")

    def test_pointers_name_the_argument_that_compare_has(self):
        io = contract(extra=[{"name": "alpha", "type": "int", "value": 2}])
        body = "__global__ void add(const float* a, const float* b, float* out, int n, float alpha) {}"
        right = "__global__ void add(const float* a, const float* b, float* out, int n, int alpha) {}"
        report = self.compare(right, body, io)
        self.assertEqual(report["verdict"], "contract_invalid")
        self.assertIn("/custom_kernel/io/args/4", report["summary"])

    def test_a_nan_where_the_reference_has_none_is_wrong(self):
        report = self.compare(ADD, self.add("if (i < n) out[i] = i == 500 ? nanf(\"\") : a[i] + b[i];"))
        self.assertEqual(report["verdict"], "wrong_output")
        self.assertIn("nan", report["summary"].lower())

    def test_infinities_and_nan_must_be_where_the_reference_has_them(self):
        reference = self.add("if (i < n) out[i] = i == 3 ? INFINITY : i == 5 ? -INFINITY : i == 7 ? nanf(\"\") : a[i] + b[i];")
        self.assertEqual(self.compare(reference, reference)["verdict"], "passed")
        for index, value in ((3, "-INFINITY"), (3, "3e38f"), (5, "INFINITY"), (7, "0.0f"), (7, "INFINITY"), (9, "INFINITY")):
            with self.subTest(index=index, value=value):
                candidate = reference.replace("out[i] = ", f"out[i] = i == {index} ? {value} : ")
                report = self.compare(reference, candidate, atol=1e30, rtol=1)
                self.assertEqual(report["verdict"], "wrong_output", report["summary"])
                self.assertIn(f"1 of 1000 elements differ; worst at [{index}]", report["summary"])

    def test_a_candidate_that_writes_to_an_input_is_suspect_and_the_reference_sees_none_of_it(self):
        report = self.compare(ADD, self.add("if (i < n) { out[i] = a[i] + b[i]; ((float*)a)[i] = 0; }"), num_trials=5)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"))
        self.assertIn(("input_mutated", "a", "kernel"),
                      {(e["check"], e["tensor"], e["which"]) for e in report["evidence"]})
        self.assertIn('role "inout"', report["summary"])

    def test_a_candidate_that_does_not_repeat_itself_is_told(self):
        # Within tolerance every time, but the last bits come from what the output held before.
        body = ("if (i < n) out[i] = __uint_as_float(__float_as_uint(a[i] + b[i]) ^ "
                "((__float_as_uint(out[i]) * 2654435761u) >> 19));")
        for more in ({"until": "validated"}, {"num_trials": 3}):
            report = self.compare(ADD, self.add(body), rtol=1e-2, **more)
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertIn(("repeat_differs", "out"), {(e["check"], e["tensor"]) for e in report["evidence"]})
            self.assertIn("gave different values in 'out'", str(report["warnings"]))
        self.assertEqual(self.compare(ADD, ADD, num_trials=3)["evidence"], [])

    def test_a_task_that_a_trivial_answer_passes_is_warned_of(self):
        def io(**init):
            made = contract()
            for arg in made["args"][:2]:
                arg["tensor_spec"]["init"] = init
            return made

        for source, made, answer in ((ADD, io(kind="zeros"), "zeros"), (ADD, io(kind="ones"), "constant"),
                                     (self.add("if (i < n) out[i] = a[i];"), contract(), "input 'a'")):
            report = self.compare(source, source, made)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"))
            warned = [w["message"] for w in report["warnings"] if w["code"] == "weak_oracle"]
            self.assertTrue(any(answer in message for message in warned), (answer, warned))
        self.assertEqual(self.compare(ADD, ADD)["warnings"], [])

    def test_an_answer_computed_beforehand_is_not_verified(self):
        made = contract()
        for arg in made["args"][:2]:
            arg["tensor_spec"]["init"] = {"kind": "arange"}
        report = self.compare(ADD, self.add("if (i < n) out[i] = 2 * i;"), made)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        self.assertIn("an answer computed beforehand would pass", report["summary"])
        self.assertEqual(report["warnings"], [])
        made["args"][0]["tensor_spec"]["init"] = {"kind": "uniform"}
        self.assertEqual(self.compare(ADD, ADD, made)["trust"], "verified")

    def test_an_output_in_another_layout_than_the_references_is_refused_before_anything_runs(self):
        made = contract(n=64)
        made["args"][2]["tensor_spec"]["strides"] = [2]
        refused = self.server.call("compare", {"ref_kernel": kernel(ADD, contract(n=64)), "custom_kernel": kernel(ADD, made)})["structuredContent"]
        self.refused_at(refused, "/ref_kernel/io/args/2/tensor_spec", "laid out otherwise")

    def refused_at(self, answer, pointer, words):
        self.assertEqual(answer["status"], "client_error")
        found = {violation["pointer"]: violation["message"] for violation in answer["error"]["violations"]}
        self.assertIn(words, found.get(pointer, str(found)))

    def test_an_output_of_another_shape_or_dtype_is_refused_before_anything_runs(self):
        reference = contract()
        for change in ({"shape": [999]}, {"shape": [10, 100]}, {"dtype": "float64"}):
            candidate = contract()
            candidate["args"][2]["tensor_spec"].update(change)
            arguments = {"ref_kernel": kernel(ADD, reference), "custom_kernel": kernel(ADD, candidate), "wait_s": 140}
            self.refused_at(self.server.call("compare", arguments)["structuredContent"], "/ref_kernel/io/args/2/tensor_spec", "'out' is")

    def test_where_nothing_is_compared_nothing_passes(self):
        forgotten, empty, none = contract(), contract(), contract()
        del forgotten["args"][2]["role"]
        empty["args"][2]["tensor_spec"]["shape"] = [0]
        none["args"] = []
        for io in (forgotten, empty, none):
            refused = self.server.call("compare", {"ref_kernel": kernel(ADD, io), "custom_kernel": kernel(ADD, io)})["structuredContent"]
            self.refused_at(refused, "/custom_kernel/io/args", "nothing to compare")

    def test_what_one_computes_and_the_other_only_reads_is_no_task(self):
        other = contract()
        other["args"][2]["role"] = "inout"
        mine = contract()
        mine["args"][2]["role"] = "input"
        refused = self.server.call("compare", {"ref_kernel": kernel(ADD, other), "custom_kernel": kernel(ADD, mine)})["structuredContent"]
        self.refused_at(refused, "/ref_kernel/io/args/2/role", "'out' is inout here")

    def test_tensors_by_other_names_are_refused_before_anything_runs(self):
        other = contract()
        other["args"][2]["name"] = "result"
        refused = self.server.call("compare", {"ref_kernel": kernel(ADD, other), "custom_kernel": kernel(ADD, contract())})["structuredContent"]
        self.refused_at(refused, "/ref_kernel/io/args/2/name", "matched by name")

    def test_several_outputs_are_judged_each(self):
        io = contract()
        io["args"].insert(3, tensor("second", 1000, role="output"))
        source = """__global__ void two(const float* a, const float* b, float* out, float* second, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { out[i] = a[i] + b[i]; second[i] = a[i] * b[i]; }
}
"""
        report = self.compare(source, source.replace("a[i] * b[i]", "a[i]"), io)
        self.assertEqual(report["verdict"], "wrong_output")
        self.assertIn("'second'", report["summary"])

    def test_a_reference_that_needs_torch_is_unsupported_where_there_is_none(self):
        arguments = {"ref_kernel": {"source_code": "x = 1", "kernel_type": "torch_cuda"}, "custom_kernel": kernel(ADD)}
        report = self.server.call("compare", arguments)["structuredContent"]
        self.assertEqual(report["verdict"], "unsupported")
        self.assertRegex(report["summary"], "^The reference: No Python with torch")

    def test_a_call_without_a_reference_is_refused(self):
        result = self.server.call("compare", {"custom_kernel": kernel(ADD)})
        self.assertTrue(result["isError"])
        self.assertIn("ref_kernel", result["content"][0]["text"])

    def test_a_baseline_tells_better_from_worse(self):
        wrong = self.server.evaluate(self.add("if (i < n / 256 * 256) out[i] = a[i] + b[i];"), ref=ADD)
        right = self.server.evaluate(ADD, ref=ADD, baseline=wrong["job_id"])
        self.assertEqual(right["since_baseline"]["change"], "better")
        same = self.server.evaluate(ADD, ref=ADD, baseline=right["job_id"])
        self.assertEqual(same["since_baseline"]["change"], "same")
        slow = self.server.evaluate(self.add("for (int k = 0; k < 9; ++k) if (i < n) ((volatile float*)out)[i] = a[i] + b[i];"),
                                    ref=ADD, baseline=right["job_id"])
        self.assertEqual(slow["since_baseline"]["change"], "worse")
        self.assertGreater(slow["since_baseline"]["thread_instructions"]["ratio"], 2)
        again = self.server.call("get_job", {"job_id": slow["job_id"]})["structuredContent"]
        self.assertEqual(again["since_baseline"], slow["since_baseline"])

    def test_an_unknown_baseline_is_refused(self):
        result = self.server.call("evaluate", {"kernel": kernel(ADD), "baseline": "0" * 32})
        self.assertTrue(result["isError"])
        self.assertIn("/baseline", result["content"][0]["text"])


if __name__ == "__main__":
    unittest.main()
