"""What clients of the system before this one send, in every form that its manual and its MCP pages show, is accepted."""

import base64
import json
import struct
import unittest
import zlib

from assay_client import ADD, Server, contract, kernel

IO = contract()
NEW = kernel(ADD)
BROKEN = ADD.replace("out[i] = a[i] + b[i]", "out[i] = MISSING")
DEFINED = ADD.replace("a[i] + b[i]", "ONE * a[i] + b[i]")
TWO = ADD + "__global__ void other(const float* a, const float* b, float* out, int n) { }\n"
TEMPLATE = """template <typename T> __global__ void add(const T* a, const T* b, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
"""
SHARED = """__global__ void add(const float* a, const float* b, float* out, int n) {
  extern __shared__ float staged[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { staged[threadIdx.x] = a[i]; out[i] = staged[threadIdx.x] + b[i]; }
}
"""


def text(value):
    return json.dumps(value)


def flat(source=ADD, **more):
    return {"kernel_source": source, "kernel_type": "cuda", "io_contract": IO, "num_trials": 2, **more}


def pair(**more):
    return {"ref_kernel_source": ADD, "ref_kernel_type": "cuda", "custom_kernel_source": ADD, "custom_kernel_type": "cuda",
            "ref_kernel_io": IO, "custom_kernel_io": IO, "num_trials": 2, **more}


def data(n=1000):
    """An input by value, as the manual's TensorData has it."""
    return {"data_b64": base64.b64encode(zlib.compress(struct.pack(f"<{n}f", *range(n)))).decode(), "dtype": "float32", "shape": [n], "compress": "zlib"}


def with_data():
    io = json.loads(text(IO))
    io["args"][0]["tensor_spec"] = {"shape": [1000], "dtype": "float32", "data": data()}
    return io


def with_launch(**more):
    return {**IO, "launch": {**IO["launch"], **more}}


# compile_kernel has kept its name; these are its older arguments.
COMPILED = {
    "flat": {"kernel_source": ADD, "kernel_type": "cuda"},
    "flat, all as text": text({"kernel_source": ADD, "kernel_type": "cuda"}),
    "in request": {"request": {"kernel_source": ADD, "kernel_type": "cuda"}},
    "in request as text": {"request": text({"kernel_source": ADD, "kernel_type": "cuda"})},
    "nested, the source by its old name": {"kernel": {"kernel_source": ADD, "kernel_type": "cuda"}},
    "options beside it": {"kernel_source": DEFINED, "kernel_type": "cuda", "compile_options": ["-DONE=1"]},
    "options beside a kernel of today": {"kernel": {"source_code": DEFINED, "kernel_type": "cuda"}, "compiler_options": ["-DONE=1"]},
    "options as text": {"kernel_source": DEFINED, "kernel_type": "cuda", "metadata": {"compiler_options": text(["-DONE=1"])}},
    "options in metadata as text": {"kernel_source": DEFINED, "kernel_type": "cuda", "metadata": text({"compile_options": ["-DONE=1"]})},
    "nothing where nothing is": {"kernel_source": ADD, "kernel_type": "cuda", "metadata": None, "io_contract": None, "compile_options": None},
}

