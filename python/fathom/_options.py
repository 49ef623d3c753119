"""Arguments of the native calls, checked and turned into what the library takes."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from operator import index
from typing import Any, Union

import numpy as np

from . import _core

Sites = Union[str, "tuple[str, int | float]"]
Spacing = Union[float, Sequence[float], None]
Border = Union[str, Sequence[str]]
Region = Union[Sequence[Union[slice, "tuple[int, int]", None]], None]
Ranges = Sequence["tuple[int, int]"]
Memory = Union[int, str, None]

_SITES, _METRICS, _BORDERS = _core.SITES, _core.METRICS, _core.BORDERS
_SURFACES = _core.SURFACES
_BACKENDS: Mapping[Any, int] = {None: _core.BACKENDS["auto"], **_core.BACKENDS}
_SETS = ("zero", "nonzero", "labels")
_COMPARISONS = (">=", "<=", "==", "!=", ">", "<")
"""The longer signs first: what begins with one also begins with the shorter."""


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


def site_rule(sites: Sites, name: str = "sites") -> tuple[int, int | float]:
    """Rule and value of "zero", "nonzero", "labels", one of ">=V", ">V", "<=V", "<V", "==V", "!=V", or (">=", V)."""
    if isinstance(sites, str):
        text = sites.strip()
        if text in _SETS:
            return _SITES[text], 0
        sign = next(filter(text.startswith, _COMPARISONS), "")
        value: Any = text[len(sign) :]
    else:
        sign, value = sites if isinstance(sites, tuple) and len(sites) == 2 else ("", None)
    try:
        if sign in _COMPARISONS:
            return _SITES[sign], _compared(value)
    except (TypeError, ValueError, OverflowError):
        pass
    error = ValueError if isinstance(sites, str) else TypeError
    raise error(
        f"{name} is {sites!r}; it must be 'zero', 'nonzero', 'labels', or a comparison by >=, >, <=, <, == or != such "
        "as '>=0.5' or ('>=', 0.5)"
    )


def sites_among(x: Any, sites: Sites, name: str = "sites") -> Sites:
    """The same rule for elements of half precision, which become float32 on their way in: with its number rounded to
    their own type."""
    if (isinstance(sites, str) and sites in _SETS) or str(getattr(x, "dtype", "")).rpartition(".")[2] != "float16":
        return sites
    rule, value = site_rule(sites, name)
    with np.errstate(over="ignore"):
        rounded = float(np.float16(float(value)))
    return next(((sign, rounded) for sign in _COMPARISONS if _SITES[sign] == rule), sites)


def _compared(value: Any) -> int | float:
    """A number to compare with: integers of up to 64 bits whole, all others as float64."""
    try:
        whole = _whole(value) if isinstance(value, str) else index(value)
    except (TypeError, ValueError):
        return float(value)
    if -(2**63) <= whole < 2**64:
        return whole
    # A little below all of int64 float64 rounds to int64's least; the next one compares rightly with all integers.
    return min(float(whole), math.nextafter(-(2.0**63), -math.inf)) if whole < 0 else float(whole)


def _whole(text: str) -> int:
    """The integer that "12", "12.0" or "1.2e1" is; ValueError for other numbers."""
    if not abs(float(text)) < 2.0**65:
        return int(text)
    exact = Decimal(text)
    if exact != exact.to_integral_value():
        raise ValueError(text)
    return int(exact)


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


def borders(border: Border, ndim: int) -> Sequence[int]:
    """One border for all axes, or one per axis."""
    if isinstance(border, str):
        return (choose(_BORDERS, border, "border"),)
    try:
        names = tuple(border)
    except TypeError:
        raise TypeError(f"border must be a name, or one name per axis, not {border!r}") from None
    if len(names) != ndim:
        raise ValueError(f"border has {len(names)} values; give one name, or one for each of the {ndim} axes")
    return tuple(choose(_BORDERS, name, "border") for name in names)


def ranges(region: Region, shape: Sequence[int]) -> Ranges:
    """Half-open ranges, one per axis; none for the whole."""
    if region is None:
        return ()
    try:
        items = tuple(region)
    except TypeError:
        raise TypeError(f"region must be a sequence with one slice per axis, not {region!r}") from None
    if len(items) != len(shape):
        raise ValueError(f"region has {len(items)} slices; give one for each of the {len(shape)} axes")
    return tuple(_range(item, extent) for item, extent in zip(items, shape))


def _range(item: Any, extent: int) -> tuple[int, int]:
    if item is None:
        return 0, extent
    if isinstance(item, slice):
        begin, end, step = item.indices(extent)
        if step != 1:
            raise ValueError(f"region has a slice with the step {step}; only steps of 1 are possible")
        return begin, max(begin, end)
    try:
        begin, end = (index(bound) for bound in item)
    except (TypeError, ValueError):
        raise TypeError(f"region must hold slices or pairs (begin, end), not {item!r}") from None
    if not 0 <= begin <= end <= extent:
        raise ValueError(f"region has the range {begin}:{end}, which does not lie in 0:{extent}")
    return begin, end


def space_rank(ndim: int, array_ndim: int) -> int:
    """How many trailing axes are space."""
    rank = whole(ndim, "ndim")
    if not 1 <= rank <= array_ndim:
        raise ValueError(f"ndim is {rank}; it must be from 1 to the {array_ndim} axes of the array")
    return rank


def distance_limit(max_distance: float | None) -> float:
    if max_distance is None:
        return math.inf
    try:
        limit = float(max_distance)
    except (TypeError, ValueError):
        raise TypeError(f"max_distance must be a number or None, not {max_distance!r}") from None
    if not limit >= 0:
        raise ValueError(f"max_distance is {limit}; it must be 0 or more")
    return limit


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


Settings = tuple[Sites, Spacing, str, Border, Union[float, None], Union[str, None], Union[int, None], bool, str]
"""What the library shall do, as the caller said it: sites, spacing, metric, border, max_distance, backend, threads,
signed, surface; distance_transform() documents each."""


def remembered(settings: Settings, rank: int) -> _core.Options:
    """As :func:`make`, for whole images.

    Most calls come again and again with the same settings, and checking them takes longer than a small transform.
    """
    try:
        return _remembered(settings, rank)
    except TypeError:  # a list, which cannot be looked up, or what is of no use at all
        pass
    return make(settings, rank, ())


@functools.lru_cache(maxsize=256)
def _remembered(settings: Settings, rank: int) -> _core.Options:
    return make(settings, rank, ())


def make(settings: Settings, rank: int, region: Ranges) -> _core.Options:
    """Options of the library for images with so many axes, of which a region is wanted."""
    sites, spacing, metric, border, max_distance, backend, threads, signed, surface = settings
    rule, value = site_rule(sites)
    return _core.Options(
        rule,
        value,
        choose(_METRICS, metric, "metric"),
        () if spacing is None else numbers(spacing, rank, "spacing"),
        borders(border, rank),
        distance_limit(max_distance),
        signed,
        choose(_SURFACES, surface, "surface"),
        region,
        backend_number(backend),
        thread_count(threads),
    )
