"""Triangle meshes that answer: around mesh::TriangleSet of the C++ library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.annotations import ArrayLike, Stream
from .._arrays.cuda import CudaInput
from .._arrays.dtypes import FLOATS, INDICES, DType, Shape, named
from .._arrays.kinds import Input
from .._arrays.places import lies_on_cuda
from .._arrays.take import AnyInput
from .._common.options import Backend, backend_number, choose, device_bytes, thread_count
from .._common.progress import Progress, listener
from .._common.warning import warn
from .band import Band
from .comparison import Comparison, Deviation
from .device_band import DeviceBand
from .field import OUTPUTS, Field, Nearest, Topology, Triple
from .lattice import LatticeOptions, count, lattice_of
from .triangles import Rule, Sign, coordinates, faces_of, warn_of_sign

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[Any]
_VECTORS = frozenset(("closest", "barycentric", "gradient"))
_SIGN_NAMES = {number: name for name, number in _core.SIGNS.items()}
_DENSE_MARGIN = 2
"""Points around the mesh's box, unless the caller says how many."""


class TriangleSet:
    """A triangle mesh that stays in memory and tells how far its surface is, on which side of it a point lies, which
    triangle is nearest, and where.

    Exact: distances are those that brute force over all triangles gives in float64 by a stated formula, rounded once;
    of equally near triangles the one with the lowest number. Same bytes from any number of threads. Many threads may
    ask at once. Can be copied and pickled.

    Parameters
    ----------
    vertices : array, shape (v, 3)
        x, y, z, finite, at most 1e70 on either side. float32 and float64 are taken as they are, integers become
        float64, half precision float32. Arrays of any kind. On a CUDA device the set lives and answers there. Those
        that are equal in value count as one.
    faces : array of int, shape (f, 3)
        Numbers of each triangle's vertices, from 0. On the host, or where the vertices are.
    sign : {"auto", "none", "pseudonormal", "winding", "fast-winding"}
        How inside is told from outside. "winding": by how often the surface goes around a point, exact, for all
        closed meshes, nested and overlapping ones, too; "fast-winding": by the generalised winding number, inside from
        ½ on, for meshes with holes, too; "pseudonormal": by the normal at what is nearest, for closed meshes that do
        not intersect themselves; "none": not at all, no distance is negative. "auto": "winding" if the mesh is closed,
        else "fast-winding"; :attr:`sign` says which.
    rule : {"nonzero", "even-odd", "positive"}
        With "winding", which winding numbers are inside: all but 0, also of meshes that are inside out; the odd ones;
        those above 0, of surfaces whose triangles run counter-clockwise seen from outside.
    backend : {"auto", "cpu", "cuda"}, optional
        Where the set lives: where the vertices are, or, with "cuda", vertices of the host on the current CUDA device.
    device_memory : int, optional
        Most bytes of the device's memory that the set keeps and a call takes, together, without results that stay
        there. Points and fields of the host go in pieces where they need more, bands in slabs.
    threads : int, optional
        Most threads to use while building; all processors if not given.
    stream : optional
        For arrays on a device, as for :func:`fathom.distance_transform`. The set is built when the call returns: on the
        host, and then copied.
    progress : bool or callable, optional
        As for :func:`fathom.distance_transform`.

    Raises
    ------
    TypeError, ValueError
        An argument is of no use, such as a vertex that is not finite, an index out of range, no triangle at all, or
        "winding" for a mesh with holes; the message says what would do.
    fathom.DeviceError
        An array lies on a device that cannot be used, or there is none.

    Warns
    -----
    UserWarning
        The sign "auto" or "pseudonormal" for a mesh with open edges, or "pseudonormal" for one that is inside out.

    Notes
    -----
    Building costs O(n log n) and 140 bytes per triangle, with pseudonormals 85 more, on a device
    another 48. Source of the pseudonormals: Bærentzen & Aanæs 2005.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> vertices = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
    >>> faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    >>> solid = fathom.TriangleSet(vertices, faces, sign="pseudonormal")
    >>> found = solid.nearest([[1.0, 1.0, 0.5], [1.0, 1.0, -2.0]], triangle=True, closest=True)
    >>> found.distance, found.triangle
    (array([-0.5,  2. ]), array([0, 0]))
    >>> found.closest
    array([[1., 1., 0.],
           [1., 1., 0.]])
    >>> solid.topology.closed, solid.topology.volume
    (True, 10.666666666666666)
    """

    def __init__(
        self,
        vertices: ArrayLike,
        faces: ArrayLike,
        *,
        sign: Sign = "auto",
        rule: Rule = "nonzero",
        backend: Backend | None = None,
        device_memory: int | None = None,
        threads: int | None = None,
        stream: Stream = None,
        progress: Progress = None,
    ) -> None:
        given = coordinates(vertices, "vertices", stream)
        if len(given.shape) != 2:
            raise ValueError(f"vertices has the shape {given.shape}; it must have (v, 3)")
        numbers_of = choose(_core.SIGNS, sign, "sign"), choose(_core.RULES, rule, "rule"), backend_number(backend)
        choices = *numbers_of, device_bytes(device_memory)
        if given.device is None and lies_on_cuda(faces, "faces"):
            raise ValueError("faces lies on a CUDA device, but vertices on the host; give both in one place")
        triangles = faces_of(faces, stream)
        told = listener(progress)
        self._build(given.downloaded(), triangles, given.maker(), choices, thread_count(threads), told)
        warn_of_sign(sign, rule, self.topology)

    def _build(
        self, vertices: Array, faces: Array, like: AnyInput, choices: _core.MeshChoices, threads: int, told: Any
    ) -> None:
        vertices.flags.writeable = faces.flags.writeable = False
        self._vertices, self._faces, self._like, self._choices = vertices, faces, like, choices
        if like.device is not None and choices[2] == _core.BACKENDS["cpu"]:
            raise ValueError("vertices lies on a CUDA device, where the backend cpu cannot work; use auto or cuda")
        self._set = _core.TriangleSet(vertices, faces, choices, like.device, threads, told)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: by the triangles, of which a set is built again."""
        return _rebuilt, (type(self), self._vertices, self._faces, self._like, self._choices)

    def __len__(self) -> int:
        """How many triangles."""
        return self._set.size

    def __repr__(self) -> str:
        low, high = (tuple(corner.tolist()) for corner in self.bounds)
        return f"fathom.TriangleSet(triangles={len(self)}, low={low}, high={high}, sign={self.sign!r})"

    @property
    def vertices(self) -> Array:
        """The vertices that were given, on the host, read-only."""
        return self._vertices

    @property
    def faces(self) -> Array:
        """The triangles that were given, on the host, read-only."""
        return self._faces

    @property
    def nbytes(self) -> int:
        """Bytes that the set keeps, on its device, too."""
        return self._set.bytes + self._vertices.nbytes + self._faces.nbytes

    @property
    def bounds(self) -> npt.NDArray[np.float64]:
        """Least and greatest x, y, z of the vertices that are used, [2, 3]."""
        return np.array(self._set.bounds)

    @property
    def topology(self) -> Topology:
        """What the mesh is like: closed or not, open and flipped edges, volume, area."""
        return Topology(*self._set.topology)

    @property
    def sign(self) -> str:
        """How inside is told from outside: what "auto" chose."""
        return _SIGN_NAMES[self._set.sign]

    def nearest(
        self,
        points: ArrayLike,
        *,
        distance: bool = True,
        triangle: bool = False,
        closest: bool = False,
        barycentric: bool = False,
        feature: bool = False,
        gradient: bool = False,
        inside: bool = False,
        dtype: npt.DTypeLike | None = None,
        threads: int | None = None,
        stream: Stream = None,
        progress: Progress = None,
    ) -> Nearest:
        """What of the surface is nearest to points.

        Parameters
        ----------
        points : array, shape (*queries, 3)
            x, y, z, finite; kinds and types as the vertices'. A set on a device also answers points of the host; those
            on its device without waiting, in the order of their library's current stream. There points that are not
            finite are infinitely far from triangle -1; on the host they are an error.
        distance, triangle, closest, barycentric, feature, gradient, inside : bool
            What is wanted; see :class:`fathom.Nearest`.
        dtype : dtype, optional
            float32 or float64, of all numbers that are no integers; float32 if the points are, else float64.
        threads, stream, progress
            As for the class.

        Returns
        -------
        Nearest
            Arrays of the points' kind, of the shape of the queries, with three numbers in a last axis where they are
            vectors. `triangle` is int64.

        Raises
        ------
        TypeError, ValueError, fathom.DeviceError
            As the class. Nothing has been computed.
        KeyboardInterrupt
            Ctrl-C stops long calls.

        Examples
        --------
        >>> import fathom
        >>> sheet = fathom.TriangleSet([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], sign="none")
        >>> found = sheet.nearest([0.25, 0.5, 2.0], barycentric=True, gradient=True)
        >>> found.distance, found.barycentric, found.gradient
        (array(2.), array([0.25, 0.25, 0.5 ]), array([0., 0., 1.]))
        """
        queries = cast(Input, coordinates(points, "points", stream))
        kind = queries.dtype if dtype is None else named(dtype, FLOATS)
        wanted = (distance, triangle, closest, barycentric, feature, gradient, inside)
        outputs = _Outputs(queries, queries.shape[:-1], wanted, kind, INDICES[1])
        self._set.nearest(queries.memory, outputs.memory(), thread_count(threads), listener(progress))
        return Nearest(**outputs.finish())

    def field(
        self,
        *,
        dtype: npt.DTypeLike | None = None,
        distance: bool = True,
        triangle: bool = False,
        closest: bool = False,
        barycentric: bool = False,
        feature: bool = False,
        gradient: bool = False,
        inside: bool = False,
        threads: int | None = None,
        stream: Stream = None,
        progress: Progress = None,
        **lattice: Unpack[LatticeOptions],
    ) -> Field:
        """The field on a whole lattice: :func:`fathom.mesh_distance` of this mesh, without `band` and `cutoff`.

        Parameters
        ----------
        dtype, threads, stream, progress
            As for :func:`fathom.mesh_distance`.
        distance, triangle, closest, barycentric, feature, gradient, inside : bool
            What is wanted; see :class:`fathom.Nearest`. `triangle` is int32.
        **lattice
            `resolution`, `spacing`, `origin`, `shape` and `margin`, as for :func:`fathom.mesh_distance`.

        Returns
        -------
        Field
            Of a mesh on a device there, in the order of its library's current stream.

        Raises
        ------
        TypeError, ValueError, MemoryError, fathom.DeviceError, KeyboardInterrupt
            As :func:`fathom.mesh_distance`.
        """
        like = self._like.at(stream)
        points = lattice_of(self._set, lattice, _DENSE_MARGIN)
        wanted = (distance, triangle, closest, barycentric, feature, gradient, inside)
        outputs = _Outputs(like, tuple(points.shape[::-1]), wanted, _float_type(dtype), INDICES[0])
        self._set.field(points, outputs.memory(), thread_count(threads), listener(progress))
        origin, spacing = _triple(points.origin), _triple(points.spacing)
        return Field(**outputs.finish(), origin=origin, spacing=spacing, sign=self.sign)

    def band(
        self,
        *,
        band: float | None = None,
        cutoff: float | None = None,
        dtype: npt.DTypeLike | None = None,
        triangle: bool = False,
        closest: bool = False,
        compact: bool = False,
        threads: int | None = None,
        stream: Stream = None,
        progress: Progress = None,
        **lattice: Unpack[LatticeOptions],
    ) -> Band | DeviceBand:
        """The part of the field that is near the surface: :func:`fathom.mesh_distance` of this mesh.

        Parameters
        ----------
        band, cutoff
            One of them, as for :func:`fathom.mesh_distance`.
        dtype, compact, threads, stream, progress
            As for :func:`fathom.mesh_distance`.
        triangle, closest : bool
            Keep the nearest triangle of each point, too, or the nearest point of the surface, as float32.
        **lattice
            `resolution`, `spacing`, `origin`, `shape` and `margin`, as for :func:`fathom.mesh_distance`.

        Returns
        -------
        Band
            Of a mesh on a device a :class:`fathom.DeviceBand`, which is done when the call returns.

        Raises
        ------
        TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
            As :func:`fathom.mesh_distance`.
        """
        if (band is None) == (cutoff is None):
            raise ValueError(f"{'neither' if band is None else 'both'} of band and cutoff given; give one of them")
        like = self._like.at(stream)
        step = max(lattice_of(self._set, lattice).spacing)
        reach = positive(cutoff, "cutoff") if band is None else positive(band, "band") * step
        points = lattice_of(self._set, lattice, cutoff=reach if lattice.get("margin") is None else None)
        number = _core.DTYPES[_float_type(dtype).name]
        keep = bool(triangle), bool(closest), bool(compact)
        told = listener(progress)
        if not isinstance(like, CudaInput):
            return Band(self._set.band(points, reach, number, keep, thread_count(threads), told), self.sign, like)
        if compact:
            raise ValueError(
                "bands on a device are not compact; vertices of the host with backend='cuda' give one in its memory"
            )
        there = _core.device_band(self._set, points, reach, number, keep, like.device, like.stream, told)
        return DeviceBand(there, self.sign, like)

    def compare(
        self,
        other: TriangleSet,
        *,
        tolerance: float | None = None,
        samples: int = 2**20,
        threads: int | None = None,
        progress: Progress = None,
    ) -> Comparison:
        """How far two surfaces are from one another: the Hausdorff distance, and the mean, both ways.

        Of surfaces, not of their vertices alone: the largest distance may lie within a triangle. Signs do not matter.
        Computed by the processor; of sets on a device by copies.

        Parameters
        ----------
        other : TriangleSet
        tolerance : float, optional
            Most that what is proved is above the largest distance that is found, in the meshes' unit; a millionth of
            the diagonal of the box around both if not given.
        samples : int
            Points of each surface, evenly over its area, from which mean and root mean square come.
        threads, progress
            As for the class.

        Returns
        -------
        Comparison

        Raises
        ------
        TypeError, ValueError
            An argument is of no use.
        KeyboardInterrupt
            Ctrl-C stops long calls.

        Notes
        -----
        Source: Tang, Lee & Kim, Interactive Hausdorff distance computation for general polygonal models, 2009.

        Examples
        --------
        >>> import fathom
        >>> sheet = [[0, 0, 0], [2, 0, 0], [0, 2, 0]]
        >>> low = fathom.TriangleSet(sheet, [[0, 1, 2]], sign="none")
        >>> high = fathom.TriangleSet([[x, y, 0.5 + x] for x, y, _ in sheet], [[0, 1, 2]], sign="none")
        >>> found = low.compare(high)
        >>> found.backward.max, found.backward.point, found.backward.nearest
        (2.5, (2.0, 0.0, 2.5), (2.0, 0.0, 0.0))
        >>> found.hausdorff
        2.5
        """
        if not isinstance(other, TriangleSet):
            raise TypeError(f"other must be a fathom.TriangleSet, not {type(other).__name__}")
        limit = None if tolerance is None else float(tolerance)
        told = listener(progress)
        forward, backward, used = self._set.compare(
            other._set, limit, count(samples, "samples"), thread_count(threads), told
        )
        return Comparison(_deviation(forward), _deviation(backward), used)

    def self_intersections(
        self, *, limit: int = 2**20, threads: int | None = None, progress: Progress = None
    ) -> npt.NDArray[np.int32]:
        """Pairs of triangles that meet other than in corners and edges that they share, by vertices of equal value.

        Exact. Triangles that touch in a point or along a line meet; so do those that lie on one another, and
        duplicates. Triangles without an area are left out. Computed by the processor; of a set on a device by a copy.

        Parameters
        ----------
        limit : int
            Most pairs to be returned; if there are more, the first of them, with a warning.
        threads, progress
            As for the class.

        Returns
        -------
        array of int32, shape (k, 2)
            Numbers of triangles, in ascending order, the lower one of each pair first.

        Warns
        -----
        UserWarning
            There are more pairs than `limit`; the message says how many.

        Examples
        --------
        >>> import fathom
        >>> vertices = [[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, -1], [1, 1, 1], [5, 5, 1]]
        >>> fathom.TriangleSet(vertices, [[0, 1, 2], [3, 4, 5]], sign="none").self_intersections()
        array([[0, 1]], dtype=int32)
        """
        found = self._set.self_intersections(count(limit, "limit"), thread_count(threads), listener(progress))
        if found.count > len(found.pairs):
            warn(f"{found.count} pairs of triangles meet; the first {len(found.pairs)} are returned")
        return found.pairs


class _Outputs:
    """Arrays for what is wanted, in the order of OUTPUTS."""

    def __init__(self, like: Input, shape: Shape, wanted: Sequence[bool], kind: DType, ids: DType) -> None:
        if not any(wanted):
            raise ValueError(f"nothing is wanted; give True for one of {', '.join(OUTPUTS)}")
        types = {"triangle": ids, "feature": np.dtype(np.uint8), "inside": np.dtype(np.bool_)}
        self._made = {
            name: like.output((*shape, 3) if name in _VECTORS else shape, types.get(name, kind))
            for name, is_wanted in zip(OUTPUTS, wanted)
            if is_wanted
        }

    def memory(self) -> tuple[Any, ...]:
        """What the compiled part takes; None for what is not wanted."""
        return tuple(self._made[name].memory if name in self._made else None for name in OUTPUTS)

    def finish(self) -> dict[str, Any]:
        return {name: output.finish() for name, output in self._made.items()}


def _float_type(dtype: npt.DTypeLike | None) -> DType:
    return FLOATS[0] if dtype is None else named(dtype, FLOATS)


def _deviation(parts: tuple[Any, ...]) -> Deviation:
    most, bound, point, nearest, *rest = parts
    return Deviation(most, bound, _triple(point), _triple(nearest), *rest)


def _triple(values: Sequence[float]) -> Triple:
    x, y, z = values
    return x, y, z


def positive(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None
    if not 0 < number < math.inf:
        raise ValueError(f"{name} is {number}; it must be finite and above 0")
    return number


def _rebuilt(kind: Any, vertices: Array, faces: Array, like: AnyInput, choices: _core.MeshChoices) -> Any:
    made = kind.__new__(kind)
    made._build(vertices, faces, like, choices, 0, None)
    return made
