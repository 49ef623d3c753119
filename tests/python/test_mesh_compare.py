"""Distances between surfaces against dense samples and vertices; triangles that meet against exact fractions."""

import math
from fractions import Fraction

import fathom
import numpy as np
import pytest
import solids


def set_of(mesh):
    return fathom.TriangleSet(*mesh, sign="none")


def samples(vertices, faces, n=25):
    """Points all over the triangles, and how far from one of them any other point is at most."""
    i, j = (x[np.add(*np.indices((n + 1, n + 1))) <= n] for x in np.indices((n + 1, n + 1)))
    weights = np.stack([i, j, n - i - j], -1) / n
    corners = vertices[faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, 1), axis=-1).max()
    return np.einsum("sk,tkx->tsx", weights, corners).reshape(-1, 3), longest / n


def check(found, of, to, tolerance):
    points, reach = samples(*of)
    most = np.sqrt(solids.nearest(*to, points)[0]).max()
    assert most <= found.bound * (1 + 1e-12) and found.max <= most + reach
    assert found.max <= found.bound <= found.max + tolerance
    assert set_of(to).nearest(np.array(found.point)).distance == found.max
    assert math.isclose(math.dist(found.point, found.nearest), found.max, abs_tol=1e-12)
    here = fathom.TriangleSet(of[0], of[1][found.triangle : found.triangle + 1], sign="none")
    assert here.nearest(np.array(found.point)).distance < 1e-12
    there = fathom.TriangleSet(to[0], to[1][found.nearest_triangle : found.nearest_triangle + 1], sign="none")
    assert there.nearest(np.array(found.point)).distance == found.max


@pytest.mark.parametrize("a, b", [
    (solids.torus(), solids.box((-2, -1, -1), (2, 1, 1))), (solids.soup(30), solids.torus(9, 7)), (solids.soup(9), solids.soup(9, 1))])
def test_compare_is_that_of_dense_samples(a, b):
    found = set_of(a).compare(set_of(b))
    assert found.tolerance > 0
    check(found.forward, a, b, found.tolerance)
    check(found.backward, b, a, found.tolerance)
    assert found.hausdorff == max(found.forward.max, found.backward.max) <= found.hausdorff_bound
    back = set_of(b).compare(set_of(a), threads=1)
    assert (back.forward, back.backward) == (found.backward, found.forward)
    assert set_of(a).compare(set_of(b), tolerance=0.1).forward.bound <= found.forward.bound + 0.1


def test_mean_is_that_of_random_samples():
    a, b = solids.torus(), solids.box((-2, -1, -1), (2, 1, 1))
    found = set_of(a).compare(set_of(b)).forward
    corners = a[0][a[1]]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=-1)
    random = np.random.default_rng(0)
    chosen = corners[random.choice(len(areas), 200_000, p=areas / areas.sum())]
    points = np.einsum("sk,skx->sx", random.dirichlet([1, 1, 1], len(chosen)), chosen)
    distances = set_of(b).nearest(points).distance
    assert found.mean == pytest.approx(distances.mean(), rel=0.01)
    assert found.rms == pytest.approx(math.sqrt((distances**2).mean()), rel=0.01)
    assert found.error < 0.01


def test_compare_is_at_least_that_of_vertices_by_peers():
    spatial = pytest.importorskip("scipy.spatial")
    a, b = solids.torus(40, 30), solids.torus(41, 29, 2.05, 0.7)
    found = set_of(a).compare(set_of(b)).forward
    # From vertex to vertex is farther than from vertex to surface.
    of_vertices = spatial.distance.directed_hausdorff(a[0], b[0])[0]
    to_surface = set_of(b).nearest(a[0]).distance.max()
    assert to_surface <= found.bound and found.max <= of_vertices + 0.5
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("rtree")
    peer = np.abs(trimesh.proximity.closest_point(trimesh.Trimesh(*b, process=False), a[0])[1]).max()
    assert peer == pytest.approx(to_surface, rel=1e-9)


