"""compile_kernel through the real server and the real compiler."""

import os
import time
import unittest

from assay_client import ADD, SANITIZED, Server, contract, descendants, kernel
from kernel_file import all_kernels

SEGFAULTS_NVRTC = """template<class T> __global__ void __launch_bounds__(1024, MAXB) k(floatX* l, T* p) { p[0] = 1; }
"""
SHARED = """extern "C" __global__ void __launch_bounds__(128) tile(float* x, const int n) {
  __shared__ float s[64];
  s[threadIdx.x % 64] = x[n];
  __syncthreads();
  x[0] = s[n % 64];
}
"""
TEMPLATE = "template <class T> __global__ void scale(T* data, T factor) { data[threadIdx.x] *= factor; }\n"


def source(text, **metadata):
    body = {"source_code": text, "kernel_type": "cuda"}
    if metadata:
        body["metadata"] = metadata
    return body


class Compile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def compile(self, text, metadata=None, **more):
        result = self.server.call("compile_kernel", {"kernel": source(text, **(metadata or {})), **more})
        self.assertFalse(result["isError"], result["content"])
        return result["structuredContent"]

    def errors(self, text, metadata=None, **more):
        report = self.compile(text, metadata, **more)
        self.assertEqual(report["verdict"], "compile_failed", report["summary"])
        self.assertFalse(report["compiled"])
        found = [d for d in report["diagnostics"] if d["severity"] == "error"]
        self.assertTrue(found)
        return found

    # What is found, cut out of the source at the range told.
    def word(self, text, found):
        self.assertEqual(found["file"], "kernel.cu")
        line = text.split("\n")[found["line"] - 1].encode()
        self.assertEqual(found["end_line"], found["line"])
        return line[found["column"] - 1:found["end_column"] - 1].decode()

    def test_what_the_quick_compile_leaves_out_is_there(self):
        # Sources without an include are tried without the compiler's texts of these first.
        for text in ("__global__ void k(cudaTextureObject_t t, float* o) { o[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }",
                     "__global__ void k(cudaSurfaceObject_t s, float* o) { o[0] = surf2Dread<float>(s, 0, 0); }",
                     "__global__ void k(int* o) { printf(\"%d\\n\", *o); assert(*o == 0); free(malloc(8)); }"):
            with self.subTest(text):
                report = self.compile(text)
                self.assertTrue(report["compiled"], report["diagnostics"])
                self.assertEqual(report["kernels"][0]["name"], "k")

    def test_a_kernel_is_told_with_its_signature_resources_and_a_contract(self):
        report = self.compile(ADD)
        self.assertEqual(report["verdict"], "passed")
        (one,) = report["kernels"]
        self.assertEqual(one["name"], "add")
        self.assertEqual(one["signature"], "add(float const* a, float const* b, float* out, int n)")
        self.assertEqual([a["name"] for a in one["args"]], ["a", "b", "out", "n"])
        self.assertTrue(4 < one["registers"] < 64, one)
        self.assertEqual(one["spill_store_bytes"], 0)
        self.assertGreater(one["constant_bytes"], 28)
        self.assertEqual(one["runs_on"], ["emulator"])
        self.assertEqual(one["occupancy"]["percent"], 100)
        self.assertEqual({a["name"] for a in report["artifacts"]} & {"ptx", "cubin"}, {"ptx", "cubin"})

    def test_the_drafted_contract_evaluates(self):
        io = self.compile(ADD)["contract"]["io"]
        report = self.server.evaluate(ADD, io=io)
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_the_draft_is_what_the_source_gives_away_and_get_job_repeats_it(self):
        pasted = ("__global__ void row_sums(const float* in, float* out, int rows, int columns) {\n"
                  "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= rows) return;\n"
                  "  float sum = 0;\n  for (int c = 0; c < columns; ++c) sum += in[row * columns + c];\n"
                  "  out[row] = sum;\n}\n"
                  "int main() { row_sums<<<2, 64>>>(nullptr, nullptr, 100, 30); }\n")
        report = self.compile(pasted)
        draft = report["contract"]
        built = self.server.call("build_io_contract", {"kernel": source(pasted)})["structuredContent"]
        self.assertEqual(draft["io"], built["io_contract"])
        self.assertEqual(draft["guesses"], built["assumptions"])
        self.assertEqual([a.get("value") for a in draft["io"]["args"]], [None, None, 100, 30])
        again = self.server.call("get_job", {"job_id": report["job_id"]})["structuredContent"]
        self.assertEqual(again["contract"], draft)
        self.assertEqual(self.server.evaluate(pasted, io=draft["io"])["verdict"], "passed")

    def test_the_draft_of_a_template_is_of_the_instance_asked_for(self):
        draft = self.compile(TEMPLATE, {"name_expressions": ["scale<double>"]})["contract"]
        self.assertEqual(draft["kernel"], "scale<double>")
        self.assertEqual(draft["io"]["args"][0]["tensor_spec"]["dtype"], "float64")
        result = self.server.call("evaluate", {"kernel": {
            "source_code": TEMPLATE, "kernel_type": "cuda", "io": draft["io"], "metadata": draft["metadata"]}})
        self.assertEqual(result["structuredContent"]["verdict"], "passed", result)

    def test_shared_memory_launch_bounds_and_extern_c(self):
        (one,) = self.compile(SHARED)["kernels"]
        self.assertEqual(one["static_shared_bytes"], 256)
        self.assertEqual(one["max_threads"], 128)
        self.assertEqual(one["barriers"], 1)
        self.assertEqual(one["signature"], "tile(float* x, const int n)")

    def test_constant_memory_is_the_kernels_own_and_the_programs(self):
        text = ("__constant__ float table[1000];\n__global__ void k(float* p, int n) { p[0] = table[n]; }\n")
        (one,) = self.compile(text)["kernels"]
        self.assertEqual(one["module_constant_bytes"], 4000)
        (plain,) = self.compile(ADD)["kernels"]
        self.assertEqual(plain["module_constant_bytes"], 0)

    def test_occupancy_is_of_the_launch_in_the_contract(self):
        io = contract(block=64)
        io["launch"]["shared_mem_bytes"] = 100 << 10
        result = self.server.call("compile_kernel", {"kernel": kernel(ADD, io)})["structuredContent"]
        occupancy = result["kernels"][0]["occupancy"]
        self.assertEqual(occupancy["block_threads"], 64)
        self.assertFalse(occupancy["block_assumed"])
        self.assertEqual(occupancy["blocks_per_multiprocessor"], 2)
        self.assertEqual(occupancy["limited_by"], ["shared_memory"])

    def test_every_kind_of_error_is_at_the_users_own_words(self):
        undeclared = "__global__ void k(float* p) {\n\tp[0] = nope;\n}\n"
        self.assertEqual(self.word(undeclared, self.errors(undeclared)[0]), "nope")
        macro = ("#define BAD(x) ((x) + undefined_thing)\n#define OUTER(y) BAD(y) * 2\n"
                 "__global__ void k(float* p) {\n  p[0] = OUTER(p[1]);\n}\n")
        self.assertEqual(self.word(macro, self.errors(macro)[0]), "OUTER")
        template = ("template <class T> __device__ T f(T x) { return x.foo(); }\n"
                    "__global__ void k(float* p) { p[0] = f(p[1]); }\n")
        found = self.errors(template)[0]
        self.assertEqual(self.word(template, found), "x")
        self.assertIn("at line 2", found["message"])
        missing = '// first\n#include "nope.h"\n'
        self.assertEqual(self.errors(missing)[0]["line"], 2)
        (line,) = self.errors('#line 100 "mine.cu"\n__global__ void k(float* p) { p[0] = q; }\n')
        self.assertEqual((line["file"], line["line"]), ("mine.cu", 100))
        assertion = ('template <int N> __device__ void f() { static_assert(N > 3, "N too small"); }\n'
                     "__global__ void k(float* p) { f<2>(); }\n")
        self.assertIn("N too small", self.errors(assertion)[0]["message"])

    def test_errors_of_headers_name_the_header_without_this_machines_folders(self):
        report = self.compile("#include <cuda_fp16.h>\n"
                              '__global__ void k(__half* p) { p[0] = __hadd("x", p[1]); }\n')
        self.assertEqual(report["diagnostics"][0]["line"], 2)
        files = {d.get("file") for d in report["diagnostics"]}
        self.assertIn("cuda_fp16.h", files)

    def test_the_assemblers_errors_are_errors(self):
        found = self.errors("__global__ void k(float* p) {\n  __shared__ float s[100000];\n"
                            "  s[threadIdx.x] = p[0];\n  __syncthreads();\n  p[1] = s[3];\n}\n")
        self.assertIn("k(float*)", found[0]["message"])
        # It belongs to the kernel as a whole, which begins there.
        self.assertEqual((found[0]["file"], found[0]["line"]), ("kernel.cu", 1))

    def test_warnings_do_not_fail(self):
        report = self.compile("__global__ void k(float* p) {\n  int unused;\n  p[0] = 1;\n}\n")
        self.assertEqual(report["verdict"], "passed")
        (warning,) = report["diagnostics"]
        self.assertEqual((warning["severity"], warning["line"]), ("warning", 2))
        self.assertIn("1 warning", report["summary"])

    def test_a_megabyte_of_errors_is_told_within_bounds(self):
        text = "".join(f"__device__ int f{i} = {'u' * 10000}{i};\n" for i in range(104))
        report = self.compile(text)
        self.assertEqual(report["verdict"], "compile_failed")
        self.assertEqual(report["diagnostics"][0]["line"], 1)
        self.assertLess(len(str(report)), 500_000)

    def test_template_instances_are_named_by_expressions(self):
        self.assertIn("name_expressions", self.compile(TEMPLATE)["summary"])
        report = self.compile(TEMPLATE, {"name_expressions": ["scale<float>", "scale<double>"]})
        signatures = {k["signature"] for k in report["kernels"]}
        self.assertEqual(signatures, {"scale<float>(float* data, float factor)",
                                      "scale<double>(double* data, double factor)"})
        named = self.compile(TEMPLATE, {"kernel_name": "scale<double>"})
        self.assertEqual(len(named["kernels"]), 1, named["summary"])
        (first, *_) = self.errors(TEMPLATE, {"name_expressions": ["scale<nope>"]})
        self.assertIn("scale<nope>", first["message"])
        self.assertNotIn("__nv_name_map", str(first))

    def test_a_crash_of_the_compiler_is_a_failed_compile_with_what_it_can_say(self):
        report = self.compile(SEGFAULTS_NVRTC, {"name_expressions": ["k<float>"]})
        self.assertEqual(report["verdict"], "compile_failed")
        self.assertEqual(report["error"]["signal"], "SIGSEGV")
        self.assertIn("MAXB", report["diagnostics"][0]["message"])
        self.assertEqual(self.compile(ADD)["verdict"], "passed")

    def test_every_target_of_the_toolkit_compiles(self):
        capabilities = self.server.call("check_capabilities")["structuredContent"]
        for number in capabilities["toolkit"]["architectures"]:
            report = self.compile(ADD, arch=f"sm_{number}")
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertGreater(report["kernels"][0]["registers"], 0)
        virtual = self.compile(ADD, arch="compute_90")["kernels"][0]
        self.assertIsNone(virtual["registers"])
        self.assertIn("virtual", virtual["resources_missing"])

    def test_what_the_emulator_cannot_execute_is_named_with_its_line(self):
        text = ('__global__ void k(unsigned long long* p) {\n  unsigned long long d = 0;\n'
                '  asm volatile("wgmma.fence.sync.aligned;\\n" ::: "memory");\n  p[0] = d;\n}\n')
        (one,) = self.compile(text, arch="sm_90a")["kernels"]
        self.assertEqual(one["runs_on"], [])
        self.assertIn("wgmma", one["unsupported"]["instruction"])
        self.assertEqual(one["unsupported"]["line"], 3)

    def test_get_job_repeats_the_answer(self):
        report = self.compile(ADD + "// once more\n", include_ptx=True)
        self.assertIn(".entry", report["ptx"])
        again = self.server.call("get_job", {"job_id": report["job_id"]})["structuredContent"]
        self.assertEqual(again["kernels"], report["kernels"])
        self.assertEqual(again["diagnostics"], report["diagnostics"])