# How it is sent: the tool, its arguments. All of them pass.
ACCEPTED = {
    # evaluate_kernel
    "flat": ("evaluate_kernel", flat()),
    "flat, everything that the page lists": ("evaluate_kernel", flat(
        reference_kernel_source=ADD, reference_kernel_type="cuda", num_warmup=10, enable_device_metrics=False, rtol=1e-5, atol=1e-8, timeout=120,
        metadata={"kernel_name": "add"}, reference_kernel_metadata={"kernel_name": "add"})),
    "flat, contract as text": ("evaluate_kernel", flat(io_contract=text(IO))),
    "flat, metadata as text": ("evaluate_kernel", flat(TWO, metadata=text({"kernel_name": "add"}))),
    "flat, nothing where nothing is": ("evaluate_kernel", flat(metadata=None, reference_kernel_source=None, reference_kernel_type=None, reference_kernel_metadata=None)),
    "nested": ("evaluate_kernel", {"kernel": NEW, "num_trials": 2}),
    "nested, kernel as text": ("evaluate_kernel", {"kernel": text(NEW)}),
    "nested, contract and metadata as text": ("evaluate_kernel", {"kernel": {**NEW, "io": text(IO), "metadata": text({"kernel_name": "add"})}}),
    "nested in request": ("evaluate_kernel", {"request": {"kernel": NEW, "num_trials": 2, "timeout": 120}}),
    "nested in request as text": ("evaluate_kernel", {"request": text({"kernel": NEW})}),
    "nested in request, kernel as text": ("evaluate_kernel", {"request": {"kernel": text(NEW)}}),
    "flat in request": ("evaluate_kernel", {"request": flat()}),
    "flat in request as text": ("evaluate_kernel", {"request": text(flat())}),
    "beside request": ("evaluate_kernel", {"request": {"kernel": NEW}, "num_trials": 2}),
    "all arguments as text": ("evaluate_kernel", text(flat())),
    # validate_kernel
    "validate, flat": ("validate_kernel", {"kernel_source": ADD, "kernel_type": "cuda", "io_contract": IO, "timeout": 60}),
    "validate, nested": ("validate_kernel", {"kernel": NEW}),
    "validate, in request": ("validate_kernel", {"request": {"kernel": NEW}}),
    # compare_kernels
    "compare, flat": ("compare_kernels", pair()),
    "compare, flat, everything that the page lists": ("compare_kernels", pair(
        num_warmup=10, atol=1e-5, rtol=1e-5, timeout=120, ref_kernel_metadata={"kernel_name": "add"}, custom_kernel_metadata={"kernel_name": "add"})),
    "compare, contracts as text": ("compare_kernels", pair(ref_kernel_io=text(IO), custom_kernel_io=text(IO))),
    "compare, nested": ("compare_kernels", {"ref_kernel": NEW, "custom_kernel": NEW, "num_trials": 2}),
    "compare, nested as text": ("compare_kernels", {"ref_kernel": text(NEW), "custom_kernel": text(NEW)}),
    "compare, in request": ("compare_kernels", {"request": {"ref_kernel": NEW, "custom_kernel": NEW, "atol": 1e-2, "rtol": 1e-2}}),
    "compare, in request as text": ("compare_kernels", {"request": text({"ref_kernel": NEW, "custom_kernel": NEW})}),
    # metadata of CUDA kernels, and what older contracts carry
    "kernel_name": ("evaluate_kernel", flat(TWO, metadata={"kernel_name": "add"})),
    "compiler_options": ("evaluate_kernel", flat(DEFINED, metadata={"compiler_options": ["-DONE=1"]})),
    "compile_options": ("evaluate_kernel", flat(DEFINED, metadata={"compile_options": ["-DONE=1"]})),
    "compiler_options as text": ("evaluate_kernel", flat(DEFINED, metadata={"compiler_options": text(["-DONE=1"])})),
    "flat, under today's name": ("evaluate", flat()),
    "flat in request, under today's name": ("evaluate", {"request": flat()}),
    "compare, flat, under today's name": ("compare", pair()),
    "compare, in request, under today's name": ("compare", {"request": {"ref_kernel": NEW, "custom_kernel": NEW}}),
    "the source by its old name in a kernel": ("evaluate", {"kernel": {"kernel_source": ADD, "kernel_type": "cuda", "io": IO}}),
    "compile_options, nested": ("evaluate", {"kernel": {**kernel(DEFINED), "metadata": {"compile_options": ["-DONE=1"]}}}),
    "name_expressions": ("evaluate_kernel", flat(TEMPLATE, metadata={"name_expressions": ["add<float>"], "kernel_name": "add<float>"})),
    "backend": ("evaluate_kernel", flat(metadata={"backend": "nvrtc"})),
    "jitify": ("evaluate_kernel", flat(metadata={"jitify": False})),
    "outputs beside args": ("evaluate_kernel", flat(io_contract={**IO, "outputs": [{"shape": [1000], "dtype": "float32"}]})),
    "shared_mem_bytes": ("evaluate_kernel", flat(SHARED, io_contract=with_launch(shared_mem_bytes=1024))),
    "nulls as pydantic dumps them": ("evaluate_kernel", flat(io_contract=with_launch(num_warps=None, num_stages=None))),
    "an input by value": ("evaluate_kernel", flat(io_contract=with_data())),
}


