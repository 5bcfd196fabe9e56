"""One target, called on lent memory: arguments out of it, results into it."""

import copy
import inspect
import struct

import torch

from assay_runner import grouping
from assay_runner import memory as lent
from assay_runner.failure import Refused

# Held here: what the user's code patches later is not what writes the results.
_copy = torch.Tensor.copy_
_twin = copy.deepcopy
_no_grad = torch.no_grad
_seed_cpu = torch.default_generator.manual_seed
_seed_gpu = None  # where there is one
_Tensor = torch.Tensor
_Parameter = torch.nn.Parameter
_devices = ["cpu"]
_MOST_TOLD = 200  # characters
_plain = torch._C.DisableTorchFunctionSubclass


class Task:
    """What is passed and what comes back, as the engine says it; fixed for the life of a source."""

    def __init__(self, body):
        self.arguments = body["arguments"]
        self.outputs = body["outputs"]
        self.written = body["written"]  # those, and what a call changes
        self.passes_outputs = body["passes_outputs"]

    def bind(self, memory, base=0):
        """The positional arguments in one stretch of the memory."""
        def value(item):
            return memory.tensor(item, base) if item["type"] == "tensor" else scalar(item)
        return [grouping.bound(item, value) for item in self.arguments
                if item["type"] != "tensor" or item["role"] != "output" or self.passes_outputs]

    def places(self, memory, base=0):
        outputs = [memory.tensor(item, base) for item in self.outputs]
        if len(self.written) == len(self.outputs):
            return Places(outputs, outputs)
        return Places(outputs, [memory.tensor(item, base) for item in self.written], self.lends_output())

    def lends_output(self):
        """Whether the call gets what it is to write, so that what it returns may be another argument that it changed."""
        return self.passes_outputs or all(item["role"] != "output" for item in self.outputs)


class Places:
    """Where results go, in the contract's order: `outputs`, or all that is `written` where as many are returned."""

    def __init__(self, outputs, written, lends_output=False):
        self.outputs = outputs
        self.written = written
        self._lends_output = lends_output

    def of(self, count):
        return self.written if count == len(self.written) else self.outputs

    def holds_another(self, results):
        """Whether the one result is, by its address, a written argument other than the output that one is taken for."""
        if not self._lends_output or len(results) != 1 or len(self.outputs) != 1:
            return False
        return any(is_same(results[0], place) for place in self.written) and not is_same(results[0], self.outputs[0])


def is_same(one, other):
    """Whether two tensors lie in the same place in the same way."""
    return one.numel() > 0 and _layout_of(one) == _layout_of(other)


def _layout_of(tensor):
    with _plain():
        if tensor.layout != torch.strided:
            return None
        return tensor.device, tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype


def scalar(item):
    """Numbers come as bits: JSON has no NaN."""
    if item["type"] == "str":
        return item["text"]
    bits = item["bits"]
    if item["type"] == "float":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    if item["type"] == "bool":
        return bool(bits)
    return bits if item.get("unsigned") or bits < 1 << 63 else bits - (1 << 64)


# Whether outputs that nobody named are told apart by the keys of the dicts they come in.
_by_key = [True]
_named = []  # the names in the contract's order: of its outputs, of all that is written


def name_outputs(outputs, written):
    """What a contract names it takes by these names, or else in the order of what is returned."""
    _by_key[0] = all(name.startswith("output") and name[6:].isdigit() for name in outputs)
    _named[:] = [] if _by_key[0] else [outputs, written]


def tensors_of(result):
    """What a call returned, as a flat list of tensors."""
    if result is None:
        return []
    if isinstance(result, _Tensor):
        return [result]
    if isinstance(result, (bool, int, float)):
        return [torch.tensor(result)]
    if isinstance(result, dict):
        result = _values_of(result)
    elif not isinstance(result, (list, tuple)):
        raise Refused("returned", f"The call returned a {type(result).__name__}; return a tensor or a tuple of tensors")
    return [tensor for part in result for tensor in tensors_of(part)]


def _values_of(result):
    for names in _named:
        if len(names) == len(result) and all(name in result for name in names):
            return [result[name] for name in names]
    by_key = _by_key[0] and all(isinstance(key, str) for key in result)
    return [result[key] for key in sorted(result)] if by_key else result.values()


# How many outputs this process said there are; None: a contract or another process says it.
_told = [None]
_BY_DATA = ("depends on what its inputs hold, and what is judged has one shape: return a result of fixed size "
            "(padded, or a mask)")


def shapes_of(result):
    """[{shape, dtype}] of what a call returned."""
    described = []
    for tensor in tensors_of(result):
        name = lent.dtype_name(tensor.dtype)
        if name is None:
            raise Refused("returned", f"The call returned a tensor of {tensor.dtype}, which no contract can name")
        _refuse_undense(tensor)
        described.append({"shape": list(tensor.shape), "dtype": name})
    _told[0] = len(described)
    return described


def _refuse_undense(tensor):
    if tensor.layout != torch.strided or tensor.device.type not in _devices:
        raise Refused("returned", f"The call returned a {tensor.layout} tensor on {tensor.device}; "
                      f"only dense tensors on {' or '.join(_devices)} can be judged here")


