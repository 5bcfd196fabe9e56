"""The optest command on the requirements' own sample plan and on plans that go wrong."""

import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import time
import unittest

from assay_client import ADD, ASSAY, descendants, wait_gone
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


# One case; its command is a shell script. A scalar float32 in, a scalar out.
SMALL = """
operator: copy
inputs: [in.bin]
outputs: [out.bin]
generator: {{name: builtin.random, seed: 1}}
assertion: {{name: {assertion}}}
backends:
  - type: cuda
    chip: any
    command: {command}
{more}
cases:
  - name: one
    dtypes: [float32]
    shapes: [{{inputs: [[4]], outputs: [[4]]}}]
{case}
"""


class Small(PlanFolder):
    def small(self, script, more="", case="", assertion="builtin.relu"):
        return SMALL.format(command=json.dumps(["sh", "-c", script]), more=textwrap.indent(more, "    "),
                            case=textwrap.indent(case, "    "), assertion=assertion)

    def one(self, script, *arguments, code=1, **parts):
        return self.run_plan(self.small(script, **parts), *arguments, code=code)["cases"][0]

    def test_an_exit_code_fails_the_case(self):
        case = self.one("echo no license >&2; exit 3")
        self.assertEqual((case["status"], case["details"]), ("failed", "command: exit code 3: no license"))

    def test_a_crash_is_told_by_its_signal(self):
        self.assertIn("killed by SIGSEGV", self.one("kill -SEGV $$")["details"])

    def test_a_missing_output_is_a_failure_and_an_old_one_does_not_help(self):
        self.write("out.bin", struct.pack("<4f", 0, 0, 0, 0))
        case = self.one("true")
        self.assertEqual(case["status"], "failed")
        self.assertIn("there is no", case["details"])

    def test_an_output_of_the_wrong_size_is_told(self):
        self.assertIn("has 3 bytes, expected 16 for 4 float32", self.one("printf abc > out.bin")["details"])

    def test_a_hang_is_killed_with_everything_it_started(self):
        plan = self.small("setsid sleep 397 & sleep 398", more="timeout: 1")
        case = self.run_plan(plan, code=1)["cases"][0]
        self.assertIn("timed out after 1", case["details"])
        listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("sleep 397", listing)

    def test_retries_are_of_the_command_alone(self):
        script = "echo x >> tries; [ $(wc -l < tries) -ge 3 ] || exit 1; cp in.bin out.bin"
        case = self.one(script, more="retries: 2\nprepare: [[sh, -c, 'echo p >> prepared']]", assertion="builtin.identity", code=0)
        self.assertEqual((case["status"], case["attempts"]), ("passed", 3))
        self.assertEqual(self.read("prepared"), b"p\n")
        # A wrong answer is no reason to try again.
        case = self.one("echo x >> tries2; head -c 16 /dev/zero > out.bin", more="retries: 2",
                        case="generator: {name: builtin.ones}")
        self.assertEqual((case["status"], case["attempts"], self.read("tries2")), ("failed", 1, b"x\n"))

    def test_cleanup_always_runs(self):
        for script, status in (("cp in.bin out.bin", "passed"), ("exit 1", "failed"), ("/no/such/thing", "failed")):
            case = self.one(script, more="cleanup: sh -c 'echo c >> cleaned'", assertion="builtin.identity", code=None)
            self.assertEqual(case["status"], status)
        self.assertEqual(self.read("cleaned"), b"c\n" * 3)
        case = self.one("exit 1", more="prepare: [[sh, -c, 'exit 4']]\ncleanup: [[sh, -c, 'echo c >> cleaned']]")
        self.assertEqual((case["status"], case["details"]), ("error", "prepare 1: exit code 4"))
        self.assertEqual(self.read("cleaned"), b"c\n" * 4)

    def test_a_missing_program_is_an_error_even_where_failure_is_expected(self):
        plan = self.small("x", case="backends: {xfail: [cuda]}").replace('["sh", "-c", "x"]', '["/no/such/program"]')
        case = self.run_plan(plan, code=1)["cases"][0]
        self.assertEqual(case["status"], "error")
        self.assertIn("could not be started: cannot execute /no/such/program", case["details"])

    def test_an_unexpected_pass_fails_the_run(self):
        case = self.one("cp in.bin out.bin", case="backends: {xfail: [cuda]}", assertion="builtin.identity")
        self.assertEqual(case["status"], "xfail-pass")
        self.assertEqual(self.one("exit 1", case="backends: {xfail: [cuda]}", code=0)["status"], "xfail")
        self.assertEqual(self.one("exit 1", more="xfail_cases: [one]", code=0)["status"], "xfail")

    def test_identity_compares_with_the_golden_it_is_given(self):
        self.write("gold.bin", struct.pack("<4f", 1, 2, 3, 4))
        golden = "assertion: {params: {golden: ['{case}.gold']}}".replace("{case}.gold", "gold.bin")
        right = self.one(f"cp {self.path('gold.bin')} out.bin", case=golden, assertion="identity", code=0)
        self.assertEqual((right["status"], right["checked"]), ("passed", True))
        wrong = self.one("head -c 16 /dev/zero > out.bin", case=golden, assertion="identity")
        self.assertIn("4 of 4 mismatched", wrong["details"])
        none = self.one("cp in.bin out.bin", assertion="identity", code=0)
        self.assertFalse(none["checked"])
        self.assertIn("MISTRUSTED", none["warnings"][0])

    def test_a_golden_of_zeros_is_not_to_be_trusted(self):
        case = self.one("head -c 16 /dev/zero > out.bin", code=0,
                        case="generator: {name: builtin.uniform, params: {low: -2, high: -1}}")
        self.assertEqual(case["status"], "passed")
        self.assertIn("MISTRUSTED", case["warnings"][0])

    def test_metrics(self):
        # One element off by 0.4: too much for max_abs, little in the mean.
        script = "{py} -c \"import struct; v = list(struct.unpack('<4f', open('in.bin','rb').read())); v[0] += 0.4; open('out.bin','wb').write(struct.pack('<4f', *v))\"".format(py=sys.executable)
        for metric, atol, status in (("max_abs", 0.2, "failed"), ("mean_abs", 0.2, "passed"), ("mean_abs", 0.05, "failed")):
            case = self.one(script, code=None, assertion="broadcast_to", case=f"assertion: {{metric: {metric}, atol: {atol}, rtol: 0}}")
            self.assertEqual(case["status"], status, (metric, atol, case["details"]))
        for rtol, status in ((0.5, "passed"), (1e-9, "failed")):
            case = self.one(script, code=None, assertion="broadcast_to", case=f"assertion: {{metric: cosine, rtol: {rtol}}}")
            self.assertEqual(case["status"], status, case)

    def test_hostile_names_are_words_and_nothing_more(self):
        name = "a b;touch pwned$(touch pwned2)'\"`*\n{shape}"
        self.write("check.py", "import sys; open('out.bin','wb').write(open(sys.argv[1],'rb').read()); open('seen','w').write(sys.argv[2])")
        plan = self.small("x", assertion="identity").replace("name: one", "name: " + json.dumps(name)) \
            .replace("inputs: [in.bin]", "inputs: ['in put;rm -rf x.bin']") \
            .replace('["sh", "-c", "x"]', json.dumps([sys.executable, self.path("check.py"), "{input0}", "{case}"]))
        case = self.run_plan(plan, code=0)["cases"][0]
        self.assertEqual(case["status"], "passed")
        self.assertEqual(self.read("seen").decode(), name)
        self.assertFalse({"pwned", "pwned2"} & set(os.listdir(self.folder)))

    def test_a_flood_is_survived(self):
        case = self.one("yes | head -c 60000000; cp in.bin out.bin", assertion="identity", code=0)
        self.assertEqual(case["status"], "passed")
        self.assertTrue(case["steps"][0]["log_is_cut"])

    def test_a_report_that_cannot_be_told_is_no_success(self):
        plan = self.write("plan.yaml", self.small("cp in.bin out.bin", assertion="builtin.identity"))
        for more in (("--report", "json"), ("--no-color",), ("--list",)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([ASSAY, "optest", "run", "--plan", plan, "--state", self.path("state"), *more], stdout=full, stderr=subprocess.PIPE,
                                      stdin=subprocess.DEVNULL, timeout=60, check=False)
            self.assertEqual(done.returncode, 70, more)
            self.assertIn(b"standard output cannot be written to", done.stderr)

    def test_a_killed_command_is_named_for_what_it_changed(self):
        plan = self.write("plan.yaml", self.small("head -c 16 /dev/zero > in.bin; echo up > up; sleep 392"))
        process = subprocess.Popen([ASSAY, "optest", "run", "--plan", plan, "--report", "json", "--state", self.path("state")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        while not os.path.exists(self.path("up")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertIn("the killed command changed input0", out)
        self.assertNotIn("a cleanup command", out)

    def test_ctrl_c_cancels_and_cleans_up(self):
        plan = self.write("plan.yaml", self.small("echo up > up; sleep 399", more="cleanup: [[sh, -c, 'echo c > cleaned']]"))
        process = subprocess.Popen([ASSAY, "optest", "run", "--plan", plan, "--state", self.path("state")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        while not os.path.exists(self.path("up")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(self.read("cleaned"), b"c\n")

    def test_a_cancelled_plan_is_no_pass(self):
        cases = "".join(f"  - name: c{i}\n    dtypes: [float32]\n    shapes: [{{inputs: [[4]], outputs: [[4]]}}]\n" for i in range(1, 4))
        text = self.small("cp in.bin out.bin; [ {case} != c1 ] || { echo up > up; sleep 394; }", assertion="builtin.identity") + cases
        plan = self.write("plan.yaml", text)
        process = subprocess.Popen([ASSAY, "optest", "run", "--plan", plan, "--no-color", "--report", "json", "--state", self.path("state")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        while not os.path.exists(self.path("up")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        report = json.loads(out)
        self.assertEqual((process.returncode, report["cancelled"]), (1, True))
        self.assertEqual(self.statuses(report), {"one@cuda:any/shape0": "passed", "c1@cuda:any/shape0": "cancelled"})
        self.assertEqual(report["not_started"], ["c2@cuda:any/shape0", "c3@cuda:any/shape0"])
        self.assertEqual(report["summary"]["cancelled"], 1)
        self.assertIn("CANCL c1@cuda:any/shape0", err)
        self.assertIn("CANCELLED: 2 runs, 1 passed, 1 cancelled, 2 not started: c2@cuda:any/shape0", err)

    def test_a_command_that_changes_its_input_fails_and_poisons_nothing(self):
        script = "head -c 16 /dev/zero > in.bin; cp in.bin out.bin"
        for _ in range(2):
            case = self.one(script, assertion="broadcast_to")
            self.assertEqual(case["status"], "failed")
            self.assertIn("the command changed input0", case["details"])
            self.assertEqual(case["cache"], ["generated"])
        # Also one that fails, and one that takes the file away.
        for script in ("head -c 16 /dev/zero > in.bin; exit 3", "cp in.bin out.bin; rm in.bin", "rm in.bin; mkfifo in.bin"):
            self.assertIn("the command changed input0", self.one(script, assertion="broadcast_to")["details"])
            case = self.one("cp in.bin out.bin", assertion="broadcast_to", code=0)
            self.assertEqual((case["status"], case["cache"]), ("passed", ["generated"]))
        case = self.one("cp in.bin out.bin", more="prepare: [[sh, -c, 'head -c 16 /dev/zero > in.bin']]", assertion="broadcast_to")
        self.assertEqual(case["status"], "error")
        self.assertIn("a prepare command changed input0", case["details"])

    def test_a_users_input_that_the_command_changes_is_left_as_it_is(self):
        self.write("in.bin", struct.pack("<4f", 1, 2, 3, 4))
        case = self.one("head -c 16 /dev/zero > in.bin; cp in.bin out.bin", assertion="broadcast_to")
        self.assertEqual((case["status"], case["cache"]), ("failed", ["user"]))
        self.assertIn("left as it is now", case["details"])
        self.assertEqual(self.read("in.bin"), bytes(16))

    def test_what_a_prepare_command_or_an_earlier_attempt_left_is_no_output(self):
        case = self.one("true", more="prepare: [[cp, in.bin, out.bin]]", assertion="broadcast_to")
        self.assertIn("there is no", case["details"])
        case = self.one("[ -e tried ] || { touch tried; cp in.bin out.bin; exit 1; }", more="retries: 1", assertion="broadcast_to")
        self.assertEqual((case["attempts"], case["status"]), (2, "failed"))
        self.assertIn("there is no", case["details"])

    def test_an_odd_output_fails_its_own_run_alone(self):
        for script in ("mkdir out.bin; touch out.bin/x", "mkfifo out.bin", "ln -s /dev/zero out.bin"):
            case = self.one(script, assertion="broadcast_to")
            self.assertEqual(case["status"], "failed", script)
            self.assertEqual(self.one("cp in.bin out.bin", assertion="broadcast_to", code=0)["status"], "passed", script)
        # A folder that was there before is nobody's output: it is not removed.
        os.remove(self.path("out.bin"))
        self.write("out.bin/mine", "x")
        self.assertEqual(self.one("true", assertion="broadcast_to")["status"], "error")
        self.assertEqual(self.read("out.bin/mine"), b"x")

    def test_names_paint_nothing_on_the_terminal(self):
        name = "a\x1b[2J\nPASS  forged\x9b\x7f"
        plan = self.write("plan.yaml", self.small("exit 1", assertion="identity").replace("name: one", "name: " + json.dumps(name)))
        for more in ((), ("--list",)):
            done = self.optest("run", "--plan", plan, "--no-color", "--state", self.path("state"), *more)
            self.assertIn("a\\x1b[2J\\nPASS  forged\\x9b\\x7f@cuda:any", done.stdout)
            for text in (done.stdout, done.stderr):
                self.assertFalse([one for one in text if one != "\n" and (ord(one) < 32 or 127 <= ord(one) < 160)], text)
                self.assertNotIn("\nPASS", text)

    def test_a_report_says_where_its_logs_are(self):
        report = self.run_plan(self.small("echo said so; exit 1"), code=1)
        log = report["cases"][0]["log"]
        self.assertEqual(log, f"assay://jobs/{report['job_id']}/log-0")

    def test_kill_9_leaves_no_process_behind(self):
        plan = self.write("plan.yaml", self.small("echo up > up; setsid sleep 396 & sleep 395"))
        process = subprocess.Popen([ASSAY, "optest", "run", "--plan", plan, "--state", self.path("state")],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        while not os.path.exists(self.path("up")):
            time.sleep(0.01)
        below = descendants(process.pid)
        self.assertTrue(below)
        process.kill()
        process.wait()
        self.assertEqual(wait_gone([pid for pid, _ in below]), [])

    def test_an_input_that_a_killed_run_changed_is_noticed(self):
        plan = self.write("plan.yaml", self.small("head -c 16 /dev/zero > in.bin; echo up > up; sleep 395", assertion="broadcast_to"))
        process = subprocess.Popen([ASSAY, "optest", "run", "--plan", plan, "--state", self.path("state")],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        while not os.path.exists(self.path("up")):
            time.sleep(0.01)
        # The engine first: it would have taken the changed file away.
        for pid in [pid for pid, _ in descendants(process.pid)] + [process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()
        case = self.one("cp in.bin out.bin", assertion="broadcast_to")
        self.assertEqual((case["status"], self.read("in.bin")), ("error", bytes(16)))
        self.assertIn("changed while an earlier run was cut short", case["details"])
        case = self.one("cp in.bin out.bin", "--cache", "regen", assertion="broadcast_to", code=0)
        self.assertEqual(case["cache"], ["generated"])
        self.assertEqual(self.one("cp in.bin out.bin", assertion="broadcast_to", code=0)["cache"], ["hit"])
        # What the user changed while nothing ran is the user's.
        self.write("in.bin", struct.pack("<4f", 1, 2, 3, 4))
        self.assertEqual(self.one("cp in.bin out.bin", assertion="broadcast_to", code=0)["cache"], ["user"])

    def test_what_did_not_come_to_its_command_still_says_what_it_was(self):
        case = self.one("true", more="requires: {tools: [no-such-tool-394]}")
        self.assertEqual((case["status"], case["attempts"], case["argv"][0]), ("unsupported", 0, "sh"))
        self.assertNotIn("repro", case)
        case = self.one("true", more="prepare: [[sh, -c, 'exit 7']]")
        self.assertEqual((case["status"], case["attempts"]), ("error", 0))
        self.assertEqual(subprocess.run(["sh", "-c", case["repro"]], timeout=60).returncode, 7, "of what failed")

    def test_cleanup_runs_when_the_inputs_cannot_be_made(self):
        self.write("bad.py", "def make(**_):\n    raise ValueError('no inputs')\n")
        text = self.small("true", more="cleanup: [[touch, cleaned]]").replace("name: builtin.random, seed: 1", "name: make, source: ./bad.py")
        case = self.run_plan(text, code=1)["cases"][0]
        self.assertEqual(case["status"], "error")
        self.assertIn("no inputs", case["details"])
        self.assertTrue(os.path.exists(self.path("cleaned")))

    def test_requirements_that_say_nothing_are_problems_of_the_plan(self):
        plan = self.write("plan.yaml", self.small("true", more="requires: {sm: '=>89', bogus: 3, gpus: 0}"))
        done = self.optest("run", "--plan", plan, "--state", self.path("state"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"plan.yaml:\d+:\d+: backends\[0\].requires.sm: must be a bound")
        self.assertIn("requires.bogus: is no requirement known here", done.stderr)
        self.assertNotIn("gpus: must", done.stderr)

    def test_a_plan_can_say_what_it_needs(self):
        case = self.one("cp in.bin out.bin", more="requires: {tools: [no_such_tool_here]}")
        self.assertEqual(case["status"], "unsupported")
        self.assertIn("no_such_tool_here", case["details"])


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


class Bad(PlanFolder):
    def refused(self, text, code=1):
        done = self.optest("run", "--plan", self.write("bad.yaml", text), "--state", self.path("state"))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr.replace(self.folder + "/", "")

    def test_no_plan_is_usage(self):
        for arguments in ((), ("run",), ("run", "--plan", self.path("none.yaml")), ("run", "--plan", self.folder),
                          ("run", "--plan", self.path("none.yaml"), "--cache", "maybe")):
            self.assertEqual(self.optest(*arguments).returncode, 2, arguments)

    def test_a_fifo_is_no_plan(self):
        os.mkfifo(self.path("fifo"))
        self.assertEqual(self.optest("run", "--plan", self.path("fifo"), timeout=20).returncode, 2)

    def test_every_missing_key_is_listed(self):
        said = self.refused("operator: x\n")
        for key in ("inputs", "outputs", "backends", "cases"):
            self.assertRegex(said, rf"bad\.yaml:1:1: {key}: ")

    def test_cases_that_a_backend_names_have_their_lines(self):
        text = SMALL.format(command='["true"]', more="    only_cases: [one, nine]\n    skip_cases:\n      - one", case="", assertion="relu")
        said = self.refused(text)
        lines = text.splitlines()
        row = 1 + next(i for i, line in enumerate(lines) if "only_cases" in line)
        self.assertRegex(said, rf"bad\.yaml:{row}:\d+: warning: backends\[0\]: names the case 'nine'")
        self.assertRegex(said, rf"bad\.yaml:{row + 2}:\d+: backends\[0\]: the case 'one' is in only_cases and in skip_cases")

    def test_all_problems_are_listed_at_once_with_their_lines(self):
        text = """operator: x
desciption: a typo
inputs: [a.bin, b.bin]
outputs: [out.bin]
backends:
  - type: rocm
    chip: 910
    command: ["./run", "{shap}", "{input2}", "{{literal}}"]
cases:
  - name: one
    dtypes: [float32]
    shapes: [{inputs: [[1]], outputs: [[1], [2]]}]
    assertion: {output_dtypes: [float32, float32], name: builtin.gem}
    backends: {only: [cuda], skip: [cann]}
  - name: one
    dtypes: [floa32, float32]
    shapes: [{inputs: [[1], [99999999999999999]], outputs: [[-1]]}]
    generator: {name: mine, source: ./gone.py}
"""
        said = self.refused(text)
        for expected in ("bad.yaml:2:1: warning: desciption: unknown key, ignored; did you mean 'description'?",
                         "bad.yaml:6:11: backends[0].type: must be cann, cuda or assay",
                         "unknown token {shap}; did you mean {shape}?", "{input2}: there are 2 inputs, counted from 0",
                         "bad.yaml:11:13: cases[0].dtypes: 1 dtypes, but there are 2 inputs",
                         "cases[0].shapes[0].inputs: 1 shapes, but there are 2 inputs",
                         "cases[0].shapes[0].outputs: 2 shapes, but there are 1 outputs",
                         "'builtin.gem' is no builtin assertion, and there is no source; did you mean 'builtin.gemm'?",
                         "cases[0].assertion.output_dtypes: 2 dtypes, but there are 1 outputs",
                         "cases[0].backends: has both only and skip", "there is another case named 'one'",
                         "'floa32' is no dtype", "the tensor has more than 4 GiB", "an extent is an integer, not negative",
                         "there is no file gone.py"):
            self.assertIn(expected, said)
        self.assertRegex(said, r"bad\.yaml:8:\d+: backends\[0\]: unknown token")

    def test_what_is_no_yaml_has_a_place(self):
        self.assertRegex(self.refused("operator: [x\n"), r"bad\.yaml:\d+:\d+: not YAML")
        self.assertIn("occurs twice", self.refused("operator: x\noperator: y\n"))
        self.assertIn("2 YAML documents", self.refused("operator: x\n---\noperator: y\n"))
        self.assertIn("must be a mapping", self.refused("- x\n"))
        bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9))
        self.assertIn("more values than a plan may have", self.refused(bomb))
        self.assertEqual(self.optest("run", "--plan", self.write("deep.yaml", "[" * 100000)).returncode, 1)

    def test_huge_shapes_are_refused_before_anything_runs(self):
        text = SMALL.format(command='["true"]', more="", case="", assertion="relu").replace("[[4]]", "[[1024, 1024, 1023]]")
        report = self.run_plan(text, code=1)
        self.assertEqual(report["cases"][0]["status"], "unsupported")
        self.assertFalse(os.path.exists(self.path("in.bin")))


if __name__ == "__main__":
    unittest.main()
