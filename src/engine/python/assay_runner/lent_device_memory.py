"""Device memory that the referee lends, mapped by the driver: a call works where its results are judged.

Each stretch keeps its address from one loan to the next, as lent memory of the host does.
"""

import ctypes

import torch

from assay_runner import memory as lent

_POSIX_DESCRIPTOR = 1
_synchronize = getattr(torch._C, "_cuda_synchronize", None)


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("device", ctypes.c_int)]


class _Properties(ctypes.Structure):  # CUmemAllocationProp
    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location", _Location),
                ("windows_only", ctypes.c_void_p), ("flags", ctypes.c_uint64)]


class _Access(ctypes.Structure):  # CUmemAccessDesc
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


_ON_DEVICE = _Location(1, 0)
_READ_WRITE = 3


class _Bytes:
    """What torch makes a tensor of without a copy."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


class _Stretch:
    def __init__(self, driver, size):
        self._driver = driver
        self._handle = None
        self.size = size
        self._address = ctypes.c_uint64()
        driver("cuMemAddressReserve", ctypes.byref(self._address), ctypes.c_size_t(size), ctypes.c_size_t(0),
               ctypes.c_uint64(0), ctypes.c_uint64(0))
        self.bytes = None

    @property
    def address(self):
        return self._address.value

    def map(self, descriptor):
        self.unmap()
        handle = ctypes.c_uint64()
        size = ctypes.c_size_t(self.size)
        self._driver("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(descriptor), _POSIX_DESCRIPTOR)
        self._handle = handle
        self._driver("cuMemMap", self._address, size, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
        access = _Access(_ON_DEVICE, _READ_WRITE)
        self._driver("cuMemSetAccess", self._address, size, ctypes.byref(access), ctypes.c_size_t(1))
        if self.bytes is None:
            self.bytes = torch.as_tensor(_Bytes(self._address.value, self.size), device="cuda")

    def unmap(self):
        if self._handle is not None:
            self._driver("cuMemUnmap", self._address, ctypes.c_size_t(self.size))
            self._driver("cuMemRelease", self._handle)
            self._handle = None

    def free(self):
        self.unmap()
        self._driver("cuMemAddressFree", self._address, ctypes.c_size_t(self.size))


class LentDeviceMemory:
    def __init__(self):
        self._libcuda = ctypes.CDLL("libcuda.so.1")
        self._stretches = []
        granule = ctypes.c_size_t()
        properties = _Properties(1, _POSIX_DESCRIPTOR, _ON_DEVICE, None, 0)
        self._call("cuMemGetAllocationGranularity", ctypes.byref(granule), ctypes.byref(properties), 0)
        self._granule = granule.value

    def _call(self, name, *arguments):
        result = getattr(self._libcuda, name)(*arguments)
        if result != 0:
            raise RuntimeError(f"lent device memory: {name} answered {result}")

    def adopt(self, descriptors, size):
        """Each descriptor is a stretch of its own."""
        _synchronize()
        whole = (max(size, 1) + self._granule - 1) // self._granule * self._granule
        if self._stretches and self._stretches[0].size != whole:
            for stretch in self._stretches:
                stretch.free()
            self._stretches = []
        while len(self._stretches) < len(descriptors):
            self._stretches.append(_Stretch(self._call, whole))
        for stretch, descriptor in zip(self._stretches, descriptors):
            stretch.map(descriptor)

    def bases(self, contents, _stride_bytes):
        return range(contents)

    def tensor(self, place, base=0):
        dtype = lent.torch_dtype(place["dtype"])
        shape = place["shape"]
        if place["bytes"] == 0:
            return torch.empty(shape, dtype=dtype, device="cuda")
        flat = self._stretches[base].bytes[place["offset"]:place["offset"] + place["bytes"]].view(dtype)
        strides = place.get("strides")
        return flat.view(shape) if strides is None else flat.as_strided(shape, strides, flat.storage_offset())

    def address(self):
        """Where the first stretch begins for the device."""
        return self._stretches[0].address

    def holds(self, address):
        first = self._stretches[0]
        return first.address <= address < first.address + first.size

    def finish(self):
        """Returns when nothing runs on the device any more, on whatever stream."""
        _synchronize()

    def give_back(self):
        _synchronize()
