"""Takes all memory that a GPU has left, says "taken", and holds it until its input ends.

    python3 tests/gpu/take_memory.py INDEX
"""

import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks"))
from launch_once import Driver  # noqa: E402

SMALLEST = 1 << 20


def main():
    driver = Driver()
    driver.cuInit(0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    driver.cuDeviceGet(ctypes.byref(device), int(sys.argv[1]))
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    driver.cuCtxSetCurrent(context)
    taken, size = 0, 1 << 36
    while size >= SMALLEST:
        try:
            driver.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(size))
            taken += size
        except RuntimeError:
            size //= 2
    print(f"taken {taken >> 20} MiB", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
