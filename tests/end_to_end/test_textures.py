"""Kernels that take cudaTextureObject_t: what the contract says of a texture, what a fetch gives, and what is told of mistakes."""

import base64
import struct
import unittest

from assay_client import Server, tensor

GATHER = """__global__ void gather(cudaTextureObject_t table, const int* index, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tex1Dfetch<float>(table, index[i]);
}
"""
GATHER_EXPECTED = """__global__ void gather(const float* table, const int* index, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = index[i] < 0 || index[i] >= 100 ? 0.0f : table[index[i]];
}
"""
# Each texel once, at its centre, from right to left: a plain copy would be a weak task.
COPY = """__global__ void copy(cudaTextureObject_t image, TYPE* y) {
  int x = blockDim.x - 1 - threadIdx.x, j = blockIdx.x;
  y[j * blockDim.x + threadIdx.x] = tex2D<TYPE>(image, x + 0.5f, j + 0.5f);
}
"""


def texture(name, shape, dtype="float32", values=None, words=None):
    arg = tensor(name, 0, shape=shape, dtype=dtype, kind="randn", seed=1)
    if values is not None:
        arg["tensor_spec"]["data"] = {"data_b64": base64.b64encode(values).decode()}
    return {**arg, "texture": words or {}}


def launch(grid, block):
    return {"grid": {"x": grid}, "block": {"x": block}}


def gather_io(table):
    args = [table, tensor("index", 300, dtype="int32", kind="uniform", low=-9, high=108, seed=2), tensor("y", 300, "output"),
            {"name": "n", "type": "int", "value": 300}]
    return {"args": args, "launch": launch(5, 64)}


