"""The manual's rules for sources in Python, each as a call and what must come of it. The sources are our own. They need
an interpreter with torch and triton: tests/python/test_python_rules.py sends them; docs/manual-rules.md holds them
beside those for `cuda` (manual_rules.py)."""

from rule_calls import Rule

TENSOR = {"shape": [16, 16], "dtype": "float32", "init": {"kind": "randn", "seed": 42}}
X = {"name": "x", "type": "tensor", "tensor_spec": TENSOR}
Y = {"name": "y", "type": "tensor", "tensor_spec": {**TENSOR, "init": {"kind": "randn", "seed": 43}}}
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"
MODEL = HEAD + """class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 8)

    def forward(self, x):
        return F.relu(self.linear(x))

    def sums(self, x):
        return x.sum(-1)

def preprocess(x):
    return x * 2.0

def product(x, y):
    return torch.matmul(x, y) + torch.relu(x)
"""
OWN = MODEL + "\ndef get_inputs():\n    return [torch.randn(4, 16)]\n"
SIZED = OWN.replace("__init__(self)", "__init__(self, width)").replace("Linear(16, 8)", "Linear(16, width)") + (
    "\ndef get_init_inputs():\n    return [5]\n")
ADD = """import triton
import triton.language as tl

@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)
"""
MULTIPLY = ADD[ADD.index("@"):].replace("add_kernel", "mul_kernel").replace(") + tl.load", ") * tl.load")
ADD_IO = {"args": [X, Y, {"name": "z", "type": "tensor", "role": "output", "tensor_spec": {"shape": [16, 16], "dtype": "float32"}},
                   {"name": "n", "type": "int", "value": 256}, {"name": "BLOCK", "type": "int", "value": 128, "is_meta": True}],
          "launch": {"grid": {"x": 2}, "num_warps": 4, "num_stages": 2}}
SUM = "def f(x, y):\n    return x + y\n"
RUN = """import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)

def run(x, y):
    z = torch.empty_like(x)
    add_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, z, x.numel(), BLOCK=128)
    return z * 2
"""
INLINE = """import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
cuda_source = '''__global__ void add(const float* a, float* out, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) out[i] = a[i]; }
torch::Tensor forward(torch::Tensor a) { auto out = torch::empty_like(a); add<<<1, 256>>>(a.data_ptr<float>(), out.data_ptr<float>(), a.numel()); return out; }'''
module = load_inline(name='m', cpp_sources='torch::Tensor forward(torch::Tensor a);', cuda_sources=cuda_source, functions=['forward'])
class ModelNew(nn.Module):
    def forward(self, x):
        return module.forward(x)
"""
LINES = INLINE.split("\n")
LATE = "\n".join([*LINES[:3], LINES[5], *LINES[3:5], *LINES[6:]])
NO_KERNEL = "\n".join([*LINES[:3], "cuda_source = '''torch::Tensor forward(torch::Tensor a) { return a * 2; }'''", *LINES[5:]])
ON_LOAD = "this runs when the source is loaded"
LENIENT = "The manual forbids it; it does no harm to others here, and it is said."


def source(text, kernel_type, io=None, **metadata):
    body = {"source_code": text, "kernel_type": kernel_type}
    if io is not None:
        body["io"] = io
    if metadata:
        body["metadata"] = metadata
    return body


def call(kernel, reference=None, **more):
    arguments = {"kernel": kernel, "until": "validated", "wait_s": 400, **more}
    if reference is not None:
        arguments["ref_kernel"] = reference
    return arguments


def torch(text, io=None, reference=None, **metadata):
    return call(source(text, "torch", io, **metadata), reference)


def f(text, *args):
    """A source with a function f, called with x or what is named."""
    return torch(text, {"args": list(args or [X])}, function_name="f")


def triton(text=ADD, io=None, **metadata):
    return call(source(text, "triton", io or ADD_IO, **metadata), source(SUM, "torch", function_name="f"))


def cuda(text):
    return call(source(text, "torch_cuda", {"args": [X]}))


def several(text=RUN, args=(X, Y), **metadata):
    return call(source(text, "multi_kernel", {"args": list(args)}, **metadata))


