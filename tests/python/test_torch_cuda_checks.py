"""`checks` of the kernels that a torch_cuda source launches where there is no GPU: its own process looks at them, and what it
tells is a claim."""

import unittest

from assay_client import tensor
from torch_cuda_sources import PLAIN, ROWS, TAIL, VARIABLES, inline
from torch_server import SCALE, TorchServer, inputs, io_of, source

FOUR = ["memory", "races", "initialised", "barriers"]
CENTRED = "import torch\n\ndef f(x):\n    return x - x.mean(dim=1, keepdim=True)\n"
HEADERS = "#include <torch/extension.h>\n#include <cuda_runtime.h>\n"

# Turns each 128 elements round in shared memory.
REVERSE = HEADERS + """
__global__ void reverse(const float* a, float* out, int n) {
  __shared__ float tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  tile[threadIdx.x] = a[i];
  __syncthreads();
  out[i] = tile[127 - threadIdx.x];
}
torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  reverse<<<a.numel() / 128, 128>>>(a.data_ptr<float>(), out.data_ptr<float>(), a.numel());
  return out;
}
"""
REVERSED = "import torch\n\ndef scale(x):\n    return x.view(-1, 128).flip(1).reshape(x.shape)\n"


def line_of(text, words):
    return next(number for number, line in enumerate(text.split("\n"), 1) if words in line)


