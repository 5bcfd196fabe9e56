"""Memory that the engine lends: always mapped at the same address, so that a pointer seen before tells nothing of
what is behind it now, and seen as torch tensors."""

import ctypes
import mmap
import os

import torch

_DTYPES = {name: getattr(torch, name) for name in (
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2") if hasattr(torch, name)}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}

_PROT_NONE = 0
_MAP_SHARED_FIXED_POPULATED = mmap.MAP_SHARED | 0x10 | 0x8000
_MAP_RESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
_MAP_FAILED = ctypes.c_void_p(-1).value
_RESERVED_BYTES = 16 << 30

# Who is told of each tensor's place, and that all of them are gone; nobody unless an emulator asks.
_watchers = []

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)


def dtype_name(dtype):
    """The contract's name of a torch dtype, or None if the contract has none."""
    return _NAMES.get(dtype)


def torch_dtype(name):
    """The torch dtype of a contract's name."""
    if name not in _DTYPES:
        raise NotImplementedError(f"this torch ({torch.__version__}) has no dtype {name}")
    return _DTYPES[name]


def watch(add, forget):
    """add(address, bytes, name) for each tensor that is lent from now on, forget(address, bytes) when other memory comes."""
    _watchers[:] = [(add, forget)]


class Memory:
    """One region of addresses; what is lent is mapped at its beginning, over what was there before."""

    def __init__(self):
        self._address = _map(None, _RESERVED_BYTES, _PROT_NONE, _MAP_RESERVED, -1)

    def adopt(self, descriptors, size):
        """Maps what was lent, whole and present; the descriptor stays the caller's."""
        descriptor = descriptors[0]
        if not 0 < size <= _RESERVED_BYTES or os.fstat(descriptor).st_size != size:
            raise RuntimeError("memory of another size than was said")
        for _, forget in _watchers:
            forget(self._address, _RESERVED_BYTES)
        _map(self._address, size, mmap.PROT_READ | mmap.PROT_WRITE, _MAP_SHARED_FIXED_POPULATED, descriptor)

    def bases(self, contents, stride_bytes):
        """Where the stretches of a turn begin."""
        return range(0, contents * stride_bytes, stride_bytes)

    def tensor(self, place, base=0):
        """The tensor of {offset, shape, strides?, dtype} as it lies in the memory: no copy."""
        dtype = torch_dtype(place["dtype"])
        shape = place["shape"]
        if place["bytes"] == 0:
            return torch.empty(shape, dtype=dtype)
        for add, _ in _watchers:
            add(self._address + base + place["offset"], place["bytes"], place["name"])
        raw = (ctypes.c_char * place["bytes"]).from_address(self._address + base + place["offset"])
        flat = torch.frombuffer(raw, dtype=dtype)
        strides = place.get("strides")
        return flat.as_strided(shape, strides) if strides is not None else flat.view(shape)

    def whole(self, size):
        """All that was lent, as bytes."""
        return torch.frombuffer((ctypes.c_char * size).from_address(self._address), dtype=torch.uint8)

    def finish(self):
        """Nothing runs beside a call on the CPU."""

    def give_back(self):
        """The tensors are the lent memory."""


def _map(address, size, protection, flags, descriptor):
    mapped = _libc.mmap(address, size, protection, flags, descriptor, 0)
    if mapped == _MAP_FAILED or mapped is None:
        raise OSError(ctypes.get_errno(), "mmap of lent memory")
    return mapped
