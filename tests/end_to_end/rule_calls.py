"""What the tables of the manual's rules are written with: a rule, and the calls that show it."""

import base64
import copy
import struct
import zlib
from dataclasses import dataclass, field

from assay_client import ADD, contract, tensor

MULTIPLY = ADD.replace("add(", "multiply(").replace("a[i] + b[i]", "a[i] * b[i]")
SQUARE = "__device__ float square(float x) { return x * x; }\n"
REQUIRED = ("IOContract is required for CUDA kernel compilation. Please provide input/output specifications via "
            "IOContract.")
NO_KERNELS = "No kernels found in source"
SET_ASIDE = "host code was set aside"


@dataclass
class Rule:
    rule: str  # in a sentence
    outcome: str  # pass, warning, refuse
    why: str
    call: dict
    tool: str = "evaluate"
    verdict: str = "passed"  # "refused" if no job was made
    says: str = ""  # words that the answer must hold
    deviation: str = ""
    promises: dict = field(default_factory=dict)  # members that the answer must have


def kernel(source, io=None, **metadata):
    body = {"source_code": source, "kernel_type": "cuda", "io": io or contract()}
    if metadata:
        body["metadata"] = metadata
    return body


def call(source=ADD, io=None, ref=None, metadata=None, **more):
    arguments = {"kernel": kernel(source, io, **(metadata or {})), "num_trials": 2, **more}
    if ref:
        arguments["ref_kernel"] = {"source_code": ref, "kernel_type": "cuda"}  # with the kernel's contract
    return arguments


def changed(change, io=None):
    """The contract of ADD, or `io`, after `change` was done to it."""
    io = copy.deepcopy(io or contract())
    change(io)
    return io


def without(*path):
    def change(io):
        for key in path[:-1]:
            io = io[key]
        del io[path[-1]]
    return changed(change)


def having(value, *path):
    def change(io):
        for key in path[:-1]:
            io = io[key]
        io[path[-1]] = value
    return changed(change)


def filled(count, expected, shape=None, dtype="float32", **init):
    """A call that passes only if element i of a tensor made by `init` meets the C condition `expected` on v."""
    io = {"args": [tensor("x", count, dtype=dtype, shape=shape, **init), tensor("ok", count, role="output", dtype="int32")],
          "launch": {"grid": 1, "block": 32}}
    type_ = "int" if dtype == "int32" else "float"
    head = f"__global__ void k(const {type_}* x, int* ok) {{\n  for (int i = threadIdx.x; i < {count}; i += 32) {{\n"
    judging = f"    const {type_} v = x[i];\n    ok[i] = {expected} ? i + 1 : 0;\n  }}\n}}\n"
    return call(head + judging, io, ref=head + "    ok[i] = i + 1;\n  }\n}\n", validation_trials=2)


def moments(centre, spread, **init):
    io = {"args": [tensor("x", 4096, kind="randn", **init), tensor("ok", 32, role="output", dtype="int32")],
          "launch": {"grid": 1, "block": 32}}
    body = """__global__ void k(const float* x, int* ok) {
  double sum = 0, squares = 0;
  for (int i = 0; i < 4096; ++i) { sum += x[i]; squares += (double)x[i] * x[i]; }
  const double mean = sum / 4096, std = sqrt(squares / 4096 - mean * mean);
  ok[threadIdx.x] = %s ? threadIdx.x + 1 : 0;
}
"""
    near = f"(fabs(mean - {centre}) < 0.1 * {spread} && fabs(std - {spread}) < 0.1 * {spread})"
    return call(body % near, io, ref=body % "(mean + std < 1e9)", validation_trials=2)


