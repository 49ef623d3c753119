"""What a distance transform takes besides its arrays, checked and turned into what the library takes."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from decimal import Decimal
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union

import numpy as np

from .. import _core
from .._common.options import Metric, Spacing, backend_number, choose, numbers, thread_count

if TYPE_CHECKING:
    from .._arrays.annotations import ImageOptions

    class SiteOptions(ImageOptions, total=False):
        """What transforms take of the options that :func:`fathom.distance_transform` documents."""

        sites: Sites
        metric: Metric
        border: Border
        max_distance: float | None


Sites = Union[Literal["zero", "nonzero", "labels"], str, "tuple[str, int | float]"]
BorderName = Literal["open", "sites", "periodic"]
Border = Union[BorderName, Sequence[BorderName]]
Surface = Literal["faces", "centers"]
Region = Union[Sequence[Union[slice, "tuple[int, int]", None]], None]
Ranges = Sequence["tuple[int, int]"]

_SITES, _METRICS, _BORDERS = _core.SITES, _core.METRICS, _core.BORDERS
_SURFACES = _core.SURFACES
_SETS = ("zero", "nonzero", "labels")
_COMPARISONS = (">=", "<=", "==", "!=", ">", "<")
"""The longer signs first: what begins with one also begins with the shorter."""


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


def ranges_of(region: Region, shape: Sequence[int]) -> Ranges:
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


class Settings(NamedTuple):
    """What the library shall do, as the caller said it; :func:`fathom.distance_transform` documents each.

    Made and looked up in every call: a frozen dataclass would take 1.4 µs more, a sixth of a small call.
    """

    sites: Sites
    spacing: Spacing
    metric: str
    border: Border
    max_distance: float | None
    backend: str | None
    threads: int | None
    signed: bool = False
    surface: str = "faces"


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
    rule, value = site_rule(settings.sites)
    return _core.Options(
        rule,
        value,
        choose(_METRICS, settings.metric, "metric"),
        () if settings.spacing is None else numbers(settings.spacing, rank, "spacing"),
        borders(settings.border, rank),
        distance_limit(settings.max_distance),
        settings.signed,
        choose(_SURFACES, settings.surface, "surface"),
        region,
        backend_number(settings.backend),
        thread_count(settings.threads),
    )
