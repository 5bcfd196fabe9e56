"""One file of tests/kernels: a kernel, its contract, an independent reference and its wrong variants.

The format is described in tests/kernels/README.md. Reading a file checks it: an unknown directive, a
replacement that does not occur exactly once or a kind without a name is an error of the file.
"""

import json
import os
import re

FOLDER = os.path.join(os.path.dirname(__file__), "..", "kernels")
REFERENCE = "// reference\n"
CONTRACT = re.compile(r"/\* contract\n(.*?)\n\*/\n", re.S)
WRONG = re.compile(r"// wrong ([a-z0-9_]+)(?:/([a-z0-9_]+))? ([a-z_]+)(?:\+([a-z_]+))?: (.+?) ->(?: (.*))?$", re.M)
OUTSIDE_PARENTHESES = re.compile(r",(?![^()]*\))")
ROLES = {"in": "input", "out": "output", "inout": "inout"}
INIT_KINDS = ("randn", "uniform", "zeros", "ones", "full", "arange")


def number(text):
    try:
        return int(text)
    except ValueError:
        return float(text)


# The words of a texture say which member they are of.
TEXTURE_WORDS = {"point": "filter", "linear": "filter", "element": "read", "normalized_float": "read"}


def texture(text):
    """`linear,wrap,clamp,normalized_coords,normalized_float,channels:4`, or nothing of that."""
    described = {}
    for word in filter(None, text.split(",")):
        key, _, value = word.partition(":")
        if word in ("clamp", "border", "wrap", "mirror"):
            described.setdefault("address", []).append(word)
        elif word == "normalized_coords":
            described[word] = True
        elif value:
            described[key] = number(value)
        else:
            described[TEXTURE_WORDS[word]] = word
    return described


def tensor_argument(words, seed):
    """`in x float32[n,4] uniform low=0 high=9`, `out y float32[n] atol=1e-4`."""
    role, name, type_ = words[:3]
    dtype, shape = re.fullmatch(r"([a-z0-9_]+)\[(.*)\]", type_).groups()
    extents = [part for part in OUTSIDE_PARENTHESES.split(shape) if part]
    spec = {"shape": [int(e) if e.isdigit() else e for e in extents], "dtype": dtype}
    init, tolerance, more = {}, {}, {}
    for word in words[3:]:
        if word.partition("=")[0] == "texture":
            more["texture"] = texture(word.partition("=")[2])
            continue
        if word in INIT_KINDS:
            init["kind"] = word
            continue
        key, value = word.split("=")
        if key == "strides":
            spec["strides"] = [int(stride) for stride in value.split(",")]
            continue
        (tolerance if key in ("atol", "rtol") else init)[key] = number(value)
    if role != "out" and not init:
        init["kind"] = "randn"
    if init.get("kind") in ("randn", "uniform"):
        init = {"seed": seed, **init}
    if init:
        spec["init"] = init
    if tolerance:
        spec["tolerance"] = tolerance
    return {"name": name, "type": "tensor", "role": ROLES[role], "tensor_spec": spec, **more}


def scalar_argument(words):
    """`int n = 1000`, `float alpha = 0.1`, `int n = rows*columns`, `int n:int64 = 7`."""
    type_, name, equals, value = words
    assert equals == "=", words
    name, _, c_type = name.partition(":")
    if type_ == "bool":
        value = {"true": True, "false": False}[value]
    elif re.fullmatch(r"[-+0-9.e]+", value):
        value = number(value)
    arg = {"name": name, "type": type_, "value": value}
    return {**arg, "c_type": c_type} if c_type else arg


def argument(text, position):
    words = text.split()
    # A seed of each tensor's own: the first trial, which judges the wrong variants, is always the same.
    return tensor_argument(words, position + 1) if words[0] in ROLES else scalar_argument(words)


class Wrong:
    """A wrong variant: `kind` says what was done to the kernel, `verdict` and `evidence` what must come of it."""

    def __init__(self, match):
        self.kind, more, self.verdict, self.evidence, self.old, new = match.groups()
        self.new = new or ""
        self.name = self.kind + (f"/{more}" if more else "")

    def applied(self, source):
        if source.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.old!r} occurs {source.count(self.old)} times")
        return source.replace(self.old, self.new)


class KernelFile:
    def __init__(self, path):
        self.name = os.path.splitext(os.path.basename(path))[0]
        with open(path) as file:
            text = file.read()
        head, separator, reference = text.partition(REFERENCE)
        contract = CONTRACT.search(head)
        if not separator or not contract:
            raise ValueError(f"{self.name}: no contract or no reference")
        written = json.loads(contract.group(1))
        self.metadata = written.get("metadata")
        self.options = written.get("options", {})
        self.io = {"args": [argument(text, i) for i, text in enumerate(written["args"])], "launch": written["launch"]}
        # A reference is a single thread in a loop, unless it says that this would take too long.
        self.reference_launch = written.get("reference_launch", {"grid": 1, "block": 1})
        self.wrong = [Wrong(match) for match in WRONG.finditer(head)]
        self.source = CONTRACT.sub("", WRONG.sub("", head)).lstrip()
        self.reference = reference
        self.check()

    def check(self):
        left = [line for line in self.source.splitlines() if line.startswith("// wrong")]
        if left:
            raise ValueError(f"{self.name}: cannot be read: {left[0]}")
        names = [wrong.name for wrong in self.wrong]
        if len(names) != len(set(names)):
            raise ValueError(f"{self.name}: two variants of one name in {names}")
        for wrong in self.wrong:
            wrong.applied(self.source)

    def arguments(self, source):
        """The arguments of `evaluate` that judge `source` against this file's reference."""
        judged = {"source_code": source, "kernel_type": "cuda", "io": self.io}
        if self.metadata:
            judged["metadata"] = self.metadata
        # What the kernel fetches from a texture the reference reads from memory.
        plain = [{key: value for key, value in arg.items() if key != "texture"} for arg in self.io["args"]]
        reference = {"source_code": self.reference, "kernel_type": "cuda",
                     "io": {"args": plain, "launch": self.reference_launch}}
        return {"kernel": judged, "ref_kernel": reference, "num_trials": 2, "wait_s": 300, **self.options}


def all_kernels():
    return [KernelFile(os.path.join(FOLDER, name))
            for name in sorted(os.listdir(FOLDER)) if name.endswith(".cu")]
