"""Plans whose commands fail, hang, flood, lie and are killed: each case ends with what happened to it."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
import unittest

from assay_client import ASSAY, descendants, wait_gone
from optest_client import PlanFolder, one_case


class Commands(PlanFolder):
    def small(self, script, **parts):
        return one_case(["sh", "-c", script], **parts)

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


if __name__ == "__main__":
    unittest.main()
