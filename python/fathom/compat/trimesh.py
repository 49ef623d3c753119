"""Distances to meshes with the names and signatures of ``trimesh.proximity``: positive inside, float64.

What differs, and why:

- Of equally near triangles the one with the lowest number is taken; trimesh looks at normals.
- What is inside follows from how often the surface goes around a point, or, of meshes with holes, from the generalised
  winding number: also nested and overlapping meshes have an inside, and meshes that are inside out the same as others.
  trimesh looks at the nearest triangle's normal, and then at a ray.
- ``longest_ray``, ``max_tangent_sphere``, ``thickness`` and ``reach`` are not here.

A mesh is whatever has ``vertices`` and ``faces``; trimesh is not imported. Each call builds a tree, a
:class:`ProximityQuery` one for all its calls.

Examples
--------
>>> import numpy as np
>>> from types import SimpleNamespace
>>> from fathom.compat.trimesh import closest_point, signed_distance
>>> vertices = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float)
>>> mesh = SimpleNamespace(vertices=vertices, faces=[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
>>> signed_distance(mesh, [[1, 1, 0.5], [1, 1, -2]])
array([ 0.5, -2. ])
>>> closest_point(mesh, [[1, 1, -2]])
(array([[1., 1., 0.]]), array([2.]), array([0]))
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import SiteSet, TriangleSet

__all__ = ["ProximityQuery", "closest_point", "signed_distance"]

Array = npt.NDArray[Any]


class ProximityQuery:
    """Queries against one mesh, which may not change meanwhile.

    Parameters
    ----------
    mesh : trimesh.Trimesh, or whatever has `vertices` and `faces`
    """

    def __init__(self, mesh: Any) -> None:
        self._vertices = np.asarray(mesh.vertices, float)
        self._faces = np.asarray(mesh.faces)

    @cached_property
    def _plain(self) -> TriangleSet:
        return TriangleSet(self._vertices, self._faces, sign="none")

    @cached_property
    def _signed(self) -> TriangleSet:
        return TriangleSet(self._vertices, self._faces)

    @cached_property
    def _sites(self) -> SiteSet:
        return SiteSet(self._vertices)

    def on_surface(self, points: Any) -> tuple[Array, Array, Array]:
        """As :func:`closest_point`."""
        found = self._plain.nearest(np.asarray(points, float), triangle=True, closest=True)
        return found.closest, found.distance, found.triangle

    def signed_distance(self, points: Any) -> Array:
        """As :func:`signed_distance`."""
        return np.asarray(0 - self._signed.nearest(np.asarray(points, float)).distance)

    def vertex(self, points: Any) -> tuple[Array, Array]:
        """Distance and index of the mesh's nearest vertex."""
        distances, vertices = self._sites.nearest(np.asarray(points, float))
        return distances, vertices


def closest_point(mesh: Any, points: Any) -> tuple[Array, Array, Array]:
    """The nearest point of a mesh's surface to each point.

    Parameters
    ----------
    mesh : trimesh.Trimesh, or whatever has `vertices` and `faces`
    points : array, shape (n, 3)

    Returns
    -------
    closest : array of float64, shape (n, 3)
    distance : array of float64, shape (n,)
    triangle_id : array of int64, shape (n,)

    Raises
    ------
    TypeError, ValueError
        As :class:`fathom.TriangleSet`.
    """
    return ProximityQuery(mesh).on_surface(points)


def signed_distance(mesh: Any, points: Any) -> Array:
    """Distance from each point to a mesh's surface: positive inside, negative outside.

    Parameters
    ----------
    mesh, points
        As for :func:`closest_point`.

    Returns
    -------
    array of float64, shape (n,)

    Raises
    ------
    TypeError, ValueError
        As :class:`fathom.TriangleSet`.
    """
    return ProximityQuery(mesh).signed_distance(points)
