"""Lattices about meshes, as callers say where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, TypedDict, Union

from .. import _core
from .._common.options import check_names, numbers

Numbers = Union[float, Sequence[float], None]


class LatticeOptions(TypedDict, total=False):
    """Where the points of a field lie: see :func:`fathom.mesh_distance`."""

    resolution: int | None
    spacing: Numbers
    origin: Sequence[float] | None
    shape: Sequence[int] | None
    margin: int | None


def lattice_of(
    mesh: _core.TriangleSet, options: LatticeOptions, margin: int = 0, cutoff: float | None = None
) -> _core.Lattice:
    """The lattice about a mesh. `margin` is that of no other being given."""
    check_names(options, LatticeOptions, "a lattice")
    resolution, spacing, origin, shape, given = map(options.get, LatticeOptions.__annotations__)
    steps = None if spacing is None else tuple(numbers(spacing, 3, "spacing"))
    return mesh.lattice(
        None if resolution is None else count(resolution, "resolution"),
        steps if steps is None or len(steps) == 3 else steps * 3,
        None if origin is None else _three(origin, float, "origin"),
        None if shape is None else _three(shape, index, "shape"),
        count(margin if given is None else given, "margin"),
        cutoff,
    )


def _three(values: Any, convert: Any, name: str) -> tuple[Any, ...]:
    try:
        result = tuple(map(convert, values))
    except (TypeError, ValueError):
        result = ()
    if len(result) != 3:
        what = "integers" if convert is index else "numbers"
        raise TypeError(f"{name} must be three {what}, in the order x, y, z, not {values!r}")
    return result


def count(value: Any, name: str) -> int:
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if not 0 <= number < 2**31:
        raise ValueError(f"{name} is {number}; it must be from 0 to 2³¹ − 1")
    return number
