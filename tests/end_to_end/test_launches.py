"""What a launch may ask for, and for how long: clusters, hundreds of parameters, fractions of a second."""

import unittest

from assay_client import Server, kernel, tensor

TWICE = "__global__ void %s k(const float* x, float* y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = 2 * x[i]; }"


class Launches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--device", "emulator")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_clusters_that_no_device_runs_fail_to_launch(self):
        io = {"args": [tensor("x", 1024, seed=1), tensor("y", 1024, role="output")], "launch": {"grid": {"x": 32}, "block": {"x": 32}}}
        for blocks, verdict in ((8, "passed"), (16, "passed"), (32, "launch_failed")):
            report = self.server.evaluate(TWICE % f"__cluster_dims__({blocks}, 1, 1)", io, num_trials=1)
            self.assertEqual(report["verdict"], verdict, report["summary"])
        self.assertIn("no device runs more than 16 together", report["summary"])

    def test_a_kernel_of_hundreds_of_parameters_is_found_by_its_name(self):
        io = {"args": [tensor(f"a{i}", 8, seed=i + 1) for i in range(400)] + [tensor("y", 8, role="output")],
              "launch": {"grid": {"x": 1}, "block": {"x": 8}}}
        source = "__global__ void wide(" + ", ".join(f"const float* a{i}" for i in range(400)) + ", float* y) { y[threadIdx.x] = a0[threadIdx.x] + a399[threadIdx.x]; }"
        for name in (None, "wide"):
            given = kernel(source, io)
            if name:
                given["metadata"] = {"kernel_name": name}
            report = self.server.call("evaluate", {"kernel": given, "num_trials": 1, "until": "validated", "wait_s": 140})["structuredContent"]
            self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_a_fraction_of_a_second_counts_in_a_timeout(self):
        endless = "__global__ void k(float* y) { while (((volatile float*)y)[0] != 77.0f) {} }"
        io = {"args": [tensor("y", 1, role="output")], "launch": {"grid": {"x": 1}, "block": {"x": 1}}}
        report = self.server.evaluate(endless, io, num_trials=1, timeout=5.9, detail="full")
        self.assertEqual(report["verdict"], "timed_out", report["summary"])
        validated = next(stage for stage in report["stages"] if stage["name"] == "validated")
        self.assertGreater(validated["ms"], 5800)


if __name__ == "__main__":
    unittest.main()
