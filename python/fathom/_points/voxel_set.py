"""Sets of voxels that come and go: around points::VoxelSet of the C++ library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

from .. import _core
from .._arrays.annotations import ArrayLike, Stream
from .._arrays.dtypes import INDICES
from .._arrays.kinds import Input
from .._arrays.take import take, take_values
from .._common.options import Backend, backend_number
from . import rebuilding
from .changing import ChangingSet
from .queries import memory_beside


class VoxelSet(ChangingSet[_core.VoxelSet]):
    """Elements of a 2D or 3D grid as sites that come and go, and tell how far the nearest of them is.

    Answers are those of :meth:`SiteSet.of_mask` of the elements that are there: same options but `metric`, which is
    Euclidean, same bytes, on the host and on a device; a site's index is the linear (row-major) one of its element.
    Queries need not lie inside the grid. Many threads may ask at once; edits wait for them, and they for edits. A
    `progress` function may ask the set that calls it, but not edit it: RuntimeError. Can be copied and pickled: by its
    sites, of which a set is built again.

    Parameters
    ----------
    shape : sequence of int
        Extents of the grid, 2 or 3, each below 2³¹. At first no element is a site; see :meth:`of_mask`.
    backend : {"auto", "cpu", "cuda"}, optional
        Where the set lives and answers: the host, or with "cuda" the current CUDA device. There edits wait for queries
        at work, so that many are best made in one call.

    Raises
    ------
    TypeError, ValueError
        An argument is of no use; the message names it and says what would do. Nothing has changed then.
    fathom.DeviceError
        There is no CUDA device, or it has not enough memory.

    Notes
    -----
    One bit per element and 2 % more, however many are sites: bits in words of 4 × 4 × 4 (2D: 8 × 8), under bits that
    say which words have any. An edit changes one bit, rarely more; a query looks at the words near it, the nearest
    first.

    Examples
    --------
    >>> import fathom
    >>> walls = fathom.VoxelSet((4, 5))
    >>> walls.add([0, 9, 19])
    3
    >>> walls.nearest([[2.0, 4.0], [1.0, 1.0]])
    (array([1.        , 1.41421356]), array([9, 0]))
    >>> walls.move(9, 10), walls.remove([0, 1])
    (1, 1)
    >>> walls.nearest([[2.0, 4.0], [1.0, 1.0]])
    (array([1.        , 1.41421356]), array([19, 10]))
    """

    def __init__(self, shape: Sequence[int], *, backend: Backend | None = None) -> None:
        try:
            extents = tuple(map(index, shape))
        except TypeError:
            raise TypeError(f"shape is {shape!r}; it must be 2 or 3 integers") from None
        if not all(0 <= n < 2**31 for n in extents):
            raise ValueError(f"shape is {extents}; extents must be from 0 to 2³¹ − 1")
        self._keep(_core.VoxelSet.of_shape(extents, backend_number(backend)), extents, backend)

    @classmethod
    def of_mask(cls, mask: ArrayLike, *, backend: Backend | None = None, stream: Stream = None) -> VoxelSet:
        """The nonzero elements of an array with 2 or 3 axes.

        Parameters
        ----------
        mask : array, shape (ny, nx) or (nz, ny, nx)
            Of bool, integers or floats, of any kind. It may go afterwards. On a CUDA device the set lives there.
        backend : {"auto", "cpu", "cuda"}, optional
            Where the set lives: where the mask is, or, with "cuda", one of the host on the current CUDA device.
        stream : optional
            For a mask on a device, as for :func:`fathom.distance_transform`. The set is built when the call returns.

        Examples
        --------
        >>> import numpy as np
        >>> import fathom
        >>> walls = fathom.VoxelSet.of_mask(np.array([[0, 0, 1], [1, 0, 0]]))
        >>> len(walls), 2 in walls, walls.shape
        (2, True, (2, 3))
        """
        given = take(mask, "mask", stream)
        if len(given.shape) not in (2, 3):
            raise ValueError(f"mask has {len(given.shape)} axes; it must have 2 or 3")
        made = cls.__new__(cls)
        lives = rebuilding.options_of(given, backend=backend)["backend"]
        made._keep(_core.VoxelSet.of_mask(given.memory, backend_number(backend)), given.shape, lives)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: by the elements that are sites, of which a set is built again, where this one is."""
        _, elements = rebuilding.read(self._set, 0, INDICES[0], len(self._shape))
        return rebuilding.voxel_set, (type(self), self._shape, elements, self._backend)

    def _keep(self, voxels: _core.VoxelSet, shape: tuple[int, ...], backend: str | None) -> None:
        self._set = voxels
        self._backend = backend
        self._shape = shape
        self._ask_through((math.prod(shape), len(shape)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the grid."""
        return self._shape

    def __contains__(self, element: int) -> bool:
        """Whether the element with this linear index is a site."""
        element = index(element)
        return 0 <= element < self._sites._count and self._set.contains(element)

    def add(self, elements: ArrayLike, *, stream: Stream = None) -> int:
        """Makes elements sites.

        Parameters
        ----------
        elements : int or array of int, shape (n,)
            Linear indices, in any order, also of elements that are sites already. On the host, or, of a set on a
            device, in its memory.
        stream : optional
            For elements on a device, as for :func:`fathom.distance_transform`. The edit is done when the call returns.

        Returns
        -------
        int
            How many were no sites before.

        Raises
        ------
        TypeError, ValueError
            These are no such indices, or lie elsewhere than the set. Nothing has changed then.
        RuntimeError
            A `progress` function called it while this set is asked. Nothing has changed then.
        fathom.DeviceError
            The device failed, or has not enough memory.
        """
        return self._edit("add", stream, elements)

    def remove(self, elements: ArrayLike, *, stream: Stream = None) -> int:
        """Makes elements no sites.

        Parameters
        ----------
        elements, stream
            As for :meth:`add`; those that are no sites stay so.

        Returns
        -------
        int
            How many were sites before.

        Raises
        ------
        TypeError, ValueError, RuntimeError, fathom.DeviceError
            As for :meth:`add`.
        """
        return self._edit("remove", stream, elements)

    def move(self, elements: ArrayLike, to: ArrayLike, *, stream: Stream = None) -> int:
        """The sites among some elements leave, then each comes to its new place.

        Parameters
        ----------
        elements, stream
            As for :meth:`add`. What is no site does not move; what is named twice goes to both places.
        to : int or array of int, shape (n,)
            One place for each, which may be a site already. As the elements, and where they are.

        Returns
        -------
        int
            How many of `elements` were sites.

        Raises
        ------
        TypeError, ValueError, RuntimeError, fathom.DeviceError
            As for :meth:`add`.
        """
        return self._edit("move", stream, elements, to)

    def _edit(self, edit: str, stream: Any, elements: Any, to: Any = None) -> int:
        given, places = _indices(elements, "elements", stream), None
        if edit == "move":
            places = memory_beside(_indices(to, "to", stream), "to", given, "elements", "give both in one place")
        return self._set.edit(_core.EDITS[edit], given.memory, places)


def _indices(x: Any, name: str, stream: Stream) -> Input:
    return take_values(x, name, stream).indices(name, "element")
