"""What meshes answer: for points, and for the points of a lattice."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.given import as_numpy
from .._arrays.host import HostInput
from .._files import Path, write
from .surface import level_of, level_set

Triple = tuple[float, float, float]


class Topology(NamedTuple):
    """What a mesh is like. Edges are those of vertices that are equal in value."""

    closed: bool
    """Whether the surface bounds a solid: it has no open edge."""
    vertices: int
    """That are used, equal ones counted once."""
    edges: int
    open_edges: int
    """Those that are not passed as often in one direction as in the other."""
    flipped_edges: int
    """Of these, those between two faces that are turned against each other."""
    shared_edges: int
    """Those of more than two triangles."""
    degenerate: int
    """Triangles without an area."""
    duplicate: int
    """Triangles with the corners of one before, in any order."""
    volume: float
    """That is enclosed, signed: negative where the surface is inside out. Of meshes with holes without a meaning."""
    area: float


@dataclass(frozen=True, eq=False, repr=False)
class Nearest:
    """What is nearest to points; None is what was not asked for. Arrays of the shape of the points, `closest`,
    `barycentric` and `gradient` with x, y, z or three weights in a last axis.
    """

    distance: Any = None
    """Of the surface, rounded once; negative inside, +0 on the surface."""
    triangle: Any = None
    """Number of the nearest triangle, the lowest of equally near ones."""
    closest: Any = None
    """Nearest point of the surface."""
    barycentric: Any = None
    """Weights of that triangle's corners there."""
    feature: Any = None
    """What is nearest of it, uint8. 0: the face, 1: an edge, 2: a vertex."""
    gradient: Any = None
    """Of the distance, of length 1; on the surface the face's normal."""
    inside: Any = None
    """bool; the surface is inside."""

    def __repr__(self) -> str:
        return f"fathom.{type(self).__name__}({', '.join(self._parts())})"

    def _parts(self) -> list[str]:
        arrays = ((name, getattr(self, name)) for name in OUTPUTS)
        return [f"{name}={array.dtype}{list(array.shape)}" for name, array in arrays if array is not None]


OUTPUTS = tuple(Nearest.__dataclass_fields__)


@dataclass(frozen=True, eq=False, repr=False)
class Field(Nearest):
    """The field of a mesh on a lattice: arrays of the shape [z, y, x], of the vertices' kind, as those of
    :class:`Nearest`.

    Element [k, j, i] lies at origin + (i, j, k) · spacing. :func:`numpy.asarray` gives the distances.
    """

    origin: Triple = (0.0, 0.0, 0.0)
    """Of the first element: x, y, z."""
    spacing: Triple = (1.0, 1.0, 1.0)
    """Along x, y, z."""
    sign: str = "none"
    """How inside was told from outside: what "auto" chose."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Elements along x, y, z; those of the arrays are the other way round."""
        z, y, x = next(array.shape for array in map(self.__getattribute__, OUTPUTS) if array is not None)[:3]
        return int(x), int(y), int(z)

    @property
    def axes(self) -> tuple[npt.NDArray[np.float64], ...]:
        """Coordinates of the elements along x, along y and along z."""
        return tuple(o + h * np.arange(n, dtype=float) for o, n, h in zip(self.origin, self.shape, self.spacing))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if self.distance is None:
            raise ValueError("this field has no distances; compute it with distance=True")
        array = as_numpy(self.distance, "distance")
        return np.asarray(array, dtype) if copy is None else np.array(array, dtype, copy=copy)

    def offset_surface(self, distance: float) -> tuple[Any, Any]:
        """The surface at some distance from the mesh, or inside it where that is below 0.

        The field is exact at the lattice's points, and the surface runs straight between them: it is as fine as the
        spacing. Closed, unless it reaches the lattice's border, and turned outwards.

        Parameters
        ----------
        distance : float

        Returns
        -------
        vertices : array, shape (v, 3)
            x, y, z, of the field's type and kind.
        faces : array of int32, shape (f, 3)
            Numbers of each triangle's vertices.

        Raises
        ------
        TypeError, ValueError
            `distance` is not finite, or not above 0 where there is no sign; or no point of the lattice is beyond it.

        Warns
        -----
        UserWarning
            The surface ends at the lattice's border.

        Notes
        -----
        Source: Lorensen & Cline, Marching cubes, 1987.

        Examples
        --------
        >>> import fathom
        >>> sheet = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
        >>> field = fathom.mesh_distance(sheet, [[0, 1, 2]], spacing=0.25, margin=4, sign="none")
        >>> vertices, faces = field.offset_surface(0.5)
        >>> fathom.TriangleSet(vertices, faces).topology.closed
        True
        """
        level = level_of(distance, self.sign)
        if self.distance is None:
            raise ValueError("this field has no distances; compute it with distance=True")
        like = HostInput.of_values(self.distance, "distance")
        return level_set(_core.Lattice(self.origin, self.spacing, self.shape), like.array, level, like)

    def save(self, path: Path) -> None:
        """Writes the distances to .npy, or all there is to .npz, by the names of the attributes.

        Examples
        --------
        >>> import fathom, numpy as np, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "field.npz")
        >>> fathom.mesh_distance(np.eye(3), [[0, 1, 2]], spacing=0.5, sign="none").save(path)
        >>> np.load(path)["origin"]
        array([-1., -1., -1.])
        """
        arrays = {name: getattr(self, name) for name in OUTPUTS}
        save_numpy(path, {name: as_numpy(x, name) for name, x in arrays.items() if x is not None}, self)

    def _parts(self) -> list[str]:
        own = [f"{name}={getattr(self, name)!r}" for name in ("shape", "origin", "spacing", "sign")]
        return own + super()._parts()


def save_numpy(path: Path, arrays: dict[str, Any], field: Any) -> None:
    """Writes an .npz of all arrays with the lattice of a field or band, or an .npy of its distances alone. The path
    holds the old file or the new one at any moment."""
    name = os.fspath(path)
    if name.lower().endswith(".npy"):
        write(name, np.asarray(field))
        return
    if not name.lower().endswith(".npz"):
        raise ValueError(f"{name} ends neither in .npz nor in .npy; write the array itself with fathom.write()")
    begun = f"{name}.part{os.getpid()}"
    try:
        with open(begun, "wb") as file:
            np.savez(file, **arrays, origin=field.origin, spacing=field.spacing, sign=field.sign)
        os.replace(begun, name)
    except BaseException:
        if os.path.exists(begun):
            os.remove(begun)
        raise
