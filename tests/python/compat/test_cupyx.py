"""fathom.compat.cupyx on arrays of the host, beside SciPy, which CuPy follows."""

import numpy as np
import pytest
from fathom.compat.cupyx import distance_transform_edt
from masks import masks

theirs = pytest.importorskip("scipy.ndimage")
MASK = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 0]])


@pytest.mark.parametrize("sampling", [None, 1.5, (2, 3)])
def test_distances(sampling):
    for mask in masks(0, 40, 2, 2):
        expected = theirs.distance_transform_edt(mask, sampling)
        got = distance_transform_edt(mask, sampling)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, expected, rtol=1e-15)
        narrow = distance_transform_edt(mask, sampling, float64_distances=False)
        assert narrow.dtype == np.float32
        np.testing.assert_allclose(narrow, expected, rtol=1e-7)


def test_indices():
    for mask in masks(1, 40, 3, 2):
        distances, places = distance_transform_edt(mask, return_indices=True)
        assert places.dtype == np.int32 and not mask[tuple(places)].any()
        measured = np.sqrt(((places - np.indices(mask.shape)) ** 2).sum(0))
        np.testing.assert_array_equal(measured, distances)
        alone = distance_transform_edt(mask, return_distances=False, return_indices=True)
        np.testing.assert_array_equal(alone, places)


@pytest.mark.parametrize("dtype", ["i2", "u2", "i4", "u4", "i8", "u8"])
def test_outputs_in_place(dtype):
    distances, places = np.empty(MASK.shape, np.float32), np.empty((2, *MASK.shape), dtype)
    got = distance_transform_edt(
        MASK, return_indices=True, distances=distances, indices=places, float64_distances=False
    )
    assert got[0] is distances and got[1] is places
    expected = distance_transform_edt(MASK, return_indices=True)
    np.testing.assert_allclose(distances, expected[0], rtol=1e-7)
    np.testing.assert_array_equal(places, expected[1])


@pytest.mark.parametrize("arguments", [
    {"return_distances": False},
    {"distances": np.empty(MASK.shape), "return_distances": False, "return_indices": True},
    {"indices": np.empty((2, *MASK.shape), np.int32)},
    {"distances": np.empty((2, 2))},
    {"distances": np.empty(MASK.shape, np.float32)},
    {"indices": np.empty((2, *MASK.shape), np.int8), "return_indices": True},
    {"indices": np.empty((2, *MASK.shape)), "return_indices": True},
    {"indices": np.empty((2, 2, 2), np.int32), "return_indices": True},
], ids=str)
def test_errors(arguments):
    with pytest.raises(RuntimeError):
        distance_transform_edt(MASK, **arguments)


def test_block_params():
    image = np.ones((512, 512), bool)
    image[3, 4] = False
    expected = distance_transform_edt(image)
    np.testing.assert_array_equal(distance_transform_edt(image, block_params=(4, 4, 2)), expected)
    for wrong in ((0, 1, 1), (1, 3, 1), (128, 1, 1), (1, 128, 1), (1, 1, 128), (1, 1)):
        with pytest.raises(ValueError, match="block_params"):
            distance_transform_edt(image, block_params=wrong)


@pytest.mark.parametrize("ndim", [1, 4])
def test_other_numbers_of_axes(ndim):
    with pytest.raises(NotImplementedError, match="axes"):
        distance_transform_edt(np.zeros((4,) * ndim))
