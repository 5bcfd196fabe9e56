"""One Triton kernel of a source, compiled to PTX. Nothing is launched: no GPU is asked, no assembler is run (it would
be a process of its own), nothing is written to a cache. What comes out is a claim like all that this process says:
another process runs the PTX, and a third one judges what it computed."""

import dis
import inspect
import re
import warnings

import torch
import triton
from triton._C.libtriton import ir
from triton.backends.compiler import BaseBackend, GPUTarget
from triton.compiler.compiler import ASTSource, make_backend
from triton.compiler.errors import CompilationError
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction, mangle_type

from assay_runner import available, calls, device_facts, triton_tuning
from assay_runner.failure import Located, Refused
from assay_runner.memory import torch_dtype

_PTX_VERSION = 80
_BLACKWELL, _BLACKWELL_PTX_VERSION = 100, 87  # which no older PTX knows
_DEFAULT_WARPS = 4
_WARPS = (1, 2, 4, 8, 16, 32)
_DEFAULT_STAGES = 3
_TOLD_CHOICES = 16
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")  # of a launch, which stands beside its metas
_C_TYPES = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "int8": "i8", "int16": "i16",
            "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}


class Kernel:
    """A @triton.jit function and what is wrapped around it."""

    def __init__(self, name, decorated):
        self.name = name
        self.configs = []
        self.tuners = []
        self.heuristics = []
        self.hooks = False
        while not isinstance(decorated, JITFunction):
            if isinstance(decorated, Autotuner):
                self.configs += decorated.configs
                self.tuners.append(decorated)
                self.hooks |= bool(decorated.reset_to_zero or decorated.restore_value
                                   or getattr(decorated, "user_defined_pre_hook", False))
            elif isinstance(decorated, Heuristics):
                self.heuristics += decorated.values.items()
            decorated = decorated.fn
        self.function = decorated
        self.names = [parameter.name for parameter in decorated.params]


def find(source, wanted):
    """The kernel called `wanted`; without a name the first that no other kernel uses."""
    kernels = [Kernel(name, value) for name, value in vars(source.module).items()
               if _is_kernel(value) and _inner(value).__module__ == source.module.__name__]
    if wanted:
        for kernel in kernels:
            if kernel.name == wanted:
                return kernel
    names = [kernel.name for kernel in kernels]
    if not kernels:
        raise Refused("target", "No @triton.jit kernels found: the source must define one at module level, decorated "
                      "with @triton.jit. " + source.available())
    if wanted:
        raise Refused("target", f"Kernel '{wanted}' not found. Available: [{available.listed(names)}]"
                      + available.nearest(wanted, names), available=names[:available.MOST_NAMES])
    used = {name for kernel in kernels for name in _globals_of(kernel.function.fn.__code__)}
    handed = [value for kernel in kernels for value in _handed_to(kernel)]
    return next((kernel for kernel in kernels if kernel.name not in used and all(kernel.function is not one for one in handed)), kernels[0])


def _handed_to(kernel):
    """What it has as defaults and from its configurations: among it functions that it calls."""
    return [parameter.default for parameter in kernel.function.params] + [
        value for config in kernel.configs for value in config.kwargs.values()]


