"""``RaycastingScene`` with the distances of ``open3d.t.geometry.RaycastingScene``: negative inside, float32.

What differs, and why:

- Results are of the queries' kind of array: tensors of Open3D for such, NumPy arrays for NumPy arrays. Queries of
  float64 are taken, too, as they are.
- What is inside is what an odd number of surfaces surrounds, counted exactly; of scenes with holes, what the
  generalised winding number says. ``nsamples``, which repeats rays there, is without effect.
- Of equally near triangles the one with the lowest number is taken, of the first mesh.
- The tree is built with the first query after a mesh was added. Rays are not cast; a scene lies on the host.

Examples
--------
>>> import numpy as np
>>> from fathom.compat.open3d import RaycastingScene
>>> scene = RaycastingScene()
>>> vertices, triangles = [[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
>>> scene.add_triangles(vertices, triangles)
0
>>> scene.compute_signed_distance(np.float32([[1, 1, 0.5], [1, 1, -2]]))
array([-0.5,  2. ], dtype=float32)
>>> scene.compute_closest_points(np.float32([[1, 1, -2]]))["primitive_ids"]
array([0], dtype=uint32)
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import TriangleSet
from .igl import normals_and_areas

__all__ = ["RaycastingScene"]

Array = npt.NDArray[Any]


Sign = Literal["none", "auto"]


class RaycastingScene:
    """Triangle meshes, and distances of points to the nearest of them.

    Parameters
    ----------
    nthreads : int
        Most threads to use while building; 0: all processors.
    device
        Accepted; without effect.
    """

    INVALID_ID = 2**32 - 1

    def __init__(self, nthreads: int = 0, device: Any = None) -> None:
        self._threads = nthreads or None
        self._meshes: list[tuple[Array, Array]] = []
        self._sets: dict[str, TriangleSet] = {}

    def add_triangles(self, vertex_positions: Any, triangle_indices: Any = None) -> int:
        """Adds a mesh: vertices (v, 3) and triangles (f, 3), or a TriangleMesh of Open3D's. Its number, from 0.

        Raises
        ------
        TypeError, ValueError
            As :class:`fathom.TriangleSet`.
        """
        if triangle_indices is None:
            vertex_positions, triangle_indices = vertex_positions.vertex.positions, vertex_positions.triangle.indices
        vertices = np.asarray(_numpy(vertex_positions), np.float32)
        mesh = TriangleSet(vertices, _numpy(triangle_indices), sign="none", threads=self._threads)
        self._meshes.append((mesh.vertices, mesh.faces))
        self._sets = {"none": mesh} if len(self._meshes) == 1 else {}
        return len(self._meshes) - 1

    def compute_distance(self, query_points: Any, nthreads: int = 0) -> Any:
        """Distances, float32, of the shape of the queries (..., 3) without its last axis."""
        return self._answer(query_points, nthreads, "none", "distance")

    def compute_signed_distance(self, query_points: Any, nthreads: int = 0, nsamples: int = 1) -> Any:
        """The same, negative inside."""
        return self._answer(query_points, nthreads, "auto", "distance")

    def compute_occupancy(self, query_points: Any, nthreads: int = 0, nsamples: int = 1) -> Any:
        """1 inside, 0 outside, float32."""
        return self._answer(query_points, nthreads, "auto", "inside")

    def compute_closest_points(self, query_points: Any, nthreads: int = 0) -> dict[str, Any]:
        """The nearest points of the surfaces: `points` (..., 3), `geometry_ids`, `primitive_ids` (..., uint32),
        `primitive_uvs` (..., 2): the weights of the second and third corner, and `primitive_normals` (..., 3).

        In an empty scene ids are INVALID_ID, and the rest is 0.
        """
        points = _numpy(query_points)
        shape = points.shape[:-1]
        ids = np.full(shape, self.INVALID_ID, np.uint32)
        found = {
            "points": np.zeros((*shape, 3), np.float32),
            "geometry_ids": ids,
            "primitive_ids": ids.copy(),
            "primitive_uvs": np.zeros((*shape, 2), np.float32),
            "primitive_normals": np.zeros((*shape, 3), np.float32),
        }
        if self._meshes:
            mesh = self._set("none")
            wanted = {"distance": False, "triangle": True, "closest": True, "barycentric": True}
            nearest = mesh.nearest(points, **wanted, dtype=np.float32, threads=nthreads or None)
            begins = np.cumsum([0, *(len(faces) for _, faces in self._meshes)])
            meshes = np.searchsorted(begins, nearest.triangle, side="right") - 1
            found["points"] = nearest.closest
            found["geometry_ids"] = meshes.astype(np.uint32)
            found["primitive_ids"] = (nearest.triangle - begins[meshes]).astype(np.uint32)
            found["primitive_uvs"] = np.ascontiguousarray(nearest.barycentric[..., 1:])
            found["primitive_normals"] = normals_and_areas(mesh)[0].astype(np.float32)[nearest.triangle]
        return {name: _like(query_points, array) for name, array in found.items()}

    def _answer(self, query_points: Any, nthreads: int, sign: Sign, what: str) -> Any:
        points = _numpy(query_points)
        if not self._meshes:
            return _like(query_points, np.full(points.shape[:-1], math.inf if what == "distance" else 0, np.float32))
        wanted = {"distance": False, what: True}
        found = self._set(sign).nearest(points, **wanted, dtype=np.float32, threads=nthreads or None)
        return _like(query_points, getattr(found, what).astype(np.float32, copy=False))

    def _set(self, sign: Sign) -> TriangleSet:
        if sign not in self._sets:
            begins = np.cumsum([0, *(len(vertices) for vertices, _ in self._meshes)])
            vertices = np.concatenate([vertices for vertices, _ in self._meshes])
            faces = np.concatenate([faces + begin for (_, faces), begin in zip(self._meshes, begins)])
            self._sets[sign] = TriangleSet(vertices, faces, sign=sign, rule="even-odd", threads=self._threads)
        return self._sets[sign]


def _numpy(x: Any) -> Array:
    return np.asarray(x.numpy() if hasattr(x, "from_numpy") else x)


def _like(given: Any, array: Array) -> Any:
    """As a tensor of Open3D's, if such a one was given."""
    from_numpy = getattr(type(given), "from_numpy", None)
    return array if from_numpy is None else from_numpy(np.ascontiguousarray(array))
