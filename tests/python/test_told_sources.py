"""What is wrong with a source and no error of its own: builds that it got over, kernels that decide nothing, constructors
that take something else, and what only looks like CUDA."""

import os
import unittest

from torch_cuda_sources import TAIL, inline
from torch_server import SCALE, TorchServer, inputs, source
from triton_kernels import ADD, ADD_IO, ADD_TORCH

CUDA = """
#include <torch/extension.h>
__global__ void twice(const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * a[i];
}
torch::Tensor forward(torch::Tensor x) {
  auto out = torch::empty_like(x);
  int n = x.numel();
  twice<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
"""
DECLARED = "torch::Tensor forward(torch::Tensor x);"
DECOY = CUDA.replace("return out;", "return x * 2.0;").replace("(n + 255) / 256, 256", "1, 32")
# Honest work on both sides of a kernel, and one beside it.
BEFORE = CUDA.replace("int n =", "x = (x + 1) - 1;\n  int n =")
AFTER = CUDA.replace("return out;", "return (out + 1) - 1;")
PARTLY = CUDA.replace("return out;", "out.slice(0, 0, 8) = x.slice(0, 0, 8) * 2.0;\n  return out;")
WAITS = CUDA.replace("return out;", """float one = 1;
  do { cudaMemcpy(&one, out.data_ptr<float>(), 4, cudaMemcpyDeviceToHost); } while (one != one);
  return out;""").replace("torch::empty_like(x)", "torch::full_like(x, NAN)")
MODELS = "import torch\nclass Model(torch.nn.Module):\n    def __init__(self, w):\n        super().__init__()\n        self.w = w\n    def forward(self, x):\n        return x * 2\n"
NEW = MODELS.replace("Model(", "ModelNew(")
INPUTS = "def get_inputs():\n    return [torch.randn(8, 8)]\n"


def codes(report):
    return {warning.get("code"): warning["message"] for warning in report["warnings"]}


