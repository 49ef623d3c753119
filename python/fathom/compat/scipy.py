"""Distance transforms with the conventions of ``scipy.ndimage``.

Equal to SciPy to the last bit: distances for unit sampling, and indices of the Euclidean and the brute-force transform,
which of equally near elements take the same one as SciPy. What differs, and why:

- Without any background element distances are +inf (uint32: 4294967295, cdt: -1) and indices -1. SciPy's Euclidean
  transform then measures to an element outside the array, and ``distance_transform_bf`` gives 1.34e154.
- With sampling, SciPy's distances carry the rounding of its sums: both agree to 1e-15.
- ``sampling`` must not be 0 or infinite; SciPy takes it and computes zeros, NaN or infinities.
- Indices of ``distance_transform_cdt``: of equally near elements the one with the lowest linear index; SciPy takes the
  one that its passes met first.
- ``indices`` given to ``distance_transform_bf`` and ``_cdt`` may hold anything; SciPy's must hold ``np.indices``.
- ``distance_transform_cdt`` knows the metrics that have names, and their structures; other structures raise
  NotImplementedError.
- With ``return_indices`` the Euclidean results are not C-contiguous: SciPy's choice among equals is the first in the
  order of columns, so columns is how Fathom goes through them.

Examples
--------
>>> import numpy as np
>>> from fathom.compat import scipy as ndimage
>>> ndimage.distance_transform_edt(np.array([[1, 1, 0, 1]]))
array([[2., 1., 0., 1.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .. import distance_transform
from .._common.options import Metric

Array = npt.NDArray[Any]
Sampling = Union[float, Sequence[float], None]

_METRICS: dict[str, Metric] = {
    "euclidean": "euclidean",
    "taxicab": "taxicab",
    "cityblock": "taxicab",
    "manhattan": "taxicab",
    "chessboard": "chessboard",
}

__all__ = ["distance_transform_bf", "distance_transform_cdt", "distance_transform_edt"]


def distance_transform_edt(
    input: npt.ArrayLike,
    sampling: Sampling = None,
    return_distances: bool = True,
    return_indices: bool = False,
    distances: Array | None = None,
    indices: Array | None = None,
) -> Any:
    """Exact Euclidean distance to the nearest background element; see ``scipy.ndimage.distance_transform_edt``.

    Parameters
    ----------
    input : array_like
        Background is what is false: 0.
    sampling : float or sequence of float, optional
        Spacing of elements along each axis.
    return_distances, return_indices : bool
        What to compute.
    distances : array of float64, shape of `input`, optional
        Where to put the distances, which are then not returned.
    indices : array of int32, shape (ndim, *shape), optional
        Where to put the indices, which are then not returned.

    Returns
    -------
    distances : array of float64, shape of `input`
        In the unit of the sampling.
    indices : array of int32, shape (ndim, *shape)
        Coordinates of the nearest background element; of equally near ones the first in column-major order.

    Raises
    ------
    RuntimeError
        As SciPy.
    ValueError
        `sampling` is not finite or is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat.scipy import distance_transform_edt
    >>> distance_transform_edt(np.array([[1, 1, 1], [1, 1, 0]]), sampling=[2, 1])
    array([[2.82842712, 2.23606798, 2.        ],
           [2.        , 1.        , 0.        ]])
    """
    _check_arguments(distances, indices, return_distances, return_indices)
    mask = np.atleast_1d(_mask(input))
    _check_output(distances, mask.shape, np.float64, "distances", RuntimeError)
    _check_output(indices, (mask.ndim, *mask.shape), np.int32, "indices", RuntimeError)
    spacing = _spacing(sampling, mask.ndim)
    if not return_indices:
        if distances is not None and not np.may_share_memory(distances, mask):
            distance_transform(mask, spacing=spacing, out=distances)
            return None
        computed = distance_transform(mask, spacing=spacing, dtype=np.float64)
        return _results(distances, indices, computed, None)
    turned, places = distance_transform(
        mask.T, spacing=None if spacing is None else spacing[::-1], dtype=np.float64, return_indices=True
    )
    places = places[::-1].transpose(0, *range(mask.ndim, 0, -1))
    return _results(distances, indices, turned.T if return_distances else None, places)


def distance_transform_cdt(
    input: npt.ArrayLike,
    metric: str | npt.ArrayLike = "chessboard",
    return_distances: bool = True,
    return_indices: bool = False,
    distances: Array | None = None,
    indices: Array | None = None,
) -> Any:
    """Taxicab or chessboard distance to the nearest background element; see ``scipy.ndimage.distance_transform_cdt``.

    Parameters
    ----------
    input : array_like
        Background is what is false: 0.
    metric : {"chessboard", "taxicab", "cityblock", "manhattan"} or array_like
        Or the structure of one of them: 3 elements along each axis.
    return_distances, return_indices, indices
        As for :func:`distance_transform_edt`.
    distances : array of int32, shape of `input`, optional
        Where to put the distances, which are then not returned.

    Returns
    -------
    distances : array of int32, shape of `input`
        -1 everywhere if there is no background.
    indices : array of int32, shape (ndim, *shape)
        Coordinates of the nearest background element; of equally near ones the one with the lowest linear index.

    Raises
    ------
    RuntimeError, ValueError
        As SciPy.
    NotImplementedError
        `metric` is another structure.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat.scipy import distance_transform_cdt
    >>> distance_transform_cdt(np.array([[1, 1, 1], [1, 1, 0]]), metric="taxicab")
    array([[3, 2, 1],
           [2, 1, 0]], dtype=int32)
    """
    _check_arguments(distances, indices, return_distances, return_indices)
    mask = _mask(input)
    name = _named_metric(metric, mask.ndim)
    _check_output(distances, mask.shape, np.int32, "distances", ValueError)
    _check_output(indices, (mask.ndim, *mask.shape), np.int32, "indices", ValueError)
    computed, places = _steps(mask, name, return_indices)
    return _results(distances, indices, _counted(computed, np.int32, -1) if return_distances else None, places)


def distance_transform_bf(
    input: npt.ArrayLike,
    metric: str = "euclidean",
    sampling: Sampling = None,
    return_distances: bool = True,
    return_indices: bool = False,
    distances: Array | None = None,
    indices: Array | None = None,
) -> Any:
    """Distance to the nearest background element; see ``scipy.ndimage.distance_transform_bf``. Not by brute force.

    Parameters
    ----------
    input : array_like
        Background is what is false: 0.
    metric : {"euclidean", "taxicab", "cityblock", "manhattan", "chessboard"}
        How distance is measured.
    sampling : float or sequence of float, optional
        Spacing of elements along each axis; the Euclidean metric alone looks at it.
    return_distances, return_indices, indices
        As for :func:`distance_transform_edt`.
    distances : array of float64 (Euclidean) or uint32, shape of `input`, optional
        Where to put the distances, which are then not returned.

    Returns
    -------
    distances : array of float64 (Euclidean) or uint32, shape of `input`
        +inf or 4294967295 everywhere if there is no background.
    indices : array of int32, shape (ndim, *shape)
        Coordinates of the nearest background element; of equally near ones the one with the highest linear index.

    Raises
    ------
    RuntimeError
        As SciPy.
    ValueError
        `sampling` is not finite or is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat.scipy import distance_transform_bf
    >>> distance_transform_bf(np.array([[1, 1, 1], [1, 1, 0]]), metric="chessboard")
    array([[2, 1, 1],
           [2, 1, 0]], dtype=uint32)
    """
    _check_arguments(distances, indices, return_distances, return_indices)
    mask = _mask(input)
    name = _METRICS.get(metric.lower())
    if name is None:
        raise RuntimeError("distance metric not supported")
    spacing = _spacing(sampling, mask.ndim) if name == "euclidean" else None
    _check_output(distances, mask.shape, np.float64 if name == "euclidean" else np.uint32, "distances", RuntimeError)
    _check_output(indices, (mask.ndim, *mask.shape), np.int32, "indices", RuntimeError)
    if not return_indices:
        computed, places = _steps(mask, name, False, spacing)
    else:
        # Turned round, the lowest index is the highest.
        around = (slice(None, None, -1),) * mask.ndim
        computed, places = _steps(mask[around], name, True, spacing)
        computed, places = computed[around], places[(slice(None), *around)]
        last = np.array(mask.shape, np.int32).reshape(-1, *[1] * mask.ndim) - np.int32(1)
        places = np.where(places < 0, places, last - places)
    if name != "euclidean":
        computed = _counted(computed, np.uint32, np.iinfo(np.uint32).max)
    return _results(distances, indices, computed if return_distances else None, places)


def _mask(input: npt.ArrayLike) -> Array:
    array = np.asarray(input)
    # What Fathom has no element type for still is true or false.
    return array if array.dtype.char in "?bBhHiIlLqQefd" else array.astype(bool)


def _spacing(sampling: Sampling, ndim: int) -> list[float] | None:
    if sampling is None:
        return None
    values = np.asarray(sampling, np.float64)
    if values.ndim == 0:
        values = np.full(ndim, values)
    if values.shape != (ndim,):
        raise RuntimeError("sequence argument must have length equal to input rank")
    # Distances square it, so its sign does not matter to SciPy.
    spacing: list[float] = np.abs(values).tolist()
    return spacing


def _named_metric(metric: str | npt.ArrayLike, ndim: int) -> Metric:
    if isinstance(metric, str):
        name = _METRICS.get(metric)
        if name is None or name == "euclidean":
            raise ValueError("invalid metric provided")
        return name
    structure = np.asarray(metric)
    if any(extent != 3 for extent in structure.shape):
        raise ValueError("metric sizes must be equal to 3")
    if structure.ndim == ndim:
        steps = np.abs(np.indices(structure.shape) - 1).sum(0)
        if np.all(structure[steps > 0]):
            return "chessboard"
        if np.array_equal(structure[steps > 0] != 0, steps[steps > 0] == 1):
            return "taxicab"
    raise NotImplementedError("metric is a structure that is neither the chessboard's nor the taxicab's")


def _steps(mask: Array, metric: Metric, return_indices: bool, spacing: list[float] | None = None) -> tuple[Array, Any]:
    # float32 counts no farther than 2^24.
    dtype = np.float64 if metric == "euclidean" or sum(mask.shape) >= 2**24 else np.float32
    result = distance_transform(mask, metric=metric, spacing=spacing, dtype=dtype, return_indices=return_indices)
    return result if return_indices else (result, None)


def _counted(distances: Array, dtype: npt.DTypeLike, nothing: int) -> Array:
    """Whole distances as integers. Where one element has no distance, none has."""
    if distances.size and np.isinf(distances.flat[0]):
        return np.full(distances.shape, nothing, dtype)
    return distances.astype(dtype)


def _check_arguments(distances: object, indices: object, return_distances: bool, return_indices: bool) -> None:
    messages = []
    if not return_distances and not return_indices:
        messages.append("at least one of return_distances/return_indices must be True")
    if distances is not None and not return_distances:
        messages.append("return_distances must be True if distances is supplied")
    if indices is not None and not return_indices:
        messages.append("return_indices must be True if indices is supplied")
    if messages:
        raise RuntimeError(", ".join(messages))


def _check_output(
    out: Array | None, shape: tuple[int, ...], dtype: npt.DTypeLike, name: str, error: type[Exception]
) -> None:
    if out is None:
        return
    if out.shape != shape:
        raise error(f"{name} array has wrong shape: {out.shape}; it must have {shape}")
    if out.dtype.newbyteorder("=") != dtype:
        raise error(f"{name} array must be {np.dtype(dtype)}, not {out.dtype}")


def _results(distances_out: Array | None, indices_out: Array | None, distances: Any, indices: Any) -> Any:
    """What was asked for, less what went into the caller's arrays: None, an array or a pair."""
    if distances_out is not None:
        distances_out[...] = distances
        distances = None
    if indices_out is not None:
        indices_out[...] = indices
        indices = None
    if distances is None or indices is None:
        return distances if indices is None else indices
    return distances, indices
