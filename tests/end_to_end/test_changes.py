"""What an agent is told beside the verdict: what it changed since a baseline, where the reference's contract
differs from the kernel's, which argument is read as another type, what an assembler complains of, and that
numbers which mean nothing are not given."""

import json
import unittest

from assay_client import ADD, Server, contract, kernel

SUM_OF_BLOCK = """__global__ void add(const float* a, const float* b, float* out, int n) {
  __shared__ float best;
  if (threadIdx.x == 0) INIT;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { UPDATE }
  __syncthreads();
  if (i < n) out[i] = RESULT;
}
"""


class Changes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def compare(self, ref_io=None, io=None, candidate=ADD, **more):
        arguments = {"ref_kernel": kernel(ADD, ref_io), "custom_kernel": kernel(candidate, io), "wait_s": 140,
                     "validation_trials": 1, "num_trials": 1, **more}
        return self.server.call("compare", arguments)

    def changed(self, io_change, place, value):
        io = json.loads(json.dumps(io_change))
        target = io
        for key in place[:-1]:
            target = target[key]
        target[place[-1]] = value
        return io

    # --- a reference with a contract of its own ---

    def test_scalars_that_differ_are_refused_with_both_places(self):
        result = self.compare(ref_io=self.changed(contract(), ("args", 3, "value"), 999))
        self.assertTrue(result["isError"])
        violation, = result["structuredContent"]["error"]["violations"]
        self.assertEqual(violation["pointer"], "/ref_kernel/io/args/3/value")
        self.assertIn("999 here and 1000 at /custom_kernel/io/args/3/value", violation["message"])

    def test_a_tensor_that_is_input_here_and_output_there_is_refused(self):
        result = self.compare(ref_io=self.changed(contract(), ("args", 0, "role"), "output"))
        self.assertTrue(result["isError"])
        self.assertIn("/ref_kernel/io/args/0/role", result["content"][0]["text"])

    def test_a_tolerance_looser_than_the_references_does_not_count(self):
        """The kernel's own contract would let it pass: the reference's says, or leaves, less."""
        off = ADD.replace("a[i] + b[i];", "(a[i] + b[i]) * 1.01f;")
        loose = self.changed(contract(), ("args", 2, "tensor_spec", "tolerance"), {"atol": 0.02, "rtol": 0.02})
        half = self.changed(contract(), ("args", 2, "tensor_spec", "tolerance"), {"atol": 0.5, "rtol": 0})
        for theirs, ours, more, verdict in ((contract(), loose, {}, "wrong_output"), (loose, loose, {}, "passed"), (loose, half, {}, "passed"),
                                            (contract(), loose, {"atol": 0.02, "rtol": 0.02}, "passed"),
                                            (contract(), loose, {"atol": 1e-3, "rtol": 1e-3}, "wrong_output")):
            with self.subTest(theirs=theirs["args"][2], ours=ours["args"][2], **more):
                report = self.compare(theirs, ours, off, **more)["structuredContent"]
                self.assertEqual(report["verdict"], verdict, report["summary"])
                held = any("/custom_kernel/io/args/2/tensor_spec/tolerance: has no effect: it is looser" in w["message"] for w in report["warnings"])
                self.assertEqual(held, theirs != ours and more.get("atol") != 0.02, report["warnings"])
        # Without a contract of its own the reference takes the kernel's: then that is the task.
        arguments = {"ref_kernel": {"source_code": ADD, "kernel_type": "cuda"}, "kernel": kernel(off, loose), "num_trials": 1}
        self.assertEqual(self.server.call("evaluate", arguments)["structuredContent"]["verdict"], "passed")

    def test_no_variant_of_a_sweep_is_judged_more_loosely_than_the_kernel(self):
        loose = self.changed(contract(), ("args", 2, "tensor_spec", "tolerance"), {"atol": 0.02, "rtol": 0.02})
        variants = [{"name": "loose", "source_code": ADD.replace("a[i] + b[i];", "(a[i] + b[i]) * 1.01f;"), "io": loose}, {"name": "honest"}]
        for ref_io in (None, contract()):
            report = self.server.call("sweep", {"kernel": kernel(ADD), "variants": variants, "num_trials": 1, "wait_s": 100,
                                                "ref_kernel": kernel(ADD, ref_io) if ref_io else {"source_code": ADD, "kernel_type": "cuda"}})
            report = report["structuredContent"]
            self.assertEqual({line["name"]: line["verdict"] for line in report["table"]}, {"loose": "wrong_output", "honest": "passed"}, report)
            self.assertIn("/variants/0/io/args/2/tensor_spec/tolerance: has no effect", str(report["warnings"]))

    def test_members_that_are_null_or_of_another_type_are_no_internal_error(self):
        for sizes in (0, "n", [], True):
            result = self.server.call("sweep", {"kernel": kernel(ADD, {**contract(), "sizes": sizes}), "parameters": {"N": [1]}})
            self.assertIn("/kernel/io/sizes", str(result["structuredContent"]["error"]["violations"]))
        report = self.compare(io=self.changed(contract(), ("launch", "kernel_name"), None))["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report)

    def test_a_contract_at_fault_is_told_once(self):
        """Not as missing at the reference too, which takes the kernel's."""
        io = self.changed(contract(), ("launch", "block"), {"x": 0})
        result = self.server.call("evaluate", {"kernel": kernel(ADD, io), "ref_kernel": {"source_code": ADD, "kernel_type": "cuda"}})
        pointers = [each["pointer"] for each in result["structuredContent"]["error"]["violations"]]
        self.assertEqual([p for p in pointers if not p.startswith("/kernel/io/")], [], pointers)
        self.assertTrue(pointers)

    def test_seeds_contents_and_tolerances_that_differ_are_said_to_have_no_effect(self):
        for place, value, member in ((("args", 0, "tensor_spec", "init", "seed"), 7, "init"),
                                     (("args", 0, "tensor_spec", "init"), {"kind": "ones"}, "init"),
                                     (("args", 2, "tensor_spec", "tolerance"), {"atol": 9}, "tolerance")):
            with self.subTest(place=place):
                report = self.compare(ref_io=self.changed(contract(), place, value))["structuredContent"]
                self.assertEqual(report["verdict"], "passed")
                said = [w["message"] for w in report["warnings"]]
                self.assertTrue(any(f"/ref_kernel/io/args/{place[1]}/tensor_spec/{member}" in text
                                    and "has no effect" in text for text in said), said)
                again = self.server.call("get_job", {"job_id": report["job_id"]})["structuredContent"]
                self.assertEqual([w["message"] for w in again["warnings"]], said)

    def test_equal_contracts_and_another_launch_are_nothing_to_warn_of(self):
        for ref_io in (contract(), contract(block=128)):
            self.assertEqual(self.compare(ref_io=ref_io)["structuredContent"]["warnings"], [])

    # --- a baseline ---

    def test_jobs_judged_by_different_things_are_not_ranked(self):
        wrong = self.server.evaluate(ADD.replace("+ b", "- b"), ref=ADD)
        alone = self.server.evaluate(ADD.replace("+ b", "- b"), baseline=wrong["job_id"])
        self.assertEqual(alone["since_baseline"]["change"], "same")
        self.assertIn("Not comparable", alone["since_baseline"]["detail"])

    def test_what_a_failed_compile_does_not_say_has_not_changed(self):
        failed = self.server.evaluate(ADD.replace("a[i]", "nothing[i]"), ref=ADD)
        self.assertEqual(failed["verdict"], "compile_failed")
        changed = self.server.evaluate(ADD, ref=ADD, baseline=failed["job_id"])["since_baseline"]["changed"]
        self.assertNotIn("environment", [one["what"] for one in changed])

    def test_a_baseline_tells_what_was_changed(self):
        first = self.server.evaluate(ADD, ref=ADD)
        same = self.server.evaluate(ADD, ref=ADD, baseline=first["job_id"])
        self.assertEqual(same["since_baseline"]["changed"], [])
        source = ADD.replace("int i =", "// faster\n  int i =").replace("a[i] + b[i]", "b[i] + a[i]")
        result = self.server.call("evaluate", {
            "kernel": {**kernel(source, contract(block=128), compiler_options=["-use_fast_math"])},
            "ref_kernel": kernel(ADD, contract()), "num_trials": 1, "atol": 0.5, "baseline": first["job_id"]})
        changed = result["structuredContent"]["since_baseline"]["changed"]
        by_place = {one.get("pointer"): one for one in changed}
        self.assertEqual((by_place["/kernel/source_code"]["lines_added"], by_place["/kernel/source_code"]["lines_removed"],
                          by_place["/kernel/source_code"]["first_line"]), (2, 1, 2))
        self.assertEqual((by_place["/kernel/io/launch/block/x"]["then"], by_place["/kernel/io/launch/block/x"]["now"]), (256, 128))
        self.assertIn("/kernel/metadata/compiler_options", by_place)
        self.assertEqual(by_place["/atol"]["now"], 0.5)
        self.assertNotIn("/ref_kernel/source_code", by_place)
        self.assertIn("Changed: source (2 lines added", result["content"][0]["text"])

    # --- types ---

    def test_an_argument_that_is_read_as_another_type_is_said(self):
        for c_type, said in (("double", "elements of 8 bytes over elements of 4"), ("int", "another type"),
                             ("long long", "elements of 8 bytes over elements of 4")):
            for extern in ("", 'extern "C" '):
                with self.subTest(c_type=c_type, extern=extern):
                    source = extern + ADD.replace("const float* b", f"const {c_type}* b")
                    report = self.server.evaluate(source)
                    doubts = [w for w in report["warnings"] if w["code"] == "type_differs"]
                    self.assertEqual([w["pointer"] for w in doubts], ["/kernel/io/args/1"], report["warnings"])
                    self.assertIn(said, doubts[0]["message"])
                    self.assertIn("float32", doubts[0]["message"])

    def test_bytes_vectors_and_right_types_are_not_doubted(self):
        for c_type in ("const float*", "const unsigned char*", "const float4*", "const void*"):
            source = ADD.replace("const float* b", c_type + " b").replace("+ b[i]", "")
            self.assertEqual(self.server.evaluate(source)["warnings"], [], c_type)

    def test_warm_up_runs_that_nobody_makes_are_said(self):
        self.assertIn("num_warmup", self.server.evaluate(ADD, num_warmup=50)["timing"]["note"])

    # --- a mismatch without a distance ---

    def output(self, candidate):
        report = self.compare(candidate=candidate, detail="full")["structuredContent"]
        self.assertEqual(report["verdict"], "wrong_output")
        return report["error"]["output"]

    def test_mismatches_of_nan_or_infinity_alone_have_no_greatest_error(self):
        for value, nans, infinities in (("nanf(\"\")", 1000, 0), ("1.0f / 0.0f", 0, 1000)):
            output = self.output(ADD.replace("a[i] + b[i]", value))
            self.assertEqual((output["nan_mismatches"], output["infinity_mismatches"]), (nans, infinities))
            self.assertEqual((output["max_abs_error"], output["max_rel_error"], output["max_ulp_error"]), (None,) * 3)

    def test_beside_others_they_are_counted_and_the_others_measured(self):
        output = self.output(ADD.replace("a[i] + b[i]", "i % 10 == 0 ? nanf(\"\") : a[i] + b[i] + 1.0f"))
        self.assertEqual((output["nan_mismatches"], output["infinity_mismatches"]), (100, 0))
        self.assertAlmostEqual(output["max_abs_error"], 1.0, places=4)

    # --- memory that nobody wrote ---

    def block(self, init, update, result):
        return SUM_OF_BLOCK.replace("INIT", init).replace("UPDATE", update).replace("RESULT", result)

    def test_a_kernel_that_is_right_only_because_shared_memory_is_zero_fails(self):
        for update, result in (("atomicAdd(&best, 1.0f);", "best == min(n - (int)(blockIdx.x * blockDim.x), 256) ? a[i] + b[i] : 7.0f"),
                               ("if (best != 0) atomicAdd(&best, 1.0f);", "best == 0 ? a[i] + b[i] : 7.0f"),
                               ("atomicMax((int*)&best, 0);", "a[i] + b[i] + best"),
                               ("atomicMin((int*)&best, 0);", "a[i] + b[i] + best")):
            with self.subTest(update=update):
                right = self.compare(candidate=self.block("best = 0", update, result), validation_trials=3)
                self.assertEqual(right["structuredContent"]["verdict"], "passed", right["content"])
                wrong = self.compare(candidate=self.block("", update, result), validation_trials=3)
                self.assertEqual(wrong["structuredContent"]["verdict"], "wrong_output", wrong["content"])

    def test_without_a_reference_it_differs_from_run_to_run(self):
        report = self.server.evaluate(self.block("best = n < 0", "", "a[i] + best").replace("== 0)", "== 0 && n < 0)"))
        self.assertEqual(report["trust"], "suspect", report["summary"])

    # --- the assembler ---

    def test_the_assemblers_errors_point_at_the_users_line(self):
        bad = "__device__ float odd(float x) {\n  float y;\n  asm(\"bogus.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));\n  return y;\n}\n"
        source = bad + ADD.replace("a[i] + b[i]", "odd(a[i])")
        compiled = self.server.call("compile_kernel", {"kernel": {"source_code": source, "kernel_type": "cuda"}})["structuredContent"]
        self.assertEqual(compiled["verdict"], "compile_failed")
        found = compiled["diagnostics"][0]
        self.assertEqual((found["file"], found["line"], found["column"]), ("kernel.cu", 3, 3))
        self.assertEqual(found["excerpt"], source.split("\n")[2])
        self.assertIn("kernel.cu:3:3:", compiled["summary"])
        run = self.server.evaluate(source)
        self.assertIn("kernel.cu:3", run["summary"])
        too_much = ADD.replace("int i =", "__shared__ float big[60000];\n  int i =").replace("a[i] + b[i]", "big[i]")
        compiled = self.server.call("compile_kernel", {"kernel": {"source_code": "\n\n" + too_much, "kernel_type": "cuda"}})["structuredContent"]
        self.assertIn("too much shared data", compiled["summary"])
        self.assertEqual(compiled["diagnostics"][0]["line"], 3)


if __name__ == "__main__":
    unittest.main()
