"""What a fresh process pays at least before it can launch anything: the driver started, the device's context made, the
process gone. benchmarks/gpu.py runs several at once, beside evaluations that need a context of their own each.
"""

import ctypes
import os

driver = ctypes.CDLL("libcuda.so.1")
device, context = ctypes.c_int(), ctypes.c_void_p()
for failed in (driver.cuInit(0), driver.cuDeviceGet(ctypes.byref(device), 0),
               driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)):
    if failed:
        raise SystemExit(f"CUDA error {failed}")
os._exit(0)