class Drafts(unittest.TestCase):
    """What is drafted of real kernels without any host code: most run as drafted, and nearly all roles are right."""

    @unittest.skipIf(SANITIZED, "sixty evaluations say nothing more there")
    def test_most_drafts_run_and_know_the_roles(self):
        ran = roles = wrong = 0
        kernels = all_kernels()
        with Server() as server:
            for one in kernels:
                given = source(one.source, **(one.metadata or {}))
                draft = server.call("compile_kernel", {"kernel": given})["structuredContent"]["contract"]
                if draft["io"] is None:
                    self.assertIn("by value", draft["guesses"][0], one.name)
                    continue
                given.update(io=draft["io"], metadata={**(one.metadata or {}), **draft.get("metadata", {})})
                report = server.call("evaluate", {"kernel": given, "num_trials": 1, "validation_trials": 1, "timeout": 5,
                                                  "wait_s": 100})["structuredContent"]
                ran += report["verdict"] == "passed"
                right = {a["name"]: a["role"] for a in one.io["args"] if a["type"] == "tensor"}
                for arg in draft["io"]["args"]:
                    if arg["type"] == "tensor":
                        roles += 1
                        wrong += right.get(arg["name"]) != arg["role"]
        self.assertGreaterEqual(ran, 48, f"of {len(kernels)}")
        self.assertLessEqual(wrong, roles // 20, f"of {roles} roles")


class Cache(unittest.TestCase):
    def compile(self, server, text=ADD):
        return server.call("compile_kernel", {"kernel": source(text)})["structuredContent"]

    def folder(self, server):
        return os.path.join(server.state, "compiled")

    def test_a_second_compile_answers_from_the_cache_also_in_another_server(self):
        with Server() as server:
            first = self.compile(server)
            second = self.compile(server)
            self.assertEqual((first["cached"], second["cached"]), (False, True))
            self.assertEqual(first["kernels"], second["kernels"])
            self.assertEqual([one.get("id") for one in first["artifacts"]], [one.get("id") for one in second["artifacts"]])
            self.assertFalse(self.compile(server, ADD + "\n")["cached"])
            with Server(state=server.state) as other:
                self.assertTrue(self.compile(other)["cached"])

    def test_errors_are_cached_too(self):
        with Server() as server:
            broken = "__global__ void k(float* p) { p[0] = nope; }\n"
            first, second = self.compile(server, broken), self.compile(server, broken)
            self.assertEqual(first["diagnostics"], second["diagnostics"])
            self.assertEqual(second["verdict"], "compile_failed")
            self.assertTrue(second["error"]["cached"])

    def test_a_damaged_entry_is_compiled_again(self):
        with Server() as server:
            self.compile(server)
            for name in (n for n in os.listdir(self.folder(server)) if n != "headers"):
                with open(os.path.join(self.folder(server), name), "r+b") as file:
                    file.seek(200)
                    file.write(b"\0\0\0\0")
            self.assertFalse(self.compile(server)["cached"])
            self.assertTrue(self.compile(server)["cached"])

    def at_rest(self, server):
        """Its processes, once the compiler that is made ahead stands ready."""
        seen = None
        for _ in range(30):
            now = {pid for pid, _ in descendants(server.process.pid)}
            if now == seen:
                break
            seen = now
            time.sleep(1.5)
        return seen

    def test_a_cached_compile_starts_no_process(self):
        with Server() as server:
            self.compile(server)
            before = self.at_rest(server)
            for _ in range(20):
                self.assertTrue(self.compile(server)["cached"])
            after = {pid for pid, _ in descendants(server.process.pid)}
            self.assertLessEqual(after - before, set())


if __name__ == "__main__":
    unittest.main()
