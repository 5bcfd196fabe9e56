"""run_scenario: audits of files and logs, and runs on the host."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from assay_client import ASSAY
from tool_client import ToolFolder

DEVCONTAINER = """// A development container.
{
  "name": "x", // the name
  /* taken
     as it is */
  "image": "ghcr.io/someone/xformers-builder:latest",
  "cacheFrom": "ghcr.io/someone/cache",
  "build": {
    "dockerfile": "Dockerfile",
    "cacheFrom": ["a", "b"],
    "options": ["--cache-from=c"],
  },
  "postCreateCommand": "pip install -e ./xformers",
  "url": "http://not-a-comment/*x*/",
}
"""

DOCKERFILE = """# comment with --mount=type=cache
FROM nvidia/cuda:12.8.0-devel-ubuntu22.04 AS base
RUN apt-get update \\
  && pip download torch \\
  && echo done
FROM xformers-builder:1 AS tools
FROM base
COPY --from=tools /a /b
COPY --from=someone/wheels:latest /c /d
RUN --mount=type=cache,target=/cache pip install torch
RUN pip install --no-deps -e /src/xformers && python setup.py develop
"""

GOOD_DOCKERFILE = """FROM nvidia/cuda:12.8.0-devel-ubuntu22.04
RUN apt-get update && apt-get install -y cmake ninja-build && rm -rf /var/lib/apt/lists/*
RUN python3 -m pip install --no-cache-dir torch --index-url https://example.org/cu128
"""

SCRIPT = """#!/bin/bash
read -p "Your name: " NAME
docker image rm -f xformers-builder || true
FORCE_CUDA=1 \\
  python3 -m pip install --no-build-isolation --no-deps -e xformers
"""


class Audits(ToolFolder):
    def audit(self, **arguments):
        report = self.call("run_scenario", mode="audit", **arguments)
        found = report["result"]["audit"]
        return report["verdict"], [(one["kind"], one["line"]) for one in found["violations"]], found

    def test_a_devcontainer_with_comments(self):
        self.write("devcontainer.json", DEVCONTAINER)
        verdict, violations, found = self.audit(devcontainer="devcontainer.json")
        self.assertEqual(verdict, "failed")
        self.assertEqual(set(violations), {("prebuilt_image", 6), ("cache_from", 7), ("cache_from", 10), ("cache_from", 11), ("builder_image", 6)})
        self.assertEqual([one["line"] for one in found["findings"] if one["kind"] == "compile"], [13])
        self.assertTrue(found["violations"][0]["place"].endswith("devcontainer.json:6"))
        self.write("devcontainer.json", '{"a": [1, 2,, ]}')
        self.assertEqual(self.audit(devcontainer="devcontainer.json")[1], [("unreadable", 1)])

    def test_a_dockerfile(self):
        self.write("Dockerfile", DOCKERFILE)
        verdict, violations, found = self.audit(dockerfile="Dockerfile")
        self.assertEqual(sorted(violations), sorted([("prefetch", 4), ("builder_image", 6), ("copy_from_image", 9), ("cache_mount", 10), ("second_compile", 11)]))
        self.assertEqual(found["compiles_declared"], 2)
        self.write("Dockerfile", GOOD_DOCKERFILE)
        self.assertEqual(self.audit(dockerfile="Dockerfile")[:2], ("passed", []))

    def test_ways_around_the_plain_instructions_of_a_dockerfile(self):
        self.write("Dockerfile", """ARG BASE="xformers-builder:1"
ARG KIND=devel
FROM nvidia/cuda:${KIND} AS one
FROM ${BASE}
FROM $NONE${OTHER:-someone/xformers-builder}
ENV CMAKE_CXX_COMPILER_LAUNCHER=ccache PIP_NO_CACHE_DIR=1
ENV PIP_FIND_LINKS=/wheels
COPY --from=0 /a /b
COPY --from=2 /a /b
COPY --from=99999999999999999999 /a /b
RUN --mount=type=bind,from=someone/wheels,target=/w echo
RUN --mount=from=one,target=/w echo
RUN --mount=type=bind,from=xformers-builder,target=/w echo
ENV PLAIN=$
""")
        verdict, violations, found = self.audit(dockerfile="Dockerfile")
        self.assertEqual(violations, [("builder_image", 4), ("builder_image", 5), ("compiler_cache", 6), ("prefetch", 7), ("copy_from_image", 9),
                                      ("copy_from_image", 10), ("copy_from_image", 11), ("builder_image", 13)])

    def test_scripts_and_the_compile_over_all_files(self):
        self.write("post.sh", SCRIPT)
        verdict, violations, found = self.audit(post_create="post.sh")
        self.assertEqual((verdict, violations, found["compiles_declared"]), ("passed", [], 1))
        self.assertIn(("prompt", 2), [(one["kind"], one["line"]) for one in found["findings"]])
        self.write("more.sh", "pip install -e xformers\nccache -s\ndocker build --cache-from x .\n")
        verdict, violations, found = self.audit(post_create="post.sh", scripts=["more.sh"])
        self.assertEqual(sorted(violations), [("cache_from", 3), ("compiler_cache", 2), ("second_compile", 1)])

    def test_what_counts_as_the_compile_can_be_said(self):
        self.write("post.sh", "make all\nmake all\n")
        self.assertEqual(self.audit(post_create="post.sh", compile={"commands": ["^make"]})[2]["compiles_declared"], 2)
        for bad in ("(", "(a)\\1", "a{1000}"):
            report = self.call("run_scenario", mode="audit", post_create=self.path("post.sh"), compile={"commands": [bad]})
            self.assertEqual(report["status"], "client_error", bad)
        self.assertEqual(self.call("run_scenario", mode="audit")["status"], "client_error")

    def test_an_audit_answers_the_criteria_that_it_can_see(self):
        self.write("post.sh", "pip install -e x\npip install --no-index -e x\n")
        report = self.call("run_scenario", mode="audit", post_create="post.sh")
        self.assertEqual([one["ok"] for one in report["result"]["criteria"]], [False, True, None, None])
        report = self.call("run_scenario", mode="audit_log", log=self.LOG, compile={"target": "xformers"})
        self.assertEqual([one["ok"] for one in report["result"]["criteria"]], [True, True, True, None])

    LOG = ("--- Scenario Runner ---\nStart: Mon\n(time devcontainer up --workspace-folder .)\n"
           "#1 [internal] load build definition\n#4 [1/3] FROM docker.io/nvidia/cuda\n#4 CACHED\n"
           "\x1b[1m#5 [2/3] RUN apt-get\x1b[0m\n#5 DONE 3.1s\n"
           "Downloading 10%\rDownloading 100%\rSuccessfully installed xformers-0.0.1\r\n"
           '{"outcome":"success","containerId":"abc"}\n\nreal\t12m3.500s\nuser\t0m1.000s\nsys\t0m0.100s\nEnd: Mon\n')

    def log(self, text, **arguments):
        report = self.call("run_scenario", mode="audit_log", log=text, compile={"target": "xformers"}, **arguments)
        return report["verdict"], report["result"]

    def test_a_log(self):
        verdict, result = self.log(self.LOG)
        self.assertEqual((verdict, result["compile_count"], result["cache_violations"]), ("passed", 1, []))
        self.assertEqual(result["timed"], [{"command": "(time devcontainer up --workspace-folder .)", "real_s": 723.5}])
        self.assertEqual((result["commands_echoed"], result["timestamps"], result["outcome"]["outcome"]), (True, True, "success"))
        self.assertEqual([one["kind"] for one in result["findings"]], ["base_image_reused", "compile"])

    def test_caches_and_second_compiles_in_a_log(self):
        for extra, kind in (("#6 [3/3] RUN make\n#6 CACHED\n", "step_cached"), (" => CACHED [2/5] RUN x\n", "step_cached"), ("  Using cached xformers-0.0.1.tar.gz\n", "wheel_cached"),
                            ("cache hit (direct)   12\n", "compiler_cache"), ("  Hits:    3 / 10 (30.00 %)\n", "compiler_cache"), ("Cache hits    2\n", "compiler_cache"), ("---> Using cache\n", "step_cached"),
                            ("  Using cached torch-2.0-cp311.whl (1 MB)\n", "wheel_cached"), ("#3 importing cache manifest from x\n", "cache_from"),
                            ("FROM xformers-builder\n", "builder_image")):
            verdict, result = self.log(self.LOG + extra)
            self.assertEqual((verdict, [one["kind"] for one in result["cache_violations"]]), ("failed", [kind]), extra)
        verdict, result = self.log(self.LOG + "Successfully installed numpy-1 xformers-0.0.2\n")
        self.assertEqual((verdict, result["compile_count"]), ("failed", 2))
        for extra in ("cache hit (direct)   0\n", "  Hits:    0 / 10 (0.00 %)\n", "Using cached metadata\n"):
            self.assertEqual(self.log(self.LOG + extra)[0], "passed", extra)
        self.assertEqual(self.log("nothing here\n")[0], "failed")
        self.assertEqual(self.log("\x1b[" * 100000 + "\r" * 1000 + "x" * 1000000)[1]["compile_count"], 0)


class Example(ToolFolder):
    """examples/scenario-a keeps what it promises, as far as it can be seen without building it."""

    PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/scenario-a")

    def test_it_has_no_cache_no_builder_image_and_one_compile(self):
        shutil.copytree(self.PLACE, self.path("a"))
        report = self.call("run_scenario", mode="audit", dockerfile="a/.devcontainer/Dockerfile.scenario-a", devcontainer="a/.devcontainer/devcontainer.json",
                           post_create="a/.devcontainer/post-create-scenario-a.sh", scripts=["a/scenario_a.sh"])
        self.assertEqual(report["result"]["audit"]["violations"], [])
        self.assertEqual(report["result"]["audit"]["compiles_declared"], 1)
        self.assertNotIn("prompt", [one["kind"] for one in report["result"]["audit"]["findings"]])

    def test_a_devcontainer_is_edited_without_its_shortcuts(self):
        self.write("from.json", DEVCONTAINER)
        subprocess.run([sys.executable, os.path.join(self.PLACE, "edit_devcontainer.py"), self.path("from.json"), self.path("to.json")], check=True, timeout=60)
        with open(self.path("to.json"), encoding="utf-8") as file:
            edited = json.load(file)
        self.assertNotIn("image", edited)
        self.assertNotIn("cacheFrom", edited)
        self.assertEqual(edited["build"], {"dockerfile": "Dockerfile.scenario-a"})
        self.assertEqual(edited["url"], "http://not-a-comment/*x*/")

    def test_its_runner_works_in_a_folder_of_its_own_and_writes_one_timed_log(self):
        shutil.copytree(self.PLACE, self.path("a"))
        os.mkdir(self.path("repo"))
        self.write("repo/attention_test.py", "print('(2, 4, 8)')\n")
        for command in (["init", "--quiet"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "x"]):
            subprocess.run(["git", "-C", self.path("repo"), *command], check=True, timeout=60)
        for name in ("docker", "devcontainer"):
            self.write(f"bin/{name}", f"#!/bin/sh\necho {name} \"$@\" >> {self.path('called')}\n")
            os.chmod(self.path(f"bin/{name}"), 0o755)
        done = subprocess.run(["bash", self.path("a/scenario_a.sh"), self.path("repo"), "only-this:1"], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PATH": self.path("bin") + ":" + os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.path("called"), encoding="utf-8") as file:
            called = file.read().splitlines()
        self.assertEqual(called[0], "docker image rm -f only-this:1")
        self.assertIn("--build-no-cache", called[1])
        self.assertIn("attention_test.py", called[2])
        self.assertTrue(os.path.exists(self.path("repo/attention_test.py")), "the repository stays")
        [log] = os.listdir(self.path("a/benchmarks"))
        self.assertRegex(log, r"^\d{8}_\d{6}_scenario_a\.log$")
        seen = self.call("run_scenario", mode="audit_log", log_path=f"a/benchmarks/{log}")["result"]
        self.assertEqual((seen["commands_echoed"], seen["timestamps"], len(seen["timed"])), (True, True, 5))


class Runs(ToolFolder):
    def scenario(self, post, verify="test -s built", **arguments):
        self.write("w/post.sh", 'cc() { cp "$1" built; echo COMPILED once; }\n' + post)
        self.write("w/src/a.c", "int main() { return 0; }\n")
        before = sorted(os.listdir(self.path("w")))
        report = self.call("run_scenario", workspace="w", post_create="w/post.sh", verify=verify, engine="host",
                           compile={"commands": ["^cc "], "log": ["^COMPILED"]}, name="toy scenario/1", **arguments)
        self.assertEqual(sorted(os.listdir(self.path("w"))), before, "the user's folder is not worked in")
        return report, {one["criterion"]: one["ok"] for one in report["result"].get("criteria", [])}

    def test_a_clean_build_meets_every_criterion(self):
        report, criteria = self.scenario("set -e\ncc src/a.c\necho $HOME > home; test ! -e $HOME/.bashrc\n")
        self.assertEqual((report["verdict"], criteria), ("passed", {"compiled_exactly_once": True, "no_cache_or_builder_image": True,
                                                                    "commands_echoed_with_times": True, "verified_inside_the_run": True}), report["summary"])
        log = report["artifacts"][-1]
        self.assertRegex(log["name"], r"^\d{8}_\d{6}_toy_scenario_1\.log$")

    def test_a_second_compile_a_cache_and_a_failed_verification_are_found(self):
        report, criteria = self.scenario("for i in 1 2; do cc src/a.c; done")
        self.assertEqual((report["verdict"], criteria["compiled_exactly_once"], report["result"]["compile_count"]), ("failed", False, 2))
        report, criteria = self.scenario("cc src/a.c; echo '  Using cached torch-2.whl'")
        self.assertEqual((report["verdict"], criteria["no_cache_or_builder_image"]), ("failed", False))
        report, criteria = self.scenario("cc src/a.c; rm built")
        self.assertEqual((report["verdict"], criteria["verified_inside_the_run"]), ("failed", False))
        self.assertIn("verify: exit code 1", report["summary"])
        report, criteria = self.scenario("read -p 'name? ' x || x=default; cc src/a.c; echo $x > built", timeout=20)
        self.assertEqual(report["verdict"], "passed", "a question gets no answer and does not hang")

    def test_without_a_target_the_workspaces_own_package_is_the_compile(self):
        self.write("w/pyproject.toml", '[build-system]\nname = "no"\n[project]\nname = "toy-thing"\n')
        self.write("w/setup.py", "print('Successfully installed toy_thing-0.1')\n")
        self.write("w/post.sh", "echo Successfully installed dependency-1; python3 setup.py build\n")
        report = self.call("run_scenario", workspace="w", post_create="w/post.sh", verify="true", engine="host")
        self.assertEqual((report["verdict"], report["result"]["compile_count"]), ("passed", 1), report["summary"])
        seen = self.call("run_scenario", mode="audit_log", workspace="w", log="Successfully installed torch-1\n" * 2)
        self.assertEqual(seen["result"]["compile_count"], 0)

    def test_compiles_are_counted_where_they_are_executed(self):
        self.write("w/setup.py", "pass\n")
        build = "python3 setup.py build"
        self.write("w/sub/plain.sh", f"#!/bin/sh\n# {build}\n{build}\n")
        os.chmod(self.path("w/sub/plain.sh"), 0o755)
        for post, count in ((build, 1), ("sh sub/plain.sh", 1), ("./sub/plain.sh > log 2>&1; sh -e sub/plain.sh", 2), (f"sh -c '{build}'", 1), (f"set -eux\n{build} > log 2>&1", 1), (f"for i in 1 2; do {build}; done", 2), (f"{build}; bash more.sh", 2),
                            ("echo Successfully installed toy-1", 0), ("true", 0), (f"b() {{ {build}; }}; b; b", 2), (f"run() {{ \"$@\"; }}; run {build}", 1),
                            ("P=python3; verb=build; $P setup.py $verb", 1), (f"bash -c '{build}'", 1), (f"x=$({build})", 1), (f"if false; then {build}; fi", 0),
                            (f"echo {build}; {build} | cat", 1), ("b() { P=python3; $P setup.py $1; }; b build", 1), ("b() { pip wheel \"$1\" || :; }; b ./toy; b ./other", 1), (f"({build}) & wait", 1)):
            self.write("w/more.sh", build + "\n")
            self.write("w/post.sh", post + "\n")
            report = self.call("run_scenario", workspace="w", post_create="w/post.sh", verify="true", engine="host", compile={"target": "toy"})
            result = report["result"]
            [criterion] = [one for one in result["criteria"] if one["criterion"] == "compiled_exactly_once"]
            self.assertEqual((result["compile_count"], criterion["ok"]), (count, count == 1), (post, criterion["why"]))
            self.assertTrue(result["compile_evidence"]["commands_traced"])

    def test_being_watched_changes_nothing_for_a_script(self):
        post = "trap 'echo E' ERR\nfalse\necho $? $_ ${PIPESTATUS[*]} $# $BASHPID > /dev/null\n(exit 3) || echo \"$?\"\nx=$(exit 4) || echo $?\ntrue | false | true; echo \"${PIPESTATUS[*]}\"\nset -o pipefail; false | cat || echo P\necho a b; echo $_; set -x; echo c\n"
        self.write("w/post.sh", post)
        self.write("w/plain.sh", "env -u BASH_ENV bash post.sh > plain 2>&1; bash post.sh > watched 2>&1; cmp plain watched\n")
        self.write("w/outer.sh", "bash plain.sh\n")
        report = self.call("run_scenario", workspace="w", post_create="w/outer.sh", verify="true", engine="host", compile={"target": "toy"})
        self.assertEqual(report["result"]["problem"], "", report["result"]["tail"])

    def test_what_cannot_be_copied_is_left_out_and_named(self):
        os.makedirs(self.path("w/deep"))
        os.mkfifo(self.path("w/deep/pipe"))
        os.symlink("nowhere", self.path("w/link"))
        report, criteria = self.scenario("test -L link && test ! -e deep/pipe && cc src/a.c\n")
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertEqual(report["result"]["left_out_of_the_copy"], [self.path("w/deep/pipe")])

    def test_a_hanging_script_is_ended(self):
        report, criteria = self.scenario("setsid sleep 394 & sleep 393", timeout=1)
        self.assertEqual(report["verdict"], "failed")
        self.assertIn("timed out", report["summary"])
        self.assertNotIn("sleep 394", subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout)

    def test_without_a_container_engine_the_audit_is_made_and_both_halves_are_told(self):
        self.write("w/Dockerfile", "FROM xformers-builder\n")
        # A docker that is there and whose server is not, and no podman at all.
        os.mkdir(self.path("bin"))
        self.write("bin/docker", "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
        os.chmod(self.path("bin/docker"), 0o755)
        for name in ("sh", "python3"):
            os.symlink(os.path.realpath(f"/bin/{name}" if name == "sh" else "/usr/bin/python3"), self.path("bin/" + name))
        report = self.call("run_scenario", env={"PATH": self.path("bin")}, workspace="w", dockerfile="w/Dockerfile", engine="auto")
        self.assertEqual(report["verdict"], "unsupported")
        engines = {one["name"]: one for one in report["result"]["engines"]}
        self.assertEqual((engines["docker"]["cli_present"], engines["docker"]["server_reachable"]), (True, False))
        self.assertIn("Cannot connect", engines["docker"]["reason"])
        self.assertEqual(engines["podman"]["cli_present"], False)
        self.assertEqual(report["result"]["audit"]["violations"][0]["kind"], "builder_image")

    def test_paths_outside_the_roots_are_refused(self):
        self.assertEqual(self.call("run_scenario", workspace="/etc", engine="host")["status"], "client_error")


class OverHttp(ToolFolder):
    def test_clients_over_the_network_start_no_commands_unless_the_operator_says_so(self):
        import http.client
        import re
        self.write("plan.yaml", "operator: x\n")
        for flags, refused in (((), True), (("--allow-commands",), False)):
            server = subprocess.Popen([ASSAY, "serve", "--http", "0", "--state", self.path("state"), "--source-root", self.folder, *flags],
                                      stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
            try:
                port = int(re.search(r":(\d+)/mcp", server.stderr.readline()).group(1))
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                    "name": "run_plan", "arguments": {"plan_path": "plan.yaml"},
                    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}
                connection.request("POST", "/mcp", json.dumps(body), {
                    "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                    "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "run_plan"})
                answer = connection.getresponse().read().decode()
                self.assertEqual("--allow-commands" in answer, refused, answer)
                connection.close()
            finally:
                server.terminate()
                server.stderr.close()
                server.wait()


if __name__ == "__main__":
    unittest.main()
