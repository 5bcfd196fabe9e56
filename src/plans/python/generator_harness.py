"""Runs one performance test generator, or looks at it without running it, and writes what happened.

generator_harness.py REQUEST.json RESULT.json

The request: {"mode": "inspect" | "run", "script", "eqcheck", "reference", "prefix", "eq_level"}. What
the script prints stays on its own streams. The result holds facts only: what was stored, loaded,
compared, returned, raised, and where. Deciding what they mean is not this program's business.
"""

import ast
import importlib.util
import inspect
import json
import math
import os
import sys
import time
import traceback
import types

from generator_equivalence import difference, flat

REQUIRED = ("setup", "experiment", "store_result", "load_result", "check_equivalence", "run_test")
STANDARD = set(sys.stdlib_module_names) if hasattr(sys, "stdlib_module_names") else set()


# ---------------------------------------------------------------------------------------------- looking

def is_main_guard(node):
    return (isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and isinstance(node.test.left, ast.Name)
            and node.test.left.id == "__name__")


def names_of_imports(tree):
    """Top-level packages, each with the line of its first import."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.name.split(".")[0], node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.setdefault(node.module.split(".")[0], node.lineno)
    return found


def is_there(module):
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def default_of_environment(tree, variable):
    """The literal that os.getenv / os.environ.get falls back to for a variable."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or len(node.args) < 2:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in ("getenv", "get"):
            continue
        first, second = node.args[0], node.args[1]
        if isinstance(first, ast.Constant) and first.value == variable and isinstance(second, ast.Constant):
            return second.value
    return None


def family_of(text, functions, has_main):
    if has_main:
        return "C" if "--eqcheck" in text or "run_test" in functions else "unknown"
    if "run_test" not in functions:
        return "unknown"
    return "B" if "PROB_" in text else "A"


def requirements_of(text, imports):
    needs = {}
    foreign = [name for name in imports if name not in STANDARD]
    if foreign:
        needs["python"] = foreign
    lowered = text.lower()
    if "cuda is required" in lowered or "requires cuda" in lowered or "cuda required" in lowered:
        needs["cuda"] = True
    if "cutlass" in lowered and "fp8" in lowered:
        needs["feature"] = "fp8_cutlass"
    return needs


def look_at(script):
    with open(script, encoding="utf-8") as file:
        text = file.read()
    tree = ast.parse(text, filename=script)
    functions = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    has_main = any(is_main_guard(node) for node in tree.body)
    imports = names_of_imports(tree)
    run_test = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "run_test"), None)
    documentation = (ast.get_docstring(run_test) or "") if run_test else ""
    return {
        "family": family_of(text, functions, has_main),
        "has_main": has_main,
        "functions": functions,
        "missing_functions": [name for name in REQUIRED if name not in functions],
        "imports": [{"module": name, "line": line, "present": name in STANDARD or is_there(name)}
                    for name, line in sorted(imports.items())],
        "target_module": default_of_environment(tree, "PROB_MODULE"),
        "target_symbol": default_of_environment(tree, "PROB_SYMBOL"),
        "default_eq_level": default_of_environment(tree, "PROB_EQ_LEVEL"),
        "needs": requirements_of(text, imports),
        "documents_milliseconds": "millisecond" in (documentation + (ast.get_docstring(tree) or "")).lower(),
    }


# ---------------------------------------------------------------------------------------------- running

