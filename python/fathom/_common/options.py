"""Arguments that calls of many rooms take, checked and turned into what the library takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, Literal, Union

import numpy as np

from .. import _core

Backend = Literal["auto", "cpu", "cuda"]
Metric = Literal["euclidean", "taxicab", "chessboard"]
Spacing = Union[float, Sequence[float], None]
Memory = Union[int, str, None]

_BACKENDS: Mapping[Any, int] = {None: _core.BACKENDS["auto"], **_core.BACKENDS}


def choose(table: Mapping[Any, int], value: Any, name: str) -> int:
    """The number of a named choice."""
    try:
        return table[value]
    except (KeyError, TypeError):
        choices = ", ".join(repr(key) for key in table if key is not None)
        error = ValueError if isinstance(value, str) else TypeError
        raise error(f"{name} is {value!r}; it must be one of {choices}") from None


def check_names(options: Mapping[str, Any], known: type, owner: str) -> None:
    """Refuses options that a TypedDict has not."""
    for name in options.keys() - known.__annotations__.keys():
        raise TypeError(f"there is no option {name!r}; {owner} has {', '.join(known.__annotations__)}")


def backend_number(backend: Any) -> int:
    return choose(_BACKENDS, backend, "backend")


def numbers(value: Any, ndim: int, name: str) -> Sequence[float]:
    """One number for all axes, or one per axis."""
    if isinstance(value, (float, int)):
        return (float(value),)
    if isinstance(value, str):
        raise TypeError(f"{name} must be a number, or one number per axis, not {value!r}")
    try:
        result = tuple(map(float, value)) if np.ndim(value) else (float(value),) * ndim
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, or one number per axis, not {value!r}") from None
    if len(result) != ndim:
        raise ValueError(f"{name} has {len(result)} values; give one number, or one for each of the {ndim} axes")
    return result


def number(value: Any, name: str) -> float:
    try:
        if not isinstance(value, (str, bytes, bool, np.bool_)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name} must be a number, not {value!r}")


def whole(value: Any, name: str) -> int:
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None


def space_rank(ndim: int, array_ndim: int) -> int:
    """How many trailing axes are space."""
    rank = whole(ndim, "ndim")
    if not 1 <= rank <= array_ndim:
        raise ValueError(f"ndim is {rank}; it must be from 1 to the {array_ndim} axes of the array")
    return rank


def thread_count(threads: int | None) -> int:
    if threads is None:
        return 0
    try:
        count = index(threads)
    except TypeError:
        raise TypeError(f"threads must be an integer or None, not {threads!r}") from None
    if count < 1:
        raise ValueError(f"threads is {count}; it must be 1 or more, or None for all processors")
    return min(count, 2**31 - 1)


def byte_count(memory: Memory) -> int | None:
    """Bytes in words, as the command takes them: 4096, "100MB", "4GiB"."""
    if memory is None:
        return None
    if isinstance(memory, str):
        text = memory.strip().upper()
        digits = text.rstrip("BIKMGT")
        unit = text[len(digits) :].removesuffix("B")
        base = 1024 if unit.endswith("I") else 1000
        exponent = "KMGT".find(unit.removesuffix("I")) + 1 if unit else 0
        try:
            if unit and exponent == 0:
                raise ValueError
            return int(float(digits) * base**exponent)
        except (ValueError, OverflowError):
            raise ValueError(
                f"memory is {memory!r}; it must be a number of bytes, or a text as '100MB' or '4GiB'"
            ) from None
    return index(memory)


def device_bytes(device_memory: int | None) -> int | None:
    if device_memory is None:
        return None
    count = index(device_memory)
    if not 0 <= count < 2**63:
        raise ValueError(f"device_memory is {count}; it must be 0 or more bytes, which 64 bits with a sign hold")
    return count
