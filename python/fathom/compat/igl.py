"""``signed_distance`` and ``point_mesh_squared_distance`` with the signatures of libigl's Python package (2.6).

What differs, and why:

- Of equally near triangles the one with the lowest number is taken.
- With the winding numbers the sign alone is theirs; libigl multiplies distances by 1 − 2·w, which is another number
  where surfaces are nested, open or inside out. Of closed meshes w is counted exactly.
- Points and triangles in 3D alone; P, V and F of any type of numbers.
- ``lower_bound`` is without effect, as in libigl.

Examples
--------
>>> import numpy as np
>>> from fathom.compat import igl
>>> V, F = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], float), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
>>> S, I, C, N = igl.signed_distance([[1, 1, 0.5], [1, 1, -2]], V, F, igl.SIGNED_DISTANCE_TYPE_PSEUDONORMAL)
>>> S, I, N
(array([-0.5,  2. ]), array([0, 0]), array([[ 0.,  0., -1.],
       [ 0.,  0., -1.]]))
>>> igl.point_mesh_squared_distance([[1, 1, -2]], V, F)
(array([4.]), array([0]), array([[1., 1., 0.]]))
"""

from __future__ import annotations

import enum
import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import TriangleSet

__all__ = [
    "SIGNED_DISTANCE_TYPE_DEFAULT",
    "SIGNED_DISTANCE_TYPE_FAST_WINDING_NUMBER",
    "SIGNED_DISTANCE_TYPE_PSEUDONORMAL",
    "SIGNED_DISTANCE_TYPE_UNSIGNED",
    "SIGNED_DISTANCE_TYPE_WINDING_NUMBER",
    "SignedDistanceType",
    "point_mesh_squared_distance",
    "signed_distance",
]

Array = npt.NDArray[Any]


class SignedDistanceType(enum.Enum):
    """How inside is told from outside."""

    SIGNED_DISTANCE_TYPE_PSEUDONORMAL = 0
    SIGNED_DISTANCE_TYPE_WINDING_NUMBER = 1
    SIGNED_DISTANCE_TYPE_DEFAULT = 2
    SIGNED_DISTANCE_TYPE_UNSIGNED = 3
    SIGNED_DISTANCE_TYPE_FAST_WINDING_NUMBER = 4


SIGNED_DISTANCE_TYPE_PSEUDONORMAL = SignedDistanceType.SIGNED_DISTANCE_TYPE_PSEUDONORMAL
SIGNED_DISTANCE_TYPE_WINDING_NUMBER = SignedDistanceType.SIGNED_DISTANCE_TYPE_WINDING_NUMBER
SIGNED_DISTANCE_TYPE_DEFAULT = SignedDistanceType.SIGNED_DISTANCE_TYPE_DEFAULT
SIGNED_DISTANCE_TYPE_UNSIGNED = SignedDistanceType.SIGNED_DISTANCE_TYPE_UNSIGNED
SIGNED_DISTANCE_TYPE_FAST_WINDING_NUMBER = SignedDistanceType.SIGNED_DISTANCE_TYPE_FAST_WINDING_NUMBER

_SIGNS: dict[Any, Literal["auto", "none", "pseudonormal", "fast-winding"]] = {
    SIGNED_DISTANCE_TYPE_PSEUDONORMAL: "pseudonormal",
    SIGNED_DISTANCE_TYPE_WINDING_NUMBER: "auto",
    SIGNED_DISTANCE_TYPE_DEFAULT: "auto",
    SIGNED_DISTANCE_TYPE_UNSIGNED: "none",
    SIGNED_DISTANCE_TYPE_FAST_WINDING_NUMBER: "fast-winding",
}


