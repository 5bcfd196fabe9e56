"""Keeps a GPU busy with copies, says "busy" once it is, and goes on until its input ends.

    python3 tests/gpu/keep_busy.py INDEX
"""

import ctypes
import os
import select
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks"))
from launch_once import Driver  # noqa: E402

SIZE = 1 << 28
COPIES = 200  # some 30 ms of an H200


def main():
    driver = Driver()
    driver.cuInit(0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    driver.cuDeviceGet(ctypes.byref(device), int(sys.argv[1]))
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    driver.cuCtxSetCurrent(context)
    source, target = ctypes.c_uint64(), ctypes.c_uint64()
    for address in (source, target):
        driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(SIZE))
        driver.cuMemsetD8_v2(address, ctypes.c_ubyte(1), ctypes.c_size_t(SIZE))
    told = False
    while not select.select([sys.stdin], [], [], 0)[0]:
        for _ in range(COPIES):
            driver.cuMemcpyDtoDAsync_v2(target, source, ctypes.c_size_t(SIZE), None)
        driver.cuCtxSynchronize()
        if not told:
            print("busy", flush=True)
        told = True


if __name__ == "__main__":
    main()
