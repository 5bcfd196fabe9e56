"""load_inline of a torch_cuda source, built by the engine: the host half by a C++ compiler with torch's headers compiled
ahead, the device half by the engine's own compiler. See docs/python.md."""

import _ctypes
import ctypes
import importlib.machinery
import importlib.util
import inspect
import os
import shutil

from assay_runner import emulated
from assay_runner.failure import Refused


class Extensions:
    """Those of one source. `ask(body)` puts a question to the engine: (its answer, the bytes with it)."""

    def __init__(self, ask, text, file, on_gpu):
        self._ask = ask
        self._text = text
        self._file = file
        self._on_gpu = on_gpu
        self._torchs_own = None
        self._kept = []  # libraries and the files they came from
        self.built = []  # how each came to be, for the report

    def install(self):
        """From here on the source's load_inline is ours."""
        # Not in a zygote with a torch for CUDA: importing it asks the driver, which no fork survives.
        from torch.utils import cpp_extension
        self._torchs_own = cpp_extension.load_inline
        cpp_extension.load_inline = self.load_inline
        if not self._on_gpu:
            cpp_extension.load = self._refuse_load

    def load_inline(self, *arguments, **named):
        """As torch's, which it falls back to on a GPU. What is missing of it is said in the manual's words."""
        self._refuse_unknown(named)
        try:
            given = inspect.signature(self._built).bind(*arguments, **named)
        except TypeError as error:
            raise TypeError(f"Failed to extract CUDA kernel: load_inline() {error}") from None
        return self._built(*given.args, **given.kwargs)

    def _built(self, name, cpp_sources, cuda_sources=None, functions=None, extra_cflags=None,
               extra_cuda_cflags=None, extra_ldflags=None, extra_include_paths=None, **more):
        from torch.utils import cpp_extension
        if not any(text.strip() for text in _texts(cuda_sources) + _texts(cpp_sources)):
            raise ValueError("Failed to extract CUDA kernel: load_inline() was given no text")
        answer, blob = self._ask({
            "type": "build", "name": str(name), "cuda": self._placed(cuda_sources), "cpp": self._placed(cpp_sources),
            "functions": _names(functions), "cxx_flags": _texts(extra_cflags), "cuda_flags": _texts(extra_cuda_cflags),
            "ld_flags": [flag for flag in _texts(extra_ldflags) if flag.strip()] + [f"-I{path}" for path in _texts(extra_include_paths)]})
        if answer["ok"]:
            loaded, answer = self._load(str(name), blob, more.get("is_python_module", True))
            if loaded is not None:
                return loaded
        if not self._on_gpu or not answer.get("fall_back"):
            raise RuntimeError(answer["message"])
        if not _has_nvcc(cpp_extension.CUDA_HOME):
            raise Refused("device_unsupported", answer["message"].rstrip(".") + "; and that build needs CUDA's compiler (nvcc), "
                          "which is not on this machine", missing="nvcc")
        self.built.append({"name": str(name), "by": "load_inline", "why": answer["message"]})
        return self._torchs_own(name, cpp_sources, cuda_sources, functions=functions, extra_cflags=extra_cflags,
                                extra_cuda_cflags=extra_cuda_cflags, extra_ldflags=extra_ldflags,
                                extra_include_paths=extra_include_paths, **more)

    def _refuse_unknown(self, named):
        """What torch's own would not take either: a misspelt cuda_sources must not build an extension without kernels."""
        known = inspect.signature(self._torchs_own).parameters
        for name in named:
            if name not in known:
                raise TypeError(("No cuda_sources found: " if name.startswith("cuda_so") else "")
                                + f"load_inline() got an unexpected keyword argument '{name}'")

    def _refuse_load(self, *_arguments, **_more):
        raise Refused("device_unsupported", "torch.utils.cpp_extension.load builds from files, and there are none here: use "
                      "load_inline")

    def _load(self, name, blob, is_module):
        """(the module or None, the engine's last answer). Of what is none, whose operators are registered as it is loaded,
        the path, as torch has it."""
        file = os.memfd_create(name)
        with open(file, "wb", closefd=False) as out:
            out.write(blob)
        path = f"/proc/self/fd/{file}"
        try:
            wrapper = ctypes.CDLL(path)
        except OSError as error:
            raise RuntimeError(self._unloadable(str(error))) from None
        wrapper.assay_kernel_name.restype = ctypes.c_char_p
        wrapper.assay_kernel_name.argtypes = (ctypes.c_size_t,)
        names = [wrapper.assay_kernel_name(index).decode() for index in range(wrapper.assay_kernel_count())]
        variables = _variables(wrapper) if self._on_gpu else []  # without one, kernels say where they lie
        answer, code = self._ask({"type": "kernels", "names": names, "variables": variables})
        if not answer["ok"]:
            # What it registered with torch is registered again by torch's own build of it.
            _ctypes.dlclose(wrapper._handle)
            os.close(file)
            return None, answer
        entries = [answer["lowered"][named] for named in names + variables]
        if self._on_gpu:
            _load_on_gpu(wrapper, entries, code)
        else:
            emulated.attach(wrapper, entries, code, not self._kept)
        self._kept.append((wrapper, code, file))
        self.built.append({"name": name, "by": "assay", "kernels": len(names)})
        if not is_module:
            return path, answer  # not to torch.ops.load_library: that takes files which bear their names
        loader = importlib.machinery.ExtensionFileLoader(name, path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
        loader.exec_module(module)
        return module, answer

    def _unloadable(self, text):
        _, found, symbol = text.partition("undefined symbol: ")
        if found and symbol.startswith(("cuda", "cu")) and not self._on_gpu:
            raise Refused("device_unsupported", f"The host code calls {symbol}, which has no stand-in on the CPU")
        if not found:
            return f"the built library cannot be loaded: {text}"
        name = _demangled(symbol)
        if name.startswith(("at::cuda::", "c10::cuda::")) and not self._on_gpu:
            raise Refused("device_unsupported", f"The host code uses {name}, which has no stand-in on the CPU")
        return f"{name} is declared and used, and neither the sources nor torch define it"

    def _placed(self, sources):
        """Each text with the line of the file it stands at, or 0 if it does not stand there as it is."""
        return [{"text": text, "line": self._line(text)} for text in _texts(sources)]

    def _line(self, text):
        at = self._text.find(text) if text.strip() else -1
        return self._text.count("\n", 0, at) + 1 if at >= 0 else 0


def _demangled(symbol):
    """A name as C++ has it."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return symbol
    demangle.restype = ctypes.c_void_p  # the library's to free; the process ends soon
    text = demangle(symbol.encode(), None, None, None)
    return ctypes.string_at(text).decode(errors="replace") if text else symbol


def _variables(wrapper):
    """Of the device, as its compiler takes their names."""
    wrapper.assay_variable_name.restype = ctypes.c_char_p
    wrapper.assay_variable_name.argtypes = (ctypes.c_size_t,)
    return ["&" + wrapper.assay_variable_name(number).decode() for number in range(wrapper.assay_variable_count())]


def _load_on_gpu(wrapper, entries, cubin):
    wrapper.assay_load_kernels.restype = ctypes.c_char_p
    lowered = (ctypes.c_char_p * (len(entries) + 1))(*(entry.encode() for entry in entries), None)
    failure = wrapper.assay_load_kernels(cubin, lowered)
    if failure is not None:
        raise RuntimeError(failure.decode(errors="replace"))


def _has_nvcc(home):
    """Where torch looks for it."""
    named = os.environ.get("PYTORCH_NVCC")
    return bool(named or shutil.which("nvcc") or (home and os.path.exists(os.path.join(home, "bin", "nvcc"))))


def _texts(value):
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(one) for one in value]


def _names(functions):
    """None: the source binds its functions itself."""
    if functions is None:
        return None
    if isinstance(functions, dict):
        return [str(name) for name in functions]
    return _texts(functions)
