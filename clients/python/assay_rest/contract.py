"""What a kernel is given and how it is launched, under the names of the wire (schemas/io_contract.json).

Values without behaviour. `to_dict()` is what is sent: what is None is left out, so that the server's defaults hold;
0, False and "" are values and are kept. `from_dict()` reads the same back.
A size is a number, or an expression of int arguments: "ceildiv(n, 256)".
"""

from __future__ import annotations

import base64
import dataclasses
import zlib
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Type, TypeVar, Union

Size = Union[int, str]
Scalar = Union[int, float, str, bool]
T = TypeVar("T", bound="Value")


@dataclass
class Value:
    def to_dict(self) -> Dict[str, Any]:
        told = {}
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if value is not None:
                told[one.name] = plain(value)
        return told

    @classmethod
    def from_dict(cls: Type[T], told: Dict[str, Any]) -> T:
        if not isinstance(told, dict):
            raise TypeError(f"{cls.__name__}: an object was expected, not {type(told).__name__}")
        names = {one.name for one in dataclasses.fields(cls)}
        unknown = sorted(set(told) - names)
        if unknown:
            raise ValueError(f"{cls.__name__} has no {', '.join(unknown)}")
        inner = _INNER.get(cls.__name__, {})
        return cls(**{name: inner[name](value) if name in inner and value is not None else value
                      for name, value in told.items()})


def plain(value: Any) -> Any:
    """What json can write of it."""
    if isinstance(value, Value):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value


@dataclass
class TensorInit(Value):
    """Values that the server makes. The same seed gives the same bytes on every device."""

    kind: str = "randn"  # randn, uniform, zeros, ones, full, arange
    seed: Optional[int] = None
    mean: Optional[float] = None
    std: Optional[float] = None
    low: Optional[float] = None
    high: Optional[float] = None
    fill_value: Optional[Scalar] = None
    start: Optional[float] = None
    step: Optional[float] = None


@dataclass
class TensorData(Value):
    """Values of your own, in C order."""

    data_b64: str
    dtype: Optional[str] = None
    shape: Optional[Sequence[Size]] = None
    compress: str = "none"

    @classmethod
    def of_bytes(cls, data: bytes, dtype: str, shape: Sequence[int], compress: bool = True) -> TensorData:
        packed = zlib.compress(data) if compress else bytes(data)
        return cls(base64.b64encode(packed).decode("ascii"), dtype, list(shape), "zlib" if compress else "none")


@dataclass
class TensorSpec(Value):
    shape: Sequence[Size]
    dtype: str = "float32"
    init: Optional[TensorInit] = None
    data: Optional[TensorData] = None
    strides: Optional[Sequence[Size]] = None  # in elements
    tolerance: Optional[Dict[str, float]] = None  # {"atol": …, "rtol": …} of this output


@dataclass
class ArgSpec(Value):
    name: str
    type: str  # tensor, int, float, bool, str
    value: Optional[Scalar] = None
    tensor_spec: Optional[TensorSpec] = None
    role: str = "input"  # input, output, inout
    is_meta: bool = False  # a constexpr of Triton
    c_type: Optional[str] = None  # of a scalar: int64, size_t, float32, …
    texture: Optional[Dict[str, Any]] = None  # of an input that the kernel takes as cudaTextureObject_t


@dataclass
class LaunchDim(Value):
    x: Size = 1
    y: Size = 1
    z: Size = 1


@dataclass
class LaunchConfig(Value):
    grid: Optional[LaunchDim] = None
    block: Optional[LaunchDim] = None  # cuda only
    shared_mem_bytes: Optional[Size] = None
    num_warps: Optional[Size] = None  # triton only
    num_stages: Optional[Size] = None  # triton only


@dataclass
class IOContract(Value):
    """The arguments in the order of the kernel's parameters."""

    args: List[ArgSpec] = field(default_factory=list)
    launch: Optional[LaunchConfig] = None
    sizes: Optional[Dict[str, Size]] = None


@dataclass
class KernelCode(Value):
    """A kernel: its source here, or a file of the server's, or that of an earlier job."""

    source_code: Optional[str] = None
    kernel_type: Optional[str] = None  # cuda, torch, torch_cuda, triton, multi_kernel
    io: Union[IOContract, str, None] = None  # or the name of a contract that the server stores
    metadata: Optional[Dict[str, Any]] = None
    source_file: Optional[str] = None
    job_id: Optional[str] = None


def _launch_dim(told: Any) -> LaunchDim:
    """{x, y, z}, [x, y, z] or x."""
    if isinstance(told, dict):
        return LaunchDim.from_dict(told)
    return LaunchDim(*told) if isinstance(told, (list, tuple)) else LaunchDim(told)


# What is inside of what, for from_dict().
_INNER: Dict[str, Dict[str, Any]] = {
    "TensorSpec": {"init": TensorInit.from_dict, "data": TensorData.from_dict},
    "ArgSpec": {"tensor_spec": TensorSpec.from_dict},
    "LaunchConfig": {"grid": _launch_dim, "block": _launch_dim},
    "IOContract": {"args": lambda told: [ArgSpec.from_dict(one) for one in told], "launch": LaunchConfig.from_dict},
    "KernelCode": {"io": lambda told: told if isinstance(told, str) else IOContract.from_dict(told)},
}
