"""What users bring besides plain arrays: right, or refused by its name with the way out."""

import array
import pathlib
import sys
import types

import fathom
import numpy as np
import pytest

MASK = (np.random.default_rng(0).random((6, 7)) > 0.2).astype(np.uint8)
EXPECTED = fathom.distance_transform(MASK)
LABELS = np.array([[5, 0, 0, 0, 0, 7], [0, 0, 0, 0, 0, 0]])
TYPE = "; it must be bool, integer or float of up to 64 bits"
READ = " is a path or text, not an array; read the file first, with fathom.read()"
CALLS = [fathom.distance_transform, fathom.signed_distance, fathom.nearest_site, fathom.expand_labels]


def refused(x, words, calls=CALLS):
    for call in calls:
        with pytest.raises(TypeError) as error:
            call(x)
        name = "labels" if call is fathom.expand_labels else "x"
        assert str(error.value) == words.replace("{x}", name)


@pytest.mark.parametrize("x, words", [
    ("mask.tif", "{x}" + READ),
    (pathlib.Path("mask.tif"), "{x}" + READ),
    (b"\0\1", "{x} is bytes, without dtype or shape; give numpy.frombuffer({x}, dtype).reshape(shape)"),
    (np.ma.masked_equal(MASK, 0), "{x} is a masked array, whose mask would be lost; give {x}.filled(value)"),
    (MASK * 1j, "{x} has the dtype complex128" + TYPE + "; give numpy.abs({x}), or one part of it"),
    (np.zeros(3, [("a", "f4"), ("b", "i4")]),
     "{x} has the dtype [('a', '<f4'), ('b', '<i4')]" + TYPE + "; give one field, as {x}['a']"),
    (np.array(["a"]), "{x} has the dtype <U1" + TYPE),
    (np.array(["2026-01-01"], "M8[D]"), "{x} has the dtype datetime64[D]" + TYPE),
    (np.zeros(3, np.longdouble), "{x} has the dtype float128" + TYPE),
], ids=str)
def test_refused(x, words):
    refused(x, words)


def test_objects():
    refused(np.array([1, None]),
            "x has the dtype object" + TYPE + "; if its elements are numbers, give numpy.asarray(x, float)", CALLS[:3])
    for call in CALLS:
        with pytest.raises(TypeError, match="must be an array of numbers: setting an array element with a sequence"):
            call([[1, 2], [3]])


def test_points_and_sets_refuse_them_too():
    sites = fathom.SiteSet([[0.0, 0.0]])
    for call, name in [
        (fathom.SiteSet, "points"), (fathom.DynamicSet, "points"), (sites.nearest, "q"),
        (fathom.SiteSet.of_mask, "mask"), (fathom.VoxelSet.of_mask, "mask"), (fathom.fill_nearest, "x"),
    ]:
        with pytest.raises(TypeError) as error:
            call("file.npy")
        assert str(error.value) == name + READ
    for call in fathom.SiteSet, fathom.SiteSet.of_mask, sites.nearest:
        with pytest.raises(TypeError, match="is a masked array, whose mask would be lost; give"):
            call(np.ma.masked_equal(np.ones((3, 2)), 0))
    with pytest.raises(TypeError, match="out is a masked array"):
        fathom.distance_transform(MASK, out=np.ma.zeros(MASK.shape, "f4"))


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("x", [
    MASK.tolist(), tuple(map(tuple, MASK)), memoryview(MASK), MASK.view(np.matrix), MASK[::-1][::-1], MASK.astype(">i4"),
    MASK.astype("f2"), np.asfortranarray(MASK), [array.array("B", row.tobytes()) for row in MASK],
    np.rec.fromarrays([MASK], names="a").a,
], ids=lambda x: type(x).__name__)
def test_taken(x):
    result = fathom.distance_transform(x)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, EXPECTED)


def test_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    for kind in sparse.csr_array, sparse.csr_matrix, sparse.coo_array:
        refused(kind(MASK), "{x} is a sparse array of SciPy; give {x}.toarray()")