class TorchCudaChecks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, text, io=None, reference=SCALE, checks=FOUR, function="scale", **more):
        return self.server.judge(source(text, "torch_cuda", io or inputs()), reference and source(reference, function_name=function),
                                 checks=checks, **more)

    def looked_at(self, text, verdict="passed", ran=True, **more):
        report = self.judge(text, **more)
        self.assertEqual(report["verdict"], verdict, report["summary"])
        checks = report["validation"]["checks"]
        self.assertEqual(checks["ran"], ran, checks)
        return report, checks

    def finds(self, kind, kernel, line, text, **more):
        """The one finding of this kind at this line."""
        report, checks = self.looked_at(text, **more)
        where = [("kernel.py", line_of(text, line))]
        (found,) = [finding for finding in checks["findings"] if finding["kind"] == kind
                    and [(finding["where"]["file"], finding["where"]["line"])] == where]
        self.assertEqual((found["kernel"], found["by"]), (kernel, "emulator"))
        if kind != "out_of_bounds":  # that is what ended it
            self.assertIn("Checks found", report["summary"])
        return found

    def test_right_kernels_are_clean_under_all_checks(self):
        for text, more in ((inline(ROWS), {"reference": CENTRED, "function": "f", "io": inputs(shape=(33, 70))}),
                           (inline(PLAIN), {}), (inline(REVERSE), {"reference": REVERSED}), (inline(VARIABLES), {})):
            with self.subTest(text[:200]):
                report, checks = self.looked_at(text, **more)
                self.assertEqual((checks["findings"], checks["checks"]), ([], FOUR), checks)
                self.assertGreater(checks["blocks"]["of"], 0)
                self.assertEqual(checks["blocks"]["checked"], checks["blocks"]["of"])
                self.assertNotIn("Checks found", report["summary"])
                self.assertFalse([warning for warning in report["warnings"] if warning["code"] == "checks"])

    def test_a_store_and_a_load_out_of_bounds_are_told_with_line_thread_and_block(self):
        io = inputs(shape=(1000,))
        store = inline(PLAIN.replace("if (i < n)", "if (i <= n)").replace("a[i] * 2.0f", "2.0f"))
        load = inline(PLAIN.replace("if (i < n) out[i] = a[i]", "if (i < n) out[i] = a[i + i / 999]"))
        for text, thread, memory in ((store, [232, 0, 0], "argument 1"), (load, [231, 0, 0], "x")):
            found = self.finds("out_of_bounds", "twice", "out[i] = ", text, io=io, verdict="crashed", checks=["memory"])
            self.assertEqual((found["block"], found["thread"], found["memory"], found["element"], found["severity"]),
                             ([3, 0, 0], thread, memory, 1000, "error"))

    def test_a_missing_barrier_is_told_with_both_sides(self):
        text = inline(REVERSE.replace("  __syncthreads();\n", ""))
        found = self.finds("shared_race", "reverse", "out[i] = tile", text, reference=None, checks=["races"])
        self.assertEqual((found["memory"], found["other"]["where"]["line"]), ("tile", line_of(text, "tile[threadIdx.x] =")))
        self.assertNotEqual(found["thread"], found["other"]["thread"])
        self.assertEqual(self.looked_at(text, reference=None, checks=["barriers"])[1]["findings"], [])

    def test_shared_memory_that_nobody_wrote_is_told(self):
        text = inline(REVERSE.replace("tile[threadIdx.x] = a[i];", "if (threadIdx.x != 5) tile[threadIdx.x] = a[i];"))
        found = self.finds("uninitialised_shared", "reverse", "out[i] = tile", text, reference=None, checks=["initialised"])
        self.assertEqual((found["memory"], found["element"], found["thread"], found["count"]), ("tile", 5, [122, 0, 0], 32))

    def test_a_barrier_that_a_part_of_a_warp_meets_is_told(self):
        text = inline(REVERSE.replace("  __syncthreads();", "  __syncthreads();\n  if (threadIdx.x % 2 == 0) __syncthreads();"))
        found = self.finds("divergent_barrier", "reverse", "% 2 == 0) __syncthreads", text, reference=None, checks=["barriers"])
        self.assertEqual((found["block"], found["severity"]), ([0, 0, 0], "error"))
        self.assertEqual(len(found["thread"]), 3)

    def test_numbers_are_looked_at_too(self):
        text = inline(PLAIN.replace("if (i < n) out[i] =", "long long by = i % 2;\n  if (i < n) out[i] = float(i / by) * 0 +"))
        found = self.finds("division_by_zero", "twice", "i / by", text, checks=["numbers"])
        self.assertEqual((found["count"], found["thread"]), (2048, [0, 0, 0]))

    def test_allocated_memory_that_is_added_to_is_uninitialised(self):
        adds = PLAIN.replace("out[i] = a[i] * 2.0f", "out[i] += a[i] * 2.0f")
        text = inline(adds)
        found = self.finds("uninitialised_global", "twice", "out[i] += ", text, reference=None, checks=["initialised"])
        self.assertEqual((found["memory"], found["count"]), ("argument 1", 4096))
        for zeroed in ("torch::zeros_like(a)", "torch::empty_like(a); out.zero_()", "a.clone(); out -= a",
                       "torch::empty_like(a); cudaMemset(out.data_ptr(), 0, out.numel() * 4)"):
            with self.subTest(zeroed):
                text = inline(adds.replace("torch::empty_like(a)", zeroed))
                self.assertEqual(self.looked_at(text, checks=["initialised"])[1]["findings"], [])

    def test_an_output_that_is_lent_is_uninitialised_unless_it_begins_with_contents(self):
        cuda = HEADERS + """
__global__ void add(const float* a, float* out, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] += a[i] * 2.0f;
}
void forward(torch::Tensor a, torch::Tensor out) {
  add<<<(a.numel() + 255) / 256, 256>>>(a.data_ptr<float>(), out.data_ptr<float>(), a.numel());
}
"""
        text = inline(cuda, "void forward(torch::Tensor a, torch::Tensor out);", tail=TAIL.replace("(self, x)", "(self, x, y)").replace("forward(x)", "forward(x, y)"))
        x = tensor("x", 1000, kind="randn", seed=3)
        found = self.finds("uninitialised_global", "add", "out[i] += ", text, reference=None, checks=["initialised"], io=io_of(x, tensor("y", 1000, role="output")))
        self.assertEqual((found["memory"], found["count"]), ("y", 1000))
        for other in (tensor("y", 1000, role="output", kind="zeros"), tensor("y", 1000, role="inout", kind="zeros")):
            self.assertEqual(self.looked_at(text, reference=None, checks=["initialised"], io=io_of(x, other))[1]["findings"], [])

    def test_the_same_mistake_of_many_launches_is_told_once(self):
        cuda = REVERSE.replace("  __syncthreads();\n", "").replace("reverse<<<", "for (int k = 0; k < 5; ++k) reverse<<<")
        found = self.finds("shared_race", "reverse", "out[i] = tile", inline(cuda), reference=None, checks=["races"])
        once = self.finds("shared_race", "reverse", "out[i] = tile", inline(cuda.replace("k < 5", "k < 1")), reference=None, checks=["races"])
        self.assertEqual(found["count"], 5 * once["count"])

    def test_kernels_are_called_as_the_source_has_them(self):
        cuda = REVERSE.replace("  __syncthreads();\n", "").replace("__global__ void reverse(const float* a, float* out", "namespace {\ntemplate <class T>\n__global__ void reverse(const T* a, T* out")
        cuda = cuda.replace("torch::Tensor forward", "}  // namespace\ntorch::Tensor forward").replace("reverse<<<", "reverse<float><<<")
        self.finds("shared_race", "reverse<float>", "out[i] = tile", inline(cuda), reference=None, checks=["races"])

    def test_inputs_of_its_own_and_a_sample_of_blocks(self):
        text = inline(REVERSE.replace("  __syncthreads();\n", "")) + "\ndef get_inputs():\n    return [torch.randn(64, 128)]\n"
        kernel = {"source_code": text, "kernel_type": "torch_cuda"}
        counts = []
        for more in ({}, {"check_blocks": 4}):
            checks = self.server.judge(kernel, checks=["races"], **more)["validation"]["checks"]
            counts.append(sum(found["count"] for found in checks["findings"]))
            self.assertEqual(checks["blocks"], {"checked": more.get("check_blocks", 64), "of": 64})
        self.assertEqual(counts[0], 16 * counts[1])

    def test_a_local_that_nobody_set_is_told_by_its_name(self):
        text = inline(REVERSE.replace("  out[i] = tile", "  float scale;\n  if (a[i] > 100.f) scale = 2;\n  out[i] = scale * tile"))
        report, checks = self.looked_at(text, reference=None, checks=["initialised"])
        (found,) = checks["findings"]
        self.assertEqual((found["kind"], found["memory"], found["kernel"], found["where"]["line"]),
                         ("uninitialised_local", "scale", "reverse", line_of(text, "out[i] = scale")))
        self.assertTrue(checks["locals"]["ran"])
        self.assertGreater(checks["locals"]["compile_ms"], 0)

    def test_what_launches_nothing_says_so(self):
        text = inline(PLAIN.replace("twice<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), out.data_ptr<float>(), n);", "out.copy_(a * 2);"))
        report, checks = self.looked_at(text, ran=False)
        self.assertEqual((checks["findings"], len(checks["notes"])), ([], 1))
        self.assertIn("launched no kernel of its own", checks["notes"][0])

    def test_a_hang_is_told_and_what_was_found_before_it(self):
        text = inline(REVERSE.replace("  __syncthreads();\n", "").replace("out[i] = tile", "while (a[0] == a[0]) if (out == nullptr) break;\n  out[i] = tile"))
        report, checks = self.looked_at(text, "timed_out", reference=REVERSED, checks=["races", "memory"], timeout=5)
        self.assertEqual(checks["findings"], [])
        self.assertIn("budget_wall", checks["notes"][0])
        self.assertIn(f"kernel.py:{line_of(text, 'while (a[0]')}", checks["notes"][0])

    def test_what_a_kernel_prints_while_it_is_looked_at_is_nobodys_output(self):
        text = inline(REVERSE.replace("  __syncthreads();\n", '  for (int k = 0; k < 99; ++k) printf("%d of %d", k, i);\n'))
        self.finds("shared_race", "reverse", "out[i] = tile", text, reference=None, checks=["races"], validation_trials=1)

    def test_a_source_whose_kernels_decide_nothing_is_told_so_as_without_checks(self):
        text = inline(PLAIN.replace("return out;", "return a * 2;"))
        report, checks = self.looked_at(text)
        self.assertEqual([item["check"] for item in report["evidence"]], ["launches"])
        self.assertEqual(checks["findings"], [])

    def test_scripts_that_mix_kernels_are_looked_at_where_they_build(self):
        text = inline(REVERSE.replace("  __syncthreads();\n", "")) + "\ndef run(x):\n    return ModelNew()(x)\n"
        report = self.server.judge(source(text, "multi_kernel", inputs(), entry_point="run"), checks=["races"])
        checks = report["validation"]["checks"]
        self.assertEqual({found["kind"] for found in checks["findings"]}, {"shared_race"}, checks)
        self.assertFalse([warning for warning in report["warnings"] if warning["code"] == "checks"])
        answer = self.server.call("evaluate", {"kernel": source("def run(x):\n    return x * 2\n", "multi_kernel", inputs(), entry_point="run"),
                                               "checks": ["races"]})
        self.assertTrue(answer["isError"])
        self.assertIn("load_inline", answer["content"][0]["text"])


