"""fathom query: every format in and out, every option, against brute force in NumPy; what it refuses."""

import io
import json
import struct

import numpy as np
import pytest

RANDOM = np.random.default_rng(12)
SITES = RANDOM.random((300, 3)).astype(np.float32)
QUERIES = RANDOM.random((40, 3)).astype(np.float32)


def brute_force(sites, queries, k=1, radius=np.inf):
    """Distances and ids [q, k]; the lowest id among equals, inf and −1 beyond the radius."""
    steps = queries[:, None].astype(float) - sites[None].astype(float)
    distance = np.sqrt((steps * steps).sum(-1))
    order = distance.argsort(1, kind="stable")[:, :k]
    nearest = np.take_along_axis(distance, order, 1)
    return np.where(nearest <= radius, nearest, np.inf), np.where(nearest <= radius, order, -1)


def ply(points, form="ascii", extra=""):
    header = f"ply\nformat {form} 1.0\ncomment made here\nelement vertex {len(points)}\n"
    header += "".join(f"property double {name}\n" for name in "xyz"[:points.shape[1]])
    header += "property uchar quality\nelement face 0\nproperty list uchar int vertex_indices\nend_header\n"
    if form == "ascii":
        return (header + "".join(" ".join(map(repr, map(float, p))) + " 7\n" for p in points)).encode()
    order = "<" if "little" in form else ">"
    return header.encode() + b"".join(struct.pack(f"{order}{len(p)}dB", *map(float, p), 7) for p in points)


def save(directory, name, points):
    path = directory / name
    if name.endswith(".npy"):
        np.save(path, points)
    elif name.endswith(".ply"):
        path.write_bytes(ply(points, "binary_little_endian"))
    else:
        separator = "," if name.endswith(".csv") else " "
        path.write_text("".join(separator.join(map(repr, map(float, p))) + "\n" for p in points))


@pytest.fixture
def inputs(fathom):
    save(fathom.directory, "sites.npy", SITES)
    save(fathom.directory, "queries.npy", QUERIES)
    return fathom


def check(found, expected):
    np.testing.assert_array_equal(found["distance"], expected[0].astype(np.float32).reshape(found.shape))
    np.testing.assert_array_equal(found["site"], expected[1].reshape(found.shape))


def test_says_what_it_did(inputs):
    said = inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy")
    found = np.load(inputs.directory / "out.npy")
    assert found.dtype == np.dtype([("distance", "<f4"), ("site", "<i8")]) and found.shape == (40,)
    check(found, brute_force(SITES, QUERIES))
    low, high = found["distance"].min(), found["distance"].max()
    assert said == f"out.npy: 40 × 1 nearest of 300 sites, {low:.6g} to {high:.6g}\n"
    assert inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--quiet") == ""


@pytest.mark.parametrize("name", ["p.npy", "p.csv", "p.ply", "p.xyz"])
@pytest.mark.parametrize("axes", [2, 3])
def test_formats_in(fathom, name, axes):
    save(fathom.directory, "s" + name, SITES[:, :axes])
    save(fathom.directory, "q" + name, QUERIES[:, :axes])
    fathom.ok("query", "s" + name, "q" + name, "-o", "out.npy")
    check(np.load(fathom.directory / "out.npy"), brute_force(SITES[:, :axes], QUERIES[:, :axes]))


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_kinds_of_ply(fathom, form):
    (fathom.directory / "s.ply").write_bytes(ply(SITES, form))
    (fathom.directory / "q.ply").write_bytes(ply(QUERIES, form))
    fathom.ok("query", "s.ply", "q.ply", "-o", "out.npy")
    check(np.load(fathom.directory / "out.npy"), brute_force(SITES, QUERIES))


@pytest.mark.parametrize("text", [
    "0,0\n3,4\n",
    "x,y\n0,0\n3,4",
    "name;y;x\nfirst;0;0\nsecond;4;3\n",
    "# a comment\n\n0 \t 0 # the first\r\n+3 4e0\r\n",
])
def test_kinds_of_csv(fathom, text):
    (fathom.directory / "s.csv").write_text(text)
    (fathom.directory / "q.csv").write_text("3,5\n0,1\n")
    fathom.ok("query", "s.csv", "q.csv", "-o", "out.csv")
    assert (fathom.directory / "out.csv").read_text() == "distance,site\n1,1\n1,0\n"


