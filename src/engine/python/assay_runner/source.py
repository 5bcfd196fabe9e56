"""The user's source as a module, its rules, and the one thing in it that is to be called."""

import ast
import re
import sys
import types

import torch

from assay_runner import available, construction, device_facts, interpreted, reading, uncompiled
from assay_runner.failure import Refused

_MISSPELT = 0.8  # of its own letters
# A text that only speaks of __global__ is no kernel, where nothing is there to compile it.
_COMPILERS = ("load_inline", "cpp_extension", "_compile_kernel", "RawKernel", "RawModule", "SourceModule", "nvrtc")
_KERNEL = re.compile(r"__global__[^;{}]*\([^;{}]*\)\s*\{")


class Source:
    """A module made of the user's text. `file` is what its frames are called."""

    def __init__(self, text, file, kernel_type, on_gpu=False):
        self.file = file
        self.kernel_type = kernel_type
        self.init_inputs = None  # what a class was made from, as it may be told to another source
        self._on_gpu = on_gpu
        text, tree, code = reading.read(text, file)
        self.warnings = list(_warnings(tree))
        if not on_gpu and kernel_type == "multi_kernel" and any(name == "triton" for name, _ in _imports(tree)):
            self.warnings.append({"line": 0, "code": "interpreted", "message":
                                  "Triton's kernels run in Triton's own interpreter here, on CPU tensors: of libdevice it has what torch has too, "
                                  "and computes with bfloat16 and 8-bit floats otherwise than a GPU"})
            unseen = interpreted.use()
            if unseen:
                self.warnings.append({"line": 0, "code": "interpreted_unseen", "message":
                                      f"Triton's interpreter is of a version in which these are not told: {', '.join(unseen)}"})
        if not on_gpu and kernel_type == "torch_cuda":
            device_facts.answer_beside_launches()
        self.warnings += device_facts.warnings(tree)
        if not on_gpu:
            self.warnings += uncompiled.warnings(tree)
        if kernel_type == "torch":
            _refuse_mixed(tree)
        if kernel_type == "torch_cuda":
            _refuse_without_build(text)
            self.warnings += _beside_cuda(tree)
        if kernel_type == "triton":
            self.warnings += _beside_a_kernel(tree)
        if kernel_type in ("triton", "multi_kernel"):
            self.warnings += _device_asserts(tree)
        name = file.removesuffix(".py")
        self.module = types.ModuleType(name)
        self.module.__file__ = file
        sys.modules[name] = self.module
        try:
            exec(code, vars(self.module))
        except NameError as error:
            if kernel_type == "torch_cuda":
                _name_missing_variable(error, tree)
            raise

    def function(self, name, missing):
        """The function called `name`; `missing` is the sentence for there being none."""
        found = vars(self.module).get(name)
        if callable(found) and not isinstance(found, type) and not available.is_kernel(found):
            return found
        if found is not None:
            takes_classes = self.kernel_type in ("torch", "torch_cuda")
            hint = "; metadata's class_name chooses a class" if isinstance(found, type) and takes_classes else ""
            raise Refused("target", f"'{name}' is {available.what(found)}, not a function. " + self.available() + hint)
        raise Refused("target", f"{missing}. " + self.available() + available.nearest(name, available.callables(self.module)),
                      available=available.functions(self.module)[:available.MOST_NAMES])

    def own(self, name):
        """A function of the user's by its name, or None."""
        found = vars(self.module).get(name)
        return found if callable(found) and not isinstance(found, type) else None

    def method(self, class_name, method_name, seed, lent=None, missing=""):
        """The bound method of a new instance, made from get_init_inputs() where the source has it, else from `lent`: what
        the reference's was told to be. `missing`: the sentence for there being no such class."""
        found = vars(self.module).get(class_name)
        if not isinstance(found, type):
            classes = available.classes(self.module)
            text = missing or f"Class '{class_name}' not found"
            text += "" if found is None else f": it is {available.what(found)}"
            near = available.nearest(class_name, classes)
            hint = ("; metadata's function_name chooses a function" if callable(found) else "; metadata chooses another by "
                    "function_name, or by class_name and method_name" if found is None and not near else "")
            raise Refused("target", f"{text}. " + self.available() + near + hint,
                          available=classes[:available.MOST_NAMES])
        if not callable(getattr(found, method_name, None)):
            _refuse_method(found, class_name, method_name)
        torch.manual_seed(seed)
        own = self._init_inputs()
        if own:
            made = own()
            self.init_inputs = construction.told(made)
            plain, named = construction.arguments_of(made, found)
        else:
            plain, named = construction.of_another(construction.meant(lent), found)
        torch.manual_seed(seed)
        why_none = "" if own else construction.why_none(lent, found, available.why_no("get_init_inputs", self.module))
        instance = construction.instance(found, plain, named, why_none)
        if not own and (words := construction.untold(lent)):
            self.warnings.append({"line": 0, "code": "init_inputs", "message": f"{class_name} was made without arguments{words}"})
        if method_name == "forward" and _says_only_that_there_is_none(instance):
            _refuse_method(found, class_name, method_name)
        if self._on_gpu and isinstance(instance, torch.nn.Module):
            instance = instance.to("cuda")
        if isinstance(instance, torch.nn.Module) and method_name == "forward":
            return instance  # called as a module is, hooks and all
        return getattr(instance, method_name)

    def _init_inputs(self):
        own = self.own("get_init_inputs")
        if own is None and vars(self.module).get("get_init_inputs") is not None:
            raise Refused("target", available.why_no("get_init_inputs", self.module) + ". " + self.available())
        return own

    def available(self):
        """What there is to be called, for the sentence that something is not."""
        return available.named(self.module)


