"""Bad kernels: each is told with its verdict, its place in the user's own text and its cause, and none is taken for a cheat."""

import unittest

from pipeline import SAME_IN_TORCH, TRITON_AND_CUPY
from torch_server import TorchServer, inputs, source
from triton_kernels import ADD, ADD_IO, JIT, io, meta, out, tensor


def torch(text):
    return source(text, io=inputs(), function_name="f")


def model(body, more=""):
    text = f"import torch\nclass Model(torch.nn.Module):\n{body}    def forward(self, x):\n        return x\n{more}"
    return source(text)


def script(kernel, launch):
    return source("import torch, triton\nimport triton.language as tl\n@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n"
                  f"    at = tl.arange(0, B)\n    {kernel}\ndef run(x):\n    y = torch.empty_like(x)\n    k[(1,)]({launch})\n"
                  "    return y\n", "multi_kernel", inputs(), entry_point="run")


def triton(text, contract=ADD_IO):
    return source(text, "triton", contract)


SQUARE = JIT + """def k(x, y, B: tl.constexpr):
    r = tl.arange(0, B)
    a = tl.load(x + r[:, None] * B + r[None, :])
    tl.store(y + r[:, None] * B + r[None, :], tl.dot(a, tl.trans(a)))
"""
TUNED = ADD.replace("@triton.jit", '@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=64)], key=["n"])\n@triton.jit')

