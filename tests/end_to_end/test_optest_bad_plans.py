"""Plans that are refused before anything runs, with every problem and its place."""

import os
import unittest

from optest_client import PlanFolder, one_case


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
        text = one_case(["true"], more="only_cases: [one, nine]\nskip_cases:\n  - one", assertion="relu")
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
        text = one_case(["true"], assertion="relu").replace("[[4]]", "[[1024, 1024, 1023]]")
        report = self.run_plan(text, code=1)
        self.assertEqual(report["cases"][0]["status"], "unsupported")
        self.assertFalse(os.path.exists(self.path("in.bin")))


if __name__ == "__main__":
    unittest.main()
