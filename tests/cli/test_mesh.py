"""fathom mesh: fields, bands and points against brute force in NumPy; files read back; what it says and refuses."""

import io
import json
import signal
import time

import nibabel
import numpy as np
import pytest
import SimpleITK as sitk
import tifffile
from PIL import Image
from test_formats import vti
from test_signals import start, wait_until_it_listens

BOX_FACES = np.array([[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7], [0, 1, 5], [0, 5, 4],
                      [1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 0, 4], [3, 4, 7]])


def box(low, high):
    """A closed box, seen counter-clockwise from outside."""
    corner = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    return np.asarray(low) + corner * (np.asarray(high) - low), BOX_FACES


def save(fathom, name, *parts):
    """An OBJ of some (vertices, faces)."""
    text, first = "", 1
    for vertices, faces in parts:
        text += "".join("v " + " ".join(map(repr, map(float, v))) + "\n" for v in vertices)
        text += "".join("f " + " ".join(str(i + first) for i in face) + "\n" for face in faces)
        first += len(vertices)
    (fathom.directory / name).write_text(text)


def signed_box(points, low, high):
    """The distance to a box, in closed form."""
    beyond = np.abs(points - (np.asarray(low) + high) / 2) - (np.asarray(high) - low) / 2
    return np.linalg.norm(np.maximum(beyond, 0), axis=-1) + np.minimum(beyond.max(-1), 0)


def nearest(points, vertices, faces):
    """Distance, triangle and closest point, by all triangles: on the plane where that lies in the face, else on an edge."""
    points = points.reshape(-1, 1, 3)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    inside = np.all([np.einsum("ptk,tk->pt", points - p, np.cross(normal, q - p)) >= 0 for p, q in ((a, b), (b, c), (c, a))], 0)
    step = np.einsum("ptk,tk->pt", points - a, normal) / (normal * normal).sum(-1)
    candidates = [np.where(inside[..., None], points - step[..., None] * normal, np.inf)]
    for p, q in ((a, b), (b, c), (c, a)):
        share = np.einsum("ptk,tk->pt", points - p, q - p) / ((q - p) ** 2).sum(-1)
        candidates.append(p + np.clip(share, 0, 1)[..., None] * (q - p))
    gaps = np.linalg.norm(np.stack(candidates) - points, axis=-1)
    least = gaps.min(0)
    triangle = least.argmin(1)
    rows = np.arange(len(points))
    closest = np.stack(candidates)[gaps[:, rows, triangle].argmin(0), rows, triangle]
    return least[rows, triangle], triangle, closest


def nearest_of(points, triangles, vertices, faces):
    """The distance of each point from the triangle that is said to be nearest."""
    found = np.empty(triangles.shape)
    for triangle in np.unique(triangles):
        chosen = triangles == triangle
        found[chosen] = nearest(points[chosen], vertices, faces[triangle:triangle + 1])[0]
    return found


def lattice_points(told):
    """The points [z, y, x, 3] of a lattice as JSON tells it."""
    axes = [o + np.arange(n) * h for o, h, n in zip(told["origin"], told["spacing"], told["shape"])]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).transpose(2, 1, 0, 3)


def told(fathom, *arguments):
    done = fathom("mesh", *arguments, "--json")
    assert done.code == 0, done
    return json.loads(done.text)


def warnings(outcome):
    assert outcome.code == 0, outcome
    return [line.removeprefix("fathom: warning: ") for line in outcome.err.decode().splitlines()]


@pytest.fixture
def slab(fathom):
    save(fathom, "slab.obj", box((0, 0, 0), (4, 2, 1)))
    return fathom


def test_says_what_it_did(slab):
    said = slab("mesh", "slab.obj", "-o", "slab.npy", "--resolution", 9, "--inside", "solid.npy", "--preview", "a.png")
    assert said.text == (
        "slab.obj: obj, 12 triangles, unit unknown, closed, area 28, volume 8\n"
        "lattice: 13 × 9 × 7 points from -1, -1, -1, spacing 0.5 (all x, y, z)\n"
        "sign: winding, since the mesh is closed\n"
        "slab.npy: distance, float32, 7 × 9 × 13, -0.5 to 1.73205\n"
        "solid.npy: inside, uint8, 7 × 9 × 13, 135 points inside\n"
        "a.png: picture\n")
    assert warnings(said) == ["slab.npy: NPY does not hold the lattice's spacing (0.5, 0.5, 0.5) and origin and orientation"]
    assert slab.ok("mesh", "slab.obj", "-o", "slab.npy", "--resolution", 9, "--quiet") == ""


