"""One source in one confined process: the requests of the engine, answered until the channel ends.

  → {type: "begin"}                            ← {type: "begun"}: the device's context exists
  → {type: "load", source, file, kernel_type, target, seed, device: "cpu" | "cuda", fast_build, init_inputs}
  ← {type: "loaded", name, has_inputs, no_inputs, init_inputs, warnings, torch, python, built, no_capture}
While it loads a torch_cuda source it may ask in turn, with the request's `seq`:
  ← {type: "build", name, cuda, cpp, functions, …}    → {type: "built", ok, message, fall_back} + the library
  ← {type: "kernels", names}                   → {type: "kernels", ok, message, lowered} + PTX or machine code
  → {type: "execute", source, file, arch, device, max_shared_bytes}   ← {type: "executed"}: of a Triton source, before
  → {type: "compile", file, kernel_name, arguments, arch, max_shared_bytes, num_warps, …}
  ← {type: "compiled", kernel, entry, passed, scratch, shared_bytes, num_warps, …} + PTX as the blob
  → {type: "own_inputs", seed}                 ← {type: "inputs", inputs: [{shape, dtype} | {value}], groups}
  → {type: "make_inputs", seed, places, arena_bytes} + memory       ← {type: "made"}
  → {type: "bind", arguments, outputs, written, what_fits, groups}  ← {type: "bound", passes_outputs}
  → {type: "shapes", seed, arena_bytes} + memory   ← {type: "shapes", outputs: [{shape, dtype}]}
  → {type: "run", seed, arena_bytes, in_double?: "high" | "low"} + memory   ← {type: "ran", patched, foreign, launches, chosen}
  → {type: "time", seed, calls, contents, stride_bytes, arena_bytes} + memory   ← {type: "timed", patched}
Memory is the host's, or with `on_device` the GPU's: then a descriptor for each stretch, and nothing to fetch.
On a GPU what a turn maps and gives back is apart from what it does; the contents come when it was mapped, and `moves`:
from the host's memory with the word:
  → {type: "stage", contents, stride_bytes, arena_bytes} + memory           ← {type: "staged"}
  → {type: "go", seed, calls, moves}                ← {type: "gone", patched}
  → {type: "fetch"}                            ← {type: "fetched"}
  → {type: "inspect", seed, arena_bytes, inspect: [what], checked_blocks, unwritten: [name], seconds} + memory
  ← {type: "inspected", findings, notes, launches, blocks, raised}: its launches on CPU tensors, and none of its outputs
  → {type: "skip_launches"}                    ← {type: "skipping"}: kernels on CPU tensors do nothing from here on
  → {type: "rest"}                             ← {type: "rested"}
What a call makes the device do (capture.py):
  → {type: "capture", seed, arena_bytes} + memory of the device
  ← {type: "captured", address, regions, steps, outputs, refused} + parameters
  → {type: "programs", programs: [number]}     ← {type: "programs", bytes: [size]} + their bytes
Any of them: ← {type: "failed", stage, code, exception, message, frames, traceback}. Every reply repeats `seq`.
"""

import faulthandler
import importlib
import os
import platform
import random
import resource
import signal
import sys

import torch

from assay_runner import (available, calls, capture, device_facts, device_memory, emulated, extension, failure, grouping,
                          host_build, in_double, interpreted, source, uncompiled)
from assay_runner.lent_device_memory import LentDeviceMemory
from assay_runner.memory import Memory
from assay_runner.watch import Watch


