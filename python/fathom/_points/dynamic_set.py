"""Sets of sites that come and go: around points::DynamicSet of the C++ library."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from .. import _core
from .._arrays.annotations import ArrayLike, Ids, Stream
from .._arrays.dtypes import INDICES
from .._arrays.host import as_indices
from .._arrays.kinds import Input
from .._arrays.take import take_values
from .._common.options import Backend, thread_count
from . import rebuilding
from .changing import ChangingSet
from .site_set import set_choices

_LARGEST = 2**63 - 1
"""Of the indices that the compiled part can be asked for."""


class DynamicSet(ChangingSet[_core.DynamicSet]):
    """Sites in 2D or 3D that come and go, and tell how far the nearest of them is, without a rebuild.

    Answers are those of a sorted :class:`SiteSet` of the sites that are there. Each keeps the index that it was given
    when it was added; those of removed ones are not given out again. Many threads may ask at once; edits wait for them,
    and they for edits. A `progress` function may ask the set that calls it, but not edit it: RuntimeError. Can be
    copied and pickled: by its sites and their indices, of which a set is built again.

    Parameters
    ----------
    points : array, shape (n, d)
        The first sites, which may be none, with the indices 0 to n - 1. As for :class:`SiteSet`. Their dtype and d stay
        the set's.
    period, devices
        As for :class:`SiteSet`.
    backend : {"auto", "cpu", "cuda"}, optional
        Where the set lives and answers: where the points are, on the host, or with "cuda" on a CUDA device. Edits are
        made on the host and copied to there, so that many are best made in one call.
    threads : int, optional
        Most threads to use for edits; all processors if not given.
    stream : optional
        For points on a device, as for :func:`fathom.distance_transform`. The set is built when the call returns.

    Raises
    ------
    TypeError, ValueError
        An argument is of no use; the message names it and says what would do. Nothing has changed then.
    fathom.DeviceError
        There is no CUDA device, or it has not enough memory. After an edit that found too little the set is of no use.

    Notes
    -----
    An edit costs some microseconds in practice, one of a quarter of the sites or more a rebuild. In 3D a site takes at
    most 33 bytes (float64: 54) where sites were only added, up to 2.5 times that where they were removed, and on a
    device as much again there; and 4 bytes for each index ever given out. Source: Itai, Konheim & Rodeh 1981, a sorted
    sequence with gaps; here along a Hilbert curve under a tree of boxes. On a device, a graph that captured a query
    must not run after the next edit: it would read memory that the set may have given back.

    Examples
    --------
    >>> import fathom
    >>> taxis = fathom.DynamicSet([[0.0, 0.0], [10.0, 0.0]])
    >>> taxis.add([[4.0, 3.0], [20.0, 20.0]])
    array([2, 3])
    >>> taxis.remove([1])
    >>> taxis.move([3], [[9.0, 9.0]])
    >>> taxis.nearest([[1.0, 0.0], [9.0, 8.0]])
    (array([1., 1.]), array([0, 3]))
    """

    def __init__(
        self,
        points: ArrayLike,
        *,
        period: float | Sequence[float] | None = None,
        backend: Backend | None = None,
        devices: Sequence[int] | None = None,
        threads: int | None = None,
        stream: Stream = None,
    ) -> None:
        given = take_values(points, "points", stream).coordinates("points", False)
        if given.device is not None and backend in (None, "auto", "cuda"):
            backend, devices = "cuda", [given.device] if devices is None else devices
        choices = set_choices("sorted", 1, period, backend, None, devices)
        self._set = _core.DynamicSet(given.memory, choices, thread_count(threads))
        self._dtype = given.dtype
        self._how = rebuilding.options_of(given, period=period, backend=backend, devices=devices)
        self._ask_through(given.shape)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: by the sites with their indices, of which a set is built again, where this one is."""
        given_out = self._set.ids
        places, ids = rebuilding.read(self._set, 0, self._dtype, self._sites._shape[1])
        given_out = max(given_out, int(ids.max(initial=-1)) + 1)  # others may add meanwhile
        return rebuilding.dynamic_set, (type(self), places, ids, given_out, self._how)

    def __contains__(self, site: int) -> bool:
        """Whether a site with this index is there."""
        site = index(site)
        return 0 <= site <= _LARGEST and self._set.contains(site)

    def add(self, points: ArrayLike, *, stream: Stream = None) -> Ids:
        """New sites.

        Parameters
        ----------
        points : array, shape (n, d)
            Their places: finite values that the set's dtype holds exactly. On a device, of that dtype; they pass by the
            host, which makes the edit.
        stream : optional
            For points on a device, as for :func:`fathom.distance_transform`. The edit is done when the call returns.

        Returns
        -------
        array of int64, shape (n,)
            Their indices, which follow those given out before.

        Raises
        ------
        TypeError, ValueError
            The points are not such an array, or lie outside of the periodic box. Nothing has changed then.
        RuntimeError
            A `progress` function called it while this set is asked. Nothing has changed then.
        fathom.DeviceError
            The device has not enough memory. The set is of no use then.
        """
        places = self._places(points, stream)
        first = self._set.add(places.memory)
        return np.arange(first, first + places.shape[0], dtype=INDICES[1])

    def remove(self, sites: ArrayLike) -> None:
        """Takes sites away.

        Parameters
        ----------
        sites : int or array of int, shape (n,)
            Indices, each once, of sites that are there.

        Raises
        ------
        TypeError, ValueError
            These are not such indices. Nothing has changed then.
        RuntimeError, fathom.DeviceError
            As for :meth:`add`.
        """
        self._set.remove(as_indices(sites, "sites", "site"))

    def move(self, sites: ArrayLike, points: ArrayLike, *, stream: Stream = None) -> None:
        """Puts sites elsewhere; their indices stay.

        Parameters
        ----------
        sites : int or array of int, shape (n,)
            Indices, each once, of sites that are there.
        points, stream
            Where each goes, as for :meth:`add`.

        Raises
        ------
        TypeError, ValueError
            These are not such indices or points, or not as many. Nothing has changed then.
        RuntimeError, fathom.DeviceError
            As for :meth:`add`.
        """
        places = self._places(points, stream)
        self._set.move(as_indices(sites, "sites", "site"), places.memory)

    def _places(self, points: Any, stream: Any) -> Input:
        return take_values(points, "points", stream).coordinates("points", False).exactly(self._dtype, "points")