def test_xyz_takes_the_first_columns(fathom):
    (fathom.directory / "s.xyz").write_text("0 0 0 255 255 255\n1 1 1 0 0 0\n")
    (fathom.directory / "q.xyz").write_text("1 1 2\n")
    fathom.ok("query", "s.xyz", "q.xyz", "-o", "out.csv")
    assert (fathom.directory / "out.csv").read_text() == "distance,site\n1,1\n"


def test_integers_are_exact(fathom):
    """Far beyond 2⁵³, where float64 would call both sites equally near."""
    np.save(fathom.directory / "s.npy", np.array([[2**31 - 1] * 3, [2**31 - 1, 2**31 - 1, 2**31 - 2]], np.int64))
    np.save(fathom.directory / "q.npy", np.array([[-2**31] * 3], np.int64))
    fathom.ok("query", "s.npy", "q.npy", "-o", "out.npy")
    assert np.load(fathom.directory / "out.npy")["site"] == 1


def test_csv_out(inputs):
    inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.csv", "--k", 2, "--dtype", "float64")
    lines = (inputs.directory / "out.csv").read_text().splitlines()
    assert lines[0] == "distance_1,site_1,distance_2,site_2"
    distance, site = brute_force(SITES, QUERIES, 2)
    table = np.array([line.split(",") for line in lines[1:]], float)
    np.testing.assert_array_equal(table[:, ::2], distance)
    np.testing.assert_array_equal(table[:, 1::2], site)


def test_ply_out(inputs):
    inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.ply")
    header, body = (inputs.directory / "out.ply").read_bytes().split(b"end_header\n")
    assert header.decode() == ("ply\nformat binary_little_endian 1.0\nelement vertex 40\nproperty float x\n"
                               "property float y\nproperty float z\nproperty float distance\nproperty int site\n")
    rows = np.frombuffer(body, [("point", "<f4", 3), ("distance", "<f4"), ("site", "<i4")])
    np.testing.assert_array_equal(rows["point"], QUERIES)
    check(rows, brute_force(SITES, QUERIES))


def test_standard_input_and_output(inputs):
    whole = inputs("query", "-", "queries.npy", "-o", "-", stdin=(inputs.directory / "sites.npy").read_bytes())
    assert whole.code == 0 and whole.err.startswith(b"standard output: 40 ")
    check(np.load(io.BytesIO(whole.out)), brute_force(SITES, QUERIES))


def test_several_within_a_radius(inputs):
    inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--k", 5, "--radius", "0.12")
    found = np.load(inputs.directory / "out.npy")
    assert found.shape == (40, 5) and (found["site"] == -1).any()
    check(found, brute_force(SITES, QUERIES, 5, 0.12))


def test_storages_agree(inputs):
    for storage in ("sorted", "boxed", "plain", "auto"):
        inputs.ok("query", "sites.npy", "queries.npy", "-o", f"{storage}.npy", "--storage", storage)
        check(np.load(inputs.directory / f"{storage}.npy"), brute_force(SITES, QUERIES))