class Textures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def evaluate(self, source, io, expected=None, expected_io=None, **more):
        arguments = {"kernel": {"source_code": source, "kernel_type": "cuda", "io": io}, "device": "emulator", "num_trials": 2, **more}
        if expected:
            arguments["ref_kernel"] = {"source_code": expected, "kernel_type": "cuda", "io": expected_io or io}
        return self.server.call("evaluate", arguments)["structuredContent"]

    def passes(self, source, io, *arguments, **more):
        report = self.evaluate(source, io, *arguments, **more)
        # An image of literal data is the same in every trial, and such a task proves less.
        is_literal = any("data" in arg.get("tensor_spec", {}) for arg in io["args"])
        self.assertEqual((report.get("verdict"), report.get("trust")), ("passed", "audited" if is_literal else "verified"), report)
        return report

    def refused(self, source, io):
        report = self.evaluate(source, io)
        self.assertEqual(report["status"], "client_error", report)
        return report["error"]["violations"]

    def test_a_gather_by_fetch_is_judged_against_one_by_pointer(self):
        plain = gather_io(tensor("table", 100, kind="randn", seed=1))
        self.passes(GATHER, gather_io(texture("table", [100])), GATHER_EXPECTED, plain)
        wrong = self.evaluate(GATHER.replace("index[i]", "index[i] + 1"), gather_io(texture("table", [100])), GATHER_EXPECTED, plain)
        self.assertEqual(wrong["verdict"], "wrong_output")

    def test_either_kernel_of_a_pair_may_be_the_one_with_the_texture(self):
        plain = gather_io(tensor("table", 100, kind="randn", seed=1))
        self.passes(GATHER_EXPECTED, plain, GATHER, gather_io(texture("table", [100])))

    def test_checks_and_counters_look_at_a_kernel_that_fetches(self):
        report = self.passes(GATHER, gather_io(texture("table", [100])), device_metrics=True,
                             checks=["memory", "races", "initialised", "barriers", "numbers"])
        checks = report["validation"]["checks"]
        self.assertEqual((checks["ran"], checks["findings"], checks["notes"]), (True, [], []))

    def bilinear(self, words, x, y, values, shape, expected):
        """One sample of a texture, at a place that the source says."""
        source = (f"__global__ void sample(cudaTextureObject_t t, float* out) {{ float v = tex2D<float>(t, {x}, {y}); "
                  "out[0] = v; out[1] = 1; }")
        io = {"args": [texture("t", shape, "float32", values, words), tensor("out", 2, "output")], "launch": launch(1, 1)}
        self.passes(source, io, f"__global__ void sample(const float* t, float* out) {{ out[0] = {expected}; out[1] = 1; }}",
                    {"args": [{key: value for key, value in io["args"][0].items() if key != "texture"}, io["args"][1]], "launch": launch(1, 1)})

    def test_a_linear_filter_weighs_four_texels(self):
        values = struct.pack("<16f", *range(16))
        self.bilinear({"filter": "linear"}, "2.25f", "1.0f", values, [2, 8], "(1.75f + 9.75f) / 2")
        self.bilinear({"filter": "linear", "address": "border"}, "0.0f", "0.5f", struct.pack("<8f", *[8] * 8), [1, 8], "4.0f")
        wrap = {"filter": "linear", "address": ["wrap", "clamp"], "normalized_coords": True}
        self.bilinear(wrap, "1.0f", "0.25f", values, [2, 8], "3.5f")

    def test_an_image_of_bytes_is_read_as_fractions(self):
        words = {"read": "normalized_float", "channels": 4}
        io = {"args": [texture("image", [4, 8, 4], "uint8", bytes(range(128)), words), tensor("y", 0, "output", shape=[4, 8, 4])], "launch": launch(4, 8)}
        plain = {"args": [{key: value for key, value in io["args"][0].items() if key != "texture"}, io["args"][1]], "launch": launch(4, 32)}
        expected = ("__global__ void copy(const unsigned char* image, float* y) {\n"
                    "  int c = threadIdx.x % 4, x = 7 - threadIdx.x / 4;\n"
                    "  y[blockIdx.x * 32 + threadIdx.x] = image[blockIdx.x * 32 + 4 * x + c] / 255.0f;\n}\n")
        self.passes(COPY.replace("TYPE", "float4"), io, expected, plain)

    def test_elements_of_every_type_come_out_as_they_are(self):
        for dtype, type_, channels, width in (("uint8", "unsigned char", 1, 32), ("int16", "short2", 2, 8), ("uint32", "uint4", 4, 4), ("float32", "float2", 2, 8)):
            with self.subTest(dtype):
                shape = [3, width] + ([channels] if channels > 1 else [])
                io = {"args": [texture("image", shape, dtype, words={"channels": channels}), tensor("y", 0, "output", dtype, shape)], "launch": launch(3, width)}
                plain = {"args": [{key: value for key, value in io["args"][0].items() if key != "texture"}, io["args"][1]], "launch": io["launch"]}
                expected = COPY.replace("cudaTextureObject_t image", f"const {type_}* image").replace("tex2D<TYPE>(image, x + 0.5f, j + 0.5f)", "image[j * blockDim.x + x]")
                self.passes(COPY.replace("TYPE", type_), io, expected.replace("TYPE", type_), plain)

    def test_a_fetch_that_the_texture_does_not_answer_is_told_with_its_line(self):
        for old, new, words in (("tex1Dfetch<float>(table, index[i])", "tex2D<float>(table, index[i], 0)", "has one dimension"),
                                ("tex1Dfetch<float>", "tex1Dfetch<int>", "is read as floats"),
                                ("(table,", "(table + 1,", "no texture object"),
                                ("tex1Dfetch<float>(table, index[i])", "((const float*)table)[i]", "a texture object, which is no address")):
            with self.subTest(new):
                report = self.evaluate(GATHER.replace(old, new), gather_io(texture("table", [100])))
                self.assertEqual(report["verdict"], "crashed", report)
                self.assertIn(words, str(report))
                self.assertIn('"line": 3', str(report).replace("'", '"'))

    def test_a_tensor_without_texture_and_a_texture_without_parameter_are_told_apart(self):
        c_name = 'extern "C" ' + GATHER
        report = self.evaluate(c_name, gather_io(tensor("table", 100, kind="randn", seed=1)))
        self.assertEqual(report["verdict"], "contract_invalid", report)
        self.assertIn("cudaTextureObject_t; the contract gives a tensor without \"texture\"", report["summary"])
        report = self.evaluate(GATHER_EXPECTED, gather_io(texture("table", [100])))
        self.assertEqual(report["verdict"], "contract_invalid", report)
        self.assertIn("no cudaTextureObject_t; the contract gives a texture", report["summary"])
        report = self.evaluate(GATHER.replace("cudaTextureObject_t table", "float table").replace("tex1Dfetch<float>(table, index[i])", "table"),
                               gather_io(texture("table", [100])))
        self.assertEqual(report["verdict"], "contract_invalid", report)
        self.assertIn("is a texture, but the kernel takes .f32", report["summary"])

    def test_what_is_not_there_is_refused_or_unsupported_by_name(self):
        volume = {"args": [texture("v", [4, 4, 8]), tensor("y", 8, "output")], "launch": launch(1, 8)}
        violation, = self.refused(COPY, volume)
        self.assertEqual(violation["pointer"], "/kernel/io/args/0/texture")
        self.assertIn("3-D, layered and cubemap textures, mipmaps and surfaces are not supported", violation["message"])
        source = COPY.replace("TYPE", "float").replace("tex2D<float>(image, x + 0.5f, j + 0.5f)", "tex3D<float>(image, x, j, 0)")
        io = {"args": [texture("image", [3, 8]), tensor("y", 24, "output")], "launch": launch(3, 8)}
        report = self.evaluate(source, io)
        self.assertEqual(report["verdict"], "unsupported", report)
        self.assertIn("tex.3d", report["summary"])

    def test_what_cuda_forbids_is_refused_with_its_place(self):
        for words, shape, dtype, pointer in (({"filter": "linear"}, [4, 8], "int32", "/filter"), ({"address": "wrap"}, [4, 8], "float32", "/address"),
                                             ({}, [4, 7], "float32", ""), ({"channels": 3}, [4, 8, 3], "float32", "/channels")):
            io = {"args": [texture("t", shape, dtype, words=words), tensor("y", 8, "output")], "launch": launch(1, 8)}
            violation, = self.refused(COPY, io)
            self.assertEqual(violation["pointer"], "/kernel/io/args/0/texture" + pointer)
        io["kernel_type"] = "triton"
        built = self.server.call("build_io_contract", {"text": "in t: float32[64] texture zeros; out y: float32[64]; grid 1; block 64",
                                                       "kernel_type": "triton"})["structuredContent"]
        self.assertIn("only a cuda kernel takes a texture", str(built))

    def test_a_contract_is_inferred_with_its_texture(self):
        built = self.server.call("build_io_contract", {"kernel": {"source_code": GATHER}})["structuredContent"]
        table = built["io_contract"]["args"][0]
        self.assertEqual((table["type"], table["role"], table["tensor_spec"]["dtype"]), ("tensor", "input", "float32"))
        self.assertEqual(len(table["tensor_spec"]["shape"]), 1)
        self.assertIn("texture", table)
        self.assertTrue(any("table: a texture" in text for text in built["assumptions"]), built)
        self.passes(GATHER, built["io_contract"])
        image = self.server.call("build_io_contract", {"kernel": {"source_code": COPY.replace("TYPE", "float4")}})["structuredContent"]
        self.assertEqual(image["io_contract"]["args"][0]["tensor_spec"]["shape"], [64, 64, 4])
        self.assertEqual(image["io_contract"]["args"][0]["texture"]["channels"], 4)


if __name__ == "__main__":
    unittest.main()
