"""Triton's own interpreter, in the place of its compiler: for scripts that launch kernels on CPU tensors."""

import importlib
import sys
import traceback

import torch

from assay_runner import device_facts, interpreted_memory, launch_rules
from assay_runner.failure import Refused

_MOST_TOLD = 16
_MOST_CHARACTERS = 200

_chosen = {}  # of autotuned kernels, by name


def use():
    """Triton anew: what it has imported so far is to be compiled. Its functions in Python (tl.sum, tl.zeros) are kernels
    too, and each is what TRITON_INTERPRET said when it was met. Gives what this version of it is not looked at for."""
    for name in [name for name in sys.modules if name == "triton" or name.startswith("triton.")]:
        if not name.startswith("triton._C"):  # a library can be loaded once
            del sys.modules[name]
    try:
        tuner = importlib.import_module("triton.runtime.autotuner").Autotuner
    except ImportError:  # the source's own import tells it
        return []
    _tune_nothing(tuner)
    _mend_arithmetic()
    interpreter = importlib.import_module("triton.runtime.interpreter")
    device_facts.answer_on_cpu()
    rules = (("launches that a GPU refuses", launch_rules), ("stores beyond every tensor", interpreted_memory))
    return [what for what, rule in rules if not rule.install(interpreter)]


# Functions of libdevice that torch has by the same name, and by another.
_TORCH_TOO = ("tanh erf erfc exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh asinh acosh "
              "atanh floor ceil trunc pow atan2 fmod hypot copysign").split()
_TORCH_ELSE = {"abs": "abs", "fabs": "abs", "nearbyint": "round", "rint": "round", "lgamma": "lgamma", "erfinv": "erfinv"}


def _mend_arithmetic():
    """What the interpreter has wrong or not at all: products of bfloats, which it makes of their bits, and libdevice."""
    try:
        own = importlib.import_module("triton.runtime.interpreter")
        language = importlib.import_module("triton.language")
        builder, handle, dot = own.InterpreterBuilder, own.TensorHandle, own.InterpreterBuilder.create_dot
    except (ImportError, AttributeError):  # of another version: as it is
        return

    def in_float32(operand):
        if operand.dtype.scalar != language.bfloat16:
            return operand
        bits = operand.data.view("uint16").astype("uint32") << 16
        return handle(bits.view("float32"), language.float32)

    builder.create_dot = lambda self, a, b, *rest: dot(self, in_float32(a), in_float32(b), *rest)
    for name in ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice"):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        for function in [key for key, value in vars(library).items() if callable(value) and not key.startswith("_")]:
            if getattr(vars(library)[function], "__module__", "") == name:
                setattr(library, function, _by_torch(function, language, handle))


def _by_torch(name, language, handle):
    """A function of libdevice in torch's arithmetic."""
    known = name if name in _TORCH_TOO else _TORCH_ELSE.get(name)

    def computed(*arguments, **_more):
        tensors = [one for one in arguments if isinstance(one, language.tensor)]
        floats = [one for one in tensors if one.dtype in (language.float32, language.float64)]
        if known is None or not tensors or len(floats) != len(tensors):
            raise Refused("needs_gpu", f"libdevice.{name}() is the GPU's: Triton's interpreter, which runs kernels here, has no such function")
        values = [torch.from_numpy(one.handle.data.copy()) if isinstance(one, language.tensor)
                  else torch.tensor(one, dtype=torch.from_numpy(tensors[0].handle.data).dtype) for one in arguments]
        result = getattr(torch, known)(*values).numpy()
        like = max(tensors, key=lambda one: one.handle.data.ndim)
        return language.tensor(handle(result, like.dtype), like.type)

    return computed


def _tune_nothing(tuner):
    """The first configuration that pruning leaves: to time them the autotuner asks a driver, and there is no clock here."""
    pruned, run = tuner.prune_configs, tuner.run

    def first(self, kwargs):
        refused = vars(self).get("_assay_refused", [])
        left = pruned(self, kwargs)
        config = next((one for one in left if all(one is not other for other in refused)), left[0])
        if len(_chosen) < _MOST_TOLD:
            _chosen[self.base_fn.__name__] = _described(config, len(self.configs))
        return [config]

    def run_first_that_asserts_nothing(self, *arguments, **more):
        refused = vars(self).setdefault("_assay_refused", [])
        while True:
            held = _held([*arguments, *more.values()]) if len(self.configs) > 1 + len(refused) else []
            try:
                return run(self, *arguments, **more)
            except Exception as error:
                tried = getattr(self, "best_config", None)
                if not _is_passed_over(error) or any(one is tried for one in refused) or len(self.configs) == 1:
                    raise
                refused.append(tried)
                for storage, contents in held:
                    storage.copy_(contents)
                self.cache.clear()

    tuner.prune_configs = first
    tuner.run = run_first_that_asserts_nothing
    tuner._bench = lambda self, *_arguments, **_more: [0.0, 0.0, 0.0]  # of one


def _held(arguments):
    """[(storage, its contents)] of the tensors among them: what a compiler refuses has stored nothing."""
    found = {}
    for argument in arguments:
        tensor = getattr(argument, "base", argument) if not isinstance(argument, torch.Tensor) else argument  # of a descriptor
        if isinstance(tensor, torch.Tensor):
            storage = tensor.untyped_storage()
            found.setdefault(storage.data_ptr(), storage)
    return [(storage, storage.clone()) for storage in found.values()]


def _is_passed_over(error):
    """Triton's compiler would have refused that configuration, and its autotuner gone on to the next."""
    if type(error).__name__ == "OutOfResources":
        return True
    while error.__cause__ is not None:
        error = error.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, AssertionError) and bool(frames) and "static_assert" in frames[-1].name


def _described(config, count):
    options = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
    said = ", ".join(f"{name} {value}" for name, value in options.items())
    return f"{said[:_MOST_CHARACTERS]} (one of {count})"


def chosen():
    """Of each autotuned kernel that was launched so far, with which configuration."""
    return [f"{name}: {said}" for name, said in _chosen.items()]
