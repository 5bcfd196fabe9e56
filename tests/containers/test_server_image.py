"""docker/Dockerfile, built and run by podman and runc: who the server is there, how its runners are confined, who is let in.

The first stage (a build of everything) is replaced by the build that is being tested, laid out by the same
script; the CUDA base by an image of this machine's C library.
"""

import json
import os
import pathlib
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import yaml
from assay_client import ADD, ASSAY, FOREVER, META, kernel
from engine import Engine, glibc_root, podman, profile_without_namespaces

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SERVER = "localhost/assay-server-test:1"
TOKEN = "a-token-for-a-container"
OUT_OF_BOUNDS = "__global__ void add(const float* a, const float* b, float* out, int n) { out[1 << 28] = a[0] + b[0]; }\n"
READS_FILES = '#include "/proc/1/environ"\n#include "/run/secrets/token"\n' + ADD


def call(number, tool, **arguments):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": META}})


class ServerImage(Engine):
    IMAGE = "localhost/assay-base-test:1"

    @classmethod
    def make_root(cls, root):
        glibc_root(root)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        build = os.path.dirname(os.path.dirname(ASSAY))
        laid_out = os.path.join(cls.shared, "built", "laid-out")
        subprocess.run([ROOT / "docker/lay_out", build, laid_out], check=True)
        podman("build", "--layers=false", "--file", "docker/Dockerfile", "--build-context", "built=" + os.path.dirname(laid_out),
               "--build-arg", "BUILD_BASE=" + cls.IMAGE, "--build-arg", "RUNTIME_BASE=" + cls.IMAGE, "--tag", SERVER, ".", cwd=ROOT, timeout=300)
        cls.addClassCleanup(podman, "image", "rm", "--force", SERVER, check=False)
        cls.dockers_rule = profile_without_namespaces(os.path.join(cls.shared, "seccomp.json"))
        cls.tokens = os.path.join(cls.shared, "token")
        pathlib.Path(cls.tokens).write_text(TOKEN + "\n", encoding="utf-8")
        os.chmod(cls.tokens, 0o444)

    def talk(self, *lines, options=()):
        """`podman run -i` as a stdio server: lines in, {id: structured content} out."""
        done = podman("run", "-i", "--rm", "--network", "none", *options, SERVER, check=False, timeout=300, input=("\n".join(lines) + "\n").encode())
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-2000:])
        messages = [json.loads(line) for line in done.stdout.splitlines()]
        return {one["id"]: one["result"]["structuredContent"] for one in messages if "id" in one}

    def serve(self, *options, arguments=(), network=("--publish", "127.0.0.1::8000")):
        name = f"assay-server-{os.getpid()}-{time.monotonic_ns()}"
        self.addCleanup(podman, "rm", "--force", "--time", "0", "--volumes", name, check=False)
        podman("run", "--detach", "--name", name, *network, "--volume", self.tokens + ":/run/secrets/token:ro", *options, SERVER,
               *(arguments or ("serve", "--http", "0.0.0.0:8000", "--token-file", "/run/secrets/token")))
        self.container = name
        self.port = podman("port", name).stdout.decode().strip().rsplit(":", 1)[-1]
        end = time.monotonic() + 60
        while b"http://" not in podman("logs", name).stderr and time.monotonic() < end:
            time.sleep(0.1)

    def ask(self, path, body=None, token=TOKEN):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", None if body is None else json.dumps(body).encode())
        if token:
            request.add_header("Authorization", "Bearer " + token)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def inside(self, *command):
        return podman("exec", self.container, *command).stdout.decode()

    def assert_holds(self, isolation, levels):
        self.assertIn(isolation["level"], levels)
        self.assertEqual(isolation["self_test"]["unexpected"], 0, isolation)
        self.assertGreater(isolation["self_test"]["blocked"], 50)
        self.assertTrue(isolation["in_force"]["no_new_privs"] and isolation["in_force"]["no_capabilities"])
        self.assertTrue(isolation["in_force"]["seccomp"])

    def test_under_dockers_seccomp_rule_runners_are_confined_at_l1(self):
        options = ("--security-opt", "seccomp=" + self.dockers_rule)
        answers = self.talk(call(1, "check_capabilities"), call(2, "evaluate", kernel=kernel(ADD), ref_kernel=kernel(ADD), num_trials=3), options=options)
        self.assert_holds(answers[1]["isolation"], ("L1",))
        self.assertEqual((answers[2]["verdict"], answers[2]["environment"]["isolation"]["level"]), ("passed", "L1"))

    def test_under_podmans_own_rule_at_l1_or_more(self):
        answers = self.talk(call(1, "check_capabilities"), call(2, "evaluate", kernel=kernel(ADD)))
        self.assert_holds(answers[1]["isolation"], ("L1", "L1n", "L2"))
        self.assertEqual(answers[2]["verdict"], "passed")

    def test_what_misbehaves_is_stopped_and_the_next_kernel_runs(self):
        options = ("--security-opt", "seccomp=" + self.dockers_rule, "--cap-drop", "ALL", "--read-only", "--tmpfs", "/tmp:size=1g,mode=1777")
        answers = self.talk(call(1, "evaluate", kernel=kernel(FOREVER), timeout=5), call(2, "evaluate", kernel=kernel(OUT_OF_BOUNDS)),
                            call(3, "compile_kernel", kernel={"source_code": READS_FILES, "kernel_type": "cuda"}),
                            call(4, "evaluate", kernel=kernel(ADD)), options=options)
        self.assertEqual([answers[number]["verdict"] for number in (1, 2, 3, 4)], ["timed_out", "crashed", "compile_failed", "passed"])
        self.assertNotIn(TOKEN, json.dumps(answers[3]))

    def test_the_server_is_nobody_special(self):
        self.serve("--security-opt", "seccomp=" + self.dockers_rule)
        status = dict(line.split(":\t", 1) for line in self.inside("cat", "/proc/1/status").splitlines() if ":\t" in line)
        self.assertEqual(status["Uid"].split(), ["10001"] * 4)
        self.assertEqual(int(status["CapEff"], 16), 0)
        self.assertEqual(status["Seccomp"], "2")
        self.assertEqual(self.inside("ls", "-ld", "/var/lib/assay").split()[0], "drwx------")
        # Sources are looked for elsewhere.
        self.assertEqual((self.inside("sh", "-c", "pwd").strip(), self.inside("ls", "/sources")), ("/sources", ""))

    def test_http_is_behind_a_token(self):
        self.serve("--security-opt", "seccomp=" + self.dockers_rule)
        status, health = self.ask("/health")
        self.assertEqual((status, health["status"], health["isolation"]), (200, "healthy", "L1"))
        body = {"kernel": kernel(ADD), "num_trials": 2}
        self.assertEqual(self.ask("/evaluate", body, token=None)[0], 401)
        self.assertEqual(self.ask("/evaluate", body, token="another-token-than-that")[0], 401)
        status, report = self.ask("/evaluate", body)
        self.assertEqual((status, report["verdict"]), (200, "passed"))

    def test_without_a_token_it_does_not_listen_to_others(self):
        done = podman("run", "--rm", "--network", "none", SERVER, "serve", "--http", "0.0.0.0:8000", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"token", done.stderr)

    def test_more_isolation_than_there_is_is_refused(self):
        done = podman("run", "-i", "--rm", "--network", "none", "--security-opt", "seccomp=" + self.dockers_rule, SERVER, "serve", "--stdio",
                      "--min-isolation", "L2", check=False, input=(call(1, "evaluate", kernel=kernel(ADD)) + "\n").encode())
        self.assertNotIn(b'"verdict":"passed"', done.stdout)

    def test_a_hang_up_of_the_machine_leaves_nothing_and_jobs_are_kept(self):
        volume = f"assay-jobs-{os.getpid()}"
        self.addCleanup(podman, "volume", "rm", "--force", volume, check=False)
        keep = ("--volume", volume + ":/var/lib/assay")
        self.serve(*keep)
        job = self.ask("/evaluate", {"kernel": kernel(ADD), "num_trials": 2})[1]["job_id"]
        running = self.ask("/evaluate?wait=0", {"kernel": kernel(FOREVER), "timeout": 300})[1]["job_id"]
        while self.ask("/job/" + running)[1]["status"] != "validating":
            time.sleep(0.1)
        podman("kill", "--signal", "KILL", self.container)
        podman("wait", self.container)
        self.serve(*keep)
        self.assertEqual(self.ask("/job/" + job)[1]["status"], "completed")
        self.assertEqual(self.ask("/job/" + running)[1]["status"], "interrupted")
        self.assertEqual(self.ask("/evaluate", {"kernel": kernel(ADD), "num_trials": 2})[1]["verdict"], "passed")
        podman("stop", "--time", "30", self.container)
        ended = json.loads(podman("inspect", self.container).stdout)[0]["State"]
        self.assertIn(ended["ExitCode"], (0, 143), "ended by itself when it was asked to")

    def test_the_compose_file_runs_as_written(self):
        """Its own command and walls, given to podman; a GPU is what cannot be asked for here."""
        service = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())["services"]["assay"]
        self.assertTrue(all(port.startswith("127.0.0.1:") for port in service["ports"]), "nothing faces the network unasked")
        options = [f"--cap-drop={one}" for one in service["cap_drop"]] + [f"--security-opt={one}" for one in service["security_opt"]]
        options += [f"--tmpfs={one}" for one in service["tmpfs"]] + [f"--pids-limit={service['pids_limit']}"]
        options += ["--read-only"] * service["read_only"] + ["--init"] * service["init"]
        self.serve(*options, "--security-opt=seccomp=" + self.dockers_rule, arguments=[str(word) for word in service["command"]])
        self.assertEqual(self.ask("/evaluate", {"kernel": kernel(ADD), "ref_kernel": kernel(ADD), "num_trials": 2})[1]["verdict"], "passed")
        self.assertEqual(self.ask("/health")[1]["isolation"], "L1")
        check = [str(word) for word in service["healthcheck"]["test"][1:]]
        self.assertIn("throughput", json.loads(self.inside(*check)))

    def test_the_kubernetes_manifest_runs_as_written(self):
        documents = {one["kind"]: one for one in yaml.safe_load_all((ROOT / "docker/kubernetes.yaml").read_text())}
        self.assertEqual(documents["Service"]["spec"]["type"], "ClusterIP")
        pod = documents["Deployment"]["spec"]["template"]["spec"]
        container = pod["containers"][0]
        self.assertEqual(container["securityContext"]["capabilities"], {"drop": ["ALL"]})
        self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])
        self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"] and pod["securityContext"]["runAsNonRoot"])
        self.assertNotIn("hostNetwork", pod)
        mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
        self.serve("--cap-drop=ALL", "--security-opt=no-new-privileges", "--security-opt=seccomp=" + self.dockers_rule, "--read-only",
                   f"--user={pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}",
                   f"--volume={self.tokens}:{mounts['token']}/token:ro", f"--tmpfs={mounts['scratch']}:size=1g,mode=1777", arguments=container["args"])
        self.assertEqual(self.ask("/evaluate", {"kernel": kernel(ADD), "num_trials": 2})[1]["verdict"], "passed")
        self.assertIn("throughput", json.loads(self.inside(*container["livenessProbe"]["exec"]["command"])))


if __name__ == "__main__":
    unittest.main()
