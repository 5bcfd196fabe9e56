"""clients/python against real servers: what it builds, what it asks, what it makes of every kind of answer."""

import ast
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from assay_client import ADD, FOREVER, Server
from http_service import HttpService

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"
sys.path.insert(0, str(PACKAGE))

import assay_rest as ar  # noqa: E402

TOKEN = "a-token-that-ada-has"
README_EXAMPLE = "```python\n"


def add_contract(n=1000, block=256):
    return (ar.IOContractBuilder()
            .add_input_tensor("a", ar.create_randn_spec([n], seed=42))
            .add_input_tensor("b", ar.create_randn_spec([n], seed=43))
            .add_output_tensor("out", [n])
            .add_scalar("n", "int", n)
            .set_grid(-(-n // block)).set_block(block)
            .build())


def add_kernel(source=ADD, **more):
    return ar.KernelCode(source, "cuda", add_contract(**more))


class Building(unittest.TestCase):
    """No server of HTTP's: values, and build_io_contract as the judge of them."""

    def everything(self):
        return (ar.IOContractBuilder()
                .add_input_tensor("a", ar.create_randn_spec([8, "n"], "float16", seed=0, mean=0.0, std=0.5))
                .add_input_tensor("b", ar.create_uniform_spec([8], "int32", seed=1, low=-1, high=0))
                .add_input_tensor("c", ar.create_zeros_spec([]))
                .add_input_tensor("d", ar.create_ones_spec([0]))
                .add_input_tensor("e", ar.create_full_spec([3], 0.0))
                .add_input_tensor("f", ar.create_arange_spec([3], "int64", start=0, step=-1))
                .add_input_tensor("g", ar.TensorSpec([2], "int32", data=ar.TensorData.of_bytes(bytes(range(8)), "int32", [2])))
                .add_input_tensor("h", ar.TensorSpec([2], "uint8", data=ar.TensorData.of_bytes(b"\1\2", "uint8", [2], compress=False)))
                .add_inout_tensor("i", ar.create_tensor_spec([4], "float64", "full", fill_value=2.5))
                .add_output_tensor("j", [4], "float64", tolerance={"atol": 0.0, "rtol": 1e-6})
                .add_scalar("n", "int", 16).add_scalar("k", "int", 0, c_type="int64")
                .add_scalar("alpha", "float", 0.0).add_scalar("flag", "bool", False)
                .set_size("rows", 8)
                .set_grid("ceildiv(n, 4)", 2).set_block(32, 1, 2).set_shared_mem_bytes(1024)
                .build())

    def test_the_servers_builder_makes_the_same_of_the_same_steps(self):
        steps = [
            {"add_input_tensor": ["a", {"create_randn_spec": [[8, "n"], "float16", 0, 0.0, 0.5]}]},
            {"add_input_tensor": ["b", {"create_uniform_spec": [[8], "int32", 1, -1, 0]}]},
            {"add_input_tensor": ["c", {"create_zeros_spec": [[]]}]},
            {"add_input_tensor": ["d", {"create_ones_spec": [[0]]}]},
            {"add_input_tensor": ["e", {"create_full_spec": [[3], 0.0]}]},
            {"add_input_tensor": ["f", {"create_arange_spec": [[3], "int64", 0, -1]}]},
            {"add_input_tensor": ["g", self.everything().args[6].tensor_spec.to_dict()]},
            {"add_input_tensor": ["h", self.everything().args[7].tensor_spec.to_dict()]},
            {"add_inout_tensor": ["i", {"method": "create_tensor_spec", "shape": [4], "dtype": "float64", "init_kind": "full", "fill_value": 2.5}]},
            {"method": "add_output_tensor", "name": "j", "shape": [4], "dtype": "float64", "tolerance": {"atol": 0.0, "rtol": 1e-6}},
            {"add_scalar": ["n", "int", 16]}, {"method": "add_scalar", "name": "k", "type": "int", "value": 0, "c_type": "int64"},
            {"add_scalar": ["alpha", "float", 0.0]}, {"add_scalar": ["flag", "bool", False]}, {"set_size": ["rows", 8]},
            {"set_grid": ["ceildiv(n, 4)", 2]}, {"set_block": [32, 1, 2]}, {"set_shared_mem_bytes": [1024]}]
        with Server() as server:
            theirs = server.call("build_io_contract", {"steps": steps})["structuredContent"]
        self.assertEqual(theirs.get("status"), "success", theirs)
        # Read by from_dict(), what both leave to defaults is the same.
        self.assertEqual(self.without_defaults(ar.IOContract.from_dict(theirs["io_contract"])), self.without_defaults(self.everything()))

    def without_defaults(self, contract):
        told = contract.to_dict()
        for arg in told["args"]:
            init = arg.get("tensor_spec", {}).get("init", {})
            for name, default in (("mean", 0.0), ("std", 1.0), ("start", 0.0), ("step", 1.0), ("low", 0.0), ("high", 1.0)):
                if init.get(name) == default:
                    del init[name]
            if arg.get("tensor_spec", {}).get("data", {}).get("compress") == "none":
                del arg["tensor_spec"]["data"]["compress"]
        return told

    def test_only_a_gpus_time_is_a_runtime(self):
        def runtime_of(clock, mean):
            timing = {} if clock is None else {"timing": {"clock": clock}}
            return ar.Report({"kernel_exec_result": {"runtime": mean}, **timing}).runtime_ms

        told = {clock: runtime_of(clock, 0.25) for clock in ("gpu", "wall", "cpu", "emulated")}
        self.assertEqual(told, {"gpu": 0.25, "wall": 0.25, "cpu": None, "emulated": None})
        self.assertIsNone(runtime_of("gpu", 0.0))
        self.assertIsNone(runtime_of(None, 0.0))

    def test_it_is_written_for_python_3_9(self):
        files = [*(PACKAGE / "assay_rest").glob("*.py"), *(PACKAGE / "examples").glob("*.py")]
        self.assertGreater(len(files), 10)
        for file in files:
            ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 9))
        self.assertIn('requires-python = ">=3.9"', (PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))

    def test_nought_false_and_empty_are_values(self):
        by_name = {arg["name"]: arg for arg in self.everything().to_dict()["args"]}
        self.assertEqual(by_name["a"]["tensor_spec"]["init"], {"kind": "randn", "seed": 0, "mean": 0.0, "std": 0.5})
        self.assertEqual(by_name["b"]["tensor_spec"]["init"]["high"], 0)
        self.assertEqual(by_name["c"]["tensor_spec"]["shape"], [])
        self.assertEqual(by_name["e"]["tensor_spec"]["init"]["fill_value"], 0.0)
        self.assertEqual((by_name["k"]["value"], by_name["alpha"]["value"], by_name["flag"]["value"]), (0, 0.0, False))
        self.assertNotIn("value", by_name["a"])

    def test_every_kind_of_the_schema_and_every_field_has_its_place(self):
        with open(PACKAGE.parents[1] / "schemas" / "io_contract.json", encoding="utf-8") as file:
            schema = json.load(file)
        for definition, kind in (("arg", ar.ArgSpec), ("tensor_spec", ar.TensorSpec), ("init", ar.TensorInit),
                                 ("data", ar.TensorData), ("launch", ar.LaunchConfig)):
            fields = set(kind.__dataclass_fields__)
            self.assertEqual(fields, set(schema["$defs"][definition]["properties"]), definition)
        self.assertEqual(set(ar.IOContract.__dataclass_fields__), set(schema["properties"]))
        kinds = {arg.tensor_spec.init.kind for arg in self.everything().args if arg.tensor_spec and arg.tensor_spec.init}
        self.assertEqual(kinds, set(schema["$defs"]["init"]["properties"]["kind"]["enum"]))

    def test_what_is_written_is_read_back(self):
        contract = self.everything()
        kernel = ar.KernelCode(ADD, "cuda", contract, {"kernel_name": "add"})
        with tempfile.TemporaryDirectory() as folder:
            for value, kind in ((contract, "IOContract"), (kernel, "KernelCode"), (contract.to_dict(), "dict")):
                path = os.path.join(folder, kind)
                ar.save_to_file(value, path)
                self.assertEqual(ar.load_from_file(path, kind), value)
                self.assertEqual(json.loads(ar.to_json(value)), json.loads(ar.to_json(value, pretty=True)))
            self.assertEqual(sorted(os.listdir(folder)), ["IOContract", "KernelCode", "dict"])
            with self.assertRaises(TypeError):
                ar.save_to_file({"a": object()}, os.path.join(folder, "dict"))
            self.assertEqual(ar.load_from_file(os.path.join(folder, "dict"), "dict"), contract.to_dict())

    def test_mistakes_that_can_be_seen_at_once_are_told_at_once(self):
        builder = ar.IOContractBuilder().add_scalar("n", "int", 1)
        for mistake in (lambda: builder.add_scalar("n", "int", 2), lambda: builder.add_scalar("m", "tensor", 2),
                        lambda: builder.add_scalar("m", "int", 1.5), lambda: builder.add_scalar("m", "int", True),
                        lambda: builder.add_meta_param("m", "256"), lambda: ar.create_tensor_spec([1], seed=1),
                        lambda: ar.IOContract.from_dict({"args": [], "lunch": {}}), lambda: ar.IOContract.from_dict([]),
                        lambda: ar.load_from_file("/dev/null", "Job"), lambda: ar.Client("127.0.0.1:8000"),
                        lambda: ar.Client("ftp://a"), lambda: ar.Client("http://a/mcp"), lambda: ar.Client(token="a\r\nb"),
                        lambda: ar.Client("http://a", ca_file="/etc/hosts")):
            with self.assertRaises((ValueError, TypeError)):
                mistake()
        self.assertEqual([arg.name for arg in builder.build().args], ["n"])


