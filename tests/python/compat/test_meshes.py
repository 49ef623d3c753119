"""The mesh layers against brute force in their peers' conventions, and beside the peers where they are installed."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import solids  # noqa: E402
from fathom.compat import igl, pysdf, trimesh  # noqa: E402
from fathom.compat.open3d import RaycastingScene  # noqa: E402

RANDOM = np.random.default_rng(0)
VERTICES, FACES = solids.torus()
MESH = SimpleNamespace(vertices=VERTICES, faces=FACES)
POINTS = RANDOM.uniform((-3, -3, -1), (3, 3, 1), (500, 3))


def truth(vertices=VERTICES, faces=FACES, points=POINTS):
    """Distances, what is inside, nearest triangles and points."""
    squared, triangle, weights, _ = solids.nearest(vertices, faces, points)
    closest = (weights[..., None] * vertices[faces[triangle]]).sum(1)
    return np.sqrt(squared), solids.winding(vertices, faces, points) > 0.5, triangle, closest


def is_array(x, dtype, shape):
    assert type(x) is np.ndarray and x.dtype == dtype and x.shape == shape


def test_trimesh():
    distance, inside, triangle, nearest = truth()
    signed = trimesh.signed_distance(MESH, POINTS)
    is_array(signed, "f8", (500,))
    np.testing.assert_array_equal(signed, np.where(inside, distance, -distance))
    query = trimesh.ProximityQuery(MESH)
    np.testing.assert_array_equal(query.signed_distance(POINTS), signed)
    for closest, distances, triangles in (trimesh.closest_point(MESH, POINTS.tolist()), query.on_surface(POINTS)):
        is_array(closest, "f8", (500, 3))
        np.testing.assert_allclose(closest, nearest, atol=1e-12)
        np.testing.assert_array_equal(distances, distance)
        is_array(triangles, "i8", (500,))
        np.testing.assert_array_equal(triangles, triangle)
    of_vertices = np.linalg.norm(POINTS[:, None] - VERTICES, axis=2)
    distances, vertices = query.vertex(POINTS)
    np.testing.assert_allclose(distances, of_vertices.min(1))
    np.testing.assert_array_equal(vertices, of_vertices.argmin(1))
    on_surface = trimesh.signed_distance(MESH, VERTICES[:3])
    assert (on_surface == 0).all() and not np.signbit(on_surface).any()


def test_igl():
    distance, inside, triangle, nearest = truth()
    for kind in igl.SignedDistanceType:
        S, I, C, N = igl.signed_distance(POINTS, VERTICES, FACES, kind)
        signed = kind is not igl.SIGNED_DISTANCE_TYPE_UNSIGNED
        np.testing.assert_array_equal(S, np.where(inside & signed, -distance, distance), str(kind))
        is_array(I, "i8", (500,))
        np.testing.assert_array_equal(I, triangle)
        is_array(C, "f8", (500, 3))
        np.testing.assert_allclose(C, nearest, atol=1e-12)
        assert N.shape == ((500, 3) if kind is igl.SIGNED_DISTANCE_TYPE_PSEUDONORMAL else (0, 0))
    squares, ids, closest = igl.point_mesh_squared_distance(POINTS, VERTICES, FACES)
    np.testing.assert_allclose(squares, distance**2)
    np.testing.assert_array_equal(ids, triangle)
    S, I, C, _ = igl.signed_distance(POINTS, VERTICES, FACES, upper_bound=0.5)
    far = distance > 0.5
    assert far.any() and np.isnan(S[far]).all() and (I[far] == len(FACES) + 1).all() and (C[far] == 0).all()
    np.testing.assert_array_equal(I[~far], triangle[~far])
    inverted = igl.signed_distance(POINTS, VERTICES, FACES[:, ::-1])[0]
    np.testing.assert_array_equal(inverted, distance)
    with pytest.raises(ValueError, match="sign_type is 7; it must be one of SIGNED_DISTANCE_TYPE_PSEUDONORMAL, "):
        igl.signed_distance(POINTS, VERTICES, FACES, 7)


def test_pseudonormals_of_igl():
    """A box whose normals at faces, edges and corners are known, seen from all sides."""
    vertices, faces = solids.box((-1, -1, -1), (1, 1, 1))
    away = np.array([[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if i or j or k], float)
    points, kind = away * 3 + [0.01, 0.02, 0.03], igl.SIGNED_DISTANCE_TYPE_PSEUDONORMAL
    _, _, _, N = igl.signed_distance(points, vertices, faces, kind)
    np.testing.assert_allclose(N, away / np.linalg.norm(away, axis=1)[:, None], atol=1e-12)


def test_pysdf():
    distance, inside, _, _ = truth(VERTICES.astype("f4").astype(float), FACES, POINTS.astype("f4").astype(float))
    solid = pysdf.SDF(VERTICES, FACES)
    for distances in (solid(POINTS), solid.calc(POINTS.astype("f4"), n_threads=1)):
        is_array(distances, "f4", (500,))
        np.testing.assert_array_equal(distances, np.where(inside, distance, -distance).astype("f4"))
    is_array(solid.contains(POINTS), "?", (500,))
    np.testing.assert_array_equal(solid.contains(POINTS), inside)
    is_array(solid.nn(POINTS), "i4", (500,))
    assert solid(POINTS[0]).shape == (1,) and solid.robust
    assert solid.faces.dtype == np.uint32
    assert solid.vertices.dtype == solid.verts.dtype == solid.aabb.dtype == np.float32
    np.testing.assert_allclose(solid.aabb, [*VERTICES.min(0), *VERTICES.max(0)], rtol=1e-6)
    assert solid.face_areas.sum() == pytest.approx(solid.surface_area, rel=1e-5)
    np.testing.assert_allclose(np.linalg.norm(solid.face_normals, axis=1), 1, rtol=1e-6)
    with pytest.raises(ValueError, match="trunc_aabb is not possible"):
        solid(POINTS, True)


def test_open3d():
    other, other_faces = solids.box((4, 4, 4), (5, 5, 5))
    both, all_faces = solids.together((VERTICES, FACES), (other, other_faces))
    points = np.float32([*POINTS, *RANDOM.uniform(3, 6, (50, 3))]).reshape(5, 110, 3)
    both = both.astype("f4").astype(float)
    distance, inside, triangle, nearest = truth(both, all_faces, points.reshape(-1, 3).astype(float))
    scene = RaycastingScene()
    assert scene.add_triangles(VERTICES.astype("f4"), FACES.astype("u4")) == 0
    assert scene.compute_distance(points[:1]).shape == (1, 110)
    mesh = SimpleNamespace(vertex=SimpleNamespace(positions=other), triangle=SimpleNamespace(indices=other_faces))
    assert scene.add_triangles(mesh) == 1
    is_array(scene.compute_distance(points), "f4", (5, 110))
    np.testing.assert_array_equal(scene.compute_distance(points).ravel(), distance.astype("f4"))
    signed = scene.compute_signed_distance(points, nthreads=1, nsamples=3)
    np.testing.assert_array_equal(signed.ravel(), np.where(inside, -distance, distance).astype("f4"))
    is_array(scene.compute_occupancy(points), "f4", (5, 110))
    np.testing.assert_array_equal(scene.compute_occupancy(points).ravel(), inside)
    found = scene.compute_closest_points(points)
    assert {name: (array.dtype.str[1:], array.shape) for name, array in found.items()} == {
        "points": ("f4", (5, 110, 3)), "geometry_ids": ("u4", (5, 110)), "primitive_ids": ("u4", (5, 110)),
        "primitive_uvs": ("f4", (5, 110, 2)), "primitive_normals": ("f4", (5, 110, 3)),
    }
    np.testing.assert_array_equal(found["geometry_ids"].ravel(), triangle >= len(FACES))
    np.testing.assert_array_equal(found["primitive_ids"].ravel(), triangle % len(FACES))
    np.testing.assert_allclose(found["points"].reshape(-1, 3), nearest, atol=1e-6)
    u, v = found["primitive_uvs"].reshape(-1, 2).T[..., None]
    a, b, c = both[all_faces[triangle]].transpose(1, 0, 2)
    np.testing.assert_allclose((1 - u - v) * a + u * b + v * c, nearest, atol=1e-5)


def test_overlapping_and_empty_scenes_of_open3d():
    scene = RaycastingScene(nthreads=1)
    points = np.float32([[0.25, 0.5, 0.5], [0.75, 0.5, 0.5]])
    assert np.isinf(scene.compute_signed_distance(points)).all() and not scene.compute_occupancy(points).any()
    assert (scene.compute_closest_points(points)["primitive_ids"] == RaycastingScene.INVALID_ID).all()
    scene.add_triangles(*solids.box((0, 0, 0), (1, 1, 1)))
    scene.add_triangles(*solids.box((0.5, 0, 0), (2, 1, 1)))
    distances = scene.compute_signed_distance(points)
    np.testing.assert_array_equal(distances, np.float32([-0.25, 0.25]))  # twice inside is outside


def test_beside_trimesh():
    peer = pytest.importorskip("trimesh")
    mesh = peer.Trimesh(VERTICES, FACES, process=False)
    theirs = peer.proximity.signed_distance(mesh, POINTS)
    np.testing.assert_allclose(trimesh.signed_distance(mesh, POINTS), theirs, atol=1e-6)
    ours, theirs = trimesh.closest_point(mesh, POINTS), peer.proximity.closest_point(mesh, POINTS)
    for mine, other in zip(ours[:2], theirs[:2]):
        assert mine.dtype == other.dtype and mine.shape == other.shape
        np.testing.assert_allclose(mine, other, atol=1e-4)  # theirs is of a triangle about as near, by its normal
    assert ours[2].dtype == theirs[2].dtype
    queries = trimesh.ProximityQuery(mesh), peer.proximity.ProximityQuery(mesh)
    for mine, other in zip(*(query.vertex(POINTS) for query in queries)):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other)


def test_beside_igl():
    peer = pytest.importorskip("igl")
    for kind in igl.SignedDistanceType:
        theirs = peer.signed_distance(POINTS, VERTICES, FACES, getattr(peer, kind.name))
        ours = igl.signed_distance(POINTS, VERTICES, FACES, getattr(peer, kind.name))
        for mine, other in zip(ours, theirs):
            assert mine.dtype == other.dtype and mine.shape == other.shape
        near = 1e-2 if kind is igl.SIGNED_DISTANCE_TYPE_FAST_WINDING_NUMBER else 1e-9  # it multiplies by 1 - 2 w
        np.testing.assert_allclose(ours[0], theirs[0], atol=near, err_msg=str(kind))
        np.testing.assert_allclose(ours[2], theirs[2], atol=1e-9)
        same = ours[1] == theirs[1]
        assert same.mean() > 0.5
        if kind is igl.SIGNED_DISTANCE_TYPE_PSEUDONORMAL:
            np.testing.assert_allclose(ours[3], theirs[3], atol=1e-6)
    for mine, other in zip(*(x.point_mesh_squared_distance(POINTS, VERTICES, FACES) for x in (igl, peer))):
        assert mine.dtype == other.dtype and mine.shape == other.shape


def test_beside_pysdf():
    peer = pytest.importorskip("pysdf").SDF(VERTICES, FACES)
    ours = pysdf.SDF(VERTICES, FACES)
    same = np.isclose(ours(POINTS), peer(POINTS), atol=1e-5)  # theirs looks at the triangles of near vertices alone
    assert same.mean() > 0.98 and (abs(ours(POINTS)) <= abs(peer(POINTS)) + 1e-5).all()
    np.testing.assert_array_equal(ours.contains(POINTS), peer.contains(POINTS))
    np.testing.assert_array_equal(ours.nn(POINTS), peer.nn(POINTS))
    np.testing.assert_allclose(ours.face_normals, peer.face_normals, atol=1e-5)
    np.testing.assert_allclose(ours.aabb, peer.aabb)
    for name in ("vertices", "faces", "face_areas", "face_normals", "aabb"):
        mine, other = getattr(ours, name), getattr(peer, name)
        assert mine.dtype == other.dtype and mine.shape == other.shape
    assert ours(POINTS).dtype == peer(POINTS).dtype and ours.nn(POINTS).dtype == peer.nn(POINTS).dtype


def test_beside_open3d():
    peer = pytest.importorskip("open3d")
    tensor = peer.core.Tensor
    vertices, faces = tensor(VERTICES.astype("f4")), tensor(FACES.astype("u4"))
    theirs, ours = peer.t.geometry.RaycastingScene(), RaycastingScene()
    assert theirs.add_triangles(vertices, faces) == ours.add_triangles(vertices, faces)
    points = tensor(POINTS.astype("f4").reshape(20, 25, 3))
    for name in ("compute_distance", "compute_signed_distance", "compute_occupancy"):
        mine, other = getattr(ours, name)(points), getattr(theirs, name)(points)
        assert type(mine) is type(other) and mine.dtype == other.dtype and mine.shape == other.shape
        np.testing.assert_allclose(mine.numpy(), other.numpy(), atol=1e-5)
    mine, other = ours.compute_closest_points(points), theirs.compute_closest_points(points)
    assert mine.keys() == other.keys()
    same = mine["primitive_ids"].numpy() == other["primitive_ids"].numpy()
    assert same.mean() > 0.5
    for name in mine:
        assert mine[name].dtype == other[name].dtype and mine[name].shape == other[name].shape, name
        np.testing.assert_allclose(mine[name].numpy()[same], other[name].numpy()[same], atol=1e-4)
