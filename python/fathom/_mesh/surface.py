"""Surfaces of equal distance: around mesh::level_set of the C++ library."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.host import HostInput
from .._common.warning import warn


def level_of(distance: float, sign: str) -> float:
    """The distance of a surface that can be.

    Raises
    ------
    TypeError, ValueError
        It cannot.
    """
    try:
        level = float(distance)
    except (TypeError, ValueError):
        raise TypeError(f"distance must be a number, not {distance!r}") from None
    if not math.isfinite(level):
        raise ValueError(f"distance is {level}; it must be finite")
    if sign == "none" and level <= 0:
        raise ValueError(f"distance is {level}; without a sign there is no inside, so it must be above 0")
    return level


def level_set(lattice: _core.Lattice, field: npt.NDArray[Any], level: float, like: HostInput) -> tuple[Any, Any]:
    """Vertices and faces, of the kind of `like`, with a warning where they end at the lattice's border."""
    surface = _core.IsoSurface(lattice, np.ascontiguousarray(field), level)
    arrays = surface.arrays
    if len(arrays[1]) == 0:
        raise ValueError(f"no point of the lattice is on the other side of the distance {level}; there is no surface")
    if not surface.closed:
        warn("the surface ends at the lattice's border; a larger shape or margin closes it")
    vertices, faces = (like.given(array) for array in arrays)
    return vertices, faces
