"""What the tests of a device have in common: a server that has one, its kernels of three vectors, and no test."""

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "end_to_end")]
os.environ.setdefault("ASSAY", os.path.join(HERE, "..", "..", "build", "release", "bin", "assay"))
from assay_client import Server, contract, kernel  # noqa: E402

MILLION = 1 << 20
GUARDED = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "


def add_of(n):
    return contract(n=n)


def body(text):
    return "__global__ void add(const float* a, const float* b, float* out, int n) {" + text + "}"


class DeviceCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()
        cls.capabilities = cls.server.call("check_capabilities", {})["structuredContent"]
        gpus = [d for d in cls.capabilities["devices"] if d["kind"] == "gpu"]
        if not gpus:
            raise unittest.SkipTest("no GPU: " + str(cls.capabilities.get("no_gpu")))
        print(json.dumps(gpus), json.dumps(cls.capabilities["isolation"])[:600], file=sys.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def evaluate(self, source, n=1000, ref=None, timeout=5, **more):
        arguments = {"kernel": kernel(source, add_of(n)), "timeout": timeout, **more}
        if ref:
            arguments["ref_kernel"] = {"source_code": ref, "kernel_type": "cuda"}
        return self.server.call("evaluate", arguments)["structuredContent"]
