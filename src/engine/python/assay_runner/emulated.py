"""The emulator that this process holds (engine/python/launches.cc): a wrapper's launches on CPU tensors, and the memory
they may touch."""

import ctypes
import gc
import json

import torch

from assay_runner import memory
from assay_runner.failure import Refused

_library = None  # of the zygote: it was loaded before the fork


def use(library):
    """Once, in the zygote."""
    global _library
    _library = library
    for name in ("assay_emulator_failure", "assay_emulator_failure_kind", "assay_emulator_findings"):
        getattr(library, name).restype = ctypes.c_char_p
    library.assay_emulator_open.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    library.assay_emulator_launches.restype = ctypes.c_uint64
    library.assay_emulator_inspect.argtypes = (ctypes.c_char_p, ctypes.c_double)
    library.assay_memory_forget_contents.argtypes = (ctypes.c_void_p,)
    for name in ("assay_memory_add", "assay_memory_forget"):
        getattr(library, name).argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    library.assay_memory_add_named.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)


class _Process(ctypes.Structure):
    """wrapper/on_cpu.h, assay::Process."""
    _fields_ = [("module", ctypes.c_int)] + [(name, ctypes.c_void_p) for name in ("launch", "failure", "add", "remove")]


def attach(wrapper, kernels, ptx, is_first):
    """The wrapper's launches work from here on. `kernels`: the entry of each, in the wrapper's order."""
    module = _library.assay_emulator_open(ptx, len(ptx))
    if module < 0:
        check()
    functions = (_library.assay_emulator_launch, _library.assay_emulator_failure, _library.assay_memory_add_allocated,
                 _library.assay_memory_remove)
    process = _Process(module, *(ctypes.cast(function, ctypes.c_void_p) for function in functions))
    wrapper.assay_name_kernel.argtypes = (ctypes.c_size_t, ctypes.c_char_p)
    for index, entry in enumerate(kernels):
        wrapper.assay_name_kernel(index, entry.encode())
    if is_first:
        memory.watch(_add_named, _library.assay_memory_forget)
        for tensor in [found for found in gc.get_objects() if isinstance(found, torch.Tensor)]:
            storage = tensor.untyped_storage()
            _library.assay_memory_add(storage.data_ptr(), storage.nbytes())
    wrapper.assay_attach(ctypes.byref(process), int(is_first))


def _add_named(address, size, name):
    _library.assay_memory_add_named(address, size, name.encode())


def check():
    """What a launch found stands, whatever the source made of the exception."""
    if _library is None:
        return
    kind = _library.assay_emulator_failure_kind().decode()
    if kind:
        raise Refused(kind, _library.assay_emulator_failure().decode(errors="replace"))


def has_failed():
    """Whether a launch did."""
    return bool(_library.assay_emulator_failure_kind())


def launches():
    """How many there were in this process."""
    return 0 if _library is None else _library.assay_emulator_launches()


def skip():
    """From here on launches do nothing: what is right then was not theirs."""
    _library.assay_emulator_skip()


def inspect(order, seconds):
    """From here on every launch is looked at: {inspect: [what], checked_blocks}, for so many seconds together."""
    if _library.assay_emulator_inspect(json.dumps(order).encode(), seconds) != 0:
        raise RuntimeError("the engine ordered what is no inspection")


def is_unwritten(tensor):
    """What it holds is a call's to write before anybody reads it; until findings()."""
    _library.assay_memory_forget_contents(tensor.data_ptr())


def findings():
    """{findings, notes, launches, blocks}; launches are not looked at any more."""
    return json.loads(_library.assay_emulator_findings())
