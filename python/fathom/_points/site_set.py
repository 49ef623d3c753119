"""Resident sets of sites, and queries against them: around points::SiteSet of the C++ library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.annotations import ArrayLike, Floats, HostArray, Ids, No, SameKind, Stream, Yes, overload
from .._arrays.dtypes import FLOATS, INDICES, Shape, named
from .._arrays.given import as_numpy
from .._arrays.kinds import Input
from .._arrays.places import lies_on_cuda
from .._arrays.take import take, take_values
from .._common.options import Backend, Metric, backend_number, choose, device_bytes, thread_count
from .._common.progress import Progress, listener
from . import rebuilding
from .queries import angles_beside, directions_beside, memory_beside

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .queries import NearestOptions

Storage = Literal["sorted", "boxed", "plain"]
_METRICS_OF_POWERS: dict[float, Metric] = {1: "taxicab", 2: "euclidean", math.inf: "chessboard"}


class SiteSet:
    """Sites in 2D or 3D that stay in memory and tell how far the nearest of them is, without a field of distances.

    Exact: between integers squared distances are exact; otherwise the site is the one that float64 brute force finds.
    Of equally near sites the one with the lowest index. Many threads may ask at once. Can be copied and pickled: by its
    sites, of which a set is built again.

    Parameters
    ----------
    points : array, shape (n, d), or (batch, n, d) for independent clouds
        Coordinates, d = 2 or 3, finite, each 0 or between 1e-138 and 1e150 on either side. int32, float32 and float64
        are taken as they are; other integers become int32, or float64 where they do not fit, and half precision becomes
        float32. Arrays of any kind. On a CUDA device the set lives and answers there; wider integers than int32's are
        refused there.
    storage : {"sorted", "boxed", "plain"}
        What is kept besides the array: a sorted copy (≤ 17.1 bytes per site in 3D, ≤ 30 for float64), after which the
        array may go; boxes of consecutive sites (≤ 0.3 bytes), for arrays in which neighbours lie near one another; or
        nothing. The last two need the array to stay as it is. Answers are the same.
    every : int
        Keep every so-many-th site only; indices remain those of the array. See :meth:`percentage_error`.
    period : float or sequence of float, optional
        Extent of a periodic box [0, period), for all axes or each; 0: that axis is open.
    backend : {"auto", "cpu", "cuda"}, optional
        Where the set lives: where the points are, or, with "cuda", points of the host on the current CUDA device.
    device_memory : int, optional
        Most bytes of the device's memory that the set keeps and a call takes, together. Queries that need more go in
        batches. Plain points of the host that would take more than half of it stay there and pass by in pieces; calls
        wait then.
    devices : sequence of int, optional
        With "cuda", for points of the host: devices that have the set each, and share queries of the host in proportion
        to how fast each was before; each answers queries in its own memory.
    threads : int, optional
        Most threads to use while building; all processors if not given.
    stream : optional
        For points on a device, as for :func:`fathom.distance_transform`. The set is built when the call returns.
    progress : bool or callable, optional
        As for :func:`fathom.distance_transform`.

    Raises
    ------
    TypeError, ValueError
        An argument is of no use; the message names it and says what would do.
    fathom.DeviceError
        The points lie on a device that cannot be used, or there is none.

    Notes
    -----
    Building costs O(n log n), a query O(log n) in practice. Source: Khan & Zahran, pointwise evaluation of distance
    transforms; packed Hilbert-ordered trees after Kamel & Faloutsos 1993.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> stations = fathom.SiteSet(np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 5.0]]))
    >>> distances, sites = stations.nearest(np.array([[7.0, 4.0], [1.0, 4.0]]))
    >>> distances, sites
    (array([5.        , 1.41421356]), array([1, 2]))
    """

    def __init__(
        self,
        points: ArrayLike,
        *,
        storage: Storage = "sorted",
        every: int = 1,
        period: float | Sequence[float] | None = None,
        backend: Backend | None = None,
        device_memory: int | None = None,
        devices: Sequence[int] | None = None,
        threads: int | None = None,
        stream: Stream = None,
        progress: Progress = None,
    ) -> None:
        given = take_values(points, "points", stream).coordinates("points", False)
        how: dict[str, Any] = {
            "storage": storage, "every": every, "period": period, "backend": backend, "device_memory": device_memory,
            "devices": devices,
        }
        choices = set_choices(**how)
        self._set = _core.SiteSet(given.memory, False, choices, thread_count(threads), listener(progress))
        self._points = None if storage == "sorted" else given
        """Keeps memory of a device that the set refers to."""
        self._shape: Shape = given.shape
        self._count = given.shape[-2]
        self._dtype = given.dtype
        self._mask: Shape | None = None
        """Shape of the mask that the set was made of."""
        self._how = rebuilding.options_of(given, **how)

    @classmethod
    def of_mask(
        cls,
        mask: ArrayLike,
        *,
        storage: Storage = "sorted",
        every: int = 1,
        period: float | Sequence[float] | None = None,
        backend: Backend | None = None,
        device_memory: int | None = None,
        devices: Sequence[int] | None = None,
        threads: int | None = None,
        stream: Stream = None,
        progress: Progress = None,
    ) -> SiteSet:
        """The nonzero elements of an array with 2 or 3 axes, at their indices; a site's index is the linear one.

        Parameters
        ----------
        mask : array, shape (ny, nx) or (nz, ny, nx)
            Of bool, integers or floats, of any kind. It may go afterwards. On a CUDA device the set lives there.
        storage, every, period, backend, device_memory, devices, threads, stream, progress
            As for the class.

        Examples
        --------
        >>> import numpy as np
        >>> import fathom
        >>> sites = fathom.SiteSet.of_mask(np.array([[0, 0, 1], [1, 0, 0]]))
        >>> sites.nearest([0, 0])
        (array(1.), array(3))
        """
        given = take(mask, "mask", stream)
        axes = len(given.shape)
        if axes not in (2, 3):
            raise ValueError(f"mask has {axes} axes; it must have 2 or 3")
        how: dict[str, Any] = {
            "storage": storage, "every": every, "period": period, "backend": backend, "device_memory": device_memory,
            "devices": devices,
        }
        choices = set_choices(**how)
        native = _core.SiteSet(given.memory, True, choices, thread_count(threads), listener(progress))
        made = cls._over(native, (math.prod(given.shape), axes))
        made._dtype = INDICES[0]
        made._mask = given.shape
        made._how = rebuilding.options_of(given, **how)
        return made

    @classmethod
    def _over(cls, native: _core.SiteSet, shape: Shape) -> SiteSet:
        """What asks a set. `shape`: of the array of all the sites that there may be."""
        made = cls.__new__(cls)
        made._set, made._points, made._shape, made._count = native, None, shape, shape[-2]
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: by the sites, of which a set is built again, where this one is."""
        if type(self._set) is not _core.SiteSet:
            raise TypeError("what answers for a set that changes cannot be copied or pickled; copy or pickle that set")
        if self._mask is not None:
            places, _ = rebuilding.read(self._set, 0, self._dtype, len(self._mask))
            return rebuilding.site_set_of_mask, (type(self), places, self._mask, self._how)
        rows = rebuilding.kept_rows(self._set, self._shape, self._how["every"], self._dtype)
        return rebuilding.site_set, (type(self), rows, self._count, self._how)

    def __len__(self) -> int:
        """How many sites of a cloud are kept."""
        return self._set.size

    @property
    def nbytes(self) -> int:
        """Bytes that the set keeps itself, besides the caller's array."""
        return self._set.bytes

    @overload
    def nearest(
        self, q: HostArray, k: int = 1, *, return_lower: No = False, **options: Unpack[NearestOptions]
    ) -> tuple[Floats, Ids]: ...
    @overload
    def nearest(
        self, q: HostArray, k: int = 1, *, return_lower: Yes, **options: Unpack[NearestOptions]
    ) -> tuple[Floats, Ids, Floats]: ...
    @overload
    def nearest(
        self, q: SameKind, k: int = 1, *, return_lower: No = False, **options: Unpack[NearestOptions]
    ) -> tuple[SameKind, SameKind]: ...
    @overload
    def nearest(
        self, q: SameKind, k: int = 1, *, return_lower: Yes, **options: Unpack[NearestOptions]
    ) -> tuple[SameKind, SameKind, SameKind]: ...
    @overload
    def nearest(
        self, q: ArrayLike, k: int = 1, *, return_lower: bool = False, **options: Unpack[NearestOptions]
    ) -> tuple[Any, ...]: ...
    def nearest(
        self,
        q: ArrayLike,
        k: int = 1,
        *,
        metric: Metric = "euclidean",
        radius: float | None = None,
        relative_error: float = 0.0,
        absolute_error: float = 0.0,
        work_limit: int | None = None,
        directions: ArrayLike | None = None,
        half_angle: Any = None,
        cylinder_radius: float = 0.0,
        squared: bool = False,
        return_lower: bool = False,
        dtype: npt.DTypeLike | None = None,
        threads: int | None = None,
        stream: Stream = None,
        progress: Progress = None,
    ) -> tuple[Any, ...]:
        """Distance and index of the nearest site, or of the k nearest, of each query.

        Parameters
        ----------
        q : array, shape (*queries, d), or (batch, m, d) for a batch of clouds
            Where to ask; kinds and types as the points'. A set on a device also answers queries of the host; those on
            its device without waiting, in the order of their library's current stream. There a query with another
            coordinate than points may have finds nothing; on the host it is an error.
        k : int
            How many of the nearest sites, 1 to 64, in ascending order of distance, then index.
        metric : {"euclidean", "taxicab", "chessboard"}
            Of all distances. With the last two, which :class:`VoxelSet` has not, neither `directions` nor `squared`.
        radius : float, optional
            Sites farther away do not count.
        relative_error, absolute_error : float
            How much larger than the true one a distance may be: (1 + relative) times, or absolute more.
        work_limit : int, optional
            About so many sites a query may look at; then the best so far is returned. See `return_lower`.
        directions : array, shape (d,), or the shape of `q`, optional
            Only sites in a cone from the query along this direction, with `half_angle`; the boundary counts. One
            direction may lie on the host in any case, others lie where `q` does.
        half_angle : float, or array of the queries' shape
            Half of the cone's opening, in radians, 0 to π.
        cylinder_radius : float
            Besides the cone's, the sites no farther than this from the ray along `directions`.
        squared : bool
            Squared distances.
        return_lower : bool
            Also a lower bound: no site that counts is nearer than this. For k = 1.
        dtype : dtype, optional
            float32 or float64, of the distances; float32 if `q` is, else float64.
        threads, stream, progress
            As for the class.

        Returns
        -------
        distances : array, shape of the queries, for k > 1 with k at the end
            The same kind of array as `q`; each rounded once, as float32 to +inf or 0 where it is beyond the range of
            that. +inf where no site counts.
        sites : array of int64, the same shape
            Index among the points, of a mask the linear one; -1 where no site counts.
        lower : array, the same shape
            With `return_lower`.

        Raises
        ------
        TypeError, ValueError, fathom.DeviceError
            As the class. Nothing has been computed.
        KeyboardInterrupt
            Ctrl-C stops long calls.

        Examples
        --------
        >>> import fathom
        >>> sites = fathom.SiteSet([[0, 0], [3, 4], [6, 8]])
        >>> sites.nearest([0, 1], k=2)
        (array([1.        , 4.24264069]), array([0, 1]))
        >>> sites.nearest([0, 1], directions=(1, 1), half_angle=0.2)
        (array(4.24264069), array(1))
        >>> sites.nearest([[9, 8], [90, 80]], radius=5)
        (array([ 3., inf]), array([ 2, -1]))
        >>> sites.nearest([0, 1], k=2, metric="taxicab")
        (array([1., 6.]), array([0, 1]))
        """
        queries = self._queries(q, stream)
        count = index(k)
        if not 1 <= count <= 64:
            raise ValueError(f"k is {count}; give 1 to 64")
        if directions is not None and half_angle is None:
            raise ValueError("directions is given, but half_angle is not; give both for a cone")
        cylinder = _number(cylinder_radius, "cylinder_radius")
        if directions is None and (half_angle is not None or cylinder != 0):
            name = "cylinder_radius" if half_angle is None else "half_angle"
            raise ValueError(f"{name} is given, but directions is not; give both for a cone")
        shape = queries.shape[:-1]
        angles = None if half_angle is None or np.ndim(half_angle) == 0 else angles_beside(half_angle, shape, stream)
        options = _core.QueryOptions(
            count,
            choose(_core.METRICS, metric, "metric"),
            math.inf if radius is None else _number(radius, "radius"),
            _number(relative_error, "relative_error"),
            _number(absolute_error, "absolute_error"),
            0 if work_limit is None else _whole(work_limit, "work_limit"),
            _number(half_angle, "half_angle") if half_angle is not None and angles is None else 0.0,
            cylinder,
            thread_count(threads),
        )
        usual = FLOATS[0] if queries.dtype == FLOATS[0] else FLOATS[1]
        kind = usual if dtype is None else named(dtype, FLOATS)
        ends = shape if count == 1 else (*shape, count)
        distances, sites = queries.output(ends, kind), queries.output(ends, INDICES[1])
        lower = queries.output(ends, kind) if return_lower else None
        self._set.nearest(
            queries.memory,
            options,
            None if directions is None else directions_beside(directions, queries, angles is None, stream),
            None if angles is None else memory_beside(angles, "half_angle", queries, "q"),
            None if squared else distances.memory,
            distances.memory if squared else None,
            sites.memory,
            None if lower is None else lower.memory,
            listener(progress),
        )
        results = (distances, sites) if lower is None else (distances, sites, lower)
        return tuple(result.finish() for result in results)

    def percentage_error(self, q: ArrayLike, exact: SiteSet, *, radius: float | None = None) -> float:
        """Mean absolute percentage error of this set's distances against those of an exact one, as of `every`.

        Parameters
        ----------
        q : array
            Where to ask, as for :meth:`nearest`; some hundred of the queries tell what all would.
        exact : SiteSet
            All of the sites.
        radius : float, optional
            Sites farther away do not count.

        Returns
        -------
        float
            100 · mean(|distance − exact distance| / exact distance) over the queries whose exact distance is finite and
            not 0; 0 where there are none. +inf if this set finds no site where the exact one does.

        Raises
        ------
        TypeError, ValueError, fathom.DeviceError
            As :meth:`nearest`.

        Notes
        -----
        Source: Khan & Zahran, pointwise evaluation of distance transforms, figure 7.

        Examples
        --------
        >>> import fathom
        >>> points = [[0, 0], [1, 0], [4, 0], [6, 0]]
        >>> round(fathom.SiteSet(points, every=2).percentage_error([[1, 1], [4, 5]], fathom.SiteSet(points)), 2)
        20.71
        """
        if not isinstance(exact, SiteSet):
            raise TypeError(f"exact is {type(exact).__name__}; it must be a SiteSet of all sites")
        found, _ = self.nearest(q, radius=radius, dtype=FLOATS[1])
        truth, _ = exact.nearest(q, radius=radius, dtype=FLOATS[1])
        counts = (truth > 0) & (truth < math.inf)
        errors = abs(found[counts] - truth[counts]) / truth[counts]
        return 100 * float(errors.mean()) if len(errors) else 0.0

    @overload
    def query(
        self, x: HostArray, k: int | Sequence[int] = 1, eps: float = 0, p: float = 2, distance_upper_bound: float = ...,
        workers: int = 1,
    ) -> tuple[npt.NDArray[np.float64], Ids]: ...
    @overload
    def query(
        self, x: ArrayLike, k: int | Sequence[int] = 1, eps: float = 0, p: float = 2, distance_upper_bound: float = ...,
        workers: int = 1,
    ) -> tuple[Any, Any]: ...
    def query(
        self,
        x: ArrayLike,
        k: int | Sequence[int] = 1,
        eps: float = 0,
        p: float = 2,
        distance_upper_bound: float = math.inf,
        workers: int = 1,
    ) -> tuple[Any, Any]:
        """As ``scipy.spatial.cKDTree.query``: the same arguments, and where no site counts, the index n.

        Parameters
        ----------
        x : array, shape (*queries, d)
            Where to ask.
        k : int or sequence of int
            How many of the nearest sites; or which of them, counted from 1.
        eps : float
            Distances may be (1 + eps) times as large as the true ones.
        p : float
            1: taxicab distances, 2: Euclidean ones, infinity: chessboard.
        distance_upper_bound : float
            Only nearer sites count.
        workers : int
            Threads; -1: all processors.

        Returns
        -------
        d, i : arrays, shape of the queries, for k other than 1 with one axis more
            Distances, and indices among the points; +inf and n where no site counts.

        Examples
        --------
        >>> import fathom
        >>> fathom.SiteSet([[0, 0], [3, 4]]).query([[0, 1], [9, 9]], distance_upper_bound=2)
        (array([ 1., inf]), array([0, 2]))
        """
        metric = _METRICS_OF_POWERS.get(p)
        if metric is None:
            raise ValueError(f"p is {p}; it must be 1, 2 or infinity")
        wanted = [index(number) for number in np.atleast_1d(k)]
        if min(wanted, default=0) < 1:
            raise ValueError(f"k is {k}; give 1 to 64, or some of these numbers")
        distances, sites = self.nearest(
            x if lies_on_cuda(x, "x") else as_numpy(x, "x"),
            max(wanted),
            metric=metric,
            radius=distance_upper_bound,
            relative_error=eps,
            threads=None if workers == -1 else workers,
            dtype=FLOATS[1],
        )
        out_of_reach = distances >= distance_upper_bound
        none = self._set.ids if isinstance(self._set, _core.DynamicSet) else self._count
        distances[out_of_reach], sites[out_of_reach] = math.inf, none
        if np.ndim(k):
            if max(wanted) == 1:
                distances, sites = distances[..., None], sites[..., None]
            places = [number - 1 for number in wanted]
            distances, sites = distances[..., places], sites[..., places]
        return distances, sites

    def _queries(self, q: Any, stream: Any) -> Input:
        """Queries as the library takes them: rows, which lie dense where several axes count them."""
        given = take_values(q, "q", stream)
        axes, batched = self._shape[-1], len(self._shape) == 3
        wanted = (self._shape[0], "m", axes) if batched else ("...", axes)
        shape = given.shape
        fits = len(shape) >= 1 and shape[-1] == axes
        if not fits or (batched and (len(shape) != 3 or shape[0] != self._shape[0])):
            raise ValueError(f"q has the shape {shape}; it must have ({', '.join(map(str, wanted))})")
        return given.coordinates("q", len(shape) > 2 and not batched)


def set_choices(
    storage: str,
    every: int,
    period: float | Sequence[float] | None,
    backend: Backend | None,
    device_memory: int | None,
    devices: Sequence[int] | None,
) -> _core.SetChoices:
    periods = () if period is None else tuple(_number(length, "period") for length in np.atleast_1d(period))
    return _core.SetChoices(
        choose(_core.STORAGES, storage, "storage"),
        _whole(every, "every"),
        periods,
        backend_number(backend),
        device_bytes(device_memory),
        () if devices is None else tuple(_whole(device, "devices", 32) for device in devices),
    )


def _whole(value: int, name: str, bits: int = 64) -> int:
    number = index(value)
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise ValueError(f"{name} is {number}, which {bits} bits with a sign do not hold")
    return number


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None