class Watch:
    """What the script's own functions were seen to do."""

    def __init__(self, eq_level):
        self.eq_level = eq_level
        # compared: with what load_result gave; a comparison with anything else proves nothing.
        self.facts = {"stored": [], "loaded": [], "load_failed": None, "compared": 0, "not_a_comparison": None,
                      "comparison_failed": None, "level_check": None, "returned": None, "returns": 0,
                      "device": None, "dtype": None}
        self.inside = []
        self.references = []  # the values loaded, kept so that each stays itself

    def hook(self, space):
        for name in ("setup", "store_result", "load_result", "check_equivalence", "run_test"):
            function = space.get(name)
            if callable(function) and not hasattr(function, "watched_by_assay"):
                space[name] = self.wrapped(name, function)

    def wrapped(self, name, function):
        def watched(*arguments, **named):
            self.inside.append(name)
            fault = self.fault_of(arguments, named) if name == "check_equivalence" else None
            loads = len(self.references)
            try:
                value = function(*arguments, **named)
            except BaseException as error:
                # One that loads the reference itself is none without one.
                self.failed(name, error, fault if len(self.references) == loads else None)
                raise
            finally:
                self.inside.pop()
            self.returned(name, arguments, named, value, fault if len(self.references) == loads else None)
            return value
        watched.__signature__ = inspect.signature(function)
        watched.__doc__ = function.__doc__
        watched.watched_by_assay = True
        return watched

    def fault_of(self, arguments, named):
        """Why this is no comparison with a reference, or None. Before it: it may change what it is given."""
        current = argument(arguments, named, 0, "current_result")
        reference = argument(arguments, named, 1, "reference_result")
        if not self.references:
            return "load_result loaded no reference"
        if reference is current and not is_part_of(reference, self.references):
            return "the result was compared with itself"
        if not is_part_of(reference, self.references) and not has_values_of(reference, self.references):
            return "what the result was compared with did not come from load_result"
        return None

    def failed(self, name, error, no_comparison):
        said = {"type": type(error).__name__, "message": str(error)}
        if name == "load_result":
            self.facts["load_failed"] = said
        elif name == "check_equivalence":
            self.facts["comparison_failed"] = said
            if no_comparison:
                self.facts["not_a_comparison"] = self.facts["not_a_comparison"] or no_comparison
            else:
                self.facts["compared"] += 1
        if self.facts.get("failed_inside") is None:
            self.facts["failed_inside"] = name

    def returned(self, name, arguments, named, value, no_comparison):
        if name == "setup":
            self.facts["device"], self.facts["dtype"] = place_of(value)
        elif name == "store_result":
            self.facts["stored"].append(str(argument(arguments, named, 1, "filepath")))
        elif name == "load_result":
            file = str(argument(arguments, named, 0, "filepath"))
            self.facts["loaded"].append(file)
            if file in self.facts["stored"]:
                self.facts["not_a_comparison"] = f"this very run stored {file} before it loaded it"
            else:
                self.references.append(value)
        elif name == "check_equivalence" and no_comparison:
            self.facts["not_a_comparison"] = self.facts["not_a_comparison"] or no_comparison
        elif name == "check_equivalence":
            self.facts["compared"] += 1
            self.check_level(argument(arguments, named, 0, "current_result"), argument(arguments, named, 1, "reference_result"))
        elif name == "run_test" and not self.inside:
            self.facts["returns"] += 1
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            self.facts["returned"] = value if is_number and is_finite(value) else None
            self.facts["no_number"] = repr(value)[:40] if is_number and not is_finite(value) else None

    def check_level(self, current, reference):
        if not self.eq_level:
            return
        try:
            said = difference(current, reference, self.eq_level)
        except Exception as error:  # pylint: disable=broad-except
            self.facts["level_check"] = {"performed": False, "message": f"{type(error).__name__}: {error}"}
            return
        self.facts["level_check"] = {"performed": True, "passed": not said, "message": said}


MOST_PARTS = 10_000  # of a reference that are looked through


def parts(values):
    """A value, what it holds, what that holds: the outermost first."""
    waiting = list(values)
    for seen in range(MOST_PARTS):
        if seen >= len(waiting):
            return
        value = waiting[seen]
        yield value
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple)):
            waiting.extend(value[:MOST_PARTS])


def is_part_of(value, wholes):
    return any(value is part for part in parts(wholes))


def has_values_of(value, references):
    """A tensor made of the numbers that were loaded is what was loaded."""
    mine = numbers_of(value)
    return any(type(part) is type(value) and not different(part, value) or
               mine is not None and numbers_of(part) == mine for part in parts(references))


def different(left, right):
    try:
        return difference(left, right, "exact") != ""
    except Exception:  # pylint: disable=broad-except
        return True  # raised by a type of the script's: what cannot be compared counts as different


def numbers_of(value):
    """All numbers of a tensor, an array or nested lists of numbers; None of anything else."""
    try:
        plain = flat(value)
    except Exception:  # pylint: disable=broad-except
        return None  # raised by a type of the script's: what cannot be read has no numbers
    if plain is not None:
        return plain[0]
    if not isinstance(value, (list, tuple)) or not value:
        return None
    inner = [numbers_of(one) for one in value]
    return None if any(one is None for one in inner) else [number for one in inner for number in one]


def place_of(data):
    """(device, dtype) of the first tensor or array among a test's data."""
    for part in parts([data]):
        if hasattr(part, "dtype") and hasattr(part, "shape"):
            device = getattr(part, "device", "cpu")
            return str(getattr(device, "type", device)), str(part.dtype).rsplit(".", maxsplit=1)[-1]
    return "cpu", None


