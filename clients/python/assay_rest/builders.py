"""Contracts in the manner of the manual: specs of tensors, and a builder that is called in a chain.

The builder checks what it can see at once: no name twice, an int that is an int. All else is the server's to say
(InvalidRequest, with the place), so that there is one set of rules.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from .contract import ArgSpec, IOContract, LaunchConfig, LaunchDim, Scalar, Size, TensorInit, TensorSpec

_PYTHON_TYPES = {"int": (int, str), "float": (int, float, str), "bool": (bool,), "str": (str,)}


def create_tensor_spec(shape: Sequence[Size], dtype: str = "float32", init_kind: Optional[str] = None,
                       seed: Optional[int] = None, **init: Any) -> TensorSpec:
    """Any spec; the others below are this one with a kind."""
    if init_kind is None:
        if seed is not None or init:
            raise ValueError("values of an initialisation were given without init_kind")
        return TensorSpec(list(shape), dtype)
    return TensorSpec(list(shape), dtype, TensorInit(kind=init_kind, seed=seed, **init))


def create_randn_spec(shape: Sequence[Size], dtype: str = "float32", seed: Optional[int] = None, mean: float = 0.0,
                      std: float = 1.0) -> TensorSpec:
    return create_tensor_spec(shape, dtype, "randn", seed, mean=mean, std=std)


def create_uniform_spec(shape: Sequence[Size], dtype: str = "float32", seed: Optional[int] = None, low: float = 0.0,
                        high: float = 1.0) -> TensorSpec:
    return create_tensor_spec(shape, dtype, "uniform", seed, low=low, high=high)


def create_zeros_spec(shape: Sequence[Size], dtype: str = "float32") -> TensorSpec:
    return create_tensor_spec(shape, dtype, "zeros")


def create_ones_spec(shape: Sequence[Size], dtype: str = "float32") -> TensorSpec:
    return create_tensor_spec(shape, dtype, "ones")


def create_full_spec(shape: Sequence[Size], fill_value: Scalar, dtype: str = "float32") -> TensorSpec:
    return create_tensor_spec(shape, dtype, "full", fill_value=fill_value)


def create_arange_spec(shape: Sequence[Size], dtype: str = "float32", start: float = 0.0,
                       step: float = 1.0) -> TensorSpec:
    return create_tensor_spec(shape, dtype, "arange", start=start, step=step)


class IOContractBuilder:
    """Arguments in the order of the kernel's parameters, then the launch, then build()."""

    def __init__(self) -> None:
        self._args: List[ArgSpec] = []
        self._launch = LaunchConfig()
        self._sizes: Dict[str, Size] = {}

    def add_input_tensor(self, name: str, tensor_spec: TensorSpec,
                         texture: Optional[Dict[str, Any]] = None) -> IOContractBuilder:
        return self._add(ArgSpec(name, "tensor", tensor_spec=tensor_spec, texture=texture))

    def add_output_tensor(self, name: str, shape: Sequence[Size], dtype: str = "float32",
                          tolerance: Optional[Dict[str, float]] = None) -> IOContractBuilder:
        return self._add(ArgSpec(name, "tensor", role="output",
                                 tensor_spec=TensorSpec(list(shape), dtype, tolerance=tolerance)))

    def add_inout_tensor(self, name: str, tensor_spec: TensorSpec) -> IOContractBuilder:
        return self._add(ArgSpec(name, "tensor", role="inout", tensor_spec=tensor_spec))

    def add_scalar(self, name: str, type: str, value: Scalar, c_type: Optional[str] = None) -> IOContractBuilder:
        if type not in _PYTHON_TYPES:
            raise ValueError(f"{name}: a scalar is one of {', '.join(_PYTHON_TYPES)}, not {type}")
        is_bool_elsewhere = isinstance(value, bool) and type != "bool"
        if is_bool_elsewhere or not isinstance(value, _PYTHON_TYPES[type]):
            raise TypeError(f"{name}: {value!r} is no {type}")
        return self._add(ArgSpec(name, type, value=value, c_type=c_type))

    def add_meta_param(self, name: str, value: int) -> IOContractBuilder:
        """A constexpr of a Triton kernel."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name}: {value!r} is no int")
        return self._add(ArgSpec(name, "int", value=value, is_meta=True))

    def set_size(self, name: str, value: Size) -> IOContractBuilder:
        """A name for shapes and launch that is no argument."""
        self._sizes[name] = value
        return self

    def set_launch_config(self, launch_config: LaunchConfig) -> IOContractBuilder:
        self._launch = launch_config
        return self

    def set_grid(self, x: Size, y: Size = 1, z: Size = 1) -> IOContractBuilder:
        self._launch.grid = LaunchDim(x, y, z)
        return self

    def set_block(self, x: Size, y: Size = 1, z: Size = 1) -> IOContractBuilder:
        self._launch.block = LaunchDim(x, y, z)
        return self

    def set_shared_mem_bytes(self, size: Size) -> IOContractBuilder:
        self._launch.shared_mem_bytes = size
        return self

    def set_num_warps(self, count: int) -> IOContractBuilder:
        self._launch.num_warps = count
        return self

    def set_num_stages(self, count: int) -> IOContractBuilder:
        self._launch.num_stages = count
        return self

    def build(self) -> IOContract:
        launch = self._launch if self._launch.to_dict() else None
        return IOContract(list(self._args), launch, dict(self._sizes) or None)

    def _add(self, arg: ArgSpec) -> IOContractBuilder:
        if any(one.name == arg.name for one in self._args):
            raise ValueError(f"there is an argument {arg.name} already")
        self._args.append(arg)
        return self
