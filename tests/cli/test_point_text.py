"""Points as text, as people's programs write them: what `query` makes of each file, what it warns of, what it refuses.

The texts are laid out as pandas, R, Excel, QGIS, CloudCompare, ParaView and others write them.
"""

import subprocess

import numpy as np
import pytest
from point_taken import CERTAIN, DEGREES

THOUSANDS = "which has marks between thousands; save numbers without"
COUNTED = "the first column, taken as x, numbers the lines; --columns 2,3 leaves it out"
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
    ("E,N,H\n1,2,3\n", [(1, 2, 3)]),
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
    ("y;color;x\n1,5;#ff0000;2,5\n1;#00ff00;3\n", "x is 'x', y is 'y'", [(2.5, 1.5), (3, 1)]),
    ("\tx\ty\tz\n0\t1\t2\t3\n1\t4\t5\t6\n", "x is 'x', y is 'y', z is 'z'", [(1, 2, 3), (4, 5, 6)]),  # pandas' sep="\t"
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
    ("northing,easting\n1,2\n", "x is 'easting', y is 'northing'", [(2, 1)]),
    ("N,E,z\n1,2,3\n", "x is 'E', y is 'N', z is 'z'", [(2, 1, 3)]),
    ("y_coord,x_coord,n\n1,2,3\n", "x is 'x_coord', y is 'y_coord'", [(2, 1)]),
    # Words are no coordinates, and no images.
    ("P1 1.5 2\nP2 3 4\n", "x is '2', y is '3'", [(1.5, 2), (3, 4)]),
    ("BM,x,y\n7,1,2\n", "x is 'x', y is 'y'", [(1, 2)]),
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
    ("row,col\n1,2\n", "the columns 'row', 'col' are taken as x, y", [(1, 2)]),
    ("a,b\n1,2\n", "the columns 'a', 'b' are taken as x, y", [(1, 2)]),
    ('"","V1","V2"\n"1",0.1,0.2\n', "the columns 'V1', 'V2' are taken as x, y", [(0.1, 0.2)]),
    ("Var1,Var2,Var3\n1,2,3\n", "the columns 'Var1', 'Var2', 'Var3' are taken as x, y, z", [(1, 2, 3)]),
    ("0,1,2\n3,4,5\n", "line 1, 0,1,2, is taken as a point; leave it out where it names columns, as pandas does",
     [(0, 1, 2), (3, 4, 5)]),
    ("Länge,Breite\n1,2\n", "the columns 'Länge', 'Breite' are taken as x, y", [(1, 2)]),
    ("0,1.5,3\n1,2.5,4\n2,3,5\n", COUNTED, [(0, 1.5, 3), (1, 2.5, 4), (2, 3, 5)]),  # pandas: header=False
    ("1 1.5 3\n2 2.5 4\n3 3 5\n", COUNTED, [(1, 1.5, 3), (2, 2.5, 4), (3, 3, 5)]),
    ("# id x y\n1 2\n", "a comment before line 2 names 3 columns of 2, and is left out", [(1, 2)]),
])
def test_warns(take, data, warning, points):
    taken = take("t.csv", data)
    assert (taken.points, taken.warnings) == (points, [warning])


@pytest.mark.parametrize("name", ["alt", "elevation", "z"])
def test_heights_are_no_degrees(take, name):
    data = f"lat,lon,{name}\n47.4,8.5,500\n"
    taken = take("t.csv", data)
    assert taken.points == [(8.5, 47.4)]
    assert taken.warnings == [f"'{name}' is left out, since heights are not in degrees", DEGREES.format("lon", "lat")]
    assert take("t.csv", data, f"--columns=lon,lat,{name}").refusal == (
        f"has coordinates in degrees and a height ('lon', 'lat', '{name}'); project the points first, or leave the height out")
    assert take("t.csv", data, "--columns=lon,lat").warnings == [DEGREES.format("lon", "lat")]


@pytest.mark.parametrize("data", [
    "0 0 0.5\n1 0 0\n", "0 0 0\n1 0 0\n2 0 0\n", "0 .5 0\n1 0 0\n3 0 0\n", "2 .5 0\n3 0 0\n4 0 0\n", "0 .5\n1 0\n2 0\n",
    "a,b,c\n0,.5,0\n1,0,0\n2,0,0\n"])
def test_what_does_not_number_lines(take, data):
    assert COUNTED not in take("t.csv", data).warnings


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
    ("1 000,2\n", f"has in line 1 '1 000', {THOUSANDS}, or say --delimiter space where blanks divide columns"),
    ("1,5 200,5\n",
     f"has in line 1 '5 200', {THOUSANDS}, or say --delimiter space where blanks divide columns"),
    # Integers that float64 merges.
    ("x,y\n9007199254740992,1\n9007199254740993,1\n", "has in line 3 the integer 9007199254740993, which float64 does not "
     "hold; subtract the same from all points"),
    ("1 2\n1 -1000000000000000000001\n", "has in line 2 the integer -1000000000000000000001, which float64 does not hold; "
     "subtract the same from all points"),
    # What was in the file is in the message, whatever the language; what is no UTF-8 and no text is not.
    ("id;x;y\n1;Größe;−2\n", "has in line 2 'Größe', which is no number"),
    ("x,y\n日本𝄞,1\n", "has in line 2 '日本𝄞', which is no number"),
    (b"x,y\nGr\xf6\xdfe\x1b[31m\xc2\x9b\xed\xa0\x80\xc0\xaf\xf5\xc3,1\n", "has in line 2 'Gr??e?[31m?????????', "
     "which is no number"),
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
    ("POINT_ID,a,b\n1,2,3\n", f"has the columns 1 'POINT_ID', 2 'a', 3 'b', and {CERTAIN}"),
    ("n,a\n1,2\n", f"has the columns 1 'n', 2 'a', and {CERTAIN}"),
    ("WKT,id\nPOINT (1 2),3\n", f"has the columns 1 'WKT', 2 'id', and {CERTAIN}"),
    ("x,y,height\n1,2,3\n", "has the columns 1 'x', 2 'y', 3 'height', and whether the height is a coordinate is not "
     "certain; say it with --columns, such as --columns 1,2"),
    ("x,y,lon,lat\n1,2,3,4\n", "has the columns 1 'x', 2 'y', 3 'lon', 4 'lat', and more than one pair of them may be "
     "x and y; say it with --columns, such as --columns 1,2"),
    ("x,y,x\n1,2,3\n", "has the columns 1 'x', 2 'y', 3 'x', and more than one of them may be the same coordinate; say "
     "it with --columns, such as --columns 1,2"),
    ("id,2019,2020\n1,5,6\n", "has in line 1 words and numbers, and whether it names the columns is not certain; give "
     "names that are no numbers"),
    ("x (deg),y (deg),z\n1,2,3\n", "has coordinates in degrees and a height ('x (deg)', 'y (deg)', 'z'); project the "
     "points first, or leave the height out"),
    ("Made: 2020\nBy: me\nx\ty\n1\t2\n",
     "has 2 columns without names, 1 of them numbers; points have 2 or 3: leave out titles before them"),
    ("Wells of 2020\nx,y\n1,2\n",
     "has one column in line 1, and points have 2 or 3; leave out titles before the points, or say --delimiter"),
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