def signed_distance(
    P: Any,
    V: Any,
    F: Any,
    sign_type: Any = SIGNED_DISTANCE_TYPE_DEFAULT,
    lower_bound: float = -math.inf,
    upper_bound: float = math.inf,
) -> tuple[Array, Array, Array, Array]:
    """Distance from each point to a mesh, negative inside.

    Parameters
    ----------
    P : array, shape (n, 3)
        Points that ask.
    V, F : arrays, shapes (v, 3) and (f, 3)
        Vertices and triangles.
    sign_type : SignedDistanceType, or libigl's own
    lower_bound
        Accepted; without effect.
    upper_bound : float
        Larger distances are not wanted: NaN, with the triangle f + 1 and the point 0.

    Returns
    -------
    S : array of float64, shape (n,)
        Distances.
    I : array of int64, shape (n,)
        Nearest triangles.
    C : array of float64, shape (n, 3)
        Nearest points of the surface.
    N : array of float64, shape (n, 3)
        Normals there, of edges and vertices those of their faces together; with another sign type than the pseudonormal
        (0, 0).

    Raises
    ------
    TypeError, ValueError
        As :class:`fathom.TriangleSet`.
    """
    chosen = getattr(SignedDistanceType, str(getattr(sign_type, "name", sign_type)), None)
    if not isinstance(chosen, SignedDistanceType):
        raise ValueError(f"sign_type is {sign_type!r}; it must be one of {', '.join(SignedDistanceType.__members__)}")
    mesh = TriangleSet(np.asarray(V, float), F, sign=_SIGNS[chosen], rule="positive")
    with_normals = chosen is SIGNED_DISTANCE_TYPE_PSEUDONORMAL
    found = mesh.nearest(
        np.asarray(P, float), triangle=True, closest=True, barycentric=with_normals, feature=with_normals
    )
    normals = _pseudonormals(mesh, found) if with_normals else np.empty((0, 0))
    far = abs(found.distance) > upper_bound
    found.distance[far], found.triangle[far], found.closest[far] = math.nan, len(mesh) + 1, 0
    return found.distance, found.triangle, found.closest, normals


def point_mesh_squared_distance(P: Any, V: Any, Ele: Any) -> tuple[Array, Array, Array]:
    """Squared distance from each point to the nearest triangle.

    Parameters
    ----------
    P, V, Ele
        As P, V and F of :func:`signed_distance`.

    Returns
    -------
    sqrD, I, C : arrays
        Squared distances, and the rest as of :func:`signed_distance`.

    Raises
    ------
    TypeError, ValueError
        As :class:`fathom.TriangleSet`.
    """
    S, I, C, _ = signed_distance(P, V, Ele, SIGNED_DISTANCE_TYPE_UNSIGNED)
    return S * S, I, C


def normals_and_areas(mesh: TriangleSet) -> tuple[Array, Array]:
    """Of the triangles: normals of length 1, or 0 without an area, and areas."""
    a, b, c = mesh.vertices[mesh.faces.T].astype(float)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    return normals / np.where(lengths > 0, lengths, 1)[:, None], lengths / 2


def _pseudonormals(mesh: TriangleSet, found: Any) -> Array:
    """Normals at the nearest points: of faces, of edges the sum of their faces', of vertices the angle-weighted one."""
    faces, corners = mesh.faces, mesh.vertices[mesh.faces]
    of_faces = normals_and_areas(mesh)[0]
    ways = corners[:, (1, 2, 0)] - corners
    lengths = np.linalg.norm(ways, axis=2, keepdims=True)
    ways /= np.where(lengths > 0, lengths, 1)
    angles = np.arccos(np.clip((-ways * ways[:, (2, 0, 1)]).sum(2), -1, 1))
    of_vertices = np.zeros(mesh.vertices.shape)
    np.add.at(of_vertices, faces, angles[..., None] * of_faces[:, None])
    ends = np.sort(faces[:, ((1, 2), (2, 0), (0, 1))], axis=2).reshape(-1, 2)  # the edge across from each corner
    _, edges = np.unique(ends, axis=0, return_inverse=True)
    of_edges = np.zeros((len(ends), 3))
    np.add.at(of_edges, edges.reshape(-1, 3), of_faces[:, None])
    nearest, weights = found.triangle, found.barycentric
    at_edge = of_edges[edges.reshape(-1, 3)[nearest, weights.argmin(1)]]
    at_vertex = of_vertices[faces[nearest, weights.argmax(1)]]
    sums = np.choose(found.feature[:, None], [of_faces[nearest], at_edge, at_vertex])
    sizes = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.where(sizes > 0, sizes, 1))
