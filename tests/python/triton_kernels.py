"""Triton kernels of different kinds with what they must compute, in torch: (kernel, io, reference). Written for these
tests; each takes other instructions of the PTX that Triton makes."""

HEAD = "import triton\nimport triton.language as tl\n\n"
JIT = HEAD + "@triton.jit\n"


def tensor(name, *shape, dtype="float32", role="input", **init):
    spec = {"shape": list(shape), "dtype": dtype}
    if role != "output" or init:
        spec["init"] = {"kind": "randn", "seed": 3, **init}
    return {"name": name, "type": "tensor", "role": role, "tensor_spec": spec}


def out(name, *shape, dtype="float32"):
    return tensor(name, *shape, dtype=dtype, role="output")


def number(name, value, **more):
    return {"name": name, "type": "float" if isinstance(value, float) else "int", "value": value, **more}


def meta(name, value):
    return number(name, value, is_meta=True)


def io(*args, grid=1, **launch):
    grid = grid if isinstance(grid, dict) else {"x": grid}
    return {"args": list(args), "launch": {"grid": grid, **launch}}


ADD = JIT + """def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)
"""
ADD_IO = io(tensor("x_ptr", 1000), tensor("y_ptr", 1000, seed=9), out("out_ptr", 1000), number("n", 1000),
            meta("BLOCK", 128), grid=8)
ADD_TORCH = "def f(x_ptr, y_ptr):\n    return x_ptr + y_ptr\n"

MATMUL = JIT + """def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=%s)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc%s)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)
"""


def matmul(dtype, more="", result="float32", **init):
    made = MATMUL % ("tl." + result, more)
    size = io(tensor("a", 64, 96, dtype=dtype, **init), tensor("b", 96, 32, dtype=dtype, **{"seed": 8, **init}),
              out("c", 64, 32, dtype=result), number("M", 64), number("N", 32), number("K", 96), meta("BM", 32),
              meta("BN", 32), meta("BK", 32), grid={"x": 2, "y": 1}, num_warps=4, num_stages=3)
    exact = "torch.float64" if result == "float32" else "torch.int32"
    return made, size, f"import torch\ndef f(a, b):\n    return (a.to({exact}) @ b.to({exact})).to(torch.{result})\n"


def rows(body, reference, *more, columns=100, result=None, head="", metas=(), launch=None, dtype="float32"):
    """A kernel of one program per row of x."""
    text = HEAD + head + f"@triton.jit\ndef kernel(x, y, n, BLOCK: tl.constexpr{''.join(more)}):\n" + """    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < n
""" + "".join(f"    {line}\n" for line in body)
    result = result or out("y", 12, columns)
    size = io(tensor("x", 12, columns, dtype=dtype), result, number("n", columns), meta("BLOCK", 128), *metas, grid=12,
              **(launch or {}))
    return text, size, "import torch\ndef f(x):\n" + "".join(f"    {line}\n" for line in reference)


LOAD = "v = tl.load(x + row * n + at, mask=mask, other=0.0)"
STORE = "tl.store(y + row * n + at, v, mask=mask)"
SUM = """@triton.jit
def add(a, b):
    return a + b

"""

def script(text, contract):
    """The same kernel launched by a script: (source, io) of a multi_kernel with the entry point run."""
    inputs = [item for item in contract["args"] if item["type"] == "tensor" and item["role"] != "output"]
    (result,) = [item for item in contract["args"] if item["type"] == "tensor" and item["role"] == "output"]
    spec, grid = result["tensor_spec"], contract["launch"]["grid"]
    made = f"torch.{'zeros' if 'init' in spec else 'empty'}({spec['shape']}, dtype=torch.{spec['dtype']})"
    name = text.rpartition("@triton.jit\ndef ")[2].partition("(")[0]
    plain = [repr(item["value"]) if "value" in item else "made" if item is result else item["name"]
             for item in contract["args"] if not item.get("is_meta")]
    metas = [f"{item['name']}={item['value']!r}" for item in contract["args"] if item.get("is_meta")]
    run = (f"def run({', '.join(item['name'] for item in inputs)}):\n    made = {made}\n"
           f"    {name}[({grid['x']}, {grid.get('y', 1)}, {grid.get('z', 1)})]({', '.join(plain + metas)})\n    return made\n")
    return f"import torch\n{text}\n{run}", {"args": inputs}


