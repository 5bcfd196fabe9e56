"""What a source with kernels hears of a device where its process has none: of the one it is compiled for, or of one that
runs the same instructions. Only facts: what works on a device still says that there is none."""

import ast
import types

import torch

_EMULATED = 89  # of what Triton compiles
_RUNTIMES = 90
_NO_DEVICE = "0 active drivers: there is no GPU in this process"
_ASKED = ("get_device_properties", "get_device_name", "multi_processor_count", "get_num_sms")
# arch: a device, its multiprocessors, GiB of memory, MiB of L2, threads and KiB of shared memory of a multiprocessor
_KNOWN = {75: ("Tesla T4", 40, 16, 4, 1024, 64), 80: ("NVIDIA A100-SXM4-80GB", 108, 80, 40, 2048, 164),
          86: ("NVIDIA A10", 72, 24, 6, 1536, 100), 89: ("NVIDIA L40S", 142, 48, 96, 1536, 100),
          90: ("NVIDIA H200", 132, 141, 50, 2048, 228), 100: ("NVIDIA B200", 148, 180, 126, 2048, 228),
          120: ("NVIDIA RTX PRO 6000 Blackwell Server Edition", 188, 96, 128, 1536, 100)}

_assumed = []  # the properties of a device that nobody named


class _Properties(types.SimpleNamespace):
    """As torch.cuda.get_device_properties() gives them."""

    def __getattr__(self, name):
        raise AttributeError(f"no property {name} is known. {_NO_DEVICE}")


class _Said(dict):
    """As Triton's driver gives them."""

    def __missing__(self, name):
        raise KeyError(f"no property {name} is known. {_NO_DEVICE}")


class _Driver:
    """Triton's driver, as far as it says what there is."""

    def __init__(self, arch, properties, device):
        self._arch = arch
        self._device = device
        said = {"max_shared_mem": properties.shared_memory_per_block_optin, "max_num_regs": properties.regs_per_multiprocessor,
                "multiprocessor_count": properties.multi_processor_count, "warpSize": properties.warp_size}
        self.utils = types.SimpleNamespace(get_device_properties=lambda _device: _Said(said))

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget
        return GPUTarget("cuda", self._arch, 32)

    def get_active_torch_device(self):
        return torch.device(self._device)

    def get_current_device(self):
        return 0

    def get_device_interface(self):
        return torch.cuda

    def __getattr__(self, name):
        raise AttributeError(f"{name}: {_NO_DEVICE}")


class _Described(torch.Tensor):
    """A tensor of the device without contents: what it says of itself is said, what would read it needs a device."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function in _OF_TENSORS:
            return _OF_TENSORS[function]
        try:
            return super().__torch_function__(function, types, args, kwargs)
        except (RuntimeError, TypeError) as error:
            if "meta" not in str(error):
                raise
            raise RuntimeError("what a tensor holds is not known when a kernel is compiled, only its shape, strides and "
                               f"dtype. {_NO_DEVICE}") from error


_OF_TENSORS = {torch.Tensor.device.__get__: torch.device("cuda", 0), torch.Tensor.is_cuda.__get__: True,
               torch.Tensor.is_meta.__get__: False, torch.Tensor.get_device: 0}


def described(shape, dtype):
    """What pruning and heuristics get for a tensor of the contract."""
    return torch.empty(shape, dtype=dtype, device="meta").as_subclass(_Described)


def answer_for(arch, max_shared_bytes, device):
    """Where a kernel is compiled for `arch`; `device`: what the engine knows of the one that will run it, or nothing."""
    _answer(arch, _properties(arch, max_shared_bytes, device), torch.device("cuda", 0))
    torch.cuda.current_device = lambda: 0


def answer_on_cpu():
    """Where a script's kernels are interpreted: its tensors are the CPU's, and so is the device to make them on."""
    _answer(_EMULATED, _properties(_EMULATED, 99 << 10, {}), torch.device("cpu"))


def answer_beside_launches():
    """Where the host half of a torch_cuda source runs on the emulator: as its runtime answers (wrapper/cpu_runtime.h)."""
    _answer_in_torch(_properties(_RUNTIMES, 227 << 10, {}))


def _answer(arch, properties, device):
    from triton.runtime import driver
    driver.set_active(_Driver(arch, properties, device))
    _answer_in_torch(properties)


def _answer_in_torch(properties):
    torch.cuda.get_device_properties = lambda device=None: properties
    torch.cuda.get_device_capability = lambda device=None: (properties.major, properties.minor)
    torch.cuda.get_device_name = lambda device=None: properties.name


def _properties(arch, max_shared_bytes, device):
    nearest = max((known for known in _KNOWN if known <= arch), default=min(_KNOWN))
    name, multiprocessors, gib, l2, threads, shared = _KNOWN[nearest]
    properties = _Properties(
        name=device.get("name", name), major=arch // 10, minor=arch % 10, total_memory=device.get("memory_bytes", gib << 30),
        multi_processor_count=device.get("multiprocessors", multiprocessors), warp_size=32,
        max_threads_per_multi_processor=threads, regs_per_multiprocessor=65536, shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=max_shared_bytes, shared_memory_per_multiprocessor=shared << 10,
        L2_cache_size=device.get("l2_bytes", l2 << 20), is_integrated=0, is_multi_gpu_board=0)
    _assumed[:] = [] if device else [properties]
    return properties


def warnings(tree):
    """Of a source that asks for what only a device could say."""
    for node in ast.walk(tree) if _assumed else ():
        if isinstance(node, ast.Attribute) and node.attr in _ASKED:
            yield {"line": node.lineno, "code": "assumed_device", "message":
                   f"line {node.lineno}: there is no GPU to ask: what it is told is true of a device called "
                   f"{_assumed[0].name} ({_assumed[0].multi_processor_count} multiprocessors)"}
            return
