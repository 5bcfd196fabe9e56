"""run_test_generator on generators of all three families, one for each way in which they end."""

import json
import os
import subprocess
import unittest

from tool_client import ToolFolder

# Without a main block, and with it: what the families share.
COMMON = '''
import json, os, sys, time

def setup():
    return {"n": 1000}

def experiment(data):
    return {"sum": sum(range(data["n"])) * 1.5, "list": [1, 2.5]}

def store_result(result, filepath):
    with open(filepath, "w") as file: json.dump(result, file)

def load_result(filepath):
    with open(filepath) as file: return json.load(file)

def check_equivalence(current_result, reference_result):
    assert abs(current_result["sum"] - reference_result["sum"]) < 1e-3, f"sum {current_result['sum']} is not {reference_result['sum']}"
'''

FAMILY_A = COMMON + '''
def run_test(eqcheck: bool = False, reference: bool = False, prefix: str = '') -> float:
    """Returns the average in milliseconds."""
    data = setup()
    begun = time.perf_counter()
    result = experiment(data)
    elapsed_ms = (time.perf_counter() - begun) * 1000
    if reference: store_result(result, f"{prefix}_reference.json")
    if eqcheck: check_equivalence(result, load_result(f"{prefix}_reference.json"))
    return elapsed_ms
'''

FAMILY_B = COMMON + '''
def run_test(eqcheck: bool = False, reference: bool = False, prefix: str = '') -> float:
    tag, commit = os.environ.get("PROB_IMPL_TAG", "child"), os.environ.get("PROB_COMMIT_HASH", "unset")
    name = f"{prefix}_{tag}_{commit}_reference.json"
    result = experiment(setup())
    if reference: store_result(result, name)
    if eqcheck: check_equivalence(result, load_result(name))
    print("a warning in prose {")
    print(json.dumps({"impl_tag": tag, "commit_hash": commit, "device": "cpu", "dtype": "float64", "avg_ms": 0.000123456789,
                      "p50_ms": 0.1, "p95_ms": 0.2, "eq_level": os.environ.get("PROB_EQ_LEVEL", "numeric"), "extra": 1}, sort_keys=True))
    return 0.000123456789
'''

FAMILY_C = COMMON + '''
import argparse

def run_test(eqcheck=False, reference=False, prefix=''):
    result = experiment(setup())
    name = f"{prefix}_reference.json"
    if reference: store_result(result, name)
    if eqcheck and os.path.exists(name): check_equivalence(result, load_result(name))
    print(json.dumps({"impl_tag": os.environ.get("IMPL_TAG"), "commit_hash": os.environ.get("COMMIT_HASH"), "device": "cpu", "dtype": "float64",
                      "avg_ms": 2.5, "p50_ms": 2.4, "p95_ms": 2.9, "eq_level": "numeric"}))
    return 0.0025

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--eqcheck", action="store_true")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--prefix", default="")
    args = parser.parse_args()
    run_test(args.eqcheck, args.reference, args.prefix)
'''


def ending(body):
    """A generator whose run_test does only this."""
    return COMMON + "\ndef run_test(eqcheck=False, reference=False, prefix=''):\n" + "".join(f"    {line}\n" for line in body.splitlines())


class Repeats(ToolFolder):
    """What a report says to paste works when everything of the job is gone."""

    def pasted(self, text, **arguments):
        self.write("g.py", text)
        result = self.call("run_test_generator", script="g.py", **arguments)["result"]
        done = subprocess.run(["sh", "-c", result["repro"]], cwd="/", capture_output=True, text=True, timeout=60)
        return result, done

    def test_generators_of_all_families(self):
        for text in (FAMILY_A, FAMILY_B, FAMILY_C):
            result, done = self.pasted(text, reference=True, eqcheck=True, prefix="it's")
            self.assertEqual((result["status"], done.returncode), ("ok", 0), done.stderr)
            self.assertEqual(result["repro"].count("g.py"), 2, "the reference, and the comparison with it")
            self.assertNotIn("harness", result["repro"])
            self.assertTrue(result["log"].startswith("assay://jobs/"), result["log"])

    def test_the_older_kind_that_times_with_timeit(self):
        result, done = self.pasted("import timeit\ndef run_test(eqcheck, reference):\n    seconds, value = timeit.timeit(lambda: 5, number=1)\n"
                                   "    assert value == 5\n    return seconds\n")
        self.assertEqual((result["status"], done.returncode), ("ok", 0), done.stderr)

    def test_one_that_fails_fails_again(self):
        result, done = self.pasted(ending("raise ValueError('what it says')"))
        self.assertIn("what it says", done.stderr)
        os.mkdir(self.path("mine"))
        result, done = self.pasted(ending("open('here', 'a').write('x')\nreturn 1.0"), workdir="mine")
        self.assertEqual((os.path.getsize(self.path("mine/here")), done.returncode), (2, 0))


