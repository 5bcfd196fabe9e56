"""Sources for the lift: honest ones of every kind with what should become of them, and cheats."""

from pipeline import SAME_IN_TORCH, TRITON_AND_CUPY
from torch_server import inputs, source

MIB = (1 << 20,)
ROWS = (4096, 1000)
SQUARE = (1024, 1024)

TRITON = "import torch\nimport triton\nimport triton.language as tl\n"
TRITON_ADD = TRITON + """
@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

def run(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
    return out
"""
TRITON_SOFTMAX = TRITON + """
@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * columns + at, value / tl.sum(value, 0), mask=at < columns)

def run(x):
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024)
    return out
"""
TRITON_NORM = TRITON + """
@triton.jit
def norm_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    mean = tl.sum(value, 0) / columns
    apart = tl.where(at < columns, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, 0) / columns + 1e-5)
    tl.store(out + row * columns + at, apart * scale, mask=at < columns)

def run(x):
    out = torch.empty_like(x)
    norm_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024)
    return out
"""
TRITON_MATMUL = TRITON + """
@triton.jit
def matmul_kernel(a, b, c, N: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, N, BLOCK):
        inner = k + tl.arange(0, BLOCK)
        total = tl.dot(tl.load(a + rows[:, None] * N + inner[None, :]), tl.load(b + inner[:, None] * N + columns[None, :]), total)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))

def run(a, b):
    out = torch.empty_like(a)
    matmul_kernel[(16, 16)](a, b, out, N=1024, BLOCK=64)
    return out
"""
TRITON_TUNED = TRITON_ADD.replace("@triton.jit", """@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 2048})],
                 key=["n"])
@triton.jit""").replace("x.numel(), BLOCK=1024)", "x.numel())").replace("(triton.cdiv(x.numel(), 1024),)",
                                                                       'lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)')
CUPY = """import cupy
import torch
double = cupy.RawKernel(r'''extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + x[i]; }''', "twice")

def run(x):
    out = torch.empty_like(x)
    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        double(((x.numel() + 255) // 256,), (256,), (x.data_ptr(), out.data_ptr(), cupy.int32(x.numel())))
    return out
"""
CUDA_TWO_KERNELS = r'''import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
__global__ void partial(const float* x, float* sums, int columns) {
    extern __shared__ float held[];
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[blockIdx.x * columns + i];
    held[threadIdx.x] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) held[threadIdx.x] += held[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = held[0];
}
__global__ void divide(const float* x, const float* sums, float* out, int columns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] / sums[i / columns];
}
torch::Tensor shares(torch::Tensor x) {
    auto sums = torch::empty({x.size(0)}, x.options());
    auto out = torch::empty_like(x);
    int n = x.numel();
    auto stream = c10::cuda::getCurrentCUDAStream();
    partial<<<x.size(0), 128, 128 * sizeof(float), stream>>>(x.data_ptr<float>(), sums.data_ptr<float>(), x.size(1));
    divide<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), sums.data_ptr<float>(), out.data_ptr<float>(), x.size(1), n);
    return out;
}
"""
module = load_inline(name="shares", cpp_sources="torch::Tensor shares(torch::Tensor x);", cuda_sources=cuda_source,
                     functions=["shares"])

def run(x):
    return module.shares(x)
'''


def _torch(expression, names="x", more=""):
    return f"import torch\nimport torch.nn.functional as F\n{more}\ndef run({', '.join(names)}):\n    return {expression}\n"


def _row(text, same, io, kernel_type="torch", lifted=True, **options):
    name = "entry_point" if kernel_type == "multi_kernel" else "function_name"
    return (source(text, kernel_type, io, **{name: "run"}), source(same, io=io, function_name="run"), lifted, options)


def _same(expression, io, names="x", lifted=True, **options):
    return _row(_torch(expression, names), _torch(expression, names), io, lifted=lifted, **options)