def is_finite(value):
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def argument(arguments, named, place, name):
    return arguments[place] if len(arguments) > place else named.get(name)


TIMEIT = '''
def inner(_it, _timer{init}):
    {setup}
    _t0 = _timer()
    for _i in _it:
        retval = {stmt}
    _t1 = _timer()
    return _t1 - _t0, retval
'''


def with_result_of_timeit():
    """Generators of the older kind expect timeit.timeit to return (seconds, result)."""
    import timeit
    timeit.template = TIMEIT


def hooked(script, watch):
    """The script's code, with our hook called before its main block."""
    with open(script, encoding="utf-8") as file:
        tree = ast.parse(file.read(), filename=script)
    call = ast.parse("__assay_hook__(globals())").body[0]
    place = next((i for i, node in enumerate(tree.body) if is_main_guard(node)), len(tree.body))
    anchor = tree.body[place] if place < len(tree.body) else (tree.body[-1] if tree.body else call)
    for node in ast.walk(call):
        ast.copy_location(node, anchor)
    tree.body.insert(place, call)
    ast.fix_missing_locations(tree)
    return compile(tree, script, "exec")


def run_as_main(request, watch):
    sys.argv = [request["script"]]
    sys.argv += ["--eqcheck"] if request["eqcheck"] else []
    sys.argv += ["--reference"] if request["reference"] else []
    text = open(request["script"], encoding="utf-8").read()
    if request["prefix"]:
        sys.argv += ["--file_prefix" if "--file_prefix" in text else "--prefix", request["prefix"]]
    if '"output_file"' in text or "'output_file'" in text:
        sys.argv.insert(1, "timings.txt")
    module = types.ModuleType("__main__")
    module.__file__ = request["script"]
    module.__dict__["__assay_hook__"] = watch.hook
    sys.modules["__main__"] = module
    exec(hooked(request["script"], watch), module.__dict__)  # pylint: disable=exec-used


def run_injected(request, watch):
    module = types.ModuleType("assay_generator")
    module.__file__ = request["script"]
    module.__dict__["__assay_hook__"] = watch.hook
    sys.modules["assay_generator"] = module
    sys.argv = [request["script"]]
    with_result_of_timeit()
    exec(hooked(request["script"], watch), module.__dict__)  # pylint: disable=exec-used
    run_test = module.__dict__.get("run_test")
    if not callable(run_test):
        raise SystemExit("INVALID_CONFIG: the script defines no run_test and has no main block")
    accepted = inspect.signature(run_test).parameters
    options = {"eqcheck": request["eqcheck"], "reference": request["reference"], "prefix": request["prefix"]}
    run_test(**{key: value for key, value in options.items() if key in accepted})


def run(request):
    seen = look_at(request["script"])
    watch = Watch(request.get("eq_level"))
    facts = {"harness": "own" if seen["has_main"] else "injected", "family": seen["family"], "exception": None, "exit_code": 0}
    sys.path.insert(0, os.path.dirname(os.path.abspath(request["script"])))
    sys.path.insert(0, os.getcwd())
    begun = time.perf_counter()
    try:
        (run_as_main if seen["has_main"] else run_injected)(request, watch)
    except SystemExit as ended:
        facts["exit_code"] = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        if isinstance(ended.code, str):
            facts["exception"] = {"type": "SystemExit", "message": ended.code, "traceback": ""}
    except BaseException as error:  # pylint: disable=broad-except
        facts["exit_code"] = 1
        traceback.print_exc()
        facts["exception"] = {"type": type(error).__name__, "message": str(error),
                              "is_import": isinstance(error, ImportError), "module_file": getattr(error, "path", None)
                              if isinstance(error, ImportError) else None, "traceback": traceback.format_exc(limit=-6)}
    facts["wall_s"] = time.perf_counter() - begun
    facts.update(watch.facts)
    facts["documents_milliseconds"] = seen["documents_milliseconds"]
    facts["default_eq_level"] = str(seen["default_eq_level"]) if seen["default_eq_level"] is not None else None
    return facts


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    result_file = os.path.abspath(sys.argv[2])
    try:
        result = look_at(request["script"]) if request["mode"] == "inspect" else run(request)
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError) as error:
        result = {"unreadable": f"{type(error).__name__}: {error}", "exit_code": 6}
    sys.stdout.flush()
    with open(result_file, "w", encoding="utf-8") as file:
        json.dump(result, file, default=str)
    # Threads of the script's libraries must not keep a run that is over.
    os._exit(result.get("exit_code", 0))


if __name__ == "__main__":
    main()