def _globals_of(code):
    """Names that are looked up as such: `tl.load` is no use of a kernel called load."""
    return {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def _is_kernel(value):
    return isinstance(value, (JITFunction, Autotuner, Heuristics)) and isinstance(_inner(value), JITFunction)


def _inner(value):
    while isinstance(value, (Autotuner, Heuristics)):
        value = value.fn
    return value


def compile_kernel(source, body):
    """The reply to {kernel_name, arguments, arch, max_shared_bytes, num_warps?, num_stages?}, and the PTX."""
    kernel = find(source, body["kernel_name"])
    arguments = body["arguments"]
    body = {**body, **_options(kernel, body)}
    bound = _bind(kernel, arguments)
    values = {name: _value(arguments[index]) for name, index in bound.items()}
    metas = {name for name, index in bound.items() if arguments[index]["is_meta"]}
    config, built, passed_over = triton_tuning.first_that_fits(
        triton_tuning.candidates(kernel, values, metas), body["max_shared_bytes"],
        lambda config: _build(source, kernel, (bound, dict(values)), config, body))
    made = built.made
    reply = {"type": "compiled", "kernel": kernel.name, "entry": made["name"], "passed": built.passed,
             "scratch": _parameters(built.ptx) - len(built.passed), "shared_bytes": made["shared"],
             "num_warps": made["num_warps"], "num_stages": built.launch["num_stages"],
             "metas": {name: _shown(value) for name, value in built.constants.items()},
             "configurations": len(kernel.configs), "chosen": triton_tuning.place(kernel, config),
             "choices": [_described(one, body) for one in kernel.configs[:_TOLD_CHOICES]],
             "passed_over": [{"choice": triton_tuning.place(kernel, one), "why": why} for one, why in passed_over],
             "needs": _needs(made) + _needed_hook(config), "hooks": kernel.hooks,
             "warnings": source.warnings[:20], "triton": triton.__version__}
    return reply, built.ptx


class _Built:
    """One configuration, compiled."""

    def __init__(self, launch, constants, passed):
        self.launch = launch
        self.constants = constants
        self.passed = passed
        self.ptx, self.made = "", {}

    @property
    def shared_bytes(self):
        return self.made["shared"]


def _build(source, kernel, given, config, body):
    bound, values = given
    launch = _launch_of(config, body)
    values.update(config.kwargs if config else {})
    _decide(kernel, values, launch, body)
    _complete(kernel, values)
    signature, constants, attributes, passed = _specialise(kernel, body["arguments"], bound, values)
    built = _Built(launch, constants, passed)
    try:
        built.ptx, built.made = _lower(kernel.function, signature, constants, attributes, launch, body["arch"])
    except CompilationError as error:
        raise _located(error, source) from error
    return built


def _decide(kernel, values, launch, body):
    """What @triton.heuristics makes of the arguments: metas, and options of the launch."""
    for name, make in kernel.heuristics:
        value = make({**values, **launch})
        if name not in _OPTIONS or name in kernel.names:
            values[name] = value
            continue
        _check_option(name, value, "value of the heuristics for")
        if body.get(name) and body[name] != value:
            raise Refused("arity", f"{name} is {body[name]} in the contract and {value} by the kernel's heuristics")
        launch[name] = value


def _options(kernel, body):
    """What the contract's metas say of the launch: kernel[grid](..., num_warps=8)."""
    options = {}
    for item in body["arguments"]:
        name = item["name"]
        if not _is_option(kernel, item):
            continue
        value = calls.scalar(item)
        _check_option(name, value, "meta")
        if body.get(name) and body[name] != value:
            raise Refused("arity", f"{name} is {body[name]} in launch and {value} among the metas")
        options[name] = value
    return options


def _check_option(name, value, what):
    if type(value) is not int or value < 1:
        raise Refused("arity", f"The {what} '{name}' is an option of the launch, and {value!r} is none")
    if name == "num_warps" and value not in _WARPS:
        raise Refused("arity", f"num_warps is {value}; it must be a power of two up to {_WARPS[-1]}")


def _is_option(kernel, item):
    return item["is_meta"] and item["name"] in _OPTIONS and item["name"] not in kernel.names


def _bind(kernel, arguments):
    """{parameter: argument}, as kernel[grid](*plain, **metas) would, or by name where all names are parameters."""
    names = kernel.names
    given = [(index, item) for index, item in enumerate(arguments) if not _is_option(kernel, item)]
    if all(item["name"] in names for _, item in given):
        return {item["name"]: index for index, item in given}
    bound = {}
    for index, item in given:
        if item["is_meta"]:
            if item["name"] not in names:
                raise Refused("arity", f"Kernel '{kernel.name}' has no parameter '{item['name']}' for that meta; it takes "
                              f"({', '.join(names)})")
            bound[item["name"]] = index
    plain = [index for index, item in enumerate(arguments) if not item["is_meta"]]
    free = [p.name for p in kernel.function.params if p.name not in bound and not p.is_constexpr]
    if len(plain) > len(free):
        free = [name for name in names if name not in bound]
    if len(plain) > len(free):
        raise Refused("arity", f"Kernel '{kernel.name}' takes {len(names)} arguments ({', '.join(names)}), the contract "
                      f"gives {len(arguments)}")
    bound.update(zip(free, plain))
    return bound


def _value(item):
    if item["type"] == "tensor":
        return device_facts.described(item["shape"], torch_dtype(item["dtype"]))
    return calls.scalar(item)


def _launch_of(config, body):
    launch = {"num_warps": body.get("num_warps") or (config.num_warps if config else _DEFAULT_WARPS),
              "num_stages": body.get("num_stages") or (config.num_stages if config else _DEFAULT_STAGES)}
    for name in ("num_ctas", "maxnreg"):
        if value := body.get(name) or getattr(config, name, None):
            launch[name] = value
    return launch


def _described(config, body):
    launch = _launch_of(config, body)
    return {"metas": {name: _shown(value) for name, value in config.kwargs.items()},
            "num_warps": launch["num_warps"], "num_stages": launch["num_stages"]}


def _complete(kernel, values):
    """Defaults, and what is still missing."""
    missing = []
    for parameter in kernel.function.params:
        if parameter.name in values:
            continue
        default = parameter.default
        if default is inspect.Parameter.empty:
            missing.append(parameter.name)
        else:
            values[parameter.name] = default
    if missing:
        raise Refused("arity", f"Kernel '{kernel.name}' takes ({', '.join(kernel.names)}); the contract has no argument "
                      f"for {', '.join(missing)}")


def _specialise(kernel, arguments, bound, values):
    """As Triton does for a launch: ones are folded, multiples of 16 are told."""
    signature, constants, attributes, passed = {}, {}, {}, []
    for number, parameter in enumerate(kernel.function.params):
        name, value = parameter.name, values[parameter.name]
        item = arguments[bound[name]] if name in bound else {}
        kind = "constexpr" if parameter.is_constexpr or value is None else _type_of(parameter, item, value)
        if parameter.is_constexpr and isinstance(value, torch.Tensor):
            raise Refused("arity", f"'{name}' is a tl.constexpr of '{kernel.name}'; the contract gives a tensor")
        if kind == "constexpr":
            constants[name] = value
        elif name not in bound:
            raise Refused("arity", f"'{name}' of '{kernel.name}' is a plain argument without one in the contract")
        else:
            passed.append(bound[name])
            if _is_aligned(parameter, value):
                attributes[(number,)] = BaseBackend.parse_attr("D")
        signature[name] = kind
    return signature, constants, attributes, passed


def _type_of(parameter, item, value):
    if isinstance(value, torch.Tensor):
        return mangle_type(torch.empty(0, dtype=value.dtype))
    if isinstance(value, str):
        raise Refused("arity", f"'{parameter.name}' is a text: only a tl.constexpr may be one")
    stated = item.get("c_type")
    if parameter.annotation_type:
        return parameter.annotation_type
    if stated in _C_TYPES:
        return _C_TYPES[stated]
    if value == 1 and type(value) is int and not parameter.do_not_specialize:
        return "constexpr"
    return mangle_type(value)


def _is_aligned(parameter, value):
    if parameter.do_not_specialize or getattr(parameter, "do_not_specialize_on_alignment", False):
        return False
    return isinstance(value, torch.Tensor) or type(value) is int and value % 16 == 0


def _lower(function, signature, constants, attributes, launch, arch):
    """Triton's own stages, up to PTX."""
    target = GPUTarget("cuda", arch, 32)
    backend = make_backend(target)
    source = ASTSource(function, signature, constants, attributes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The version is given: Triton would run the assembler to ask for it.
        options = backend.parse_options({**launch, "ptx_version": _BLACKWELL_PTX_VERSION if arch >= _BLACKWELL else _PTX_VERSION})
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        stages = {}
        backend.add_stages(stages, options, source.language)
        made = {"target": target, **vars(options)}
        module = source.make_ir(target, options, backend.get_codegen_implementation(options),
                                backend.get_module_map(), context)
        for name, stage in stages.items():
            if name == "cubin":
                break
            module = stage(module, made)
    return (module if isinstance(module, str) else bytes(module).decode()), made


def _parameters(ptx):
    head = re.search(r"\.entry\s[^(]*\(([^)]*)\)", ptx)
    return head.group(1).count(".param") if head else 0


def _needs(made):
    """What a plain launch does not give."""
    needs = []
    if made.get("global_scratch_size"):
        needs.append(f"{made['global_scratch_size']} bytes of scratch memory")
    if made.get("num_ctas", 1) > 1:
        needs.append(f"clusters of {made['num_ctas']} blocks")
    if made.get("launch_cooperative_grid"):
        needs.append("a cooperative launch")
    return needs


def _needed_hook(config):
    """Triton runs it before every launch of that configuration, tuning or not."""
    if config is None or not config.pre_hook:
        return []
    return ["the pre_hook of its configuration (host code before each launch: in a multi_kernel script it runs; or leave it out "
            "and give what it zeroes an init in the contract)"]


def _shown(value):
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)[:100]


def _located(error, source):
    """Where in the user's own text the compiler stopped, and its words: the innermost place that is the user's."""
    place, words = None, error.error_message
    while isinstance(error, CompilationError):
        line = _first_line(error.src, source)
        if line is not None and hasattr(error.node, "lineno"):
            place = (line + error.node.lineno - 1, getattr(error.node, "col_offset", 0))
        words = error.error_message or words
        last, error = error, error.__cause__
    if error is not None:
        words = f"{type(error).__name__}: {error}"
    line, column = place or (0, 0)
    return Located(type(last).__name__, words or str(last), line, column + 1)


def _first_line(text, source):
    """The line of the file where the `def` stands whose text this is."""
    for value in vars(source.module).values():
        function = _inner(value)
        if isinstance(function, JITFunction) and function.src == text:
            if function.__module__ != source.module.__name__:
                return None
            lines, first = function.raw_src, function.starting_line_number
            return first + next((i for i, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
    return None