def foreign_types(result):
    """Subclasses of Tensor among the results: they can put off their work."""
    return sorted({type(tensor).__name__ for tensor in tensors_of(result)
                   if type(tensor) is not _Tensor and type(tensor) is not _Parameter})


def leave(result, places):
    """Writes what was returned into its places. Nothing returned: the call wrote there itself."""
    results = tensors_of(result)
    for got in results:
        _refuse_undense(got)
    if not results or places.holds_another(results):
        return
    chosen = places.of(len(results))
    if len(results) != len(chosen):
        raise _miscounted(len(results), places)
    if chosen is not places.outputs:
        results = _apart(results, chosen)
    for index, (got, place) in enumerate(zip(results, chosen)):
        if _told[0] is not None and got.shape != place.shape:
            raise Refused("own_shape", f"Output {index} is {got.dtype} {list(got.shape)}, and was {list(place.shape)} in another "
                          f"call: its shape {_BY_DATA}", output=index)
        if got.shape != place.shape or got.dtype != place.dtype:
            raise Refused("shape", f"Output {index} is {got.dtype} {list(got.shape)}, but {place.dtype} "
                          f"{list(place.shape)} is expected", output=index)
        with _plain():
            _copy(place, got)


def _miscounted(count, places):
    outputs, written = len(places.outputs), len(places.written)
    if _told[0] is not None:
        return Refused("own_shape", f"The call returned {count} tensors, and {_told[0]} in another one: their number "
                       + _BY_DATA)
    return Refused("returned", f"The call returned {count} tensors, but {outputs} outputs are expected"
                   + (f", or all {written} that the contract has it write, in its order" if written > outputs else ""))


def _apart(results, places):
    """An argument that is returned for another one is read before that one's contents replace it."""
    with _plain():
        ends = [(place.data_ptr(), place.data_ptr() + place.numel() * place.element_size()) for place in places]
        return [got.clone() if any(begin <= got.data_ptr() < end for begin, end in ends[:index]) else got
                for index, got in enumerate(results)]


def takes(target, count):
    """Whether `count` positional arguments fit; unknown counts as yes."""
    try:
        _signature(target).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def names_outputs(target, arguments):
    """Whether the parameters in the outputs' positions bear the outputs' names."""
    try:
        names = list(_signature(target).parameters)
    except (TypeError, ValueError):
        return False
    return all(index < len(names) and names[index] == item["name"] for index, item in enumerate(arguments)
               if item["type"] == "tensor" and item["role"] == "output")


def fitting(target, arguments):
    """Of a kernel's arguments those for a reference in Python: its tensors, and the scalars that its parameters name;
    sizes and metas mean nothing to it."""
    try:
        names = _signature(target).parameters
    except (TypeError, ValueError):
        names = ()
    tensors = [item for item in arguments if item["type"] == "tensor" or item["name"] in names]
    plain = [item for item in arguments if not item.get("is_meta")]
    for chosen in (tensors, plain):
        outputs = sum(item["type"] == "tensor" and item["role"] == "output" for item in chosen)
        if takes(target, len(chosen) - outputs) or takes(target, len(chosen)):
            return chosen
    return arguments


def shown(target):
    """What it is and where, for a sentence: "run(x, y) at line 3"."""
    function = inspect.unwrap(getattr(target, "forward", target) if isinstance(target, torch.nn.Module) else target)
    function = getattr(function, "__func__", function)
    try:
        text = f"{function.__qualname__}{_signature(target)}"[:_MOST_TOLD]
    except (AttributeError, TypeError, ValueError):
        return "It"
    code = getattr(function, "__code__", None)
    return text if code is None else f"{text} at line {code.co_firstlineno}"


def _signature(target):
    return inspect.signature(target.forward if isinstance(target, torch.nn.Module) else target)


def choose_generator(on_gpu):
    """Each call begins with its generators at the same place: the CPU's, and the GPU's where there is one."""
    global _seed_gpu
    if on_gpu:
        _seed_gpu = torch.cuda.default_generators[0].manual_seed
        _devices.append("cuda")


def _manual_seed(seed):
    _seed_cpu(seed)
    if _seed_gpu is not None:
        _seed_gpu(seed)


def dealt(staged, count):
    """`count` of the staged contents, over and over; the last has contents that no other call had."""
    if count <= len(staged):
        return staged[:count]
    if len(staged) == 1:
        return staged * count
    common = staged[:-1]
    return [common[index % len(common)] for index in range(count - 1)] + staged[-1:]


def call(target, arguments, seed):
    _manual_seed(seed)
    with _no_grad():
        return target(*arguments)


def call_aside(target, arguments, seed):
    """A call that leaves no trace in the target: on a copy of it, where it can be copied."""
    try:
        aside = _twin(target)
    except Exception:  # a module of extensions, say, or what the source's own __deepcopy__ raises
        aside = target
    try:
        return call(aside, arguments, seed)
    except Exception:
        if aside is target:
            raise
    return call(target, arguments, seed)  # the copy may lack something; what fails here is the source's own


def call_over(target, bound, seed):
    """The timed loop: each set of arguments once, each result in its own places."""
    with _no_grad():
        for arguments, places in bound:
            _manual_seed(seed)
            leave(target(*arguments), places)
