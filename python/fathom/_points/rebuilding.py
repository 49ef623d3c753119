"""Sets as pickle and copy make them again: by their sites, where they were, on the host or on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.dtypes import DType, Shape
from .._arrays.kinds import Input

Array = npt.NDArray[Any]


def options_of(given: Input, **options: Any) -> dict[str, Any]:
    """How a set was made, for arrays of the host."""
    return options if given.device is None else {**options, "backend": "cuda"}


def read(sites: _core.SiteSet, cloud: int, dtype: DType, axes: int) -> tuple[Array, Array]:
    """Coordinates and indices of a cloud's sites, in any order; of voxels the indices alone."""
    coordinates, ids = sites.sites(cloud)
    return np.frombuffer(coordinates, dtype).reshape(-1, axes), np.frombuffer(ids, np.int64)


def kept_rows(sites: _core.SiteSet, shape: Shape, every: int, dtype: DType) -> Array:
    """Every so-many-th point of the array that a set was made of, in its order."""
    *batch, count, axes = shape
    rows = np.empty((*batch, -(-count // every), axes), dtype)
    for cloud, part in enumerate(rows if batch else [rows]):
        coordinates, ids = read(sites, cloud, dtype, axes)
        part[ids // every] = coordinates
    return rows


def site_set(kind: Any, rows: Array, count: int, options: dict[str, Any]) -> Any:
    """Of so many points, of which some are kept, and the others are never looked at."""
    points = np.repeat(rows, options["every"], axis=-2)[..., :count, :] if options["every"] > 1 else rows
    return kind(points, **options)


def site_set_of_mask(kind: Any, coordinates: Array, shape: Shape, options: dict[str, Any]) -> Any:
    mask = np.zeros(shape, np.uint8)
    mask[tuple(coordinates.T)] = 1
    return kind.of_mask(mask, **{**options, "every": 1})


def dynamic_set(kind: Any, coordinates: Array, ids: Array, given_out: int, options: dict[str, Any]) -> Any:
    """With the same indices: others were given out before, and are not again."""
    points = np.zeros((given_out, coordinates.shape[1]), coordinates.dtype)
    points[ids] = coordinates
    removed = np.ones(given_out, bool)
    removed[ids] = False
    made = kind(points, **options)
    made.remove(np.flatnonzero(removed))
    return made


def voxel_set(kind: Any, shape: Shape, elements: Array, backend: str | None) -> Any:
    made = kind(shape, backend=backend)
    made.add(elements)
    return made
