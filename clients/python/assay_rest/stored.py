"""Contracts and kernels as JSON text and in files."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, List, Union

from .contract import IOContract, KernelCode, Value, plain

Told = Union[Value, Dict[str, Any], List[Any]]
Path = Union[str, "os.PathLike[str]"]
_TYPES: Dict[str, Callable[[Any], Any]] = {
    "IOContract": IOContract.from_dict, "KernelCode": KernelCode.from_dict, "dict": dict}


def to_json(value: Told, pretty: bool = False) -> str:
    return json.dumps(plain(value), indent=2 if pretty else None, ensure_ascii=False)


def save_to_file(value: Told, path: Path, pretty: bool = True) -> None:
    """Whole or not at all: what was there stays until the new text is written."""
    text = to_json(value, pretty)
    beside = f"{os.fspath(path)}.{os.getpid()}.new"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def load_from_file(path: Path, obj_type: str = "IOContract") -> Any:
    """`obj_type`: IOContract, KernelCode or dict."""
    if obj_type not in _TYPES:
        raise ValueError(f"obj_type is one of {', '.join(_TYPES)}, not {obj_type}")
    with open(path, encoding="utf-8") as file:
        return _TYPES[obj_type](json.load(file))