def test_pillow():
    image = pytest.importorskip("PIL.Image")
    for mode in "L", "1", "I", "F":
        result = fathom.distance_transform(image.fromarray(MASK * 255).convert(mode))
        np.testing.assert_array_equal(result, EXPECTED)
    palette = image.fromarray(MASK * 2, "P")
    palette.putpalette([9, 9, 9] * 3)  # colours do not matter: indices do
    np.testing.assert_array_equal(fathom.distance_transform(palette), EXPECTED)
    for mode in "RGB", "RGBA", "LA":
        refused(image.fromarray(MASK).convert(mode), "{x} is an image of Pillow's mode " + mode + ", whose colours are no "
                "axis of space; give one of them, as {x}.getchannel(0), or {x}.convert('L')")


def test_masked_values_are_missing():
    x = np.ma.MaskedArray([[1, 2, 3, 4, 5]], [[0, 1, 1, 1, 0]])
    filled = fathom.fill_nearest(x)
    assert isinstance(filled, np.ma.MaskedArray) and not filled.mask.any()
    assert filled.tolist() == [[1, 1, 1, 5, 5]]
    near = fathom.fill_nearest(x, max_distance=1)
    assert near.tolist() == [[1, 1, None, 5, 5]] and near.data.tolist() == [[1, 1, 3, 5, 5]]
    assert fathom.fill_nearest(x, missing=[[1, 0, 0, 0, 0]]).tolist() == [[5] * 5]
    floats = np.ma.MaskedArray([1.0, np.nan, 3.0, 9.0], [0, 0, 0, 1])
    assert fathom.fill_nearest(floats).tolist() == [1, 1, 3, 3]
    assert fathom.fill_nearest(np.ma.MaskedArray([1, 2])).tolist() == [1, 2]
    assert fathom.fill_nearest(np.ma.MaskedArray([1, 2], True)).tolist() == [None, None]
    out = np.zeros((1, 5), int)
    assert fathom.fill_nearest(x, out=out) is out and out.tolist() == [[1, 1, 1, 5, 5]]
    assert fathom.fill_nearest(x, out=x, max_distance=1) is x and x.tolist() == [[1, 1, None, 5, 5]]
    with pytest.raises(ValueError, match=r"missing has the shape \(1,\); it must have \(1, 5\), as x"):
        fathom.fill_nearest(x, missing=[1])


def test_in_place():
    x = LABELS.copy()
    assert fathom.expand_labels(x, distance=1, out=x) is x
    np.testing.assert_array_equal(x, [[5, 5, 0, 0, 7, 7], [5, 0, 0, 0, 0, 7]])
    random = np.random.default_rng(1)
    for layout in np.ascontiguousarray, np.asfortranarray, lambda v: v.astype(">f4"), lambda v: np.repeat(v, 2, 1)[:, ::2]:
        x = random.random((31, 23))
        x[random.random(x.shape) < 0.9] = np.nan
        x = layout(x)
        expected = fathom.fill_nearest(x)
        assert fathom.fill_nearest(x, out=x) is x
        np.testing.assert_array_equal(x, expected)
    for step in -23, -1, 1, 23:  # overlapping otherwise
        memory = np.where(random.random(1000) < 0.05, random.integers(1, 9, 1000), 0)
        x, out = memory[100:836].reshape(32, 23), memory[100 + step : 836 + step].reshape(32, 23)
        expected = fathom.expand_labels(x.copy())
        np.testing.assert_array_equal(fathom.expand_labels(x, out=out), expected)
        np.testing.assert_array_equal(out, expected)
    with pytest.raises(ValueError, match="out shares memory with the input; give an array of its own"):
        fathom.distance_transform(EXPECTED, out=EXPECTED)


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = MASK.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(fathom.distance_transform(x), EXPECTED)
    np.testing.assert_array_equal(fathom.distance_transform(np.float32([0, 1e-38, 2]).astype(x.dtype)), [0, 1, 2])
    grown = fathom.expand_labels(LABELS.astype(x.dtype), 1)
    assert grown.dtype == x.dtype
    np.testing.assert_array_equal(grown.astype(int), fathom.expand_labels(LABELS, 1))
    filled = fathom.fill_nearest(np.array([1, np.nan, np.nan, 4], x.dtype))
    assert filled.dtype == x.dtype and filled.tolist() == [1, 1, 4, 4]
    points = np.array([[0, 0], [3, 4]], x.dtype)
    assert fathom.SiteSet(points).nearest(points)[0].tolist() == [0, 0]