RACE = REVERSE.replace("  __syncthreads();\n", "").replace("out[i] = tile", "while (a[0] == 12345.f) if (out == nullptr) break;\n  out[i] = tile")
FORGING = "import os, time\nfrom assay_runner import emulated\nfrom assay_runner.channel import Channel\n"
TELLS = "emulated.findings = lambda: {'findings': [], 'notes': [], 'launches': 1, 'blocks': {'checked': 1, 'of': 1}}"
NO_FINDING = "what are no findings"
NOT_ENDED = "did not come to its end"
# What a source may do to the process that is to tell of its mistakes, and what is said then; None: it is believed.
FORGED = {
    "tells of none": (TELLS, None),
    "tells of nothing": ("emulated.findings = lambda: {}", NO_FINDING),
    "tells junk": ("emulated.findings = lambda: {'findings': 7, 'notes': None, 'launches': -1, 'blocks': []}", NO_FINDING),
    "tells half a finding": (TELLS.replace("'findings': []", "'findings': [{'kind': 'shared_race'}]"), NO_FINDING),
    "tells fractions": (TELLS.replace("'checked': 1", "'checked': 1e300"), NO_FINDING),
    "tells no number": (TELLS.replace("'launches': 1", "'launches': float('nan')"), "broke the protocol"),
    "tells many": (TELLS.replace("'findings': []", "'findings': [dict(kind='k' * 9999, severity='fatal', message='m' * 3000, count=1, "
                                 "where=dict(file='f', line=1 << 60, column=1))] * 150").replace("'notes': []", "'notes': ['n' * 9999] * 200"), None),
    "tells too much": (TELLS.replace("'notes': []", "'notes': ['n' * (1 << 27)]"), "broke the protocol"),
    "tells what is no text": (TELLS.replace("'notes': []", "'notes': ['\\udc80\\ud800']"), None),
    "raises": ("emulated.findings = lambda: 1 / 0", "ZeroDivisionError"),
    "looks at nothing": ("emulated.inspect = lambda *_: None", "TypeError"),
    "leaves": ("emulated.inspect = lambda *_: os._exit(0)", "exit code 0"),
    "falls": ("emulated.inspect = lambda *_: os.kill(os.getpid(), 11)", "SIGSEGV"),
    "never answers": ("emulated.inspect = lambda *_: time.sleep(100)", "passed its deadline"),
    "answers twice": ("emulated.inspect = lambda *_: Channel(3).send({'type': 'inspected', 'seq': 4})", "own channel"),
    "writes what is no frame": ("emulated.inspect = lambda *_: os.write(3, b'x' * 9999)", "broke the protocol"),
    "floods": ("emulated.inspect = lambda *_: [os.write(1, b'y' * 65536) for _ in range(9999)]", NOT_ENDED),
    "hangs then alone": ("looks = emulated.inspect\nemulated.inspect = lambda *order: (looks(*order), FORCED.append(12345.0))", "budget_wall"),
}
FORCING = """
FORCED = []
class ModelNew(nn.Module):
    def forward(self, x):
        return module.forward(torch.full_like(x, FORCED[0]) if FORCED else x)
"""


