"""What a module of the user's has that could be called, for the sentence that something is not there."""

import difflib
import functools
import inspect

MOST_NAMES = 40
_LONGEST_NAME = 100  # characters
_MOST_CHARACTERS = 200
_CONVENTIONS = ("get_inputs", "get_init_inputs")  # neither is a misspelling of the other


def own_names(module):
    """(name, value) of the module's own functions, classes and kernels of Triton."""
    for name, value in _named_values(module):
        is_own = inspect.isfunction(value) or isinstance(value, type) or is_kernel(value)
        if is_own and getattr(_inner(value), "__module__", None) == module.__name__ and not name.startswith("__"):
            yield name, value


def _named_values(module):
    return [(name, value) for name, value in vars(module).items() if isinstance(name, str)]


def is_kernel(value):
    """Whether it is Triton's, compiled, interpreted or tuned: it is launched and not called."""
    return type(value).__module__.startswith("triton.runtime") and hasattr(value, "fn")


def _inner(value):
    while is_kernel(value):
        value = value.fn
    return value


def functions(module):
    return [name for name, value in own_names(module) if inspect.isfunction(value)]


def kernels(module):
    return [name for name, value in own_names(module) if is_kernel(value)]


def classes(module):
    return [name for name, value in own_names(module) if isinstance(value, type)]


def methods(owner):
    """Of a class and of those of its bases that stand beside it."""
    found = {}
    for base in inspect.getmro(owner):
        if base.__module__ == owner.__module__:
            found.update((name, None) for name, value in vars(base).items() if is_method(value) and not name.startswith("__"))
    return list(found)


def is_method(value):
    return not isinstance(value, type) and (callable(value) or isinstance(value, (staticmethod, classmethod)))


def named(module):
    """The sentence, with all that is there."""
    launched = listed(kernels(module))
    return (f"Available: functions [{listed(functions(module))}], classes [{listed(classes(module))}]"
            + (f", kernels of Triton [{launched}]" if launched else ""))


def listed(names):
    """As many as leave a sentence room to end."""
    taken, length = 0, 0
    while taken < len(names) and length + len(names[taken]) <= _MOST_CHARACTERS:
        length += len(names[taken]) + 2
        taken += 1
    more = [f"{len(names) - taken} more"] if taken < len(names) else []
    return ", ".join(names[:taken] + more)


def nearest(wanted, names, least_likeness=0.6):
    """"; nearest: NAME", or nothing where none is spelt alike."""
    names = [name for name in names if len(name) <= _LONGEST_NAME and not {name, wanted} <= set(_CONVENTIONS)]
    found = difflib.get_close_matches(wanted[:_LONGEST_NAME], names, 1, least_likeness)
    if not found:  # of a name in other capitals, or with something before it
        found = [name for name in names if name.lower() == wanted.lower()]
    return f"; nearest: {found[0]}" if found else ""


def callables(module):
    """Names of all that can be called, the module's own or imported."""
    return [name for name, value in _named_values(module)
            if callable(value) and not isinstance(value, type) and not name.startswith("__")]


def what(value):
    """What a thing is, in words."""
    if isinstance(value, type):
        return "a class"
    if is_kernel(value):
        return "a kernel of Triton"
    kind = "partial function" if isinstance(value, functools.partial) else type(value).__name__
    return f"{'an' if kind[:1].lower() in tuple('aeiou') else 'a'} {kind}"


def why_no(convention, module):
    """Why a source has no get_inputs() or get_init_inputs(), if there is more to say of it: what there is in its place."""
    found = vars(module).get(convention)
    if found is not None:
        return f"'{convention}' is {what(found)}, not a function"
    return nearest(convention, functions(module)).removeprefix("; ")
