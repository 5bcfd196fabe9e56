"""validation.digests: what stands for the bytes of an output, worked out here from its definition (judge/digest.h)."""

import struct
import unittest

from assay_client import Server

SQUARES = """extern "C" __global__ void squares(const int* x, int* y, float* half, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { y[i] = x[i] * x[i] FAULT; half[i] = 0.5f * x[i]; }
}
"""
N = 1001  # no whole number of words
MASK = (1 << 64) - 1


def contract(last=N):
    def tensor(name, role, dtype, **more):
        return {"name": name, "type": "tensor", "role": role, "tensor_spec": {"shape": [N], "dtype": dtype, **more}}
    return {"args": [tensor("x", "input", "int32", init={"kind": "arange"}), tensor("y", "output", "int32"),
                     tensor("half", "output", "float32"), {"name": "n", "type": "int", "value": last}],
            "launch": {"grid": {"x": 8}, "block": {"x": 128}}}


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def digest(data):
    data += bytes(-len(data) % 8)
    words = struct.unpack(f"<{len(data) // 8}Q", data)
    return f"{sum(mix(word ^ mix(i + 1)) for i, word in enumerate(words)) & MASK:016x}"


class Digests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())

    def evaluated(self, fault="", **more):
        return self.server.evaluate(SQUARES.replace("FAULT", fault), contract(), until="validated", detail="full", **more)

    def test_they_are_those_of_the_bytes_that_the_kernel_writes(self):
        report = self.evaluated()
        self.assertEqual(report["verdict"], "passed")
        self.assertEqual(report["validation"]["digests"], {"y": digest(struct.pack(f"<{N}i", *(i * i for i in range(N)))),
                                                           "half": digest(struct.pack(f"<{N}f", *(i / 2 for i in range(N))))})

    def test_one_element_in_the_last_place_changes_one_of_them(self):
        right, other = (self.evaluated(fault)["validation"]["digests"] for fault in ("", "+ (i == 1000)"))
        self.assertEqual(right["half"], other["half"])
        self.assertNotEqual(right["y"], other["y"])

    def test_wrong_outputs_have_them_too(self):
        report = self.evaluated("+ (i == 7)", ref_kernel={"source_code": SQUARES.replace("FAULT", ""), "kernel_type": "cuda", "io": contract()})
        self.assertEqual(report["verdict"], "wrong_output")
        self.assertEqual(report["validation"]["digests"]["y"],
                         digest(struct.pack(f"<{N}i", *(i * i + (i == 7) for i in range(N)))))

    def test_the_short_answer_leaves_them_out(self):
        report = self.server.evaluate(SQUARES.replace("FAULT", ""), contract(), until="validated")
        self.assertNotIn("digests", report["validation"])


if __name__ == "__main__":
    unittest.main()
