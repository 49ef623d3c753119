"""Points in PLY and NPY, packed, and in formats that are not read."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pytest
from point_taken import CERTAIN, DEGREES, DOUBLES, POINTS, npy, ply

LISTS = "element camera 2\nproperty list uchar short l\nproperty float f\n"
LISTED = b"".join(struct.pack(f"<B{n}hf", n, *range(n), 1) for n in (3, 0))


@pytest.mark.parametrize("data, points", [
    (ply("binary_little_endian", "\n", body=DOUBLES), POINTS),
    (ply("binary_little_endian", "\r\n", body=DOUBLES), POINTS),
    (ply("binary_little_endian", "\r", body=DOUBLES), POINTS),
    (ply("binary_little_endian", "\r", body=b"\n\0\0\0\0\0\xf0\x3f" * 3, count=1),
     [struct.unpack("<3d", b"\n\0\0\0\0\0\xf0\x3f" * 3)]),
    (ply("binary_big_endian", body=struct.pack(">6d", 1, 2, 3, 4, 5, 6.5)), POINTS),
    (ply("ascii", "\r", body=b"1 2 3\r4 5 6.5\r"), POINTS),
    (ply("ascii", "\r\n", body=b"1 2 3\r\n4 5 6.5"), POINTS),
    (ply("ascii", body=b"\n1 2 3 \n\n +4 5e0 6.5\n"), POINTS),
    # Elements before the vertices.
    (ply("binary_little_endian", before="element range 2\nproperty short a\nproperty uchar b\n", body=b"abcdef" + DOUBLES),
     POINTS),
    (ply("binary_little_endian", before=LISTS, body=LISTED + DOUBLES), POINTS),
    (ply("ascii", before=LISTS, body=b"3 1 2 3 1\n0 1\n1 2 3\n4 5 6.5\n"), POINTS),
    (ply("ascii", before="element nothing 3\n", body=b"1 2 3\n4 5 6.5\n"), POINTS),
    # Lists of vertices, other types, another order.
    (ply("binary_little_endian", vertex="property float x\nproperty list uint8 int32 n\nproperty float y\n",
         body=struct.pack("<fB2iffBf", 1, 2, 7, 7, 2, 3, 0, 4)), [(1, 2), (3, 4)]),
    (ply("binary_big_endian", vertex="property float x\nproperty list uint8 int32 n\nproperty float y\n",
         body=struct.pack(">fB2iffBf", 1, 2, 7, 7, 2, 3, 0, 4)), [(1, 2), (3, 4)]),
    (ply("ascii", vertex="property list uchar int n\nproperty float64 y\nproperty float64 x\n", body=b"1 9 2 1.5\n0 4 3\n"),
     [(1.5, 2), (3, 4)]),
    (ply("binary_little_endian", vertex="property uint16 x\nproperty uint8 red\nproperty int8 y\n",
         body=struct.pack("<HBbHBb", 1, 9, -2, 3, 9, 4)), [(1, -2), (3, 4)]),
    (ply("ascii", vertex="".join(f"property double {axis}\n" for axis in "XYZ"), body=b"1 2 3\n4 5 6.5\n\n"), POINTS),
])
def test_ply(take, data, points):
    taken = take("p.ply", data)
    assert (taken.points, taken.error, taken.chosen) == (points, "", None)


def test_ply_names(take):
    vertex = "property float height\nproperty double lat\nproperty double lon\n"
    taken = take("p.ply", ply("ascii", vertex=vertex, body=b"9 2 1.5\n9 4 3\n"))
    assert (taken.points, taken.chosen) == ([(1.5, 2), (3, 4)], "x is 'lon', y is 'lat'")
    assert taken.warnings == ["'height' is left out, since heights are not in degrees", DEGREES.format("lon", "lat")]
    assert take("p.ply", ply("ascii", vertex=vertex, body=b"9 2 1.5\n9 4 3\n"), "--columns=lon,lat").warnings == [
        DEGREES.format("lon", "lat")]


def test_ply_with_faces(take):
    faces = "element face 1\nproperty list uchar int vertex_indices\n"
    taken = take("p.ply", ply("ascii", after=faces, body=b"1 2 3\n4 5 6.5\n3 0 1 1\n"))
    assert taken.points == POINTS
    assert taken.warnings == ["the vertices are taken as points; its 1 faces are left out"]


@pytest.mark.parametrize("data, message", [
    (ply("ascii", body=b"1 2 3\n4 5\n"), "has in vertex 1 '', which is no number"),
    (ply("ascii", body=b"1 2 3\n4 5 6 7\n"), "has in vertex 1 more values than it has properties"),
    (ply("ascii", body=b"1 2 3\n4 5 6\n7 8 9\n", after=""), "announces 2 vertices and holds more lines"),
    (ply("ascii", body=b"1 2 3 \n      "), "is truncated: the PLY file ends before its elements do"),
    (ply("ascii", body=b"1 2 3\n"), "is truncated: its header promises 10 bytes of elements, it holds 6"),
    (ply("ascii", vertex="property list uchar int l\nproperty int x\nproperty int y\n", body=b"2.5 1 2 3 4\n1 1 1 1\n"),
     "has in vertex 0 a list whose length is no count"),
    (ply("binary_little_endian", before="element e 1\nproperty list char int l\n", body=b"\xff" + DOUBLES),
     "has a list with the length -1.000000"),
    (ply("ascii", before="element vertex 1\nproperty int x\n"), "has a broken PLY header: there are two elements 'vertex'"),
    (ply("ascii", before="element e 1\nproperty long x\n"), "has a broken PLY header: the type 'long' is unknown"),
    (ply("ascii", before="element e 1\nproperty list float int x\n"),
     "has a broken PLY header: the length of a list is no integer"),
    (b"ply\nformat ascii 1.0\nproperty int x\n", "has a broken PLY header: a property stands before any element"),
])
def test_refuses_ply(take, data, message):
    assert take("p.ply", data).refusal == message


def test_structured_arrays(take):
    rows = [("first", 1.5, 7, 2.5), ("second", 3.5, 7, 4.5)]
    mixed = np.array(rows, [("name", "U10"), ("y", "<f8"), ("n", "i1"), ("x", "<f8")])
    taken = take("a.npy", npy(mixed))
    assert (taken.points, taken.chosen) == ([(2.5, 1.5), (4.5, 3.5)], "x is 'x', y is 'y'")
    assert take("a.npy", npy(np.array([(1, 2, 3)], [("x", ">i2"), ("y", ">f4"), ("z", "<f2")]))).points == [(1, 2, 3)]
    aligned = np.array([(1, 2.5, 3.5)], np.dtype([("k", "u1"), ("x", "f8"), ("y", "f8")], align=True))
    assert take("a.npy", npy(aligned)).points == [(2.5, 3.5)]
    several = take("a.npy", npy(np.array([(7, (1, 2, 3))], [("k", "u1"), ("pos", "<f4", (3,))])),
                   "--columns", "pos_1,pos_2,pos_3")
    assert several.points == [(1, 2, 3)]
    assert take("a.npy", npy(mixed), "--columns", "name,x").refusal == "has no numbers in the column 'name'"
    table = take("a.npy", npy(np.zeros(2, [("id", "i4"), ("distance", "f4"), ("site", "i8")])))
    assert table.refusal == f"has the columns 1 'id', 2 'distance', 3 'site', and {CERTAIN}"


@pytest.mark.parametrize("name, data, points", [
    ("t.csv.gz", b"x,y\n1,2\n", [(1, 2)]), ("t.xyz.gz", b"1 2 3 4\n", [(1, 2, 3)]),
    ("t.npy.gz", npy(np.array([[1.5, 2.5]])), [(1.5, 2.5)]), ("t.ply.gz", ply("binary_little_endian", body=DOUBLES), POINTS)])
def test_gzip(take, name, data, points):
    taken = take(name, gzip.compress(data))
    assert (taken.points, taken.error) == (points, "")


def zipped(name, text="…"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, text)
    return out.getvalue()


@pytest.mark.parametrize("dtype", ["i8", "u8", "u4", ">i8"])
def test_wide_integers(take, dtype):
    """int32 where all fit, else float64 as far as that tells them apart."""
    for most in 2**31 - 1, 2**31, 2**53 - 1:
        if most > np.iinfo(dtype).max:
            continue
        taken = take("a.npy", npy(np.array([[most, 1], [3, 4]], dtype)))
        assert taken.points == [(most, 1), (3, 4)] and isinstance(taken.points[0][0], int if most < 2**31 else float)
    pairs = [(2**53 - 1, 5), (1, 2**53)] if dtype != "u4" else []
    for array in (np.array(pairs, dtype), np.array(pairs, [("x", dtype), ("y", dtype)])) if pairs else ():
        assert take("a.npy", npy(array)).refusal == (
            "holds integers beyond 9007199254740991 on either side, which float64 does not tell apart; subtract the same "
            "from all points")


CLOUD = "save it as PLY or CSV, as CloudCompare and PDAL do"
MESH = "save its vertices as PLY or CSV, as MeshLab does"
MAP = "save it as CSV with columns x and y, as ogr2ogr -lco GEOMETRY=AS_XY does"
TABLES = "save the table as CSV, as pandas' to_csv does"
FORMATS = "points are read from NPY, CSV, PLY and XYZ files"


@pytest.mark.parametrize("data, message", [
    (zipped("arr_0.npy"), "an NPZ archive; save its array with numpy.save"),
    (zipped("[Content_Types].xml"), "an Excel workbook or another Office file; save the sheet as CSV"),
    (zipped("doc.kml"), "a ZIP archive; unpack it first"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook or another old Office file; save the sheet as CSV"),
    (b"LASF\0\0\0\0", f"a LAS or LAZ point cloud; {CLOUD}"),
    (b"ASTM-E57\1\0\0\0", f"an E57 point cloud; {CLOUD}"),
    (b"# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n", f"a PCD point cloud; {CLOUD}"),
    (b"VERSION 0.7\nFIELDS x y z\n", f"a PCD point cloud; {CLOUD}"),
    (b"# Blender\nmtllib a.mtl\nv 1 2 3\n", f"an OBJ mesh; {MESH}"),
    (b"v 1 2 3\nv 4 5 6\n", f"an OBJ mesh; {MESH}"),
    (b"o thing\nv 1 2 3\n", f"an OBJ mesh; {MESH}"),
    (b"solid a\n facet normal 0 0 1\n", f"an STL mesh; {MESH}"),
    (b"OFF\n3 1 0\n", f"an OFF mesh; {MESH}"),
    (b"\0\0\x27\x0a" + bytes(96), f"a shapefile; {MAP}"),
    (b'{"type": "FeatureCollection"}', f"JSON, as GeoJSON is; {MAP}"),
    (b"SQLite format 3\0", f"an SQLite database, as GeoPackage is; {MAP}"),
    (b"PAR1\x15", f"a Parquet file; {TABLES}"),
    (b"ARROW1\0\0", f"an Arrow or Feather file; {TABLES}"),
    (b"\x89HDF\r\n\x1a\n", f"an HDF5, NetCDF or Imaris file (save the dataset with numpy.save); {FORMATS}"),
    (b"<?xml version='1.0'?><gpx/>", f"an XML document; {FORMATS}"),
    (b"# vtk DataFile Version 3.0\n", "a VTK file; save its points as PLY or CSV, as ParaView does"),
    (b'<VTKFile type="PolyData">', "a VTK file; save its points as PLY or CSV, as ParaView does"),
    (b'<?xml version="1.0"?>\n<VTKFile type="PolyData">', "a VTK file; save its points as PLY or CSV, as ParaView does"),
    (zipped("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), "an OpenDocument spreadsheet; save the sheet as CSV"),
    (b"BZh91AY", "a bzip2 file; unpack it first"),
    (b"\x89PNG\r\n\x1a\n", f"an image; {FORMATS}"),
    (b"ncols 4\nnrows 3\n", "an ESRI grid; save its points as CSV, as gdal2xyz does"),
])
def test_refuses_by_name(take, data, message):
    assert take("a.csv", data).refusal == "looks like " + message
