"""fathom mesh: bands in files of tiles, and surfaces at an offset."""

import json
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest
import trimesh
from test_mesh import box, lattice_points, save, told, warnings


def vtu(path):
    """An own reader: the arrays by their names."""
    head, rest = path.read_bytes().split(b'<AppendedData encoding="raw">\n   _', 1)
    root = ET.fromstring(head + b"</VTKFile>")
    assert dict(root.attrib) == {"type": "UnstructuredGrid", "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64"}
    piece = root.find("UnstructuredGrid/Piece")
    points = int(piece.get("NumberOfPoints"))
    assert int(piece.get("NumberOfCells")) == points
    arrays, end = {}, 0
    for array in piece.iter("DataArray"):
        assert array.get("format") == "appended" and int(array.get("offset")) == end
        size = int(np.frombuffer(rest, "<u8", 1, end)[0])
        values = np.frombuffer(rest[end + 8:end + 8 + size], np.dtype(array.get("type").lower()))
        arrays[array.get("Name")] = values.reshape((points, -1)).squeeze(1) if array.get("NumberOfComponents") == "1" else values.reshape(points, 3)
        end += 8 + size
    assert rest[end:] == b"\n  </AppendedData>\n</VTKFile>\n"
    return arrays


@pytest.fixture
def slab(fathom):
    save(fathom, "slab.obj", box((0, 0, 0), (4, 2, 1)))
    return fathom


def in_order(points, *more):
    order = np.lexsort(points.T)
    return [a[order] for a in (points, *more)]


@pytest.mark.parametrize("options, dtype", [([], "f4"), (["--band", "2", "--dtype", "float64", "--spacing", "0.25,0.25,0.5"], "f8"),
                                            (["--sign", "none", "--cutoff", "0.3"], "f4"), (["--origin", "-40000,0,0", "--shape", "80200,3,3"], "f4")])
def test_vtu(slab, options, dtype):
    spacing = [] if "--spacing" in options else ["--spacing", 0.5]
    said = told(slab, "slab.obj", "-o", "band.vtu", *spacing, *options)
    assert said["outputs"] == [{"path": "band.vtu", "content": "distance", "format": "vtu", "dtype": {"f4": "float32", "f8": "float64"}[dtype],
                                "shape": said["lattice"]["shape"][::-1]}]
    cutoff = said["band"]["cutoff"]
    assert cutoff == {0: 1.5, 2: 1.5, 4: 0.3 if "none" in options else 1}.get(len(options), 1.0) or "--origin" in options
    got = vtu(slab.directory / "band.vtu")
    assert got["distance"].dtype == dtype and got["Points"].dtype == ("f8" if "--origin" in options else "f4")
    assert len(got["distance"]) == said["band"]["points"]
    assert np.array_equal(got["connectivity"], np.arange(len(got["types"]))) and np.array_equal(got["offsets"], got["connectivity"] + 1)
    assert (got["types"] == 1).all()
    told(slab, "slab.obj", "-o", "dense.npy", "--dense", "--dtype", got["distance"].dtype.name, *spacing,
         "--origin", ",".join(map(str, said["lattice"]["origin"])), "--shape", ",".join(map(str, said["lattice"]["shape"])),
         *(options[options.index("--spacing"):] if "--spacing" in options else []), *(["--sign", "none"] if "none" in options else []))
    dense = np.load(slab.directory / "dense.npy")
    inside = np.abs(dense) <= cutoff
    where, distance = in_order(lattice_points(said["lattice"])[inside].astype(got["Points"].dtype), dense[inside])
    places, values = in_order(got["Points"], got["distance"])
    assert np.array_equal(places, where) and np.array_equal(values, distance)


def test_vtu_says_what_it_loses_and_goes_with_others(slab):
    outcome = slab("mesh", "slab.obj", "-o", "a.vtu", "--spacing", 0.5, "--units", "mm", "--inside", "solid.npy", "--preview", "a.png")
    assert warnings(outcome)[0] == "a.vtu: vtu does not hold the lattice's unit (mm)"
    assert "a.vtu: distance, float32, 11 × 13 × 17, -0.5 to 1.5; " in outcome.text
    assert np.load(slab.directory / "solid.npy").sum() == 9 * 5 * 3
    assert slab.ok("mesh", "slab.obj", "-o", "b.bin", "--format", "vtu", "--spacing", 0.5, "--quiet") == ""
    assert (slab.directory / "a.vtu").read_bytes() == (slab.directory / "b.bin").read_bytes()