def test_period(inputs):
    inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--period", "1", "--dtype", "float64")
    images = np.concatenate([SITES.astype(float) + [x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
    found = np.load(inputs.directory / "out.npy")
    np.testing.assert_allclose(found["distance"], brute_force(images, QUERIES)[0][:, 0], rtol=1e-12)


def test_metric(inputs):
    ways = abs(SITES[None].astype(float) - QUERIES[:, None])
    for metric, distance in ("taxicab", ways.sum(-1)), ("chessboard", ways.max(-1)):
        said = inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--metric", metric, "--json")
        assert json.loads(said)["metric"] == metric
        check(np.load(inputs.directory / "out.npy"), (distance.min(1), distance.argmin(1)))


def test_cone(inputs):
    inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--cone", "0,0,2,20", "--cylinder", "0.02")
    found = np.load(inputs.directory / "out.npy")
    steps = SITES[None].astype(float) - QUERIES[:, None]
    distance = np.sqrt((steps**2).sum(-1))
    aside = np.hypot(steps[..., 0], steps[..., 1])
    inside = (steps[..., 2] >= np.cos(np.radians(20)) * distance) | ((steps[..., 2] >= 0) & (aside <= 0.02)) | (distance <= 0.02)
    np.testing.assert_array_equal(found["distance"], np.where(inside, distance, np.inf).min(1).astype(np.float32))
    assert np.isinf(found["distance"]).any()


def test_approximate(inputs):
    inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--approx", "0.5", "--dtype", "float64")
    truth, found = brute_force(SITES, QUERIES)[0][:, 0], np.load(inputs.directory / "out.npy")["distance"]
    assert (truth <= found).all() and (found <= 1.5 * truth).all()


def test_perforation_reports_its_error(inputs):
    said = inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--perforate", 3, "--dtype", "float64")
    truth = brute_force(SITES, QUERIES)[0][:, 0]
    found = np.load(inputs.directory / "out.npy")
    expected = brute_force(SITES[::3], QUERIES)
    np.testing.assert_array_equal(found["distance"], expected[0][:, 0])
    np.testing.assert_array_equal(found["site"], 3 * expected[1][:, 0])
    error = 100 * np.mean((found["distance"] - truth) / truth)
    assert said.splitlines()[1] == f"one site in 3: mean error {error:.4g} %"


def test_json(inputs):
    said = json.loads(inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--json", "--radius", "0.05"))
    found = np.load(inputs.directory / "out.npy")
    assert said["operation"] == "query" and said["sites"]["count"] == 300 and said["queries"]["count"] == 40
    assert said["unreached"] == np.isinf(found["distance"]).sum() > 0
    assert said["storage"] == "sorted" and said["backend"] == "cpu" and said["seconds"]["total"] > 0


def test_memory_takes_what_fits(inputs):
    names = []
    for memory in ("1GiB", "70KB"):
        said = inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--memory", memory, "--json")
        names.append(json.loads(said)["storage"])
        check(np.load(inputs.directory / "out.npy"), brute_force(SITES, QUERIES))
    assert names[0] == "sorted"
    message = inputs.refuses(2, "query", "sites.npy", "queries.npy", "-o", "o.npy", "--memory", "100")
    assert message.startswith("--memory 100B is too small: sites, queries and answers need ")
    enough = message.split(" need ")[1].split(" ")[0]
    inputs.ok("query", "sites.npy", "queries.npy", "-o", "o.npy", "--memory", enough)


def test_without_sites(fathom):
    np.save(fathom.directory / "s.npy", np.zeros((0, 3)))
    np.save(fathom.directory / "q.npy", np.zeros((2, 3)))
    assert fathom.ok("query", "s.npy", "q.npy", "-o", "o.csv") == (
        "o.csv: 2 × 1 nearest of 0 sites\n2 answers have no site\n")
    assert (fathom.directory / "o.csv").read_text() == "distance,site\ninf,-1\ninf,-1\n"


@pytest.mark.parametrize("arguments, message", [
    ("", "no output was asked for; give -o FILE"),
    ("-o out.png", "the name 'out.png' does not say which format to write; end it in .npy, .csv or .ply"),
    ("-o out.npy --k 0", "--k takes a whole number from 1 to 64, not '0'"),
    ("-o out.npy --k 65", "--k takes a whole number from 1 to 64, not '65'"),
    ("-o out.ply --k 2", "PLY holds one value per point, not 2; write .npy or .csv"),
    ("-o out.npy --radius nan", "--radius takes a number that is at least 0, not 'nan'"),
    ("-o out.npy --approx -1", "--approx takes a number that is at least 0, not '-1'"),
    ("-o out.npy --perforate 0", "--perforate takes a whole number from 1 to 2147483647, not '0'"),
    ("-o out.npy --cone 0,0,1", "--cone takes X,Y,Z,DEGREES, for points with 3 coordinates; 3 numbers were given"),
    ("-o out.npy --cone 0,0,1,x", "--cone takes numbers separated by commas, not '0,0,1,x'"),
    ("-o out.npy --cone 0,0,0,10", "the cone's direction 0 is not finite or has no length"),
    ("-o out.npy --cone 0,0,1,181", "--cone takes degrees from 0 to 180, not '181'"),
    ("-o out.npy --cone 0,0,1,10 --metric taxicab",
     "--cone belongs to the Euclidean metric; leave it out for taxicab distances"),
    ("-o out.npy --metric manhattan", "--metric takes euclidean, taxicab or chessboard, not 'manhattan'"),
    ("-o out.npy --cylinder 1", "--cylinder widens a cone; give --cone, too"),
    ("-o out.npy --period 0.5",
     "a site lies outside of the periodic box, which goes from 0 to below the period along axis 0; wrap the coordinates "
     "first"),
    ("-o out.npy --storage tree", "--storage takes auto, sorted, boxed or plain, not 'tree'"),
    ("-o out.npy --dtype int8", "--dtype of distances is float32 or float64, not 'int8'"),
    ("-o out.npy --format xls", "--format takes npy, csv or ply, not 'xls'"),
    ("-o out.npy --devices 0,x", "--devices takes numbers separated by commas, not '0,x'"),
    ("-o out.npy --devices -1", "--devices takes whole numbers from 0, such as 0,1, not '-1'"),
    ("-o out.npy --devices 0 --backend cpu", "--devices names CUDA devices; leave out --backend cpu"),
    ("-o out.npy --delimiter ;",
     "--delimiter is for text, and neither sites.npy nor queries.npy is text; leave it out"),
    ("-o out.npy --decimal ,", "--decimal is for text, and neither sites.npy nor queries.npy is text; leave it out"),
    ("-o out.npy --plan --memory 1KB",
     "--memory 1000B is too small: sites, queries and answers need 25680B with plain storage"),
    ("-o - --json", "--json and -o - both want standard output; write the result to a file"),
    ("-o out.npy --threads -1", "--threads takes 1 or more, or 0 for all processors, not '-1'"),
])
def test_refuses(inputs, arguments, message):
    assert inputs.refuses(2, "query", "sites.npy", "queries.npy", *arguments.split()) == message


def test_cuda_without_a_device(inputs):
    for choice in ("--backend=cuda", "--devices=0,1"):
        for plan in ([], ["--plan"]):
            message = inputs.refuses(4, "query", "sites.npy", "queries.npy", "-o", "out.npy", choice, *plan)
            assert "CUDA" in message and "auto or cpu" in message


def test_delimiter_of_one_text(inputs):
    (inputs.directory / "q.csv").write_text("a;x;y;z\n7;0.25;0.5;0.75\n")
    inputs.ok("query", "sites.npy", "q.csv", "-o", "out.npy", "--delimiter", ";")
    check(np.load(inputs.directory / "out.npy"), brute_force(SITES, np.array([[0.25, 0.5, 0.75]])))


def test_plan(inputs):
    (inputs.directory / "q.csv").write_text("easting,height,northing\n1,2,3\n4,5,6.5\n")
    (inputs.directory / "s.csv").write_text("easting,northing\n1,2\n3,4\n5,6\n")
    assert inputs.ok("query", "s.csv", "q.csv", "-o", "out.csv", "--k", 2, "--metric", "taxicab", "--plan", "--columns",
                     "easting,northing") == (
        "read     s.csv: 3 sites, int32, columns easting, northing\n"
        "read     q.csv: 2 queries, float64, columns easting, northing\n"
        "compute  2 nearest of each, taxicab, sorted storage, on cpu\n"
        "write    out.csv: csv, distances as float32\n"
        "memory   104B for points and answers, 4195B for sorted storage, 32800B of scratch\n")
    said = json.loads(inputs.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--storage", "plain", "--plan",
                                "--json"))
    assert said == {
        "operation": "plan", "verb": "query",
        "sites": {"path": "sites.npy", "dtype": "float32", "count": 300, "axes": 3, "columns": ["1", "2", "3"],
                  "unit": None},
        "queries": {"path": "queries.npy", "dtype": "float32", "count": 40, "axes": 3, "columns": ["1", "2", "3"],
                    "unit": None},
        "output": {"path": "out.npy", "format": "npy", "dtype": "float32"}, "k": 1, "metric": "euclidean",
        "storage": "plain", "backend": "cpu",
        "bytes": {"arrays": 340 * 12 + 40 * 12, "set": 4096, "scratch": 40 * 16 + 16384}}
    assert not list(inputs.directory.glob("out.*"))


def test_refuses_what_is_too_small_to_square(fathom):
    (fathom.directory / "s.csv").write_text("0,0\n1e-170,0\n")
    (fathom.directory / "q.csv").write_text("1e-170,0\n")
    assert fathom.refuses(2, "query", "s.csv", "q.csv", "-o", "o.csv") == (
        "site 1 has a coordinate that is not 0, but nearer to it than 1e-138; scale the coordinates, or make it 0")


def test_refuses_other_axes(inputs):
    np.save(inputs.directory / "flat.npy", QUERIES[:, :2])
    assert inputs.refuses(2, "query", "sites.npy", "flat.npy", "-o", "o.npy") == (
        "sites.npy has points with 3 coordinates, flat.npy with 2")


def test_refuses_what_is_not_finite(inputs):
    for row, value in (7, np.nan), (0, -np.inf):
        bad = QUERIES.copy()
        bad[row, 1] = value
        np.save(inputs.directory / "bad.npy", bad)
        for noun, files in ("query", ("sites.npy", "bad.npy")), ("site", ("bad.npy", "queries.npy")):
            assert inputs.refuses(3, "query", *files, "-o", "o.npy") == (
                f"bad.npy: {noun} {row} has a coordinate that is not finite; leave such points out")


@pytest.mark.parametrize("name, data, message", [
    ("a.csv", b"", "is empty; points are read from NPY, CSV, PLY and XYZ files"),
    ("a.csv", b"# nothing\n", "holds no points"),
    ("a.csv", b"1\n2\n", "has one column in line 1, and points have 2 or 3; leave out titles before the points, or say --delimiter"),
    ("a.csv", b"1,2,3,4\n", "has 4 columns without names; points have 2 or 3, or --columns says which, such as --columns 1,2"),
    ("a.csv", b"1,2,3\n4,5\n", "has in line 2 2 values where line 1 has 3"),
    ("a.csv", b"x,y,Y,z\n1,2,3,4\n", "has the columns 1 'x', 2 'y', 3 'Y', 4 'z', and more than one of them may be the same coordinate; say it with "
     "--columns, such as --columns 1,2"),
    ("a.csv", b"1,2,3\n4,five,6\n", "has in line 2 'five', which is no number"),
    ("a.csv", b"1,2\0,3\n", "holds bytes that are no text, in no format of points"),
    ("a.png", b"\x89PNG\r\n\x1a\n", "looks like an image; points are read from NPY, CSV, PLY and XYZ files"),
    ("a.ply", b"ply\nformat ascii 1.0\nend_header\n", "has a broken PLY header: there is no element 'vertex'"),
    ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", "has no column 'y', or more than one; it has 1 'x'"),
    ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty int x\nproperty int y\nend_header\n1 3e10\n",
     "has in vertex 0 a coordinate that is no integer of 32 bits"),
    ("a.ply", b"ply\nformat ascii 1.0\nelement vertex x\nend_header\n",
     "has a broken PLY header: the number of elements 'vertex' is no count"),
])
def test_refuses_broken_files(inputs, name, data, message):
    (inputs.directory / name).write_bytes(data)
    assert inputs.refuses(3, "query", name, "queries.npy", "-o", "out.npy") == f"{name} {message}"


def test_refuses_cut_and_absurd_ply(inputs):
    whole = ply(SITES, "binary_little_endian")
    (inputs.directory / "cut.ply").write_bytes(whole[:-1])
    assert inputs.refuses(3, "query", "cut.ply", "queries.npy", "-o", "out.npy").startswith("cut.ply ")
    (inputs.directory / "huge.ply").write_bytes(whole.replace(b"vertex 300", b"vertex 3000000000000000000"))
    assert inputs.refuses(3, "query", "huge.ply", "queries.npy", "-o", "out.npy").startswith("huge.ply ")


def test_refuses_arrays_that_are_no_points(inputs):
    np.save(inputs.directory / "a.npy", np.zeros((4, 5)))
    assert inputs.refuses(3, "query", "a.npy", "queries.npy", "-o", "out.npy") == (
        "a.npy holds an array of the shape 4 × 5; points are [n, 2] or [n, 3], or --columns says which of the columns, such "
        "as --columns 1,2,3")
