"""What get_init_inputs() means to a constructor, and how it travels to a source that has none of its own.

A value as JSON: itself; {"list" | "tuple": [value]}; {"dict": [[key, value]]}; {"constant": its name}; {"int": its digits}.
What cannot travel: {"untold": the type's name}."""

import inspect
import sys

import torch

from assay_runner import grouping
from assay_runner.failure import Located, Refused

_MOST_ENTRIES = 1000
_DEEPEST = 16
_MOST_SHOWN = 200  # characters
_SEQUENCES = {list: "list", tuple: "tuple", torch.Size: "tuple"}


def arguments_of(made, constructor):
    """(positional, by keyword). A dict is keywords; so is one behind a list, if the constructor takes them so."""
    if made is None:
        return (), {}
    if _is_keywords(made):
        return (), made
    if not isinstance(made, (list, tuple)):
        raise Refused("target", f"get_init_inputs() returned a {type(made).__name__}, not a list")
    if len(made) == 2 and isinstance(made[0], (list, tuple)) and _is_keywords(made[1]) and _is_pair(made, constructor):
        return made[0], made[1]
    return made, {}


def of_another(made, constructor):
    """Likewise of another source's get_init_inputs(); nothing, where the constructor does not take that."""
    positional, named = arguments_of(made, constructor)
    return (positional, named) if _takes(constructor, positional, named) else ((), {})


def _is_keywords(value):
    return type(value) is dict and all(isinstance(key, str) for key in value)


def _is_pair(made, constructor):
    """Whether a list and a dict are arguments and keywords, and not two arguments."""
    positional, named = made
    if not _takes(constructor, positional, named):
        return False
    # Where both fit, as with (sizes, options=None): keywords that are parameters by name were meant as such.
    is_said = bool(named) and all(name in inspect.signature(constructor).parameters for name in named)
    return not positional or is_said or not _takes(constructor, made, {})


def _takes(constructor, positional, named):
    if constructor.__init__ is torch.nn.Module.__init__:  # it says that it takes everything
        return not positional and not named
    try:
        inspect.signature(constructor).bind(*positional, **named)
    except (TypeError, ValueError):
        return False
    return True


def instance(constructor, positional, named, why_none):
    """One made of those. Arguments that it does not take are told at its own line; `why_none`: why there are none."""
    try:
        return constructor(*positional, **named)
    except TypeError as error:
        code = getattr(constructor.__init__, "__code__", None)
        is_own = code is not None and code.co_filename == getattr(sys.modules.get(constructor.__module__), "__file__", None)
        if error.__traceback__.tb_next is not None or not is_own:
            raise
        raise Located("TypeError", str(error) + why_none, code.co_firstlineno, 1) from error


def why_none(lent, constructor, alike=""):
    """Why a class without a get_init_inputs() beside it is made of nothing; `lent`: of the other source's; `alike`: what
    there is in its place."""
    if lent is None:
        return " (there is no get_init_inputs()" + (f"; {alike})" if alike else ")")
    made = meant(lent)
    if words := untold(lent):
        return words
    if _takes(constructor, *arguments_of(made, constructor)):
        return ""
    return (f" (the reference's get_init_inputs() gives {_shown(made)}, which this constructor does not take: give the kernel "
            "a get_init_inputs() of its own)")


def _shown(made):
    text = repr(made)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"


def untold(lent):
    """What of the other source's cannot travel, in words; none if all can."""
    if not isinstance(lent, dict) or "untold" not in lent:
        return ""
    return (f" (the reference's get_init_inputs() holds a {lent['untold']}, which is not told to another source: give the kernel "
            "a get_init_inputs() of its own)")


def told(made):
    """As JSON; what of it is no plain value is named."""
    left = [_MOST_ENTRIES]
    try:
        return _told(made, left, 0)
    except ValueError as error:
        return {"untold": str(error) or type(made).__name__}


def _told(value, left, depth):
    left[0] -= 1
    if left[0] < 0 or depth > _DEEPEST:
        raise ValueError
    if kind := _SEQUENCES.get(type(value)):
        return {kind: [_told(part, left, depth + 1) for part in value]}
    if _is_keywords(value):
        return {"dict": [[key, _told(part, left, depth + 1)] for key, part in value.items()]}
    if (constant := grouping.constant_name(value)) is not None:
        return {"constant": constant}
    if type(value) is int and not -1 << 63 <= value < 1 << 64:
        return {"int": str(value)}
    if type(value) in (bool, int, float, str):
        return value
    raise ValueError(type(value).__name__)


def meant(said):
    """The value that was told; nothing where none was."""
    if not isinstance(said, dict):
        return said
    (kind, parts), = said.items()
    if kind == "untold":
        return None
    if kind == "constant":
        return grouping.constant(parts)
    if kind == "int":
        return int(parts)
    if kind == "dict":
        return {key: meant(part) for key, part in parts}
    values = [meant(part) for part in parts]
    return values if kind == "list" else tuple(values)
