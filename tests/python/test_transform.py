"""Results of the native calls against brute force."""

import operator
from decimal import Decimal

import fathom
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

SHAPES = arrays.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=7)
MASKS = arrays.arrays(np.bool_, SHAPES)
IMAGES = arrays.arrays(np.uint8, arrays.array_shapes(min_dims=3, max_dims=5, min_side=1, max_side=5), elements=st.integers(0, 1))


@given(MASKS, st.sampled_from(["open", "periodic"]))
def test_distances_squares_and_indices(mask, border):
    squares, nearest = oracle.squared_distances(~mask, border=border)
    found, indices = fathom.distance_transform(mask, border=border, return_indices=True, dtype=np.float64)
    np.testing.assert_array_equal(found, np.sqrt(squares))
    exact = fathom.distance_transform(mask, border=border, squared=True)
    assert exact.dtype == np.uint32
    np.testing.assert_array_equal(exact, np.where(np.isinf(squares), 2.0**32 - 1, squares))
    np.testing.assert_array_equal(fathom.nearest_site(mask, border=border), nearest)
    if mask.all():
        assert (indices == -1).all()
    else:
        np.testing.assert_array_equal(np.ravel_multi_index(tuple(indices), mask.shape), nearest)


@given(MASKS, st.sampled_from(["open", "periodic"]), st.sampled_from([None, np.float64]))
def test_offsets(mask, border, dtype):
    spacing = [0.5, 0.3, 2, 1][: mask.ndim]
    options = {"spacing": spacing, "border": border, "dtype": dtype}
    distances, indices, offsets = fathom.distance_transform(mask, return_indices=True, return_offsets=True, **options)
    assert offsets.dtype == (dtype or np.float32) and offsets.shape == (mask.ndim, *mask.shape)
    steps = indices - np.indices(mask.shape)
    if border == "periodic":
        extents = np.reshape(mask.shape, (-1, *[1] * mask.ndim))
        steps = np.where(2 * steps > extents, steps - extents, np.where(2 * steps < -extents, steps + extents, steps))
    expected = (steps * np.reshape(np.float64(spacing), (-1, *[1] * mask.ndim))).astype(offsets.dtype)
    np.testing.assert_array_equal(offsets, np.where(indices < 0, np.nan, expected))
    if not mask.all():
        np.testing.assert_allclose(np.sqrt((offsets.astype(np.float64) ** 2).sum(0)), distances, rtol=1e-6)
    alone = fathom.distance_transform(mask, return_offsets=True, **options)
    np.testing.assert_array_equal(alone[0], distances)
    assert alone[1].tobytes() == offsets.tobytes()


def test_offsets_of_squares_batches_and_regions():
    x = np.random.default_rng(3).integers(0, 30, (3, 17, 12))
    _, offsets = fathom.distance_transform(x, ndim=2, squared=True, return_offsets=True)
    assert offsets.shape == (3, 2, 17, 12) and offsets.dtype == np.float32
    part = (slice(2, 9), slice(3, 12))
    for k, image in enumerate(x):
        squares, its = fathom.distance_transform(image, squared=True, return_offsets=True)
        np.testing.assert_array_equal(offsets[k], its)
        np.testing.assert_array_equal((its**2).sum(0), squares)
        _, its = fathom.distance_transform(image, region=part, return_offsets=True)
        np.testing.assert_array_equal(its, offsets[k][(slice(None), *part)])


def test_offsets_into_an_array():
    x = np.random.default_rng(4).integers(0, 9, (6, 8))
    into = np.empty((2, 6, 8))
    _, offsets = fathom.distance_transform(x, return_offsets=True, offsets_out=into)
    assert offsets is into
    np.testing.assert_array_equal(into, fathom.distance_transform(x, return_offsets=True)[1])
    with pytest.raises(ValueError, match="offsets_out is given, but return_offsets is False"):
        fathom.distance_transform(x, offsets_out=into)
    with pytest.raises(TypeError, match="offsets_out has the dtype int32; it must have float32 or float64"):
        fathom.distance_transform(x, return_offsets=True, offsets_out=into.astype(np.int32))
    with pytest.raises(ValueError, match="offsets_out has the shape"):
        fathom.distance_transform(x, return_offsets=True, offsets_out=into[0])


