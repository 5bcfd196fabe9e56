"""Lent memory as tensors on the GPU: a mirror of what was lent, filled when it is adopted and given back when asked.

The same words as memory.Memory, so that a call does not know where its tensors lie.
"""

import os
import sys

import torch

from assay_runner import memory as lent

# Held here: what the user's code patches later is not what moves the bytes.
_copy = torch.Tensor.copy_
_synchronize = getattr(torch._C, "_cuda_synchronize", None)
_CACHES = (("TRITON_CACHE_DIR", "triton"), ("CUPY_CACHE_DIR", "cupy"), ("TORCH_EXTENSIONS_DIR", "extensions"))


def begin():
    """Makes the context: the slow part, and the one that fails where the device is not to be had."""
    for name, folder in _CACHES:
        os.environ.setdefault(name, os.path.join(os.environ.get("TMPDIR", "/tmp"), folder))
    _renew_cupys_cache()
    # What builds on a GPU looks for ninja, nvcc and ptxas by their names.
    beside = [os.path.dirname(sys.executable), os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")]
    os.environ["PATH"] = os.pathsep.join([*beside, os.environ.get("PATH", "")])
    torch.cuda.init()
    torch.cuda.set_device(0)
    _synchronize()


def _renew_cupys_cache():
    """CuPy that was imported ahead has chosen its folder then (from 14 on; others look at each use)."""
    compiler = sys.modules.get("cupy.cuda.compiler")
    if hasattr(compiler, "_set_kernel_cache_backend") and hasattr(compiler, "_DiskKernelCacheBackend"):
        compiler._set_kernel_cache_backend(compiler._DiskKernelCacheBackend())


class DeviceMemory:
    def __init__(self):
        self._host = lent.Memory()
        self._bytes = 0
        self._mirror = None

    def adopt(self, descriptors, size):
        """Maps what was lent and fills the mirror with it."""
        self._host.adopt(descriptors, size)
        self._bytes = size
        if self._mirror is None or self._mirror.numel() < size:
            self._mirror = None
            self._mirror = torch.empty(size, dtype=torch.uint8, device="cuda")
        self.refresh()

    def refresh(self):
        """The mirror holds what was lent as it is now."""
        _copy(self._mirror[:self._bytes], self._host.whole(self._bytes))
        _synchronize()

    def bases(self, contents, stride_bytes):
        return self._host.bases(contents, stride_bytes)

    def tensor(self, place, base=0):
        dtype = lent.torch_dtype(place["dtype"])
        shape = place["shape"]
        if place["bytes"] == 0:
            return torch.empty(shape, dtype=dtype, device="cuda")
        begin = base + place["offset"]
        flat = self._mirror[begin:begin + place["bytes"]].view(dtype)
        strides = place.get("strides")
        if strides is None:
            return flat.view(shape)
        return flat.as_strided(shape, strides, flat.storage_offset())

    def finish(self):
        """Returns when nothing runs on the device any more, on whatever stream."""
        _synchronize()

    def give_back(self):
        """What was lent holds what the mirror holds."""
        _synchronize()
        _copy(self._host.whole(self._bytes), self._mirror[:self._bytes])
