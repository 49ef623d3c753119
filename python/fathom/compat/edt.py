"""Distance transforms of labels with the conventions of ``edt`` (Multi-Label Anisotropic EDT 3D).

Equal to edt 3.1.2 to the last bit where squared distances stay below 2**24. What differs, and why:

- Larger squared distances, and those with anisotropy, are the exact ones rounded to float32; those of ``edt`` carry the
  rounding of its float32 sums.
- Any number of axes up to 8; ``edt`` stops at 3.
- A dtype that distances make no sense for (complex, object) raises TypeError; ``edt`` computes zeros.
- ``each`` goes by indices, also where one of labels and distances is in Fortran order and the other is not; ``edt``
  mixes their elements up then. Other shapes are a ValueError.
- ``parallel`` counts for any number of axes, and no more threads are taken than there are processors.
- ``runs``, ``draw``, ``erase``, ``transfer`` and ``reshape``, tools that have to do with no distance, are not here.
- ``feature_transform`` is here and not in edt 3.1.2.

Examples
--------
>>> import numpy as np
>>> from fathom.compat import edt
>>> edt.edt(np.array([[1, 1, 1, 2, 2, 0]]), black_border=False)
array([[3., 2., 1., 1., 1., 0.]], dtype=float32)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal, Union

import numpy as np
import numpy.typing as npt

from .. import distance_transform, nearest_site
from ._edt_each import each

Array = npt.NDArray[Any]
Anisotropy = Union[float, Sequence[float], None]

__all__ = [
    "each",
    "edt",
    "edt1d",
    "edt1dsq",
    "edt2d",
    "edt2dsq",
    "edt3d",
    "edt3dsq",
    "edtsq",
    "feature_transform",
    "sdf",
    "sdfsq",
]


def edt(
    data: npt.ArrayLike,
    anisotropy: Anisotropy = None,
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Array | None = None,
    order: str | None = None,
) -> Array:
    """Euclidean distance of each element to the nearest one with another label.

    Parameters
    ----------
    data : array of bool, integers or floats
        Labels. 0 is background and has distance 0.
    anisotropy : float or sequence of float, optional
        Size of an element along each axis, in the order of the shape.
    black_border : bool
        Whether there is background beyond the edges.
    parallel : int
        Most threads; all processors if 0 or less.
    voxel_graph : array of integers, shape of `data`, optional
        Bits 1, 4 and 16 are set where one can step from the element to the next along the first, second and third
        fastest axis. Where one cannot, there is background half way. All labels are then one. 2 or 3 axes.
    order
        Without effect, as in ``edt``.

    Returns
    -------
    array of float32, shape of `data`
        In Fortran order if `data` is. +inf where there is no other label.

    Raises
    ------
    TypeError, ValueError
        An argument is of no use; the message says which.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import edt
    >>> edt.edt(np.array([[1, 1, 1], [1, 1, 1], [2, 2, 2]]), anisotropy=(2, 1), black_border=True)
    array([[1., 2., 1.],
           [1., 2., 1.],
           [1., 2., 1.]], dtype=float32)
    """
    return _transform(data, anisotropy, black_border, parallel, voxel_graph, squared=False)


def edtsq(
    data: npt.ArrayLike,
    anisotropy: Anisotropy = None,
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Array | None = None,
    order: str | None = None,
) -> Array:
    """Squared distances; else as :func:`edt`.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import edt
    >>> edt.edtsq(np.array([[1, 1, 1, 0]]))
    array([[9., 4., 1., 0.]], dtype=float32)
    """
    return _transform(data, anisotropy, black_border, parallel, voxel_graph, squared=True)


def sdf(
    data: npt.ArrayLike,
    anisotropy: Anisotropy = None,
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Array | None = None,
    order: str | None = None,
) -> Array:
    """Signed distances: as :func:`edt` in labels, and less than 0 in the background.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import edt
    >>> edt.sdf(np.array([[0, 0, 1, 1, 2]]))
    array([[-2., -1.,  1.,  1.,  1.]], dtype=float32)
    """
    labels = _labels(data)
    inside = edt(labels, anisotropy, black_border, parallel, voxel_graph)
    inside -= edt(labels == 0, anisotropy, black_border, parallel, voxel_graph)
    return inside


def sdfsq(
    data: npt.ArrayLike,
    anisotropy: Anisotropy = None,
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Array | None = None,
) -> Array:
    """Squared distances with the signs of :func:`sdf`.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import edt
    >>> edt.sdfsq(np.array([[0, 0, 1, 1, 2]]))
    array([[-4., -1.,  1.,  1.,  1.]], dtype=float32)
    """
    labels = _labels(data)
    inside = edtsq(labels, anisotropy, black_border, parallel, voxel_graph)
    inside -= edtsq(labels == 0, anisotropy, black_border, parallel, voxel_graph)
    return inside


def feature_transform(
    data: npt.ArrayLike, anisotropy: Anisotropy = None, black_border: bool = False, parallel: int = 1
) -> Array:
    """Linear index of the nearest element with another label; background has its own.

    Parameters
    ----------
    data, anisotropy, black_border, parallel
        As for :func:`edt`.

    Returns
    -------
    array of int32 or int64, shape of `data`
        Row-major index, the lowest of equally near elements; -1 where there is none or it lies beyond the edge.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import edt
    >>> edt.feature_transform(np.array([[1, 1, 2, 2, 0]]))
    array([[2, 2, 1, 4, 4]], dtype=int32)
    """
    labels = _labels(data)
    result: Array = nearest_site(
        labels,
        sites="labels",
        spacing=_spacing(anisotropy, labels.ndim),
        border="sites" if black_border else "open",
        threads=_threads(parallel),
    )
    return result


def edt1d(data: npt.ArrayLike, anisotropy: Anisotropy = 1.0, black_border: bool = False) -> Array:
    """:func:`edt` of a line."""
    return edt(_with_axes(data, 1), anisotropy, black_border)


def edt1dsq(data: npt.ArrayLike, anisotropy: Anisotropy = 1.0, black_border: bool = False) -> Array:
    """:func:`edtsq` of a line."""
    return edtsq(_with_axes(data, 1), anisotropy, black_border)


def edt2d(
    data: npt.ArrayLike,
    anisotropy: Anisotropy = (1.0, 1.0),
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Array | None = None,
) -> Array:
    """:func:`edt` of an image."""
    return edt(_with_axes(data, 2), anisotropy, black_border, parallel, voxel_graph)


def edt2dsq(
    data: npt.ArrayLike,
    anisotropy: Anisotropy = (1.0, 1.0),
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Array | None = None,
) -> Array:
    """:func:`edtsq` of an image."""
    return edtsq(_with_axes(data, 2), anisotropy, black_border, parallel, voxel_graph)


def edt3d(
    data: npt.ArrayLike,
    anisotropy: Anisotropy = (1.0, 1.0, 1.0),
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Array | None = None,
) -> Array:
    """:func:`edt` of a volume."""
    return edt(_with_axes(data, 3), anisotropy, black_border, parallel, voxel_graph)


def edt3dsq(
    data: npt.ArrayLike,
    anisotropy: Anisotropy = (1.0, 1.0, 1.0),
    black_border: bool = False,
    parallel: int = 1,
    voxel_graph: Array | None = None,
) -> Array:
    """:func:`edtsq` of a volume."""
    return edtsq(_with_axes(data, 3), anisotropy, black_border, parallel, voxel_graph)


def _labels(data: npt.ArrayLike) -> Array:
    return np.atleast_1d(np.asarray(data))


def _with_axes(data: npt.ArrayLike, ndim: int) -> Array:
    labels = _labels(data)
    if labels.ndim != ndim:
        raise TypeError(f"data has {labels.ndim} axes; it must have {ndim}")
    return labels


def _threads(parallel: int) -> int | None:
    return None if parallel <= 0 else parallel


def _spacing(anisotropy: Anisotropy, ndim: int) -> list[float] | None:
    if anisotropy is None:
        return None
    values = np.atleast_1d(np.asarray(anisotropy, np.float64))
    if values.shape != (ndim,):
        raise ValueError(f"anisotropy has {values.size} values; it must have one for each of the {ndim} axes")
    spacing: list[float] = values.tolist()
    return spacing


def _transform(
    data: npt.ArrayLike,
    anisotropy: Anisotropy,
    black_border: bool,
    parallel: int,
    voxel_graph: Array | None,
    squared: bool,
) -> Array:
    labels = _labels(data)
    spacing = _spacing(anisotropy, labels.ndim)
    if labels.size == 0:
        return np.zeros(labels.shape, np.float32)
    if voxel_graph is not None:
        labels, spacing = _halved(labels, spacing, voxel_graph, black_border)
    # Fortran order is C order of the axes turned round, and needs no copy that way.
    turned = labels.flags.f_contiguous and not labels.flags.c_contiguous
    if turned:
        labels, spacing = labels.T, None if spacing is None else spacing[::-1]
    border: Literal["sites", "open"] = "sites" if black_border else "open"
    if squared:
        exact = distance_transform(
            labels, sites="labels", spacing=spacing, border=border, squared=True, threads=_threads(parallel)
        )
        result = _rounded(exact)
    else:
        result = distance_transform(labels, sites="labels", spacing=spacing, border=border, threads=_threads(parallel))
    if turned:
        result = result.T
    return result if voxel_graph is None else result[(slice(None, None, 2),) * result.ndim].copy(order="K")


def _rounded(squares: Array) -> Array:
    """float32 of exact squares; the largest integer stands for no site."""
    result = squares.astype(np.float32)
    if squares.dtype.kind == "u":
        result[squares == np.iinfo(squares.dtype).max] = np.inf
    return result


def _halved(
    labels: Array, spacing: list[float] | None, voxel_graph: Array, black_border: bool
) -> tuple[Array, list[float]]:
    """Foreground on a grid of half the spacing, where the elements between elements are passages."""
    if labels.ndim not in (2, 3):
        raise TypeError(f"voxel_graph is for 2 or 3 axes; data has {labels.ndim}")
    graph = np.asarray(voxel_graph)
    if graph.shape != labels.shape:
        raise ValueError(f"voxel_graph has the shape {graph.shape}; it must have {labels.shape}, as data")
    in_columns = labels.flags.f_contiguous  # edt asks no more
    fine = np.empty([2 * extent for extent in labels.shape], bool, "F" if in_columns else "C")
    foreground = labels > 0
    for offsets in itertools.product((0, 1), repeat=labels.ndim):
        place = fine[tuple(slice(offset, None, 2) for offset in offsets)]
        place[...] = foreground
        if sum(offsets) == 1:
            axis = offsets.index(1)
            place &= (graph & (1 << 2 * (axis if in_columns else labels.ndim - 1 - axis))) != 0
    if black_border:
        for axis in range(labels.ndim):
            fine[(slice(None),) * axis + (-1,)] = False
    return fine, [value / 2 for value in spacing or [1.0] * labels.ndim]