@given(MASKS, st.data())
def test_spacing_and_float32(mask, data):
    spacing = data.draw(st.tuples(*[st.floats(0.1, 10)] * mask.ndim))
    expected = oracle.distances(~mask, spacing)
    np.testing.assert_allclose(fathom.distance_transform(mask, spacing=spacing), expected, rtol=1e-6)
    np.testing.assert_allclose(fathom.distance_transform(mask, spacing=np.array(spacing), squared=True), expected**2, rtol=1e-6)


@given(IMAGES, st.integers(1, 4))
def test_leading_axes_are_a_batch(x, ndim):
    ndim = min(ndim, x.ndim - 1)
    batch = x.shape[: x.ndim - ndim]
    got, indices = fathom.distance_transform(x, ndim=ndim, return_indices=True)
    assert got.shape == x.shape and indices.shape == (*batch, ndim, *x.shape[-ndim:])
    for at in np.ndindex(*batch):
        alone, its_indices = fathom.distance_transform(x[at], return_indices=True)
        np.testing.assert_array_equal(got[at], alone)
        np.testing.assert_array_equal(indices[at], its_indices)


def test_large_batches_are_shared_out_among_threads():
    x = (np.random.default_rng(0).random((9, 2, 150, 130)) > 0.02).astype(np.uint8)
    expected = np.stack([fathom.distance_transform(image, threads=1) for image in x.reshape(-1, 150, 130)])
    for threads in (1, 2, 5, None):
        got = fathom.distance_transform(x, ndim=2, threads=threads)
        np.testing.assert_array_equal(got.reshape(expected.shape), expected)


@given(MASKS, st.data())
def test_region_is_a_part_of_the_whole(mask, data):
    bounds = [sorted(data.draw(st.tuples(*[st.integers(0, n)] * 2))) for n in mask.shape]
    whole = tuple(slice(*pair) for pair in bounds)
    expected = fathom.distance_transform(mask)[whole]
    np.testing.assert_array_equal(fathom.distance_transform(mask, region=whole), expected)
    np.testing.assert_array_equal(fathom.distance_transform(mask, region=bounds), expected)


@pytest.mark.parametrize(
    "sites, expected",
    [
        ("zero", lambda x: x == 0),
        ("nonzero", lambda x: x != 0),
        (">=2", lambda x: x >= 2),
        ("<= 1.5", lambda x: x <= 1.5),
        ("==3", lambda x: x == 3),
        ((">=", 2), lambda x: x >= 2),
        (("==", np.float32(3)), lambda x: x == 3),
    ],
)
def test_site_rules(sites, expected):
    x = np.random.default_rng(1).integers(0, 5, (13, 9))
    np.testing.assert_array_equal(fathom.distance_transform(x, sites=sites, dtype="f8"), oracle.distances(expected(x)))


OPERATORS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt, "==": operator.eq, "!=": operator.ne}
LITERALS = [0, 1, -1, 127, -128, 255, 256, 32768, 65535, 2**24 + 1, 2**31, 2**32 - 1, 2**53 + 1, -(2**53) - 1, 2**60 + 2**36 + 1,
            2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30, -(10**30), 864691135012345678, 0.1, -0.0, 2.5,
            -0.5, 1e-8, 1e-40, 65519.0, 65520.0, 16777217.0, 2.0**53, 2.0**63, 2.0**64, 1e30, -1e30, 1e300, np.inf, -np.inf]


@pytest.mark.parametrize("text", ["864691135012345678.0", "8.64691135012345678e17", "864691135012345678"])
def test_whole_literals(text):
    x = 864691135012345678 + np.arange(-2, 3)
    np.testing.assert_array_equal(fathom.distance_transform(x, sites=f"=={text}"), [2, 1, 0, 1, 2])