HALF = inputs(names="ab", shape=SQUARE, dtype="float16")
LOOSE = {"atol": 0.3, "rtol": 2e-2}
# name: (kernel, reference, whether it can be lifted, options)
KERNELS = {
    "torch add": _same("x + y", inputs(names="xy", shape=MIB), "xy"),
    "torch gelu": _same("F.gelu(x)", inputs(shape=MIB)),
    "torch chain of five": _same("((x * 2 + 1).tanh() - x).relu()", inputs(shape=MIB)),
    "torch softmax": _same("torch.softmax(x, -1)", inputs(shape=ROWS)),
    "torch layer_norm": _same("F.layer_norm(x, (1000,))", inputs(shape=ROWS)),
    "torch row sum": _same("x.sum(-1)", inputs(shape=ROWS)),
    "torch cumsum": _same("x.cumsum(-1)", inputs(shape=ROWS)),
    "torch transpose": _same("x.t().contiguous()", inputs(shape=SQUARE)),
    "torch transposed view": _same("x.t()", inputs(shape=SQUARE)),
    "torch matmul f32": _same("x @ y", inputs(names="xy", shape=SQUARE), "xy", **LOOSE),
    "torch matmul f16": _same("a @ b", HALF, "ab", **LOOSE),
    "torch attention f16": _same("F.scaled_dot_product_attention(a.view(8, 128, 1024), b.view(8, 128, 1024), a.view(8, 128, 1024))",
                                 HALF, "ab", **LOOSE),
    "torch conv2d": _same("F.conv2d(x.view(1, 16, 256, 256), y.view(-1)[:16 * 16 * 9].view(16, 16, 3, 3))",
                          inputs(names="xy", shape=SQUARE), "xy", **LOOSE),
    "torch sort": _same("x.sort(-1)[0]", inputs(shape=ROWS)),
    "triton add": _row(TRITON_ADD, _torch("x + y", "xy"), inputs(names="xy", shape=MIB), "multi_kernel"),
    "triton add, autotuned": _row(TRITON_TUNED, _torch("x + y", "xy"), inputs(names="xy", shape=MIB), "multi_kernel"),
    "triton softmax": _row(TRITON_SOFTMAX, _torch("torch.softmax(x, -1)"), inputs(shape=ROWS), "multi_kernel"),
    "triton layer norm": _row(TRITON_NORM, _torch("F.layer_norm(x, (1000,))"), inputs(shape=ROWS), "multi_kernel"),
    "triton matmul f16": _row(TRITON_MATMUL, _torch("a @ b", "ab"), HALF, "multi_kernel", **LOOSE),
    "cupy raw kernel": _row(CUPY, _torch("x * 2"), inputs(shape=MIB), "multi_kernel"),
    "two triton, two cupy": _row(TRITON_AND_CUPY, SAME_IN_TORCH, inputs(names="xy", shape=MIB), "multi_kernel"),
    "torch_cuda, two kernels": _row(CUDA_TWO_KERNELS, _torch("x / x.sum(-1, keepdim=True)"),
                                    inputs(shape=ROWS, kind="uniform"), "torch_cuda"),
    "torch with weights": _row(_torch("linear(x)", more='torch.manual_seed(1)\nlinear = torch.nn.Linear(1024, 1024).cuda()\n'),
                               _torch("linear(x)", more='torch.manual_seed(1)\nlinear = torch.nn.Linear(1024, 1024).cuda()\n'),
                               inputs(shape=SQUARE), lifted=False, **LOOSE),
    "torch, host decides": _same("x * (2 if float(x[0, 0]) > 9 else 3)", inputs(shape=SQUARE), lifted=False),
    "torch, one output the same for all": _row(
        _torch("(x + 1, y * 2)", "xy"), _torch("(x + 1, y * 2)", "xy"),
        {"args": inputs(names="x", shape=SQUARE)["args"] + inputs(names="y", shape=SQUARE, kind="ones")["args"]}, lifted=False),
    "torch, inputs of one kind": _same("x + 1", inputs(shape=SQUARE, kind="ones"), lifted=False),
}

