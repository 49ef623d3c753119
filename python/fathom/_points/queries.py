"""What edits and queries ask of arrays that belong together: that they lie in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy.typing as npt

from .._arrays.annotations import ArrayLike, Stream
from .._arrays.dtypes import FLOATS, Shape
from .._arrays.kinds import Input
from .._arrays.places import lies_on_cuda
from .._arrays.take import take_values
from .._common.options import Metric
from .._common.progress import Progress

if TYPE_CHECKING:

    class NearestOptions(TypedDict, total=False):
        """What :meth:`SiteSet.nearest` takes besides."""

        metric: Metric
        radius: float | None
        relative_error: float
        absolute_error: float
        work_limit: int | None
        directions: ArrayLike | None
        half_angle: ArrayLike | None
        cylinder_radius: float
        squared: bool
        dtype: npt.DTypeLike | None
        threads: int | None
        stream: Stream
        progress: Progress


def memory_beside(given: Input, name: str, owner: Input, owner_name: str, way_out: str | None = None) -> Any:
    """What the compiled part takes of an array that must lie where its owner does."""
    if (given.device is None) != (owner.device is None):
        if owner.device is None:
            where, usual = "a CUDA device, but {} on the host", "give an array on the host"
        else:
            where, usual = f"the host, but {{}} on CUDA device {owner.device}", "give an array there"
        raise ValueError(f"{name} lies on {where.format(owner_name)}; {way_out or usual}")
    owner.check_place(given.array, name)
    return given.memory


def directions_beside(directions: Any, queries: Input, may_be_one: bool, stream: Any) -> Any:
    """In the compiled part's words. `may_be_one`: one direction for all may lie on the host."""
    given = _take_beside(directions, "directions", stream)
    shape = queries.shape
    if given.shape not in (shape, shape[-1:]):
        raise ValueError(f"directions has the shape {given.shape}; it must have {shape[-1:]} or {shape}")
    reals = given.reals("directions", FLOATS)
    rows = reals if len(given.shape) > 1 else reals.reshaped((1, *given.shape))
    if may_be_one and rows.device is None and rows.shape[0] == 1:
        return rows.memory
    return memory_beside(rows, "directions", queries, "q")


def angles_beside(angles: Any, shape: Shape, stream: Any) -> Input:
    given = _take_beside(angles, "half_angle", stream)
    if given.shape != shape:
        raise ValueError(f"half_angle has the shape {given.shape}; it must be a number or have {shape}")
    return given.reals("half_angle", FLOATS[1:])


def _take_beside(x: Any, name: str, stream: Any) -> Input:
    """An array that may lie on the host where the queries do not."""
    return take_values(x, name, stream if lies_on_cuda(x, name) else None)