def test_compare_of_the_same_and_of_none():
    mesh = set_of(solids.torus())
    same = mesh.compare(mesh)
    assert same.hausdorff == 0 and same.hausdorff_bound <= same.tolerance and same.forward.mean < 1e-15
    point = fathom.TriangleSet([[0.0, 0.0, 9.0]] * 3, [[0, 1, 2]], sign="none").compare(mesh)
    assert math.isnan(point.forward.mean) and math.isclose(point.forward.max, point.forward.bound)


def test_compare_refuses():
    mesh = set_of(solids.box())
    with pytest.raises(TypeError, match="^other must be a fathom.TriangleSet, not int$"):
        mesh.compare(3)
    with pytest.raises(ValueError, match="^the tolerance is -1; it must be finite, and at least 0$"):
        mesh.compare(mesh, tolerance=-1)
    with pytest.raises(ValueError, match="^the number of samples is 0; it must be from 1 to 2147483647$"):
        mesh.compare(mesh, samples=0)
    with pytest.raises(ZeroDivisionError):
        mesh.compare(mesh, samples=2**22, progress=lambda share: 1 / 0)


def cross(p, q):
    return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]


def less(p, q):
    return [x - y for x, y in zip(p, q)]


def dot(p, q):
    return sum(x * y for x, y in zip(p, q))


def clipped(points, origin, normal):
    """What of a convex polygon lies on the normal's side of a plane, or on it."""
    heights = [dot(less(p, origin), normal) for p in points]
    kept = []
    for k, (p, height) in enumerate(zip(points, heights)):
        q, other = points[k - 1], heights[k - 1]
        if height * other < 0:
            share = Fraction(height, height - other)
            kept.append([x + share * (y - x) for x, y in zip(p, q)])
        if height >= 0:
            kept.append(p)
    return kept


def meet(s, t):
    """By exact fractions: what s and t have in common, less the corners that they share and an edge between these."""
    normal = cross(less(t[1], t[0]), less(t[2], t[0]))
    if not any(normal) or not any(cross(less(s[1], s[0]), less(s[2], s[0]))):
        return False
    common = clipped(clipped(s, t[0], normal), t[0], [-x for x in normal])
    for k in range(3):
        common = clipped(common, t[k], cross(normal, less(t[(k + 1) % 3], t[k])))
    shared = [p for p in s if p in t]
    if len(shared) == 3:
        return True
    if len(shared) == 2:
        return any(any(cross(less(p, shared[0]), less(shared[1], shared[0]))) for p in common)
    return any(p not in shared for p in common)


@pytest.mark.parametrize("seed", range(12))
def test_triangles_that_meet_are_those_by_fractions(seed):
    """On few coordinates, where they touch, share corners and edges, lie in one plane and have no area."""
    random = np.random.default_rng(seed)
    size = (2, 3, 5, 12)[seed % 4]
    extent = [size, size, 1 if seed % 3 == 0 else size]
    vertices = random.integers(0, extent, (40, 3))
    faces = random.integers(0, 40, (45, 3))
    corners = [[list(map(int, vertices[i])) for i in face] for face in faces]
    expected = [[i, j] for i in range(45) for j in range(i + 1, 45) if meet(corners[i], corners[j])]
    for scale, shift in ((1, 0), (2.0**-300, 0), (2.0**-20, 1)):  # no coordinate is rounded
        found = fathom.TriangleSet(vertices * scale + shift, faces, sign="none").self_intersections()
        np.testing.assert_array_equal(found, np.array(expected, np.int32).reshape(-1, 2))
    assert found.dtype == np.int32


def test_self_intersections_of_solids():
    torus, box = solids.torus(), solids.box((-4, -0.3, -0.2), (4, 0.3, 0.2))
    assert len(set_of(torus).self_intersections()) == len(set_of(box).self_intersections()) == 0
    both = solids.together(torus, box)
    found = set_of(both).self_intersections(threads=2)
    assert len(found) > 20 and (found[:, 0] < len(torus[1])).all() and (found[:, 1] >= len(torus[1])).all()
    np.testing.assert_array_equal(found, set_of(both).self_intersections(threads=1))
    with pytest.warns(UserWarning, match=f"^{len(found)} pairs of triangles meet; the first 3 are returned$"):
        np.testing.assert_array_equal(set_of(both).self_intersections(limit=3), found[:3])
    with pytest.raises(ValueError, match="^limit is -1; "):
        set_of(both).self_intersections(limit=-1)
