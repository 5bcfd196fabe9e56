"""A server whose interpreter has torch, and sources as agents write them."""

import os

from assay_client import Server, tensor

PYTHON = os.environ["ASSAY_PYTHON"]

SCALE = """import torch

def scale(x):
    return x * 2.0
"""


def source(text, kernel_type="torch", io=None, **metadata):
    body = {"source_code": text, "kernel_type": kernel_type}
    if io is not None:
        body["io"] = io
    if metadata:
        body["metadata"] = metadata
    return body


def io_of(*arguments):
    return {"args": list(arguments)}


def inputs(shape=(64, 64), names="x", dtype="float32", kind="randn", **init):
    return io_of(*(tensor(name, 0, shape=list(shape), dtype=dtype, kind=kind, seed=7 + i, **init)
                   for i, name in enumerate(names)))


class TorchServer(Server):
    """`shares_state`: one folder for all that say so, if tests/python/run made one: the headers of torch_cuda's wrappers
    take a minute to compile on two cores, and are there once for a folder."""

    def __init__(self, *arguments, shares_state=False, **more):
        if shares_state and os.environ.get("ASSAY_PYTHON_STATE"):
            more["state"] = os.environ["ASSAY_PYTHON_STATE"]
        super().__init__("--python", PYTHON, *arguments, **more)

    def judge(self, kernel, reference=None, **more):
        arguments = {"kernel": kernel, "wait_s": 200, "num_trials": 10, "num_warmup": 0, **more}
        if reference is not None:
            arguments["ref_kernel"] = reference
        return self.call("evaluate", arguments, patience_s=260)["structuredContent"]
