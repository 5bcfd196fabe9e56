"""The optest command on the requirements' own sample plan, on plans with functions or kernels of their own, and on the examples."""

import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import unittest

from assay_client import ADD, ASSAY
from optest_client import PlanFolder

# z = x + y for float32 and int32, told apart by the dtypes that the plan passes.
RUNNER = """
import struct, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert set(options) >= {"-d", "-s", "-i", "-o"}, sys.argv
letter = {"float32": "f", "int32": "i"}[options["-d"].split(",")[0]]
a, b = [open(path, "rb").read() for path in options["-i"].split(",")]
count = len(a) // 4
values = [x + y for x, y in zip(struct.unpack(f"<{count}{letter}", a), struct.unpack(f"<{count}{letter}", b))]
if letter == "i" and "--wrong-ints" in sys.argv: values[17] += 1
open(options["-o"], "wb").write(struct.pack(f"<{count}{letter}", *values))
"""

SAMPLE = """
operator: vector_add
description: z = x + y; x, y, z are one-dimensional vectors
inputs: ["data/input0.bin", "data/input1.bin"]
outputs: ["output/output0.bin"]
generator:
  name: builtin.random
  seed: 123
assertion:
  name: builtin.elementwise_add
  rtol: 1e-5
  atol: 1e-7
backends:
  - type: cann
    chip: ascend910b
    workdir: @WORKDIR@
    env: {ASCEND_VISIBLE_DEVICES: "0"}
    command: ["@PYTHON@", "@RUNNER@", "-r", "cpu", "-v", "{chip}", "-d", "{dtypes}", "-s", "{shapes}", "-i", "{inputs}", "-o", "{outputs}"]
    timeout: 300
    retries: 1
  - type: cuda
    chip: H100
    workdir: @WORKDIR@
    command: ["@PYTHON@", "@RUNNER@", "-d", "{dtypes}", "-s", "{shapes}", "-i", "{inputs}", "-o", "{outputs}", "--wrong-ints", "x"]
cases:
  - name: float32_big
    dtypes: [float32, float32]
    shapes:
      - {inputs: [[1, 1024], [1, 1024]], outputs: [[1, 1024]]}
      - {inputs: [[1, 2056], [1, 2056]], outputs: [[1, 2056]]}
    tags: ["smoke"]
    priority: 5
  - name: int32_tail
    dtypes: [int32, int32]
    shapes:
      - {inputs: [[1, 1000], [1, 1000]], outputs: [[1, 1000]]}
    generator: {name: builtin.uniform, params: {low: -10, high: 10}}
    assertion: {rtol: 0, atol: 0}
    backends:
      xfail: ["cuda"]
    tags: ["wide"]
    priority: 20
"""


