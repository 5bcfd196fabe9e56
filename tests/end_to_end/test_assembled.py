"""What only an assembler refuses does not compile on the emulator either; what it takes stays the emulator's to execute."""

import unittest

from assay_client import Server, tensor

IO = {"args": [tensor("x", 64), tensor("y", 64, role="output")], "launch": {"grid": 2, "block": 32}}
COPY = """__global__ void copy(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
"""


class Assembled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def report(self, source, **more):
        return self.server.evaluate(source, io=IO, ref=COPY, device="emulator", num_trials=1, validation_trials=1, **more)

    def test_inline_assembly_that_is_none_is_told_with_its_line(self):
        for words in ("foo bar;", "add.s32 %%r1, %%r2;", "mov.u32 %%no_such_register, 1;"):
            report = self.report(COPY.replace("  y[i]", f'  asm volatile("{words}");\n  y[i]'))
            self.assertEqual(report["verdict"], "compile_failed", report["summary"])
            self.assertIn("kernel.cu:3:", report["summary"])
            self.assertIn("assembler:", report["summary"])

    def test_more_constants_than_a_module_may_have(self):
        report = self.report("__constant__ float w[20000];\n" + COPY.replace("= x[i]", "= x[i] + w[i]"))
        self.assertEqual(report["verdict"], "compile_failed", report["summary"])
        self.assertIn("constant", report["summary"])

    def test_of_a_reference_it_is_the_references_mistake(self):
        broken = COPY.replace("  y[i]", '  asm volatile("foo bar;");\n  y[i]')
        report = self.server.evaluate(COPY, io=IO, ref=broken, device="emulator", num_trials=1)
        self.assertEqual(report["verdict"], "compile_failed", report["summary"])
        self.assertIn("The reference: ", report["summary"])

    def test_what_a_device_has_and_the_emulator_has_not_stays_unsupported(self):
        report = self.report(COPY.replace("  y[i]", '  asm volatile("wgmma.fence.sync.aligned;");\n  y[i]'))
        self.assertEqual(report["verdict"], "unsupported", report["summary"])

    def test_blocks_that_need_more_registers_than_there_are(self):
        # A hundred sums at once, all alive to the end.
        source = """__global__ void copy(const float* x, float* y) {
  float sums[100];
  for (int k = 0; k < 100; ++k) sums[k] = x[k % 64];
  for (int i = 1; i < 4; ++i)
    for (int k = 0; k < 100; ++k) sums[k] = sums[k] * sums[(k + i * 7) % 100] + x[(k + i) % 64];
  float all = 0;
  for (int k = 0; k < 100; ++k) all += sums[k] * 0;
  if (threadIdx.x < 64) y[threadIdx.x] = x[threadIdx.x] + all;
}
"""
        io = IO | {"launch": {"grid": 1, "block": 1024}}
        ask = {"io": io, "ref": COPY.replace("y[i]", "if (i < 64) y[i]"), "device": "emulator", "validation_trials": 1}
        report = self.server.evaluate(source, **ask)
        self.assertEqual(report["verdict"], "launch_failed", report["summary"])
        self.assertIn("registers", report["summary"])
        self.assertIn("1024 threads", report["summary"])
        bounded = source.replace("void copy", "void __launch_bounds__(1024) copy")
        self.assertEqual(self.server.evaluate(bounded, **ask)["verdict"], "passed")
        smaller = ask | {"io": IO | {"launch": {"grid": 1, "block": 256}}}
        self.assertEqual(self.server.evaluate(source, **smaller)["verdict"], "passed")

    def test_clusters_that_do_not_divide_the_grid_are_no_launch(self):
        source = COPY.replace("void copy", "void __cluster_dims__(4, 1, 1) copy")
        report = self.report(source)
        self.assertEqual(report["verdict"], "launch_failed", report["summary"])
        self.assertIn("(4,1,1)", report["summary"])


if __name__ == "__main__":
    unittest.main()
