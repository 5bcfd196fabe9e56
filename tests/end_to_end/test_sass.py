"""assay://jobs/{id}/sass: machine code as text, by a disassembler that is confined like everything that reads a stranger's bytes."""

import contextlib
import glob
import json
import os
import pathlib
import shutil
import stat
import tempfile
import unittest
import urllib.error
import urllib.request

from assay_client import ADD, Server, kernel
from http_service import HttpService

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


ABSENT = "no {} on this machine: ./dev test fetches it (5 MB), as does python3 -m pip install nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump"


def real_disassembler(name="nvdisasm"):
    """NVIDIA's, wherever this machine has one."""
    wheels = sorted(glob.glob(str(ROOT / f".deps/**/bin/{name}"), recursive=True))
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin") or next(iter(wheels), None)


# What each kernel's machine code has to show, whatever the compiler makes of the rest. The lines are counted below.
SOURCE = """#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
__global__ void wide(const float4* a, float4* o) {
  o[threadIdx.x] = a[threadIdx.x];
}
__global__ void narrow(const short* a, double* o) {
  o[threadIdx.x] = (double)a[threadIdx.x] * 3.0;
}
__global__ void cores(const half* a, const half* b, float* o) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> x;
  fragment<matrix_b, 16, 16, 16, half, col_major> y;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0f);
  load_matrix_sync(x, a, 16);
  load_matrix_sync(y, b, 16);
  mma_sync(c, x, y, c);
  store_matrix_sync(o, c, 16, mem_row_major);
}
__global__ void indexed(const float* a, float* o, const int* at) {
  float kept[512];
  for (int i = 0; i < 512; ++i) kept[i] = a[i * 32 + threadIdx.x];
  o[threadIdx.x] = kept[at[threadIdx.x]] + kept[at[threadIdx.x + 32]];
}
__global__ void __launch_bounds__(1024, 2) spills(const float* a, float* o, int n) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = a[i * 1024 + threadIdx.x];
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = v[i] * v[(i + 1) % 64] + 1.0f;
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) o[i * 1024 + threadIdx.x] = v[i];
}
__device__ __forceinline__ float inner(float x) {
  return x * x * 3.0f;
}
__global__ void outer(const float* a, float* o) {
  o[threadIdx.x] = inner(a[threadIdx.x]);
}
__global__ void staged(const float4* a, float4* o, unsigned* hits) {
  __shared__ float4 s[256];
  __pipeline_memcpy_async(&s[threadIdx.x], &a[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  o[threadIdx.x] = s[255 - threadIdx.x];
  if (o[threadIdx.x].x > 0) atomicAdd(hits, 1u);
}
"""


def line_of(words):
    return next(i for i, line in enumerate(SOURCE.splitlines(), 1) if words in line)


