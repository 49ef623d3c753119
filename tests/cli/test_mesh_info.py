"""What `info` says about meshes."""

import json
import struct

SQUARE = "v 0 0 0\nv 1e-3 0 -1\nv 2 1 0.1\nv 0 1 0\nf 1 2 3 4\n"


def test_text(fathom):
    (fathom.directory / "a.obj").write_text(SQUARE + "v 9 9 9\nf 4 3 1\n")
    assert fathom.ok("info", "a.obj") == (
        "file       a.obj\n"
        "format     obj\n"
        "vertices   5 of float32\n"
        "triangles  3\n"
        "faces      2\n"
        "bounds     0, 0, -1 to 2, 1, 0.1\n"
        "unit       unknown\n"
        "surface    3 open edges, 1 edge of more than two triangles, 1 triangle twice, area 3.12058\n"
    )


def test_json(fathom):
    buffer = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 2, 0.5)
    (fathom.directory / "a b.bin").write_bytes(buffer)
    (fathom.directory / "a.gltf").write_text(json.dumps({
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "translation": [0.1, 0, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}, {"attributes": {"POSITION": 0}, "mode": 1}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36, "uri": "a%20b.bin"}]}))
    done = fathom("info", "a.gltf", "--json")
    assert (done.code, done.err) == (0, b"fathom: warning: a.gltf: its 1 sets of points or lines are left out\n")
    said = json.loads(done.text)
    assert abs(said["topology"].pop("area") - (4.25**0.5) / 2) < 1e-12
    assert said == {
        "operation": "info", "input": {"path": "a.gltf", "format": "gltf"}, "dtype": "float64", "vertices": 3,
        "triangles": 1, "faces": 1, "min": [0.1, 0, 0], "max": [1.1, 2, 0.5], "unit": "m",
        "topology": {"closed": False, "vertices": 3, "edges": 3, "open_edges": 3, "flipped_edges": 0, "shared_edges": 0,
                     "degenerate": 0, "duplicate": 0, "volume": None}}
    assert fathom("info", "a.gltf", "--strict").code == 3


def test_vertices_that_are_no_numbers(fathom):
    (fathom.directory / "a.obj").write_text(SQUARE + "v nan 1 2\nv 1 inf 2\nf 1 2 5\nf 5 6 6\n")
    done = fathom("info", "a.obj")
    assert done.err == b"fathom: warning: a.obj: 2 vertices are no finite numbers; bounds are of the others\n"
    assert "bounds     0, 0, -1 to 2, 1, 0.1\n" in done.text and "surface    unknown\n" in done.text
    (fathom.directory / "b.obj").write_text("v nan 1 2\nf 1 1 1\n")
    done = fathom("info", "b.obj", "--json", "--quiet")
    assert json.loads(done.text)["min"] is None and done.err == b""


def test_triangles_that_meet(fathom):
    (fathom.directory / "a.obj").write_text(SQUARE)
    assert fathom.ok("info", "a.obj", "--check-intersections").endswith("crossings  none\n")
    (fathom.directory / "b.obj").write_text(SQUARE + "v 1 0.3 -1\nv 1 0.3 1\nv 9 9 1\nf 5 6 7\nf 5 6 7\n")
    assert fathom.ok("info", "b.obj", "--check-intersections").endswith(
        "crossings  5 pairs of triangles that meet, the first 0 and 2\n")
    said = json.loads(fathom.ok("info", "b.obj", "--check-intersections", "--json"))
    assert said["self_intersections"] == {"count": 5, "first": [[0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]}
    (fathom.directory / "c.obj").write_text("v nan 1 2\nf 1 1 1\n")
    assert fathom("info", "c.obj", "--check-intersections").text.endswith("crossings  unknown\n")
    (fathom.directory / "a.pgm").write_bytes(b"P5 1 1 255\n\0")
    assert fathom.refuses(2, "info", "a.pgm", "--check-intersections") == (
        "a.pgm is an image; --check-intersections is for meshes")


def test_refuses(fathom):
    (fathom.directory / "a.obj").write_text(SQUARE)
    for options in (["--sites", "nonzero"], ["--axes", "xy"], ["--ndim", "2"], ["--channel", "1"]):
        assert fathom.refuses(2, "info", "a.obj", *options) == (
            "a.obj is a mesh; --axes, --channel, --ndim and --sites are for images")
    (fathom.directory / "b.stl").write_text("solid\nfacet\nouter loop\nvertex 1 2\n")
    assert fathom.refuses(3, "info", "b.stl") == "b.stl has in line 4 fewer numbers than belong there"
