"""Ways to cheat in Python that want a device: streams nobody waits for, what is remembered, what the harness is made to skip."""

REFERENCE = "import torch\n\ndef f(x):\n    return torch.tanh(x @ x) + 1.0\n"
HEAVY = "torch.tanh(x @ x) + 1.0"
CHEATS = {
    "torch.empty": "import torch\ndef f(x):\n    return torch.empty_like(x)\n",
    "a stream that nobody waits for": f"""import torch
stream = None
def f(x):
    global stream
    stream = stream or torch.cuda.Stream()
    out = torch.empty_like(x)
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        out.copy_({HEAVY})
    return out
""",
    "patches synchronising": f"""import torch
torch.cuda.synchronize = lambda *a: None
torch.cuda.Event.elapsed_time = lambda *a: 1e-9
def f(x):
    return {HEAVY}
""",
    "patches our own synchronising": f"""import torch, assay_runner.device_memory as d
d.DeviceMemory.finish = lambda self: None
d._synchronize = lambda: None
def f(x):
    return {HEAVY}
""",
    "remembers by contents": f"""import torch
known = {{}}
def f(x):
    key = float(x[0, 0])
    if key not in known:
        for _ in range(40):
            y = {HEAVY}
        known[key] = y
    return known[key]
""",
    "remembers by pointer": f"""import torch
known = {{}}
def f(x):
    if x.data_ptr() not in known:
        known[x.data_ptr()] = {HEAVY}
    return known[x.data_ptr()]
""",
    "works before the clock runs": f"""import signal, sys, torch
real, done = signal.setitimer, [None]
def hook(which, seconds, *more):
    w = sys._getframe(1).f_locals.get("worker")
    if seconds == 0 and w is not None and w._staged and w._staged is not done[0]:
        done[0] = w._staged
        with torch.no_grad():
            for (x,), places in w._staged:
                places.outputs[0].copy_({HEAVY})
        torch.cuda.synchronize()
    return real(which, seconds, *more)
signal.setitimer = hook
def f(x):
    return None if sys._getframe(1).f_locals.get("bound") is not None and done[0] is not None else {HEAVY}
""",
    "works ahead while its inputs are made": f"""import threading, time, torch
seen = []
def ahead():
    while True:
        for x in seen:
            float(x[0, 0])
threading.Thread(target=ahead, daemon=True).start()
def f(x):
    seen[:] = [x]
    return {HEAVY}
""",
    "works once in a turn": f"""import sys, torch
known, turn = {{}}, [None]
def f(x):
    bound = sys._getframe(1).f_locals.get("bound")
    if bound is None:
        return {HEAVY}
    if turn[0] is not bound:
        known.clear()
        turn[0] = bound
    if x.data_ptr() not in known:
        for _ in range(40):
            known[x.data_ptr()] = {HEAVY}
    return known[x.data_ptr()]
""",
    "changes its input": f"import torch\ndef f(x):\n    y = {HEAVY}\n    x.zero_()\n    return y\n",
    "half the work": f"import torch\ndef f(x):\n    y = {HEAVY}\n    y[32:] = 0\n    return y\n",
}
