"""Points as people's programs write them: what `query` makes of each file, what it warns of, what it refuses.

The texts are laid out as pandas, R, Excel, QGIS, CloudCompare, ParaView and others write them.
"""

import gzip
import io
import json
import struct
import subprocess
import zipfile

import numpy as np
import pytest

TYPES = {"int": "<i4", "float": "<f4", "double": "<f8"}


class Taken:
    """What the command made of a file: its points, and what it said about them, without the file's name."""

    def __init__(self, fathom, name, data, options):
        (fathom.directory / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        self.name, self.output = name, fathom.directory / "out.ply"
        self.outcome = fathom("query", name, name, "-o", self.output, *options)
        self.error = self.outcome.err.decode()

    @property
    def points(self):
        assert self.outcome.code == 0, self.error
        header, body = self.output.read_bytes().split(b"end_header\n", 1)
        fields = [line.split()[1:] for line in header.decode().splitlines() if line.startswith("property")]
        rows = np.frombuffer(body, [(name, TYPES[kind]) for kind, name in fields])
        return [tuple(row)[:-2] for row in rows.tolist()]

    @property
    def warnings(self):
        start = f"fathom: warning: {self.name}: "
        lines = self.error.splitlines()
        assert all(line.startswith(start) for line in lines), self.error
        return list(dict.fromkeys(line.removeprefix(start) for line in lines))  # as sites and as queries

    @property
    def chosen(self):
        start = f"{self.name}: x is "
        lines = self.outcome.text.splitlines()
        return next(("x is " + line.removeprefix(start) for line in lines if line.startswith(start)), None)

    @property
    def refusal(self):
        assert self.outcome.code == 3, self.outcome
        start = f"fathom: {self.name} "
        assert self.error.startswith(start) and self.error.count("\n") == 1, self.error
        return self.error.removeprefix(start).rstrip("\n")


@pytest.fixture
def take(fathom):
    return lambda name, data, *options: Taken(fathom, name, data, options)


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


DEGREES = "'{}', '{}' are taken as x, y: distances in degrees are not on the ground; project the points first"
CERTAIN = "which of them are coordinates is not certain; say it with --columns, such as --columns 1,2"
THOUSANDS = "which has marks between thousands; save numbers without"
LEAVE_OUT = "which is no coordinate; leave such lines out"


@pytest.mark.parametrize("data, points", [
    # Byte-order marks, as Excel and PowerShell write them.
    (b"\xef\xbb\xbf1,2\n3,4\n", [(1, 2), (3, 4)]),
    (b"\xef\xbb\xbfx,y\n1,2\n", [(1, 2)]),
    (b"\xef\xbb\xbf\"x\",\"y\"\r\n1,2\r\n", [(1, 2)]),
    (b"\xef\xbb\xbf# x y\n1 2\n", [(1, 2)]),
    # Decimal commas: Excel in Europe, R's write.csv2 and write.table(dec=","), pandas' decimal=",".
    ("X;Y\n1,5;2,5\n", [(1.5, 2.5)]),
    ("1,5;2,5\n3;4,25\n", [(1.5, 2.5), (3, 4.25)]),
    ("X\tY\n1,5\t2,5\n", [(1.5, 2.5)]),
    ("x y\n1,5 2,5\n", [(1.5, 2.5)]),
    ('"1,5","2,5"\n', [(1.5, 2.5)]),
    ("X;Y\n-0,123;1,500\n", [(-0.123, 1.5)]),
    ("sep=;\r\nx;y\r\n1,5;2\r\n", [(1.5, 2)]),
    ("1.234;5.678\n", [(1.234, 5.678)]),
    # Line ends.
    ("1 2\r3 4\r5 6\r", [(1, 2), (3, 4), (5, 6)]),
    ("x,y\r1,2\r3,4", [(1, 2), (3, 4)]),
    ("x,y\r\n1,2\r\n\r\n3,4\r\n", [(1, 2), (3, 4)]),
    ("x,y\n1,2\r3,4\r\n5,6", [(1, 2), (3, 4), (5, 6)]),
    # Blanks, tabs, marks at the ends.
    (" 1   2\n\t3\t \t4 \n", [(1, 2), (3, 4)]),
    ("1\t\t2\n3\t\t4\n", [(1, 2), (3, 4)]),
    ("1, 2\n 3 ,4\n", [(1, 2), (3, 4)]),
    ("1;2;\n3;4;\n", [(1, 2), (3, 4)]),
    ("x|y\n1|2\n", [(1, 2)]),
    # Numbers.
    ("1.0D+03 2.5d0\n-1.5E-1 +1.5\n", [(1000, 2.5), (-0.15, 1.5)]),
    ("+1.5,-.5\n1.,2\n", [(1.5, -0.5), (1, 2)]),
    ('x,y\n"1.5","-2"\n', [(1.5, -2)]),
    # Comments.
    ("# by hand\n1,2 # a, b\n% MATLAB\n// CloudCompare\n3,4#c\n", [(1, 2), (3, 4)]),
    # Nothing but coordinates, by name.
    ("x (m),y (m)\n1,2\n", [(1, 2)]),
    ("X [µm],Y [µm]\n1,2\n", [(1, 2)]),
    ("x [mm] y [mm]\n1 2\n", [(1, 2)]),
    ("easting_m,northing_m\n1,2\n", [(1, 2)]),
    ("Easting,Northing,Elevation\n1,2,3\n", [(1, 2, 3)]),
    ("POSITION_X,POSITION_Y,POSITION_Z\n1,2,3\n", [(1, 2, 3)]),
    ('"Points:0","Points:1","Points:2"\n1,2,3\n', [(1, 2, 3)]),
    ("//X,Y,Z\n2\n1,2,3\n4,5,6\n", [(1, 2, 3), (4, 5, 6)]),
    ("# x y z\n1.0e+00 2.0e+00 3.0e+00\n", [(1, 2, 3)]),
])
def test_text(take, data, points):
    taken = take("t.csv", data)
    assert (taken.points, taken.error, taken.chosen) == (points, "", None)


@pytest.mark.parametrize("data, chosen, points", [
    # pandas: an index with an empty name; R: names of rows, with and without a name over them.
    (",x,y\n0,1.5,2.5\n1,3.5,4.5\n", "x is 'x', y is 'y'", [(1.5, 2.5), (3.5, 4.5)]),
    ('"","x","y"\n"1",0.1,0.2\n"2",0.3,0.4\n', "x is 'x', y is 'y'", [(0.1, 0.2), (0.3, 0.4)]),
    ('"x" "y"\n"1" 0.1 0.2\n"2" 0.3 0.4\n', "x is 'x', y is 'y'", [(0.1, 0.2), (0.3, 0.4)]),
    ('"";"x";"y"\n"1";1,5;2,5\n', "x is 'x', y is 'y'", [(1.5, 2.5)]),
    # RFC 4180: delimiters, quotes and line ends within quotes.
    ('name,x,y\n"a, ""b""\r\nnext",1,2\n"c",3,4\n', "x is 'x', y is 'y'", [(1, 2), (3, 4)]),
    ("name,x,y\nNew York,1,2\nÅrhus,3,4\n", "x is 'x', y is 'y'", [(1, 2), (3, 4)]),
    ("id\tname\tx\ty\n1\t\t3\t4\n2\t\t5\t6\n", "x is 'x', y is 'y'", [(3, 4), (5, 6)]),
    ("time,x,y\n2020-01-01 10:00,1,2\n", "x is 'x', y is 'y'", [(1, 2)]),
    ("name;y;x\nfirst;2;1\n", "x is 'x', y is 'y'", [(1, 2)]),
    ("x,y,color\n1,2,#ff0000\n", "x is 'x', y is 'y'", [(1, 2)]),
    ("x y color\n1 2 #ff0000\n", "x is 'x', y is 'y'", [(1, 2)]),
    # QGIS, ArcGIS, ImageJ, Metashape, CloudCompare, COMSOL.
    ('X,Y,fid,name\n1,2,7,"a b"\n', "x is 'X', y is 'Y'", [(1, 2)]),
    ("OBJECTID,POINT_X,POINT_Y\n1,2,3\n", "x is 'POINT_X', y is 'POINT_Y'", [(2, 3)]),
    (" ,Area,X,Y\n1,5,2,3\n", "x is 'X', y is 'Y'", [(2, 3)]),
    ("#Label,X/Easting,Y/Northing,Z/Altitude\na,1,2,3\n", "x is 'X/Easting', y is 'Y/Northing', z is 'Z/Altitude'",
     [(1, 2, 3)]),
    ("//X Y Z R G B\n1 2 3 255 0 0\n", "x is 'X', y is 'Y', z is 'Z'", [(1, 2, 3)]),
    ("% x   y   T (K)\n1 2 300\n", "x is 'x', y is 'y'", [(1, 2)]),
    ("# id,x,y\n1,2,3\n", "x is 'x', y is 'y'", [(2, 3)]),
    ("# id x y\n# by numpy.savetxt\n1,2,3\n", "x is 'x', y is 'y'", [(2, 3)]),
    ("// y;x\n2\n1 2\n3 4\n", "x is 'x', y is 'y'", [(2, 1), (4, 3)]),
    # The more exact name.
    ("center_x,center_y,x,y\n1,2,3,4\n", "x is 'x', y is 'y'", [(3, 4)]),
    ("y_coord,x_coord,n\n1,2,3\n", "x is 'x_coord', y is 'y_coord'", [(2, 1)]),
    # Words are no coordinates.
    ("oak,1,2\nash,3,4\n", "x is '2', y is '3'", [(1, 2), (3, 4)]),
])
def test_columns_by_name(take, data, chosen, points):
    taken = take("t.csv", data)
    assert (taken.points, taken.error, taken.chosen) == (points, "", chosen)


@pytest.mark.parametrize("data, warning, points", [
    ("id,lon,lat\n1,8.5,47.4\n", DEGREES.format("lon", "lat"), [(8.5, 47.4)]),
    ("latitude,longitude\n47.4,8.5\n", DEGREES.format("longitude", "latitude"), [(8.5, 47.4)]),
    ("city,LAT,LNG\nZürich,47.4,8.5\n", DEGREES.format("LNG", "LAT"), [(8.5, 47.4)]),
    ("gbifID,decimalLatitude,decimalLongitude\n1,47.4,8.5\n", DEGREES.format("decimalLongitude", "decimalLatitude"),
     [(8.5, 47.4)]),
    ("x (deg),y (deg)\n8.5,47.4\n", DEGREES.format("x (deg)", "y (deg)"), [(8.5, 47.4)]),
    ("a,b\n1,2\n", "the columns 'a', 'b' are taken as x, y", [(1, 2)]),
    ('"","V1","V2"\n"1",0.1,0.2\n', "the columns 'V1', 'V2' are taken as x, y", [(0.1, 0.2)]),
    ("Var1,Var2,Var3\n1,2,3\n", "the columns 'Var1', 'Var2', 'Var3' are taken as x, y, z", [(1, 2, 3)]),
    ("0,1,2\n3,4,5\n", "line 1, 0,1,2, is taken as a point; leave it out where it names columns, as pandas does",
     [(0, 1, 2), (3, 4, 5)]),
    ("Länge,Breite\n1,2\n", "the columns 'Länge', 'Breite' are taken as x, y", [(1, 2)]),
    ("# id x y\n1 2\n", "a comment before line 2 names 3 columns of 2, and is left out", [(1, 2)]),
])
def test_warns(take, data, warning, points):
    taken = take("t.csv", data)
    assert (taken.points, taken.warnings) == (points, [warning])


@pytest.mark.parametrize("data", ["0,1\n1.5,2.5\n", ",0,1\n0,1.5,2.5\n"])
def test_numbers_as_names(take, data):
    taken = take("t.csv", data)
    line = data.split("\n")[0]
    assert taken.points == [(1.5, 2.5)]
    assert taken.warnings == [
        f"line 1, {line}, is taken as names of columns, as pandas writes them; write 0.0 where it is a point",
        "the columns '0', '1' are taken as x, y"]


@pytest.mark.parametrize("data, message", [
    ("x,y\n1,2\n".encode("utf-16"), "is text in UTF-16 or UTF-32; save it as UTF-8"),
    ("x,y\n1,2\n".encode("utf-16-be"), "holds bytes that are no text, in no format of points"),
    (b"x,y\n" + 200000 * b"1,2\n" + b"3\0,4\n", "has in line 200002 a byte that is no text"),
    # Decimal marks and thousands.
    ("X;Y\n1,500;2,500\n", "has numbers such as '1,500', whose comma may be a decimal one or divide thousands; say "
     "--decimal , if it is decimal"),
    ("X;Y\n1.5;2,5\n", "has in line 2 '2,5', which has a decimal comma; --decimal , reads those"),
    ("X;Y\n1.234,5;2,5\n", f"has in line 2 '1.234,5', {THOUSANDS}"),
    ('x,y\n"1,234,567",2\n', f"has in line 2 '1,234,567', {THOUSANDS}"),
    ("x;y\n1 234,5;2 345,6\n", f"has in line 2 '1 234,5', {THOUSANDS}"),
    ("x;y\n1'234.5;2\n", f"has in line 2 '1'234.5', {THOUSANDS}"),
    ("1 000,2\n", f"has in line 1 '1 000', {THOUSANDS}"),
    ("x,y\n1,5,2,5\n",
     "has in line 2 4 values where line 1 names 2 columns; with --decimal , the --delimiter is another, such as ';'"),
    # As many values as columns.
    ("x,y\n1,2\n1,2,3\n", "has in line 3 3 values where line 1 names 2 columns"),
    ("x,y,z\n1,2\n", "has in line 2 2 values where line 1 names 3 columns"),
    ("1 2 3\n4 5\n", "has in line 2 2 values where line 1 has 3"),
    # No numbers.
    ("x,y\n1,\n", "has in line 2 no value in the column y; leave such lines out"),
    ("1,2\n,\n", "has in line 2 no value in the column 1; leave such lines out"),
    ("x,y\n1,2\n1,NA\n", f"has in line 3 'NA', {LEAVE_OUT}"),
    ("x,y\nnan,2\n", f"has in line 2 'nan', {LEAVE_OUT}"),
    ("x,y\nnull,2\n", f"has in line 2 'null', {LEAVE_OUT}"),
    ("x,y\n1,-inf\n", f"has in line 2 '-inf', {LEAVE_OUT}"),
    ("NA,NA\n1,2\n", f"has in line 1 'NA', {LEAVE_OUT}"),
    ("x,y\n0x10,2\n", "has in line 2 '0x10', which is no number"),
    ("x,y\n1.5 m,2\n", "has in line 2 '1.5 m', which is no number"),
    ("x,y\n1e999,2\n", "has in line 2 '1e999', which is beyond float64"),
    ('name,x,y\n"two\nlines",1,2\nc,5,oops\n', "has in line 4 'oops', which is no number"),
    # Quotes.
    ('x,y\n"1,2\n', "has in line 2 a quote that is not closed"),
    ('x,y\n"1"2,3\n', "has in line 2 text after a closing quote"),
    # Not certain.
    ("id,a,b\n1,2,3\n", f"has the columns 1 'id', 2 'a', 3 'b', and {CERTAIN}"),
    ("a,b,c,d\n1,2,3,4\n", f"has the columns 1 'a', 2 'b', 3 'c', 4 'd', and {CERTAIN}"),
    ("x,value\n1,2\n", f"has the columns 1 'x', 2 'value', and {CERTAIN}"),
    ("WKT,id\nPOINT (1 2),3\n", f"has the columns 1 'WKT', 2 'id', and {CERTAIN}"),
    ("x,y,height\n1,2,3\n", "has the columns 1 'x', 2 'y', 3 'height', and whether the height is a coordinate is not "
     "certain; say it with --columns, such as --columns 1,2"),
    ("x,y,lon,lat\n1,2,3,4\n", "has the columns 1 'x', 2 'y', 3 'lon', 4 'lat', and more than one pair of them may be "
     "x and y; say it with --columns, such as --columns 1,2"),
    ("x,y,x\n1,2,3\n", "has the columns 1 'x', 2 'y', 3 'x', and more than one of them may be the same coordinate; say "
     "it with --columns, such as --columns 1,2"),
    ("id,2019,2020\n1,5,6\n", "has in line 1 words and numbers, and whether it names the columns is not certain; give "
     "names that are no numbers"),
    ("x (m),y (mm)\n1,2\n", "has coordinates in m and mm ('x (m)', 'y (mm)'); bring them to one unit"),
    ("color,x,y\nred,3,4\n#ff0000,1,2\n",
     "has in line 3 a comment that looks like a point; quote its first value, or leave the line out"),
    ("x,y\n", "holds no points"),
    ("2\n2\n0 0 0\n1 0 0\n",
     "begins with two whole numbers, each in a line, as PTX scans do; save the points as PTS, PLY or CSV"),
])
def test_refuses_text(take, data, message):
    assert take("t.csv", data).refusal == message


@pytest.mark.parametrize("name, data, points", [
    ("p.xyz", "3\nwater\nO 0 0 0\nH 0.5 0 0\nH 0 0.5 0\n", [(0, 0, 0), (0.5, 0, 0), (0, 0.5, 0)]),
    ("p.xyz", "2\n\nNa 0.5 0 0\nCl 1 0 0\n\n", [(0.5, 0, 0), (1, 0, 0)]),
    ("p.xyz", "2\r\ntwo \"atoms\r\n8 0.5 0 0\r\n1 1 0 0\r\n", [(0.5, 0, 0), (1, 0, 0)]),
    ("p.xyz", "1\nProperties=species:S:1:charge:R:1:pos:R:3 pbc=\"F F F\"\nO 9 1 2 3\n", [(1, 2, 3)]),
    ("p.xyz", "C 0 1 2\nO 3 4 5\n", [(0, 1, 2), (3, 4, 5)]),
    ("p.xyz", "1 2 3 255 0 0\r4 5 6 1 1 1\r", [(1, 2, 3), (4, 5, 6)]),
    ("p.xyz", "r x y z\n9 1 2 3\n", [(1, 2, 3)]),
    ("p.pts", "2\n1 2 3 -5 1 2 3\n4 5 6 -5 1 2 3\n", [(1, 2, 3), (4, 5, 6)]),
    ("p.pts", "1\n1 2 3\n1\n4 5 6\n", [(1, 2, 3), (4, 5, 6)]),
    ("p.txt", "//X Y Z R G B\n1\n1 2 3 255 0 0\n", [(1, 2, 3)]),
])
def test_molecules_and_scans(take, name, data, points):
    taken = take(name, data)
    assert (taken.points, taken.error) == (points, "")


def test_lattice(take):
    taken = take("p.xyz", '1\nLattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3\nO 1 2 3\n')
    assert taken.points == [(1, 2, 3)]
    assert taken.warnings == ["the lattice of the cell is left out; --period gives a periodic box"]


@pytest.mark.parametrize("data, message", [
    ("3\n\nO 0 0 0\nH 1 0 0\n", "announces 3 atoms and holds 2"),
    ("1\n\nO 0 0 0\n1\n\nO 0 0 0\n",
     "has in line 4 something after the 1 atoms that it announces; save one frame without the others"),
    ("1\nProperties=species:S:1:vel:R:3\nO 1 2 3\n",
     "has Properties without pos:R:3 in line 2, so that the places of its atoms are not known"),
    ("3\n1 2 3\n4 5 6\n", "announces 3 points and holds 2"),
    ("1\n1 2 3\n4 5 6\n", "announces 1 points and holds 2"),
])
def test_refuses_molecules_and_scans(take, data, message):
    assert take("p.xyz", data).refusal == message


def ply(form, end="\n", before="", vertex="", body=b"", count=2, after="element face 0\nproperty list uchar int i\n"):
    header = f"ply\nformat {form} 1.0\ncomment made here\nobj_info by hand\n{before}element vertex {count}\n"
    header += (vertex or "".join(f"property double {axis}\n" for axis in "xyz")) + after + "end_header\n"
    return header.replace("\n", end).encode() + body


DOUBLES = struct.pack("<6d", 1, 2, 3, 4, 5, 6.5)
POINTS = [(1, 2, 3), (4, 5, 6.5)]
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
])
def test_ply(take, data, points):
    taken = take("p.ply", data)
    assert (taken.points, taken.error, taken.chosen) == (points, "", None)