class Asking(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(HttpService("--device", "emulator"))
        cls.client = ar.Client(cls.service.url)

    def test_a_kernel_is_evaluated_and_a_failing_one_is_an_answer(self):
        report = self.client.evaluate(add_kernel(), add_kernel(), num_trials=3)
        self.assertTrue(report.passed, report.summary)
        self.assertEqual((report.state, report.trust), ("completed", "verified"))
        self.assertIsNone(report.compilation_error)
        # The emulator's time is in the report, and is nobody's runtime.
        self.assertGreater(report.raw["kernel_exec_result"]["runtime"], 0)
        self.assertEqual(report.raw["timing"]["clock"], "emulated")
        self.assertIsNone(report.runtime_ms)
        broken = self.client.evaluate(add_kernel("__global__ void add(const float* a, const float* b, float* out, int n) { nothing; }"))
        self.assertEqual(broken.verdict, "compile_failed")
        self.assertIn("nothing", broken.compilation_error)
        self.assertFalse(broken.passed)

    def test_two_are_compared(self):
        wrong = add_kernel(ADD.replace("a[i] + b[i]", "a[i] - b[i]"))
        report = self.client.compare(add_kernel(), wrong, num_trials=3)
        self.assertEqual(report.verdict, "wrong_output")
        self.assertTrue(report.validation_error)
        self.assertIsNone(report.speedup)
        self.assertEqual(self.client.compare(add_kernel(), add_kernel(), num_trials=3).verdict, "passed")

    def test_jobs_are_submitted_polled_and_read(self):
        jobs = [self.client.submit_evaluate(add_kernel(), num_trials=2), self.client.submit_compare(add_kernel(), add_kernel(), num_trials=2)]
        for job in jobs:
            self.assertEqual(job.wait(timeout_s=120).verdict, "passed")
            state = job.poll()
            self.assertTrue(state.finished)
            self.assertEqual((state.state, state.job_id, state.error), ("completed", job.id, None))
            self.assertIn("out[i] = a[i] + b[i]", job.text("source"))
        self.assertLessEqual({job.id for job in jobs}, {line["job_id"] for line in self.client.jobs(limit=200)})

    def test_who_loses_patience_with_a_job_leaves_it_running(self):
        job = self.client.submit_evaluate(add_kernel(FOREVER), timeout=5)
        with self.assertRaises(ar.NotAnswered):
            job.wait(timeout_s=0.2)
        self.assertEqual(job.wait(timeout_s=120).verdict, "timed_out")

    def test_who_loses_patience_with_a_call_has_cancelled_it(self):
        before = {line["job_id"] for line in self.client.jobs(limit=200)}
        with self.assertRaises(ar.NotAnswered):
            self.client.evaluate(add_kernel(FOREVER), timeout=600, patience_s=1.5)
        (line,) = [line for line in self.client.jobs(limit=200) if line["job_id"] not in before]
        end = time.monotonic() + 60
        while not self.client.job(line["job_id"]).finished and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(self.client.job(line["job_id"]).state, "cancelled")

    def test_refusals_name_the_field(self):
        with self.assertRaises(ar.InvalidRequest) as caught:
            self.client.evaluate(add_kernel(), num_trials=0)
        self.assertEqual((caught.exception.status, caught.exception.field), (400, "num_trials"))
        self.assertIn("num_trials must be at least 1", str(caught.exception))
        with self.assertRaises(ar.InvalidRequest) as caught:
            self.client.evaluate(add_kernel(block=2048))
        self.assertTrue(caught.exception.violations[0].pointer.startswith("/kernel/io/launch"), str(caught.exception))
        with self.assertRaises(ar.InvalidRequest):
            self.client.submit_evaluate(ar.KernelCode(ADD, "cuda"))
        for job_id in ("no-such-job", "../health", "a/b", "a b?c#d"):
            with self.assertRaises(ar.JobNotFound, msg=job_id) as caught:
                self.client.job(job_id)
            self.assertEqual((caught.exception.status, caught.exception.missing), (404, "job"), job_id)
        with self.assertRaises(ar.NotFound) as caught:
            self.client.job("")
        self.assertEqual(caught.exception.missing, "path")

    def test_a_missing_part_is_no_missing_job(self):
        report = self.client.evaluate(add_kernel(), num_trials=1)
        with self.assertRaises(ar.PartNotFound) as caught:
            self.client.job_text(report.job_id, "no-such-part")
        self.assertNotIsInstance(caught.exception, ar.JobNotFound)
        with self.assertRaises(ar.JobNotFound):
            self.client.job_text("no-such-job", "source")

    def test_unknown_options_are_named_in_the_warnings(self):
        report = self.client.evaluate(add_kernel(), num_trials=1, num_trails=7)
        self.assertIn("num_trails", json.dumps(report.warnings))

    def test_the_machine_is_told(self):
        self.assertEqual(self.client.health()["status"], "healthy")
        self.assertIn("job_stats", self.client.stats())
        self.assertIn("# TYPE assay_", self.client.metrics())
        self.assertEqual(self.client.cleanup_jobs(), 0)

    def test_many_threads_may_use_one_client(self):
        reports = [None] * 8

        def ask(i):
            reports[i] = self.client.evaluate(add_kernel(n=100 + i), num_trials=1)

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(reports))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([report.verdict for report in reports], ["passed"] * len(reports))
        self.assertEqual(len({report.job_id for report in reports}), len(reports))

    def test_examples_run(self):
        examples = sorted((PACKAGE / "examples").glob("*.py"))
        self.assertEqual(len(examples), 4)
        for example in examples:
            with self.subTest(example=example.name):
                done = self.run_python(str(example))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_example_of_the_readme_runs(self):
        text = (PACKAGE / "README.md").read_text(encoding="utf-8")
        (code,) = [part.split("```")[0] for part in text.split(README_EXAMPLE)[1:]]
        done = self.run_python("-c", code.replace("Client()", "Client.from_environment()"))
        self.assertEqual((done.returncode, done.stdout.split()[:1]), (0, ["passed"]), done.stderr)

    def run_python(self, *arguments):
        return subprocess.run([sys.executable, "-B", *arguments], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "ASSAY_URL": self.service.url, "PYTHONPATH": str(PACKAGE)})


