"""The best rate of the driver's own copy from device memory to device memory: what a copy kernel is measured by.

    python3 benchmarks/device_copy.py BYTES        prints GB/s, bytes read and written; exit 3: there is no driver here
"""

import ctypes
import sys

from launch_once import Driver

COPIES = 20


def main():
    size = int(sys.argv[1])
    driver = Driver()
    driver.cuInit(0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    driver.cuDeviceGet(ctypes.byref(device), 0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    driver.cuCtxSetCurrent(context)
    source, target = ctypes.c_uint64(), ctypes.c_uint64()
    for address in (source, target):
        driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
        driver.cuMemsetD8_v2(address, ctypes.c_ubyte(1), ctypes.c_size_t(size))
    begin, end = ctypes.c_void_p(), ctypes.c_void_p()
    for event in (begin, end):
        driver.cuEventCreate(ctypes.byref(event), ctypes.c_uint(0))
    best_ms = float("inf")
    for _ in range(COPIES):
        elapsed_ms = ctypes.c_float()
        driver.cuEventRecord(begin, None)
        driver.cuMemcpyDtoDAsync_v2(target, source, ctypes.c_size_t(size), None)
        driver.cuEventRecord(end, None)
        driver.cuEventSynchronize(end)
        driver.cuEventElapsedTime(ctypes.byref(elapsed_ms), begin, end)
        best_ms = min(best_ms, elapsed_ms.value)
    print(2 * size / best_ms / 1e6)


if __name__ == "__main__":
    main()
