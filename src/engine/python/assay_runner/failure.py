"""What went wrong in the user's source, told in the user's own lines."""

import linecache
import re
import traceback

from assay_runner import device_question

_MAX_MESSAGE = 2000
_MAX_TRACEBACK = 6000
_MAX_FRAMES = 12
_MAX_LINE = 300
_MAX_CHAIN = 20  # of exceptions, each raised from another
# A torch for the CPU alone has hollow classes and lacks functions of its own library; one for GPUs finds none.
_WANTS_GPU = re.compile("|".join((
    "Torch not compiled with CUDA enabled", "Found no NVIDIA driver", "No CUDA GPUs are available", "0 active drivers",
    "Cannot access accelerator device", "Expected a cuda device, but got: cpu", "Tried to instantiate dummy base class",
    "requires CUDA support", "compiled without CUDA support", "NVTX functions not installed", "without ATen_cuda library",
    "cudaErrorNoDevice", "cudaErrorInsufficientDriver", "not linked with support for cuda devices", "requires a CUDA or other accelerator backend", "'torch._C' has no attribute '_cuda_",
    r"Could not run 'aten::_?(cudnn_|scaled_dot_product_(flash|efficient|cudnn)_attention|flash_attention_|efficient_attention_)")))


class Refused(Exception):
    """The source is not what it must be: `code` is for the engine, the text for the agent."""

    def __init__(self, code, message, **detail):
        super().__init__(message)
        self.code = code
        self.detail = detail


class Located(Exception):
    """What a compiler said of a place in the user's text."""

    def __init__(self, kind, message, line, column):
        super().__init__(message)
        self.kind = kind
        self.line = line
        self.column = column


def is_memory(error):
    """Whether memory ran out, as Python and torch say it."""
    if isinstance(error, MemoryError):
        return True
    text = _text(error)
    return "can't allocate memory" in text or "DefaultCPUAllocator" in text or "out of memory" in text


def needs_gpu(error):
    """Whether it failed for want of a GPU, as torch, triton and CuPy say it."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "cupy":
        return True
    return _WANTS_GPU.search(_text(error)) is not None


def _wants_gpu(error, file):
    """What the user's own `raise` says is the user's text: what it was raised from tells."""
    for _ in range(_MAX_CHAIN):
        frames = traceback.extract_tb(error.__traceback__)
        if not frames or frames[-1].filename != file or not device_question.is_own_raise(error, frames[-1], file):
            return needs_gpu(error)
        error = error.__cause__ or error.__context__
        if error is None:
            return False
    return False


def needs_compiler(error):
    """Whether torch.compile could not start what it compiles with."""
    seen = []
    while error is not None and len(seen) < _MAX_CHAIN:
        seen.append(error)
        error = error.__cause__ or error.__context__
    is_compiles = any(str(type(one).__module__).startswith(("torch._inductor", "torch._dynamo")) for one in seen)
    return is_compiles and any(words in _text(one) for one in seen for words in (
        "PermissionError", "InvalidCxxCompiler", "No working C++ compiler found", "Failed to find C compiler"))


def describe(stage, error, file, on_gpu=False):
    """The body of a `failed` reply."""
    if type(error).__name__ == "InterpreterError" and error.__cause__ is not None:
        outer, error = error, error.__cause__  # Triton's interpreter wraps what happened in the kernel
        if not _of_user(error, file):  # or around it: the launch is the place
            error = error.with_traceback(outer.__traceback__)
    body = {"type": "failed", "stage": stage, "exception": type(error).__name__, "message": _text(error)}
    if isinstance(error, Refused):
        return {**body, "code": error.code, **error.detail}
    if isinstance(error, Located):
        frames = [{"line": error.line, "function": "", "text": _line(file, error.line)}] if error.line else []
        return {**body, "code": "exception", "exception": error.kind, "frames": frames, "column": error.column}
    body["code"] = ("out_of_memory" if is_memory(error) else "needs_gpu" if _wants_gpu(error, file) or not on_gpu and (_asks_for_gpu(error, file) or _is_in_torch_cuda(error))
                    else "needs_compiler" if needs_compiler(error)
                    else "missing_module" if isinstance(error, ModuleNotFoundError) else "exception")
    if isinstance(error, PermissionError) and _starts_a_process(error):
        body["starts_process"] = True
    if isinstance(error, ModuleNotFoundError):
        body["module"] = error.name
    if isinstance(error, SyntaxError) and error.filename == file:
        body["frames"] = [{"line": error.lineno or 0, "function": "", "text": (error.text or "")[:_MAX_LINE].rstrip()}]
        body["column"] = error.offset or 0
    else:
        body["frames"] = _frames(error, file)
    body["traceback"] = _trace(error, file)
    return body


def short(error):
    """For a sentence: "ValueError: what it says"."""
    return f"{type(error).__name__}: {_text(error)}"[:_MAX_LINE]


def _text(error):
    try:
        return str(error)[:_MAX_MESSAGE]
    except (Exception, KeyboardInterrupt, SystemExit):  # one of the user's may not even have a text
        return f"<{type(error).__name__} that cannot be shown>"


def _asks_for_gpu(error, file):
    try:
        return device_question.is_asked(error, _of_user(error, file), file)
    except Exception:  # a text nested beyond what can be walked
        return False


def _is_in_torch_cuda(error):
    """What torch.cuda fails at in words of its own, where there is no GPU: it looked for what none gave it."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and "/torch/cuda/" in frames[-1].filename


def _starts_a_process(error):
    """Whether it is what starting one, which confinement forbids, ends in."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    return any(frame.filename.endswith(("subprocess.py", "popen_fork.py", "forkserver.py", "spawnv_passfds"))
               or re.search(r"\b(fork|forkpty|posix_spawnp?|_?fork_exec|exec[lv]p?e?)\(", frame.line or "") for frame in last)


def _of_user(error, file):
    return [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]


def _line(file, number):
    return linecache.getline(file, number)[:_MAX_LINE].rstrip()


def _frames(error, file):
    frames = [{"line": frame.lineno, "function": frame.name, "text": _line(file, frame.lineno)}
              for frame in _of_user(error, file)]
    return frames[-_MAX_FRAMES:]


def _trace(error, file):
    """As Python prints it, without our own frames above the user's first one."""
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if frame.filename == file), len(frames))
    lines = ["Traceback (most recent call last):\n"] if first < len(frames) else []
    lines += traceback.format_list(frames[first:])
    try:
        lines += traceback.format_exception_only(type(error), error)
    except (Exception, KeyboardInterrupt, SystemExit):
        lines.append(type(error).__name__ + "\n")
    return "".join(lines)[-_MAX_TRACEBACK:]
