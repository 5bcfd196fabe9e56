"""What a report says agrees with what happened: nothing unwritten passes for right, no finding is kept quiet, no
failure of a kernel is told as one of ours."""

import json
import os
import subprocess
import tempfile
import unittest

from assay_client import ADD, ASSAY, FOREVER, Server, contract, kernel, tensor


def unary(n=64):
    return {"args": [tensor("x", n, kind="randn", seed=1), tensor("o", n, role="output")],
            "launch": {"grid": {"x": 1}, "block": {"x": n}}}


def source(body):
    return "__global__ void k(const float* x, float* o) { int i = threadIdx.x; " + body + " }"


class Honesty(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def evaluate(self, body, reference=None, **more):
        arguments = {"kernel": kernel(source(body), unary()), **more}
        if reference is not None:
            arguments["ref_kernel"] = {"source_code": source(reference), "kernel_type": "cuda"}
        return self.server.call("evaluate", arguments)["structuredContent"]

    def test_an_output_never_written_is_wrong_also_where_nan_is_right(self):
        report = self.evaluate("", "o[i] = sqrtf(-fabsf(x[i]) - 1.0f);")
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])
        self.assertIn("never written", report["summary"])
        report = self.evaluate("if (x[i] >= 0) o[i] = sqrtf(x[i]);", "o[i] = sqrtf(x[i]);")
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])
        report = self.evaluate("o[i] = x[i] < 0 ? nanf(\"\") : sqrtf(x[i]);", "o[i] = sqrtf(x[i]);")
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])

    def test_a_reference_that_answers_other_inputs_alike_proves_little(self):
        mean = "if (i == 0) { float s = 0; for (int k = 0; k < 4096; ++k) s += x[k]; o[0] = s / 4096; }"
        io = {"args": [tensor("x", 4096, kind="uniform", seed=1), tensor("o", 1, role="output")], "launch": {"grid": {"x": 1}, "block": {"x": 32}}}
        for body, tolerance, trust in (("o[0] = 0.5f;", 1e-1, "audited"), (mean, 1e-1, "audited"), (mean, 1e-5, "verified")):
            report = self.server.evaluate(source(body), io, ref=source(mean), atol=tolerance, rtol=tolerance, num_trials=3)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", trust), report["summary"])
            self.assertEqual("weak: the reference's answer to other inputs" in report["summary"], trust == "audited", report["summary"])

    def test_a_kernel_that_knows_the_contracts_own_inputs_is_wrong_in_the_trials_after(self):
        told = self.evaluate("if (i == 0) printf(\"%a\", x[0]); o[i] = 2 * x[i];", validation_trials=1, num_trials=1, detail="full")
        first = next(stage["body"]["printf"] for stage in told["stages"] if stage["name"] == "validated")
        knows = f"o[i] = x[0] == {first}f ? 2 * x[i] : 0.0f;"
        for trials in (1, 2, 3):  # one is made two: the first trial's seeds are no secret
            report = self.evaluate(knows, "o[i] = 2 * x[i];", validation_trials=trials, num_trials=1)
            self.assertEqual((report["verdict"], report["validation"]["trials"]), ("wrong_output", max(trials, 2)), report["summary"])
        report = self.evaluate(knows, "o[i] = 2 * x[i];", validation_trials=1, until="validated")
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_a_lock_that_ends_where_it_began_makes_no_task_weak(self):
        text = "__global__ void k(const float* x, float* o, int* lock) { int i = threadIdx.x; o[i] = %s; if (i == 0) { atomicAdd(lock, 1); atomicAdd(lock, -1); } }"
        io = unary()
        io["args"].append({**tensor("lock", 1, role="inout", dtype="int32", kind="zeros")})
        report = self.server.evaluate(text % "x[i] * 3", io, ref=text % "x[i] + 2 * x[i]")
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), (report["summary"], report["warnings"]))
        report = self.server.evaluate(text % "x[i]", io, ref=text % "1.0f")
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_inputs_that_the_contract_fixes_are_named_where_the_answer_follows_them(self):
        text = "__global__ void k(const float* x, const float* gamma, const float* unused, float* o) { int i = threadIdx.x; o[i] = %s; }"
        io = unary()
        io["args"][1:1] = [tensor("gamma", 64, kind="ones"), tensor("unused", 64, kind="zeros")]
        scaled, plain = text % "x[i] * 2 * gamma[i]", text % "x[i] * 2"
        for ref, kernel_, follows in ((scaled, plain, True), (scaled, scaled, True), (plain, plain, False)):
            report = self.server.evaluate(kernel_, io, ref=ref)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
            said = [item for item in report["evidence"] if item["check"] == "fixed_inputs"]
            self.assertEqual(len(said), follows, report["evidence"])
            self.assertEqual(report["warnings"], [])
            if follows:
                self.assertEqual((said[0]["result"], said[0]["which"]), ("unknown", "task"))
                self.assertIn("'gamma' (ones), 'unused' (zeros): the same in every trial", said[0]["detail"])
        report = self.server.evaluate(plain, io, ref=scaled, generalise=True)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"), report["summary"])
        self.assertIn("other numbers in 'gamma' (ones)", str(report["generalisation"]["tasks"]))
        report = self.server.evaluate(scaled, io, ref=scaled, generalise=True)
        self.assertEqual((report["trust"], report["generalisation"]["held"]), ("verified", report["generalisation"]["asked"]), report["summary"])

    def test_a_reference_that_cannot_take_other_contents_is_no_less_a_reference(self):
        text = "__global__ void k(const float* x, const float* gamma, float* o) { int i = threadIdx.x; %s o[i] = x[i] * 2 * gamma[i]; }"
        io = unary()
        io["args"].insert(1, tensor("gamma", 64, kind="ones"))
        for strict in ("if (gamma[i] != 1.0f) __trap();", "while (gamma[i] != 1.0f) {}"):
            report = self.server.evaluate(text % "", io, ref=text % strict)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
            self.assertNotIn("fixed_inputs", [item["check"] for item in report["evidence"]])

    def test_a_reference_that_is_defined_nowhere_proves_nothing(self):
        report = self.evaluate("o[i] = nanf(\"\");", "o[i] = logf(-fabsf(x[i]) - 1.0f);")
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        self.assertIn("NaN or infinite", str(report["warnings"]))

    def test_a_reference_that_writes_to_its_input_is_told(self):
        report = self.evaluate("o[i] = 2 * x[i];", "{ o[i] = 2 * x[i]; ((float*)x)[i] = 0; }")
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        self.assertIn("reference writes to its input 'x'", report["summary"])

    def test_a_number_for_a_pointer_and_a_tensor_for_a_number_are_mistakes_of_the_contract(self):
        number = {"name": "x", "type": "int", "value": 5}
        out = tensor("o", 4, role="output")
        launch = {"grid": {"x": 1}, "block": {"x": 4}}
        for source_code, first, word in [
                ("__global__ void k(const float* x, float* o) { o[threadIdx.x] = x[0]; }", number, "a pointer"),
                ("extern \"C\" __global__ void k(const float* x, float* o) { o[threadIdx.x] = x[0]; }", number, "a pointer"),
                ("template <class T> __global__ void k(const T* x, float* o) { o[threadIdx.x] = x[0]; }\n"
                 "void go(float* x) { k<float><<<1, 4>>>(x, x); }", number, "a pointer"),
                ("__global__ void k(long long x, float* o) { o[threadIdx.x] = x; }", tensor("x", 4, kind="randn"), "a number")]:
            with self.subTest(source_code):
                report = self.server.call("evaluate", {"kernel": kernel(source_code, {"args": [first, out], "launch": launch})})["structuredContent"]
                self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
                self.assertIn("'x'", report["summary"])
                self.assertIn(word, report["summary"])
                self.assertIn("/kernel/io/args/0", report["summary"])
        # A null pointer may be meant.
        optional = "__global__ void k(const float* x, float* o) { o[threadIdx.x] = x ? x[0] : 1.0f; }"
        report = self.server.call("evaluate", {"kernel": kernel(optional, {
            "args": [{"name": "x", "type": "int", "value": 0}, out], "launch": launch})})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_an_optional_tensor_that_is_not_there_is_null(self):
        add_bias = "__global__ void k(const float* bias, const float* x, float* o) { int i = threadIdx.x; o[i] = x[i] + (bias ? bias[i] : 1.0f); }"
        launch = {"grid": {"x": 1}, "block": {"x": 4}}
        for count, expected in ((0, "x[i] + 1.0f"), (4, "x[i] + bias[i]")):
            io = {"args": [tensor("bias", count, kind="randn", seed=2), tensor("x", 4, kind="randn"), tensor("o", 4, "output")], "launch": launch}
            reference = f"__global__ void k(const float* bias, const float* x, float* o) {{ int i = threadIdx.x; o[i] = {expected}; }}"
            report = self.server.call("evaluate", {"kernel": kernel(add_bias, io), "ref_kernel": kernel(reference, io)})["structuredContent"]
            self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_a_reference_that_writes_nothing_judges_nothing(self):
        report = self.evaluate("", "")
        self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
        self.assertEqual(report["about"], "ref_kernel")
        self.assertIn("never writes output 'o'", report["summary"])

    def test_what_the_reference_leaves_unwritten_is_not_compared_and_said(self):
        half = "if (i % 2 == 0) o[i] = 2 * x[i];"
        for body in ("o[i] = 2 * x[i];", half):
            report = self.evaluate(body, half)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
            self.assertIn("not compared", report["summary"])
            self.assertIn("reference_unwritten", [warning["code"] for warning in report["warnings"]])
        report = self.evaluate("if (i % 4 == 0) o[i] = 2 * x[i];", half)
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_what_disagrees_is_suspect_and_said(self):
        for body, check in (("", "unwritten"), ("if (i < 32) o[i] = x[i];", "unwritten"),
                            ("o[i] = __int_as_float(__float_as_int(o[i]) ^ 2);", "repeat_differs")):
            report = self.evaluate(body)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "suspect"), (body, report["summary"]))
            self.assertEqual({item["check"] for item in report["evidence"]}, {check}, report["evidence"])
            self.assertIn("'o'", report["summary"])

    def test_a_kernel_that_prints_without_end_is_told_by_what_it_did(self):
        flood = "while (true) printf(\"%d\\n\", i);"
        report = self.evaluate(flood, timeout=5)
        self.assertEqual(report["verdict"], "timed_out", report["summary"])
        report = self.evaluate("for (int k = 0; k < 3000; ++k) printf(\"a line of text %d\\n\", k); o[1 << 28] = 1;")
        self.assertEqual(report["verdict"], "crashed", report["summary"])
        self.assertTrue(report["error"]["printf_truncated"])
        self.assertLess(len(json.dumps(report)), 20_000)

    def test_many_kernels_with_long_names_are_told_shortly(self):
        names = [f"k{i}_" + "n" * 900 for i in range(400)]
        text = "\n".join(f"__global__ void {name}(float* o) {{ o[0] = 1; }}" for name in names)
        io = {"args": [tensor("o", 1, role="output")], "launch": {"grid": {"x": 1}, "block": {"x": 1}}}
        report = self.server.call("evaluate", {"kernel": kernel(text, io, kernel_name=names[7])})["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"][:300])
        report = self.server.call("evaluate", {"kernel": kernel(text, io, kernel_name="absent")})["structuredContent"]
        self.assertEqual(report["verdict"], "contract_invalid")
        self.assertLess(len(json.dumps(report)), 60_000)

    def test_the_report_says_where_it_ran_and_how_that_was_confined(self):
        environment = self.evaluate("o[i] = x[i];")["environment"]
        self.assertIn(environment["device"], ("emulator", "gpu:0"))
        self.assertIn("NVRTC", environment["toolkit"])
        isolation = self.server.call("check_capabilities")["structuredContent"]["isolation"]
        self.assertEqual(environment["isolation"], {key: isolation[key] for key in ("level", "in_force")})


