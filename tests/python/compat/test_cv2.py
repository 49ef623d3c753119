"""fathom.compat.cv2 beside OpenCV itself."""

import sys

import numpy as np
import pytest
from fathom.compat import _components
from fathom.compat import cv2 as ours
from masks import masks

theirs = pytest.importorskip("cv2")
IMAGE = np.array([[9, 9, 9, 9], [9, 0, 9, 9], [9, 9, 9, 0]], np.uint8)


def images(seed, count):
    for mask in masks(seed, count, 2, 2):
        yield mask.astype(np.uint8) * 200


def assert_equal(got, expected):
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_constants():
    for name in ours.__all__:
        if name.isupper():
            assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("metric", ["DIST_L1", "DIST_C"])
@pytest.mark.parametrize("mask", [0, 3, 5])
def test_to_the_last_bit(metric, mask):
    for image in images(0, 60):
        arguments = (image, getattr(ours, metric), mask)
        assert_equal(ours.distanceTransform(*arguments), theirs.distanceTransform(*arguments))
        assert_equal(ours.distanceTransform(*arguments, dstType=ours.CV_8U),
                     theirs.distanceTransform(*arguments, dstType=ours.CV_8U))


def test_bytes_end_at_255():
    image = np.full((3, 600), 1, np.uint8)
    image[1, 1] = 0
    assert_equal(ours.distanceTransform(image, 1, 3, dstType=0), theirs.distanceTransform(image, 1, 3, dstType=0))


@pytest.mark.parametrize("mask, error", [(0, 1e-6), (5, 0.03), (3, 0.06)])
def test_euclidean_is_exact_with_every_mask(mask, error):
    """The known difference: OpenCV's masks approximate."""
    for image in images(1, 60):
        exact = theirs.distanceTransform(image, 2, 0)
        np.testing.assert_allclose(ours.distanceTransform(image, 2, mask), exact, rtol=1e-6)
        np.testing.assert_allclose(ours.distanceTransform(image, 2, mask), theirs.distanceTransform(image, 2, mask),
                                   rtol=error)


def their_components(mask):
    """Numbered in raster order, as distanceTransformWithLabels() does."""
    return theirs.connectedComponentsWithAlgorithm(mask.astype(np.uint8), 8, theirs.CV_32S, theirs.CCL_WU)[1]


def test_components():
    for mask in masks(2, 120, 2, 2):
        assert_equal(_components.label(mask), their_components(mask))
    spiral = np.zeros((41, 41), bool)
    for ring in range(0, 20, 2):
        spiral[ring, ring:41 - ring] = spiral[40 - ring, ring:41 - ring] = True
        spiral[ring:41 - ring, ring] = spiral[ring:41 - ring, 40 - ring] = True
        spiral[ring + 1, ring] = False
        spiral[ring + 2, ring + 1] = True
    assert_equal(_components.label(spiral), their_components(spiral))
    assert _components.label(np.zeros((0, 5), bool)).shape == (0, 5)


@pytest.mark.parametrize("metric", [1, 2, 3])
@pytest.mark.parametrize("kind", [0, 1])
def test_labels(metric, kind):
    differ = pixels = 0
    for image in images(3, 30):
        distances, labels = ours.distanceTransformWithLabels(image, metric, 5, labelType=kind)
        their_distances, their_labels = theirs.distanceTransformWithLabels(image, metric, 5, labelType=kind)
        assert labels.dtype == their_labels.dtype
        np.testing.assert_allclose(distances, their_distances, rtol=0.03)
        np.testing.assert_array_equal(labels[image == 0], their_labels[image == 0])
        # Beside zero pixels: the label is one whose pixels are as near as the distance says.
        for label in np.unique(labels):
            others = np.where((labels == label) & (image == 0), 0, 1).astype(np.uint8)
            to_label = ours.distanceTransform(others, metric, 5)
            np.testing.assert_array_equal(distances[labels == label], to_label[labels == label])
        differ += (labels != their_labels).sum()
        pixels += labels.size
    # Ties, and for Euclidean distances the errors of the mask.
    assert differ / pixels < 0.1


def test_given_arrays_are_filled_where_they_fit():
    out, labels = np.empty(IMAGE.shape, np.float32), np.empty(IMAGE.shape, np.int32)
    assert ours.distanceTransform(IMAGE, 2, 5, out) is out
    got = ours.distanceTransformWithLabels(IMAGE, 2, 5, out, labels)
    assert got[0] is out and got[1] is labels
    wrong = np.zeros((2, 2), np.float32)
    assert_equal(ours.distanceTransform(IMAGE, 2, 5, wrong), out)
    assert (wrong == 0).all()
    assert_equal(ours.distanceTransform(IMAGE[..., None], 2, 5), out)


@pytest.mark.parametrize("arguments", [
    (IMAGE.astype(bool), 2, 5), (IMAGE.astype(np.int32), 2, 5), (IMAGE, 2, 7), (IMAGE, 4, 5), (IMAGE, -1, 3),
    (np.ones((3, 3, 3), np.uint8), 2, 5),
], ids=str)
def test_errors(arguments):
    with pytest.raises(theirs.error):
        theirs.distanceTransform(*arguments)
    for call in ("distanceTransform", "distanceTransformWithLabels"):
        with pytest.raises(theirs.error) as error:
            getattr(ours, call)(*arguments)
        assert isinstance(error.value, ValueError)


def test_errors_where_opencv_is_not_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "cv2")
    with pytest.raises(ValueError, match="src has the dtype"):
        ours.distanceTransform(IMAGE.astype(float), 2, 5)


def test_without_zero_pixels():
    image = np.ones((3, 4), np.uint8)
    assert_equal(ours.distanceTransform(image, 2, 5), theirs.distanceTransform(image, 2, 5))
    assert_equal(ours.distanceTransform(image, 1, 3, dstType=0), theirs.distanceTransform(image, 1, 3, dstType=0))
    for kind in (0, 1):
        assert_equal(ours.distanceTransformWithLabels(image, 2, 5, labelType=kind)[1], np.zeros((3, 4), np.int32))
    assert ours.distanceTransform(np.zeros((0, 3), np.uint8), 2, 5).shape == (0, 3)
