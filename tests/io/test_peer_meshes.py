"""Meshes that trimesh writes, read by Fathom, and Fathom's read by trimesh: the same vertices and triangles.

FATHOM_IO_DUMP names the program that reads one file and writes another.
"""

import os
import subprocess

import pytest

np = pytest.importorskip("numpy")
trimesh = pytest.importorskip("trimesh")

DUMP = os.environ["FATHOM_IO_DUMP"]


def loaded(path):
    return trimesh.load(path, process=False, maintain_order=True, force="mesh")


def converted(source, target):
    """The mesh that Fathom reads from one file and writes to the other, as trimesh reads that; and what Fathom says."""
    done = subprocess.run([DUMP, str(source), str(target)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return loaded(target), done.stdout.splitlines()


def odd_mesh(dtype=np.float32):
    """Of no particular shape; each vertex is named."""
    random = np.random.default_rng(1)
    vertices = (random.normal(size=(51, 3)) * [1, 1e3, 1e-3]).astype(dtype)
    faces = np.concatenate([random.permutation(51).reshape(-1, 3) for _ in range(5)])
    return trimesh.Trimesh(vertices, faces, process=False)


def check(tmp_path, name, target, dtype):
    """The file as trimesh reads it, and as Fathom does; float32 in text has as many digits as it takes."""
    mesh, said = converted(tmp_path / name, tmp_path / f"b.{target}")
    assert said == [{"glb": "gltf"}.get(name[2:], name[2:]) + " " + np.dtype(dtype).name]
    expected = loaded(tmp_path / name)
    np.testing.assert_array_equal(mesh.vertices.astype(dtype), expected.vertices.astype(dtype))
    np.testing.assert_array_equal(mesh.faces, expected.faces)


@pytest.mark.parametrize("target", ["ply", "obj", "off"])
@pytest.mark.parametrize("name, options", [
    ("a.ply", {}), ("a.ply", {"encoding": "ascii"}), ("a.obj", {"digits": 17}), ("a.off", {"digits": 17}),
    ("a.glb", {}), ("a.obj", {"digits": 17, "include_normals": True})])
def test_float32(tmp_path, name, options, target):
    odd_mesh().export(tmp_path / name, **options)
    check(tmp_path, name, target, np.float32)


@pytest.mark.parametrize("target", ["ply", "obj", "off"])
@pytest.mark.parametrize("name", ["a.obj", "a.off"])
def test_float64(tmp_path, name, target):
    odd_mesh(np.float64).export(tmp_path / name, digits=20)
    check(tmp_path, name, target, np.float64)


@pytest.mark.parametrize("form", ["stl", "stl_ascii"])
@pytest.mark.parametrize("target", ["ply", "stl"])
def test_stl(tmp_path, form, target):
    expected = odd_mesh()
    expected.export(tmp_path / "a.stl", file_type=form)
    mesh, said = converted(tmp_path / "a.stl", tmp_path / f"b.{target}")
    assert said[0].startswith("stl ")
    np.testing.assert_allclose(mesh.triangles, expected.triangles, rtol=0, atol=1e-8 if form == "stl_ascii" else 0)
    if target == "stl":
        normals = np.frombuffer((tmp_path / "b.stl").read_bytes()[84:], [("n", "<f4", 3), ("v", "V38")])["n"]
        np.testing.assert_allclose(normals, expected.face_normals, atol=1e-6)


@pytest.mark.parametrize("name", ["scene.glb", "scene.gltf"])
def test_scenes(tmp_path, name):
    """Three placed, turned, scaled and mirrored copies of two meshes, one below another."""
    scene = trimesh.Scene()
    turn = trimesh.transformations.rotation_matrix
    box, ball = trimesh.creation.box(), trimesh.creation.icosphere(subdivisions=1)
    scene.add_geometry(box, node_name="a", geom_name="box", transform=turn(0.3, [1, 2, 3]))
    scene.add_geometry(ball, node_name="b", parent_node_name="a", geom_name="ball",
                       transform=trimesh.transformations.translation_matrix([5, 6, 7]) @ np.diag([1, -2, 3, 1]))
    scene.graph.update("c", "b", geometry="box", matrix=turn(1, [0, 1, 0]) @ np.diag([0.5, 0.5, 0.5, 1]))
    files = scene.export(file_type=name[6:])
    for file, data in ({name: files} if isinstance(files, bytes) else {**files, name: files["model.gltf"]}).items():
        (tmp_path / file).write_bytes(data)
    expected = scene.to_mesh()
    mesh, said = converted(tmp_path / name, tmp_path / "b.ply")
    assert said == ["gltf float64"]
    assert len(mesh.faces) == len(expected.faces)
    np.testing.assert_allclose(mesh.bounds, expected.bounds, atol=1e-5)
    np.testing.assert_allclose(mesh.volume, expected.volume, rtol=1e-5)
    np.testing.assert_allclose(mesh.center_mass, expected.center_mass, atol=1e-5)


def test_polygons(tmp_path):
    """A prism over an L, whose concave ends are faces of their own: closed, and with the volume that it has."""
    outline = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]
    lines = [f"v {x} {y} {z}" for z in (0, 5) for x, y in outline]
    for turn in range(6):  # any corner may be the first
        ends = [6 - (k + turn) % 6 for k in range(6)], [7 + (k + turn) % 6 for k in range(6)]
        sides = [(k + 1, (k + 1) % 6 + 1, (k + 1) % 6 + 7, k + 7) for k in range(6)]
        text = "\n".join(lines + ["f " + " ".join(map(str, face)) for face in [*ends, *sides]])
        (tmp_path / "a.obj").write_text(text)
        mesh, _ = converted(tmp_path / "a.obj", tmp_path / "b.ply")
        assert mesh.is_watertight and mesh.is_winding_consistent and len(mesh.faces) == 20
        assert mesh.volume == pytest.approx(20) and mesh.area == pytest.approx(58)
