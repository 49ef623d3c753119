"""Options of points, and what two files of them must agree in."""

import json

import numpy as np
import pytest
from point_taken import DEGREES, npy, ply

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
    ("t.csv", "1,5 200,5\n", "--decimal=,", [(1.5, 200.5)]),
    ("t.csv", "1,5 200,5\n", "--delimiter=space", [(1.5, 200.5)]),
    ("t.csv", '"1,5","200,5"\n', "--decimal=,", [(1.5, 200.5)]),
    ("t.csv", "x,y\n1,2\n", "--decimal=,", [(1, 2)]),
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
    (fathom.directory / "ab.csv").write_text("a,b\n1,2\n")
    (fathom.directory / "ba.csv").write_text("b,a\n2,1\n")
    assert fathom.refuses(2, "query", "ab.csv", "ba.csv", "-o", "o.npy") == (
        "ab.csv has the columns a, b, ba.csv has b, a; say which are x and y with --columns a,b")
    assert "0 to 0" in fathom.ok("query", "ab.csv", "ba.csv", "-o", "o.npy", "--columns", "a,b")
    said = json.loads(fathom.ok("query", "m.csv", "3.csv", "-o", "o.npy", "--columns", "x,y", "--json"))
    assert said["sites"]["columns"] == ["x (m)", "y (m)"] and said["sites"]["unit"] == "m" and said["queries"]["unit"] is None


def test_strict_and_quiet(fathom):
    (fathom.directory / "t.csv").write_text("lon,lat\n1,2\n")
    message = "t.csv: " + DEGREES.format("lon", "lat")
    assert fathom.refuses(3, "query", "t.csv", "t.csv", "-o", "o.npy", "--strict").startswith(message)
    assert fathom.ok("query", "t.csv", "t.csv", "-o", "o.npy", "--quiet") == ""