def find(source, wanted, seed, lent=None):
    """(what to call, its name). `wanted` is {entry_point | function_name | class_name, method_name, candidate}; `lent`: the
    other source's init_inputs."""
    if entry := wanted.get("entry_point"):
        return source.function(entry, f"Entry point function '{entry}' not found in module"), entry
    if name := wanted.get("function_name"):
        return source.function(name, f"Function '{name}' not found in source code"), name
    class_name = wanted.get("class_name")
    missing = ""
    if class_name is None:
        class_name, missing = _conventional(source, wanted)
    method_name = wanted.get("method_name") or "forward"
    return source.method(class_name, method_name, seed, lent, missing), f"{class_name}.{method_name}"


def _conventional(source, wanted):
    """(ModelNew or Model, the sentence for there being neither), where nobody names a class."""
    is_cuda = source.kernel_type == "torch_cuda"
    if not wanted.get("candidate") and not is_cuda:
        return "Model", ""
    if hasattr(source.module, "ModelNew"):
        return "ModelNew", ""
    classes = [name for name in available.classes(source.module) if name != "Model"]
    alike = available.nearest("ModelNew", classes, _MISSPELT)
    if hasattr(source.module, "Model"):
        if alike:
            source.warnings.append({"line": 0, "code": "target", "message": f"there is no class ModelNew{alike}: Model is what is judged"})
        return "Model", ""
    return "Model", "No ModelNew torch module found, and no class 'Model'" if is_cuda else "Class 'Model' not found, nor 'ModelNew'"


def _says_only_that_there_is_none(instance):
    """torch.nn.Module has such a forward(); a module may get its own as it is made, or be called by other means."""
    if not isinstance(instance, torch.nn.Module) or type(instance).__call__ is not torch.nn.Module.__call__:
        return False
    return getattr(instance.forward, "__func__", None) is torch.nn.Module.forward


def _refuse_method(owner, class_name, name):
    methods = available.methods(owner)
    found = getattr(owner, name, None)
    is_there = found is not None and not callable(found)
    text = (f"'{name}' of class '{class_name}' is {available.what(found)}, not a method" if is_there
            else f"Method '{name}' not found in class '{class_name}'")
    raise Refused("target", f"{text}. Available: [{available.listed(methods)}]" + available.nearest(name, methods),
                  available=methods[:available.MOST_NAMES])


