"""Keeps all multiprocessors of a GPU busy, says "busy" once they are, and goes on until its input ends.

    python3 tests/gpu/keep_busy.py INDEX
"""

import ctypes
import os
import select
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks"))
from launch_once import Driver  # noqa: E402

# A kernel rather than copies: those may be a copy engine's work, which counts as nobody's.
PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry busy(.param .u64 ns)
{
  .reg .pred %p;
  .reg .u64 %wanted, %begin, %now;
  ld.param.u64 %wanted, [ns];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %p, %now, %wanted;
  @%p bra again;
  ret;
}
\0"""
BLOCKS = 128
LAUNCH_NS = 2_000_000
LAUNCHES = 10


def main():
    driver = Driver()
    driver.cuInit(0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    driver.cuDeviceGet(ctypes.byref(device), int(sys.argv[1]))
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    driver.cuCtxSetCurrent(context)
    module, busy = ctypes.c_void_p(), ctypes.c_void_p()
    driver.cuModuleLoadData(ctypes.byref(module), PTX)
    driver.cuModuleGetFunction(ctypes.byref(busy), module, b"busy")
    span = ctypes.c_uint64(LAUNCH_NS)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(span))
    told = False
    while not select.select([sys.stdin], [], [], 0)[0]:
        for _ in range(LAUNCHES):
            driver.cuLaunchKernel(busy, BLOCKS, 1, 1, 128, 1, 1, 0, None, parameters, None)
        driver.cuCtxSynchronize()
        if not told:
            print("busy", flush=True)
        told = True


if __name__ == "__main__":
    main()
