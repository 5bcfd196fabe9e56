"""Whether what a performance test gave equals its reference, by an equivalence level: numbers of tensors,
arrays and plain values, and of what holds them. The harness asks; deciding what it means is not its business.
"""

import math


def tolerance(level, dtype):
    """(rtol, atol) of an equivalence level for a dtype's name."""
    name = str(dtype).rsplit(".", maxsplit=1)[-1]
    if level == "exact" or "int" in name or name == "bool":
        return 0.0, 0.0
    table = {
        "numeric": {"float32": (1e-5, 1e-7), "float16": (1e-3, 1e-4), "bfloat16": (1e-2, 1e-3),
                    "float8_e4m3fn": (5e-2, 1e-2), "float8_e5m2": (1e-1, 5e-2)},
        "behavioral": {"float32": (1e-2, 1e-3), "float16": (5e-2, 1e-2)},
    }
    return table.get(level, {}).get(name, (1e-3, 1e-4))


def flat(value):
    """Numbers of a tensor or an array, with its dtype and shape; None for anything else."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        numbers = value.reshape(-1).tolist() if "float8" not in str(value.dtype) else value.float().reshape(-1).tolist()
        return numbers, str(value.dtype), list(value.shape)
    if hasattr(value, "dtype") and hasattr(value, "reshape"):
        return value.reshape(-1).tolist(), str(value.dtype), list(value.shape)
    if isinstance(value, bool):
        return [value], "bool", []
    if isinstance(value, int):
        return [value], "int64", []
    if isinstance(value, float):
        return [value], "float32", []
    return None


def difference(current, reference, level, path="result"):
    """The first thing that differs, or ""."""
    left, right = flat(current), flat(reference)
    if left is None or right is None:
        return different_structure(current, reference, level, path)
    if left[1] != right[1]:
        return f"{path}: dtype {left[1]}, the reference has {right[1]}"
    if left[2] != right[2]:
        return f"{path}: shape {left[2]}, the reference has {right[2]}"
    rtol, atol = tolerance(level, left[1])
    for place, (got, want) in enumerate(zip(left[0], right[0])):
        if isinstance(want, float) and not math.isfinite(want):
            same = math.isnan(got) if math.isnan(want) else got == want
        else:
            same = got == want or (math.isfinite(got) and abs(got - want) <= atol + rtol * abs(want))
        if not same:
            return f"{path}: element {place} is {got!r}, the reference has {want!r} (rtol {rtol}, atol {atol})"
    return ""


def different_structure(current, reference, level, path):
    if type(current) is not type(reference):
        return f"{path}: {type(current).__name__}, the reference is {type(reference).__name__}"
    if isinstance(current, dict):
        if set(current) != set(reference):
            return f"{path}: keys {sorted(map(str, set(current) ^ set(reference)))} are in one of the two only"
        pairs = ((f"{path}[{key!r}]", current[key], reference[key]) for key in current)
    elif isinstance(current, (list, tuple)):
        if len(current) != len(reference):
            return f"{path}: {len(current)} entries, the reference has {len(reference)}"
        pairs = ((f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(current, reference)))
    else:
        return "" if current == reference else f"{path}: {current!r}, the reference has {reference!r}"
    return next((said for said in (difference(a, b, level, where) for where, a, b in pairs) if said), "")