def test_json(slab):
    said = told(slab, "slab.obj", "-o", "slab.nii", "--spacing", "0.5", "--units", "mm", "--band", 2, "--sign", "pseudonormal")
    assert said["input"] == {"path": "slab.obj", "format": "obj", "vertices": 8, "triangles": 12, "unit": "mm"}
    assert said["bounds"] == {"low": [0, 0, 0], "high": [4, 2, 1]}
    assert said["topology"].pop("volume") == pytest.approx(8)
    assert said["topology"] == {"closed": True, "vertices": 8, "edges": 18, "open_edges": 0, "flipped_edges": 0, "shared_edges": 0,
                                "degenerate": 0, "duplicate": 0, "area": 28}
    assert said["lattice"] == {"origin": [-1.5, -1.5, -1.5], "spacing": [0.5, 0.5, 0.5], "shape": [15, 11, 9], "unit": "mm"}
    assert said["sign"] == {"asked": "pseudonormal", "used": "pseudonormal", "rule": None}
    assert said["band"]["cutoff"] == 1 and said["band"]["tiles"] == 4
    assert said["band"]["bytes"] == 4 * (3 * 4 + 8 * 8 + 512 * 4 + 1) + 2 * 2
    assert said["outputs"] == [{"path": "slab.nii", "content": "distance", "format": "nifti", "dtype": "float32", "shape": [9, 11, 15]}]
    assert said["warnings"] == [] and said["threads"] >= 1 and said["set_bytes"] > 0
    assert set(said["seconds"]) == {"read", "build", "compute", "write", "total"}


@pytest.mark.parametrize("sign", ["auto", "pseudonormal", "winding", "fast-winding", "none"])
@pytest.mark.parametrize("lattice", [["--resolution", 11], ["--spacing", "0.3,0.5,0.7"],
                                     ["--spacing", "0.4", "--origin", "-3,1,0.25", "--shape", "9,5,4"],
                                     ["--spacing", "1", "--margin", "0"]])
def test_dense_fields(fathom, sign, lattice):
    low, high = np.array([-1.25, 0.5, -0.375]), np.array([2.75, 2.5, 1.125])
    save(fathom, "a.obj", box(low, high))
    said = told(fathom, "a.obj", "-o", "a.npy", "--sign", sign, "--dtype", "float64", "--closest", "c.npy", "--triangles",
                "t.npy", *(["--inside", "i.npy"] if sign != "none" else []), *lattice)
    points = lattice_points(said["lattice"])
    field, triangle, closest = (np.load(fathom.directory / name) for name in ("a.npy", "t.npy", "c.npy"))
    expected = signed_box(points, low, high)
    np.testing.assert_allclose(field, np.abs(expected) if sign == "none" else expected, atol=1e-14)
    distance, _, _ = nearest(points, *box(low, high))
    np.testing.assert_allclose(np.linalg.norm(closest - points, axis=-1), distance.reshape(field.shape), atol=1e-14)
    assert (said["min"], said["max"]) == (field.min(), field.max())
    assert triangle.dtype == np.int32
    np.testing.assert_allclose(nearest_of(points, triangle, *box(low, high)), distance.reshape(field.shape), atol=1e-14)
    if sign != "none":
        inside = np.load(fathom.directory / "i.npy")
        assert inside.dtype == np.uint8 and said["inside"] == inside.sum()
        clear = np.abs(expected) > 1e-9
        np.testing.assert_array_equal(inside[clear], expected[clear] < 0)


def soup(seed, count):
    random = np.random.default_rng(seed)
    middle = random.random((count, 1, 3))
    vertices = (middle + 0.2 * random.random((count, 3, 3))).reshape(-1, 3)
    return vertices, np.arange(3 * count).reshape(-1, 3)