def payload(compress):
    data = struct.pack("<4f", 0.5, -1.25, 3.0, 8.0)
    data = zlib.compress(data) if compress == "zlib" else data
    io = {"args": [tensor("x", 4), tensor("y", 4, role="output")], "launch": {"grid": 1, "block": 4}}
    io["args"][0]["tensor_spec"]["data"] = {"data_b64": base64.b64encode(data).decode(), "compress": compress,
                                            "shape": [4], "dtype": "float32"}
    source = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = 2 * (%s); }"
    values = "threadIdx.x == 0 ? 0.5f : threadIdx.x == 1 ? -1.25f : threadIdx.x == 2 ? 3.0f : 8.0f"
    return call(source % "x[threadIdx.x]", io, ref=source % values)


PAIR = {"args": [tensor("x", 64, kind="randn"), tensor("y", 64, kind="randn"), tensor("same", 64, role="output", dtype="int32")],
        "launch": {"grid": 1, "block": 64}}
EQUAL = "__global__ void k(const float* x, const float* y, int* same) { same[threadIdx.x] = %s; }"


def pair(seeds, same, **more):
    def seed(io):
        for arg, value in zip(io["args"], seeds):
            arg["tensor_spec"]["init"]["seed"] = value
    if same is None:  # of the first trial alone, which nothing but the kernel itself can speak of
        return call(EQUAL % "x[threadIdx.x]; if (x[threadIdx.x] != y[threadIdx.x]) __trap()", changed(seed, PAIR), **more)
    answers = f"(x[threadIdx.x] == y[threadIdx.x]) == {str(same).lower()} ? threadIdx.x + 1 : 0"
    return call(EQUAL % answers, changed(seed, PAIR), ref=EQUAL % "threadIdx.x + 1", **more)


TWO_OUTPUTS = {"args": [tensor("first", 32, role="output"), tensor("second", 32, role="output")],
               "launch": {"grid": 1, "block": 32}}
BOTH = ("__global__ void one(float* first, float* second) { first[threadIdx.x] = 1; }\n"
        "__global__ void two(float* first, float* second) { second[threadIdx.x] = 2; }\n")
IN_PLACE = {"args": [tensor("x", 32, role="inout", kind="arange")], "launch": {"grid": 1, "block": 32}}
SCALAR = {"args": [tensor("y", 1, role="output"), {"name": "s", "type": "float", "value": 2.5}],
          "launch": {"grid": 1, "block": 1}}
LOOSE = ADD.replace("a[i] + b[i]", "a[i] + b[i] + 5e-3f")
TRITON = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef copy(x, y, N: tl.constexpr):\n    tl.store(y, tl.load(x))\n"
HARNESS = ("#include <cstdio>\n#include <vector>\n" + ADD
           + "int main() {\n  std::vector<float> host(1000);\n  add<<<4, 256>>>(0, 0, 0, 1000);\n  std::printf(\"ok\\n\");\n}\n")
EMBEDDED = "import torch\nSOURCE = r'''\n" + ADD + "'''\nif __name__ == '__main__':\n    print(SOURCE)\n"
COUNTED = ("__device__ int calls = 0;\n"
           "__global__ void k(int* out) { ++calls; for (int i = 0; i < 32; ++i) out[i] = i + calls; }\n")
INTEGERS = {"args": [tensor("out", 32, role="output", dtype="int32")], "launch": {"grid": 1, "block": 1}}
TEMPLATE = ("template <class T, int FACTOR> __global__ void scale(T* x) { x[threadIdx.x] *= FACTOR; }\n")
STEPS = [{"method": "add_input_tensor", "name": "x",
          "tensor_spec": {"method": "create_randn_spec", "shape": [1024], "seed": 42}},
         {"method": "add_output_tensor", "name": "y", "shape": [1024]},
         {"add_scalar": ["alpha", "float", 2.0]},
         {"method": "set_launch_config", "grid": {"x": 4}, "block": {"x": 256}}, "build"]


def spec_of(helper, **given):
    return {"steps": [{"method": "add_input_tensor", "name": "x", "tensor_spec": {"method": helper, "shape": [8], **given}}]}


def makes(**spec):
    return {"io_contract": {"args": [{"name": "x", "role": "input", "tensor_spec": {"shape": [8], "dtype": "float32", **spec}}]}}
