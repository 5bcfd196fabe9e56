"""What an agent would run without a server, a fresh Python process each: judge and time a torch module, build a CUDA
extension by torch's own load_inline, compile and time a Triton kernel.

    plain_python.py torch|torch_cuda|triton SOURCE     prints one line; exit 3 where a module is missing
"""

import importlib.util
import sys

try:
    import torch
    if sys.argv[1] == "triton":
        import triton
except ImportError as error:
    print(error)
    sys.exit(3)

N = 1 << 20


def loaded(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(call):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    samples = []
    for _ in range(110):
        start.record()
        call()
        stop.record()
        stop.synchronize()
        samples.append(start.elapsed_time(stop))
    return f"median {sorted(samples[10:])[50] * 1e3:.1f} us"


def main(kind, path):
    module = loaded(path)
    x, y = (torch.randn(N, device="cuda") for _ in range(2))
    if kind == "torch":
        assert torch.allclose(module.f(x), x * 2.0 + 1.0)
        return timed(lambda: module.f(x))
    if kind == "torch_cuda":
        assert torch.allclose(module.ModelNew()(x, y), x + y)
        return timed(lambda: module.ModelNew()(x, y))
    out = torch.empty_like(x)
    call = lambda: module.add_kernel[(triton.cdiv(N, 1024),)](x, y, out, N, BLOCK=1024)  # noqa: E731
    call()
    assert torch.allclose(out, x + y)
    return timed(call)


if __name__ == "__main__":
    print(main(*sys.argv[1:3]))
