"""The manual's rules for `cuda` sources, contracts and requests, each as a call and what must come of it.

The manual is that of the system which this one replaces; the sources below are our own. `python3 manual_rules.py`
prints docs/manual-rules.md, which test_manual_rules.py keeps equal to this table and holds the server to.
"""

import base64
import copy
import json
import struct
import zlib
from dataclasses import dataclass, field

from assay_client import ADD, FOREVER, contract, tensor

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


LENIENT = "The manual forbids it; what people paste is taken as it is, and what was dropped is said."

SECTIONS = [
    ("Sources in general", [
        Rule("A source brings its own includes; CUDA's headers are found", "pass", "They belong to the compiler.",
             call("#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n" + ADD)),
        Rule("A name that nothing declares", "refuse", "The compiler's message stands at the user's own line.",
             call(ADD.replace("a[i] + b[i]", "approximate(a[i])")), verdict="compile_failed",
             says='kernel.cu:3:23: identifier "approximate" is undefined'),
        Rule("Headers of the host and of torch", "warning", "No device code needs them.",
             call("#include <vector>\n#include <torch/extension.h>\n" + ADD), says=SET_ASIDE, deviation=LENIENT),
        Rule("Nothing runs on import: `if __name__ == \"__main__\"` around a CUDA string", "warning",
             "Of a Python file only its CUDA strings are read; nothing of it is executed.", call(EMBEDDED),
             says="the Python around the CUDA strings", deviation=LENIENT),
        Rule("No test harness", "warning", "Host functions and their includes are blanked out, lines keep their numbers.",
             call(HARNESS), says="function main (line 7)", deviation=LENIENT),
        Rule("No state that outlives a run: a counter in a `__device__` variable", "pass",
             "Every run gets a freshly loaded module, so the counter says 1 each time.",
             call(COUNTED, INTEGERS, ref=COUNTED.replace("i + calls", "i + 1"), validation_trials=4),
             deviation="The manual forbids such globals; here they do no harm."),
        Rule("No files of one's own: a relative include", "refuse", "Sources are self-contained.",
             call('#include "../common.h"\n' + ADD), verdict="compile_failed", says="cannot open source file"),
        Rule("No files of the server: an absolute include", "refuse", "The compiler is confined; it sees CUDA's headers only.",
             call('#include "/etc/passwd"\n' + ADD), verdict="compile_failed", says="cannot open source file"),
        Rule("No files of the system's: what a program may read to start", "refuse", "Nor anything else that helped it start.",
             call('#include "/usr/lib/os-release"\n' + ADD), verdict="compile_failed", says="cannot open source file"),
        Rule("No facts of the machine: an include of /proc", "refuse", "The same.",
             call('#include "/proc/self/maps"\n' + ADD), verdict="compile_failed", says="cannot open source file"),
        Rule("No file I/O in a kernel", "refuse", "There is no such function on a device.",
             call(ADD.replace("if (i < n)", 'if (fopen("x", "w"), i < n)')), verdict="compile_failed", says='"fopen"'),
        Rule("Printing clutters", "pass", "What a kernel prints is an artifact of its job, never on the wire.",
             call(ADD.replace("if (i < n)", 'if (i == 0) printf("\\"n\\" is %d\\n", n);\n  if (i < n)')),
             promises={"artifacts": "output"}),
        Rule("Quotes are escaped properly", "refuse", "An unescaped one ends the string, and the compiler says where.",
             call(ADD.replace("if (i < n)", 'if (i == 0) printf("say "hello"");\n  if (i < n)')), verdict="compile_failed",
             says="kernel.cu:3:"),
    ]),
    ("CUDA sources", [
        Rule("Pure CUDA C++: kernels and device functions", "pass", "The first kernel is the one that is run.",
             call(SQUARE + ADD + MULTIPLY, ref=ADD)),
        Rule("`import torch` above C++", "refuse", "It is no C++ and no Python file that holds CUDA.",
             call("import torch\n" + ADD), verdict="compile_failed", says='kernel.cu:1:1: identifier "import" is undefined'),
        Rule("A Triton source", "refuse", "Kernel types are not mixed.", call(TRITON), verdict="compile_failed",
             says="kernel.cu:1:1:"),
        Rule("`main()`", "warning", "It is host code.", call(ADD + "int main() { return 0; }\n"), says="function main (line 5)",
             deviation=LENIENT),
        Rule("A host function that launches", "warning",
             "It is host code; build_io_contract and compile_kernel read grid and block from it.",
             call(ADD + "void launch() { add<<<1, 1>>>(0, 0, 0, 0); }\n"), says="function launch (line 5)",
             deviation=LENIENT),
        Rule("No `__global__`", "refuse", "There is nothing to run.", call(ADD.replace("__global__ ", "")),
             verdict="contract_invalid", says=NO_KERNELS),
        Rule("No `__global__`, only compiled", "pass", "It compiles; the summary says what it lacks.",
             {"kernel": {"source_code": SQUARE, "kernel_type": "cuda"}}, tool="compile_kernel", says=NO_KERNELS),
        Rule("No `__global__` to infer a contract from", "refuse", "There is no signature.",
             {"kernel": {"source_code": SQUARE}}, tool="build_io_contract", verdict="refused", says=NO_KERNELS),
        Rule("`compiler_options`", "pass", "Options that change code, language or diagnostics are the caller's.",
             call(ADD.replace("a[i]", "a[i] + EXTRA"), ref=ADD, metadata={"compiler_options": ["-DEXTRA=0", "--use_fast_math"]})),
        Rule("`compiler_options` that name files", "refuse", "They would read or write outside of the job.",
             call(metadata={"compiler_options": ["-I/etc"]}), verdict="refused", says="/kernel/metadata/compiler_options/0"),
        Rule("`backend: nvcc`, `jitify`", "warning", "There is one compiler.", call(metadata={"backend": "nvcc"}),
             says="every cuda source is compiled with NVRTC", deviation="The manual's system could also use nvcc."),
        Rule("Metadata of one's own", "pass", "Unknown keys are the caller's notes.",
             call(metadata={"algorithm": "gemm", "precision": "tf32"})),
    ]),
    ("Several kernels in a source", [
        Rule("Without a name the first is run", "pass", "In the order of the source.", call(MULTIPLY + ADD, ref=MULTIPLY)),
        Rule("`metadata.kernel_name` chooses", "pass", "By its name in the source.",
             call(MULTIPLY + ADD, ref=ADD, metadata={"kernel_name": "add"})),
        Rule("`launch.kernel_name` chooses", "pass", "The manual's other place for it.",
             call(MULTIPLY + ADD, having("add", "launch", "kernel_name"), ref=ADD)),
        Rule("Both: `metadata` counts", "pass", "One of them must.",
             call(MULTIPLY + ADD, having("multiply", "launch", "kernel_name"), ref=ADD, metadata={"kernel_name": "add"})),
        Rule("Only one is run", "warning", "What only the other kernel writes stays unwritten, and that is said.",
             call(BOTH, TWO_OUTPUTS), says="unwritten"),
        Rule("A name that no kernel has", "refuse", "The answer lists those there are.",
             call(MULTIPLY + ADD, metadata={"kernel_name": "divide"}), verdict="contract_invalid",
             says="Kernel 'divide' not found. Available: [multiply, add]"),
        Rule("A name that no kernel has, only compiled", "pass", "It compiles; the summary says what evaluate would refuse.",
             {"kernel": {"source_code": ADD, "kernel_type": "cuda", "metadata": {"kernel_name": "divide"}}},
             tool="compile_kernel", says="Kernel 'divide' not found. Available: [add]"),
        Rule("A name that no kernel has, to infer from", "refuse", "The answer lists those there are.",
             {"kernel": {"source_code": MULTIPLY + ADD, "metadata": {"kernel_name": "divide"}}}, tool="build_io_contract",
             verdict="refused", says="Kernel 'divide' not found. Available: [multiply, add]"),
        Rule("An instance of a template", "pass", "`name_expressions` says which instances to compile.",
             call(TEMPLATE, IN_PLACE, ref="__global__ void k(float* x) { x[threadIdx.x] = 4 * threadIdx.x; }",
                  metadata={"name_expressions": ["scale<float, 4>"]})),
    ]),
    ("IO contract: what it must hold", [
        Rule("A contract is required", "refuse", "A raw kernel says nothing of sizes and launch.",
             {"kernel": {"source_code": ADD, "kernel_type": "cuda"}}, verdict="refused", says=REQUIRED),
        Rule("A tensor has a tensor_spec", "refuse", "Its size is unknown.", call(io=without("args", 0, "tensor_spec")),
             verdict="refused", says="Tensor argument 'a' requires tensor_spec"),
        Rule("A scalar has a value", "refuse", "There is no default that would be right.",
             call(io=without("args", 3, "value")), verdict="refused", says="Scalar argument 'n' requires value"),
        Rule("Types are tensor, int, float, bool", "refuse", "A misspelt type is no type.",
             call(io=having("integer64", "args", 3, "type")), verdict="refused", says="Unsupported argument type: integer64"),
        Rule("Text is no argument of a kernel", "refuse", "CUDA kernels take none.",
             call(io=having({"name": "n", "type": "str", "value": "x"}, "args", 3)), verdict="refused",
             says="a cuda kernel takes no text"),
        Rule("Meta parameters are Triton's", "refuse", "A cuda kernel has none; it is a plain argument or a -D option.",
             call(io=having(True, "args", 3, "is_meta")), verdict="refused", says="a cuda kernel has no meta parameters"),
        Rule("`dtype` is float32 if not given", "pass", "The manual's default.",
             call(io=without("args", 0, "tensor_spec", "dtype"), ref=ADD)),
        Rule("`role` is input if not given", "pass", "The manual's default.", call(io=without("args", 0, "role"), ref=ADD)),
        Rule("An input has init or data", "warning", "It is filled with randn, and that is said.",
             call(io=without("args", 0, "tensor_spec", "init")), says="requires init or data",
             deviation="The manual's validator refuses; its models call init optional."),
        Rule("An output needs no init", "pass", "Before each run it is poisoned, so that what is not written shows.",
             call(ref=ADD)),
        Rule("A launch is required", "refuse", "Nothing says how many threads.", call(io=without("launch")),
             verdict="refused", says="launch is required for cuda kernels"),
        Rule("A grid is required", "refuse", "A grid of one block is seldom meant.", call(io=without("launch", "grid")),
             verdict="refused", says="launch.grid is required for cuda kernels",
             deviation="The manual calls it optional; its validator does not."),
        Rule("A block is required", "refuse", "A default of 256 threads is seldom meant.",
             call(io=without("launch", "block")), verdict="refused", says="launch.block is required for cuda kernels",
             deviation="The manual calls it optional; its validator does not."),
        Rule("A grid has at least one block", "refuse", "No device launches zero.",
             call(io=having(0, "launch", "grid", "x")), verdict="refused", says="/kernel/io/launch/grid/x"),
        Rule("A block has at most 1024 threads", "refuse", "No device launches more.",
             call(io=having({"x": 64, "y": 32}, "launch", "block")), verdict="refused", says="at most 1024 are allowed"),
        Rule("Arguments match the kernel's parameters in number", "refuse", "Each parameter must come from somewhere.",
             call(io=without("args", 3)), verdict="contract_invalid", says="4"),
        Rule("Keys that nobody knows", "warning", "They are ignored, not silently.", call(io=having(1, "args", 0, "rol")),
             says="unknown key 'rol'", deviation="The manual's system ignores them silently."),
        Rule("`outputs` of old payloads", "pass", "Accepted and not needed.", call(io=having([], "outputs"))),
        Rule("`shared_mem_bytes`", "pass", "Dynamic shared memory, as old payloads give it.",
             call("extern __shared__ float s[];\n__global__ void k(float* x) { s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); "
                  "x[threadIdx.x] = s[31 - threadIdx.x] + 1; }",
                  changed(lambda io: io["launch"].update(shared_mem_bytes=128), IN_PLACE),
                  ref="__global__ void k(float* x) { x[threadIdx.x] = 32 - threadIdx.x; }")),
    ]),
    ("IO contract: what tensors hold", [
        Rule("`zeros`", "pass", "All zero.", filled(100, "v == 0", kind="zeros")),
        Rule("`ones`", "pass", "All one.", filled(100, "v == 1", kind="ones")),
        Rule("`full`", "pass", "fill_value everywhere.", filled(100, "v == 2.5f", kind="full", fill_value=2.5)),
        Rule("`arange`", "pass", "start, start + step, …", filled(100, "v == 3 + 0.5f * i", kind="arange", start=3, step=0.5)),
        Rule("`arange` of a matrix", "pass", "The last dimension counts, each row alike.",
             filled(100, "v == i % 20", shape=[5, 20], kind="arange")),
        Rule("`uniform`", "pass", "In [low, high).", filled(4096, "v >= -0.5f && v < 0.5f", kind="uniform", low=-0.5, high=0.5)),
        Rule("`uniform` up to 0", "pass", "A bound of zero counts.", filled(4096, "v >= -1 && v < 0", kind="uniform", low=-1, high=0),
             deviation="The manual's system took a high of 0 for none and used 1."),
        Rule("`uniform` of integers", "pass", "Both ends are included, as in the manual's system.",
             filled(4096, "v >= 3 && v <= 5", dtype="int32", kind="uniform", low=3, high=5)),
        Rule("`randn`", "pass", "Mean 0 and deviation 1 if not given.", moments(0, 1, seed=42)),
        Rule("`randn` with mean and std", "pass", "Both count.", moments(5, 0.25, seed=42, mean=5, std=0.25)),
        Rule("`randn` with std alone", "pass", "It counts too.", moments(0, 0.02, seed=42, std=0.02),
             deviation="The manual's system ignored std where mean was not given."),
        Rule("The same seed gives the same values", "warning",
             "In the first trial, which uses the contract's own seeds; that two tensors share one is said.",
             pair((7, 7), True, validation_trials=1, until="validated"), says="share a seed"),
        Rule("Different seeds give different values", "pass", "Element by element.", pair((7, 8), False)),
        Rule("Tensors without a seed", "pass", "They differ from one another.", pair((None, None), False),
             deviation="The manual's system gave every unseeded tensor of one shape the same values."),
        Rule("`full` needs fill_value", "refuse", "There is no default.",
             call(io=having({"kind": "full"}, "args", 0, "tensor_spec", "init")), verdict="refused",
             says="full init requires fill_value"),
        Rule("`uniform` needs low < high", "refuse", "There is nothing between.",
             call(io=having({"kind": "uniform", "low": 1, "high": 1}, "args", 0, "tensor_spec", "init")), verdict="refused",
             says="uniform requires low < high"),
        Rule("`arange` needs a step", "refuse", "A step of 0 is `full`.",
             call(io=having({"kind": "arange", "step": 0}, "args", 0, "tensor_spec", "init")), verdict="refused",
             says="arange requires step != 0"),
        Rule("`data` in base64", "pass", "The tensor holds these bytes.", payload("none")),
        Rule("`data` compressed with zlib", "pass", "The tensor holds these bytes.", payload("zlib")),
        Rule("`inout` starts from its contents", "pass", "In every run, however many there were before.",
             call("__global__ void k(float* x) { x[threadIdx.x] += 1; }", IN_PLACE,
                  ref="__global__ void k(float* x) { x[threadIdx.x] = threadIdx.x + 1; }", num_trials=20, validation_trials=4)),
        Rule("An input is not written to", "warning", "It is restored, the report says so, and trust is `suspect`.",
             call(ADD.replace("const float* a", "float* a").replace("a[i] + b[i];", "a[i] + b[i], a[i] += 0.5f;"), ref=ADD,
                  validation_trials=1),
             says='role "inout"', deviation="The manual's system did not look."),
        Rule("A float scalar", "pass", "It arrives as the parameter's own type.",
             call("__global__ void k(float* y, float s) { *y = s; }", SCALAR, ref="__global__ void k(float* y, float) { *y = 2.5f; }"),
             deviation="The manual's system passed a double, of which a kernel read half."),
    ]),
    ("IO contract: the builder", [
        Rule("Builder steps make a contract", "pass", "Each method of the manual's builder is a step.", {"steps": STEPS},
             tool="build_io_contract",
             promises={"io_contract": {"args": [{"name": "x", "role": "input"}, {"name": "y", "role": "output"},
                                                {"name": "alpha", "type": "float", "value": 2.0}]}}),
        Rule("create_randn_spec", "pass", "mean 0, std 1, float32.", spec_of("create_randn_spec", seed=1),
             tool="build_io_contract", promises=makes(init={"kind": "randn", "seed": 1})),
        Rule("create_uniform_spec", "pass", "[0, 1), float32.", spec_of("create_uniform_spec"),
             tool="build_io_contract", promises=makes(init={"kind": "uniform"})),
        Rule("create_zeros_spec", "pass", "float32.", spec_of("create_zeros_spec"), tool="build_io_contract",
             promises=makes(init={"kind": "zeros"})),
        Rule("create_ones_spec", "pass", "float32.", spec_of("create_ones_spec"), tool="build_io_contract",
             promises=makes(init={"kind": "ones"})),
        Rule("create_full_spec", "pass", "float32.", spec_of("create_full_spec", fill_value=3.14), tool="build_io_contract",
             promises=makes(init={"kind": "full", "fill_value": 3.14})),
        Rule("create_full_spec without fill_value", "refuse", "There is no default.", spec_of("create_full_spec"),
             tool="build_io_contract", verdict="refused", says="fill_value"),
        Rule("create_arange_spec", "pass", "start 0, step 1, float32.", spec_of("create_arange_spec"), tool="build_io_contract",
             promises=makes(init={"kind": "arange"})),
    ]),
    ("Requests", [
        Rule("A source is required", "refuse", "There is nothing to judge.", {"kernel": {"kernel_type": "cuda", "io": contract()}},
             verdict="refused", says="source_code"),
        Rule("A kernel type is required", "refuse", "It is not guessed.", {"kernel": {"source_code": ADD, "io": contract()}},
             verdict="refused", says="kernel_type"),
        Rule("A kernel type is one of five", "refuse", "The answer lists them.",
             {"kernel": {**kernel(ADD), "kernel_type": "opencl"}}, verdict="refused", says='"multi_kernel"'),
        Rule("A malformed contract", "refuse", "The pointer says where.", call(io={"args": 7}), verdict="refused",
             says="/kernel/io/args"),
        Rule("A contract as JSON text", "pass", "Some clients send objects as text.",
             {"kernel": {**kernel(ADD), "io": json.dumps(contract())}}),
        Rule("`num_trials` 1 to 10000", "refuse", "The pointer says which.", {"kernel": kernel(ADD), "num_trials": 0},
             verdict="refused", says="/num_trials"),
        Rule("`timeout` 5 to 600", "refuse", "The pointer says which.", {"kernel": kernel(ADD), "timeout": 601},
             verdict="refused", says="/timeout"),
    ]),
    ("Answers", [
        Rule("A kernel that does not compile is an answer", "refuse", "compiled is false, with the compiler's log.",
             call(ADD.replace("a[i] +", "a[i +")), verdict="compile_failed",
             promises={"status": "success", "kernel_exec_result": {"compiled": False, "correctness": False,
                                                                   "compilation_error": "CUDA compilation failed: "}}),
        Rule("A kernel that is wrong is an answer", "refuse", "compiled is true, correctness false, with the first difference.",
             call(MULTIPLY, ref=ADD), verdict="wrong_output",
             promises={"status": "success", "kernel_exec_result": {"compiled": True, "correctness": False,
                                                                   "validation_error": "Wrong output 'out': "}}),
        Rule("A kernel that is right", "pass", "Both are true.", call(ref=ADD),
             promises={"status": "success", "kernel_exec_result": {"compiled": True, "correctness": True}}),
        Rule("A kernel that hangs", "refuse", "It is killed, and that is an answer about the kernel.",
             call(FOREVER, timeout=5), verdict="timed_out", promises={"status": "success"},
             deviation="The manual calls it a fault of the server (500)."),
        Rule("Without a reference a kernel passes if it runs", "pass", "The report says `checked_against: none`.", call(),
             promises={"validation": {"checked_against": "none"}}),
        Rule("Outputs are compared within a tolerance", "refuse", "float32: 5e-3 too much is an error.", call(LOOSE, ref=ADD),
             verdict="wrong_output", deviation="The manual's 1e-2 hides real errors; the default is per dtype."),
        Rule("The caller's tolerance counts", "pass", "1e-2 is the manual's.", call(LOOSE, ref=ADD, atol=1e-2, rtol=1e-2)),
    ]),
]


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def document():
    from python_rules import PYTHON_SECTIONS  # its rows are Rules
    lines = ["# The manual's rules", "",
             "Every rule of the manual of the system which this one replaces, for sources, contracts and requests, with what comes of "
             "it here. The test `end_to_end_test_manual_rules` sends each that concerns `cuda` to the server, `./dev test --python` "
             "those about Python; this page is printed from their tables (`tests/end_to_end/manual_rules.py`, `python_rules.py`), "
             "where the exact calls stand.", "",
             "*pass*: judged without a word. *warning*: judged, and something is said. *refuse*: the kernel does not pass; `refused` "
             "means that no job was made. Where something differs from the manual, the last column says so."]
    for title, rules in SECTIONS + PYTHON_SECTIONS:
        lines += ["", f"## {title}", "", "| rule | outcome | verdict | says | why | deviation |", "|---|---|---|---|---|---|"]
        for rule in rules:
            says = f"`{cell(rule.says)}`" if rule.says else ""
            tool = "" if rule.tool == "evaluate" else f" ({rule.tool})"
            verdict = "" if rule.tool == "build_io_contract" and rule.verdict == "passed" else rule.verdict
            lines.append(f"| {cell(rule.rule)}{tool} | {rule.outcome} | {verdict} | {says} | {cell(rule.why)} | "
                         f"{cell(rule.deviation)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(document(), end="")
