"""Each option of `distance` does what it says: numbers against brute force."""

import itertools
import json

import nibabel
import numpy as np
import oracle
import pytest
import tifffile
from PIL import Image


def random_mask(shape, share=0.9, seed=1):
    return (np.random.default_rng(seed).random(shape) < share).astype(np.uint8)


def run(fathom, a, *options):
    """The field of an array."""
    np.save(fathom.directory / "in.npy", a)
    fathom.ok("distance", "in.npy", "-o", "out.npy", "--quiet", *options)
    return np.load(fathom.directory / "out.npy")


RULES = ["zero", "nonzero", ">=3", "<=1", "==2", ">=2.5", ">=-1", "==7", ">3", "<2", "!=2", ">2.5", "<2.5",
         "!=2.5", "==-1", ">= 3", "  == 2 ", "\t>\t3\t", " nonzero ", "<inf", ">=-inf", "==nan", "!=nan", ">=1e30"]


@pytest.mark.parametrize("rule", RULES)
def test_sites(fathom, rule):
    a = np.random.default_rng(2).integers(0, 5, (9, 14)).astype(np.int16)
    expected, _ = oracle.transform(a, rule)
    out = run(fathom, a, "--sites", rule)
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, expected.astype(np.float32))


@pytest.mark.parametrize("rule", ["==0.1", "!=0.1", "<0.1", "<=0.1", ">0.1", ">=0.1", "==nan", "!= nan", ">=inf", "<0"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sites_among_floats(fathom, rule, dtype):
    """Numbers are rounded to the elements' type first."""
    a = np.random.default_rng(2).choice(np.array([0.1, 0.2, np.nan, np.inf, -np.inf, -0.0, 0.0999], dtype), (9, 14))
    expected, _ = oracle.transform(a, rule)
    np.testing.assert_array_equal(run(fathom, a, "--sites", rule), expected.astype(np.float32))


@pytest.mark.parametrize("dtype, label", [
    ("u8", 864691135012345678), ("u8", 2**64 - 1), ("i8", 2**53 + 1), ("i8", -(2**53) - 1), ("i8", -(2**63)), ("i8", 2**63 - 1)])
def test_sites_of_64_bits(fathom, dtype, label):
    lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    near = [min(max(label + step, lowest), highest) for step in (-2, -1, 0, 1, 2)]
    a = np.array([near], dtype)
    for sign, compare in [("==", a == label), ("!=", a != label), (">", a > label), ("<", a < label), (">=", a >= label)]:
        np.save(fathom.directory / "in.npy", a)
        said = json.loads(fathom.ok("distance", "in.npy", "-o", "out.npy", "--json", "--sites", f"{sign} {label}"))
        assert said["sites"] == {"rule": f"{sign}{label}", "count": compare.sum()}
        np.testing.assert_array_equal(np.load(fathom.directory / "out.npy") == 0, compare)


@pytest.mark.parametrize("literal, label", [
    ("864691135012345678.0", 864691135012345678), ("8.64691135012345678e17", 864691135012345678), ("1e18", 10**18),
    ("18446744073709551615.", 2**64 - 1), ("90071992547409930E-1", 2**53 + 1), ("0.0", 0), ("1e-0", 1)])
def test_whole_literals(fathom, literal, label):
    """A literal whose value is an integer is one, however it is written."""
    a = np.array([[label - 1 if label else 7, label, label + 1 if label < 2**64 - 1 else 7]], "u8")
    np.save(fathom.directory / "in.npy", a)
    said = json.loads(fathom.ok("distance", "in.npy", "-o", "out.npy", "--json", "--sites", f"=={literal}"))
    assert said["sites"] == {"rule": f"=={label}", "count": 1}


@pytest.mark.parametrize("bad", ["1e", "1e+-2", ".", "1.2.3", "--1", "1e99999999999", "0x10"])
def test_no_literals(fathom, bad):
    np.save(fathom.directory / "in.npy", np.zeros((2, 2), np.uint8))
    assert fathom.refuses(2, "info", "in.npy", "--sites", f"=={bad}").endswith(f"not '=={bad}'")


@pytest.mark.parametrize("value", [0.1, 0.30005, 2049, 2051, 1e-7, 3e-8, 65519, 65520, 1e9, -1e9])
@pytest.mark.parametrize("sign", [">=", "<=", "==", "!=", ">", "<"])
def test_sites_among_float16(fathom, sign, value):
    """Files of float16 are read as float32, and compared as NumPy compares them."""
    with np.errstate(over="ignore"):
        half = np.float16(value)
    a = np.array([[half, np.nextafter(half, np.float16(0)), 0, 1, 2050, 65504, np.inf, -np.inf]], np.float16)
    expected = {">=": a >= half, "<=": a <= half, "==": a == half, "!=": a != half, ">": a > half, "<": a < half}[sign]
    np.save(fathom.directory / "in.npy", a)
    tifffile.imwrite(fathom.directory / "in.tif", a)
    for name in ("in.npy", "in.tif"):
        for verb in (["distance", name, "-o", "out.npy"], ["info", name]):
            assert json.loads(fathom.ok(*verb, "--json", "--sites", f"{sign}{value}"))["sites"]["count"] == expected.sum()
    with_no_data = json.loads(fathom.ok("distance", "in.npy", "-o", "o.npy", "--json", "--no-data", str(value)))
    assert with_no_data["sites"]["count"] == ((a == 0) & (a != half)).sum()


def test_sites_below_all_of_int64(fathom):
    a = np.array([[-(2**63), -(2**63) + 1, 0]])
    for literal in (-(2**63) - 1, -(2**63) - 1000, -(10**30)):
        assert np.isinf(run(fathom, a, "--sites", f"=={literal}")).all()
        assert np.isinf(run(fathom, a, "--sites", f"<={literal}")).all()
        assert (run(fathom, a, "--sites", f">{literal}") == 0).all()


def test_limit_in_decimals(fathom):
    """Three steps of 0.1 are 0.30000000000000004."""
    a = np.array([[0, 1, 1, 1, 1]], np.uint8)
    for metric in ("euclidean", "taxicab", "chessboard"):
        out = run(fathom, a, "--spacing", "0.1", "--max-distance", "0.3", "--metric", metric)
        np.testing.assert_array_equal(out, np.float32([[0, 0.1, 0.2, 0.3, np.inf]]))
    np.testing.assert_array_equal(run(fathom, a, "--max-distance", np.nextafter(3, 0)), [[0, 1, 2, np.inf, np.inf]])


def test_labels(fathom):
    a = np.repeat(np.repeat(np.random.default_rng(3).integers(0, 4, (4, 5)), 3, 0), 3, 1).astype(np.uint16)
    expected, _ = oracle.transform(a, "labels")
    np.testing.assert_array_equal(run(fathom, a, "--sites", "labels"), expected.astype(np.float32))


@pytest.mark.parametrize("dtype", ["bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
def test_input_types(fathom, dtype):
    a = random_mask((7, 11)).astype(dtype)
    expected, _ = oracle.transform(a)
    np.testing.assert_array_equal(run(fathom, a), expected.astype(np.float32))


@pytest.mark.parametrize("metric", ["euclidean", "taxicab", "chessboard"])
@pytest.mark.parametrize("border", ["open", "sites", "periodic", "open,periodic", "sites,open"])
def test_metric_and_border(fathom, metric, border):
    a = random_mask((8, 13), 0.97)
    kinds = border.split(",") if "," in border else border
    expected, _ = oracle.transform(a, metric=metric, border=kinds)
    out = run(fathom, a, "--metric", metric, "--border", border)
    np.testing.assert_array_equal(out, expected.astype(np.float32))


@pytest.mark.parametrize("spacing", ["2.5", "1,3", "0.1,7"])
def test_spacing(fathom, spacing):
    a = random_mask((8, 13), 0.95)
    values = [float(s) for s in spacing.split(",")]
    expected, _ = oracle.transform(a, spacing=values)
    np.testing.assert_allclose(run(fathom, a, "--spacing", spacing), expected, rtol=1e-6)
    np.testing.assert_allclose(run(fathom, a, "--spacing", spacing, "--dtype", "float64"), expected, rtol=1e-12)


def test_dtype(fathom):
    a = random_mask((6, 9))
    expected, _ = oracle.transform(a)
    for name in ("float32", "float64"):
        out = run(fathom, a, "--dtype", name)
        assert out.dtype == name
        np.testing.assert_array_equal(out, expected.astype(name))


@pytest.mark.parametrize("dtype", [None, "uint32", "uint64", "float64"])
def test_squared(fathom, dtype):
    a = random_mask((6, 9))
    expected, _ = oracle.transform(a)
    out = run(fathom, a, "--squared", *(["--dtype", dtype] if dtype else []))
    assert out.dtype == (dtype or "uint32")
    np.testing.assert_array_equal(out, np.rint(expected**2).astype(out.dtype))


def test_squared_of_a_long_line_needs_uint64(fathom):
    a = np.ones((65537, 1), np.uint8)
    a[0] = 0
    out = run(fathom, a, "--squared")
    assert out.dtype == np.uint64
    np.testing.assert_array_equal(out[:, 0], np.arange(65537, dtype=np.uint64) ** 2)


def test_squared_with_spacing_is_float64(fathom):
    a = random_mask((6, 9))
    expected, _ = oracle.transform(a, spacing=[0.5, 2])
    out = run(fathom, a, "--squared", "--spacing", "0.5,2")
    assert out.dtype == np.float64
    np.testing.assert_allclose(out, expected**2, rtol=1e-12)


def test_signed(fathom):
    a = np.zeros((9, 12), np.uint8)
    a[2:7, 3:9] = 1
    inside, _ = oracle.transform(a, "zero")
    outside, _ = oracle.transform(a, "nonzero")
    faces = np.where(a != 0, 0.5 - inside, outside - 0.5).astype(np.float32)
    np.testing.assert_array_equal(run(fathom, a, "--signed"), faces)
    np.testing.assert_array_equal(run(fathom, a, "--signed", "--surface", "faces"), faces)
    centers = np.where(a != 0, -inside, outside).astype(np.float32)
    np.testing.assert_array_equal(run(fathom, a, "--signed", "--surface", "centers"), centers)
    assert faces[4, 2] == 0.5 and faces[4, 3] == -0.5


@pytest.mark.parametrize("scale, options", [(1, []), (2, ["--spacing", "2"])])
def test_nearest_and_coordinates(fathom, scale, options):
    a = random_mask((5, 6, 7), 0.97)
    _, expected = oracle.transform(a)
    out = run(fathom, a, "--nearest", "nearest.npy", "--coordinates", "coordinates.npy", *options)
    out = out / scale
    nearest = np.load(fathom.directory / "nearest.npy")
    coordinates = np.load(fathom.directory / "coordinates.npy")
    assert nearest.dtype == np.int32 and coordinates.dtype == np.int32
    np.testing.assert_array_equal(nearest, expected)
    np.testing.assert_array_equal(coordinates, np.stack(np.unravel_index(expected, a.shape)))
    steps = coordinates - np.indices(a.shape)
    np.testing.assert_array_equal(out, np.sqrt((steps**2).sum(0)).astype(np.float32))


def test_offset(fathom):
    a = random_mask((9, 14), 0.97)
    options = "--border open,periodic --spacing 0.5,2 --coordinates c.npy --offset offset.npy"
    run(fathom, a, *options.split())
    offset, coordinates = np.load(fathom.directory / "offset.npy"), np.load(fathom.directory / "c.npy")
    steps = coordinates - np.indices(a.shape)
    steps[1] = np.where(steps[1] > 7, steps[1] - 14, np.where(steps[1] < -7, steps[1] + 14, steps[1]))
    assert offset.dtype == np.float32 and (abs(steps[1]) > 3).any()
    np.testing.assert_array_equal(offset, np.stack([steps[0] * 0.5, steps[1] * 2]))
    out = run(fathom, a, "--signed", "--no-data", "7", "--offset", "offset.npy")
    np.testing.assert_allclose(np.hypot(*np.load(fathom.directory / "offset.npy")), abs(out) + 0.5, rtol=1e-6)


@pytest.mark.parametrize("name", ["nearest.npy", "nearest.tif", "nearest.nii", "nearest.nii.gz"])
def test_nearest_in_every_format(fathom, name):
    a = random_mask((5, 8))
    a[0, 0] = 0
    np.save(fathom.directory / "in.npy", a)
    fathom.ok("distance", "in.npy", "--nearest", name, "--quiet")
    read = {"npy": np.load, "tif": tifffile.imread, "nii": lambda p: np.asarray(nibabel.load(p).dataobj).T}
    np.testing.assert_array_equal(read[name.split(".")[1]](fathom.directory / name), oracle.transform(a)[1])


def test_no_site(fathom):
    a = np.ones((3, 4), np.uint8)
    assert np.isposinf(run(fathom, a, "--nearest", "n.npy", "--coordinates", "c.npy")).all()
    assert (np.load(fathom.directory / "n.npy") == -1).all()
    assert (np.load(fathom.directory / "c.npy") == -1).all()
    run(fathom, a, "--offset", "offset.npy")
    assert np.isnan(np.load(fathom.directory / "offset.npy")).all()
    assert (run(fathom, a, "--squared") == 2**32 - 1).all()


@pytest.mark.parametrize("limit", [0, 1, 2.5, 100])
def test_max_distance(fathom, limit):
    a = random_mask((15, 18), 0.985)
    expected, nearest = oracle.transform(a, max_distance=limit)
    out = run(fathom, a, "--max-distance", limit, "--nearest", "n.npy")
    np.testing.assert_array_equal(out, expected.astype(np.float32))
    np.testing.assert_array_equal(np.load(fathom.directory / "n.npy"), nearest)


@pytest.mark.parametrize("region, part", [
    ("2:7,3:9", np.s_[2:7, 3:9]), (":,4:", np.s_[:, 4:]), ("5:,:6", np.s_[5:, :6]), ("3:3,:", np.s_[3:3, :])])
def test_region(fathom, region, part):
    a = random_mask((9, 12), 0.97)
    expected, nearest = oracle.transform(a)
    out = run(fathom, a, "--region", region, "--nearest", "n.npy", "--coordinates", "c.npy")
    np.testing.assert_array_equal(out, expected.astype(np.float32)[part])
    np.testing.assert_array_equal(np.load(fathom.directory / "n.npy"), nearest[part])
    coordinates = np.stack(np.unravel_index(nearest, a.shape))
    np.testing.assert_array_equal(np.load(fathom.directory / "c.npy"), coordinates[(np.s_[:], *part)])


def test_threads_and_backend_change_no_byte(fathom):
    a = random_mask((70, 90), 0.99)
    one = run(fathom, a, "--threads", "1")
    for options in (["--threads", "3"], ["--backend", "cpu"], ["--backend", "auto"], ["--memory", "1GiB"]):
        np.testing.assert_array_equal(run(fathom, a, *options), one)


def test_spacing_comes_from_the_header(fathom):
    """NIfTI states voxel sizes, first axis first; the array's order is the reverse."""
    a = random_mask((4, 5, 6), 0.95)
    image = nibabel.Nifti1Image(np.ascontiguousarray(a.T), np.diag([2.0, 3.0, 0.5, 1.0]))
    nibabel.save(image, fathom.directory / "in.nii.gz")
    line = json.loads(fathom.ok("distance", "in.nii.gz", "-o", "out.nii.gz", "--json"))
    assert line["input"]["spacing"] == [0.5, 3.0, 2.0]
    back = nibabel.load(fathom.directory / "out.nii.gz")
    assert back.header.get_zooms() == (2.0, 3.0, 0.5)
    np.testing.assert_array_equal(back.affine, image.affine)
    expected, _ = oracle.transform(a, spacing=[0.5, 3.0, 2.0])
    np.testing.assert_allclose(np.asarray(back.dataobj).T, expected, rtol=1e-6)

    fathom.ok("distance", "in.nii.gz", "-o", "unit.npy", "--spacing", "1", "--quiet")
    expected, _ = oracle.transform(a)
    np.testing.assert_array_equal(np.load(fathom.directory / "unit.npy"), expected.astype(np.float32))


@pytest.mark.parametrize("shape", [(1,), (7,), (0,), (0, 5), (3, 0, 2), (1, 1), (1, 9), (9, 1), (2, 3, 2, 3, 2)])
def test_shapes(fathom, shape):
    a = random_mask(shape, 0.8)
    expected, _ = oracle.transform(a)
    out = run(fathom, a)
    assert out.shape == shape
    np.testing.assert_array_equal(out, expected.astype(np.float32))


def test_png_in_and_out(fathom):
    """A PNG takes the field in 16 bits; the printed scale leads back to the distances."""
    a = random_mask((20, 30), 0.99) * 255
    Image.fromarray(a).save(fathom.directory / "in.png")
    line = json.loads(fathom.ok("distance", "in.png", "-o", "out.png", "--json"))
    scale = line["outputs"][0]["png"]
    stored = np.asarray(Image.open(fathom.directory / "out.png")).astype(float)
    expected, _ = oracle.transform(a)
    np.testing.assert_allclose(stored / scale["scale"] + scale["offset"], expected, atol=0.5 / scale["scale"] + 1e-9)
    assert stored.max() == 65535


def test_combinations(fathom):
    """Options that have a meaning together keep it together."""
    a = random_mask((8, 11), 0.95, seed=9)
    cases = itertools.product(["euclidean", "taxicab"], ["open", "periodic"], [[1, 1], [2, 0.5]], [np.inf, 4])
    for metric, border, spacing, limit in cases:
        expected, nearest = oracle.transform(a, "zero", metric, spacing, border, limit)
        out = run(fathom, a, "--metric", metric, "--border", border, "--spacing", ",".join(map(str, spacing)),
                  "--max-distance", limit, "--region", "1:7,2:", "--nearest", "n.npy")
        np.testing.assert_allclose(out, expected[1:7, 2:], rtol=1e-6)
        np.testing.assert_array_equal(np.load(fathom.directory / "n.npy"), nearest[1:7, 2:])
