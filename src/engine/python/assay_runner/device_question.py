"""Whether a source refused its inputs because they are not on a GPU: an assertion of `x.is_cuda`, say. Where tensors are
the CPU's that is no mistake of its own."""

import ast
import linecache
import re

# What TORCH_CHECK says of a condition; the wrapper's headers make kCPU of kCUDA (wrapper/on_cpu.h).
_CHECKED = re.compile(r"Expected .*(\bdevice\(\)|get_device\(\)|is_cpu\(\)).* to be true, but got false", re.DOTALL)


def is_asked(error, frames, file):
    """`frames`: the traceback's in the user's file, the innermost last."""
    if isinstance(error, RuntimeError) and _CHECKED.match(_text(error)):
        return True
    if not frames or not isinstance(error, Exception):
        return False
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    places = [_statement(tree, frame.lineno) for frame in frames]
    inner, conditions = places[-1]
    if isinstance(inner, ast.Assert):
        asked = [inner.test]
    elif isinstance(inner, ast.Raise):
        asked = conditions
    else:
        return _is_check(inner)  # torch._assert(x.is_cuda)
    # Or a function of its own that checks what it is given.
    return any(_names_gpu(test) for test in asked) or any(_is_check(outer) for outer, _ in places[:-1])


def _statement(tree, line):
    """(the innermost statement at a line, the conditions of the `if` that it stands in at once)."""
    found, conditions, body = None, [], [tree]
    while body:
        parent = body.pop()
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            for node in getattr(parent, field, ()) if isinstance(getattr(parent, field, ()), list) else ():
                first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 1 << 31)
                if not (isinstance(node, ast.match_case) or first <= line <= last):
                    continue
                if isinstance(node, ast.stmt):
                    found, conditions = node, [parent.test] if isinstance(parent, ast.If) else []
                body.append(node)
    return found, conditions


def _is_check(statement):
    """A call whose result nobody takes, of what is asked."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and any(_names_gpu(part) for part in call.args)


def _names_gpu(tree):
    return any(isinstance(node, ast.Attribute) and node.attr == "is_cuda"
               or isinstance(node, ast.Attribute) and node.attr == "is_available" and "cuda" in ast.dump(node.value)
               or isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.partition(":")[0] == "cuda"
               for node in ast.walk(tree))


def _text(error):
    try:
        return str(error)
    except Exception:  # one of the user's may not even have a text
        return ""