def test_ply_with_faces(take):
    faces = "element face 1\nproperty list uchar int vertex_indices\n"
    taken = take("p.ply", ply("ascii", after=faces, body=b"1 2 3\n4 5 6.5\n3 0 1 1\n"))
    assert taken.points == POINTS
    assert taken.warnings == ["the vertices are taken as points; its 1 faces are left out"]


@pytest.mark.parametrize("data, message", [
    (ply("ascii", body=b"1 2 3\n4 5\n"), "has in vertex 1 '', which is no number"),
    (ply("ascii", body=b"1 2 3\n4 5 6 7\n"), "has in vertex 1 more values than it has properties"),
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


TABLE = "id,lon,lat,a b\n1,8.5,47.4,6\n"


@pytest.mark.parametrize("name, data, options, points", [
    ("t.csv", TABLE, "--columns=2,3", [(8.5, 47.4)]),
    ("t.csv", TABLE, "--columns=lon,a b", [(8.5, 6)]),
    ("t.csv", TABLE, "--columns=LAT,id,4", [(47.4, 1, 6)]),
    ("t.csv", "x (m),y (m)\n1,2\n", "--columns=y,x", [(2, 1)]),
    ("t.csv", "1,2,3,4\n", "--columns=4,2", [(4, 2)]),
    ("t.xyz", "1 2 3 4\n", "--columns=2,3,4", [(2, 3, 4)]),
    ("t.npy", npy(np.arange(5.0)[None]), "--columns=2,4", [(1, 3)]),
    ("t.npy", npy(np.asfortranarray(np.arange(10, dtype="i8").reshape(2, 5))), "--columns=1,3,5", [(0, 2, 4), (5, 7, 9)]),
    ("t.npy", npy(np.array([[1.0, 2.0, 3.0]])), "--columns=1,2", [(1, 2)]),
    ("t.ply", ply("ascii", body=b"1 2 3\n4 5 6.5\n"), "--columns=z,1", [(3, 1), (6.5, 4)]),
    ("t.csv", "1,2;3\n", "--delimiter=; --decimal=,", [(1.2, 3)]),
    ("t.csv", "1,234;5,678\n", "--decimal=,", [(1.234, 5.678)]),
    ("t.csv", "1:2\n", "--delimiter=:", [(1, 2)]),
    ("t.csv", "a b\tx\ty\nc d\t1\t2\n", "--delimiter=tab", [(1, 2)]),
    ("t.csv", "1,5 2,5\n", "--delimiter=space --decimal=,", [(1.5, 2.5)]),
])
def test_options(take, name, data, options, points):
    taken = take(name, data, *([options] if "a b" in options else options.split()))
    np.testing.assert_array_equal(taken.points, points)


@pytest.mark.parametrize("options, code, message", [
    ("--columns=1,2,9", 3, "t.csv has no column 9; it has 4, the first is 1"),
    ("--columns=0,1", 3, "t.csv has no column 0; it has 4, the first is 1"),
    ("--columns=lon,Q", 3, "t.csv has no column 'Q', or more than one; it has 1 'id', 2 'lon', 3 'lat', 4 'a b'"),
    ("--columns=lon,lon", 3, "t.csv has 'lon' twice among the columns that were asked for"),
    ("--columns=lon", 2, "--columns takes two or three names or numbers, such as lon,lat or 2,3,4, not 'lon'"),
    ("--columns=1,2,3,4", 2, "--columns takes two or three names or numbers, such as lon,lat or 2,3,4, not '1,2,3,4'"),
    ("--columns=1,,2", 2, "--columns takes two or three names or numbers, such as lon,lat or 2,3,4, not '1,,2'"),
    ("--delimiter=x", 2, "--delimiter takes a mark such as ',' or ';', tab or space, not 'x'"),
    ("--delimiter=::", 2, "--delimiter takes a mark such as ',' or ';', tab or space, not '::'"),
    ("--decimal=;", 2, "--decimal takes '.' or ',', not ';'"),
    ("--decimal=, --delimiter=,", 2, "',' cannot be both --decimal and --delimiter"),
    ("--decimal=,", 3,
     "t.csv has in line 2 '8.5', which has a decimal point where the others have commas; --decimal . reads points"),
])
def test_refuses_options(fathom, options, code, message):
    (fathom.directory / "t.csv").write_text(TABLE)
    assert fathom.refuses(code, "query", "t.csv", "t.csv", "-o", "o.npy", *options.split()) == message


def test_columns_need_names(fathom):
    (fathom.directory / "t.csv").write_text("1,2,3,4\n")
    assert fathom.refuses(3, "query", "t.csv", "t.csv", "-o", "o.npy", "--columns", "x,y") == (
        "t.csv has no names of columns, such as 'x'; give --columns numbers, the first is 1")


def test_both_files_agree(fathom):
    for name, text in {"m.csv": "x (m),y (m)\n1,2\n", "mm.csv": "x [mm],y [mm]\n1,2\n", "3.csv": "x,y,z\n1,2,3\n"}.items():
        (fathom.directory / name).write_text(text)
    assert fathom.refuses(2, "query", "m.csv", "mm.csv", "-o", "o.npy") == (
        "m.csv is in m, mm.csv in mm; bring them to one unit")
    assert fathom.refuses(2, "query", "m.csv", "3.csv", "-o", "o.npy") == (
        "m.csv has points with 2 coordinates, 3.csv with 3")
    said = json.loads(fathom.ok("query", "m.csv", "3.csv", "-o", "o.npy", "--columns", "x,y", "--json"))
    assert said["sites"]["columns"] == ["x (m)", "y (m)"] and said["sites"]["unit"] == "m" and said["queries"]["unit"] is None


def test_strict_and_quiet(fathom):
    (fathom.directory / "t.csv").write_text("lon,lat\n1,2\n")
    message = "t.csv: " + DEGREES.format("lon", "lat")
    assert fathom.refuses(3, "query", "t.csv", "t.csv", "-o", "o.npy", "--strict").startswith(message)
    assert fathom.ok("query", "t.csv", "t.csv", "-o", "o.npy", "--quiet") == ""


@pytest.mark.parametrize("name, data, points", [
    ("t.csv.gz", b"x,y\n1,2\n", [(1, 2)]), ("t.xyz.gz", b"1 2 3 4\n", [(1, 2, 3)]),
    ("t.npy.gz", npy(np.array([[1.5, 2.5]])), [(1.5, 2.5)]), ("t.ply.gz", ply("binary_little_endian", body=DOUBLES), POINTS)])
def test_gzip(take, name, data, points):
    taken = take(name, gzip.compress(data))
    assert (taken.points, taken.error) == (points, "")


def zipped(name):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "…")
    return out.getvalue()


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
    (b"BZh91AY", "a bzip2 file; unpack it first"),
    (b"\x89PNG\r\n\x1a\n", f"an image; {FORMATS}"),
    (b"ncols 4\nnrows 3\n", "an ESRI grid; save its points as CSV, as gdal2xyz does"),
])
def test_refuses_by_name(take, data, message):
    assert take("a.csv", data).refusal == "looks like " + message


def test_long_lines_and_many_lines(fathom, take):
    """Beyond the pieces in which text is read."""
    assert take("t.csv", "name,x,y\n\"" + "long " * 200000 + "\",1,2\nb,3,4\n").points == [(1, 2), (3, 4)]
    points = np.random.default_rng(5).normal(size=(40000, 3))
    for end in ("\n", "\r", "\r\n"):
        text = "id,x,y,z" + end + "".join(f'"{i}",{x!r},{y!r},{z!r}{end}' for i, (x, y, z) in enumerate(points.tolist()))
        assert take("t.csv", text).points == [tuple(point) for point in points.tolist()]


def test_pipe(fathom):
    (fathom.directory / "q.csv").write_text("x,y\n3,5\n")
    done = subprocess.run(["bash", "-c", f"printf 'y;x\\n1,5;2\\n' | {fathom.command} query - q.csv -o out.csv"],
                          cwd=fathom.directory, capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[1:] == ["standard input: x is 'x', y is 'y'"]
