"""Launches one kernel through the driver, and before it what is wanted there: what a profiler is put before.

    python3 benchmarks/launch_once.py PROGRAM.ptx SPECIFICATION.json

The specification: {entry, grid: [x, y, z], block: [x, y, z], shared_bytes, launches, own_stream, arena_bytes, arguments, before: [step]}, an argument
being {"bytes": n} for a buffer of small numbers, with {"offset": o} in the one that is arena_bytes large, {"argument": i} for the kernel's own i-th buffer, {"int": v} or {"float": v}.
A step is {"restore": true}, which copies to all buffers what they had at first, or a launch of {program, entry, grid, block,
arguments}; without a program it is the kernel's own. Exit 3: there is no driver here.
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
        self.stream = None  # the context's own

    def __getattr__(self, name):
        function = getattr(self.library, name)

        def call(*arguments):
            result = function(*arguments)
            if result != 0:
                raise RuntimeError(f"{name}: {result}")
        return call


def memory_of(driver, size):
    address = ctypes.c_uint64()
    driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(size, 4)))
    return address


def buffer_of(driver, size, address=None):
    address = address or memory_of(driver, size)
    period = array.array("f", [i / 1021 for i in range(1021)]).tobytes()
    raw = (period * (size // len(period) + 1))[:size // 4 * 4]
    driver.cuMemcpyHtoD_v2(address, raw, ctypes.c_size_t(len(raw)))
    return address


def function_of(driver, program, entry):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with open(program, "rb") as file:
        driver.cuModuleLoadData(ctypes.byref(module), file.read() + b"\0")
    driver.cuModuleGetFunction(ctypes.byref(function), module, entry.encode())
    return function


class Launch:
    """A kernel with its arguments; without a program the kernel of `owner`, some of whose arguments it may share."""

    def __init__(self, driver, program, wanted, owner=None):
        self.driver, self.wanted = driver, wanted
        self.function = function_of(driver, program, wanted["entry"]) if program else owner.function
        self.arena = memory_of(driver, wanted["arena_bytes"]) if "arena_bytes" in wanted else None
        self.values = [self.value_of(argument, owner) for argument in wanted["arguments"]]
        self.pointers = (ctypes.c_void_p * len(self.values))(*[ctypes.addressof(value) for value in self.values])

    def value_of(self, argument, owner):
        if "offset" in argument:
            return buffer_of(self.driver, argument["bytes"], ctypes.c_uint64(self.arena.value + argument["offset"]))
        if "bytes" in argument:
            return buffer_of(self.driver, argument["bytes"])
        if "argument" in argument:
            return owner.values[argument["argument"]]
        if "int" in argument:
            return ctypes.c_int64(argument["int"])
        return ctypes.c_float(argument["float"])

    def run(self):
        extents = [ctypes.c_uint(extent) for extent in (*self.wanted["grid"], *self.wanted["block"])]
        shared_bytes = ctypes.c_uint(self.wanted.get("shared_bytes", 0))
        self.driver.cuLaunchKernel(self.function, *extents, shared_bytes, self.driver.stream, self.pointers, None)


class Restore:
    """What the buffers of a launch have now, to be copied there again."""

    def __init__(self, driver, launch):
        sizes = [argument.get("bytes", 0) for argument in launch.wanted["arguments"]]
        self.driver, self.copies = driver, []
        for value, size in zip(launch.values, sizes):
            if size:
                self.copies.append((value, buffer_of(driver, size), ctypes.c_size_t(size // 4 * 4)))

    def run(self):
        for to, kept, size in self.copies:
            self.driver.cuMemcpyDtoD_v2(to, kept, size)


def main():
    program, specification = sys.argv[1:3]
    with open(specification, encoding="utf-8") as file:
        wanted = json.load(file)
    driver = Driver()
    driver.cuInit(0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    driver.cuDeviceGet(ctypes.byref(device), 0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    driver.cuCtxSetCurrent(context)
    launch = Launch(driver, program, wanted)
    steps = []
    for step in wanted.get("before", []):
        steps.append(Restore(driver, launch) if step.get("restore") else Launch(driver, step.get("program"), step, launch))
    if wanted.get("own_stream"):
        driver.stream = ctypes.c_void_p()
        driver.cuStreamCreate(ctypes.byref(driver.stream), ctypes.c_uint(1))  # one that waits for no other
    for _ in range(wanted.get("launches", 2)):
        for step in [*steps, launch]:
            step.run()
            if steps:
                driver.cuCtxSynchronize()
    driver.cuCtxSynchronize()


if __name__ == "__main__":
    main()