class OtherProcesses(unittest.TestCase):
    def test_a_job_of_a_killed_server_is_interrupted_for_who_looks_next(self):
        with tempfile.TemporaryDirectory() as state, Server(state=state) as other:
            with Server(state=state) as server:
                id = server.send("tools/call", {"name": "evaluate", "arguments": {
                    "kernel": kernel(FOREVER, contract()), "timeout": 60, "wait_s": 0}})
                job = server.answer(id)["result"]["structuredContent"]["job_id"]
                self.assertNotEqual(other.call("get_job", {"job_id": job})["structuredContent"]["state"], "interrupted")
                server.kill()
            report = other.call("get_job", {"job_id": job, "wait_s": 30})["structuredContent"]
            self.assertEqual(report["state"], "interrupted", report)

    def call(self, arguments, *options):
        with tempfile.TemporaryDirectory() as state:
            return subprocess.run([ASSAY, "call", "evaluate", "-", "--state", state, *options],
                                  input=json.dumps(arguments), text=True, capture_output=True, timeout=120)

    def test_check_waits_for_the_end_and_an_unfinished_job_has_not_passed(self):
        endless = {"kernel": kernel(FOREVER, contract()), "timeout": 5}
        ended = self.call(endless, "--check")
        self.assertEqual((ended.returncode, json.loads(ended.stdout)["verdict"]), (1, "timed_out"))
        unfinished = self.call({**endless, "wait_s": 0}, "--check")
        self.assertEqual((unfinished.returncode, json.loads(unfinished.stdout)["verdict"]), (1, None))

    def test_a_level_that_cannot_be_had_is_not_worth_another_try(self):
        refused = self.call({"kernel": kernel(ADD)}, "--min-isolation", "L3")
        report = json.loads(refused.stdout)
        self.assertEqual((report["verdict"], report["retryable"]), ("engine_fault", False))
        self.assertNotIn("compilation_error", report["kernel_exec_result"])

    def test_a_disk_that_is_full_at_the_start_is_answered(self):
        with tempfile.TemporaryDirectory() as folder:
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", folder], capture_output=True)
            if mounted.returncode != 0:
                self.skipTest("no file system of its own can be mounted here")
            try:
                with Server(state=folder) as server:
                    job = server.evaluate(ADD)["job_id"]
                filler = os.path.join(folder, "filler")
                try:
                    with open(filler, "wb", buffering=0) as file:
                        while file.write(b"x" * 4096) == 4096:
                            pass
                except OSError:
                    pass
                with Server(state=folder) as server:
                    report = server.call("get_job", {"job_id": job})["structuredContent"]
                    self.assertEqual(report["verdict"], "passed")
                for path in (filler, os.path.join(folder, "compiled")):
                    subprocess.run(["rm", "-rf", path], check=True)
                with Server(state=folder) as server:
                    self.assertEqual(server.evaluate(ADD)["verdict"], "passed")
            finally:
                subprocess.run(["umount", "-l", folder], check=False)


if __name__ == "__main__":
    unittest.main()