class Sample(PlanFolder):
    def setUp(self):
        super().setUp()
        runner = self.write("add.py", RUNNER)
        os.mkdir(self.path("work"))
        self.text = SAMPLE.replace("@WORKDIR@", self.path("work")).replace("@PYTHON@", sys.executable).replace("@RUNNER@", runner)
        self.plan = self.write("vector_add.yaml", self.text)

    def list(self, *arguments):
        done = self.optest("run", "--plan", self.plan, "--list", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("\n")[:-1]

    def digests(self):
        return [hashlib.sha256(self.read(f"work/data/input{i}.bin")).hexdigest() for i in (0, 1)]

    def test_it_runs_as_written(self):
        report = self.run_plan(self.plan, code=0)
        self.assertEqual(self.statuses(report), {
            "float32_big@cann:ascend910b/shape0": "passed", "float32_big@cann:ascend910b/shape1": "passed",
            "float32_big@cuda:H100/shape0": "passed", "float32_big@cuda:H100/shape1": "passed",
            "int32_tail@cann:ascend910b/shape0": "passed", "int32_tail@cuda:H100/shape0": "xfail"})
        self.assertEqual([one["id"].split("@")[0] for one in report["cases"]], ["float32_big"] * 4 + ["int32_tail"] * 2)
        first = report["cases"][0]
        self.assertEqual(first["argv"][7], "float32,float32")
        self.assertEqual(first["argv"][9], '{"inputs": [[1,1024],[1,1024]], "outputs": [[1,1024]]}')
        self.assertEqual(first["attempts"], 1)
        self.assertEqual(first["seeds"], [123, 123])
        self.assertEqual(first["metrics"]["output0"]["mismatches"], 0)
        last = report["cases"][-1]
        self.assertIn("output0: 1 of 1000 mismatched, worst at [0,17] got", last["details"])
        self.assertEqual(last["attempts"], 1)

    def test_a_repro_line_repeats_the_command(self):
        self.write("add.yaml", self.text.replace("      - {inputs: [[1, 2056], [1, 2056]], outputs: [[1, 2056]]}\n", "").split("  - name: int32_tail")[0]
                   .replace("  - type: cuda", "  - type: cuda\n    workdir: " + self.path("other"), 1).replace("    workdir: " + self.path("work") + "\n    command", "    command"))
        os.mkdir(self.path("other"))
        case = self.run_plan(self.path("add.yaml"), code=0)["cases"][0]
        self.assertTrue(case["repro"].startswith("cd " + self.path("work") + " && "), case["repro"])
        os.remove(self.path("work/output/output0.bin"))
        subprocess.run(["sh", "-c", case["repro"]], check=True, timeout=60)
        self.assertEqual(len(self.read("work/output/output0.bin")), 4 * 1024)

    def test_repeating_one_shape_leaves_the_files_of_the_others_alone(self):
        cases = self.run_plan(self.plan, code=0)["cases"]
        before = {name: self.read("work/" + name) for name in ("data/input0.bin", "data/input1.bin", "output/output0.bin")}
        for case in cases:
            done = subprocess.run(["sh", "-c", case["repro"]], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(case["id"], done.stdout)
            self.assertEqual({name: self.read("work/" + name) for name in before}, before)

    def test_what_was_drawn_is_drawn_again_and_what_is_the_users_is_taken_again(self):
        text = self.text.replace("  seed: 123\n", "")
        plan = self.write("plan.yaml", text)
        with open(self.path("work/own.bin"), "wb") as file:
            file.write(bytes(4 * 2056))
        plan = self.write("plan.yaml", text.replace('"data/input1.bin"', '"own.bin"').replace("      - {inputs: [[1, 1024], [1, 1024]], outputs: [[1, 1024]]}\n", ""))
        case = self.run_plan(plan, "--only", "float32_big@cann:ascend910b/shape0", code=0)["cases"][0]
        self.assertEqual(case["cache"], ["generated", "user"])
        made = self.read("work/data/input0.bin")
        subprocess.run(["sh", "-c", case["repro"].replace('"$(mktemp -d)"', self.path("again"))], check=True, timeout=60, capture_output=True)
        self.assertEqual(self.read("again/data/input0.bin"), made)
        self.assertEqual(self.read("again/own.bin"), bytes(4 * 2056))

    def test_list_selects_as_written(self):
        self.assertEqual(len(self.list()), 6)
        self.assertEqual(self.list("--backend", "cann", "--chip", "Ascend910b", "--tags", "smoke"),
                         ["float32_big@cann:ascend910b/shape0", "float32_big@cann:ascend910b/shape1"])
        self.assertEqual(self.list("--cases", "int*", "--backend", "cuda"), ["int32_tail@cuda:H100/shape0 (xfail)"])
        self.assertEqual(len(self.list("--cases", "float32_big,int32_tail")), 6)
        self.assertEqual(len(self.list("--skip-tags", "wide")), 4)
        self.assertEqual(len(self.list("--priority-max", "5")), 4)
        self.assertEqual(len(self.list("--priority-max", "20")), 6)
        self.assertFalse(os.path.exists(self.path("work/data")), "listing runs nothing")

    def test_what_matches_nothing_says_what_there_is(self):
        for arguments, word in ((("--cases", "Float*"), "float32_big"), (("--tags", "x"), "smoke"), (("--chip", "H200"), "cuda:H100")):
            done = self.optest("run", "--plan", self.plan, "--list", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(word, done.stderr)

    def test_bytes_are_stable_and_follow_what_decides_them(self):
        def run(text, *arguments):
            self.write("vector_add.yaml", text)
            report = self.run_plan(self.plan, "--cases", "float32_big", "--backend", "cann", *arguments, code=0)
            return self.digests(), [one["cache"] for one in report["cases"]]

        only = self.text.replace("      - {inputs: [[1, 2056], [1, 2056]], outputs: [[1, 2056]]}\n", "")
        first, cache = run(only)
        self.assertEqual(cache, [["generated", "generated"]])
        self.assertNotEqual(*first, "inputs that share a seed differ")
        self.assertEqual(run(only), (first, [["hit", "hit"]]))
        self.assertEqual(run(only, "--cache", "regen"), (first, [["generated", "generated"]]))
        for old, new in (("seed: 123", "seed: 124"), ("[1, 1024]", "[2, 512]"), ("[1, 1024]", "[1, 1025]"), ("seed: 123", "params: {scale: 2}, seed: 123")):
            changed, cache = run(only.replace(old, new).replace("name: builtin.random\n  params: {scale: 2}, seed: 123",
                                                               "name: builtin.random\n  params: {scale: 2}\n  seed: 123"))
            self.assertEqual(cache, [["generated", "generated"]], (old, new))
            if new not in ("[2, 512]",):
                self.assertNotEqual(changed, first, (old, new))
            self.assertEqual(run(only)[0], first)
        own = only.replace("seed: 123", "seed: 123\n  per_input:\n    \"1\": {seed: 9}")
        changed, cache = run(own)
        self.assertEqual(cache, [["hit", "generated"]])
        self.assertEqual(changed[0], first[0])
        self.assertNotEqual(changed[1], first[1])

    def test_files_of_the_users_are_kept(self):
        mine = struct.pack("<1024f", *([2.5] * 1024))
        self.write("work/data/input0.bin", mine)
        arguments = ("--cases", "float32_big", "--backend", "cann", "--chip", "ASCEND910B")
        report = self.run_plan(self.text.replace("      - {inputs: [[1, 2056], [1, 2056]], outputs: [[1, 2056]]}\n", ""), *arguments, code=0)
        self.assertEqual(report["cases"][0]["cache"], ["user", "generated"])
        self.assertEqual(self.read("work/data/input0.bin"), mine)
        # A file of ours that the user has changed since is the user's.
        self.write("work/data/input1.bin", mine)
        again = self.run_plan(self.path("plan.yaml"), *arguments, code=0)
        self.assertEqual(again["cases"][0]["cache"], ["user", "user"])
        report = self.run_plan(self.plan, *arguments, code=1)
        self.assertEqual(report["cases"][1]["status"], "error")
        self.assertIn("has 4096 bytes, expected 8224 for 1x2056 float32", report["cases"][1]["details"])
        self.assertEqual(self.read("work/data/input0.bin"), mine)

    def test_the_terminal_report(self):
        done = self.optest("run", "--plan", self.plan, "--no-color", "--state", self.path("state"), "--report-path", self.path("r.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^PASS  float32_big@cann:ascend910b/shape0$")
        self.assertRegex(done.stdout, r"(?m)^XFAIL int32_tail@cuda:H100/shape0: output0: 1 of 1000")
        self.assertIn("6 runs, 5 passed, 1 xfail", done.stdout)
        self.assertEqual(json.loads(self.read("r.json"))["summary"]["total"], 6)
        self.assertIn("\033[32m", self.optest("run", "--plan", self.plan, "--state", self.path("state")).stdout)

    def test_two_at_once_in_one_folder_do_not_disturb_each_other(self):
        command = [ASSAY, "optest", "run", "--plan", self.plan, "--report", "json", "--state", self.path("state")]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) for _ in range(2)]
        for one in both:
            out, err = one.communicate(timeout=180)
            self.assertEqual(one.returncode, 0, err)
            self.assertEqual(json.loads(out)["summary"]["failures"], 0)

    def test_the_command_by_its_own_name(self):
        link = os.path.join(os.path.dirname(ASSAY), "optest")
        done = subprocess.run([link, "run", "--plan", self.plan, "--list"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 6), done.stderr)
        self.assertEqual(subprocess.run([link, "--version"], capture_output=True, timeout=60).returncode, 0)


class Functions(PlanFolder):
    PLAN = """
operator: copy
inputs: [in.bin]
outputs: [out.bin]
generator: {name: make, source: ./custom.py, seed: 5, params: {offset: 1}, constants: {axis: 1}}
assertion: {name: check, source: ./custom.py, params: {want: 10}}
backends:
  - {type: cuda, chip: any, command: [cp, in.bin, out.bin]}
cases:
  - name: one
    dtypes: [float32]
    shapes: [{inputs: [[4]], outputs: [[4]]}]
"""
    CODE = """
import struct
from optest.plan.models import AssertionResult

def make(*, input_paths, shapes, dtypes, params, seed, constants, rng):
    assert shapes[0] == [4] and shapes["inputs"] == [[4]] and shapes["outputs"] == [[4]]
    assert dtypes == ["float32"] and constants == {"axis": 1}
    values = [params["offset"] + i for i in range(4)] if rng is None else [params["offset"] + i for i in range(4)]
    with open(input_paths[0], "wb") as file:
        file.write(struct.pack("<4f", *values))
    print("noise on standard output {")

def check(*, input_paths, output_paths, shapes, dtypes, output_dtypes, params, rtol, atol, metric):
    values = struct.unpack("<4f", open(output_paths[0], "rb").read())
    assert open(input_paths[0], "rb").read() == open(output_paths[0], "rb").read()
    return AssertionResult(sum(values) == params["want"], f"sum {sum(values)}", {"sum": sum(values), "bad": float("nan")})
"""

    def test_custom_functions_by_their_prototypes(self):
        self.write("custom.py", self.CODE)
        case = self.run_plan(self.PLAN, code=0)["cases"][0]
        self.assertEqual((case["status"], case["details"], case["metrics"]), ("passed", "sum 10.0", {"sum": 10.0, "bad": None}))
        self.assertEqual(self.read("in.bin"), struct.pack("<4f", 1, 2, 3, 4))
        self.assertEqual(self.run_plan(self.PLAN, code=0)["cases"][0]["cache"], ["hit"])
        case = self.run_plan(self.PLAN.replace("want: 10", "want: 11"), code=1)["cases"][0]
        self.assertEqual((case["status"], case["details"]), ("failed", "sum 10.0"))
        # The source is part of what decides the bytes.
        self.write("custom.py", self.CODE.replace("else [params", "else [-1 + params").replace("rng is None", "True"))
        self.assertEqual(self.run_plan(self.PLAN, code=0)["cases"][0]["cache"], ["generated"])

    def test_a_function_that_fails_says_where(self):
        self.write("custom.py", self.CODE.replace("    values = struct", "    raise ValueError('boom')\n    values = struct"))
        case = self.run_plan(self.PLAN, code=1)["cases"][0]
        self.assertEqual(case["status"], "error")
        self.assertIn("ValueError: boom", case["details"])
        self.assertIn("custom.py", case["details"])

    def test_an_outcome_that_is_no_bool_is_no_verdict(self):
        for returned in ("AssertionResult('False', '')", "AssertionResult(None)", "(1, 'one')", "('no', 'text')"):
            self.write("custom.py", self.CODE.replace("return AssertionResult(sum(values) == params[\"want\"], f\"sum {sum(values)}\", {\"sum\": sum(values), \"bad\": float(\"nan\")})", f"return {returned}"))
            case = self.run_plan(self.PLAN, code=1)["cases"][0]
            self.assertEqual(case["status"], "error", returned)
            self.assertIn("not a bool", case["details"])

    def test_a_missing_module_is_named(self):
        self.write("custom.py", "import no_such_module_here\n" + self.CODE)
        case = self.run_plan(self.PLAN, code=1)["cases"][0]
        self.assertIn("no_such_module_here", case["details"])
        self.assertEqual(case["status"], "error")


class Kernels(PlanFolder):
    PLAN = """
operator: add
inputs: [a.bin, b.bin]
outputs: [out.bin]
generator: {name: builtin.random, seed: 3}
assertion: {name: elementwise_add, rtol: 1e-6, atol: 1e-6}
backends:
  - type: assay
    kernel:
      source: add.cu
      device: emulator
      io:
        args:
          - {name: a}
          - {name: b}
          - {name: out, role: output}
          - {name: n, type: int, value: input0_size}
        launch: {grid: {x: "ceildiv(input0_size, 256)"}, block: {x: 256}}
cases:
  - name: one
    dtypes: [float32, float32]
    shapes:
      - {inputs: [[1000], [1000]], outputs: [[1000]]}
      - {inputs: [[30, 70], [30, 70]], outputs: [[30, 70]]}
"""

    def test_a_kernel_is_judged_without_a_runner_program(self):
        self.write("add.cu", ADD)
        report = self.run_plan(self.PLAN, code=0)
        self.assertEqual(self.statuses(report), {"one@assay:auto/shape0": "passed", "one@assay:auto/shape1": "passed"})
        self.assertEqual(report["cases"][0]["verdict"], "passed")
        self.assertEqual(report["cases"][0]["metrics"]["out"]["elements"], 1000)

    def test_a_wrong_kernel_is_told_where(self):
        self.write("add.cu", ADD.replace("a[i] + b[i]", "i == 999 ? 0.f : a[i] + b[i]"))
        report = self.run_plan(self.PLAN, code=1)
        self.assertEqual([one["status"] for one in report["cases"]], ["failed", "failed"])
        self.assertEqual(report["cases"][0]["verdict"], "wrong_output")
        self.assertIn("999", report["cases"][0]["details"])

    def test_a_kernel_that_does_nothing_cannot_pass(self):
        self.write("add.cu", ADD.replace("out[i] = a[i] + b[i];", ""))
        self.assertEqual({one["status"] for one in self.run_plan(self.PLAN, code=1)["cases"]}, {"failed"})

    def test_what_does_not_compile_fails(self):
        self.write("add.cu", ADD[:-3])
        case = self.run_plan(self.PLAN, code=1)["cases"][0]
        self.assertEqual((case["status"], case["verdict"]), ("failed", "compile_failed"))


class Examples(PlanFolder):
    """The plans under examples/ run as they are."""

    def setUp(self):
        super().setUp()
        examples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
        shutil.copytree(os.path.join(examples, "plans"), self.path("plans"), ignore=shutil.ignore_patterns("data", "output", ".optest.lock"))
        shutil.copytree(os.path.join(examples, "kernels"), self.path("kernels"))

    def test_vector_add(self):
        statuses = self.statuses(self.run_plan(self.path("plans/vector_add.yaml"), code=0))
        self.assertEqual(set(statuses.values()), {"passed"})
        self.assertEqual(sorted(one for one in statuses if "assay" in one), ["float32_big@assay:auto/shape0", "float32_big@assay:auto/shape1"])
        self.assertEqual(len(statuses), 8)

    def test_custom_functions(self):
        report = self.run_plan(self.path("plans/custom_functions.yaml"), code=0)
        self.assertEqual(report["cases"][0]["metrics"], {"difference": 0.0})


if __name__ == "__main__":
    unittest.main()
