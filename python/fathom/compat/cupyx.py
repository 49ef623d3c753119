"""Distance transform with the conventions of CuPy's ``cupyx.scipy.ndimage`` and of cuCIM.

Distances equal CuPy's to the rounding of its sums. What differs, and why:

- Any kind of array, on any device that Fathom reaches; CuPy takes its own arrays. As there, 2 or 3 axes.
- Indices are int32, whatever the shape; CuPy's are int16 where they fit. Of equally near background elements the one
  with the lowest linear index; CuPy takes any.
- Without any background element distances are +inf and indices -1; CuPy measures to an element outside the array.
- ``block_params``, which tunes CuPy's algorithm, is checked and without effect.
- ``float64_distances`` is True by default, as in CuPy; in cuCIM it is False.

Examples
--------
>>> import numpy as np
>>> from fathom.compat import cupyx
>>> cupyx.distance_transform_edt(np.array([[1, 1, 0, 1]]))
array([[2., 1., 0., 1.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Union

from .. import distance_transform

Sampling = Union[float, Sequence[float], None]

__all__ = ["distance_transform_edt"]


def distance_transform_edt(
    image: Any,
    sampling: Sampling = None,
    return_distances: bool = True,
    return_indices: bool = False,
    distances: Any = None,
    indices: Any = None,
    *,
    block_params: tuple[int, int, int] | None = None,
    float64_distances: bool = True,
) -> Any:
    """Exact Euclidean distance to the nearest background element.

    See ``cupyx.scipy.ndimage.distance_transform_edt`` and ``cucim.core.operations.morphology.distance_transform_edt``.

    Parameters
    ----------
    image : array of 2 or 3 axes
        Background is 0.
    sampling : float or sequence of float, optional
        Spacing of elements along each axis.
    return_distances, return_indices : bool
        What to compute.
    distances : array of float64 or float32, shape of `image`, optional
        Where to put the distances.
    indices : array of integers of 16 bits or more (3 axes: 32), shape (ndim, *shape), optional
        Where to put the indices.
    block_params : tuple of 3 int, optional
        Without effect.
    float64_distances : bool
        Distances are float64; else float32.

    Returns
    -------
    distances : array of float64 or float32, shape of `image`
        In the unit of the sampling; `distances`, if given.
    indices : array of int32, shape (ndim, *shape)
        Coordinates of the nearest background element; `indices`, if given.

    Raises
    ------
    RuntimeError, ValueError, NotImplementedError
        As CuPy.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat.cupyx import distance_transform_edt
    >>> distance_transform_edt(np.array([[1, 1, 1], [1, 1, 0]]), float64_distances=False)
    array([[2.236068 , 1.4142135, 1.       ],
           [2.       , 1.       , 0.       ]], dtype=float32)
    """
    if image.ndim not in (2, 3):
        raise NotImplementedError(f"image has {image.ndim} axes; it must have 2 or 3")
    dtype = "float64" if float64_distances else "float32"
    _check_arguments(distances, indices, return_distances, return_indices)
    _check_blocks(block_params, tuple(image.shape))
    _check_distances(distances, tuple(image.shape), dtype)
    _check_indices(indices, (image.ndim, *image.shape))
    result = distance_transform(image, spacing=sampling, dtype=dtype, out=distances, return_indices=return_indices)
    if not return_indices:
        return result
    computed, places = result
    if indices is not None:
        indices[...] = places
        places = indices
    return (computed, places) if return_distances else places


def _check_arguments(distances: Any, indices: Any, return_distances: bool, return_indices: bool) -> None:
    if not return_distances and not return_indices:
        raise RuntimeError("at least one of return_distances/return_indices must be True")
    if distances is not None and not return_distances:
        raise RuntimeError("return_distances must be True if distances is supplied")
    if indices is not None and not return_indices:
        raise RuntimeError("return_indices must be True if indices is supplied")


def _check_blocks(block_params: Any, shape: tuple[int, ...]) -> None:
    if block_params is None:
        return
    bands = tuple(map(index, block_params))
    if len(bands) != 3 or min(bands) < 1:
        raise ValueError(f"block_params is {block_params}; it must be three integers that are 1 or more")
    if len(shape) == 2 and bands[1] & (bands[1] - 1):
        raise ValueError(f"block_params has the second element {bands[1]}; it must be a power of 2")
    if len(shape) == 2 and max(bands) > max(1, -(-max(shape) // 32)):
        raise ValueError(f"block_params is {block_params}, which is too large for an image of the shape {shape}")


def _kind(array: Any) -> str:
    """The dtype's name in any library: torch.float32, dtype('float32')."""
    return str(array.dtype).rpartition(".")[2]


def _check_distances(out: Any, shape: tuple[int, ...], dtype: str) -> None:
    if out is None:
        return
    if tuple(out.shape) != shape:
        raise RuntimeError(f"distances array has wrong shape: {tuple(out.shape)}; it must have {shape}")
    if _kind(out) != dtype:
        raise RuntimeError(f"distances array must have dtype {dtype}, not {_kind(out)}")


def _check_indices(out: Any, shape: tuple[int, ...]) -> None:
    if out is None:
        return
    if tuple(out.shape) != shape:
        raise RuntimeError(f"indices array has wrong shape: {tuple(out.shape)}; it must have {shape}")
    fit = {"int16", "uint16"} if shape[0] == 2 else set()
    if _kind(out) not in fit | {"int32", "uint32", "int64", "uint64"}:
        raise RuntimeError(f"indices array must have an integer dtype of enough bits, not {_kind(out)}")
