"""Functions that an honest kernel leaves alone. What is said here is a claim of a process that runs the user's code:
the engine holds it against the code, never for it."""

import builtins
import importlib
import sys
import time

_WATCHED = (
    ("time", "time perf_counter perf_counter_ns monotonic monotonic_ns process_time sleep"),
    ("torch", "equal allclose isclose empty zeros manual_seed"),
    ("torch.testing", "assert_close"),
    ("torch.cuda", "synchronize"),
    ("torch.cuda.Event", "elapsed_time record synchronize"),
    ("torch.Tensor", "copy_ cpu clone data_ptr equal allclose"),
    ("torch.autograd.profiler", "profile record_function"),
    ("assay_runner.device_memory", "DeviceMemory _copy _synchronize"),
    ("assay_runner.device_memory.DeviceMemory", "adopt tensor finish give_back"),
    ("assay_runner.lent_device_memory", "LentDeviceMemory _synchronize"),
    ("assay_runner.lent_device_memory.LentDeviceMemory", "adopt tensor finish give_back"),
    ("assay_runner.calls", "call_over leave dealt call _copy _manual_seed"),
    ("assay_runner.worker.Worker", "answer _go _stage _fetch _run"),
)


class Watch:
    """What the watched names meant before the user's code ran."""

    def __init__(self):
        self._meant = list(_meanings())
        self._hooks = (sys.settrace, sys.setprofile, builtins.__import__)

    def patched(self):
        """The names that mean something else now."""
        names = [name for name, owner, attribute, meant in self._meant if _now(owner, attribute) is not meant]
        return names if (sys.settrace, sys.setprofile, builtins.__import__) == self._hooks else [*names, "sys"]


def _meanings():
    for path, attributes in _WATCHED:
        owner = _owner(path)
        for attribute in attributes.split():
            if owner is not None and hasattr(owner, attribute):
                yield f"{path}.{attribute}", owner, attribute, _now(owner, attribute)


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