def around(literal, dtype):
    """Elements at, near and far from a number."""
    if dtype.kind in "iu":
        end = np.iinfo(dtype)
        middle = int(literal) if abs(literal) < np.inf else 0
        near = [min(max(middle + step, end.min), end.max) for step in (-1024, -2, -1, 0, 1, 2, 1024)]
        return np.array([*near, 0, end.min, end.max], dtype)
    with np.errstate(over="ignore"):
        here = np.array([literal], np.float64).astype(dtype)
        near = [np.nextafter(here, dtype.type(-np.inf)), here, np.nextafter(here, dtype.type(np.inf))]
    return np.concatenate([*near, np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 0.1, 1, -3], dtype)])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_comparisons(dtype):
    """Integers as Python compares them, which is exact, with the very number that a text says; floats as NumPy does,
    which rounds the number first."""
    random = np.random.default_rng(11)
    more = [int(random.integers(2**62)) >> int(random.integers(62)) for _ in range(20)]
    more += (random.standard_normal(20) * 10.0 ** random.integers(-9, 19, 20)).tolist()
    for literal in (*LITERALS, *more):
        if literal == -(2**63) - 1 and dtype[0] == "f":  # goes through as the double below, for the sake of int64
            continue
        x = around(literal, np.dtype(dtype))
        for sign, compare in OPERATORS.items():
            number = np.float64(literal) if isinstance(literal, float) else literal
            for sites in (f"{sign}{literal!r}", f" {sign} {literal} ", (sign, number)):
                exact = literal if isinstance(sites, tuple) else Decimal(repr(literal))
                if x.dtype.kind == "f":
                    with np.errstate(over="ignore"):
                        expected = compare(x, literal)
                else:
                    expected = np.array([compare(int(element), exact) for element in x])
                found = fathom.distance_transform(x, sites=sites) == 0
                np.testing.assert_array_equal(found, expected, err_msg=f"{sites} among {x}")


@pytest.mark.parametrize("dtype", ["?", "u1", "i8", "f2", "f4", "f8"])
def test_not_a_number(dtype):
    x = np.array([0, 1, np.nan, -1, np.inf] if dtype[0] == "f" else [0, 1, 1], dtype)
    for nan in ("nan", np.nan, np.float32(np.nan)):
        equal, other = (("==", nan), ("!=", nan)) if nan != "nan" else ("== nan", "!=nan")
        np.testing.assert_array_equal(fathom.distance_transform(x, sites=equal) == 0, np.isnan(x))
        np.testing.assert_array_equal(fathom.distance_transform(x, sites=other) == 0, ~np.isnan(x))


@pytest.mark.parametrize("number", [np.uint64(2**63 + 1), np.array(2**63 + 1, "u8"), 2**63 + 1])
def test_numbers_of_numpy_are_whole(number):
    x = np.array([2**63, 2**63 + 1, 2**63 + 2], "u8")
    np.testing.assert_array_equal(fathom.distance_transform(x, sites=("==", number)), [1, 0, 1])


def test_inside_is_where_a_comparison_is_true():
    x = np.array([[1, 2, 3, 3, 2, 1]])
    for sites in (">2", "!=1"):
        inside = x > 2 if sites == ">2" else x != 1
        expected = fathom.signed_distance(inside)
        np.testing.assert_array_equal(fathom.signed_distance(x, sites=sites), expected)
    np.testing.assert_array_equal(fathom.signed_distance(x, sites="<3"), -fathom.signed_distance(x, sites=">2"))


@pytest.mark.parametrize("metric", ["euclidean", "taxicab", "chessboard"])
def test_limit_in_decimals(metric):
    """Three steps of 0.1 are 0.30000000000000004."""
    x = np.ones((3, 100), np.uint8)
    x[:, 0] = 0
    for steps in range(1, 90):
        kept = np.arange(100) <= steps
        for dtype in ("f4", "f8"):
            out = fathom.distance_transform(x, spacing=0.1, max_distance=steps / 10, metric=metric, dtype=dtype)
            np.testing.assert_array_equal(np.isfinite(out), [kept] * 3)
        labels = fathom.expand_labels(1 - x, steps / 10, spacing=0.1, metric=metric)
        np.testing.assert_array_equal(labels, [kept] * 3)
    assert np.isfinite(fathom.distance_transform(x, max_distance=np.nextafter(3, 0), metric=metric)).sum() == 9


def test_labels_as_sites():
    x = np.array([[0, 1, 1, 2, 2, 2]])
    np.testing.assert_array_equal(fathom.distance_transform(x, sites="labels"), [[0, 1, 1, 1, 2, 3]])


@pytest.mark.parametrize("metric, order", [("taxicab", 1), ("chessboard", np.inf)])
def test_other_metrics(metric, order):
    x = (np.random.default_rng(2).random((11, 14)) > 0.05).astype(np.uint8)
    here, sites = np.argwhere(x >= 0), np.argwhere(x == 0)
    expected = np.linalg.norm(here[:, None] - sites[None], ord=order, axis=-1).min(1).reshape(x.shape)
    np.testing.assert_array_equal(fathom.distance_transform(x, metric=metric), expected)


