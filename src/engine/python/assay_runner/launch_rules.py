"""What Triton's launcher refuses and its interpreter does not look at: options of a launch, its grid, a kernel that is called
like a function. Triton's own words where it has some, raised where the source launches."""

import functools
import importlib
import warnings

_ARCH = 100  # with all that any has: what only some devices take is for them to say
_THREADS = 1024  # of a block
_MOST = (2 ** 31 - 1, 65535, 65535)  # blocks in x, y and z
_OWN = ("debug", "instrumentation_mode", "fpsan_homomorphic_casts")  # that Triton adds itself


def install(interpreter):
    """From here on kernels of this module (triton.runtime.interpreter) are launched by its compiler's rules. False where this
    version of it, or of the compiler, has no place for that."""
    try:
        compiler = importlib.import_module("triton.backends.nvidia.compiler")
        target = importlib.import_module("triton.backends.compiler").GPUTarget("cuda", _ARCH, 32)
        parse = compiler.CUDABackend(target).parse_options
        with warnings.catch_warnings():  # what it says once is not of the source
            warnings.simplefilter("ignore")
            parse({})
        refused = importlib.import_module("triton.runtime.errors").OutOfResources
        kernel, executor = interpreter.InterpretedFunction, interpreter.GridExecutor
        run, called, execute = kernel.run, kernel.__call__, executor.__call__
    except (ImportError, AttributeError, TypeError):
        return False
    running = []

    def run_by_the_rules(self, *arguments, grid, warmup, **named):
        options = vars(parse(dict(named)))
        for name in named:
            if name not in options and name not in self.arg_names and name not in _OWN:
                raise KeyError(f"Keyword argument {name} was specified but unrecognised")
        if options.get("num_warps", 1) * 32 > _THREADS:
            raise refused(options["num_warps"] * 32, _THREADS, "threads")
        return run(self, *arguments, grid=_checked(grid), warmup=warmup, **named)

    def execute_noted(self, *arguments, **named):
        running.append(self)
        try:
            return execute(self, *arguments, **named)
        finally:
            running.pop()

    def call_in_a_kernel(self, *arguments, **named):
        if not running and not str(getattr(self.fn, "__module__", "")).startswith("triton"):
            raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")
        return called(self, *arguments, **named)

    kernel.run = functools.wraps(run)(run_by_the_rules)
    kernel.__call__ = functools.wraps(called)(call_in_a_kernel)
    executor.__call__ = functools.wraps(execute)(execute_noted)
    return True


def _checked(grid):
    """The grid as the interpreter takes it: a tuple, of as many blocks as a device launches."""
    if callable(grid):
        return lambda values: _checked(grid(values))
    if not isinstance(grid, (list, tuple)):
        return grid  # which it refuses
    for blocks, most in zip(grid, _MOST):
        if not isinstance(blocks, float) and blocks > most:
            raise RuntimeError(f"Triton Error [CUDA]: invalid argument: a grid of {tuple(grid)} has more blocks in one direction than "
                               f"the {most} of a device")
    return tuple(grid)
