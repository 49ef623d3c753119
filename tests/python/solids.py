"""Meshes for tests, and what brute force says of them."""

import numpy as np


def torus(around=24, across=12, radius=2.0, tube=0.75):
    """A closed torus about the z axis, triangles counter-clockwise seen from outside."""
    u, v = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = 2 * np.pi * u / around, 2 * np.pi * v / across
    ring = radius + tube * np.cos(b)
    vertices = np.stack([ring * np.cos(a), ring * np.sin(a), tube * np.sin(b)], -1).reshape(-1, 3)
    here, right = u * across + v, (u + 1) % around * across + v
    up, both = u * across + (v + 1) % across, (u + 1) % around * across + (v + 1) % across
    faces = np.stack([here, right, both, here, both, up], -1).reshape(-1, 3)
    return vertices, faces


def box(low=(0, 0, 0), high=(1, 1, 1)):
    """A closed box of 12 triangles."""
    places = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    vertices = np.where(places, high, low).astype(float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return vertices, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def together(*meshes):
    """Meshes as one."""
    begins = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    faces = [faces + begin for (_, faces), begin in zip(meshes, begins)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(faces)


def soup(count=80, seed=0):
    """Triangles without order: any, needles, points, with corners in common and equal vertices."""
    random = np.random.default_rng(seed)
    vertices = random.random((count, 3)) * 4
    vertices[5] = vertices[3]
    faces = random.integers(0, count, (count, 3))
    faces[0] = 7
    faces[1, 2] = faces[1, 1]
    return vertices, faces


def dot(p, q):
    return (p[..., 0] * q[..., 0] + p[..., 1] * q[..., 1]) + p[..., 2] * q[..., 2]


def over(square):
    """1 over a square, 0 over none."""
    return np.where(square > 1e-300, 1 / np.where(square > 1e-300, square, 1), 0)


def cross(p, q):
    return np.stack([p[..., k - 2] * q[..., k - 1] - p[..., k - 1] * q[..., k - 2] for k in range(3)], -1)


def nearest(vertices, faces, points):
    """Of each point: squared distance, triangle, its corners' weights, and 0, 1 or 2 for face, edge or vertex.

    The formula of src/mesh/triangle.hd.h, in float64, for all pairs.
    """
    vertices = vertices.astype(float)
    _, first, which = np.unique(vertices + 0.0, axis=0, return_index=True, return_inverse=True)
    joined = first[which.reshape(-1)][faces]
    order = np.argsort(joined, axis=1, kind="stable")
    a, b, c = (vertices[np.take_along_axis(joined, order, 1)][:, k][None] for k in range(3))
    p = points.astype(float)[:, None]
    sides = b - a, c - a, c - b
    normal = cross(sides[0], sides[1])
    squares = [dot(side, side) for side in sides]
    square = dot(normal, normal)
    longest = np.max(squares, 0)
    per_normal = np.where(square > 2.0**-50 * (longest * longest), over(square), 0)
    ways = a - p, b - p, c - p
    of_c = 0 - dot(cross(normal, sides[0]), ways[0])
    of_b = 0 - dot(cross(sides[1], normal), ways[0])
    of_a = 0 - dot(cross(normal, sides[2]), ways[1])
    shape = of_a.shape
    best, kinds, weights = np.full(shape, np.inf), np.zeros(shape, int), np.zeros((*shape, 3))

    def meet(squared, counts, kind, parts):
        wins = counts & (squared < best)
        best[wins], kinds[wins] = squared[wins], kind
        weights[wins] = np.stack(np.broadcast_arrays(*parts, best)[:3], -1)[wins]

    everywhere = np.ones(shape, bool)
    for k in range(3):
        meet(dot(ways[k], ways[k]), everywhere, 2, [float(k == n) for n in range(3)])
    for (start, end), side, length in zip(((0, 1), (0, 2), (1, 2)), sides, squares):
        along = (0 - dot(ways[start], side)) * over(length)
        way = ways[start] + along[..., None] * side
        parts = [{start: 1 - along, end: along}.get(n, 0.0) for n in range(3)]
        meet(dot(way, way), (along > 0) & (along < 1), 1, parts)
    height = dot(ways[0], normal)
    is_face = (per_normal > 0) & (of_a >= 0) & (of_b >= 0) & (of_c >= 0)
    best[is_face], kinds[is_face] = ((height * per_normal) * height)[is_face], 0
    second, third = of_b * per_normal, of_c * per_normal
    weights[is_face] = np.stack([(1 - second) - third, second, third], -1)[is_face]
    triangle = best.argmin(1)
    rows = np.arange(len(points))
    back = np.empty((len(points), 3))
    np.put_along_axis(back, order[triangle], weights[rows, triangle], 1)
    return best[rows, triangle], triangle, back, kinds[rows, triangle]


def winding(vertices, faces, points):
    """How often the surface goes around each point, by solid angles after van Oosterom & Strackee 1983."""
    a, b, c = (vertices[faces][:, k][None] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(way, axis=-1) for way in (a, b, c))
    below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return np.arctan2(dot(a, cross(b, c)), below).sum(1) / (2 * np.pi)
