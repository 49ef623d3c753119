"""fathom.compat.skimage beside scikit-image itself."""

import inspect
import math

import numpy as np
import pytest
from fathom.compat import skimage as ours
from masks import labels, masks

morphology = pytest.importorskip("skimage.morphology")
segmentation = pytest.importorskip("skimage.segmentation")
MORPHOLOGY = ("isotropic_erosion", "isotropic_dilation", "isotropic_opening", "isotropic_closing")
RADII = (0, 0.5, 1, math.sqrt(2), math.sqrt(3), 2, math.sqrt(5), math.sqrt(13), 3.7, 100, math.inf, -1)


def test_signatures():
    pairs = [(getattr(ours, name), getattr(morphology, name)) for name in MORPHOLOGY]
    for mine, peer in [*pairs, (ours.expand_labels, segmentation.expand_labels)]:
        assert [(p.name, p.default) for p in inspect.signature(mine).parameters.values()] == [
            (p.name, p.default) for p in inspect.signature(peer).parameters.values()
        ]


@pytest.mark.parametrize("name", MORPHOLOGY)
def test_morphology_pixel_by_pixel(name):
    for mask in masks(0, 40, 3):
        if not mask.any():
            continue
        for radius in RADII:
            expected = getattr(morphology, name)(mask, radius)
            if name in ("isotropic_opening", "isotropic_closing"):
                first = morphology.isotropic_erosion if name.endswith("opening") else morphology.isotropic_dilation
                between = first(mask, radius)
                if between.all() or not between.any():
                    continue  # the known difference: nothing to measure to
            np.testing.assert_array_equal(getattr(ours, name)(mask, radius), expected)


@pytest.mark.parametrize("name", ["isotropic_erosion", "isotropic_dilation"])
def test_morphology_with_spacing(name):
    random = np.random.default_rng(1)
    for mask in masks(2, 40, 3):
        if not mask.any():
            continue
        spacing = random.uniform(0.3, 3, mask.ndim)
        for radius in (0.7, 1.9, 4.3):
            np.testing.assert_array_equal(getattr(ours, name)(mask, radius, spacing=spacing),
                                          getattr(morphology, name)(mask, radius, spacing=spacing))
        np.testing.assert_array_equal(getattr(ours, name)(mask, 2, spacing=0.5),
                                      getattr(morphology, name)(mask, 2, spacing=0.5))


@pytest.mark.parametrize("name", MORPHOLOGY)
@pytest.mark.parametrize("dtype", [bool, np.uint8])
def test_out(name, dtype):
    mask = np.array([[0, 1, 1, 1, 0, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 1, 1, 0, 0, 0]], bool)
    out = np.full(mask.shape, 1, dtype)
    assert getattr(ours, name)(mask, 1, out) is out
    np.testing.assert_array_equal(out, getattr(morphology, name)(mask, 1))


def test_nothing_to_measure_to():
    """The known difference: scikit-image dilates from, or erodes to, an element outside the array."""
    empty = np.zeros((4, 4), bool)
    assert not ours.isotropic_dilation(empty, 2).any()
    assert ours.isotropic_erosion(~empty, 2).all()
    assert morphology.isotropic_dilation(empty, 2).any()


def test_expand_labels_pixel_by_pixel():
    random = np.random.default_rng(3)
    for image in labels(4, 60):
        image = np.where(random.random(image.shape) < 0.1, image, 0).astype(np.int32)
        if not image.any():
            continue
        for distance in (*RADII, 1.5):
            got = ours.expand_labels(image, distance)
            assert got.dtype == image.dtype
            np.testing.assert_array_equal(got, segmentation.expand_labels(image, distance))
        spacing = random.integers(1, 4, image.ndim) / 2
        np.testing.assert_array_equal(ours.expand_labels(image, 2, spacing),
                                      segmentation.expand_labels(image, 2, spacing))


def test_expand_labels_leaves_its_input_alone():
    image = np.array([[0, 1, 0, 0, 2]])
    before = image.copy()
    ours.expand_labels(image, 3)
    np.testing.assert_array_equal(image, before)
    assert not ours.expand_labels(np.zeros((3, 3), int), 3).any()