class Worker:
    def __init__(self, channel=None):
        self._channel = channel
        self._seq = 0
        self._host = Memory()  # of inputs that the source makes
        self._mirror = None    # of the host's memory, on a GPU
        self._lent = None      # on a GPU
        self._memory = self._host
        self._staged = []
        self._watch = Watch()
        self._source = None
        self._target = None
        self._exact = None  # the target in double, once it was asked for
        self._task = None
        self._groups = None  # of the source's own inputs
        self.blob = b""  # of the reply to come

    def answer(self, frame):
        body = frame.body
        verb = body["type"]
        self._seq = body["seq"]
        try:
            if frame.lost:
                raise failure.Refused("exception", "The source left this process no room for another open file (RLIMIT_NOFILE is "
                                      f"{resource.getrlimit(resource.RLIMIT_NOFILE)[0]}): the memory that it is lent cannot arrive")
            reply = getattr(self, "_" + verb)(body, frame.descriptors)
            if verb != "inspect":  # which tells what its launches found; no other call of the process is judged
                emulated.check()
        except BaseException as error:  # whatever the user's code raises is told
            try:
                emulated.check()
            except failure.Refused as found:
                error = found
            file = body.get("file") or (self._source.file if self._source else "")
            stage = "compile" if verb == "execute" else verb
            reply = failure.describe(stage, error, file, self._mirror is not None)
        return {**reply, "seq": body["seq"]}

    def _begin(self, _body, _descriptors):
        device_memory.begin()
        importlib.import_module("torch.utils.cpp_extension")
        capture.open_capture()
        self._memory = self._mirror = device_memory.DeviceMemory()
        return {"type": "begun"}

    def _adopt(self, body, descriptors):
        """What was lent is where the next call works: the host's, the host's with a mirror, or the device's."""
        if body.get("on_device"):
            self._lent = self._lent or LentDeviceMemory()
            self._memory = self._lent
        else:
            self._memory = self._mirror or self._host
        self._memory.adopt(descriptors, body["arena_bytes"])

    def _ask(self, body):
        """A question to the engine, in the middle of its own; what it takes to answer is not this process's time."""
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        self._channel.send({**body, "seq": self._seq})
        frame = self._channel.receive()
        if frame is None:
            raise SystemExit
        signal.setitimer(signal.ITIMER_REAL, left)
        return frame.body, frame.blob

    def _host_compiler(self, body, _):
        return host_build.describe(body)

    def _precompile(self, body, _):
        return host_build.precompile(body)

    def _compile_host(self, body, _):
        reply, self.blob = host_build.compile_host(body)
        return reply

    def _assemble(self, body, _):
        return host_build.assemble(body)

    def _load(self, body, _):
        self._source = None
        on_gpu = body["device"] == "cuda"
        if on_gpu and self._mirror is None:
            self._begin(body, ())
        # Programs are noted from the first one on.
        no_capture = capture.open_capture() if on_gpu else "there is no GPU"
        extensions = extension.Extensions(self._ask, body["source"], body["file"], on_gpu)
        if body["fast_build"]:
            extensions.install()
        if not on_gpu:
            uncompiled.use()
        loaded = source.Source(body["source"], body["file"], body["kernel_type"], on_gpu)
        self._source = loaded
        self._exact = None
        self._target, name = source.find(loaded, body["target"], body["seed"], body.get("init_inputs"))
        loaded.warnings += uncompiled.unsaid(loaded.warnings)
        calls.choose_generator(on_gpu)
        has_inputs = loaded.own("get_inputs") is not None
        return {"type": "loaded", "name": name, "has_inputs": has_inputs,
                "no_inputs": "" if has_inputs else available.why_no("get_inputs", loaded.module),
                "init_inputs": loaded.init_inputs, "warnings": loaded.warnings[:20], "torch": torch.__version__, "python": platform.python_version(),
                "built": extensions.built, "no_capture": no_capture}

    def _execute(self, body, _):
        # The kernels of this source are compiled, those of others interpreted: Triton looks when it meets @jit.
        os.environ.pop("TRITON_INTERPRET", None)
        try:
            importlib.import_module("assay_runner.triton_kernel")
        except ImportError as error:
            raise failure.Refused("needs_gpu", "This interpreter cannot compile Triton kernels: "
                                  f"{error}") from None
        device_facts.answer_for(body["arch"], body["max_shared_bytes"], body["device"])
        self._source = source.Source(body["source"], body["file"], "triton")
        return {"type": "executed"}

    def _compile(self, body, _):
        compiler = importlib.import_module("assay_runner.triton_kernel")
        reply, ptx = compiler.compile_kernel(self._source, body)
        self.blob = ptx.encode()
        return reply

    def _own_inputs(self, body, _):
        inputs = self._inputs(body["seed"])
        self._groups = inputs.groups
        return {"type": "inputs", "inputs": inputs.described(), "groups": inputs.groups}

    def _make_inputs(self, body, descriptors):
        self._host.adopt(descriptors, body["arena_bytes"])
        inputs = self._inputs(body["seed"])
        tensors = inputs.tensors()
        places = [self._host.tensor(place) for place in body["places"]]
        if inputs.groups != self._groups or (
                [(t.shape, t.dtype) for t in tensors] != [(p.shape, p.dtype) for p in places]):
            raise failure.Refused("inputs", "get_inputs() gives tensors of other shapes or dtypes each time, or other groups")
        with torch.no_grad():
            for place, tensor in zip(places, tensors):
                place.copy_(tensor)
        return {"type": "made"}

    def _inputs(self, seed):
        torch.manual_seed(seed)
        random.seed(seed)
        if numpy := sys.modules.get("numpy"):
            numpy.random.seed(seed & 0xFFFFFFFF)
        return grouping.Inputs(self._source.own("get_inputs")())

    def _bind(self, body, _):
        arguments = body["arguments"]
        if body["what_fits"]:
            arguments = calls.fitting(self._target, arguments)
        arguments = grouping.grouped(body.get("groups"), arguments)
        passed = [item for item in arguments if item["type"] != "tensor" or item["role"] != "output"]
        fits_without = calls.takes(self._target, len(passed))
        passes_outputs = len(passed) < len(arguments) and calls.takes(self._target, len(arguments)) and (
            not fits_without or calls.names_outputs(self._target, arguments))
        if not passes_outputs and not fits_without:
            raise failure.Refused("arity", f"{calls.shown(self._target)} does not take {len(arguments)} positional arguments"
                                  + (f", nor {len(passed)} without the outputs" if len(passed) < len(arguments) else ""))
        self._task = calls.Task({**body, "arguments": arguments, "passes_outputs": passes_outputs})
        calls.name_outputs(*([item["name"] for item in items] for items in (self._task.outputs, self._task.written)))
        return {"type": "bound", "passes_outputs": passes_outputs}

    def _shapes(self, body, descriptors):
        self._adopt(body, descriptors)
        result = calls.call_aside(self._target, self._task.bind(self._memory), body["seed"])
        return {"type": "shapes", "outputs": calls.shapes_of(result)}

    def _run(self, body, descriptors):
        self._adopt(body, descriptors)
        if part := body.get("in_double"):
            return self._run_in_double(body["seed"], part)
        result = calls.call(self._target, self._task.bind(self._memory), body["seed"])
        foreign = calls.foreign_types(result)
        calls.leave(result, self._task.places(self._memory))
        self._memory.give_back()
        return {"type": "ran", "patched": self._watch.patched(), "foreign": foreign, "launches": emulated.launches(),
                "chosen": interpreted.chosen()}

    def _run_in_double(self, seed, part):
        self._exact = self._exact or in_double.Target(self._target)
        results = self._exact.call(self._task, self._memory, seed)
        written = self._task.places(self._memory).written
        calls.leave(in_double.parts(results, written, part), calls.Places(written, written))
        self._memory.give_back()
        return {"type": "ran", "patched": self._watch.patched(), "foreign": [], "launches": emulated.launches()}

    def _time(self, body, descriptors):
        self._adopt(body, descriptors)
        # For all contents each time: what that costs is the same for N and for 2N calls.
        bound = [(self._task.bind(self._memory, base), self._task.places(self._memory, base))
                 for base in self._memory.bases(body["contents"], body["stride_bytes"])]
        calls.call_over(self._target, bound[:body["calls"]], body["seed"])
        return {"type": "timed", "patched": self._watch.patched()}

    def _stage(self, body, descriptors):
        self._adopt(body, descriptors)
        self._staged = [(self._task.bind(self._memory, base), self._task.places(self._memory, base))
                        for base in self._memory.bases(body["contents"], body["stride_bytes"])]
        return {"type": "staged"}

    def _go(self, body, _):
        if body["moves"]:
            self._memory.refresh()
        calls.call_over(self._target, calls.dealt(self._staged, body["calls"]), body["seed"])
        self._memory.finish()
        return {"type": "gone", "patched": self._watch.patched()}

    def _fetch(self, _body, _descriptors):
        self._memory.give_back()
        return {"type": "fetched"}

    def _capture(self, body, descriptors):
        self._adopt(body, descriptors)
        told, self.blob = capture.call(self._target, self._task, self._memory, body["seed"])
        return {"type": "captured", "address": self._memory.address(), **told}

    def _programs(self, body, _):
        programs = capture.programs(body["programs"])
        self.blob = b"".join(programs)
        return {"type": "programs", "bytes": [len(program) for program in programs]}

    def _inspect(self, body, descriptors):
        self._adopt(body, descriptors)
        emulated.inspect({"inspect": body["inspect"], "checked_blocks": body["checked_blocks"]}, body["seconds"])
        arguments = self._task.bind(self._memory)
        for item in self._task.outputs if self._task.passes_outputs else ():
            if item["name"] in body["unwritten"]:
                emulated.is_unwritten(self._memory.tensor(item))
        raised = ""
        try:
            calls.call(self._target, arguments, body["seed"])
        except BaseException as error:  # what was found until then is told
            raised = "" if emulated.has_failed() else failure.short(error)
        return {"type": "inspected", **emulated.findings(), "raised": raised}

    def _skip_launches(self, _body, _descriptors):
        emulated.skip()
        return {"type": "skipping"}

    def _rest(self, _body, _descriptors):
        return {"type": "rested"}


def serve(channel):
    worker = Worker(channel)
    # Where it was when a signal ended it, or when its time was up: into the output, in the user's own lines.
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(signal.SIGALRM, file=2, all_threads=False)
    while (frame := channel.receive()) is not None:
        worker.blob = b""
        signal.setitimer(signal.ITIMER_REAL, frame.body.get("limit_s", 0))
        reply = worker.answer(frame)
        signal.setitimer(signal.ITIMER_REAL, 0)
        channel.send(reply, worker.blob)
        for descriptor in frame.descriptors:
            os.close(descriptor)
