"""Fields of triangle meshes in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._arrays.annotations import ArrayLike, Floats, HostArray, SameKind, Stream, overload
from .._arrays.places import lies_on_cuda
from .._common.options import Backend
from .._common.progress import Progress
from .band import Band
from .device_band import DeviceBand
from .field import Field
from .lattice import LatticeOptions, Numbers, lattice_of
from .surface import level_of
from .triangle_set import TriangleSet
from .triangles import Rule, Sign

if TYPE_CHECKING:
    from typing_extensions import Unpack

    class ShellOptions(LatticeOptions, total=False):
        sign: Sign
        rule: Rule
        dtype: npt.DTypeLike | None
        threads: int | None
        progress: Progress

    class FieldOptions(ShellOptions, total=False):
        distance: bool
        triangle: bool
        closest: bool
        barycentric: bool
        feature: bool
        gradient: bool
        inside: bool
        backend: Backend | None
        device_memory: int | None
        compact: bool
        stream: Stream


@overload
def mesh_distance(
    vertices: ArrayLike, faces: ArrayLike, *, band: None = None, cutoff: None = None, **options: Unpack[FieldOptions]
) -> Field: ...
@overload
def mesh_distance(
    vertices: HostArray, faces: ArrayLike, *, band: float, cutoff: None = None, **options: Unpack[FieldOptions]
) -> Band: ...
@overload
def mesh_distance(
    vertices: HostArray, faces: ArrayLike, *, band: None = None, cutoff: float, **options: Unpack[FieldOptions]
) -> Band: ...
@overload
def mesh_distance(
    vertices: ArrayLike, faces: ArrayLike, *, band: float | None = None, cutoff: float | None = None,
    **options: Unpack[FieldOptions],
) -> Field | Band | DeviceBand: ...
def mesh_distance(
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    resolution: int | None = None,
    spacing: Numbers = None,
    origin: Sequence[float] | None = None,
    shape: Sequence[int] | None = None,
    margin: int | None = None,
    sign: Sign = "auto",
    rule: Rule = "nonzero",
    band: float | None = None,
    cutoff: float | None = None,
    dtype: npt.DTypeLike | None = None,
    distance: bool = True,
    triangle: bool = False,
    closest: bool = False,
    barycentric: bool = False,
    feature: bool = False,
    gradient: bool = False,
    inside: bool = False,
    backend: Backend | None = None,
    device_memory: int | None = None,
    compact: bool = False,
    threads: int | None = None,
    stream: Stream = None,
    progress: Progress = None,
) -> Field | Band | DeviceBand:
    """Distance field of a triangle mesh on a lattice of points, negative inside: the whole of it, or its narrow band.

    Exact: see :class:`fathom.TriangleSet`, which is to be built once where a mesh is asked more than once.

    Parameters
    ----------
    vertices, faces, sign, rule, backend, device_memory
        As for :class:`fathom.TriangleSet`.
    resolution : int, optional
        Points along the longest side of the mesh's box, whose low corner is one of them. This or `spacing`.
    spacing : float or sequence of 3 floats, optional
        Step of the lattice along x, y, z. Its points are whole multiples of it, unless `origin` says something else.
    origin : sequence of 3 floats, optional
        x, y, z of the first point; else it lies `margin` points before the box.
    shape : sequence of 3 ints, optional
        Points along x, y, z; else up to `margin` points behind the box.
    margin : int, optional
        Points around the box. 2 if not given, or as many as hold all of a band.
    band : float, optional
        So many steps of the lattice on each side of the surface (the longest ones, where they differ) are computed
        alone.
    cutoff : float, optional
        The same in the mesh's unit.
    dtype : dtype, optional
        float32, if not given, or float64: of all numbers that are no integers.
    distance, triangle, closest, barycentric, feature, gradient, inside : bool
        What is wanted; see :class:`fathom.Nearest`. A band has distances and may have `triangle` and `closest`.
    compact : bool
        Keep the band's points alone, and not all of the tiles that they lie in: some 40 % of the memory, also while it
        is computed (with backend="cuda" afterwards, in the host's memory). The same results. Not of arrays on a device.
    threads, stream, progress
        As for :class:`fathom.TriangleSet`.

    Returns
    -------
    Field
        Arrays of the vertices' kind, [z, y, x], vectors with x, y, z in a last axis, and the lattice's `origin` and
        `spacing`.
    Band
        With `band` or `cutoff`; of a mesh on a device a :class:`fathom.DeviceBand`.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError
        As :class:`fathom.TriangleSet`.
    MemoryError
        The field is larger than the memory.
    KeyboardInterrupt
        Ctrl-C stops long calls.

    Warns
    -----
    UserWarning
        As :class:`fathom.TriangleSet`.

    Notes
    -----
    Source: Landgraf, Generating 3D distance fields on GPUs, 2016, for narrow bands; see :class:`fathom.TriangleSet`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> vertices = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
    >>> faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    >>> field = fathom.mesh_distance(vertices, faces, spacing=0.5, sign="pseudonormal")
    >>> field
    fathom.Field(shape=(13, 13, 13), origin=(-1.0, -1.0, -1.0), spacing=(0.5, 0.5, 0.5), sign='pseudonormal',
                 distance=float32[13, 13, 13])
    >>> field.distance[3, 4, 4]  # z, y, x: the point (1, 1, 0.5)
    np.float32(-0.5)
    >>> len(fathom.mesh_distance(vertices, faces, spacing=0.5, sign="pseudonormal", band=1))
    354
    """
    mesh = TriangleSet(
        vertices,
        faces,
        sign=sign,
        rule=rule,
        backend=backend,
        device_memory=device_memory,
        threads=threads,
        stream=stream,
    )
    lattice = LatticeOptions(resolution=resolution, spacing=spacing, origin=origin, shape=shape, margin=margin)
    usual: dict[str, Any] = {
        "dtype": dtype, "triangle": triangle, "closest": closest, "threads": threads, "stream": stream,
        "progress": progress,
    }
    more: dict[str, Any] = {"barycentric": barycentric, "feature": feature, "gradient": gradient, "inside": inside}
    if band is None and cutoff is None:
        if compact:
            raise ValueError("compact is for bands; give band or cutoff, too")
        return mesh.field(**lattice, **usual, **more, distance=distance)
    for name, is_wanted in {**more, "distance=False": not distance}.items():
        if is_wanted:
            raise ValueError(f"a band has no {name}; ask TriangleSet.nearest() for the band's points()")
    return mesh.band(band=band, cutoff=cutoff, compact=compact, **lattice, **usual)


@overload
def offset_surface(
    vertices: HostArray, faces: ArrayLike, distance: float, **options: Unpack[ShellOptions]
) -> tuple[Floats, npt.NDArray[np.int32]]: ...
@overload
def offset_surface(
    vertices: SameKind, faces: ArrayLike, distance: float, **options: Unpack[ShellOptions]
) -> tuple[SameKind, SameKind]: ...
@overload
def offset_surface(
    vertices: ArrayLike, faces: ArrayLike, distance: float, **options: Unpack[ShellOptions]
) -> tuple[Any, Any]: ...
def offset_surface(
    vertices: ArrayLike,
    faces: ArrayLike,
    distance: float,
    *,
    sign: Sign = "auto",
    rule: Rule = "nonzero",
    dtype: npt.DTypeLike | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **lattice: Unpack[LatticeOptions],
) -> tuple[Any, Any]:
    """The surface at some distance from a triangle mesh, or inside it where that is below 0: a shell, a clearance.

    Of the field on the lattice's points near that surface: :meth:`fathom.Field.offset_surface` says how fine it is.

    Parameters
    ----------
    vertices, faces, sign, rule
        As for :class:`fathom.TriangleSet`; on the host.
    distance : float
        In the mesh's unit. Above 0 where there is no sign.
    dtype, threads, progress
        As for :func:`mesh_distance`.
    **lattice
        `resolution`, `spacing`, `origin`, `shape` and `margin`, as for :func:`mesh_distance`; the margin holds the
        surface, if it is not given.

    Returns
    -------
    vertices : array, shape (v, 3)
        x, y, z, of the vertices' kind.
    faces : array of int32, shape (f, 3)
        Numbers of each triangle's vertices; they face outwards.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError
        As :func:`mesh_distance`; or there is no such surface.

    Warns
    -----
    UserWarning
        As :class:`fathom.TriangleSet`; or the surface ends at the lattice's border.

    Examples
    --------
    >>> import fathom
    >>> vertices = [[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]]
    >>> faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    >>> shell = fathom.TriangleSet(*fathom.offset_surface(vertices, faces, 1.0, spacing=0.25))
    >>> shell.topology.closed, fathom.TriangleSet(vertices, faces).nearest(shell.vertices).distance.round(1).max()
    (True, np.float32(1.0))
    """
    if lies_on_cuda(vertices, "vertices"):
        raise ValueError("vertices lies on a CUDA device, where surfaces are not made; copy it to the host first")
    mesh = TriangleSet(vertices, faces, sign=sign, rule=rule, threads=threads)
    level = level_of(distance, mesh.sign)
    cutoff = abs(level) + 2 * max(lattice_of(mesh._set, lattice).spacing)  # both ends of edges that the surface crosses
    near = mesh.band(cutoff=cutoff, dtype=dtype, compact=True, threads=threads, progress=progress, **lattice)
    return near.offset_surface(level)
