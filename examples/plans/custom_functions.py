"""A custom generator and a custom assertion for plans, by the prototypes of docs/plans.md."""

import struct
from typing import Any, Dict, NamedTuple


class AssertionResult(NamedTuple):
    ok: bool
    details: str = ""
    metrics: Dict[str, Any] = {}


def ramp(*, input_paths, shapes, dtypes, params, seed, constants, rng):
    """Each input counts up from params.start: i-th element start + i."""
    for path, shape in zip(input_paths, shapes["inputs"]):
        count = 1
        for extent in shape:
            count *= extent
        with open(path, "wb") as file:
            file.write(struct.pack(f"<{count}f", *(params.get("start", 0) + i for i in range(count))))


def same_sum(*, input_paths, output_paths, shapes, dtypes, output_dtypes, params, rtol, atol, metric):
    """The output has the sum of the first input."""
    with open(input_paths[0], "rb") as file:
        want = sum(value for value, in struct.iter_unpack("<f", file.read()))
    with open(output_paths[0], "rb") as file:
        got = sum(value for value, in struct.iter_unpack("<f", file.read()))
    return AssertionResult(abs(got - want) <= atol + rtol * abs(want), f"sum {got}, wanted {want}", {"difference": got - want})