class Sass(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="assay-sass-"))

    def fake(self, script, name="nvdisasm"):
        """A disassembler of the test's own, in a folder of its own."""
        folder = os.path.join(self.folder, "bin")
        os.makedirs(folder, exist_ok=True)
        file = os.path.join(folder, name)
        pathlib.Path(file).write_text("#!/bin/sh\n" + script + "\n", encoding="utf-8")
        os.chmod(file, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
        os.chmod(self.folder, 0o755)
        return file

    def job(self, server, arch="sm_90"):
        result = server.call("compile_kernel", {"kernel": {"source_code": ADD, "kernel_type": "cuda"}, "arch": arch})
        report = result["structuredContent"]
        self.assertEqual(report["verdict"], "passed", result["content"])
        return report["job_id"]

    def read(self, server, uri):
        return server.answer(server.send("resources/read", {"uri": uri}), 90)

    def sass(self, server, job_id, query=""):
        answer = self.read(server, f"assay://jobs/{job_id}/sass{query}")
        self.assertIn("result", answer, answer)
        return answer["result"]["contents"][0]["text"]

    def refusal(self, server, job_id):
        answer = self.read(server, f"assay://jobs/{job_id}/sass")
        self.assertIn("error", answer)
        self.assertEqual(answer["error"]["code"], -32602)
        self.assertTrue(answer["error"]["message"].startswith("unsupported: "), answer)
        self.assertLess(len(answer["error"]["message"]), 1000)
        return answer["error"]["message"]

    def listed(self, server):
        resources = server.answer(server.send("resources/list"))["result"]["resources"]
        return {one["uri"] for one in resources if one["uri"].endswith("/sass")}

    def test_what_the_disassembler_says_is_the_resource(self):
        with Server("--disassembler", self.fake('echo "$@" | sed "s,/.*/cubin,CUBIN,"; head -c 4 "$3"; echo; echo end')) as server:
            job_id = self.job(server)
            self.assertEqual(self.sass(server, job_id), "-c -gi CUBIN\n\x7fELF\nend\n")
            self.assertEqual(self.sass(server, job_id, "?offset=7&length=5"), "CUBIN")
            self.assertEqual(self.listed(server), {f"assay://jobs/{job_id}/sass"})
            offered = server.answer(server.send("completion/complete", {
                "ref": {"type": "ref/resource", "uri": "assay://jobs/{job_id}/{artifact}{?offset,length}"}, "argument": {"name": "artifact", "value": "sa"}}))
            self.assertIn("sass", offered["result"]["completion"]["values"])

    def test_cuobjdump_is_asked_in_its_own_words(self):
        with Server("--disassembler", self.fake('echo "$1"; head -c 4 "$2"', "cuobjdump")) as server:
            self.assertEqual(self.sass(server, self.job(server)), "-sass\n\x7fELF")

    def test_a_job_without_machine_code_says_how_to_get_some(self):
        with Server("--disassembler", self.fake("echo never")) as server:
            job_id = self.job(server, "compute_90")
            self.assertIn(job_id, self.refusal(server, job_id))
            self.assertEqual(self.listed(server), set())
            self.assertEqual(self.read(server, "assay://jobs/" + "0" * 32 + "/sass")["error"]["code"], -32602)

    def test_a_disassembler_that_fails_says_why_and_breaks_nothing(self):
        for script, said in (("echo no such section >&2; exit 3", "no such section"), ("kill -SEGV $$", "SIGSEGV"), ("yes", "more than 1024 MiB")):
            with self.subTest(script), Server("--disassembler", self.fake(script)) as server:
                job_id = self.job(server)
                self.assertIn(said, self.refusal(server, job_id))
                self.assertEqual(self.job(server) != job_id, True)

    def test_it_sees_no_more_than_it_needs(self):
        """Neither the journal nor another job's folder, no network; what it starts does not outlive it."""
        script = 'cat "%s"/* >/dev/null 2>&1 && echo READ; cat /etc/shadow >/dev/null 2>&1 && echo SHADOW; echo x > "%s/x" 2>/dev/null && echo WROTE; sleep 4321 & echo done'
        state = os.path.join(self.folder, "state")
        os.makedirs(state)
        with Server("--disassembler", self.fake(script % (state, state)), state=state) as server:
            self.assertEqual(self.sass(server, self.job(server)), "done\n")
        self.assertEqual([line for line in command_lines() if b"4321" in line], [])
        self.assertEqual(glob.glob(os.path.join(tempfile.gettempdir(), "assay-steps-*", "cubin")), [])

    def test_one_that_has_gone_is_named(self):
        file = self.fake("echo never")
        with Server("--disassembler", file) as server:
            job_id = self.job(server)
            os.remove(file)
            self.assertIn("nvdisasm", self.refusal(server, job_id))

    def test_rest_says_the_same_in_its_own_way(self):
        with HttpService("--disassembler", self.fake("echo text")) as service:
            request = urllib.request.Request(service.url + "/evaluate", json.dumps({"kernel": kernel(ADD), "num_trials": 1}).encode())
            with urllib.request.urlopen(request, timeout=120) as answer:
                job_id = json.loads(answer.read())["job_id"]
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{service.url}/job/{job_id}/sass", timeout=30)
            with refused.exception as error:
                self.assertEqual(error.code, 404)
                self.assertIn("unsupported: this job kept no machine code", json.loads(error.read())["error"])

    def test_counts_in_the_machine_code_are_told_by_kernel_and_line(self):
        script = r"""printf '.text.add:\n\t//## File "kernel.cu", line 3\n  /*0000*/  @P0 LDG.E.128 R4, [R2] ;\n  /*0010*/  EXIT ;\n'"""
        with Server("--disassembler", self.fake(script)) as server:
            job_id = self.job(server)
            told = json.loads(self.read(server, f"assay://jobs/{job_id}/machine_code")["result"]["contents"][0]["text"])
            only = told["kernels"][0]
            self.assertEqual((only["symbol"], only["instructions"], only["global_loads"]), ("add", 2, {"128": 1}))
            self.assertEqual(only["lines"], [{"file": "kernel.cu", "line": 3, "instructions": 2, "global_loads": {"128": 1}}])
            arguments = {"kernel": {"source_code": ADD, "kernel_type": "cuda"}}
            self.assertNotIn("machine_code", server.call("compile_kernel", arguments)["structuredContent"])
            full = server.call("compile_kernel", {**arguments, "detail": "full"})["structuredContent"]["machine_code"]
            self.assertEqual(full["kernels"][0]["classes"], {"control": 1, "global_loads": 1})
            virtual = server.call("compile_kernel", {**arguments, "detail": "full", "arch": "compute_90"})["structuredContent"]
            self.assertIn("kept no machine code", virtual["machine_code"]["unsupported"])

    def counted(self, arch, name):
        """Of what the real compiler made for `arch`: each kernel's counts, and its lines, by a name that its symbol has."""
        file = real_disassembler(name)
        if not file:
            self.skipTest(ABSENT.format(name))
        with Server("--disassembler", file) as server:
            asked = {"kernel": {"source_code": SOURCE, "kernel_type": "cuda"}, "arch": arch, "detail": "full", "max_tokens": 100000}
            report = server.call("compile_kernel", asked)["structuredContent"]
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertIn("kernels", report["machine_code"], report["machine_code"])
            told = json.loads(self.read(server, f"assay://jobs/{report['job_id']}/machine_code")["result"]["contents"][0]["text"])
        codes = {}
        for wanted in ("wide", "narrow", "cores", "indexed", "spills", "outer", "staged"):
            codes[wanted], = [code for code in told["kernels"] if wanted in code["symbol"]]
        return codes

    def check_counts(self, codes):
        self.assertEqual((codes["wide"]["global_loads"], codes["wide"]["global_stores"]), ({"128": 1}, {"128": 1}))
        self.assertEqual((codes["narrow"]["global_loads"], codes["narrow"]["global_stores"]), ({"16": 1}, {"64": 1}))
        self.assertGreaterEqual(codes["narrow"]["classes"]["float64"], 1)
        cores = codes["cores"]["tensor"]
        self.assertTrue(all(mnemonic.startswith("HMMA.16816.F32") for mnemonic in cores), cores)
        self.assertEqual(sum(cores.values()), codes["cores"]["classes"]["tensor"])
        # 16 x 16 x 16 of instructions that make 16 x 8 x 16 each.
        self.assertEqual(sum(cores.values()), 2)
        for name in ("indexed", "spills"):
            self.assertGreaterEqual(sum(codes[name]["local_loads"].values()), 1, name)
            self.assertGreaterEqual(sum(codes[name]["local_stores"].values()), 1, name)
            self.assertEqual(sum(codes[name]["local_loads"].values()), codes[name]["classes"]["local_loads"])
        for name in ("wide", "narrow", "cores", "outer", "staged"):
            self.assertEqual((codes[name]["local_loads"], codes[name]["local_stores"]), ({}, {}), name)
        for name in ("wide", "narrow", "indexed", "spills", "outer", "staged"):
            self.assertEqual(codes[name]["tensor"], {}, name)
        staged = codes["staged"]
        self.assertEqual(staged["classes"]["asynchronous_copies"], 1)
        self.assertEqual(staged["shared_loads"], {"128": 1})
        self.assertGreaterEqual(staged["classes"]["atomics"], 1)
        self.assertGreaterEqual(staged["classes"]["barriers"], 1)
        for name, code in codes.items():
            self.assertEqual(sum(code["classes"].values()), code["instructions"], name)

    def check_lines(self, codes):
        def lines(name, what):
            return {one["line"] for one in codes[name]["lines"] if what in one}

        self.assertEqual(lines("wide", "global_loads"), {line_of("o[threadIdx.x] = a[threadIdx.x];")})
        # Fragments are a header's doing, and told where the source asks for it.
        self.assertEqual(lines("cores", "tensor"), {line_of("mma_sync(")})
        self.assertEqual(lines("cores", "global_loads"), {line_of("load_matrix_sync(x"), line_of("load_matrix_sync(y")})
        self.assertEqual({one["file"] for code in codes.values() for one in code["lines"]}, {"kernel.cu"})
        self.assertEqual(lines("outer", "global_stores"), {line_of("= inner(")})
        self.assertIn(line_of("return x * x"), {one["line"] for one in codes["outer"]["lines"]})
        self.assertLessEqual({line_of("kept[i] = a[")}, lines("indexed", "local_stores"))
        for name, code in codes.items():
            self.assertEqual(sum(one["instructions"] for one in code["lines"]), code["instructions"], name)

    def test_counts_in_what_the_real_compiler_made_are_those_of_the_source(self):
        for arch in ("sm_80", "sm_90"):
            with self.subTest(arch):
                codes = self.counted(arch, "nvdisasm")
                self.check_counts(codes)
                self.check_lines(codes)

    def test_cuobjdump_counts_the_same_without_lines(self):
        if real_disassembler("cuobjdump") and not real_disassembler():
            self.skipTest(ABSENT.format("nvdisasm, which cuobjdump calls,"))
        for arch in ("sm_80", "sm_90"):
            with self.subTest(arch):
                ours = self.counted(arch, "cuobjdump")
                self.check_counts(ours)
                theirs = self.counted(arch, "nvdisasm")
                for name, code in ours.items():
                    self.assertNotIn("lines", code)
                    self.assertEqual(code["classes"], theirs[name]["classes"], name)

    def test_nvidias_own_disassembler_tells_the_instructions_and_their_lines(self):
        file = real_disassembler()
        if not file:
            self.skipTest(ABSENT.format("nvdisasm"))
        with Server("--disassembler", file) as server:
            text = self.sass(server, self.job(server))
            self.assertIn("EXIT", text)
            self.assertIn("FADD", text)
            self.assertIn("kernel.cu", text)


def command_lines():
    for file in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield pathlib.Path(file).read_bytes()


if __name__ == "__main__":
    unittest.main()