KERNELS = {
    "element by element": (ADD, ADD_IO, ADD_TORCH),
    "matmul of halves": matmul("float16"),
    "matmul of bfloat16": matmul("bfloat16"),
    "matmul of floats, exact": matmul("float32", ", input_precision='ieee'"),
    "matmul of integers": matmul("int8", result="int32", kind="uniform", low=-9, high=9),
    "softmax": rows(["v = tl.load(x + row * n + at, mask=mask, other=-float('inf'))",
                     "v = tl.exp(v - tl.max(v, axis=0))", "v = v / tl.sum(v, axis=0)", STORE],
                    ["return torch.softmax(x, -1)"]),
    "layer norm": rows([LOAD, "mean = tl.sum(v, axis=0) / n", "d = tl.where(mask, v - mean, 0.0)",
                        "v = d * tl.rsqrt(tl.sum(d * d, axis=0) / n + 1e-5)", STORE],
                       ["return torch.nn.functional.layer_norm(x, (100,))"]),
    "prefix sums": rows([LOAD, "v = tl.cumsum(v, axis=0)", STORE], ["return x.double().cumsum(-1).float()"]),
    "a scan of its own": rows([LOAD, "v = tl.associative_scan(v, 0, add)", STORE],
                              ["return x.double().cumsum(-1).float()"], head=SUM),
    "sorting": rows(["v = tl.load(x + row * n + at, mask=mask, other=float('inf'))", "v = tl.sort(v)", STORE],
                    ["return x.sort(-1).values"]),
    "the place of the greatest": rows(["v = tl.load(x + row * n + at, mask=mask, other=-float('inf'))",
                                       "tl.store(y + row, tl.argmax(v, axis=0))"],
                                      ["return x.argmax(-1).to(torch.int32)"], result=out("y", 12, dtype="int32")),
    "functions of libdevice": rows([LOAD, "v = libdevice.tanh(v) + libdevice.erf(v)", STORE],
                                   ["return torch.tanh(x) + torch.erf(x)"],
                                   head="from triton.language.extra import libdevice\n\n"),
    "sines and roots": rows([LOAD, "v = tl.sin(v) + tl.sqrt(tl.abs(v)) + tl.sigmoid(v) + tl.log(tl.abs(v) + 1.0)", STORE],
                            ["return x.sin() + x.abs().sqrt() + x.sigmoid() + (x.abs() + 1).log()"]),
    "doubles": rows([LOAD, "v = v.to(tl.float64)", "v = v * v / 3.0 + 1.0", STORE],
                    ["return x.double() * x.double() / 3 + 1"], result=out("y", 12, 100, dtype="float64")),
    "bfloat16 out of halves": rows(["v = tl.load(x + row * n + at, mask=mask).to(tl.float32) * 2", STORE],
                                   ["return (x.float() * 2).bfloat16()"], dtype="float16",
                                   result=out("y", 12, 100, dtype="bfloat16")),
    "eight bits": rows([LOAD, "v = v.to(tl.float8e4nv).to(tl.float32)", STORE],
                       ["return x.to(torch.float8_e4m3fn).float()"]),
    "atomic sums": rows([LOAD, "tl.atomic_add(y + at, v, mask=mask)"], ["return x.double().sum(0).float()"],
                        result=tensor("y", 100, role="output", kind="zeros")),
    "a loop that ends by data": rows([LOAD, "left = 5 + row", "while left > 0:", "    v = v * 0.5 + 1.0", "    left -= 1", STORE],
                                     ["x = x.clone()", "for row in range(12):", "    for _ in range(5 + row):",
                                      "        x[row] = x[row] * 0.5 + 1", "return x"]),
    "a helper": rows([LOAD, "v = twice(v)", STORE], ["return x * 2"], head="@triton.jit\ndef twice(v):\n    return v + v\n\n"),
    "text and truth as metas": rows([LOAD, "if HOW == 'double':", "    v = v * 2", "if not QUIET:", "    v = v + 1", STORE],
                                    ["return x * 2 + 1"], ", HOW: tl.constexpr, QUIET: tl.constexpr",
                                    metas=[{"name": "HOW", "type": "str", "value": "double", "is_meta": True},
                                           {"name": "QUIET", "type": "bool", "value": False, "is_meta": True}]),
    "a scalar of each kind": rows([LOAD, "v = v * factor + (shift >> 30)", STORE], ["return x * 0.5 + 8"], ", factor, shift",
                                  metas=[number("factor", 0.5), number("shift", 2**33)]),
    "a one, which is folded": rows([LOAD, "v = v + one", STORE], ["return x + 1"], ", one", metas=[number("one", 1)]),
    "eight warps": rows([LOAD, "v = tl.sum(v, axis=0) + v", STORE], ["return x.double().sum(-1, keepdim=True).float() + x"],
                        launch={"num_warps": 8}),
    "random numbers": rows(["v = tl.rand(7, row * n + at)", "w = tl.load(x + row * n + at, mask=mask)",
                            "v = tl.where((v >= 0) & (v < 1), w * w, 0.0)", STORE], ["return x * x"]),
    "three axes": (JIT + """def kernel(x, y, BLOCK: tl.constexpr):
    block = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    at = block * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) * 3)
""", io(tensor("x", 2, 3, 4, 64), out("y", 2, 3, 4, 64), meta("BLOCK", 64), grid={"x": 4, "y": 3, "z": 2}, num_warps=2),
        "def f(x):\n    return x * 3\n"),
    "a transposed tile": (JIT + """def kernel(x, y, N: tl.constexpr):
    r = tl.arange(0, N)
    v = tl.trans(tl.load(x + r[:, None] * N + r[None, :]))
    tl.store(y + r[:, None] * N + r[None, :], v)
""", io(tensor("x", 64, 64), out("y", 64, 64), meta("N", 64)), "def f(x):\n    return x.T.contiguous()\n"),
    "descriptors": (JIT + """def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    b = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    at = tl.program_id(0) * BM
    b.store([at, 0], a.load([at, 0]) + 1)
""", io(tensor("x", 40, 32), out("y", 40, 32), number("M", 40), number("N", 32), meta("BM", 16), meta("BN", 32), grid=3),
        "def f(x):\n    return x + 1\n"),
    "attention": (JIT + """def attention(q, k, v, o, scale, N: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, D)
    query = tl.load(q + r[:, None] * D + d[None, :])
    most = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for begin in range(0, N, B):
        c = begin + tl.arange(0, B)
        score = tl.dot(query, tl.trans(tl.load(k + c[:, None] * D + d[None, :]))) * scale
        now = tl.maximum(most, tl.max(score, 1))
        p = tl.exp(score - now[:, None])
        fade = tl.exp(most - now)
        total = total * fade + tl.sum(p, 1)
        acc = acc * fade[:, None] + tl.dot(p.to(tl.float16), tl.load(v + c[:, None] * D + d[None, :]))
        most = now
    tl.store(o + r[:, None] * D + d[None, :], acc / total[:, None])
""", io(tensor("q", 64, 32, dtype="float16"), tensor("k", 64, 32, dtype="float16", seed=4),
        tensor("v", 64, 32, dtype="float16", seed=5), out("o", 64, 32), number("scale", 0.17677669), meta("N", 64),
        meta("D", 32), meta("B", 32), grid=2),
        "import torch\ndef f(q, k, v):\n    return torch.softmax(q.float() @ k.float().T * 0.17677669, -1) @ v.float()\n"),
}
