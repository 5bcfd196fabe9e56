"""Whether a source refused its inputs because they are not on a GPU: an assertion of `x.is_cuda`, say. Where tensors are
the CPU's that is no mistake of its own."""

import ast
import linecache
import re

# What TORCH_CHECK says of a condition; the wrapper's headers make kCPU of kCUDA (wrapper/on_cpu.h).
_CHECKED = re.compile(r"Expected .*(\bdevice\(\)|get_device\(\)|is_cpu\(\)).* to be true, but got false", re.DOTALL)
_ONLY_GPU = re.compile("No viable backend for scaled_dot_product_attention was found|Only CUDA tensors are currently supported")
_UNEQUAL, _EQUAL = (ast.NotEq, ast.NotIn, ast.IsNot), (ast.Eq, ast.In, ast.Is)


def is_asked(error, frames, file):
    """`frames`: the traceback's in the user's file, the innermost last."""
    if not frames or not isinstance(error, Exception):
        return isinstance(error, RuntimeError) and _CHECKED.match(_text(error)) is not None
    tree = _tree(file)
    if tree is None:
        return False
    places = [_statement(tree, frame.lineno) for frame in frames]
    inner, conditions = places[-1]
    if isinstance(inner, ast.Assert):
        asked = [(inner.test, _UNEQUAL)]
    elif isinstance(inner, ast.Raise):
        asked = [(test, _EQUAL) for test in conditions]
    else:
        return _is_check(inner) or _is_told(error, inner)  # torch._assert(x.is_cuda)
    # Or a function of its own that checks what it is given.
    return any(_names_gpu(test, of_cpu) for test, of_cpu in asked) or any(_is_check(outer) for outer, _ in places[:-1])


def is_own_raise(error, frame, file):
    """Whether the error was raised there by a statement of the user's: its text is the user's then."""
    tree = _tree(file)
    statement = _statement(tree, frame.lineno)[0] if tree is not None else None
    return isinstance(statement, ast.Raise) or isinstance(statement, ast.Assert) and isinstance(error, AssertionError)


def _tree(file):
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_told(error, statement):
    """What torch says where a device that it was asked for is none, in words that a mistake may have too."""
    text = _text(error)
    asked = {node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)} if statement is not None else set()
    return (isinstance(error, RuntimeError) and (_CHECKED.match(text) or _ONLY_GPU.search(text)) is not None
            or "Device index must not be negative" in text and "get_device" in asked
            or isinstance(error, AttributeError) and "'NoneType' object" in text and "current_accelerator" in asked)


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
    return isinstance(call, ast.Call) and any(_names_gpu(part, _UNEQUAL) for part in call.args)


def _names_gpu(tree, of_cpu):
    """`of_cpu`: the comparisons with "cpu" that fail on one."""
    return any(isinstance(node, ast.Attribute) and _is_question(node)
               or isinstance(node, ast.Compare) and _compares_device(node, of_cpu)
               or isinstance(node, ast.Call) and _begins_with_device(node) for node in ast.walk(tree))


def _is_question(node):
    if node.attr in ("is_available", "device_count"):
        return any(name in ast.dump(node.value) for name in ("'cuda'", "'accelerator'"))
    return node.attr in ("is_cuda", "get_device", "current_accelerator") or node.attr == "cuda" and _name(node.value) == "version"


def _compares_device(node, of_cpu):
    """x.device.type == "cuda", and not the same constant compared with anything else."""
    sides = [node.left, *node.comparators]
    if not any(_is_device(part) for side in sides for part in ast.walk(side)):
        return False
    texts = {text for side in sides for text in _texts(side)}
    return "cuda" in texts or "cpu" in texts and any(isinstance(op, of_cpu) for op in node.ops)


def _begins_with_device(call):
    """str(x.device).startswith("cuda")"""
    function = call.func
    return (isinstance(function, ast.Attribute) and function.attr == "startswith" and "cuda" in {text for part in call.args for text in _texts(part)}
            and any(_is_device(part) for part in ast.walk(function.value)))


def _texts(tree):
    return {node.value.partition(":")[0] for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _is_device(node):
    name = _name(node)
    return "device" in name or name in ("type", "dev")


def _name(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _text(error):
    try:
        return str(error)
    except Exception:  # one of the user's may not even have a text
        return ""