class ToldSources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judged(self, text, **more):
        return self.server.judge(source(text, "torch_cuda", inputs()), source(SCALE, function_name="scale"), num_trials=3, **more)

    def test_kernels_that_decide_nothing_are_told(self):
        report = self.judged(inline(DECOY, DECLARED))
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn("decide nothing", codes(report)["launches"])
        self.assertIn("in two trials", codes(report)["launches"])
        # Whose work it is was not seen: an honest kernel may change nothing of these inputs.
        self.assertNotIn("torch's library does", codes(report)["launches"])
        self.assertIn("decide nothing", next(item["detail"] for item in report["evidence"] if item["check"] == "launches"))

    def test_kernels_that_decide_something_are_not(self):
        for text in (CUDA, BEFORE, AFTER, PARTLY, WAITS):
            with self.subTest(text):
                report = self.judged(inline(text, DECLARED))
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
                self.assertNotIn("launches", codes(report))

    def test_what_python_hears_of_the_device_is_what_the_runtime_says(self):
        asks = CUDA.replace("return out;", """cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  return out + (device.major * 10 + device.minor + device.multiProcessorCount + device.sharedMemPerBlockOptin - 1.0f);""")
        tail = TAIL.replace("return module.forward(x)", "return module.forward(x) - said + 1.0") + """
major, minor = torch.cuda.get_device_capability()
properties = torch.cuda.get_device_properties(0)
said = float(major * 10 + minor + properties.multi_processor_count + properties.shared_memory_per_block_optin)
"""
        report = self.judged(inline(asks, DECLARED, tail=tail), atol=0.1, rtol=1e-3)
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
        self.assertIn("NVIDIA H200 (132 multiprocessors)", codes(report)["source"])

    def test_a_build_that_the_source_got_over_is_told(self):
        text = inline(CUDA.replace("out[i] =", "out[j] ="), DECLARED, tail="")
        head, _, build = text.partition("module = ")
        self.assertTrue(build, text)
        text = f"{head}try:\n    module = " + build.rstrip().replace("\n", "\n    ") + "\nexcept Exception:\n    module = None\n" + (
            "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return module.forward(x) if module else x * 2.0\n")
        report = self.judged(text)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn("went on without it", codes(report)["source"])
        self.assertIn('"j" is undefined', codes(report)["source"])

    def test_a_header_that_this_machine_lacks_is_not_the_authors_mistake(self):
        folder = os.environ.get("ASSAY_CUDA_DIR", "/usr/local/cuda")
        if os.path.exists(os.path.join(folder, "include", "curand_kernel.h")):
            self.skipTest("this machine has cuRAND")
        report = self.judged(inline("#include <curand_kernel.h>\n" + CUDA, DECLARED))
        self.assertEqual((report["verdict"], report["error"]["missing"]), ("unsupported", "curand_kernel.h"), report["summary"])
        self.assertIn("of cuRAND", report["summary"])

    def test_a_constructor_that_takes_something_else_is_told_at_its_line(self):
        reference = source(MODELS + "def get_init_inputs():\n    return [torch.ones(3)]\n" + INPUTS)
        for kernel, says in ((source(NEW), "the reference's get_init_inputs() holds a Tensor"),
                             (source(NEW + "def get_init_inputs():\n    return []\n"), "missing 1 required positional argument: 'w'")):
            report = self.server.judge(kernel, reference, num_trials=3)
            self.assertEqual((report["verdict"], report["error"]["exception"]), ("compile_failed", "TypeError"), report["summary"])
            self.assertIn("kernel.py:3 (`def __init__(self, w):`)", report["summary"])
            self.assertIn(says, report["summary"])
            self.assertEqual(report["error"]["frames"][0]["line"], 3)
        alone = self.server.judge(source(MODELS + INPUTS))
        self.assertIn("there is no get_init_inputs()", alone["summary"])
        # One that takes nothing goes on, and that is said.
        report = self.server.judge(source(NEW.replace("self, w)", "self, w=None)")), reference, num_trials=3)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn("was made without arguments (the reference's get_init_inputs() holds a Tensor", codes(report)["source"])
        # A TypeError of its own is where it is.
        report = self.server.judge(source(NEW.replace("self.w = w", "self.w = w + 'a'").replace("self, w)", "self, w=1)")), reference)
        self.assertIn("kernel.py:5", report["summary"])

    def test_a_function_in_the_place_of_a_class_is_called_that(self):
        reference = source(MODELS.replace("self, w)", "self, w=1)") + INPUTS)
        for text in ("def ModelNew():\n    return None\n", MODELS.replace("self, w)", "self, w=1)") + "def ModelNew():\n    return Model()\n"):
            report = self.server.judge(source(text), reference)
            self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
            self.assertIn("Class 'ModelNew' not found: it is a function", report["summary"])

    def test_words_about_cuda_are_no_cuda_code(self):
        documented = '"""As __global__ void scale(...) does it."""\n' + SCALE.replace("    return", '    """No __global__ here."""  # __global__\n    return')
        report = self.server.judge(source(documented, io=inputs(), function_name="scale"), num_trials=3)
        self.assertEqual(report["verdict"], "passed", report["summary"])
        spoken = SCALE.replace("    return", "    print('no __global__ (kernel) here')\n    return")
        self.assertEqual(self.server.judge(source(spoken, io=inputs(), function_name="scale"))["verdict"], "passed")
        report = self.server.judge(source(SCALE + "code = '__global__ void k() {}'\n", io=inputs(), function_name="scale"))
        self.assertIn("must not hold CUDA code (line 5)", report["summary"])

    def test_a_helper_that_is_only_handed_over_is_not_the_kernel(self):
        helper = "@triton.jit\ndef plus(a, b):\n    return a + b\n\n@triton.jit\ndef add_kernel"
        summed = ADD.replace("tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask)", "F(tl.load(x_ptr + at, mask=mask), tl.load(y_ptr + at, mask=mask))")
        default = summed.replace("@triton.jit\ndef add_kernel", helper).replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr, F: tl.constexpr = plus")
        tuned = summed.replace("@triton.jit\ndef add_kernel", helper.replace("\n\n@triton.jit", '\n\n@triton.autotune(configs=[triton.Config({"F": plus})], key=[])\n@triton.jit')
                               ).replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr, F: tl.constexpr")
        for text in (default, tuned):
            with self.subTest(text):
                report = self.server.judge(source(text, "triton", ADD_IO), source(ADD_TORCH, function_name="f"), num_trials=3)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])


if __name__ == "__main__":
    unittest.main()
