"""The table of defences (tests/defences) fits the sources and docs/trust.md, and what makes them removable works."""

import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "defences"), str(ROOT / "tests" / "gpu")]
import check_defences  # noqa: E402
import schemata  # noqa: E402
from schemata import STATEMENT, Change, Defence, Test  # noqa: E402
from table import DEFENCES, NO_ENTRY  # noqa: E402

PYTHON_CHEATS = (ROOT / "tests" / "python" / "cheat_sources.py").read_text(encoding="utf-8")
loader = importlib.machinery.SourceFileLoader("defences_run", str(ROOT / "tests" / "defences" / "run"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("defences_run", loader))
loader.exec_module(tool)

TRUST = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
CHEATS = "".join((ROOT / "tests" / "gpu" / name).read_text(encoding="utf-8") for name in ("check_cheats.py", "cache_cheats.py", "device_cheats.py"))


class Table(unittest.TestCase):
    def test_every_entry_fits_its_source(self):
        for defence in DEFENCES:
            with self.subTest(defence.name):
                schemata.changed(ROOT, [defence])
                # A copy of a build compiles what is changed in its place; what only others include is not compiled.
                self.assertEqual([change.file for change in defence.changes if not change.file.endswith((".cc", ".py"))], [])
        changed = schemata.changed(ROOT, DEFENCES)
        for defence in DEFENCES:
            self.assertIn(f'assay_without("{defence.name}")', "".join(changed[change.file] for change in defence.changes))

    def test_every_row_of_the_page_has_an_entry_or_a_reason(self):
        rows = schemata.rows(TRUST)
        self.assertGreater(len(rows), 20)
        beginnings = [defence.row for defence in DEFENCES if defence.page == "docs/trust.md"] + list(NO_ENTRY)
        for beginning in beginnings:
            self.assertEqual(sum(row.startswith(beginning) for row in rows), 1, beginning)
        for row in rows:
            self.assertTrue(any(row.startswith(beginning) for beginning in beginnings), row)
        for defence in DEFENCES:
            self.assertTrue(defence.row in (ROOT / defence.page).read_text(encoding="utf-8"), defence.name)

    def test_names_are_said_once_and_tests_exist(self):
        names = [defence.name for defence in DEFENCES]
        self.assertEqual(len(names), len(set(names)))
        sources = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/*/*_test.cc"))
        cases = set(re.findall(r'TEST_CASE\(\s*"((?:[^"\\]|\\.)*)"', sources))
        for defence in DEFENCES:
            self.assertTrue(defence.tests, defence.name)
            for test in defence.tests:
                with self.subTest(f"{defence.name}: {test}"):
                    if test.kind == "catch":
                        self.assertIn(test.name, cases)
                    elif test.kind == "gpu":
                        self.assertTrue(f"def {test.name}(self)" in CHEATS)
                        for case in test.cases:
                            self.assertTrue(f'"{case}"' in CHEATS, case)
                    else:
                        module, suite, method = test.name.split(".")
                        self.assertTrue(not test.cases or all(f'"{case}": ' in PYTHON_CHEATS for case in test.cases))
                        folder = "python" if test.kind == "torch" else "end_to_end"
                        text = (ROOT / "tests" / folder / f"{module}.py").read_text(encoding="utf-8")
                        self.assertTrue(f"class {suite}(" in text)
                        self.assertTrue(f"def {method}(self)" in text)

    def test_the_product_knows_nothing_of_it(self):
        for folder in ("src", "tools", "schemas"):
            for path in (ROOT / folder).rglob("*"):
                if path.suffix in (".cc", ".h", ".py", ".json"):
                    self.assertFalse("assay_without" in path.read_text(encoding="utf-8").lower(), path)

    def test_the_tool_lists_them(self):
        listed = subprocess.run([sys.executable, str(ROOT / "tests/defences/run"), "--list"], capture_output=True, text=True, timeout=60, check=True)
        for defence in DEFENCES:
            self.assertIn(f"{defence.name}: {defence.row}", listed.stdout)
        refused = subprocess.run([sys.executable, str(ROOT / "tests/defences/run"), "--only", "nonsense"], capture_output=True, text=True,
                                 timeout=60, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("there is no defence nonsense", refused.stderr)


class Schemata(unittest.TestCase):
    def changed(self, text, *changes, name="a.cc"):
        with tempfile.TemporaryDirectory(prefix="assay-defences-") as folder:
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            defences = [Defence(chr(ord("a") + i), "", (), (change,)) for i, change in enumerate(changes)]
            return schemata.changed(folder, defences, ())[name]

    def test_each_is_behind_its_name(self):
        text = "if (x > 1) y();\nz(x > 2);\n"
        made = self.changed(text, Change("a.cc", "x > 1", "false"), Change("a.cc", "z(x > 2);", "", STATEMENT), Change("a.cc", "x > 1", "false"))
        self.assertEqual(made, 'if ((assay_without("a") || assay_without("c") ? (false) : (x > 1))) y();\n'
                               'if (assay_without("b")) {  } else { z(x > 2); }\n')

    def test_python_is_changed_likewise(self):
        text = "import os\ndef f():\n    a = g(1)\n    h()\n"
        made = self.changed(text, Change("a.py", "g(1)", "2"), Change("a.py", "h()", "pass", STATEMENT), name="a.py")
        whole = schemata.with_head("a.py", made, "", "")
        scope = {}
        exec(compile(whole, "a.py", "exec"), {"g": lambda x: x, "h": lambda: scope.setdefault("called", True)}, scope)
        self.assertIn('(2) if assay_without("a") else (g(1))', whole)
        self.assertIn('    if assay_without("b"):\n        pass\n    else:\n        h()\n', whole)

    def test_what_is_not_there_exactly_once_is_an_error(self):
        for change in (Change("a.cc", "w", ""), Change("a.cc", "x", ""), Change("a.cc", "x", "", around="x, x"), Change("a.cc", "x", "", around="y")):
            with self.subTest(change), self.assertRaises(schemata.NotApplied):
                self.changed("f(x, x); g(x);", change)
        self.assertIn('g((assay_without("a") ? (1) : (x)))', self.changed("f(x, x); g(x);", Change("a.cc", "x", "1", around="g(x)")))

    def test_one_within_another_is_an_error(self):
        with self.assertRaises(schemata.NotApplied):
            self.changed("f(x);", Change("a.cc", "f(x);", "", STATEMENT), Change("a.cc", "x", "1"))

    def test_a_copy_of_a_build_compiles_only_what_was_changed(self):
        ninja = ("build build.ninja: RERUN_CMAKE x.cmake\n  pool = console\n\n"
                 "build a.o: CXX /r/a.cc || order\n  DEFINES = -DFOLDER=\\\"/r/build/bin\\\"\n  FLAGS = -include /r/build/pch.hxx\n\n"
                 "build b.o: CXX /r/b.cc || order\n  DEFINES = -DFOLDER=\\\"/r/build/bin\\\" -DOTHER=1\n\n"
                 "build p: LINK a.o b.o\n  POST_BUILD = :\n")
        made = schemata.redirected(ninja, {"/r/a.cc": "/c/a.cc"}, "/r/build", "/r/copy", lambda source, names: (source, names) == ("/r/b.cc", ["FOLDER"]))
        self.assertEqual(made, ("\n"
                                "build a.o: CXX /c/a.cc || order\n  DEFINES = -DFOLDER=\\\"/r/build/bin\\\"\n  FLAGS = -include /r/build/pch.hxx\n\n"
                                "build b.o: CXX /r/b.cc || order\n  DEFINES = -DFOLDER=\\\"/r/copy/bin\\\" -DOTHER=1\n\n"
                                "build p: LINK a.o b.o\n  POST_BUILD = :\n"))


class Outcomes(unittest.TestCase):
    """What counts as a test that fails: an assertion that does not hold, not a test that could not look."""

    RAN = ("FAIL: test_a (__main__.Cheats.test_a) [a constant]\n...\nAssertionError: 'passed' != 'wrong_output'\n- passed\n"
           "FAIL: test_a (__main__.Cheats.test_a) [by data] (n=4096)\n...\nAssertionError: 1 != 2\nRan 1 test in 1.0s\nFAILED (failures=2)\n")

    def test_each_case_on_a_gpu_is_told_by_its_name(self):
        self.assertEqual(check_defences.outcome(self.RAN, "test_a", ["a constant", "by data", "the input"]),
                         {"a constant": "fails", "by data": "fails", "the input": "STILL PASSES"})
        self.assertEqual(check_defences.outcome(self.RAN, "test_a", []), {"": "fails"})
        self.assertEqual(check_defences.failed(self.RAN), {("test_a", "a constant"): "'passed' != 'wrong_output'", ("test_a", "by data"): "1 != 2"})
        self.assertEqual(check_defences.outcome("FAIL: test_b (__main__.Cheats.test_b)\nRan 1 test in 0s\n", "test_b", []), {"": "fails"})
        self.assertEqual(check_defences.outcome("Ran 1 test in 0s\nOK\n", "test_b", []), {"": "STILL PASSES"})
        for said in ("Ran 0 tests in 0s\nOK (skipped=1)\n", "ERROR: test_b (__main__.Cheats.test_b)\nRan 1 test in 0s\n", "no end", ""):
            self.assertEqual(check_defences.outcome(said, "test_b", []), {"": "had an error"})

    def test_here_likewise(self):
        here, case = Test("python", "a.B.test_c"), Test("catch", "it works", "test_engine")
        for test, code, said, how in (
                (here, 0, "Ran 1 test in 1s\n\nOK", "passes"), (here, 1, "FAIL: test_c\nRan 1 test in 1s", "fails"),
                (here, 1, "ERROR: test_c\nRan 1 test in 1s", "had an error"), (here, 0, "Ran 0 tests in 0s\n\nOK", "was not run"),
                (here, 0, "Ran 1 test in 0s\n\nOK (skipped=1)", "was not run"), (case, 0, "All tests passed", "passes"),
                (case, 1, "test cases: 1 | 1 failed", "fails"), (case, -11, "", "ended with -11"), (case, 0, "No test cases matched 'it works'", "was not found")):
            self.assertEqual(tool.outcome(test, code, said)[0], how, said)
        self.assertTrue(tool.outcome(case, None, "", 1.0)[0].startswith("fails: no end"))
        self.assertTrue(tool.outcome(case, None, "", 100.0)[0].startswith("did not end"))


if __name__ == "__main__":
    unittest.main()
