"""Sources that cheat without a GPU, honest ones of the same work, and answers that are forged; test_cheats judges them."""

REFERENCE = """import torch

def f(x):
    return torch.tanh(x @ x) + 1.0
"""
HONEST = """import torch

def f(x):
    y = torch.matmul(x, x)
    return y.tanh().add(1.0)
"""
WORK = "torch.tanh(x @ x) + 1.0"

# Answers that the engine waits for while the source is loaded.
FORGED = """import json, os, struct, torch
body = json.dumps({}).encode()
os.write(3, struct.pack("<IIQII", 0x31595341, len(body), 0, 0, 0) + body)
def f(x):
    return torch.tanh(x @ x) + 1.0
"""
FORGERIES = {
    "fails to load with a traceback that is no text": FORGED.format(
        {"type": "failed", "seq": 1, "stage": "load", "code": "exception", "exception": "E", "message": "m", "frames": [], "traceback": 7}),
    "is loaded with a build that is no text": FORGED.format(
        {"type": "loaded", "seq": 1, "name": "f", "has_inputs": False, "no_inputs": "", "init_inputs": None, "warnings": [{"message": 7}, 7], "torch": "t",
         "python": "p", "built": [7, {"by": 7}, {"by": "load_inline", "why": 7}], "no_capture": ""}),
    "asks for a build without a name": FORGED.format({"type": "build", "seq": 1, "name": 7}),
}
CHEATS = {
    "returns what the reference left": """import gc, torch
def f(x):
    for thing in gc.get_objects():
        if isinstance(thing, torch.Tensor) and thing.shape == x.shape and thing is not x:
            return thing.clone()
    return torch.empty_like(x)
""",
    "torch.empty": "import torch\ndef f(x):\n    return torch.empty_like(x)\n",
    "changes its input": "import torch\ndef f(x):\n    y = torch.tanh(x @ x) + 1.0\n    x.zero_()\n    return y\n",
    "lets a thread do it later": """import threading, time, torch
def later(x, y):
    time.sleep(0.02)
    y.copy_(torch.tanh(x @ x) + 1.0)
def f(x):
    y = torch.empty_like(x)
    threading.Thread(target=later, args=(x, y), daemon=True).start()
    return y
""",
    "keeps a thread busy": """import threading, torch
def spin():
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
def f(x):
    return torch.tanh(x @ x) + 1.0
""",
    "patches the clocks": """import time, torch
time.perf_counter = lambda: 0.0
torch.cuda.synchronize = lambda *a: None
torch.cuda.Event.elapsed_time = lambda *a: 1e-9
def f(x):
    return torch.tanh(x @ x) + 1.0
""",
    "patches the comparison": "import torch\ntorch.allclose = lambda *a, **k: True\ntorch.equal = lambda *a: True\n"
                              "def f(x):\n    return torch.zeros_like(x)\n",
    "patches copying": "import torch\ntorch.Tensor.copy_ = lambda s, o, *a: s\n" + HONEST,
    "lazy subclass": """import torch
class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})
def f(x):
    return (torch.tanh(x @ x) + 1.0).as_subclass(Lazy)
""",
    "remembers by pointer": """import torch
known = {}
def f(x):
    if x.data_ptr() not in known:
        known[x.data_ptr()] = torch.tanh(x @ x) + 1.0
    return known[x.data_ptr()]
""",
    "works in the first call only": """import torch
first = None
def f(x):
    global first
    if first is None:
        first = torch.tanh(x @ x) + 1.0
    return first
""",
    "knows the first inputs": """import torch
torch.manual_seed(42)
guess = torch.randn(64, 64)
answer = torch.tanh(guess @ guess) + 1.0
def f(x):
    return answer
""",
    "falls back on the reference": """import torch
def f(x):
    try:
        from ref_kernel import f as reference
        return reference(x)
    except ImportError:
        return torch.zeros_like(x)
""",
    "walks the frames": """import sys, torch
def f(x):
    frame = sys._getframe()
    while frame is not None:
        for name, value in frame.f_locals.items():
            if isinstance(value, torch.Tensor) and value is not x and value.shape == x.shape:
                return value
            if isinstance(value, dict) and 'expected' in value:
                return value['expected']
        frame = frame.f_back
    return torch.zeros_like(x)
""",
    "writes frames of its own": """import json, os, struct, torch
def f(x):
    body = json.dumps({"type": "ran", "seq": 4, "patched": [], "foreign": []}).encode()
    os.write(3, struct.pack("<IIQII", 0x31595341, len(body), 0, 0, 0) + body)
    return torch.tanh(x @ x) + 1.0
""",
    "writes rubbish to the channel": "import os, torch\ndef f(x):\n    os.write(3, b'x' * 100)\n"
                                     "    return torch.tanh(x @ x) + 1.0\n",
    "writes a frame nested without end": """import os, struct, torch
def f(x):
    body = b'{"type":"failed","stage":"run","code":"x","exception":"E","message":"m","frames":[],"seq":3,"available":'
    body += b'[' * 200_000 + b']' * 200_000 + b'}'
    data = struct.pack("<IIQII", 0x31595341, len(body), 0, 0, 0) + body
    while data:
        data = data[os.write(3, data):]
    return torch.tanh(x @ x) + 1.0
""",
    "claims a fault of ours": """import json, os, struct, torch
def f(x):
    body = json.dumps({"type": "fault", "message": "the engine's own"}).encode()
    os.write(3, struct.pack("<IIQII", 0x31595341, len(body), 0, 0, 0) + body)
    return torch.tanh(x @ x) + 1.0
""",
    "reads /proc": """import glob, torch
def f(x):
    for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/mem'):
        try:
            with open(path, 'rb') as file:
                if b'expected' in file.read(1 << 16):
                    break
        except OSError:
            pass
    return torch.zeros_like(x)
""",
    "scans for tensors": """import gc, torch
def f(x):
    found = [t for t in gc.get_objects() if isinstance(t, torch.Tensor) and t.numel() == x.numel() and t is not x]
    return found[-1].view_as(x) if found else torch.ones_like(x)
""",
    "knows the timed calls": """import torch
calls = 0
def f(x):
    global calls
    calls += 1
    if calls > 5:
        return torch.zeros_like(x)
    return torch.tanh(x @ x) + 1.0
""",
    "maps memory of its own over what is lent": """import ctypes, torch
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
answer = None
def f(x):
    global answer
    if answer is None:
        answer = torch.tanh(x @ x) + 1.0
        kept = x.clone()
        libc.mmap(x.data_ptr() & ~4095, 1 << 16, 3, 0x32, -1, 0)
        x.copy_(kept)
    return answer
""",
    "forks a helper": """import os, torch
def f(x):
    y = torch.zeros_like(x)
    try:
        if os.fork() == 0:
            y.copy_(torch.tanh(x @ x) + 1.0)
            os._exit(0)
    except OSError:
        pass
    return y
""",
    "traces every call": """import sys, torch
def trace(frame, event, argument):
    return trace
sys.settrace(trace)
def f(x):
    return torch.tanh(x @ x) + 1.0
""",
    "leaves a dispatch mode on": """import torch
from torch.utils._python_dispatch import TorchDispatchMode
class Later(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
Later().__enter__()
def f(x):
    return torch.tanh(x @ x) + 1.0
""",
    "leaves a function mode on": """import torch
from torch.overrides import TorchFunctionMode
class Later(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
Later().__enter__()
def f(x):
    return torch.tanh(x @ x) + 1.0
""",
    "overrides an operator of torch's": """import torch
library = torch.library.Library("aten", "IMPL")
library.impl("copy_", lambda to, source, non_blocking=False: to, "CPU")
def f(x):
    return torch.tanh(x @ x) + 1.0
""",
    "patches the pointer of tensors": "import torch\ntorch.Tensor.data_ptr = lambda s: 4096\n" + HONEST,
    "works at exit": """import atexit, torch
def later(x, y):
    y.copy_(torch.tanh(x @ x) + 1.0)
def f(x):
    y = torch.empty_like(x)
    atexit.register(later, x, y)
    return y
""",
    "works in a signal's handler": """import ctypes, signal, torch
libc = ctypes.CDLL(None)
waiting = []
def later(*_):
    while waiting:
        x, y = waiting.pop()
        y.copy_(torch.tanh(x @ x) + 1.0)
signal.signal(signal.SIGUSR1, later)
timer, event = ctypes.c_void_p(), (ctypes.c_int * 16)(0, 0, signal.SIGUSR1, 0)
libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer))
def f(x):
    y = torch.empty_like(x)
    waiting.append((x, y))
    libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 0, 0, 20_000_000), None)
    return y
""",
    "overrides builtins": """import builtins, torch
zip_ = builtins.zip
builtins.zip = lambda *a, **k: zip_(*a, **k)
def f(x):
    return torch.tanh(x @ x) + 1.0
""",
    "exchanges the runner's code": """import assay_runner.calls as calls, torch
def over(target, bound, seed):
    with _no_grad():
        for arguments, places in bound[-1:]:
            _manual_seed(seed)
            leave(target(*arguments), places)
calls.call_over.__code__ = over.__code__
def f(x):
    return torch.tanh(x @ x) + 1.0
""",
    "puts a module of its own in the runner's place": """import sys, types, torch
fake = types.ModuleType("assay_runner.calls")
fake.leave = fake.call_over = fake.call = lambda *a: None
sys.modules["assay_runner.calls"] = fake
sys.modules["assay_runner"].calls = fake
def f(x):
    return torch.zeros_like(x)
""",
    "writes to whatever descriptor there is": """import os, torch
def f(x):
    for name in os.listdir('/proc/self/fd'):
        if int(name) > 2:
            try:
                os.write(int(name), b'passed' * 100)
            except OSError:
                pass
    return torch.tanh(x @ x) + 1.0
""",
    "tells its monitor of every line": """import sys, torch
if hasattr(sys, 'monitoring'):
    sys.monitoring.use_tool_id(1, 'cheat')
    sys.monitoring.set_events(1, sys.monitoring.events.LINE)
else:
    sys.setprofile(lambda *a: None)
def f(x):
    return torch.tanh(x @ x) + 1.0
""",
}


# Its turns of N calls are longer by 3 ms a call, those of 2N calls are not: a slope of 1 ms for calls of 4.
PADDING = """import sys, time
import torch
seen = set()
def f(x):
    time.sleep(0.004)
    turn = next((g['body'] for g in frames() if isinstance(g.get('body'), dict)), {})
    if 'contents' in turn and turn['calls'] < turn['contents'] and turn['seq'] not in seen:
        seen.add(turn['seq'])
        time.sleep(0.003 * turn['calls'])
    return torch.tanh(x @ x) + 1.0
def frames():
    frame = sys._getframe(1)
    while frame:
        yield frame.f_locals
        frame = frame.f_back
"""

# Slows whoever is timed beside it, and is quiet again before anybody listens.
ASIDE = """import threading, time, torch
calls, busy_until = 0, 0.0
def spin():
    while calls < 24:
        while time.monotonic() < busy_until:
            pass
        time.sleep(0.001)
threading.Thread(target=spin, daemon=True).start()
def f(x):
    global calls, busy_until
    calls += 1
    busy_until = 0.0
    time.sleep(0.004)
    y = torch.tanh(x @ x) + 1.0
    busy_until = time.monotonic() + 0.2
    return y
"""