def test_pandas():
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(fathom.distance_transform(pandas.DataFrame(MASK)), EXPECTED)
    table = pandas.DataFrame({"x": [0.0, 3.0], "y": [0.0, 4.0], "name": ["a", "b"]})
    assert len(fathom.SiteSet(table[["x", "y"]])) == 2
    with pytest.raises(TypeError, match="points holds objects; it must hold elements of a fixed size"):
        fathom.SiteSet(table)


class FakeDataArray:
    """As much of xarray's as the package uses."""

    def __init__(self, values, coords=None, dims=None, name=None, attrs=None):
        self.values, self.coords, self.dims, self.name, self.attrs = values, dict(coords or {}), tuple(dims), name, attrs or {}
        self.chunks = None

    def __getitem__(self, places):
        places = (slice(None),) * (self.values.ndim - len(places) + 1) + places[1:]
        coords = {dim: self.coords[dim][place] for dim, place in zip(self.dims, places) if dim in self.coords}
        return FakeDataArray(self.values[places], coords, self.dims, self.name, self.attrs)

    def __array__(self, dtype=None, copy=None):
        return self.values


@pytest.fixture(params=["xarray", "fake"])
def data_array(request, monkeypatch):
    if request.param == "xarray":
        return pytest.importorskip("xarray").DataArray
    fake = types.ModuleType("xarray")
    fake.DataArray, fake.Dataset = FakeDataArray, type("Dataset", (), {})
    monkeypatch.setitem(sys.modules, "xarray", fake)
    return FakeDataArray


def test_labelled_arrays(data_array):
    places = {"y": np.arange(6) * 0.5, "x": np.arange(7) * 2.0 + 100}
    x = data_array(MASK, places, ("y", "x"), "mask", {"units": "K"})

    def check(result, values, attrs, dims=("y", "x"), part=(slice(None), slice(None))):
        assert type(result) is data_array and result.name == "mask" and tuple(result.dims) == dims
        assert dict(result.attrs) == attrs
        np.testing.assert_array_equal(result.values, values)
        for dim, place in zip(("y", "x"), part):
            np.testing.assert_array_equal(result.coords[dim], places[dim][place])

    check(fathom.distance_transform(x), EXPECTED, {})
    check(fathom.signed_distance(x), fathom.signed_distance(MASK), {})
    check(fathom.nearest_site(x), fathom.nearest_site(MASK), {})
    check(fathom.expand_labels(x), fathom.expand_labels(MASK), {"units": "K"})
    check(fathom.fill_nearest(x, MASK == 0), fathom.fill_nearest(MASK, MASK == 0), {"units": "K"})
    part = (slice(1, 4), slice(2, 7))
    check(fathom.distance_transform(x, region=part), EXPECTED[part], {}, part=part)
    distances, indices = fathom.distance_transform(x, return_indices=True, region=part)
    check(distances, EXPECTED[part], {}, part=part)
    expected = fathom.distance_transform(MASK, return_indices=True)[1]
    check(indices, expected[(slice(None), *part)], {}, ("axis", "y", "x"), part)
    stack = data_array(np.stack([MASK, 1 - MASK]), {**places, "t": [3, 4]}, ("t", "y", "x"), "mask")
    _, indices = fathom.distance_transform(stack, ndim=2, return_indices=True)
    assert tuple(indices.dims) == ("t", "axis", "y", "x")
    np.testing.assert_array_equal(indices.values[0], expected)
    out = data_array(np.zeros(MASK.shape, "f4"), places, ("y", "x"), "out")
    assert fathom.distance_transform(MASK, out=out) is out
    np.testing.assert_array_equal(out.values, EXPECTED)
    points = data_array(np.float64([[0, 0], [3, 4]]), {}, ("site", "axis"))
    distances, sites = fathom.SiteSet(points).nearest(points)
    assert type(distances) is np.ndarray and sites.tolist() == [0, 1]


def test_dask():
    dask = pytest.importorskip("dask.array")
    refused(dask.from_array(MASK, chunks=3), "{x} is a Dask array, and distances need the whole of it; give {x}.compute()")
    xarray = pytest.importorskip("xarray")
    refused(xarray.DataArray(MASK).chunk(3),
            "{x} has its elements in Dask's chunks, and distances need the whole; give {x}.compute()")
    refused(xarray.Dataset({"mask": xarray.DataArray(MASK)}),
            "{x} is an xarray Dataset, which has many arrays; give one of them, as {x}['name']")