class Generators(ToolFolder):
    def run_script(self, text, **arguments):
        self.write("g.py", text)
        report = self.call("run_test_generator", script="g.py", **arguments)
        return report, report.get("result", {})

    def test_the_families_are_told_apart_without_running(self):
        for text, family, main in ((FAMILY_A, "A", False), (FAMILY_B, "B", False), (FAMILY_C, "C", True)):
            report, seen = self.run_script(text, mode="inspect")
            self.assertEqual((seen["family"], seen["has_main"], seen["missing_functions"]), (family, main, []))
        text = FAMILY_B.replace("import json,", "import no_such_module_here, json,") + \
            "\nTARGET = os.getenv('PROB_MODULE', 'vllm.layers')\n# CUTLASS fp8\nopen('ran', 'w')\n"
        report, seen = self.run_script(text, mode="inspect")
        self.assertEqual(seen["target_module"], "vllm.layers")
        self.assertEqual(seen["needs"]["feature"], "fp8_cutlass")
        self.assertIn({"module": "no_such_module_here", "line": 2, "present": False}, seen["imports"])
        self.assertFalse(seen["capability"]["supported"])
        self.assertEqual(self.run_script("def broken(:\n", mode="inspect")[0]["verdict"], "failed")

    def test_a_harness_is_injected_where_there_is_no_main(self):
        for text, harness in ((FAMILY_A, "injected"), (FAMILY_B, "injected"), (FAMILY_C, "own")):
            report, result = self.run_script(text)
            self.assertEqual((report["verdict"], result["status"], result["harness"]), ("passed", "ok", harness), result)

    def test_reference_then_equivalence(self):
        for text in (FAMILY_A, FAMILY_B, FAMILY_C):
            report, result = self.run_script(text, reference=True, eqcheck=True, prefix="p", impl_tag="x", commit_hash="abc", eq_level="numeric")
            self.assertEqual(report["verdict"], "passed", result)
            self.assertTrue(result["reference"]["written"])
            self.assertEqual({k: result["equivalence"][k] for k in ("requested", "performed", "passed", "level")},
                             {"requested": True, "performed": True, "passed": True, "level": "numeric"})
            self.assertEqual(result["equivalence"]["level_check"], {"performed": True, "passed": True, "message": ""})

    def test_a_reference_stays_in_the_workdir(self):
        os.mkdir(self.path("w"))
        self.run_script(FAMILY_B, workdir="w", reference=True, prefix="p", impl_tag="parent", commit_hash="abc")
        self.assertEqual(os.listdir(self.path("w")), ["p_parent_abc_reference.json"])
        report, result = self.run_script(FAMILY_B.replace("* 1.5", "* 1.6"), workdir="w", eqcheck=True, prefix="p", impl_tag="parent", commit_hash="abc")
        self.assertEqual((report["verdict"], result["status"], result["code"]), ("failed", "EQUIVALENCE_FAILED", 5))
        self.assertEqual((result["equivalence"]["performed"], result["equivalence"]["passed"]), (True, False))
        self.assertIn("is not", result["message"])
        # Right by the script's own tolerance, wrong by the level's.
        changed = FAMILY_B.replace("* 1.5", "* 1.5 + 1e-4")
        report, result = self.run_script(changed, workdir="w", eqcheck=True, prefix="p", impl_tag="parent", commit_hash="abc")
        self.assertEqual(result["status"], "ok")
        report, result = self.run_script(changed, workdir="w", eqcheck=True, prefix="p", impl_tag="parent", commit_hash="abc", eq_level="exact")
        self.assertIn("by the level's own tolerances", result["message"])
        self.assertEqual(result["status"], "EQUIVALENCE_FAILED")

    def test_what_was_requested_but_not_performed_is_said(self):
        report, result = self.run_script(FAMILY_C, eqcheck=True, prefix="p")
        self.assertEqual((report["verdict"], result["status"]), ("failed", "REFERENCE_MISSING"))
        self.assertEqual((result["equivalence"]["requested"], result["equivalence"]["performed"]), (True, False))
        self.assertIsNone(result["equivalence"]["passed"])
        for text in (FAMILY_A, FAMILY_B):
            self.assertEqual(self.run_script(text, eqcheck=True, prefix="p")[1]["status"], "REFERENCE_MISSING")
        os.mkdir(self.path("w"))
        self.write("w/p_reference.json", "{ not json")
        self.assertEqual(self.run_script(FAMILY_A, workdir="w", eqcheck=True, prefix="p")[1]["status"], "REFERENCE_UNREADABLE")

    def test_a_comparison_with_anything_but_the_loaded_reference_is_none(self):
        call = "check_equivalence(result, load_result(f\"{prefix}_reference.json\"))"
        self.assertIn(call, FAMILY_A)
        loaded = "loaded = load_result(f\"{prefix}_reference.json\"); "
        for instead, why in (("check_equivalence(result, result)", "loaded no reference"),
                             ("check_equivalence(result, dict(result))", "loaded no reference"),
                             ("check_equivalence(result, {'sum': 1})", "loaded no reference"),
                             (loaded + "check_equivalence(result, result)", "compared with itself"),
                             (loaded + "check_equivalence(result, {'sum': result['sum'], 'of': 'its own'})", "did not come from load_result"),
                             ("store_result(result, 'own.json'); check_equivalence(result, load_result('own.json'))", "stored own.json before it loaded it")):
            report, result = self.run_script(FAMILY_A.replace(call, instead), reference=True, eqcheck=True, prefix="p")
            self.assertEqual((report["verdict"], result["status"]), ("failed", "REFERENCE_MISSING"), instead)
            self.assertEqual((result["equivalence"]["performed"], result["equivalence"]["passed"]), (False, None), instead)
            self.assertIn(why, result["message"])
        # What is made of the loaded one is the loaded one.
        for instead in (loaded + "check_equivalence(result, {'sum': loaded['sum'], 'list': list(loaded['list'])})", "check_equivalence(current_result=result, reference_result=load_result(filepath=f'{prefix}_reference.json'))"):
            self.assertTrue(self.run_script(FAMILY_A.replace(call, instead), reference=True, eqcheck=True, prefix="p")[1]["equivalence"]["performed"], instead)

    def test_one_spelling_of_a_variable_sets_the_other(self):
        said = "print(json.dumps({'avg_ms': 1, 'said': [os.environ.get(name) for name in %r]}))"
        both = ["IMPL_TAG", "PROB_IMPL_TAG", "EQ_LEVEL", "PROB_EQ_LEVEL", "MODULE", "PROB_MODULE"]
        result = self.run_script(ending(said % both), impl_tag="a", eq_level="exact", module="m")[1]
        self.assertEqual(result["metrics"]["said"], ["a", "a", "exact", "exact", "m", "m"])

    def test_every_code_of_the_taxonomy(self):
        cases = (
            ("from os import no_such_symbol", "IMPORT_MISSING", 1), ("import no_such_module_here", "IMPORT_MISSING", 1),
            ("raise RuntimeError('CAPABILITY_UNSUPPORTED: needs FP8')", "CAPABILITY_UNSUPPORTED", 2),
            ("raise RuntimeError('CUDA is required for this benchmark')", "CAPABILITY_UNSUPPORTED", 2),
            ("raise RuntimeError('CUDA is not available')", "CAPABILITY_UNSUPPORTED", 2),
            ("print(json.dumps({'target_resolved': True, 'error': 'FP8 operations require CUDA device', 'opt_path_hit': False})); sys.exit(2)", "CAPABILITY_UNSUPPORTED", 2),
            ("print(json.dumps({'error_code': 3, 'error_name': 'OPT_PATH_NOT_TRIGGERED', 'error_message': 'm', 'target_resolved': False})); sys.exit(3)", "OPT_PATH_NOT_TRIGGERED", 3),
            ("raise MemoryError()", "MEMORY_INSUFFICIENT", 4), ("raise RuntimeError('CUDA out of memory. Tried')", "MEMORY_INSUFFICIENT", 4),
            ("check_equivalence({'sum': 1}, {'sum': 2})", "EQUIVALENCE_FAILED", 5),
            ("sys.exit(6)", "INVALID_CONFIG", 6), ("pass", "INVALID_CONFIG", 6),
            ("raise RuntimeError('IMPORT_MISSING_SYMBOL: vllm.x')", "IMPORT_MISSING", 1),
            ("print(json.dumps({'target_resolved': False, 'error': 'e', 'attempted_module': 'm', 'attempted_symbol': 's'})); sys.exit(1)", "IMPORT_MISSING", 1),
            ("(lambda a: a)(use_fp8=1)", "API_MISMATCH", None), ("setup().no_such_method()", "API_MISMATCH", None),
            ("raise ValueError('x')", "FAILED", None), ("os.kill(os.getpid(), 11)", "CRASHED", None),
        )
        for body, status, code in cases:
            report, result = self.run_script(ending(body))
            self.assertEqual((result["status"], result["code"]), (status, code), (body, result["message"]))
            self.assertEqual(report["verdict"], "unsupported" if status == "CAPABILITY_UNSUPPORTED" else "failed")
        self.assertIn("tied to the commit", self.run_script(ending("(lambda a: a)(use_fp8=1)"))[1]["message"])
        report, result = self.run_script(ending("time.sleep(60)"), timeout=1)
        self.assertEqual((report["verdict"], result["status"]), ("timed_out", "TIMEOUT"))

    def test_what_is_no_time_is_said(self):
        for body, word in (("return float('nan')", "returned nan"), ("return float('inf')", "returned inf"), ("return -1.0", "returned -1.0"),
                           ("return 10 ** 400", "returned 1000"), ("print(json.dumps({'avg_ms': float('nan')}))", 'avg_ms "NaN"'),
                           ("print(json.dumps({'avg_ms': -2, 'note': 'a NaN \\\" {'}))", "avg_ms -2"), ("print(json.dumps({'avg_ms': '3 ms'}))", 'avg_ms "3 ms"')):
            report, result = self.run_script(ending(body))
            self.assertEqual((result["status"], result["avg_ms"]), ("FAILED", None), (body, result["message"]))
            self.assertIn(word, result["message"])
        report, result = self.run_script(ending("print(json.dumps({'avg_ms': 2.5, 'deep': {'p': float('inf')}}, indent=2))"))
        self.assertEqual((result["status"], result["avg_ms"], result["metrics"]["deep"]), ("ok", 2.5, {"p": "Infinity"}))
        report, result = self.run_script(ending("print('{\\n' * 20000)\nprint(json.dumps({'avg_ms': 4}))"))
        self.assertEqual((result["status"], result["avg_ms"]), ("ok", 4))

    def test_a_missing_reference_that_nobody_asked_for_is_an_exception_like_others(self):
        body = "load_result('none.json')\nreturn 1"
        self.assertEqual(self.run_script(ending(body))[1]["status"], "FAILED")
        self.assertEqual(self.run_script(ending("try: load_result('none.json')\nexcept OSError: pass\nreturn 1"))[1]["status"], "ok")
        self.assertEqual(self.run_script(ending(body), eqcheck=True)[1]["status"], "REFERENCE_MISSING")

    def test_repeats_with_a_reference(self):
        for wishes in ({"reference": True}, {"reference": True, "eqcheck": True}):
            report, result = self.run_script(FAMILY_A, prefix="p", repeats=3, **wishes)
            self.assertEqual((result["status"], len(result["samples_ms"])), ("ok", 3), result["message"])
            self.assertTrue(result["reference"]["written"])
            self.assertEqual(result["equivalence"]["performed"], "eqcheck" in wishes)

    def test_a_refusal_that_goes_on_to_measure_is_a_warning(self):
        text = ending("print(json.dumps({'error_code': 2, 'error_name': 'CAPABILITY_UNSUPPORTED', 'error_message': 'no fp8'}))\n"
                      "print(json.dumps({'avg_ms': 4.5}))")
        report, result = self.run_script(text)
        self.assertEqual((result["status"], result["avg_ms"]), ("ok", 4.5))
        self.assertIn("CAPABILITY_UNSUPPORTED", result["warnings"][0])

    def test_the_unit_is_decided_and_said(self):
        for body, unit, expected, word in (
                ("return 250.0", "auto", 250.0, "larger than the seconds"), ("return 1e-9", "auto", 1e-6, "taken for seconds"),
                ('"""Gives milliseconds."""\nreturn 1e-9', "auto", 1e-9, "documentation"), ("return 0.25", "s", 250.0, "return_unit"),
                ("return 0.25", "ms", 0.25, "return_unit"), ("print(json.dumps({'avg_ms': 7})); return 0.007", "auto", 7.0, "result line")):
            report, result = self.run_script(ending(body), return_unit=unit)
            self.assertAlmostEqual(result["avg_ms"], expected, places=15)
            self.assertIn(word, result["unit_source"])
        self.assertTrue(any("return_unit" in one for one in self.run_script(ending("return 1e-9"))[1]["warnings"]))

    def test_numbers_keep_their_digits_and_everyone_gets_a_result_line(self):
        report, result = self.run_script(FAMILY_B, impl_tag="t", commit_hash="c")
        self.assertEqual(result["result_line"], {"impl_tag": "t", "commit_hash": "c", "device": "cpu", "dtype": "float64", "avg_ms": 0.000123456789,
                                                 "p50_ms": 0.1, "p95_ms": 0.2, "eq_level": "numeric", "std_ms": None})
        report, result = self.run_script(FAMILY_A, impl_tag="t", repeats=4)
        line = result["result_line"]
        self.assertEqual(set(line), {"impl_tag", "commit_hash", "device", "dtype", "avg_ms", "p50_ms", "p95_ms", "eq_level", "std_ms"})
        self.assertEqual(len(result["samples_ms"]), 4)
        self.assertGreater(line["std_ms"], 0)
        self.assertAlmostEqual(line["avg_ms"], sum(result["samples_ms"]) / 4)
        self.assertEqual(result["avg_ms"], line["avg_ms"], "the headline is the mean, not the last run")
        self.assertEqual((line["device"], line["eq_level"]), ("cpu", "numeric"))

    def test_both_spellings_of_the_command_line(self):
        text = FAMILY_C.replace('"--prefix"', '"--file_prefix"').replace("args.prefix", "args.file_prefix") \
            .replace("    args = parser", '    parser.add_argument("output_file")\n    args = parser')
        report, result = self.run_script(text, reference=True, eqcheck=True, prefix="q")
        self.assertEqual(result["status"], "ok", result)
        self.assertTrue(result["equivalence"]["performed"])

    def test_the_older_kind_without_a_prefix_and_with_its_timeit(self):
        text = COMMON + "\nimport timeit\ndef run_test(eqcheck=False, reference=False):\n    t, result = timeit.timeit(lambda: experiment(setup()), number=1)\n    assert result['sum'] > 1\n    return t * 1000 + 100\n"
        self.assertEqual(self.run_script(text)[1]["status"], "ok")

    def test_requirements_are_checked_first_and_always_alike(self):
        needs = {"cuda": True, "feature": "fp8_cutlass", "python": ["json", "no_such_module_here"], "sm": ">=300"}
        first, result = self.run_script(ending("open('/tmp/ran','w')"), requires=needs)
        self.assertEqual((first["verdict"], result["status"], result["code"]), ("unsupported", "CAPABILITY_UNSUPPORTED", 2))
        again = self.run_script(ending("pass"), requires=needs)[1]
        self.assertEqual(result, again)
        answer = self.call("check_capabilities", requires=needs)["requirements"]
        self.assertEqual(answer, result["capability"])
        self.assertEqual({one["requirement"]: one["ok"] for one in answer["items"] if one["need"] in ("json", "no_such_module_here")}, {"python": False})
        self.assertTrue(self.call("check_capabilities", requires={"tools": ["sh"], "python": ["json"], "gpus": ">=0"})["requirements"]["supported"])

    def test_malformed_requirements_are_refused_with_their_place(self):
        self.write("g.py", ending("pass"))
        for needs, place in (({"sm": "=>89"}, "/requires/sm"), ({"bogus": 3}, "/requires/bogus"), ({"cuda": "yes"}, "/requires/cuda"),
                             ({"engine": "docker|"}, "/requires/engine"), ({"python": [""]}, "/requires/python")):
            report = self.call("run_test_generator", script="g.py", requires=needs)
            self.assertEqual(report["status"], "client_error", needs)
            self.assertIn(place, json.dumps(report))
        self.assertEqual(self.call("check_capabilities", requires={"cuda_version": "12.x"})["status"], "client_error")

    def test_a_folder_runs_as_a_batch(self):
        self.write("all/1_a.py", FAMILY_A)
        self.write("all/2_bad.py", ending("raise ValueError('x')"))
        self.write("all/3_c.py", FAMILY_C)
        self.write("all/readme.txt", "no script")
        report = self.call("run_test_generator", folder="all")
        self.assertEqual([one["status"] for one in report["results"]], ["ok", "FAILED", "ok"])
        self.assertEqual(report["verdict"], "failed")

    def test_a_generator_without_a_workdir_is_confined_where_it_can_be(self):
        text = ending("open(%r, 'w').write('x')\nreturn 1" % self.path("escaped"))
        report, result = self.run_script(text)
        if result["isolation"]["level"] == "host":
            self.assertNotEqual(result["isolation"]["why"], "")
        else:
            self.assertFalse(os.path.exists(self.path("escaped")), "what it writes beside itself stays behind its walls")
        report, result = self.run_script(text, isolation="host")
        self.assertEqual((result["isolation"]["level"], result["status"], os.path.exists(self.path("escaped"))), ("host", "ok", True))

    def test_paths_outside_the_roots_are_refused(self):
        report = self.call("run_test_generator", script="/etc/passwd")
        self.assertEqual(report["status"], "client_error")
        self.assertEqual(self.call("run_test_generator", script="none.py")["status"], "client_error")


if __name__ == "__main__":
    unittest.main()
