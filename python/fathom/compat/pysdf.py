"""``SDF`` with the signature of ``pysdf``: positive inside, float32.

What differs, and why:

- What is inside follows from how often the surface goes around a point, or, of meshes with holes, from the generalised
  winding number; ``robust``, which chooses between rays there, is without effect.
- ``face_areas`` and ``surface_area`` are areas; pysdf 0.1.9 gives twice as much.
- ``trunc_aabb=True`` is refused: distances are true everywhere, and as quick.
- Vertices are always copied; a changed mesh is a new ``SDF``.
- ``sample_surface`` is not here.

Examples
--------
>>> from fathom.compat.pysdf import SDF
>>> solid = SDF([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
>>> solid([[1, 1, 0.5], [1, 1, -2]])
array([ 0.5, -2. ], dtype=float32)
>>> solid.contains([[1, 1, 0.5], [1, 1, -2]]), solid.nn([[3, 1, 0]])
(array([ True, False]), array([1], dtype=int32))
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import SiteSet, TriangleSet
from .igl import normals_and_areas

__all__ = ["SDF"]

Array = npt.NDArray[Any]


class SDF:
    """Signed distances to a triangle mesh.

    Parameters
    ----------
    verts : array, shape (v, 3)
    faces : array of int, shape (f, 3)
    robust, copy : bool
        Accepted; without effect.
    """

    def __init__(self, verts: Any, faces: Any, robust: bool = True, copy: bool = True) -> None:
        self._set = TriangleSet(np.asarray(verts, np.float32), faces)
        self.robust = robust

    def __call__(self, points: Any, trunc_aabb: bool = False, n_threads: int | None = None) -> Array:
        """Distances of points, shape (n, 3), or of one: array of float32, shape (n,)."""
        if trunc_aabb:
            raise ValueError("trunc_aabb is not possible: distances are true everywhere; leave it out")
        found = self._set.nearest(_rows(points), dtype=np.float32, threads=n_threads)
        return np.asarray(0 - found.distance)

    calc = __call__

    def contains(self, points: Any, n_threads: int | None = None) -> Array:
        """Which points are inside: array of bool, shape (n,)."""
        found = self._set.nearest(_rows(points), distance=False, inside=True, threads=n_threads)
        return np.asarray(found.inside)

    def nn(self, points: Any, n_threads: int | None = None) -> Array:
        """Indices of the nearest vertices: array of int32, shape (n,)."""
        return np.asarray(self._sites.nearest(_rows(points), threads=n_threads)[1], np.int32)

    @cached_property
    def _sites(self) -> SiteSet:
        return SiteSet(self._set.vertices)

    @property
    def vertices(self) -> Array:
        """The vertices, [v, 3] float32."""
        return self._set.vertices

    verts = vertices

    @property
    def faces(self) -> Array:
        """The triangles, [f, 3] uint32."""
        return self._set.faces.astype(np.uint32)

    @cached_property
    def face_normals(self) -> Array:
        """Of length 1, [f, 3] float32."""
        return normals_and_areas(self._set)[0].astype(np.float32)

    @cached_property
    def face_areas(self) -> Array:
        """[f] float32."""
        return normals_and_areas(self._set)[1].astype(np.float32)

    @property
    def surface_area(self) -> float:
        """The sum of them."""
        return self._set.topology.area

    @property
    def aabb(self) -> Array:
        """Least x, y, z, greatest x, y, z of the mesh, [6] float32."""
        return self._set.bounds.reshape(6).astype(np.float32)


def _rows(points: Any) -> Array:
    return np.atleast_2d(np.asarray(points, np.float32))