def test_border_of_sites():
    np.testing.assert_array_equal(fathom.distance_transform(np.ones((3, 5)), border="sites")[1], [1, 2, 2, 2, 1])
    np.testing.assert_array_equal(fathom.distance_transform(np.ones((3, 5)), border=("open", "sites"))[1], [1, 2, 3, 2, 1])


def test_max_distance():
    x = np.array([0, 1, 1, 1, 1])
    distances, indices = fathom.distance_transform(x, max_distance=2, return_indices=True)
    np.testing.assert_array_equal(distances, [0, 1, 2, np.inf, np.inf])
    np.testing.assert_array_equal(indices, [[0, 0, 0, -1, -1]])


@given(MASKS)
def test_signed_fields(mask):
    outside, inside = oracle.distances(mask), oracle.distances(~mask)
    centers = np.where(mask, -inside, outside)
    np.testing.assert_array_equal(fathom.signed_distance(mask, surface="centers", dtype="f8"), centers)
    faces = centers - 0.5 * np.sign(centers)
    np.testing.assert_array_equal(fathom.signed_distance(mask, dtype="f8"), faces)
    np.testing.assert_array_equal(fathom.distance_transform(mask, signed=True, dtype="f8"), faces)


def test_no_site_and_all_sites():
    assert np.isinf(fathom.distance_transform(np.ones((4, 5)))).all()
    assert (fathom.nearest_site(np.ones((4, 5))) == -1).all()
    assert (fathom.distance_transform(np.zeros((4, 5))) == 0).all()


def test_squares_take_the_type_that_holds_them():
    x = np.ones((2, 70000), np.uint8)
    x[0, 0] = 0
    squares = fathom.distance_transform(x, squared=True)
    assert squares.dtype == np.uint64 and squares[1, -1] == 69999**2 + 1
    assert fathom.distance_transform(x, squared=True, spacing=2).dtype == np.float64
    assert fathom.distance_transform(x, squared=True, spacing=1).dtype == np.uint64


def test_labels_grow_to_the_nearest():
    labels = np.zeros((31, 27), np.int16)
    labels[3, 4], labels[20, 20], labels[28, 1] = 7, -3, 300
    squares, nearest = oracle.squared_distances(labels != 0)
    np.testing.assert_array_equal(fathom.expand_labels(labels), labels.ravel()[nearest])
    near = np.where(squares <= 6.5**2, labels.ravel()[nearest], 0)
    grown = fathom.expand_labels(labels, 6.5)
    np.testing.assert_array_equal(grown, near)
    assert grown.dtype == labels.dtype
    batch = np.stack([labels, labels[::-1]])
    np.testing.assert_array_equal(fathom.expand_labels(batch, 6.5, ndim=2)[1], fathom.expand_labels(labels[::-1], 6.5))
    np.testing.assert_array_equal(fathom.expand_labels(np.zeros((3, 3), int)), np.zeros((3, 3)))


@pytest.mark.parametrize("dtype", ["u1", "f2", ">f4", "f8", "c16", "S3", "M8[s]", "f4,u1"])
def test_gaps_are_filled_whatever_the_type(dtype):
    random = np.random.default_rng(3)
    values = random.integers(0, 100, (15, 12)).astype("i8").astype(dtype if dtype != "f4,u1" else "f4").astype(dtype)
    missing = random.random(values.shape) < 0.7
    _, nearest = oracle.squared_distances(~missing)
    filled = fathom.fill_nearest(values, missing)
    np.testing.assert_array_equal(filled, values.ravel()[nearest])
    assert filled.dtype == values.dtype.newbyteorder("=")


def test_missing_values_are_found():
    np.testing.assert_array_equal(fathom.fill_nearest(np.array([1, np.nan, 3 + 1j])), [1, 1, 3 + 1j])
    days = np.array(["2020-01-01", "NaT"], "M8[D]")
    np.testing.assert_array_equal(fathom.fill_nearest(days), days[[0, 0]])
    assert np.isnan(fathom.fill_nearest(np.array([np.nan, np.nan]))).all()
    np.testing.assert_array_equal(fathom.fill_nearest(np.array([1, np.nan, np.nan]), max_distance=1), [1, 1, np.nan])
    with pytest.raises(TypeError, match="missing must be given"):
        fathom.fill_nearest(np.array([1, 2]))
    with pytest.raises(ValueError, match="missing has the shape"):
        fathom.fill_nearest(np.array([1, 2]), missing=[1])
    with pytest.raises(TypeError, match="x holds objects"):
        fathom.fill_nearest(np.array([None, 2]), missing=[1, 0])