class ForgedChecks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, cuda, forged, reference=None):
        return self.server.judge(source(inline(cuda, tail=FORGING + FORCING + forged + "\n"), "torch_cuda", inputs()),
                                 reference and source(reference, function_name="scale"), checks=["races"], timeout=5)

    def test_whatever_its_process_tells_has_the_form_of_findings_or_is_told_in_a_note(self):
        for what, (forged, says) in FORGED.items():
            with self.subTest(what):
                report = self.judge(RACE, forged)
                checks = report["validation"]["checks"]
                self.assertEqual((report["verdict"], checks["ran"]), ("passed", says in (None, "budget_wall")), report)
                if says:
                    self.assertIn(says, checks["notes"][0])
                self.assertLessEqual(len(checks["findings"]), 100)
                for found in checks["findings"]:
                    self.assertLessEqual(len(found["message"]) + len(found["kind"]), 2000)
                    self.assertEqual(found["by"], "emulator")
                self.assertLess(len(str(checks)), 60_000)
                self.assertEqual([item["check"] for item in report["evidence"] if item["check"] == "patched_functions"], ["patched_functions"])

    def test_a_source_that_knows_when_it_is_looked_at_gains_nothing_by_what_it_does_then(self):
        knows = """
def is_looked_at(frame):
    return frame is not None and (frame.f_code.co_name == '_inspect' or is_looked_at(frame.f_back))
class ModelNew(nn.Module):
    def forward(self, x):
        if is_looked_at(sys._getframe()):
            THEN
        return module.forward(x)
"""
        wrong = RACE.replace("127 - threadIdx.x];", "127 - threadIdx.x] + 1;")
        for then, says, trust in (("return x * 2", "launched no kernel of its own", "audited"), ("os.write(3, b'x' * 9999)", "broke the protocol", "suspect"),
                                  ("Channel(3).send({'type': 'inspected', 'seq': 4, 'findings': []})", "own channel", "suspect"),
                                  ("os.abort()", "SIGABRT", "audited"), ("raise SystemExit(0)", "raised SystemExit", "audited")):
            with self.subTest(then):
                forged = "import sys\n" + knows.replace("THEN", then)
                report = self.judge(REVERSE, forged, REVERSED)
                notes = report["validation"]["checks"]["notes"]
                self.assertEqual((report["verdict"], report["trust"]), ("passed", trust), report["summary"])
                self.assertIn(says, notes[0])
                self.assertEqual(self.judge(wrong, forged, REVERSED)["verdict"], "wrong_output")

    def test_no_finding_and_no_silence_makes_a_wrong_kernel_pass(self):
        for what in ("tells of none", "tells many", "leaves", "answers twice"):
            with self.subTest(what):
                report = self.judge(RACE, FORGED[what][0], reference=SCALE)
                self.assertEqual(report["verdict"], "wrong_output", report["summary"])
                self.assertNotEqual(report["trust"], "verified")


if __name__ == "__main__":
    unittest.main()
