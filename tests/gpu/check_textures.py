"""Kernels that fetch from textures on a device: judged, timed in every view, compared, and one behind the other in a
process that is kept. check_gpu.py has these tests too, on its own server.

    ASSAY=build/release/bin/assay python3 tests/gpu/check_textures.py
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from device_case import DeviceCase  # noqa: E402
from assay_client import tensor  # noqa: E402
from figures import tell  # noqa: E402

ROWS, COLUMNS = 256, 1024
# An image, and a weight for each of its columns; one of them of bytes that are read as fractions.
BY_FETCH = """__global__ void weigh(cudaTextureObject_t image, cudaTextureObject_t weights, float* y) {
  int x = threadIdx.x + blockIdx.x %% 4 * 256, row = blockIdx.x / 4;
  y[row * 1024 + x] = tex2D<float>(image, 1023 - x + 0.5f, row + 0.5f) * tex2D<float>(weights, x + 0.5f, 0.5f)%s;
}
"""
BY_POINTER = """__global__ void weigh(const %s* image, const %s* weights, float* y) {
  int x = threadIdx.x + blockIdx.x %% 4 * 256, row = blockIdx.x / 4;
  y[row * 1024 + x] = image[row * 1024 + 1023 - x] / %s * (weights[x] / %s);
}
"""
FRACTIONS = {"read": "normalized_float"}
C_TYPES = {"uint8": "unsigned char", "float32": "float"}


def images(image, weights, seed=1):
    drawn = {"uint8": {"kind": "uniform", "low": 0, "high": 255}, "float32": {"kind": "randn"}}
    return [tensor("image", 0, dtype=image, shape=[ROWS, COLUMNS], seed=seed, **drawn[image]),
            tensor("weights", 0, dtype=weights, shape=[1, COLUMNS], seed=seed + 1, **drawn[weights])]


def io_of(inputs):
    return {"args": [*inputs, tensor("y", 0, "output", shape=[ROWS, COLUMNS])], "launch": {"grid": {"x": 4 * ROWS}, "block": {"x": 256}}}


def by_fetch(image, weights, seed=1, more=""):
    of = {"uint8": FRACTIONS, "float32": {}}
    inputs = [{**arg, "texture": of[arg["tensor_spec"]["dtype"]]} for arg in images(image, weights, seed)]
    return {"source_code": BY_FETCH % more, "kernel_type": "cuda", "io": io_of(inputs)}


def by_pointer(image, weights, seed=1):
    whole = {"uint8": "255.0f", "float32": "1.0f"}
    source = BY_POINTER % (C_TYPES[image], C_TYPES[weights], whole[image], whole[weights])
    return {"source_code": source, "kernel_type": "cuda", "io": io_of(images(image, weights, seed))}


class Textures(DeviceCase):
    def is_right(self, kernel, ref=None, **more):
        arguments = {"kernel": kernel, "timeout": 20, **more}
        if ref:
            arguments["ref_kernel"] = ref
        report = self.server.call("evaluate", arguments)["structuredContent"]
        self.assertEqual(report["verdict"], "passed", report["summary"])
        if ref:
            self.assertEqual((report["trust"], report["warnings"]), ("verified", []), report["summary"])
        for view in ("cold", "warm", "graph"):
            self.assertGreater(report["timing"][view]["median_ns"], 0, report["timing"])
        return report

    def test_textures_of_two_formats_are_timed_in_every_view(self):
        report = self.is_right(by_fetch("uint8", "float32"), by_pointer("uint8", "float32"))
        views = {view: f"{report['timing'][view]['median_ns'] * 1e-3:.2f}" for view in ("cold", "warm", "graph")}
        tell("two textures of an image of 256 Ki, cold, warm and graph", " ".join(views.values()) + " us", "passed", True)

    def test_a_process_that_is_kept_shows_each_kernel_its_own_textures(self):
        # Of the same name, launch and parameters: an object that was kept of the one before would be of the other format.
        for seed in range(1, 4):
            for image, weights in (("uint8", "float32"), ("float32", "uint8"), ("float32", "float32"), ("uint8", "uint8")):
                with self.subTest(image=image, weights=weights, seed=seed):
                    self.is_right(by_fetch(image, weights, seed))
                    self.is_right(by_fetch(image, weights, seed), by_pointer(image, weights, seed))

    def test_a_wrong_fetch_is_wrong(self):
        wrong = by_fetch("uint8", "float32", more=" + (row == 255 && x == 1023)")
        report = self.server.call("evaluate", {"kernel": wrong, "ref_kernel": by_pointer("uint8", "float32")})["structuredContent"]
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])

    def test_a_fetch_is_compared_with_itself_and_with_a_slower_one(self):
        slow = by_fetch("uint8", "float32", more="".join(f" + 0 * tex2D<float>(image, x + {k}.5f, row + {k % 3}.5f)" for k in range(1, 40)))
        for ref, verdict in ((by_fetch("uint8", "float32", more=" + 0"), "indistinguishable"), (slow, "faster")):
            arguments = {"ref_kernel": ref, "custom_kernel": by_fetch("uint8", "float32"), "timeout": 20}
            report = self.server.call("compare", arguments)["structuredContent"]
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertEqual(report["speedup"]["verdict"], verdict, report["speedup"])

    def test_counters_are_read_of_a_kernel_that_fetches(self):
        report = self.is_right(by_fetch("uint8", "float32"), by_pointer("uint8", "float32"), device_metrics="on")
        self.assertIn("limiter", report["device_metrics"]["kernel"], report["device_metrics"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
