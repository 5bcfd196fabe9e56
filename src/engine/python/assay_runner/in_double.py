"""A reference evaluated in double: its own arithmetic, on the same values, in wider types.

Tensors, and a module's parameters and buffers, become double (complex: complex128), and so does what it makes without
naming a type. A type that its source names, `.float()` or `dtype=torch.float32`, stays what it is.
"""

import copy

import torch

from assay_runner import calls

_WIDER = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
          torch.complex64: torch.complex128}


def _widened(value):
    wider = _WIDER.get(value.dtype) if isinstance(value, torch.Tensor) else None
    return value if wider is None else value.to(wider)


class Target:
    """What is called, in double; the original stays as it is."""

    def __init__(self, target):
        self._target = copy.deepcopy(target).double() if isinstance(target, torch.nn.Module) else target

    def call(self, task, memory, seed):
        """What is left in all that the call writes, in the contract's order: returned, or written into an argument."""
        bound = task.bind(memory)
        wide = [_widened(value) for value in bound]
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            results = calls.tensors_of(calls.call(self._target, wide, seed))
        finally:
            torch.set_default_dtype(default)
        passed = [item for item in task.arguments
                  if item["type"] != "tensor" or item["role"] != "output" or task.passes_outputs]
        named = {item["name"]: value for item, value in zip(passed, wide)}
        results = _without_another(results, task, named)
        returned = task.written if len(results) == len(task.written) else task.outputs
        if results and len(results) != len(returned):
            return results  # which its places refuse
        named.update((item["name"], result) for item, result in zip(returned, results))
        return [named[item["name"]] for item in task.written if item["name"] in named]


def _without_another(results, task, named):
    """As calls.Places.holds_another(): the one result may be another argument, which the call changed."""
    others = [item["name"] for item in task.written if item not in task.outputs]
    is_another = (task.lends_output() and len(results) == 1 == len(task.outputs)
                  and any(calls.is_same(results[0], named[name]) for name in others if name in named))
    return [] if is_another else results


def parts(results, places, part):
    """Of each result what is left in an output of a narrower type: the result rounded, or what that leaves of it."""
    return [_part(result, place.dtype, part) for result, place in zip(results, places)] + results[len(places):]


def _part(result, dtype, part):
    if dtype not in _WIDER:
        return result
    high = result.to(dtype)
    return high if part == "high" else (result - high.to(result.dtype)).to(dtype)