def _refuse_mixed(tree):
    """A torch source is torch alone: what mixes belongs to multi_kernel."""
    for name, line in _imports(tree):
        if name in ("triton", "cupy"):
            raise Refused("mixed", f"A torch source must not import {name} (line {line}); kernel_type "
                          "multi_kernel may", line=line)
        if name == "torch.utils.cpp_extension":
            raise Refused("mixed", f"A torch source must not compile CUDA or C++ (line {line}); kernel_type "
                          "torch_cuda does", line=line)
    unused = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings: nothing is built of them
    compiles = any(getattr(node, "attr", getattr(node, "id", "")) in _COMPILERS for node in ast.walk(tree))
    for node in ast.walk(tree):
        if (isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in unused
                and (_KERNEL.search(node.value) or compiles and "__global__" in node.value)):
            raise Refused("mixed", f"A torch source must not hold CUDA code (line {node.lineno}); kernel_type "
                          "torch_cuda or cuda may", line=node.lineno)


def _refuse_without_build(text):
    """A torch_cuda source builds its kernels; however it spells that, the name stands in it."""
    if "load_inline" not in text and "cpp_extension" not in text:
        raise Refused("mixed", "No load_inline call found: a torch_cuda source builds its kernels with "
                      "torch.utils.cpp_extension.load_inline; kernel_type torch needs none")


def _name_missing_variable(error, tree):
    """A load_inline whose CUDA text is to come from a variable that there is not: the manual's words before Python's."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or getattr(node.func, "attr", getattr(node.func, "id", "")) != "load_inline":
            continue
        given = node.args[2:3] + [one.value for one in node.keywords if one.arg == "cuda_sources"]
        if error.name and any(error.name in _names(text) for text in given):
            error.args = (f"Failed to extract CUDA source from variable '{error.name}': {error}",)
            return


def _beside_cuda(tree):
    """Kernels of another kind: only those of load_inline are built, the rest is as the interpreter has it."""
    for name, line in _imports(tree):
        if name in ("triton", "cupy"):
            yield {"line": line, "code": "mixed",
                   "message": f"line {line}: a torch_cuda source has no need of {name}; kernel_type multi_kernel mixes them"}


def _beside_a_kernel(tree):
    """What a triton source has no use for: modules, and functions that launch."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any("Module" in ast.dump(base) for base in node.bases):
            yield {"line": node.lineno, "code": "unused",
                   "message": f"line {node.lineno}: class {node.name} is not used; of a triton source only the kernel is run"}
        launches = isinstance(node, ast.FunctionDef) and not node.decorator_list and any(
            isinstance(part, ast.Call) and isinstance(part.func, ast.Subscript) for part in ast.walk(node))
        if launches:
            yield {"line": node.lineno, "code": "unused",
                   "message": f"line {node.lineno}: {node.name}() is never called; the grid is the contract's"}


def _device_asserts(tree):
    """They are an option of Triton's for debugging, which is off here as it is by default."""
    lines = [node.lineno for node in ast.walk(tree)
             if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "device_assert"]
    if lines:
        yield {"line": min(lines), "code": "device_assert",
               "message": f"line {min(lines)}: tl.device_assert checks nothing here, as always where Triton's debug option is off"}


def _imports(tree):
    """(package, line) of what is imported; of torch the whole name."""
    for node in ast.walk(tree):
        names = ([alias.name for alias in node.names] if isinstance(node, ast.Import)
                 else [node.module or ""] if isinstance(node, ast.ImportFrom) else [])
        for name in names:
            yield (name if name.startswith("torch") else name.split(".")[0]), node.lineno


def _warnings(tree):
    """What the manual asks of every source and what does no harm: each is said, none refused."""
    for node in tree.body:
        if isinstance(node, ast.If) and "__name__" in _names(node.test):
            yield {"line": node.lineno, "code": "main_guard",
                   "message": f"line {node.lineno}: the `if __name__ == \"__main__\"` block is never run here"}
        value = node.value if isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Call) and _is_execution(node, value, tree):
            yield {"line": node.lineno, "code": "runs_on_import",
                   "message": f"line {node.lineno}: this runs when the source is loaded; keep only definitions"}


def _is_execution(node, call, tree):
    if isinstance(node, ast.Expr):
        return True
    own = {definition.name for definition in tree.body
           if isinstance(definition, (ast.ClassDef, ast.FunctionDef))}
    return bool(own & _names(call.func))


def _names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
