"""Functions that an honest kernel leaves alone. What is said here is a claim of a process that runs the user's code:
the engine holds it against the code, never for it."""

import builtins
import gc
import importlib
import sys
import time

import torch
from torch.utils._device import DeviceContext

_function_modes = getattr(torch.overrides, "_get_current_function_mode_stack", list)

_WATCHED = (
    ("time", "time perf_counter perf_counter_ns monotonic monotonic_ns process_time sleep"),
    ("os", "close read write fork _exit"),
    ("signal", "signal setitimer alarm"),
    ("json", "dumps loads"),
    ("torch", "equal allclose isclose empty zeros"),
    ("torch.testing", "assert_close"),
    ("torch.cuda", "synchronize"),
    ("torch.cuda.Event", "elapsed_time record synchronize"),
    ("torch.Tensor", "copy_ cpu clone data_ptr equal allclose"),
    ("torch.autograd.profiler", "profile record_function"),
    ("assay_runner.device_memory", "_copy _synchronize"),
    ("assay_runner.lent_device_memory", "_synchronize"),
)
_OURS = "assay_runner."
_TOOLS = range(6)  # of sys.monitoring


class Watch:
    """What the watched names meant before the user's code ran."""

    def __init__(self):
        self._meant = list(_meanings())
        self._hooks = _hooks()

    def patched(self):
        """The names that mean something else now, and what looks into every call."""
        names = [name for name, owner, attribute, meant, code in self._meant
                 if (now := _now(owner, attribute)) is not meant or _code(now) is not code]
        return names + [name for name, now in _hooks().items() if now != self._hooks[name]]


def _meanings():
    for path, attributes in _WATCHED:
        owner = _owner(path)
        for attribute in attributes.split():
            if owner is not None and hasattr(owner, attribute):
                yield _meaning(path, owner, attribute)
    # All of Python's own, and all of ours: what is called from there has no other name to be known by.
    yield from _callables("builtins", builtins)
    for path in [path for path in sys.modules if path.startswith(_OURS)]:
        yield from _callables(path, sys.modules[path])


def _callables(path, owner):
    for attribute, value in list(vars(owner).items()):
        if not callable(value) and not isinstance(value, (staticmethod, classmethod, property)):
            continue
        if attribute != "_":
            yield _meaning(path, owner, attribute)
        if isinstance(value, type) and value.__module__ == path and path.startswith(_OURS):
            yield from _callables(f"{path}.{attribute}", value)


def _meaning(path, owner, attribute):
    meant = _now(owner, attribute)
    return f"{path}.{attribute}", owner, attribute, meant, _code(meant)


def _code(value):
    """What a function does can be exchanged behind its name."""
    return getattr(value, "__code__", None)


def _hooks():
    monitoring = getattr(sys, "monitoring", None)
    return {"gc.callbacks": list(gc.callbacks), "sys.settrace": sys.gettrace(), "sys.setprofile": sys.getprofile(),
            "sys.monitoring": [monitoring.get_tool(tool) for tool in _TOOLS] if monitoring else [],
            "torch dispatch modes": getattr(torch._C, "_len_torch_dispatch_stack", int)(),
            # torch.set_default_device() is one, and honest.
            "torch function modes": [mode for mode in _function_modes() if type(mode) is not DeviceContext]}


def _now(owner, attribute):
    # As it stands in the class, not bound to something on every access.
    found = vars(owner).get(attribute)
    return found if found is not None else getattr(owner, attribute, None)


def _owner(path):
    if path == "time":
        return time
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            owner = getattr(owner, part, None)
        return owner
    return None
