"""Launches one kernel through the driver and nothing else: what a profiler is put before.

    python3 benchmarks/launch_once.py PROGRAM.ptx SPECIFICATION.json

The specification: {entry, grid: [x, y, z], block: [x, y, z], shared_bytes, launches, arguments}, an argument being {"bytes": n}
for a buffer of small numbers, or {"int": v} or {"float": v}. Exit 3: there is no driver here.
"""

import array
import ctypes
import json
import sys


class Driver:
    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            print(error, file=sys.stderr)
            sys.exit(3)

    def __getattr__(self, name):
        function = getattr(self.library, name)

        def call(*arguments):
            result = function(*arguments)
            if result != 0:
                raise RuntimeError(f"{name}: {result}")
        return call


def buffer_of(driver, size):
    address = ctypes.c_uint64()
    driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(size, 4)))
    period = array.array("f", [i / 1021 for i in range(1021)]).tobytes()
    raw = (period * (size // len(period) + 1))[:size // 4 * 4]
    driver.cuMemcpyHtoD_v2(address, raw, ctypes.c_size_t(len(raw)))
    return address


def main():
    program, specification = sys.argv[1:3]
    with open(program, "rb") as file:
        text = file.read() + b"\0"
    with open(specification, encoding="utf-8") as file:
        launch = json.load(file)
    driver = Driver()
    driver.cuInit(0)
    device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    driver.cuDeviceGet(ctypes.byref(device), 0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    driver.cuCtxSetCurrent(context)
    driver.cuModuleLoadData(ctypes.byref(module), text)
    driver.cuModuleGetFunction(ctypes.byref(function), module, launch["entry"].encode())
    values = []
    for argument in launch["arguments"]:
        if "bytes" in argument:
            values.append(buffer_of(driver, argument["bytes"]))
        elif "int" in argument:
            values.append(ctypes.c_int64(argument["int"]))
        else:
            values.append(ctypes.c_float(argument["float"]))
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    for _ in range(launch.get("launches", 2)):
        driver.cuLaunchKernel(function, *[ctypes.c_uint(extent) for extent in (*launch["grid"], *launch["block"])],
                              ctypes.c_uint(launch.get("shared_bytes", 0)), None, pointers, None)
    driver.cuCtxSynchronize()


if __name__ == "__main__":
    main()
