"""The parent of all workers of one interpreter: imports what is slow to import, then forks on request.

  → {type: "prepare", library, idle_s, without: [module]}
  ← {type: "ready", versions} or {type: "missing", what, without?}: a module that the next one is to do without
  → {type: "ping"}                          ← {type: "pong"}
  → {type: "fork", environment} + the descriptors of a confinement::Handover     ← {type: "forked", pid}
Ends when its channel does, or after idle_s without a word.
"""

import ctypes
import gc
import importlib
import io
import os
import select
import sys
import warnings

from assay_runner.channel import Channel

_CHANNEL = 3
_PR_SET_DUMPABLE = 4
_SUCCESS = 0  # CUresult


def run():
    # Nobody looks into the memory that workers begin with.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    channel = Channel(_CHANNEL)
    idle_s = None
    library = None
    while _has_word(idle_s):
        frame = channel.receive()
        if frame is None:
            return
        if frame.body["type"] == "prepare":
            idle_s = frame.body["idle_s"]
            reply, library = _prepare(frame.body["library"], frame.body["without"])
            channel.send(reply)
        elif frame.body["type"] == "ping":
            channel.send({"type": "pong"})
        elif frame.body["type"] == "fork" and library is not None:
            channel.send({"type": "forked", "pid": _fork(library, frame)})


def _has_word(idle_s):
    waiting = select.poll()
    waiting.register(_CHANNEL, select.POLLIN)
    return bool(waiting.poll(None if idle_s is None else idle_s * 1000))


def _prepare(library, without):
    versions = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in ("torch", "numpy", "triton"):
                _import(name, versions)
            if "cupy" not in without and not _why_no_fork():
                _import_cupy(versions)
                # A source that wants it imports it then, as if nobody had.
                if spoilt := _why_no_fork():
                    return {"type": "missing", "what": f"importing cupy {spoilt}", "without": "cupy"}, None
            _rehearse(importlib.import_module("assay_runner.worker"))
        loaded = ctypes.PyDLL(library)
        importlib.import_module("assay_runner.emulated").use(loaded)
        importlib.import_module("assay_runner.capture").use(loaded)
    except Exception as error:  # a broken installation fails in many ways
        return {"type": "missing", "what": f"{type(error).__name__}: {error}"[:500]}, None
    if spoilt := _why_no_fork():
        return {"type": "missing", "what": f"importing torch {spoilt}"}, None
    # Workers share what stands here; counting references in it would copy it.
    gc.collect()
    gc.freeze()
    return {"type": "ready", "versions": versions}, loaded


def _import(name, versions):
    try:
        versions[name] = str(importlib.import_module(name).__version__)
    except Exception as error:
        # Without torch there is nothing to do here; a broken CuPy is its user's to hear of.
        if name == "torch" or not isinstance(error, ImportError) and name != "cupy":
            raise


def _import_cupy(versions):
    # As it is imported it makes a folder for its cache; each worker gives it one of its own.
    os.environ["CUPY_CACHE_DIR"] = os.sep
    try:
        _import("cupy", versions)
    finally:
        del os.environ["CUPY_CACHE_DIR"]


def _why_no_fork():
    """What was imported left something that no fork survives: threads, or a driver that is initialised."""
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        return f"left {threads} threads, and only one can be forked"
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except OSError:
        return ""  # nobody has even loaded it
    # Before cuInit it answers that there was none.
    is_initialised = driver.cuCtxGetCurrent(ctypes.byref(ctypes.c_void_p())) == _SUCCESS
    return "initialised the CUDA driver, which no fork may use then" if is_initialised else ""


def _rehearse(worker):
    """What is imported or made on first use is there before the fork."""
    torch = sys.modules["torch"]
    worker.Worker()
    torch.manual_seed(0)
    with torch.no_grad():
        torch.nn.Linear(2, 2)(torch.randn(1, 2))
    if torch.version.cuda is None:
        importlib.import_module("torch.utils.cpp_extension")  # one for CUDA asks the driver


def _fork(library, frame):
    descriptors = (ctypes.c_int * len(frame.descriptors))(*frame.descriptors)
    environment = [entry.encode() for entry in frame.body["environment"]]
    entries = (ctypes.c_char_p * len(environment))(*environment)
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    pid = library.assay_fork_confined(descriptors, len(descriptors), entries, len(environment))
    if pid == 0:
        python.PyOS_AfterFork_Child()
        _become_worker(environment)
    python.PyOS_AfterFork_Parent()
    for descriptor in frame.descriptors:
        os.close(descriptor)
    return pid


def _become_worker(environment):
    code = 70
    try:
        os.environ.clear()
        for entry in environment:
            name, _, value = entry.decode().partition("=")
            os.environ[name] = value
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w"), write_through=True, errors="replace")
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w"), write_through=True, errors="replace")
        from assay_runner import worker
        worker.serve(Channel(_CHANNEL))
        code = 0
    finally:
        # Not through the interpreter's end: what it would tidy up is the zygote's.
        os._exit(code)
