"""What calls of the source make the device do, written down as the driver is told of it (engine/python/capture.cc).

All of it is a claim: the engine believes it as far as a process without Python, which repeats it, is right.
"""

import ctypes
import json

from assay_runner import calls
from assay_runner.failure import Refused

# Calls before one that is written down: programs are loaded, pools are filled, what tunes itself has done so. Not as many
# each time: what every other call does is not what all do.
_WARMUPS = (3, 2)
# What the engine takes in one answer, and torch's own modules are megabytes each.
_MOST_PROGRAM_BYTES = 200 << 20

_library = None  # of the zygote: it was loaded before the fork
_captured = 0


def use(library):
    """Once, in the zygote."""
    global _library
    _library = library
    for name in ("assay_capture_open", "assay_capture_end"):
        getattr(library, name).restype = ctypes.c_char_p
    for name in ("assay_capture_parameters", "assay_capture_program"):
        getattr(library, name).restype = ctypes.c_void_p
    library.assay_capture_parameters.argtypes = (ctypes.POINTER(ctypes.c_size_t),)
    library.assay_capture_program.argtypes = (ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t))


def open_capture():
    """Before a byte of the source's is read. Answers why there can be none, or nothing."""
    return _library.assay_capture_open().decode(errors="replace")


def call(target, task, memory, seed):
    """({regions, steps, outputs, refused}, parameters) of one call on the memory's first stretch."""
    global _captured
    for _ in range(_WARMUPS[_captured % len(_WARMUPS)]):
        calls.leave(calls.call(target, task.bind(memory), seed), task.places(memory))
    _captured += 1
    arguments, places = task.bind(memory), task.places(memory)
    memory.finish()
    _library.assay_capture_begin()
    try:
        result = calls.call(target, arguments, seed)
        results = calls.tensors_of(result)
        outputs = [_found(got, place, memory) for got, place in zip(results, places.of(len(results)))]
        if None in outputs:
            # What is returned is no whole tensor of its own: moving it to its place is a step like others.
            outputs = []
            calls.leave(result, places)
        memory.finish()
    finally:
        told = json.loads(_library.assay_capture_end())
    del result
    size = ctypes.c_size_t()
    address = _library.assay_capture_parameters(ctypes.byref(size))
    return {**told, "outputs": outputs}, ctypes.string_at(address, size.value)


def programs(numbers):
    """The machine code of each."""
    found, held = [], 0
    for number in numbers:
        size = ctypes.c_size_t()
        address = _library.assay_capture_program(number, ctypes.byref(size))
        held += size.value
        if not address or held > _MOST_PROGRAM_BYTES:
            raise Refused("capture", "its programs are too large to be carried over")
        found.append(ctypes.string_at(address, size.value))
    return found


def _found(got, place, memory):
    """[where it is, where it belongs, bytes] of a result that can take the place's part as it lies there."""
    if not got.is_cuda or not got.is_contiguous() or not place.is_contiguous():
        return None
    if got.shape != place.shape or got.dtype != place.dtype:
        return None
    if memory.holds(got.data_ptr()) and got.data_ptr() != place.data_ptr():
        return None  # an input, or another's place
    return [got.data_ptr(), place.data_ptr(), got.numel() * got.element_size()]