class Doors(unittest.TestCase):
    def test_a_token_lets_in_and_jobs_are_their_makers(self):
        with tempfile.NamedTemporaryFile("w", suffix=".tokens") as tokens:
            tokens.write(TOKEN + "\nanother-token-of-bob\n")
            tokens.flush()
            with HttpService("--token-file", tokens.name) as service:
                ada, bob = ar.Client(service.url, TOKEN), ar.Client(service.url, "another-token-of-bob")
                job_id = ada.evaluate(add_kernel(), until="compiled").job_id
                self.assertTrue(ada.job(job_id).finished)
                with self.assertRaises(ar.JobNotFound):
                    bob.job(job_id)
                for stranger in (ar.Client(service.url), ar.Client(service.url, "a-token-of-nobody")):
                    with self.assertRaises(ar.NotAllowed) as caught:
                        stranger.evaluate(add_kernel())
                    self.assertEqual(caught.exception.status, 401)

    def test_a_certificate_that_is_trusted_and_one_that_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                            "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost",
                            "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
            with HttpService("--tls-cert", certificate, "--tls-key", key) as service:
                url = f"https://localhost:{service.port}"
                self.assertEqual(ar.Client(url, ca_file=certificate).health()["status"], "healthy")
                with self.assertRaises(ar.Unreachable) as caught:
                    ar.Client(url).health()
                self.assertIn("certificate", str(caught.exception))
                with self.assertRaises(ar.Unreachable):
                    ar.Client(f"http://localhost:{service.port}").health()


