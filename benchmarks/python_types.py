"""On a machine with a GPU: the Python kernel types beside the plain process that does the same, in one run: a torch
function, a CUDA extension by load_inline, a Triton kernel; new and seen before. benchmarks/RESULTS.md keeps dated figures.

    ASSAY=build/release/bin/assay ASSAY_PYTHON=python3 python3 benchmarks/python_types.py
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests", folder) for folder in ("end_to_end", "gpu", "python")]
os.environ.setdefault("ASSAY", os.path.join(ROOT, "build", "release", "bin", "assay"))
os.environ.setdefault("ASSAY_PYTHON", sys.executable)
from check_python import TORCH_CUDA  # noqa: E402
from figures import tell  # noqa: E402
from torch_server import TorchServer, inputs, source  # noqa: E402
from triton_kernels import JIT, io, meta, number, out, tensor  # noqa: E402

N = 1 << 20
SCALE = "def f(x):\n    return x * 2.0 + 1.0  # {}\n"
ADD = JIT + """def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)
# {}
"""
ADD_IO = io(tensor("x_ptr", N), tensor("y_ptr", N, seed=9), out("out_ptr", N), number("n", N), meta("BLOCK", 1024), grid=N // 1024)


def plain(kind, text, state):
    """Seconds of a fresh process, and what it said."""
    path = os.path.join(state, "candidate.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    environment = {**os.environ, "TORCH_EXTENSIONS_DIR": os.path.join(state, "extensions"), "TRITON_CACHE_DIR": os.path.join(state, "triton")}
    began = time.monotonic()
    script = os.path.join(ROOT, "benchmarks", "plain_python.py")
    ran = subprocess.run([os.environ["ASSAY_PYTHON"], script, kind, path], capture_output=True, text=True, env=environment,
                         timeout=300, check=False)
    took = time.monotonic() - began
    return took, (ran.stdout or ran.stderr).strip().splitlines()[-1] if ran.returncode in (0, 3) else f"failed: {ran.stderr[-300:]}"


def ours(server, *sources, **more):
    began = time.monotonic()
    report = server.judge(*sources, num_trials=100, timeout=300, **more)
    took = time.monotonic() - began
    assert report["verdict"] == "passed", report["summary"]
    return took


def beside(what, seconds, theirs, said, goal_s):
    tell(what, f"{seconds:.2f} s; plain process {theirs:.1f} s ({said}): {theirs / seconds:.0f} times",
         f"{goal_s} s" if goal_s else "", seconds <= goal_s if goal_s else None)


def torch_functions(server):
    def judged(i):
        return ours(server, source(SCALE.format(i), io=inputs(shape=(N,)), function_name="f"))
    judged("first")
    theirs, said = plain("torch", SCALE.format("plain"), tempfile.mkdtemp())
    beside("warm evaluate of a torch function", statistics.median(judged(i) for i in range(5)), theirs, said, 0.6)


def extensions(server):
    pair = inputs(names="ab", shape=(N,))

    # Host halves and device code are kept apart: a new one of either is built, the other is not.
    def judged(i, host=0, **more):
        text = TORCH_CUDA.replace("a[i] + b[i]", f"a[i] + b[i] + 0.0f * {i}").replace("a.numel()", f"a.numel() + {host} - {host}")
        return ours(server, source(text, "torch_cuda", pair), **more)
    state = tempfile.mkdtemp()
    with_headers = judged(0, until="validated")
    first = statistics.median(judged(i, host=i, until="validated") for i in (1, 2, 3))
    theirs, said = plain("torch_cuda", TORCH_CUDA, state)
    beside("torch_cuda, the first of an environment (torch's headers compiled too)", with_headers, theirs, said, None)
    beside("torch_cuda, first build", first, theirs, said, 9)
    beside("torch_cuda, new device code alone", statistics.median(judged(i, until="validated") for i in (4, 5, 6)), theirs, said, None)
    theirs, said = plain("torch_cuda", TORCH_CUDA, state)
    beside("torch_cuda, built before", statistics.median(judged(1, until="validated") for _ in range(3)), theirs, said, 0.8)
    beside("torch_cuda, built before, with 100 timed runs", statistics.median(judged(1) for _ in range(3)), theirs, said, None)


def triton_kernels(server):
    def judged(text):
        return ours(server, source(text, "triton", ADD_IO))
    judged(ADD.format("first"))
    state = tempfile.mkdtemp()
    new = statistics.median(judged(ADD.format(i).replace("add_kernel", f"add_kernel_{i}")) for i in range(3))
    theirs, said = plain("triton", ADD.format("plain"), state)
    beside("Triton kernel, new", new, theirs, said, None)
    seen = statistics.median(judged(ADD.format("first")) for _ in range(5))
    theirs, said = plain("triton", ADD.format("plain"), state)
    beside("Triton kernel, seen before", seen, theirs, said, None)


def main():
    with TorchServer() as server:
        for part in (torch_functions, triton_kernels, extensions):
            part(server)


if __name__ == "__main__":
    main()