# Launches of other kinds. Each block of the first waits for all others, then reads what another one wrote: on a device that
# does not run all of them at once it hangs.
TRITON_COOPERATIVE = TRITON + """
@triton.jit
def meet(x, held, arrived, out, BLOCK: tl.constexpr):
    me = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(held + me * BLOCK + at, tl.load(x + me * BLOCK + at) * 2, cache_modifier=".cg")
    tl.debug_barrier()
    seen = tl.atomic_add(arrived, 1) + 1
    while seen < tl.num_programs(0):
        seen = tl.atomic_add(arrived, 0)
    tl.debug_barrier()
    other = (me + 1) % tl.num_programs(0)
    tl.store(out + me * BLOCK + at, tl.load(held + other * BLOCK + at, cache_modifier=".cg"))

def run(x):
    held, out = torch.empty_like(x), torch.empty_like(x)
    arrived = torch.zeros(1, dtype=torch.int32, device=x.device)
    meet[(64,)](x, held, arrived, out, BLOCK=1024, launch_cooperative_grid=True)
    return out
"""
TRITON_DEPENDENT = TRITON + """
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

@triton.jit
def first(x, held, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    tl.store(held + at, tl.load(x + at) * 2)

@triton.jit
def second(held, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_wait()
    tl.store(out + at, tl.load(held + at) + 1)

def run(x):
    held, out = torch.empty_like(x), torch.empty_like(x)
    first[(x.numel() // 1024,)](x, held, BLOCK=1024)
    second[(x.numel() // 1024,)](held, out, BLOCK=1024, launch_pdl=True)
    return out
"""
TRITON_CLUSTERS = TRITON_ADD.replace("x.numel(), BLOCK=1024)", "x.numel(), BLOCK=1024, num_ctas=2)")
CUDA_COOPERATIVE = r'''import torch
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include <cooperative_groups.h>
__global__ void turned(const float* x, float* held, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) held[i] = x[i] * 2;
    cooperative_groups::this_grid().sync();
    if (i < n) out[i] = held[n - 1 - i];
}
torch::Tensor turn(torch::Tensor x) {
    auto held = torch::empty_like(x);
    auto out = torch::empty_like(x);
    int n = x.numel();
    const float* from = x.data_ptr<float>();
    float* between = held.data_ptr<float>();
    float* to = out.data_ptr<float>();
    void* arguments[] = {&from, &between, &to, &n};
    cudaLaunchCooperativeKernel((void*)turned, dim3((n + 511) / 512), dim3(512), arguments, 0,
                                c10::cuda::getCurrentCUDAStream().stream());
    return out;
}
"""
module = load_inline(name="turned", cpp_sources="torch::Tensor turn(torch::Tensor x);", cuda_sources=cuda_source, functions=["turn"])

def run(x):
    return module.turn(x)
'''
# Right in every run, and wrong: a race in shared memory, a read beyond its input. The device itself says nothing of either.
MISTAKEN = """import cupy
import torch
twice = cupy.RawKernel(r'''extern "C" __global__ void mistaken(const float* x, float* y, int n) {
    __shared__ float held[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    held[threadIdx.x] = x[i];
    float other = held[(threadIdx.x + 37) % 256];
    y[i] = x[i] * 2 + (other == 12345.678f ? 1 : 0) + (x[i + 1] == 12345.678f ? 1 : 0); }''', "mistaken")

def run(x):
    out = torch.empty_like(x)
    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        twice((x.numel() // 256,), (256,), (x.data_ptr(), out.data_ptr(), cupy.int32(x.numel())))
    return out + 1
"""
LOOKED_AT = {
    "right": (*_same("((x * 2 + 1).tanh() - x).relu()", inputs(shape=MIB))[:2], 5),  # and how many launches it has
    "mistaken": (*_row(MISTAKEN, _torch("x * 2 + 1"), inputs(shape=(4096,)), "multi_kernel")[:2], 2),
}
# name: (kernel, reference, whether it must be lifted; else it may say why it is not)
LAUNCHES = {
    "triton, cooperative": (*_row(TRITON_COOPERATIVE, _torch("torch.roll(x * 2, -1024)"), inputs(shape=(64 * 1024,)), "multi_kernel")[:2], True),
    "triton, dependent launch": (*_row(TRITON_DEPENDENT, _torch("x * 2 + 1"), inputs(shape=MIB), "multi_kernel")[:2], True),
    "triton, clusters of two": (*_row(TRITON_CLUSTERS, _torch("x + y", "xy"), inputs(names="xy", shape=MIB), "multi_kernel")[:2], False),
    "torch_cuda, cooperative": (*_row(CUDA_COOPERATIVE, _torch("x.flip(0) * 2"), inputs(shape=(32 * 1024,)), "torch_cuda")[:2], True),
}