PYTHON_SECTIONS = [
    ("Python sources in general", [
        Rule("A source brings all its imports", "pass", "It is a module of its own.", f("import torch.nn.functional as F\ndef f(x):\n    return F.relu(x)\n")),
        Rule("An import is missing", "refuse", "The traceback stands at the user's own line.", f("def f(x):\n    return F.relu(x)\n"),
             verdict="crashed", says="kernel.py:2"),
        Rule("A module that is not installed", "refuse", "It is named.", f("import nothing_here\ndef f(x):\n    return x\n"),
             verdict="compile_failed", says="Module 'nothing_here' is not installed"),
        Rule("No `if __name__ == \"__main__\"`", "warning", "The source has another name, so the block is not run.",
             torch(MODEL + "\nif __name__ == '__main__':\n    test_model()\n", {"args": [X]}), says="is never run here", deviation=LENIENT),
        Rule("No globals that execute: a model is made on import", "warning", "It costs time at loading, in the source's own process.",
             torch(MODEL + "\nmodel = Model()\n", {"args": [X]}), says=ON_LOAD, deviation=LENIENT),
        Rule("No globals that execute: a model is called on import", "warning", "The same.",
             torch(MODEL + "\nmodel = Model()\nresult = model(torch.randn(16, 16))\n", {"args": [X]}), says=ON_LOAD, deviation=LENIENT),
        Rule("Only definitions: a plain class", "pass", "It need not be a module of torch.",
             torch("class Model:\n    def forward(self, x):\n        return x * 3\n", {"args": [X]})),
        Rule("`sys.path` is changed", "warning", "It affects the source's own process.",
             f("import sys\nsys.path.append('/my/path')\ndef f(x):\n    return x * 2\n"), says=ON_LOAD, deviation=LENIENT),
        Rule("A counter in a global, without effect", "pass", "Nothing outlives the job.",
             f("COUNTER = 0\ndef f(x):\n    global COUNTER\n    COUNTER += 1\n    return x * 2\n"),
             deviation="The manual forbids such globals; here they do no harm."),
        Rule("A counter in a global, with effect", "warning", "Two runs on the same inputs differ: `suspect`.",
             f("COUNTER = 0\ndef f(x):\n    global COUNTER\n    COUNTER += 1\n    return x * COUNTER\n"), says="different values"),
        Rule("No relative imports", "refuse", "There is no package around a source.", f("from . import other\ndef f(x):\n    return x\n"),
             verdict="compile_failed", says="relative import"),
        Rule("Strings are escaped properly", "refuse", "Python says where it is not.", f("text = \"printf(\"Hello\");'\ndef f(x):\n    return x\n"),
             verdict="compile_failed", says="kernel.py:1"),
        Rule("A file is written", "pass", "It lies in memory of the process's own and ends with it.",
             f("with open('file.txt', 'w') as out:\n    out.write('data')\ndef f(x):\n    return x\n"),
             deviation="The manual forbids it; nobody else sees it here."),
        Rule("A file is written where programs lie", "refuse", "What the process sees of the machine it can only read.",
             f("with open('/usr/file.txt', 'w') as out:\n    out.write('data')\ndef f(x):\n    return x\n"), verdict="compile_failed",
             says="/usr/file.txt"),
        Rule("No file of the server is read", "refuse", "Nor are files of others there.",
             f("text = open('/etc/shadow').read()\ndef f(x):\n    return x\n"), verdict="compile_failed", says="/etc/shadow"),
        Rule("No network", "refuse", "There is none in the process.",
             f("import urllib.request\ndata = urllib.request.urlopen('http://192.0.2.1').read()\ndef f(x):\n    return x\n"),
             verdict="compile_failed", says="urlopen error"),
        Rule("Printing clutters", "warning", "What is printed is an artifact of the job.", f("print('Debug info')\ndef f(x):\n    return x * 2\n"),
             says=ON_LOAD, deviation=LENIENT, promises={"artifacts": "output"}),
    ]),
    ("torch", [
        Rule("A clean module", "pass", "`Model` and `forward` are the defaults.", torch(MODEL, {"args": [X]})),
        Rule("Without a contract: `get_inputs()`", "pass", "The inputs are its own.", torch(OWN)),
        Rule("Without a contract and without `get_inputs()`", "refuse", "There is nothing to call it with.", torch(MODEL),
             verdict="contract_invalid", says="No inputs available"),
        Rule("A contract wins over the reference's inputs", "pass", "Own inputs, contract, reference: a contract is named first here.",
             torch(OWN, {"args": [X]}, source(OWN, "torch")),
             deviation="The manual puts a kernel's own get_inputs() before the contract; a candidate must not choose what it is judged on."),
        Rule("`function_name`", "pass", "That function is called.", torch(MODEL, {"args": [X, Y]}, function_name="product")),
        Rule("`class_name` and `method_name`", "pass", "That method is called.", torch(MODEL, {"args": [X]}, class_name="Model", method_name="sums")),
        Rule("`function_name` beside class and method", "pass", "`function_name` wins.",
             torch(MODEL, {"args": [X, Y]}, function_name="product", class_name="Nothing", method_name="nothing")),
        Rule("`class_name` alone", "pass", "The method is `forward`.",
             torch(MODEL.replace("class Model", "class CustomModel"), {"args": [X]}, class_name="CustomModel")),
        Rule("`get_init_inputs()`", "pass", "The class is made from what it returns, in reference and kernel with the same weights.",
             torch(SIZED, None, source(SIZED, "torch"))),
        Rule("`ModelNew` beside `Model`", "pass", "A kernel is its `ModelNew`, a reference its `Model`.",
             torch(OWN + "\nclass ModelNew(Model):\n    pass\n", None, source(OWN, "torch"))),
        Rule("Without inputs of its own beside a reference that has some", "pass", "The reference's are used.", torch(MODEL, None, source(OWN, "torch"))),
        Rule("A function that is not there", "refuse", "What is there is named.", torch(MODEL, {"args": [X]}, function_name="absent"),
             verdict="contract_invalid", says="Function 'absent' not found in source code. Available: functions [preprocess, product]"),
        Rule("A class that is not there", "refuse", "The manual's words.", torch("def g(x):\n    return x\n", {"args": [X]}),
             verdict="contract_invalid", says="Class 'Model' not found"),
        Rule("A method that is not there", "refuse", "What is there is named.", torch(MODEL, {"args": [X]}, method_name="absent"),
             verdict="contract_invalid", says="Method 'absent' not found in class 'Model'. Available: [forward, sums]"),
        Rule("Triton in a torch source", "refuse", "Kernel types are kept apart.", torch("import triton\n" + MODEL, {"args": [X]}),
             verdict="compile_failed", says="must not import triton (line 1)"),
        Rule("CUDA text in a torch source", "refuse", "The same.",
             torch(MODEL + "\nTEXT = '__global__ void k() {}'\n", {"args": [X]}), verdict="compile_failed", says="must not hold CUDA code"),
    ]),
    ("triton", [
        Rule("A clean kernel", "pass", "Compiled to PTX, run on the emulator, judged against torch.", triton()),
        Rule("torch is imported as well", "pass", "It does no harm.", triton("import torch\n" + ADD)),
        Rule("Several kernels, none is named", "pass", "The first is run.", triton(ADD + "\n" + MULTIPLY)),
        Rule("Several kernels, one is named", "refuse", "The other one computes something else.", triton(ADD + "\n" + MULTIPLY, kernel_name="mul_kernel"),
             verdict="wrong_output", says="Wrong output 'z'"),
        Rule("A kernel that another one calls stands first", "pass", "It is no kernel to be launched.",
             triton(ADD.replace("@triton.jit", "@triton.jit\ndef whole(a):\n    return a\n\n@triton.jit").replace("at < n", "whole(at) < n")),
             deviation="The manual takes the first one, whatever it is."),
        Rule("Functions beside it", "pass", "They are not called.", triton(ADD + "\ndef calculate_grid(n, block):\n    return (n + block - 1) // block\n")),
        Rule("A kernel that is not there", "refuse", "What is there is named.", triton(kernel_name="absent"), verdict="contract_invalid",
             says="Kernel 'absent' not found. Available: [add_kernel]"),
        Rule("No `@triton.jit`", "refuse", "The manual's words.", triton(ADD.replace("@triton.jit\n", "")), verdict="contract_invalid",
             says="No @triton.jit kernels found"),
        Rule("No contract", "refuse", "The manual's words.", call(source(ADD, "triton")), verdict="refused",
             says="IOContract is required for Triton kernel compilation. Please provide input/output specifications via IOContract."),
        Rule("No grid", "refuse", "Nobody else knows it.", triton(io={**ADD_IO, "launch": {}}), verdict="refused",
             says="launch.grid is required for triton kernels"),
        Rule("A grid that is an expression of metas", "pass", "It is resolved before anything runs.",
             triton(io={**ADD_IO, "launch": {"grid": {"x": "ceildiv(n, BLOCK)"}}})),
        Rule("A meta without a value", "refuse", "A constant needs one.",
             triton(io={**ADD_IO, "args": [*ADD_IO["args"][:4], {"name": "BLOCK", "type": "int", "is_meta": True}]}), verdict="refused", says="BLOCK"),
        Rule("A meta that the contract leaves out", "refuse", "It is named.", triton(io={**ADD_IO, "args": ADD_IO["args"][:4]}),
             verdict="contract_invalid", says="no argument for BLOCK"),
        Rule("A constexpr without `is_meta`", "pass", "The kernel itself says what is a constant.",
             triton(io={**ADD_IO, "args": [*ADD_IO["args"][:4], {"name": "BLOCK", "type": "int", "value": 128}]}),
             deviation="The manual asks for is_meta; by its name the argument is clear."),
        Rule("A block size that is no power of two", "refuse", "Triton's own message, at the user's line.",
             triton(io={**ADD_IO, "args": [*ADD_IO["args"][:4], {"name": "BLOCK", "type": "int", "value": 100, "is_meta": True}]}),
             verdict="compile_failed", says="power of 2"),
        Rule("A torch module beside a kernel", "warning", "Only the kernel is run.",
             triton("import torch.nn as nn\n" + ADD + "\nclass Model(nn.Module):\n    def forward(self, x):\n        pass\n"),
             says="class Model is not used", deviation=LENIENT),
        Rule("A function that launches", "warning", "The grid is the contract's.",
             triton(ADD + "\ndef launch(x, y, z):\n    add_kernel[(1024,)](x, y, z, 1024, BLOCK=128)\n"), says="launch() is never called", deviation=LENIENT),
        Rule("Test code", "warning", "The block is not run.", triton(ADD + "\nif __name__ == '__main__':\n    test_triton_kernel()\n"),
             says="is never run here", deviation=LENIENT),
        Rule("A launch on import", "refuse", "There is no GPU to launch on.",
             triton(ADD + "\nimport torch\nadd_kernel[(1,)](torch.ones(1), torch.ones(1), torch.ones(1), 1, BLOCK=128)\n"), verdict="unsupported",
             says="kernel.py:11"),
    ]),
    ("torch_cuda", [
        Rule("`load_inline` with a host function and a kernel", "pass", "Built here; without a GPU its kernels run on the emulator.",
             call(source(INLINE, "torch_cuda", {"args": [X]}))),
        Rule("The launch in `cpp_sources`, as the manual has it", "pass", "Both texts are one unit; torch's own load_inline cannot build it.",
             call(source(INLINE.replace("\ntorch::Tensor forward(torch::Tensor a) {", "'''\ncpp_source = '''torch::Tensor forward(torch::Tensor a) {")
                         .replace("cpp_sources='torch::Tensor forward(torch::Tensor a);'", "cpp_sources=cpp_source"), "torch_cuda", {"args": [X]}))),
        Rule("Two calls of `load_inline`", "pass", "Each is an extension of its own.",
             call(source(INLINE.replace("class ModelNew", INLINE.split("\n")[5].replace("'m'", "'m2'") + "\nclass ModelNew"), "torch_cuda", {"args": [X]})),
             deviation="The manual's extraction took one alone."),
        Rule("Texts in the call instead of variables", "pass", "What load_inline is given counts, not how it is spelled.",
             call(source(INLINE.replace("cuda_source = ", "module = load_inline('m', 'torch::Tensor forward(torch::Tensor a);', ")
                         .replace("return out; }'''\n", "return out; }''', ['forward'])\n").replace(INLINE.split("\n")[5] + "\n", ""),
                         "torch_cuda", {"args": [X]})), deviation="The manual's extraction looked for names."),
        Rule("`cpp_sources` is missing", "refuse", "The manual's words, then Python's.",
             call(source(INLINE.replace("cpp_sources='torch::Tensor forward(torch::Tensor a);', ", ""), "torch_cuda", {"args": [X]})),
             verdict="compile_failed", says="Failed to extract CUDA kernel: load_inline() missing a required argument: 'cpp_sources'"),
        Rule("The texts are empty", "refuse", "The manual's words.",
             cuda(INLINE.replace("cpp_sources='torch::Tensor forward(torch::Tensor a);', cuda_sources=cuda_source", "cpp_sources='', cuda_sources=[' ']")),
             verdict="compile_failed", says="Failed to extract CUDA kernel: load_inline() was given no text"),
        Rule("`cuda_sources` is misspelt", "refuse", "It is no argument of load_inline's.",
             cuda(INLINE.replace("cuda_sources=", "cuda_source=")), verdict="compile_failed",
             says="No cuda_sources found: load_inline() got an unexpected keyword argument 'cuda_source'"),
        Rule("`functions` is missing", "refuse", "Then the source must bind its functions itself, with PYBIND11_MODULE.",
             cuda(INLINE.replace(", functions=['forward']", "")), verdict="compile_failed", says="does not define module export function"),
        Rule("The texts stand behind the call", "refuse", "The manual's words, then Python's, which has no such names yet.", cuda(LATE),
             verdict="compile_failed", says="Failed to extract CUDA source from variable 'cuda_source': name 'cuda_source' is not defined"),
        Rule("The variable of the texts is misspelt", "refuse", "The same.", cuda(INLINE.replace("cuda_sources=cuda_source", "cuda_sources=[cuda_sorce]")),
             verdict="compile_failed", says="Failed to extract CUDA source from variable 'cuda_sorce'"),
        Rule("Other names for the texts", "pass", "What load_inline is given counts.",
             cuda(INLINE.replace("cuda_source =", "text =").replace("cuda_sources=cuda_source", "cuda_sources=text")),
             deviation="The manual's extraction looked for names."),
        Rule("No `load_inline`", "refuse", "The manual's words.", cuda(MODEL), verdict="compile_failed", says="No load_inline call found"),
        Rule("No `ModelNew`", "refuse", "The manual's words.", cuda(INLINE.replace("ModelNew", "Net")), verdict="contract_invalid",
             says="No ModelNew torch module found"),
        Rule("`Model` instead of `ModelNew`", "pass", "As a torch source has it.", cuda(INLINE.replace("ModelNew", "Model")),
             deviation="The manual demands the name ModelNew."),
        Rule("No `__global__` function", "warning", "A library call in a kernel's place is honest work, and it is said.", cuda(NO_KERNEL),
             says="No kernel of its own was launched", deviation="The manual refuses it with \"No __global__ functions found\"."),
        Rule("It is called on import", "warning", "It costs time at loading, in the source's own process.",
             cuda(INLINE + "module.forward(torch.randn(10))\n"), says=ON_LOAD, deviation=LENIENT),
        Rule("Triton in a torch_cuda source", "warning", "Only what load_inline is given is built.", cuda("import triton\n" + INLINE),
             says="kernel_type multi_kernel mixes them", deviation=LENIENT),
        Rule("The manual's accepted example exports a function that it does not define", "refuse", "What `functions` names must be defined.",
             call(source(INLINE.replace("torch::Tensor forward(torch::Tensor a) {", "torch::Tensor other(torch::Tensor a) {")
                         .replace("'torch::Tensor forward(torch::Tensor a);'", "''"), "torch_cuda", {"args": [X]})),
             verdict="compile_failed", says="must be defined", deviation="The manual calls it good; it can never have been built."),
    ]),
    ("multi_kernel", [
        Rule("Triton and torch in one script", "warning", "Triton's kernels are interpreted on CPU tensors.", several(entry_point="run"), says="interpreter"),
        Rule("A description beside the entry point", "pass", "It is kept with the job.", several("def run(x, y):\n    return x * y\n", entry_point="run", description="product")),
        Rule("CuPy in a script", "refuse", "It needs a GPU.", several("import cupy as cp\n" + RUN, entry_point="run"), verdict="unsupported", says="needs a GPU"),
        Rule("No entry point", "refuse", "The manual's words.", several(), verdict="refused", says="entry_point must be specified in metadata"),
        Rule("An entry point that is not there", "refuse", "The manual's words.", several(entry_point="go"), verdict="contract_invalid",
             says="Entry point function 'go' not found in module"),
        Rule("No contract", "refuse", "The words of the system itself.", call(source(RUN, "multi_kernel", None, entry_point="run")), verdict="refused",
             says="IOContract is required for multi-kernel sequences. Please provide input/output specifications.",
             deviation="The manual's list of messages says it otherwise; its system says this."),
        Rule("Arguments by position, in the contract's order", "pass", "Names do not matter.", several("def run(p, q):\n    return p - q\n", entry_point="run")),
        Rule("Another number of arguments", "refuse", "It is said before anything runs.", several("def run(x):\n    return x\n", entry_point="run"),
             verdict="contract_invalid", says="does not take 2 positional arguments"),
        Rule("An error at run time", "refuse", "The whole traceback is kept.", several("def run(x, y):\n    raise ValueError('no')\n", entry_point="run"),
             verdict="crashed", says="kernel.py:2"),
    ]),
]
