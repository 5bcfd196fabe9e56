"""What get_inputs() returns, taken apart into what travels between processes (tensors, numbers, texts) and how they are
grouped: lists, tuples and dicts of them, None and what else has a name.

A group as JSON: the number of a value; {"list" | "tuple": [group]}; {"dict": [[key, group]]}; {"constant": its name}."""

import math

import torch

from assay_runner.failure import Refused
from assay_runner.memory import dtype_name, torch_dtype

_MOST_ENTRIES = 1000
_DEEPEST = 16
_SEQUENCES = {list: "list", tuple: "tuple", torch.Size: "tuple"}


class Inputs:
    """`values` in the order in which they stand there; `groups`: one for each argument, or None where none is needed."""

    def __init__(self, made):
        if not isinstance(made, (list, tuple)):
            raise Refused("inputs", f"get_inputs() returned a {type(made).__name__}, not a list with one entry for each "
                          "argument")
        self.values = []
        self._entries = 0
        groups = [self._take(value, f"input {index}", 0) for index, value in enumerate(made)]
        self.groups = None if groups == list(range(len(made))) else groups

    def _take(self, value, where, depth):
        self._entries += 1
        if self._entries > _MOST_ENTRIES or depth > _DEEPEST:
            raise Refused("inputs", f"get_inputs(): {where} is in more than {_MOST_ENTRIES} entries, or more than {_DEEPEST} "
                          "deep; make it a tensor")
        if kind := _SEQUENCES.get(type(value)):
            return {kind: [self._take(part, f"{where}[{index}]", depth + 1) for index, part in enumerate(value)]}
        if type(value) is dict and all(type(key) is str for key in value):
            return {"dict": [[key, self._take(part, f"{where}[{key!r}]", depth + 1)] for key, part in value.items()]}
        if (name := constant_name(value)) is not None:
            return {"constant": name}
        _refuse_unknown(value, where)
        self.values.append(value)
        return len(self.values) - 1

    def described(self):
        """[{shape, dtype} | {value}]"""
        return [{"shape": list(value.shape), "dtype": dtype_name(value.dtype)} if isinstance(value, torch.Tensor)
                else {"value": value} for value in self.values]

    def tensors(self):
        return [value for value in self.values if isinstance(value, torch.Tensor)]


def grouped(groups, arguments):
    """Arguments of the contract as they are passed: the first of them in these groups, the others behind."""
    if groups is None:
        return arguments
    taken = sum(_count(group) for group in groups)
    return [_item(group, arguments) for group in groups] + arguments[taken:]


def bound(item, bind):
    """The value of a grouped item; `bind` makes that of a plain one."""
    if item["type"] == "constant":
        return constant(item["name"])
    if item["type"] == "dict":
        return {key: bound(part, bind) for key, part in item["items"]}
    if item["type"] in ("list", "tuple"):
        parts = [bound(part, bind) for part in item["items"]]
        return parts if item["type"] == "list" else tuple(parts)
    return bind(item)


def _item(group, arguments):
    if isinstance(group, int):
        return arguments[group]
    (kind, parts), = group.items()
    if kind == "constant":
        return {"type": kind, "name": parts}
    if kind == "dict":
        return {"type": kind, "items": [[key, _item(part, arguments)] for key, part in parts]}
    return {"type": kind, "items": [_item(part, arguments) for part in parts]}


def _count(group):
    if isinstance(group, int):
        return 1
    (kind, parts), = group.items()
    if kind == "constant":
        return 0
    return sum(_count(part[1] if kind == "dict" else part) for part in parts)


def constant_name(value):
    """Of what JSON and contracts have no number for."""
    if value is None:
        return "None"
    if isinstance(value, torch.dtype) and dtype_name(value) is not None:
        return dtype_name(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    return None


def constant(name):
    """What constant_name() named."""
    if name == "None":
        return None
    return float(name) if name in ("inf", "-inf", "nan") else torch_dtype(name)


def _refuse_unknown(value, where):
    if isinstance(value, torch.Tensor):
        if dtype_name(value.dtype) is None:
            raise Refused("inputs", f"get_inputs(): {where} is of {value.dtype}, which no contract can name")
        if value.layout != torch.strided:
            raise Refused("inputs", f"get_inputs(): {where} is a {value.layout} tensor; only dense ones can be passed "
                          "between processes")
    elif isinstance(value, int):
        if not -1 << 63 <= value < 1 << 64:
            raise Refused("inputs", f"get_inputs(): {where} is an integer beyond 64 bits")
    elif not isinstance(value, (float, str)):
        raise Refused("inputs", f"get_inputs(): {where} is a {type(value).__name__}; only tensors, numbers, texts, None and "
                      "lists, tuples and dicts of them can be passed between processes")