_RAW = "import cupy, torch\n"
_ON_STREAM = "    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):\n        "
_WITH = "    out = torch.empty_like(x)\n" + _ON_STREAM
_CAPTURED = """import sys
def captured():
    frame = sys._getframe()
    while frame is not None:
        if "capture" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
"""
# What `x * 2` is claimed to be. None may be passed and verified.
CHEATS = {
    "host computes": "import torch\ndef run(x):\n    return (x.cpu() * 2).cuda()\n",
    "other launches each call": "import torch\nturn = 0\ndef run(x):\n    global turn\n    turn += 1\n"
                                "    return x * 2 if turn % 2 else x + x\n",
    "a number from the data": "import torch\ndef run(x):\n    return x * 2 + (float(x[0, 0]) - float(x[0, 0]))\n",
    "less work while it is captured": _CAPTURED + "def run(x):\n    if captured():\n        return x[:8].mul(2).repeat(128, 1)\n"
                                                  "    return x * 2\n",
    "its answers lie in a buffer of its own": _CAPTURED + "import torch\nheld = None\ndef run(x):\n    global held\n"
                                              "    if held is None:\n        held = x * 2\n    if captured():\n"
                                              "        return held.clone()\n    return x * 2\n",
    "a forged claim": "import assay_runner.capture as c\n"
                      "c.call = lambda *a: ({'refused': '', 'regions': [], 'outputs': [], 'steps': [{'do': 'launch', 'program': 0,"
                      " 'entry': 'k', 'grid': [1, 1, 1], 'block': [1, 1, 1], 'shared_bytes': 0, 'parameter_bytes': 8,"
                      " 'traits': []}]}, b'12345678')\n"
                      "c.programs = lambda numbers: [b'no machine code at all' * 100]\n"
                      "def run(x):\n    return x * 2\n",
    "a huge claim": "import assay_runner.capture as c\n"
                    "c.call = lambda *a: ({'refused': '', 'regions': [], 'outputs': [], 'steps': []}, bytes(1 << 29))\n"
                    "def run(x):\n    return x * 2\n",
    "a claim of a million steps": "import assay_runner.capture as c\n"
                                  "c.call = lambda *a: ({'refused': '', 'regions': [], 'outputs': [], 'steps': [0] * 10**6}, b'')\n"
                                  "def run(x):\n    return x * 2\n",
    "speaks on the channel while it is captured": _CAPTURED + "import os\ndef run(x):\n    if captured():\n"
                                                  "        os.write(3, b'rubbish' * 100)\n    return x * 2\n",
    "hangs where it is repeated": _RAW + "flag = torch.ones(1, dtype=torch.int32, device='cuda')\n"
                                  "k = cupy.RawKernel(r'''extern \"C\" __global__ void k(const float* x, float* y, volatile int* go, int n) {"
                                  " while (*go == 0) {} int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * 2; }''', 'k')\n"
                                  "def run(x):\n" + _WITH + "k((x.numel() // 256,), (256,), (x.data_ptr(), out.data_ptr(), flag.data_ptr(), "
                                  "cupy.int32(x.numel())))\n    return out\n",
    "hides its pointers": _RAW + "table = torch.arange(1 << 20, dtype=torch.float32, device='cuda') * 0 + 2\n"
                          "k = cupy.RawKernel(r'''extern \"C\" __global__ void k(const float* x, float* y, unsigned long long where, int n) {"
                          " const float* t = (const float*)(where ^ 0x5555000000000000ull);"
                          " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * t[i]; }''', 'k')\n"
                          "def run(x):\n" + _WITH + "k((x.numel() // 256,), (256,), (x.data_ptr(), out.data_ptr(), "
                          "cupy.uint64(table.data_ptr() ^ 0x5555000000000000), cupy.int32(x.numel())))\n    return out\n",
    "a hundred thousand launches": _CAPTURED + "def run(x):\n    if captured():\n        for _ in range(100_000):\n            x + 1\n"
                                   "    return x * 2\n",
    "works on a stream of its own": "import torch\nside = torch.cuda.Stream()\ndef run(x):\n    side.wait_stream(torch.cuda.current_stream())\n"
                                    "    with torch.cuda.stream(side):\n        y = x + x\n"
                                    "    torch.cuda.current_stream().wait_stream(side)\n    return y * 1\n",
    "changes its input": "def run(x):\n    y = x * 2\n    x.zero_()\n    return y\n",
    "remembers in memory of its own": _RAW + "kept = torch.zeros(1 << 20, device='cuda')\n"
                                      "k = cupy.RawKernel(r'''__device__ float last;\nextern \"C\" __global__ void k(const float* x, float* y, float* kept, int n) {"
                                      " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;"
                                      " if (last == x[0]) { y[i] = kept[i]; return; }"
                                      " float v = x[i] * 2; for (int r = 0; r < 20000; ++r) v = __fmaf_rn(v, 1.0f, x[i] * 0.0f);"
                                      " kept[i] = v; y[i] = v; }\nextern \"C\" __global__ void mark(const float* x) { last = x[0]; }''', 'k')\n"
                                      "m = kept\nmodule = cupy.RawModule(code=k.code)\nk = module.get_function('k')\nmark = module.get_function('mark')\n"
                                      "def run(x):\n" + _WITH + "k((x.numel() // 256,), (256,), (x.data_ptr(), out.data_ptr(), kept.data_ptr(), "
                                      "cupy.int32(x.numel())))\n        mark((1,), (1,), (x.data_ptr(),))\n    return out\n",
}
# Those that are right wherever they are repeated, if they do their work there.
NO_GAIN = ("remembers in memory of its own",)
CHEATED = source(_torch("x * 2"), io=inputs(shape=SQUARE), function_name="run")