class OldSpellings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())

    def test_every_form_is_accepted(self):
        for how, (tool, arguments) in ACCEPTED.items():
            with self.subTest(how):
                result = self.server.call(tool, arguments)
                report = result["structuredContent"]
                self.assertEqual(report.get("verdict"), "passed", result["content"][0]["text"])
                self.assertEqual(report["status"], "success")
                self.assertTrue(report["kernel_exec_result"]["compiled"])
                self.assertTrue(report["kernel_exec_result"]["correctness"])
                if "compare" in tool or "reference_kernel_type" in arguments and arguments["reference_kernel_source"]:
                    self.assertIn("mean", report["ref_runtime"])
                if tool == "validate_kernel":
                    self.assertEqual((report["compiled"], report["validated"]), (True, True))
                    self.assertGreater(report["compilation_time"], 0)
                    self.assertNotIn("timed", [stage["name"] for stage in report["stages"] if stage["status"] == "passed"])

    def test_compile_kernel_takes_its_old_arguments_and_gives_their_answer(self):
        for how, arguments in COMPILED.items():
            with self.subTest(how):
                result = self.server.call("compile_kernel", arguments)
                report = result["structuredContent"]
                self.assertEqual(report.get("verdict"), "passed", result["content"][0]["text"])
                self.assertEqual((report["compiled"], report["status"], report["compilation_error"]), (True, "success", None))
        report = self.server.call("compile_kernel", {"kernel_source": BROKEN, "kernel_type": "cuda"})["structuredContent"]
        self.assertEqual((report["compiled"], report["status"], report["verdict"]), (False, "success", "compile_failed"))
        self.assertIn("MISSING", report["compilation_error"])

    def test_counters_asked_for_in_the_old_way_are_counted(self):
        asked = self.server.call("evaluate_kernel", flat(enable_device_metrics=True))["structuredContent"]
        said = self.server.call("evaluate", {"kernel": NEW, "num_trials": 2, "device_metrics": "on"})["structuredContent"]
        self.assertEqual(asked["device_metrics"].keys(), said["device_metrics"].keys())

    def test_what_is_wrong_is_refused_by_the_name_it_has_now(self):
        for how, (tool, arguments, pointer) in {
                "no source": ("evaluate_kernel", {"kernel_type": "cuda"}, "/kernel"),
                "text that is no JSON": ("evaluate_kernel", flat(io_contract="{"), "/kernel/io"),
                "a request that is none": ("compare_kernels", {"request": 7}, ""),
                "two kernels": ("evaluate_kernel", flat(kernel=NEW), "/kernel_source"),
                "two kernels, under today's name": ("evaluate", flat(kernel=NEW), "/kernel_source"),
                "two references": ("compare_kernels", pair(ref_kernel=NEW), "/ref_kernel_source"),
                "two kernels to compile": ("compile_kernel", {"kernel": {"source_code": ADD, "kernel_type": "cuda"}, "kernel_source": ADD}, "/kernel_source"),
                "an old word under a new name": ("evaluate", {"kernel": NEW, "enable_device_metrics": True}, "/enable_device_metrics"),
                "trials": ("evaluate_kernel", flat(num_trials=0), "/num_trials"),
                "one kernel": ("compare_kernels", {"ref_kernel_source": ADD, "ref_kernel_type": "cuda"}, "/custom_kernel")}.items():
            with self.subTest(how):
                result = self.server.call(tool, arguments)
                self.assertTrue(result["isError"])
                self.assertTrue(any(one["pointer"].startswith(pointer) for one in result["structuredContent"]["error"]["violations"]), result)

    def test_a_job_and_the_server_are_asked_for_under_the_old_names(self):
        report = self.server.call("evaluate_kernel", flat(BROKEN))["structuredContent"]
        self.assertEqual((report["verdict"], report["kernel_exec_result"]["compiled"]), ("compile_failed", False))
        self.assertIn("MISSING", report["kernel_exec_result"]["compilation_error"])
        told = self.server.call("validate_kernel", flat(BROKEN))["structuredContent"]
        self.assertEqual((told["compiled"], told["validated"]), (False, False))
        job = self.server.call("get_job_status", {"job_id": report["job_id"]})["structuredContent"]
        self.assertEqual((job["job_id"], job["state"], job["verdict"]), (report["job_id"], "completed", "compile_failed"))
        self.assertEqual((job["status"], len(job["created_at"])), ("completed", 20))
        self.assertIn("MISSING", told["compilation_error"])
        self.assertIsNone(told["validation_error"])
        for request in ({"job_id": report["job_id"]}, json.dumps({"job_id": report["job_id"]})):
            again = self.server.call("get_job_status", {"request": request})["structuredContent"]
            self.assertEqual((again["job_id"], again["state"], again["status"]), (report["job_id"], "completed", "completed"))
        for arguments in ({"request": {}}, {"request": "{}"}):
            self.assertIn("job_stats", self.server.call("get_server_stats", arguments)["structuredContent"])
        stats = self.server.call("get_server_stats")["structuredContent"]
        self.assertEqual(stats["job_stats"]["total_jobs"], sum(stats["job_stats"]["by_status"].values()))

    def test_null_is_nothing_said(self):
        nothing = dict.fromkeys(["num_trials", "timeout", "wait_s", "device", "checks", "until", "detail", "max_tokens", "ref_kernel", "atol"])
        self.assertEqual(self.server.call("evaluate", {"kernel": NEW, **nothing})["structuredContent"]["verdict"], "passed")
        self.assertTrue(self.server.call("evaluate", {"kernel": None})["isError"])

    def test_none_of_the_old_names_is_listed(self):
        listed = {tool["name"] for tool in self.server.answer(self.server.send("tools/list"))["result"]["tools"]}
        self.assertFalse(listed & {"evaluate_kernel", "validate_kernel", "compare_kernels", "get_job_status"})


if __name__ == "__main__":
    unittest.main()
