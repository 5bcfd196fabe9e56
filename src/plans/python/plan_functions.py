"""Calls one custom function of an operator test plan and writes what came of it to a file.

plan_functions.py REQUEST.json RESULT.json

The request: {"call": "generator" | "assertion", "source", "name", "arguments"}. Standard output and
standard error belong to the function; the result file holds {"ok", "details", "metrics"} of an
assertion, {} of a generator, or {"fault", "kind"} with a traceback.
"""

import dataclasses
import importlib.util
import json
import math
import os
import sys
import traceback
import types


class ShapeList(list):
    """A list of shapes that also answers ["inputs"] and ["outputs"]: both spellings are in use."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs)
        self._sides = {"inputs": inputs, "outputs": outputs}

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._sides[key]
        return super().__getitem__(key)

    def get(self, key, default=None):
        return self._sides.get(key, default)


def offer_assertion_result():
    """Scripts import it from optest.plan.models, whether or not such a package is installed."""
    from typing import Any, Dict, NamedTuple

    class AssertionResult(NamedTuple):
        ok: bool
        details: str = ""
        metrics: Dict[str, Any] = {}

    for name in ("optest", "optest.plan", "optest.plan.models"):
        module = types.ModuleType(name)
        module.AssertionResult = AssertionResult
        module.__path__ = []
        sys.modules[name] = module


def load(source, name):
    sys.path.insert(0, os.path.dirname(os.path.abspath(source)))
    specification = importlib.util.spec_from_file_location("assay_custom_functions", source)
    module = importlib.util.module_from_spec(specification)
    sys.modules["assay_custom_functions"] = module
    specification.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise AttributeError(f"{source} defines no function '{name}'")
    return function


def random_generator(seed):
    try:
        import numpy
    except ImportError:
        return None
    return numpy.random.default_rng(seed)


def plain(value):
    """Anything a metric may be, as JSON: NaN and infinity are none."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (bool, str)) or value is None:
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    if not math.isfinite(number):
        return None
    return int(value) if isinstance(value, int) else number


def truth(value):
    """A bool, numpy's too; anything else was not meant as one."""
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, bool):
        raise TypeError(f"the assertion's ok is {type(value).__name__}, not a bool")
    return value


def outcome(returned):
    if dataclasses.is_dataclass(returned) or hasattr(returned, "ok"):
        return {"ok": truth(returned.ok), "details": str(getattr(returned, "details", "")),
                "metrics": plain(dict(getattr(returned, "metrics", None) or {}))}
    if isinstance(returned, tuple) and len(returned) >= 2:
        metrics = returned[2] if len(returned) > 2 and isinstance(returned[2], dict) else {}
        return {"ok": truth(returned[0]), "details": str(returned[1]), "metrics": plain(metrics)}
    raise TypeError(f"the assertion returned {type(returned).__name__}, not an AssertionResult")


def call(request):
    offer_assertion_result()
    arguments = dict(request["arguments"])
    shapes = arguments["shapes"]
    arguments["shapes"] = ShapeList(shapes["inputs"], shapes["outputs"])
    if request["call"] == "generator":
        arguments["rng"] = random_generator(arguments.get("seed"))
    function = load(request["source"], request["name"])
    returned = function(**arguments)
    return outcome(returned) if request["call"] == "assertion" else {}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    try:
        result = call(request)
    except ModuleNotFoundError as error:
        result = {"kind": "IMPORT_MISSING", "fault": f"{error} (by {sys.executable})"}
    except BaseException as error:  # pylint: disable=broad-except
        result = {"kind": type(error).__name__, "fault": traceback.format_exc(limit=-8)}
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(result, file)
    if "fault" in result:
        sys.exit(1)


if __name__ == "__main__":
    main()