@pytest.mark.parametrize("ending, library, magic", [("vdb", "OpenVDB", b"\x20\x42\x44\x56"), ("nvdb", "NanoVDB", b"NanoVDB")])
def test_vdb(slab, ending, library, magic):
    lacks = f"this build has no {library}, which .{ending} takes"
    if lacks.encode() in slab("mesh", "slab.obj", "-o", f"x.{ending}", "--spacing", 1, "--plan").err:
        assert slab.refuses(2, "mesh", "slab.obj", "-o", f"a.{ending}", "--spacing", 1).startswith(lacks)
        return
    said = told(slab, "slab.obj", "-o", f"a.{ending}", "--spacing", "0.5")
    assert said["band"]["cutoff"] == 1.5 and said["outputs"][0]["format"] == ending and said["warnings"] == []
    assert (slab.directory / f"a.{ending}").read_bytes().startswith(magic)
    assert slab.refuses(2, "mesh", "slab.obj", "-o", f"b.{ending}", "--spacing", "0.5,0.5,1") == (
        f"the voxels of .{ending} are cubes; take the same spacing along x, y and z, or write .vtu")
    piped = slab("mesh", "slab.obj", "-o", "-", "--format", ending, "--spacing", "0.5", "--quiet")
    assert piped.code == 0 and piped.out.startswith(magic)


@pytest.mark.parametrize("offset, volume", [(0.5, None), (0, 8), (-0.25, 3.5 * 1.5 * 0.5), (2, None)])
def test_offset(slab, offset, volume):
    said = told(slab, "slab.obj", "-o", "shell.ply", "--offset", offset, "--spacing", 0.05)
    surface = trimesh.load(slab.directory / "shell.ply", process=False)
    assert said["surface"] == {"offset": offset, "vertices": len(surface.vertices), "triangles": len(surface.faces), "closed": True}
    edges = Counter(map(tuple, surface.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)))
    assert set(edges.values()) == {1} and all(edge[::-1] in edges for edge in edges)
    if volume is None:  # Steiner: V + A·r + M·r² + 4/3·π·r³
        volume = 8 + 28 * offset + np.pi * 7 * offset**2 + 4 / 3 * np.pi * offset**3
    assert surface.volume == pytest.approx(volume, rel=0.02)


def test_offset_says(slab):
    assert slab.ok("mesh", "slab.obj", "-o", "shell.stl", "--offset", 1, "--spacing", 0.5).splitlines()[-1].startswith("shell.stl: surface at 1, ")
    assert trimesh.load(slab.directory / "shell.stl").is_watertight
    plan = json.loads(slab.ok("mesh", "slab.obj", "-o", "a.obj", "--offset", 1, "--spacing", 0.5, "--plan", "--json"))
    assert plan["cutoff"] == 2 and [(o["content"], o["format"]) for o in plan["outputs"]] == [("surface", "obj")]
    cut = slab("mesh", "slab.obj", "-o", "cut.stl", "--offset", 1, "--spacing", 0.5, "--origin", "0,0,0", "--shape", "8,8,8")
    assert warnings(cut) == ["cut.stl: the surface ends at the lattice's border; a larger --shape or --margin closes it"]
    assert slab.refuses(3, "mesh", "slab.obj", "-o", "none.stl", "--offset", -3, "--spacing", 0.5) == (
        "slab.obj: no point of the lattice is on the other side of --offset -3, so there is no surface")
    save(slab, "sheet.obj", ([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]]))
    slab.ok("mesh", "sheet.obj", "-o", "sheet.stl", "--offset", 1, "--spacing", 0.25, "--sign", "none")
    assert trimesh.load(slab.directory / "sheet.stl").is_watertight


@pytest.mark.parametrize("line, message", [
    ("-o a.vtu --spacing 1 --dense", "'a.vtu' holds a band; leave out --dense, or write .vti or .nii.gz"),
    ("-o a.stl --spacing 1 --offset 1,2", "--offset takes one number, not '1,2'"),
    ("-o a.stl --spacing 1 --offset 1 --band 3", "--offset takes the points near its surface; leave out --band, --cutoff and --dense"),
    ("-o a.vtu --spacing 1 --offset 1", "the name 'a.vtu' does not say which format to write; end it in .stl, .ply, .obj or .off"),
    ("-o a.x --spacing 1 --offset 1 --format vtu", "--format of a surface is stl, ply, obj or off, not 'vtu'"),
    ("--inside a.npy --spacing 1 --offset 1", "--offset makes a surface; say where it goes, as in -o shell.stl"),
    ("-o a.stl --spacing 1 --offset 0 --sign none", "without a sign there is no inside, so --offset takes a number above 0; leave out --sign none"),
])
def test_refuses(slab, line, message):
    assert slab.refuses(2, "mesh", "slab.obj", *line.split()) == message