# name: (kernel, verdict, words of the summary)
BAD = {
    "a gradient in a call": (torch("import torch\ndef f(x):\n    y = x.clone().requires_grad_(True)\n    return torch.autograd.grad((y * y).sum(), y)[0]\n"),
                             "crashed", ("kernel.py:4", "gradients are off here", "use torch.enable_grad()")),
    "a process is started": (torch("import subprocess\ndef f(x):\n    subprocess.run(['ls'])\n    return x\n"), "crashed",
                             ("kernel.py:3", "a source may start no processes")),
    "get_inputs is a list": (model("", "get_inputs = [torch.randn(4)]\n"), "contract_invalid", ("'get_inputs' is a list, not a function",)),
    "a property for a method": (source("import torch\nclass Model:\n    @property\n    def forward(self):\n        return 1\n", io=inputs()),
                                "contract_invalid", ("'forward' of class 'Model' is a property, not a method",)),
    "what an exit of the runner means": (torch("import os\ndef f(x):\n    os._exit(70)\n"), "crashed", ("exit code 70", "a source replaces them")),
    "recursion": (torch("def f(x):\n    return f(x)\n"), "crashed", ("RecursionError", "kernel.py:2")),
    "in a lambda": (torch("g = lambda x: x.nope\ndef f(x):\n    return g(x)\n"), "crashed", ("AttributeError", "kernel.py:1", "nope")),
    "in code made by exec": (torch("exec('def g(x):\\n    return 1/0')\ndef f(x):\n    return g(x)\n"), "crashed",
                             ("ZeroDivisionError", "kernel.py:3")),
    "raised from another": (torch("def f(x):\n    try:\n        1/0\n    except ZeroDivisionError as e:\n        raise ValueError('second') from e\n"),
                            "crashed", ("ValueError", "kernel.py:5", "second")),
    "an exception without a text": (torch("class E(Exception):\n    def __str__(self):\n        raise RuntimeError('x')\ndef f(x):\n    raise E()\n"),
                                    "crashed", ("E when it was called at kernel.py:5", "cannot be shown")),
    "a huge text": (torch("def f(x):\n    raise ValueError('x' * 10_000_000)\n"), "crashed", ("ValueError", "kernel.py:2")),
    "a text that is none": (torch("def f(x):\n    raise ValueError('\\udcff bad')\n"), "crashed", ("ValueError", "kernel.py:2", "? bad")),
    "no text": (torch("def f(x):\n    raise KeyboardInterrupt\n"), "crashed", ("KeyboardInterrupt", "kernel.py:2 (`raise KeyboardInterrupt`).")),
    "no exception of the usual kind": (torch("class E(BaseException):\n    pass\ndef f(x):\n    raise E('stop')\n"), "crashed", ("E when", "kernel.py:4", "stop")),
    "after a form feed": (torch("y = 1\n\f\ndef f(x):\n    return x.nope\n"), "crashed", ("kernel.py:4 (`return x.nope`)",)),
    "indentation": (torch("def f(x):\n  a = 1\n    return x\n"), "compile_failed", ("IndentationError", "kernel.py:3")),
    "an open string": (torch("def f(x):\n    s = '''abc\n    return x\n"), "compile_failed", ("SyntaxError", "kernel.py:2")),
    "signs without end": (torch("x = 1\ny = " + "-" * 10 ** 6 + "1\ndef f(x):\n    return x\n"), "compile_failed",
                          ("SyntaxError", "kernel.py:2 (`y = ---", "too deeply nested")),
    "a sum without end": (torch("def f(x):\n    y = 0\n    return (" + " +\n".join(["x"] * 10 ** 5) + ")\n"), "compile_failed",
                          ("SyntaxError", "kernel.py:3 (`return (x +", "too deeply nested")),
    "calls without end": (torch("def f(x):\n    return x" + ".t()" * 10 ** 5 + "\n"), "compile_failed", ("SyntaxError", "kernel.py:2", "too deeply")),
    "choices without end": (torch("if 0:\n    pass\n" + "elif 0:\n    pass\n" * 10 ** 4), "compile_failed", ("SyntaxError", "too deeply nested")),
    "parentheses without end": (torch("def f(x):\n    return " + "(" * 10 ** 5 + "x" + ")" * 10 ** 5), "compile_failed",
                                ("SyntaxError", "kernel.py:2", "too many nested parentheses")),
    "signs without end in Triton": (triton(ADD + "y = " + "-" * 10 ** 6 + "1\n"), "compile_failed", ("SyntaxError", "kernel.py:9", "too deeply nested")),
    "torch.compile by another way": (torch("import torch, torch._dynamo\n@torch._dynamo.optimize('inductor')\ndef g(x):\n    return torch.relu(x) * 2\n"
                                           "def f(x):\n    return g(x)\n"), "unsupported",
                                     ("torch.compile needs a C++ compiler at kernel.py:6 (`return g(x)`)", "aot_eager")),
    "in __init__": (model("    def __init__(self):\n        super().__init__()\n        self.w = torch.zeros(3) @ torch.zeros(4)\n",
                          "def get_inputs():\n    return [torch.zeros(2)]\n"), "compile_failed", ("RuntimeError", "kernel.py:5")),
    "in get_inputs": (model("", "def get_inputs():\n    return [torch.zeros(2, 3) @ torch.zeros(2)]\n"), "crashed",
                      ("RuntimeError in get_inputs()", "kernel.py:6")),
    "in get_init_inputs": (model("", "def get_inputs():\n    return [torch.zeros(2)]\ndef get_init_inputs():\n    return nothing\n"),
                           "compile_failed", ("NameError", "kernel.py:8")),
    "memory at once": (torch("def f(x):\n    b = bytearray(1 << 40)\n    return x\n"), "out_of_memory", ("kernel.py:2", "MemoryError")),
    "memory bit by bit": (torch("import torch\ndef f(x):\n    kept = []\n    while True:\n        kept.append(torch.empty(1 << 26))\n"),
                          "out_of_memory", ("kernel.py:5", "ran out of memory")),
    "a module that is missing in a call": (torch("def f(x):\n    import nothing_here\n    return x\n"), "crashed",
                                           ("Module 'nothing_here' is not installed", "kernel.py:2")),
    "no room for the engine's memory": (torch("import resource\ndef f(x):\n    resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))\n    return x * 2\n"),
                                        "crashed", ("left this process no room for another open file (RLIMIT_NOFILE is 4)",)),
    "an array of numpy": (torch("def f(x):\n    return x.numpy()\n"), "contract_invalid", ("returned a ndarray",)),
    "a sparse tensor": (torch("def f(x):\n    return x.to_sparse()\n"), "contract_invalid", ("sparse", "only dense")),
    "a sparse tensor for an output": (source("def f(x):\n    return x.to_sparse()\n", io={"args": [*inputs()["args"], out("y", 64, 64)]}, function_name="f"),
                                      "contract_invalid", ("sparse", "only dense")),
    "a tensor without memory": (torch("import torch\ndef f(x):\n    return torch.empty(64, 64, device='meta')\n"), "contract_invalid", ("on meta",)),
    "a generator": (torch("def f(x):\n    yield x\n"), "contract_invalid", ("returned a generator",)),
    "a coroutine": (torch("async def f(x):\n    return x\n"), "contract_invalid", ("returned a coroutine",)),
    "types in Triton": (triton(ADD.replace("at < n", "at < n + x_ptr")), "compile_failed", ("kernel.py:7", "invalid operands")),
    "shapes in Triton": (triton(ADD.replace("tl.load(y_ptr + at, mask=mask)", "tl.zeros((3,), tl.float32)")), "compile_failed", ("kernel.py:8",)),
    "a name that Triton lacks": (triton(ADD.replace("tl.load(y_ptr", "tl.lod(y_ptr")), "compile_failed", ("kernel.py:8", "no attribute")),
    "a statement that Triton lacks": (triton(ADD.replace("    mask = at < n", "    mask = at < n\n    try:\n        pass\n    except:\n        pass")),
                                      "compile_failed", ("kernel.py:8", "Try")),
    "tiles beyond shared memory": (triton(SQUARE, io(tensor("x", 256, 256), out("y", 256, 256), meta("B", 256))), "contract_invalid",
                                   ("bytes of shared memory", "smaller tiles")),
    "too many warps": (triton(TUNED), "contract_invalid", ("num_warps is 64",)),
    "a name that Triton's interpreter lacks": (script("tl.store(y + at, tl.nope(at))", "x, y, 4096, B=4096"), "crashed",
                                               ("AttributeError", "kernel.py:6", "nope")),
    "an argument too few in a launch": (script("tl.store(y + at, tl.load(x + at))", "x, y, B=4096"), "crashed", ("TypeError", "kernel.py:9", "'n'")),
    "a guard of the device": (torch("import torch\ndef f(x):\n    with torch.cuda.device(x.device):\n        return x * 2\n"), "unsupported", ("needs a GPU",)),
    **{f"a GPU is asked for by `{text}`": (torch(f"import torch\ndef need(ok, text):\n    if not ok:\n        raise ValueError(text)\ndef f(x):\n"
                                                  f"    {text}\n    return x * 2\n"), "unsupported", ("It needs a GPU at kernel.py:", "on the CPU here"))
       for text in ("assert x.is_cuda", "assert x.is_contiguous() and x.is_cuda, 'no'", "assert x.device.type == 'cuda'",
                    "assert x.device == torch.device('cuda:0')", "assert all(t.is_cuda for t in (x, x)), (\n        'all of them')",
                    "if not x.is_cuda: raise ValueError('Input must be a CUDA tensor')", "assert torch.cuda.is_available()",
                    "if x.dim() == 2:\n        if x.device.type != 'cuda':\n            raise RuntimeError(str(x.device))",
                    "torch._assert(x.is_cuda, 'no')", "need(x.is_cuda, 'no')", "assert torch.cuda.device_count() > 0",
                    "if torch.cuda.device_count() == 0: raise RuntimeError('none')", "assert x.get_device() >= 0",
                    "torch.zeros(3, device=torch.device('cuda', x.get_device()))", "assert x.device.type != 'cpu'",
                    "if str(x.device) == 'cpu': raise ValueError('no')", "torch.accelerator.current_accelerator().type",
                    "assert torch.version.cuda is not None", "assert str(x.device).startswith('cuda')", "assert 'cuda' in str(x.device)",
                    "with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.CUDNN_ATTENTION]):\n"
                    "        torch.nn.functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])",
                    "torch.sparse.to_sparse_semi_structured(x.half())",
                    "try:\n        torch.cuda.init()\n    except Exception as e:\n        raise RuntimeError('no device') from e")},
    **{f"no GPU is asked for by `{text}`": (torch(f"import torch\ndef f(x):\n    y = x.is_cuda\n    {text}\n    return x * 2\n"),
                                            "crashed", ("at kernel.py:",))
       for text in ("assert x.dim() == 3", "if not x.is_cuda:\n        x = x + 1\n        assert x.dim() == 3", "raise ValueError('CUDA')",
                    "if not x.is_cuda:\n        for n in (1, 2):\n            raise ValueError(n)", "x.nope if x.is_cuda else x.nope",
                    "mode = 'cuda'; assert x.shape[0] == 3 or mode != 'cuda'", "d = {'cuda': 1}; assert d['cuda'] == 2",
                    "raise RuntimeError('Torch not compiled with CUDA enabled?')", "assert False, 'No CUDA GPUs are available'",
                    "if str(x.device) != 'cpu' or x.dim() == 2: raise ValueError('no')")},
    "CuPy without a GPU": (source(TRITON_AND_CUPY, "multi_kernel", inputs(names="xy", shape=(1000,)), entry_point="run"), "unsupported",
                           ("needs a GPU", "cupy")),
}
# name: (body of f, verdict, words of the summary, words of the output)
ENDED = {
    "a hang": ("while True:\n        x + 1", "timed_out", "deadline", 'File "kernel.py", line'),
    "a hang asleep": ("import time\n    print('asleep')\n    time.sleep(1000)", "timed_out", "deadline", 'File "kernel.py", line 4 in f'),
    "an abort": ("import os\n    print('last words')\n    os.abort()", "crashed", "SIGABRT", "last words"),
    "a division by zero": ("import os, signal\n    os.kill(os.getpid(), signal.SIGFPE)", "crashed", "SIGFPE", 'File "kernel.py", line 3 in f'),
    "a wild pointer": ("import ctypes\n    ctypes.string_at(8)", "crashed", "died of SIGSEGV at kernel.py:3. An address was used that is no memory",
                       'File "kernel.py", line 3 in f'),
    "memory written beyond its end": ("import ctypes\n    c = ctypes.CDLL(None)\n    c.malloc.restype = ctypes.c_void_p\n    p = ctypes.c_void_p(c.malloc(2000))\n"
                                      "    ctypes.memset(p, 1, 2032)\n    c.free(p)", "crashed",
                                      "died of SIGABRT at kernel.py:7. The heap was damaged before that: somewhere memory was written beyond the end",
                                      'File "kernel.py", line 7 in f'),
}


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_each_is_told_as_what_it_is(self):
        for name, (kernel, verdict, says) in BAD.items():
            with self.subTest(name):
                report = self.server.judge(kernel, until="validated", timeout=30)
                self.assertEqual((report["verdict"], report["trust"]), (verdict, None), report["summary"])
                for words in says:
                    self.assertIn(words, report["summary"])

    def test_where_it_was_when_it_ended_stands_in_the_output(self):
        for name, (body, verdict, says, last) in ENDED.items():
            with self.subTest(name):
                report = self.server.judge(torch(f"def f(x):\n    {body}\n"), until="validated", timeout=5)
                self.assertEqual((report["verdict"], report["trust"]), (verdict, None), report["summary"])
                self.assertIn(says, report["summary"])
                self.assertIn(last, report["error"]["output"])

    def test_the_same_pipeline_in_torch_runs(self):
        contract = inputs(names="xy", shape=(1000,))
        report = self.server.judge(source(SAME_IN_TORCH, "multi_kernel", contract, entry_point="run"), until="validated")
        self.assertEqual(report["verdict"], "passed", report["summary"])


if __name__ == "__main__":
    unittest.main()
