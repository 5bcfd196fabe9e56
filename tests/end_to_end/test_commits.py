"""benchmark_commits on a toy repository: a head that is faster, one that is wrong, and what else goes wrong."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from tool_client import ToolFolder

SLOW = "import time\n\ndef work(n):\n    time.sleep(0.03)\n    return sum(range(n))\n"
FAST = "def work(n):\n    return n * (n - 1) // 2\n"
WRONG = "def work(n):\n    return n * (n + 1) // 2\n"

GENERATOR = '''
import json, os, time

def setup():
    import toy
    return toy

def experiment(data):
    return data.work(1000)

def store_result(result, filepath):
    with open(filepath, "w") as file: json.dump(result, file)

def load_result(filepath):
    with open(filepath) as file: return json.load(file)

def check_equivalence(current_result, reference_result):
    assert current_result == reference_result, f"{current_result} is not {reference_result}"

def run_test(eqcheck: bool = False, reference: bool = False, prefix: str = '') -> float:
    data = setup()
    begun = time.perf_counter()
    result = experiment(data)
    elapsed = time.perf_counter() - begun
    name = f"{prefix}_{os.environ['PROB_IMPL_TAG']}_reference.json"
    if reference: store_result(result, name)
    if eqcheck: check_equivalence(result, load_result(name))
    print(json.dumps({"avg_ms": elapsed * 1000 + 1, "device": "cpu"}))
    return elapsed
'''


class Commits(ToolFolder):
    def setUp(self):
        super().setUp()
        self.repo = self.path("repo")
        os.mkdir(self.repo)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("remote", "add", "origin", "https://example.org/someone/toy.git")
        self.base = self.commit(SLOW, "Slow")
        self.head = self.commit(FAST, "Make it fast\n\nBy a formula.")
        self.wrong = self.commit(WRONG, "Make it wrong")
        # A checkout with everything that must survive: a change, a new file, a stash.
        self.write("repo/toy.py", "def work(n): return 7\n")
        self.git("stash")
        self.write("repo/toy.py", "uncommitted\n")
        self.write("repo/untracked.txt", "mine\n")
        self.write("g.py", GENERATOR)

    def git(self, *arguments):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", self.repo, *arguments],
                              check=True, capture_output=True, text=True, timeout=60).stdout

    def commit(self, text, message):
        self.write("repo/toy.py", text)
        self.git("add", "toy.py")
        self.git("commit", "--quiet", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def whole(self):
        """Every byte of the repository."""
        found = {}
        for folder, _, files in os.walk(self.repo):
            for name in files:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.repo)] = file.read()
        return found

    def records(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def benchmark(self, **arguments):
        before = self.whole()
        report = self.call("benchmark_commits", repo="repo", python=sys.executable, **arguments)
        self.assertEqual(self.whole(), before, "not one byte of the user's repository changes")
        return report

    def test_a_faster_head_is_told_with_its_interval(self):
        report = self.benchmark(head=self.head, script="g.py", repeats=5, dataset_path="data.jsonl")
        result = report["result"]
        self.assertEqual((report["verdict"], result["status"], result["fault"]), ("passed", "success", "none"), result)
        self.assertEqual((result["base"], result["head"]), (self.base, self.head))
        self.assertEqual(result["environment"]["kind"], "worktree")
        self.assertTrue(result["environment"]["reason"])
        self.assertEqual(result["equivalence"]["head"]["passed"], True)
        self.assertTrue(result["checkout"]["untouched"])
        speedup = result["speedup"]["head"]
        self.assertEqual(speedup["verdict"], "faster")
        self.assertGreater(speedup["low"], 2)
        self.assertEqual([len(result["samples_ms"][side]) for side in ("base", "head")], [5, 5])
        record = self.records("data.jsonl")[0]
        self.assertEqual(record["repo"], "someone/toy")
        self.assertEqual(record["instance_id"], "someone__toy-" + self.head[:7])
        self.assertEqual((record["base_commit"], record["head_commit"], record["test_failed"]), (self.base, self.head, "No"))
        self.assertEqual(record["duration_changes"][0]["base"], result["samples_ms"]["base"])
        self.assertGreater(record["human_performance"], 2)
        self.assertIn("+    return n * (n - 1) // 2", record["patch"])
        self.assertEqual(record["gt_commit_message"], "Make it fast\n\nBy a formula.")
        # The same commit again is the same line.
        again = self.benchmark(head=self.head, script="g.py", repeats=2, dataset_path="data.jsonl")
        self.assertEqual(again["result"]["dataset"]["record"], "replaced")
        self.assertEqual(len(self.records("data.jsonl")), 1)

    def test_a_wrong_head_is_the_codes_fault(self):
        report = self.benchmark(head=self.wrong, base=self.base, script="g.py", repeats=2, dataset_path="data.jsonl")
        result = report["result"]
        self.assertEqual((report["verdict"], result["status"], result["fault"]), ("failed", "equivalence_failed", "code"))
        self.assertIn("500500 is not 499500", result["cause"])
        # From anywhere, when everything of the job is gone.
        again = subprocess.run(["sh", "-c", result["command"]], cwd="/", capture_output=True, text=True, timeout=60)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("500500 is not 499500", again.stderr)
        self.assertNotIn("speedup", result)
        self.assertEqual(self.records("data.jsonl")[0]["test_failed"], "Yes")
        self.assertTrue(any(one["name"].startswith("log-") for one in report["artifacts"]), "the log of what failed is kept")

    INLINE = GENERATOR.replace("    if reference: store_result(result, name)\n", "    if reference: json.dump(result, open(name, 'w'))\n") \
        .replace("    if eqcheck: check_equivalence(result, load_result(name))\n", "")

    def test_a_head_that_nobody_compared_is_no_success(self):
        self.assertNotIn("if eqcheck", self.INLINE)
        self.write("g.py", self.INLINE)
        for more in ({"eq_level": "exact"}, {}):
            report = self.benchmark(head=self.wrong, base=self.base, script="g.py", repeats=2, dataset_path="data.jsonl", **more)
            result = report["result"]
            self.assertEqual((report["verdict"], result["status"], result["fault"]), ("failed", "equivalence_not_performed", "test"), result["cause"])
            seen = result["equivalence"]["head"]
            self.assertEqual((seen["requested"], seen["performed"], seen["passed"]), (True, False, None))
            self.assertIn("not performed", result["cause"])
            self.assertEqual(len(result["samples_ms"]["head"]), 2, "what was measured is told")
            self.assertEqual(self.records("data.jsonl")[0]["test_failed"], "Yes")
        # One that stores by itself and compares by its check_equivalence is compared.
        self.write("g.py", GENERATOR.replace("if reference: store_result(result, name)", "if reference: json.dump(result, open(name, 'w'))"))
        self.assertEqual(self.benchmark(head=self.wrong, base=self.base, script="g.py", repeats=1)["result"]["status"], "equivalence_failed")
        self.assertEqual(self.benchmark(head=self.head, script="g.py", repeats=1)["result"]["status"], "success")

    def test_a_comparison_that_met_nothing_of_bases_is_no_success(self):
        stores = "if reference: store_result(result, name)"
        compares = "check_equivalence(result, load_result(name))"
        for change in ((stores, "pass"), (compares, "check_equivalence(result, json.loads(json.dumps(result)))")):
            self.write("g.py", GENERATOR.replace(*change))
            result = self.benchmark(head=self.head, script="g.py", repeats=2)["result"]
            self.assertEqual((result["status"], result["fault"]), ("equivalence_not_performed", "test"), change)
            self.assertEqual(result["equivalence"]["head"]["performed"], False)
        # A file that lies elsewhere was there before: base did not store it.
        self.write("other.json", str(sum(range(1000))))
        self.write("g.py", GENERATOR.replace(compares, f"check_equivalence(result, load_result({self.path('other.json')!r}))"))
        result = self.benchmark(head=self.head, script="g.py", repeats=2)["result"]
        self.assertEqual((result["status"], result["equivalence"]["head"]["performed"]), ("equivalence_not_performed", False))
        self.assertIn("no file that base stored", result["cause"])

    def test_what_an_engine_cannot_run_is_the_environments_fault_in_its_own_words(self):
        # An engine that is there, and that cannot get the image when it comes to a run.
        self.write("bin/podman", "#!/bin/sh\n[ \"$1\" = run ] || { echo 4.0; exit 0; }\n"
                   "for word; do [ \"$word\" = python3 ] && { echo 'Error: no such image: x' >&2; exit 125; }; done\nexit 0\n")
        os.chmod(self.path("bin/podman"), 0o755)
        report = self.call("benchmark_commits", env={"PATH": self.path("bin") + ":" + os.environ["PATH"]}, repo="repo", head=self.head, script="g.py",
                           environment="container", engine="podman", image="x", repeats=2)
        result = report["result"]
        self.assertEqual(result["fault"], "environment", report["summary"])
        self.assertIn("no such image: x", result["cause"])

    def test_a_configuration_that_forbids_docker_runs_without_its_image(self):
        self.write("c.yaml", f"repo_path: repo\nhead_commit: {self.head}\nuse_docker: false\ndocker_image: localhost/none\n")
        report = self.call("benchmark_commits", config="c.yaml", script="g.py", python=sys.executable, repeats=2)
        self.assertEqual(report["result"]["environment"]["kind"], "worktree", report["summary"])

    def test_a_name_that_the_checkouts_own_module_lacks_is_the_codes_fault(self):
        self.write("g.py", GENERATOR.replace("import toy\n", "from toy import no_such_name\n"))
        result = self.benchmark(head=self.head, script="g.py", repeats=1)["result"]
        self.assertEqual((result["status"], result["fault"]), ("base_failed", "code"), result["cause"])
        self.write("g.py", GENERATOR.replace("import toy\n", "from json import no_such_name\n"))
        result = self.benchmark(head=self.head, script="g.py", repeats=1)["result"]
        self.assertEqual((result["status"], result["fault"]), ("base_failed", "environment"), result["cause"])

    def test_main_and_a_patch_are_further_sides(self):
        self.write("p.patch", subprocess.run(["git", "-C", self.repo, "diff", self.base, self.head], check=True, capture_output=True, text=True).stdout)
        self.git("branch", "other", self.base)
        report = self.benchmark(head=self.head, main="other", patch="p.patch", script="g.py", repeats=3)
        result = report["result"]
        self.assertEqual(result["status"], "success", result["cause"])
        self.assertEqual(set(result["samples_ms"]), {"base", "head", "main", "patched"})
        self.assertEqual(result["speedup"]["patched"]["verdict"], "faster")
        self.write("p.patch", "--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-x\n+y\n")
        result = self.benchmark(head=self.head, patch="p.patch", script="g.py", repeats=1)["result"]
        self.assertEqual((result["status"], result["fault"]), ("patch_failed", "code"))
        again = subprocess.run(["sh", "-c", result["command"]], cwd="/", capture_output=True, text=True, timeout=60)
        self.assertIn("none.py", again.stderr)

    def test_an_install_that_fails_is_the_environments_fault(self):
        report = self.benchmark(head=self.head, script="g.py", environment="worktree", setup_commands=["echo one", ["true"]],
                                install_commands=["echo no compiler here >&2; exit 9"], repeats=1)
        result = report["result"]
        self.assertEqual((result["status"], result["fault"]), ("install_failed", "environment"))
        self.assertIn("base, install: exit code 9", result["cause"])
        self.assertIn("no compiler here", result["tail"])
        again = subprocess.run(["sh", "-c", result["command"]], cwd="/", capture_output=True, text=True, timeout=60)
        self.assertEqual((again.returncode, again.stderr), (9, "no compiler here\n"))
        self.assertIn('"$d"/base', result["sides"]["base"]["phases"][0]["command"])

    def test_a_venv_is_chosen_where_something_is_installed(self):
        report = self.benchmark(head=self.head, script="g.py", repeats=1,
                                install_commands=["python -c 'import sys; assert sys.prefix != sys.base_prefix, sys.prefix'"])
        result = report["result"]
        self.assertEqual((result["environment"]["kind"], result["status"]), ("venv", "success"), result["cause"])
        self.assertIn("install commands", result["environment"]["reason"])

    def test_a_dependency_is_built_at_its_commit(self):
        os.mkdir(self.path("dep"))
        run = lambda *a: subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", self.path("dep"), *a], check=True, capture_output=True)
        run("init", "--quiet", "--initial-branch=main")
        self.write("dep/build.sh", "echo 'value = 3' > cache_ops.py\n")
        run("add", ".")
        run("commit", "--quiet", "-m", "x")
        run("tag", "v1")
        self.write("dep/build.sh", "exit 1\n")
        run("commit", "--quiet", "-am", "broken")
        self.write("g.py", GENERATOR.replace("import toy\n", "import toy, cache_ops\n    assert cache_ops.value == 3\n"))
        dependency = {"name": "cacheflow", "repo": self.path("dep"), "ref": "v1", "build_commands": ["sh build.sh"]}
        result = self.benchmark(head=self.head, script="g.py", repeats=1, dependencies=[dependency])["result"]
        self.assertEqual(result["status"], "success", result["cause"])
        result = self.benchmark(head=self.head, script="g.py", repeats=1, dependencies=[{**dependency, "ref": "main"}])["result"]
        self.assertEqual((result["status"], result["fault"]), ("install_failed", "environment"))
        result = self.benchmark(head=self.head, script="g.py", repeats=1)["result"]
        self.assertEqual((result["status"], result["fault"]), ("base_failed", "environment"), "a missing module is the environment's fault")

    def test_a_submodule_beside_the_repository_is_found(self):
        self.git("stash", "--quiet")
        self.git("config", "--unset", "remote.origin.url")
        os.mkdir(self.path("dep"))
        run = lambda *a: subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", self.path("dep"), *a], check=True, capture_output=True)
        run("init", "--quiet", "--initial-branch=main")
        self.write("dep/x.py", "value = 3\n")
        run("add", ".")
        run("commit", "--quiet", "-m", "x")
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../dep", "sub")
        base = self.commit(SLOW, "With a submodule")
        head = self.commit(FAST, "Fast")
        self.write("g.py", GENERATOR.replace("import toy\n", "import toy, sub.x\n    assert sub.x.value == 3\n"))
        result = self.benchmark(head=head, base=base, script="g.py", repeats=1)["result"]
        self.assertEqual(result["status"], "success", result["cause"])
        shutil.move(self.path("dep"), self.path("gone"))
        result = self.benchmark(head=head, base=base, script="g.py", repeats=1)["result"]
        self.assertEqual((result["status"], result["fault"]), ("install_failed", "environment"))
        self.assertIn("fatal: ", result["cause"])
        self.assertIn("does not exist", result["cause"])

    def test_extractions_and_a_configuration_are_inputs(self):
        self.write("ex/extraction_summary.json", "{}")
        self.write(f"ex/{self.head}.json", json.dumps({"commit_hash": self.head, "parent_hash": self.base, "message": "m", "affected_apis": ["toy.work"]}))
        self.write(f"ex/{self.wrong}.json", json.dumps({"commit_hash": self.wrong, "parent_hash": self.base, "message": "m"}))
        self.write(f"gens/{self.head[:8]}_test_case_generator.py", GENERATOR)
        self.write(f"gens/{self.wrong}_test_case_generator.py", GENERATOR)
        self.write("config.yaml", "repo_path: repo\nextractions_dir: ex\ngenerators_dir: gens\nuse_docker: false\nsetup_commands: ['true']\n")
        before = self.whole()
        report = self.call("benchmark_commits", config="config.yaml", python=sys.executable, repeats=2, dataset_path="d.jsonl", wait_s=120)
        self.assertEqual(self.whole(), before)
        self.assertEqual({one["head"]: one["status"] for one in report["results"]}, {self.head: "success", self.wrong: "equivalence_failed"})
        self.assertEqual(report["verdict"], "failed")
        lines = self.records("d.jsonl")
        self.assertEqual({one["head_commit"]: one.get("api") for one in lines}, {self.head: ["toy.work"], self.wrong: None})

    def test_one_bad_extraction_refuses_only_itself_and_unknown_keys_are_told(self):
        self.write(f"ex/{self.head}.json", json.dumps({"commit_hash": self.head, "parent_hash": self.base}))
        self.write("ex/bad.json", "{")
        self.write("ex/worse.json", '{"commit_hash": 3}')
        self.write("config.yaml", "x: &x {a: 1}\nrepo_path: repo\nextraction_dir: ex\nextractions_dir: ex\nscript: g.py\npush_to_hf: true\n")
        report = self.call("benchmark_commits", config="config.yaml", python=sys.executable, repeats=1, wait_s=120)
        self.assertEqual([one["status"] for one in report["results"]], ["bad_extraction", "bad_extraction", "success"], report)
        self.assertEqual([os.path.basename(one.get("file", "")) for one in report["results"]], ["bad.json", "worse.json", ""])
        self.assertEqual(report["verdict"], "failed")
        self.assertIn("bad.json", report["summary"])
        self.assertEqual([(one["line"], one["where"]) for one in report["problems"]], [(1, "x"), (3, "extraction_dir"), (6, "push_to_hf")])
        self.assertIn("did you mean 'extractions_dir'?", report["problems"][1]["message"])
        os.remove(self.path(f"ex/{self.head}.json"))
        report = self.call("benchmark_commits", config="config.yaml", python=sys.executable)
        self.assertEqual((report["verdict"], "not one extraction" in report["summary"]), ("contract_invalid", True))

    def test_what_is_not_there_is_said(self):
        for arguments, status in (({"head": "no_such_commit"}, "no_commit"), ({"head": self.base}, "no_commit"), ({"head": "--all"}, "no_commit")):
            result = self.benchmark(script="g.py", **arguments)["result"]
            self.assertEqual((result["status"], result["fault"]), (status, "environment"), arguments)
        self.assertEqual(self.benchmark(head=self.head)["result"]["status"], "no_test")
        report = self.benchmark(head=self.head, script="g.py", environment="container")
        self.assertEqual((report["verdict"], report["result"]["status"]), ("unsupported", "unsupported"))
        self.assertIn("container", report["result"]["cause"])
        self.write("bad.yaml", "repo_path: [\n")
        self.assertEqual(self.call("benchmark_commits", config="bad.yaml")["verdict"], "contract_invalid")

    def test_hooks_of_the_repository_do_not_run(self):
        hook = self.write("repo/.git/hooks/post-checkout", "#!/bin/sh\ntouch " + self.path("hooked") + "\n")
        os.chmod(hook, 0o755)
        shutil.copy(hook, self.path("repo/.git/hooks/reference-transaction"))
        self.assertEqual(self.benchmark(head=self.head, script="g.py", repeats=1)["result"]["status"], "success")
        self.assertFalse(os.path.exists(self.path("hooked")))


if __name__ == "__main__":
    unittest.main()
