"""torch.compile where tensors are the CPU's. What it makes by default is C++ for a compiler, which no confined source can
start, and that shows after seconds of its work: what it would compile runs as it is instead, and that is said."""

import ast

import torch

_compile = torch.compile
_MESSAGE = ("torch.compile would start a C++ compiler, which a confined source on CPU tensors cannot: what it would compile "
            "runs as it is, and so it is timed")
_CODE = "uncompiled"
_noted = []


def use():
    """From here on, in this process."""
    torch.compile = compile_nothing


def compile_nothing(model=None, *, backend="inductor", disable=False, **more):
    """torch.compile's own, where the backend makes no code."""
    if backend != "inductor":
        return _compile(model, backend=backend, disable=disable, **more)
    if more.get("mode") is not None and more.get("options") is not None:
        return _compile(model, **more)  # which it refuses
    if not disable:
        _noted.append(True)
    return (lambda function: function) if model is None else model


def warnings(tree):
    """Of a source that is going to be run so: where it says it."""
    chosen = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call) and any(
        word.arg == "backend" and not (isinstance(word.value, ast.Constant) and word.value.value == "inductor") for word in node.keywords)}
    for node in ast.walk(tree):
        is_compile = isinstance(node, ast.Attribute) and node.attr == "compile" and isinstance(node.value, ast.Name)
        if is_compile and node.value.id == "torch" and node not in chosen:
            yield {"line": node.lineno, "code": _CODE, "message": f"line {node.lineno}: {_MESSAGE}"}
            return


def unsaid(said):
    """What happened, though no warning said so."""
    if _noted and all(warning["code"] != _CODE for warning in said):
        yield {"line": 0, "code": _CODE, "message": _MESSAGE}
