"""fathom.compat.scipy beside SciPy itself."""

import inspect

import numpy as np
import pytest
from fathom.compat import scipy as ours
from masks import masks

theirs = pytest.importorskip("scipy.ndimage")
NAMES = ("distance_transform_edt", "distance_transform_cdt", "distance_transform_bf")
MASK = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 0]])


def test_signatures():
    for name in NAMES:
        def plain(module):
            return [(p.name, p.default, p.kind) for p in inspect.signature(getattr(module, name)).parameters.values()]
        assert plain(ours) == plain(theirs)


def assert_equal(got, expected):
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_edt_to_the_last_bit():
    for mask in masks(0, 150):
        for got, expected in zip(ours.distance_transform_edt(mask, return_indices=True),
                                 theirs.distance_transform_edt(mask, return_indices=True)):
            assert_equal(got, expected)
        assert_equal(ours.distance_transform_edt(mask), theirs.distance_transform_edt(mask))


@pytest.mark.parametrize("whole", [True, False])
def test_edt_with_sampling(whole):
    random = np.random.default_rng(1)
    for mask in masks(2, 60):
        sampling = random.integers(1, 5, mask.ndim) if whole else random.uniform(0.1, 5, mask.ndim)
        got = ours.distance_transform_edt(mask, sampling, return_indices=True)
        expected = theirs.distance_transform_edt(mask, sampling, return_indices=True)
        np.testing.assert_allclose(got[0], expected[0], rtol=1e-15)
        assert_equal(got[1], expected[1])
        np.testing.assert_allclose(ours.distance_transform_edt(mask, sampling), expected[0], rtol=1e-15)


@pytest.mark.parametrize("metric", ["euclidean", "taxicab", "cityblock", "Manhattan", "chessboard"])
def test_bf_to_the_last_bit(metric):
    for mask in masks(3, 60):
        for got, expected in zip(ours.distance_transform_bf(mask, metric, return_indices=True),
                                 theirs.distance_transform_bf(mask, metric, return_indices=True)):
            assert_equal(got, expected)


def test_bf_looks_at_sampling_for_one_metric_alone():
    assert_equal(ours.distance_transform_bf(MASK, "taxicab", 3), theirs.distance_transform_bf(MASK, "taxicab", 3))
    np.testing.assert_allclose(ours.distance_transform_bf(MASK, sampling=(2, 0.5)),
                               theirs.distance_transform_bf(MASK, sampling=(2, 0.5)), rtol=1e-15)


@pytest.mark.parametrize("metric", ["taxicab", "cityblock", "manhattan", "chessboard"])
def test_cdt_distances_to_the_last_bit(metric):
    for mask in masks(4, 60):
        assert_equal(ours.distance_transform_cdt(mask, metric), theirs.distance_transform_cdt(mask, metric))


def test_cdt_indices_lead_to_a_nearest_element():
    """Which of the equally near ones is the known difference."""
    for mask in masks(5, 40):
        for metric in ("taxicab", "chessboard"):
            distances, places = ours.distance_transform_cdt(mask, metric, return_indices=True)
            assert not mask[tuple(places)].any()
            steps = np.abs(places - np.indices(mask.shape))
            measured = steps.sum(0) if metric == "taxicab" else steps.max(0)
            np.testing.assert_array_equal(measured, distances)
            assert places.dtype == np.int32


@pytest.mark.parametrize("rank", [1, 2])
def test_cdt_structures(rank):
    structure = theirs.generate_binary_structure(2, rank)
    assert_equal(ours.distance_transform_cdt(MASK, structure), theirs.distance_transform_cdt(MASK, structure))
    with pytest.raises(NotImplementedError, match="neither"):
        ours.distance_transform_cdt(MASK, np.eye(3))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("distances", [False, True])
@pytest.mark.parametrize("indices", [False, True])
def test_outputs_in_place(name, distances, indices):
    dtype = np.int32 if name.endswith("cdt") else np.float64
    made = []
    for module in (ours, theirs):
        into = {"return_indices": True}
        if distances:
            into["distances"] = np.full(MASK.shape, 77, dtype)
        if indices:
            into["indices"] = np.full((2, *MASK.shape), 77, np.int32)
            if module is theirs:
                into["indices"][...] = np.indices(MASK.shape)  # SciPy's brute force gathers from what it is given
        made.append((getattr(module, name)(MASK, **into), into))
    (got, into), (expected, theirs_into) = made
    assert type(got) is type(expected)
    if distances:
        assert_equal(into["distances"], theirs_into["distances"])
    if indices and not name.endswith("cdt"):
        assert_equal(into["indices"], theirs_into["indices"])
    assert indices == (77 not in into.get("indices", [77]))


def test_output_may_be_the_input():
    mask = MASK.astype(np.float64)
    expected = theirs.distance_transform_edt(mask)
    assert ours.distance_transform_edt(mask, distances=mask) is None
    assert_equal(mask, expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arguments", [
    {"return_distances": False},
    {"distances": np.zeros(MASK.shape), "return_distances": False, "return_indices": True},
    {"indices": np.zeros((2, *MASK.shape), np.int32)},
    {"distances": np.zeros((3, 3), np.int32)},
    {"distances": np.zeros(MASK.shape, np.float32)},
    {"indices": np.zeros((2, *MASK.shape)), "return_indices": True},
    {"indices": np.zeros((2, 3, 3), np.int32), "return_indices": True},
    {"sampling": [1, 2, 3]},
    {"sampling": "a"},
    {"metric": "no such metric"},
], ids=str)
def test_errors(name, arguments):
    if not set(arguments) <= set(inspect.signature(getattr(ours, name)).parameters):
        pytest.skip("no such argument")
    with pytest.raises(Exception) as expected:
        getattr(theirs, name)(MASK, **arguments)
    with pytest.raises(expected.type):
        getattr(ours, name)(MASK, **arguments)


@pytest.mark.parametrize("mask", [
    np.array(["a", "", "b"]), np.array([1j, 0, 2]), np.array([np.nan, 0, 1]), np.array([[], []]), np.array(0),
    np.array([None, 1, 0], object), np.array([1, 0, 3], np.longdouble), np.array([1, 0, 3], np.float16),
    MASK[::-1, 1::2], np.asfortranarray(MASK), MASK.astype(">i4"),
], ids=lambda mask: f"{mask.dtype}{mask.shape}")
def test_any_array(mask):
    assert_equal(ours.distance_transform_edt(mask), theirs.distance_transform_edt(mask))
    assert_equal(ours.distance_transform_edt(mask.tolist()), theirs.distance_transform_edt(mask.tolist()))


def test_without_background():
    """The known difference: SciPy measures to an element outside, or to 1.34e154."""
    mask = np.ones((3, 4), bool)
    for transform in (ours.distance_transform_edt, ours.distance_transform_bf):
        distances, places = transform(mask, return_indices=True)
        assert np.isposinf(distances).all() and (places == -1).all()
    assert_equal(ours.distance_transform_cdt(mask), theirs.distance_transform_cdt(mask))
    assert_equal(ours.distance_transform_bf(mask, "taxicab"), theirs.distance_transform_bf(mask, "taxicab"))