class Strangers(unittest.TestCase):
    """Servers that are none, or end in the middle."""

    def listen(self, answer):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.recv(65536)
                peer.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        return ar.Client(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout_s=10)

    def test_nobody_there(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]
        with self.assertRaises(ar.Unreachable):
            ar.Client(f"http://127.0.0.1:{port}").health()

    def test_silence_is_not_waited_for_longer_than_was_said(self):
        with socket.create_server(("127.0.0.1", 0)) as silent, self.assertRaises(ar.NotAnswered):
            ar.Client(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.2).health()

    def test_no_time_is_a_mistake_and_not_the_usual_time(self):
        for seconds in (0, -1):
            with self.assertRaises(ValueError):
                ar.Client("http://127.0.0.1:1").evaluate(add_kernel(), patience_s=seconds)

    def test_answers_that_are_no_answers(self):
        for answer in (b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
                       b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhtml", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"):
            with self.subTest(answer=answer), self.assertRaises(ar.Unreachable):
                self.listen(answer).stats()

    def test_a_proxys_error_page_is_an_error_of_its_status(self):
        with self.assertRaises(ar.EngineFault) as caught:
            self.listen(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 9\r\n\r\n<b>no</b>").stats()
        self.assertEqual((caught.exception.status, caught.exception.retryable), (502, False))
        self.assertIn("<b>no</b>", str(caught.exception))

    def test_a_server_that_is_killed_ends_the_wait(self):
        service = HttpService()
        try:
            client = ar.Client(service.url)
            outcome = []

            def ask():
                try:
                    outcome.append(client.evaluate(add_kernel(FOREVER), timeout=600))
                except ar.AssayError as error:
                    outcome.append(error)

            thread = threading.Thread(target=ask)
            thread.start()
            while not client.jobs():
                time.sleep(0.02)
            service.process.kill()
            thread.join(60)
            self.assertIsInstance(outcome[0], ar.Unreachable)
        finally:
            service.__exit__()


if __name__ == "__main__":
    unittest.main()