def test_triangles_of_a_soup(fathom):
    mesh = soup(3, 60)
    save(fathom, "soup.obj", mesh)
    said = told(fathom, "soup.obj", "-o", "a.npy", "--sign", "none", "--resolution", 15, "--dtype", "float64", "--triangles",
                "t.npy", "--closest", "c.npy")
    distance, triangle, closest = nearest(lattice_points(said["lattice"]), *mesh)
    np.testing.assert_allclose(np.load(fathom.directory / "a.npy").ravel(), distance, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(np.load(fathom.directory / "t.npy").ravel(), triangle)
    np.testing.assert_allclose(np.load(fathom.directory / "c.npy").reshape(-1, 3), closest, atol=1e-12)


@pytest.mark.parametrize("cutoff", [["--band", "2"], ["--band", "1.5"], ["--cutoff", "0.11"], ["--cutoff", "0.04"], ["--cutoff", "5"]])
@pytest.mark.parametrize("sign", ["winding", "none"])
def test_bands_in_dense_files(fathom, cutoff, sign):
    low, high = np.array([0.03125, 0.015625, 0.0078125]), np.array([1.03125, 1.515625, 0.6953125])
    save(fathom, "a.obj", box(low, high))
    said = told(fathom, "a.obj", "-o", "a.npy", "--sign", sign, "--spacing", "0.1", "--dtype", "float64", *cutoff,
                "--triangles", "t.npy", "--closest", "c.npy", *(["--inside", "i.npy"] if sign != "none" else []))
    reach = said["band"]["cutoff"]
    points, field = lattice_points(said["lattice"]), np.load(fathom.directory / "a.npy")
    expected = signed_box(points, low, high) if sign != "none" else np.abs(signed_box(points, low, high))
    np.testing.assert_allclose(field, np.clip(expected, -reach, reach), atol=1e-14)
    near = np.abs(expected) <= reach
    assert said["band"]["points"] == near.sum()
    closest, triangle = np.load(fathom.directory / "c.npy"), np.load(fathom.directory / "t.npy")
    assert closest.dtype == np.float32
    np.testing.assert_array_equal(triangle >= 0, near)
    np.testing.assert_array_equal(np.isnan(closest).any(-1), ~near)
    np.testing.assert_allclose(np.linalg.norm(closest - points, axis=-1)[near], np.abs(expected)[near], atol=1e-6)
    if sign != "none":
        np.testing.assert_array_equal(np.load(fathom.directory / "i.npy"), expected <= 0)


def test_what_holds_a_band(slab):
    """The margin, unless it is given, is the band's."""
    said = told(slab, "slab.obj", "-o", "a.npy", "--resolution", 5, "--band", 3)
    assert said["lattice"]["origin"] == [-4, -4, -4] and said["lattice"]["shape"] == [13, 11, 10]
    said = told(slab, "slab.obj", "-o", "a.npy", "--resolution", 5, "--band", 3, "--margin", 0)
    assert said["lattice"]["origin"] == [0, 0, 0] and said["lattice"]["shape"] == [5, 3, 2]
    said = told(slab, "slab.obj", "-o", "a.npy", "--spacing", "1,0.5,2", "--band", 3)
    assert said["band"]["cutoff"] == 6  # longest sides
    assert said["lattice"]["origin"] == [-7, -6.5, -8] and said["lattice"]["shape"] == [5 + 14, 5 + 26, 2 + 8]


@pytest.mark.parametrize("name, loses", [("a.nii.gz", None), ("a.nii", None), ("a.mha", None), ("a.nrrd", None),
                                         ("a.vti", "unit (mm)"), ("a.tif", "origin and orientation"),
                                         ("a.npy", "spacing (0.25, 0.5, 0.75 mm) and origin and orientation")])
def test_files_hold_the_lattice(slab, name, loses):
    done = slab("mesh", "slab.obj", "-o", name, "--spacing", "0.25,0.5,0.75", "--origin", "-1,-2,-3", "--units", "mm", "--json")
    title = {"a.vti": "VTI", "a.tif": "TIFF", "a.npy": "NPY"}.get(name)
    assert warnings(done) == json.loads(done.text)["warnings"]
    assert warnings(done) == ([f"{name}: {title} does not hold the lattice's {loses}"] if loses else [])
    slab("mesh", "slab.obj", "-o", "plain.npy", "--spacing", "0.25,0.5,0.75", "--origin", "-1,-2,-3")
    expected, path = np.load(slab.directory / "plain.npy"), slab.directory / name
    if ".nii" in name:
        image = nibabel.load(path)
        np.testing.assert_array_equal(image.get_fdata().T, expected)
        np.testing.assert_array_equal(image.affine, [[0.25, 0, 0, -1], [0, 0.5, 0, -2], [0, 0, 0.75, -3], [0, 0, 0, 1]])
        assert image.header.get_xyzt_units()[0] == "mm"
    elif name in ("a.mha", "a.nrrd"):
        image = sitk.ReadImage(str(path))
        np.testing.assert_array_equal(sitk.GetArrayFromImage(image), expected)
        assert image.GetSpacing() == (0.25, 0.5, 0.75) and image.GetOrigin() == (-1, -2, -3)
        assert image.GetDirection() == (1, 0, 0, 0, 1, 0, 0, 0, 1)
    elif name == "a.vti":
        values, numbers = vti(path)
        np.testing.assert_array_equal(values, expected)
        assert list(numbers["Spacing"]) == [0.25, 0.5, 0.75] and list(numbers["Origin"]) == [-1, -2, -3]
    elif name == "a.tif":
        np.testing.assert_array_equal(tifffile.imread(path), expected)
        assert json.loads(slab("info", name, "--json").out)["input"]["spacing"] == [0.75, 0.5, 0.25]


@pytest.mark.parametrize("rule, inside", [("nonzero", [1, 1, 1]), ("even-odd", [1, 0, 1]), ("positive", [1, 1, 0])])
def test_rules(fathom, rule, inside):
    """A box, one in it turned as it is, and one elsewhere that is inside out."""
    shell, core, (vertices, faces) = box((0, 0, 0), (9, 9, 9)), box((3, 3, 3), (6, 6, 6)), box((20, 0, 0), (29, 9, 9))
    save(fathom, "a.obj", shell, core, (vertices, faces[:, ::-1]))
    fathom("mesh", "a.obj", "-o", "a.npy", "--spacing", 1, "--origin", "0.5,0.5,0.5", "--rule", rule)
    field = np.load(fathom.directory / "a.npy")
    assert [int(field[4, 4, x] < 0) for x in (1, 4, 24)] == inside


def test_warns_of_signs(slab):
    vertices, faces = box((0, 0, 0), (1, 1, 1))
    save(slab, "open.obj", (vertices, faces[:-2]))
    save(slab, "turned.obj", (vertices, np.vstack([faces[:-2], faces[-2:, ::-1]])))
    save(slab, "out.obj", (vertices, faces[:, ::-1]))
    run = lambda name, *options: warnings(slab("mesh", name, "-o", "a.nii", "--resolution", 4, *options))
    assert run("open.obj") == ["open.obj: 4 edges are open, so inside is where the generalised winding number is at least 1/2; "
                               "--sign says otherwise, --sign none does without"]
    assert "1/2, whatever --rule says;" in run("open.obj", "--rule", "even-odd")[0]
    assert run("open.obj", "--sign", "fast-winding", "--band", 1) == [
        "open.obj: beyond the band, parts of inside or outside that are narrower than 8 points may be missed, since the surface "
        "has holes; without a band each point is asked"]
    assert run("open.obj", "--sign", "none", "--band", 1) == []
    assert run("open.obj", "--sign", "none") == run("open.obj", "--sign", "fast-winding") == []
    assert run("turned.obj", "--sign", "pseudonormal") == [
        "turned.obj: 4 edges are open, 4 of them between faces turned against each other, near which pseudonormals may mistake "
        "the side; --sign fast-winding is for such meshes"]
    assert run("out.obj", "--sign", "pseudonormal") == [
        "out.obj: the surface is inside out (its volume is -1), so signs are the other way round; --sign winding does not mind"]
    assert run("out.obj", "--rule", "positive") == [
        "out.obj: the surface is inside out (its volume is -1), so --rule positive finds little or nothing inside; --rule nonzero "
        "does not mind"]
    assert run("out.obj") == []
    assert "sign: fast-winding, since the mesh is open\n" in slab("mesh", "open.obj", "-o", "a.nii", "--resolution", 4).text
    assert slab("mesh", "open.obj", "-o", "b.nii", "--resolution", 4, "--strict").code == 3
    assert not (slab.directory / "b.nii").exists()


@pytest.mark.parametrize("name", ["q.npy", "q.csv"])
def test_points(slab, name):
    points = np.random.default_rng(5).random((50, 3)).astype(np.float32) * [6, 4, 3] - 1
    if name == "q.npy":
        np.save(slab.directory / name, points)
    else:
        (slab.directory / name).write_text("x,y,z\n" + "".join(",".join(map(repr, map(float, p))) + "\n" for p in points))
    said = slab.ok("mesh", "slab.obj", "--points", name, "-o", "out.npy", "--dtype", "float64")
    found = np.load(slab.directory / "out.npy")
    assert found.dtype.names == ("distance", "triangle", "closest_x", "closest_y", "closest_z")
    distance, triangle, closest = nearest(points, *box((0, 0, 0), (4, 2, 1)))
    np.testing.assert_allclose(found["distance"], signed_box(points, (0, 0, 0), (4, 2, 1)), atol=1e-14)
    np.testing.assert_allclose(np.stack([found[f"closest_{k}"] for k in "xyz"], -1), closest, atol=1e-14)
    low, high = found["distance"].min(), found["distance"].max()
    assert said == ("slab.obj: obj, 12 triangles, unit unknown, closed, area 28, volume 8\n"
                    "sign: winding, since the mesh is closed\n"
                    f"out.npy: distance, triangle and closest point of 50 points, {low:.6g} to {high:.6g}\n")


def test_tables_of_points(slab):
    (slab.directory / "q.csv").write_text("name;z;y;x\na;2;1;1\nb;0;-1;5\n")
    slab("mesh", "slab.obj", "--points", "q.csv", "-o", "out.csv", "--delimiter", ";", "--columns", "x,y,z")
    assert (slab.directory / "out.csv").read_text() == (
        "distance,triangle,closest_x,closest_y,closest_z\n1,3,1,1,1\n1.4142135,0,4,0,0\n")
    slab("mesh", "slab.obj", "--points", "-", "-o", "out.ply", "--sign", "none", stdin=b"1,1,2\n")
    header, body = (slab.directory / "out.ply").read_bytes().split(b"end_header\n")
    assert b"property float distance\nproperty int triangle\nproperty float closest_x\n" in header
    assert np.frombuffer(body, "<f8", 1, 0)[0] == 1
    slab("mesh", "slab.obj", "--points", "q.csv", "-o", "out.csv", "--columns", "1,2", "--delimiter", ";")


def test_standard_input_and_output(slab):
    whole = slab("mesh", "-", "-o", "-", "--resolution", 9, stdin=(slab.directory / "slab.obj").read_bytes())
    assert whole.code == 0 and b"standard input: obj, 12 triangles" in whole.err
    assert np.load(io.BytesIO(whole.out)).shape == (7, 9, 13)


def test_same_bytes_from_any_number_of_threads(fathom):
    save(fathom, "soup.obj", soup(7, 200))
    for band in ([], ["--band", "2"]):
        for threads in (1, 3):
            told(fathom, "soup.obj", "-o", f"{threads}.npy", "--resolution", 40, "--threads", threads, *band)
        assert (fathom.directory / "1.npy").read_bytes() == (fathom.directory / "3.npy").read_bytes()


def test_ctrl_c_leaves_nothing(fathom):
    save(fathom, "soup.obj", soup(7, 3000))
    before = fathom.files()
    process = start(fathom, "mesh", "soup.obj", "-o", "a.nii", "--resolution", 400, "--closest", "c.npy", "--preview", "a.png")
    wait_until_it_listens(process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1].endswith(b"interrupted; nothing was written\n")
    assert process.returncode == 128 + signal.SIGINT and fathom.files() == before


def picture(fathom, *options):
    fathom("mesh", *options, "--preview", "a.png", "--quiet")
    return np.asarray(Image.open(fathom.directory / "a.png").convert("RGB")).astype(int)


def test_picture(slab):
    image = picture(slab, "slab.obj", "--resolution", 40)
    assert 600 < image.shape[0] < 1500 and 800 < image.shape[1] < 1800
    assert (image[[0, -1]] == 255).all() and (image[:, [0, -1]] == 255).all()
    corner = image[: image.shape[0] // 2, : image.shape[1] // 3].reshape(-1, 3)  # where the solid is, of clay
    clay = (corner[:, 0] > corner[:, 1] + 15) & (corner[:, 1] > corner[:, 2] + 15)
    assert clay.mean() > 0.1
    alone = picture(slab, "slab.obj", "--resolution", 40, "--sign", "none")  # without a sign there are slices alone
    corner = alone.reshape(-1, 3)
    assert ((corner[:, 0] > corner[:, 1] + 15) & (corner[:, 1] > corner[:, 2] + 15) & (corner[:, 2] > 60)).mean() < 0.01
    np.testing.assert_array_equal(image, picture(slab, "slab.obj", "--resolution", 40, "--threads", 3))


@pytest.mark.parametrize("options", [["--band", "2"], ["--dtype", "float64"], ["--title", "A slab", "--units", "mm"],
                                     ["--threads", "1000000"], ["--shape", "1,1,1"], ["--shape", "300,2,1"], ["--shape", "1,2,300"]])
def test_pictures_of_all_kinds(slab, options):
    image = picture(slab, "slab.obj", "--spacing", "0.1", *options)
    assert image.shape[0] < 2000 and image.shape[1] < 2000 and (image < 100).any()


def test_plan(slab):
    text = slab.ok("mesh", "slab.obj", "-o", "a.nii", "--resolution", 9, "--band", 2, "--inside", "i.nii", "--units", "mm", "--plan")
    assert text.splitlines()[:-1] == [
        "read     slab.obj: obj, 12 triangles, in mm",
        "lattice  15 × 11 × 9 points from -1.5, -1.5, -1.5, spacing 0.5, 0.5, 0.5 (all x, y, z)",
        "band     points within 1",
        "write    a.nii: distance, nifti, float32, 9 × 11 × 15",
        "write    i.nii: inside, nifti, uint8, 9 × 11 × 15",
    ]
    assert text.splitlines()[-1].startswith("memory   at most ")
    (slab.directory / "q.csv").write_text("0,0,0\n")
    text = slab.ok("mesh", "slab.obj", "--points", "q.csv", "-o", "a.csv", "--plan")
    assert text.startswith("read     slab.obj: obj, 12 triangles, unit unknown\n"
                           "write    a.csv: distance, triangle and closest point, csv, float32\nmemory   at most ")
    said = told(slab, "slab.obj", "--points", "q.csv", "-o", "a.csv", "--plan")
    assert said["outputs"] == [{"path": "a.csv", "content": "table", "format": "csv"}]
    text = slab.ok("mesh", "slab.obj", "--preview", "a.png", "--resolution", 9, "--plan")
    assert "\nwrite    a.png: picture, png\n" in text
    said = told(slab, "slab.obj", "-o", "a.nii", "--resolution", 9, "--plan")
    assert said["operation"] == "plan" and said["lattice"]["shape"] == [13, 9, 7] and said["bytes"]["outputs"] == 13 * 9 * 7 * 4
    assert not (slab.directory / "a.nii").exists()


@pytest.mark.parametrize("options", [[], ["--band", "3"]])
def test_memory(slab, options):
    command = ["mesh", "slab.obj", "-o", "a.nii", "--resolution", 100, *options, "--memory"]
    message = slab.refuses(2, *command, "10kB")
    assert message.startswith("--memory 10000B is too small: mesh and tree need ")
    enough = message.split("; ")[1].removesuffix(" works")
    slab.ok(*command, enough)
    assert slab.refuses(3, "mesh", "slab.obj", "-o", "a.nii", "--resolution", 20000).startswith("this machine has ")


@pytest.mark.parametrize("options, message", [
    ("-o a.npy", "how fine the lattice is must be said: --resolution 256, or --spacing 0.5 in the mesh's units"),
    ("-o a.npy --resolution 9 --spacing 1", "--resolution and --spacing both say how fine the lattice is; give one of them"),
    ("-o a.npy --resolution 1", "--resolution takes a whole number from 2 to 2147483647, not '1'"),
    ("-o a.npy --spacing 1,2", "--spacing takes one number, or one each for x, y and z; 2 were given"),
    ("-o a.npy --spacing 0", "--spacing takes finite numbers above 0, one or one per axis, such as 1,1,2.5; not '0'"),
    ("-o a.npy --spacing 1 --origin 1,2", "--origin takes X,Y,Z, not '1,2'"),
    ("-o a.npy --spacing 1 --origin 0,9,0",
     "the lattice's origin along y, 9, is beyond the mesh, which reaches from 0 to 2; give one before its end, or a shape"),
    ("-o a.npy --spacing 1 --shape 1,2.5,3", "--shape takes whole numbers from 1, as x,y,z, not '1,2.5,3'"),
    ("-o a.npy --spacing 1e-9", "the lattice would have more than 2147483647 points along x; give a larger spacing or a smaller resolution"),
    ("-o a.npy --resolution 2000000000",
     "the lattice has 2000000004 × 1000000005 × 500000005 points; give a larger --spacing, or a smaller --resolution"),
    ("-o a.npy --spacing 1 --band 2 --dense", "--band, --cutoff and --dense each say which points get a distance; give one of them"),
    ("-o a.npy --spacing 1 --band 0", "--band takes a finite number above 0, not '0'"),
    ("-o a.png --spacing 1", "PNG holds images of 2 axes, not of 3; write .npy, .nii or .tif"),
    ("--spacing 1", "no output was asked for; give -o FILE, --closest, --triangles, --inside or --preview"),
    ("-o a.npy --spacing 1 --closest c.nii", "--closest writes an array with one more axis; 'c.nii' does not end in .npy"),
    ("-o a.npy --spacing 1 --preview a.jpg", "--preview draws a PNG; 'a.jpg' does not end in .png"),
    ("-o a.npy --spacing 1 --title A", "--title is for the picture of --preview, which is not given"),
    ("-o a.npy --spacing 1 --inside a.npy", "-o and --inside name the same file 'a.npy'; give each its own"),
    ("-o a.npy --spacing 1 --sign both", "--sign takes auto, none, pseudonormal, winding or fast-winding, not 'both'"),
    ("-o a.npy --spacing 1 --rule odd", "--rule takes nonzero, even-odd or positive, not 'odd'"),
    ("-o a.npy --spacing 1 --sign none --rule positive",
     "--rule says which winding numbers are inside; it goes with --sign winding, not none"),
    ("--spacing 1 --sign none --inside a.npy", "--inside needs a sign; leave out --sign none"),
    ("-o a.npy --spacing 1 --dtype int8", "--dtype of distances is float32 or float64, not 'int8'"),
    ("-o a.npy --spacing 1 --decimal ,", "--decimal is for the file of --points, which is not given"),
    ("--points q.csv", "no output was asked for; give -o FILE"),
    ("--points q.csv -o a.npy --spacing 1", "--spacing is for a lattice, and --points asks for points; leave one of them out"),
    ("--points q.csv -o a.npy --dense", "--dense is for a lattice, and --points asks for points; leave one of them out"),
    ("--inside a.nii --spacing 1 --format npy", "--format is for the file of -o, which is not given"),
    ("--points q.csv -o a.npy --title A", "--title is for a lattice, and --points asks for points; leave one of them out"),
    ("--points q.csv -o a.nii",
     "the name 'a.nii' does not say which format to write; end it in .npy, .csv or .ply"),
    ("-o - --spacing 1 --json", "--json and -o - both want standard output; write the result to a file"),
])
def test_refuses(slab, options, message):
    assert slab.refuses(2, "mesh", "slab.obj", *options.split()) == message


def test_compares(slab):
    save(slab, "low.obj", box((0, 0, -0.25), (4, 2, 1)))
    lines = slab.ok("mesh", "slab.obj", "--compare", "low.obj").splitlines()
    assert lines[:2] == ["slab.obj: obj, 12 triangles, unit unknown, closed, area 28, volume 8",
                         "low.obj: obj, 12 triangles, unit unknown, closed, area 31, volume 10"]
    assert lines[2].startswith("slab.obj to low.obj: at most 0.25, at ") and lines[3].startswith("low.obj to slab.obj: at most 0.25, at ")
    assert lines[4].startswith("Hausdorff distance: 0.25, certainly less than ") and len(lines) == 5
    said = json.loads(slab.ok("mesh", "slab.obj", "--compare", "low.obj", "--json", "--tolerance", "0.01", "--units", "mm"))
    assert said["other"]["path"] == "low.obj" and said["input"]["unit"] == "mm" and said["hausdorff"]["tolerance"] == 0.01
    assert said["hausdorff"]["distance"] == said["backward"]["max"] == 0.25 <= said["hausdorff"]["bound"] <= 0.26
    # The floor of the slab alone is off, near its rim by less: the integral of its height and of the square of that.
    assert abs(said["forward"]["mean"] - (2 - 0.375 + 1 / 48) / 28) < 1e-5
    assert abs(said["forward"]["rms"] ** 2 - (0.5 - 0.125 + 1 / 128) / 28) < 1e-5
    assert said["backward"]["point"][2] == -0.25 and said["backward"]["nearest"][2] == 0
    save(slab, "point.obj", (np.array([[9.0, 0, 0]] * 3), np.array([[0, 1, 2]])))
    said = json.loads(slab.ok("mesh", "point.obj", "--compare", "slab.obj", "--json"))
    assert said["forward"]["max"] == 5 and said["forward"]["mean"] is None


def test_refuses_comparisons(slab):
    assert slab.refuses(2, "mesh", "slab.obj", "--compare", "slab.obj", "-o", "a.npy") == (
        "--compare prints numbers alone; leave out -o, or ask for it by itself")
    assert slab.refuses(2, "mesh", "-", "--compare", "-") == (
        "both meshes cannot come from standard input or one pipe; give one of them a file")
    assert slab.refuses(2, "mesh", "slab.obj", "--spacing", 1, "-o", "a.npy", "--tolerance", 1) == (
        "--tolerance is for --compare, which is not given")
    save(slab, "nan.obj", (np.array([[np.nan, 0, 0]] * 3), np.array([[0, 1, 2]])))
    assert slab.refuses(3, "mesh", "slab.obj", "--compare", "nan.obj") == "nan.obj: vertex 0 has a coordinate that is not finite"


def test_refuses_files(slab):
    save(slab, "nan.obj", ([[0, 0, 0], [1, 0, 0], [0, np.nan, 0]], [[0, 1, 2]]))
    assert slab.refuses(3, "mesh", "nan.obj", "-o", "a.nii", "--spacing", 1) == (
        "nan.obj: vertex 2 has a coordinate that is not finite")
    save(slab, "open.obj", ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))
    assert slab.refuses(2, "mesh", "open.obj", "-o", "a.nii", "--spacing", 1, "--sign", "winding") == (
        "the mesh has 3 open edges, so that nothing is certainly inside; use the sign fast-winding, or none")
    assert slab.refuses(3, "mesh", "none.obj", "-o", "a.nii", "--spacing", 1).startswith("none.obj")
    (slab.directory / "q.csv").write_text("1,2\n")
    assert slab.refuses(3, "mesh", "slab.obj", "--points", "q.csv", "-o", "a.npy") == (
        "q.csv has points with 2 coordinates; a mesh has 3")
    assert slab.refuses(2, "mesh", "-", "--points", "-", "-o", "a.npy") == (
        "mesh and points cannot both come from standard input or one pipe; give one of them a file")
    assert slab.refuses(3, "mesh", "slab.obj", "-o", "nowhere/a.nii", "--spacing", 1).startswith("nowhere/a.nii")
