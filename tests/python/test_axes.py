"""Medial axes and local thickness, as Python meets them; that they are right is tested in C++."""

import doctest
import importlib
import math

import fathom
import numpy as np
import pytest


@pytest.fixture
def mask():
    mask = np.ones((40, 50), np.uint8)
    mask[np.random.default_rng(1).random(mask.shape) > 0.97] = 0
    return mask


@pytest.mark.parametrize("module", ["medial_axis", "local_thickness"])
def test_examples(module):
    result = doctest.testmod(importlib.import_module(f"fathom._apps.{module}"))
    assert result.attempted > 5 and result.failed == 0


def by_definition(mask, spacing):
    points = np.argwhere(np.ones_like(mask)) * spacing
    zeros = np.argwhere(mask == 0) * spacing
    radii = np.sqrt(((points[:, None] - zeros) ** 2).sum(-1).min(1))
    ways = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    return 2 * np.where(ways < radii * (1 - 1e-12), radii, 0).max(1).reshape(mask.shape)


@pytest.mark.parametrize("spacing", [None, 0.5, (1.5, 0.7)])
def test_local_thickness(mask, spacing):
    expected = by_definition(mask, 1 if spacing is None else np.array(spacing))
    np.testing.assert_allclose(fathom.local_thickness(mask, spacing=spacing, dtype="float64"), expected, rtol=1e-12)


def test_kinds_of_arrays(mask):
    expected = fathom.local_thickness(mask)
    assert expected.dtype == np.float32
    for same in (mask.astype(bool), mask.astype(np.float64), np.asfortranarray(mask), mask.tolist()):
        np.testing.assert_array_equal(fathom.local_thickness(same), expected)
    out = np.empty((40, 100), np.float32)[:, ::1][:, :50]
    assert fathom.local_thickness(mask, out=out) is out
    np.testing.assert_array_equal(out, expected)
    batch = np.stack([mask, 1 - mask])
    np.testing.assert_array_equal(fathom.local_thickness(batch, ndim=2)[0], expected)


def test_torch(mask):
    torch = pytest.importorskip("torch")
    axis, distance = fathom.medial_axis(torch.from_numpy(mask), return_distance=True)
    assert isinstance(axis, torch.Tensor) and axis.dtype == torch.bool and distance.dtype == torch.float32
    np.testing.assert_array_equal(axis.numpy(), fathom.medial_axis(mask))


def test_medial_axis_outputs(mask):
    axis, distance, nearest, witness = fathom.medial_axis(
        mask, return_distance=True, return_nearest=True, return_witness=True
    )
    assert axis.dtype == bool and nearest.dtype == witness.dtype == np.int32
    np.testing.assert_array_equal(distance, fathom.distance_transform(mask))
    np.testing.assert_array_equal(nearest, fathom.nearest_site(mask))
    assert ((witness >= 0) == axis).all() and not mask.ravel()[witness[axis]].any()
    again, other = fathom.medial_axis_of_nearest(nearest, return_witness=True)
    np.testing.assert_array_equal(again, axis)
    np.testing.assert_array_equal(other, witness)
    assert not (fathom.axis_balls(axis, nearest) & (mask == 0)).any()
    thin = fathom.medial_axis(mask, ties="thin")
    assert thin.sum() < axis.sum() and not (thin & ~axis).any()
    counts = [fathom.medial_axis(mask, pruning="linear", gamma=gamma).sum() for gamma in (0.2, 1, 2)]
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[2]


def test_porosimetry(mask):
    thickness = fathom.local_thickness(mask)
    everywhere = fathom.porosimetry(mask, np.ones_like(mask))
    np.testing.assert_array_equal(everywhere, thickness)
    from_faces = fathom.porosimetry(mask)
    assert (from_faces <= thickness).all() and (from_faces < thickness).any()
    np.testing.assert_array_equal(fathom.porosimetry(mask, np.zeros_like(mask)), 0)
    edge = np.zeros((6, 1), np.uint8)
    edge[1:5] = 1
    np.testing.assert_array_equal(fathom.porosimetry(edge), fathom.local_thickness(edge))  # all of it is a face


def test_no_background():
    full = np.ones((3, 4), bool)
    assert (fathom.local_thickness(full) == math.inf).all()
    assert not fathom.medial_axis(full).any()


def test_errors(mask):
    with pytest.raises(ValueError, match="pruning is 'cubic'; it must be one of 'constant', 'linear', 'square_root'"):
        fathom.medial_axis(mask, pruning="cubic")
    with pytest.raises(ValueError, match="ties is 'none'; it must be one of 'both', 'thin'"):
        fathom.medial_axis(mask, ties="none")
    with pytest.raises(ValueError, match="gamma is -1; give a finite number of at least 0"):
        fathom.medial_axis(mask, gamma=-1)
    with pytest.raises(TypeError, match="gamma must be a number, not True"):
        fathom.medial_axis(mask, gamma=True)
    nearest = np.full((4, 5), 7)
    nearest[2, 1] = 20
    with pytest.raises(ValueError, match="'nearest' holds 20 as element 11 of an image of 20"):
        fathom.medial_axis_of_nearest(nearest)
    with pytest.raises(ValueError, match="'nearest' holds 20 as element 11 of an image of 20"):
        fathom.axis_balls(np.ones((4, 5)), nearest)
    with pytest.raises(ValueError, match="float32 does not hold thicknesses with such a spacing; give float64"):
        fathom.local_thickness(mask, spacing=1e-100)
    with pytest.raises(ValueError, match="'nearest' is uint8; it must be int32 or int64"):
        fathom.medial_axis_of_nearest(mask)
    with pytest.raises(ValueError, match="the inlets have the shape"):
        fathom.porosimetry(mask, mask[1:])
    with pytest.raises(ValueError, match="an image has 1 to 3 axes"):
        fathom.local_thickness(np.ones((2, 2, 2, 2)))
    if not fathom.info().devices:
        with pytest.raises(fathom.DeviceError, match="CUDA"):
            fathom.local_thickness(mask, backend="cuda")
    with pytest.raises(TypeError, match="out has the dtype int32"):
        fathom.local_thickness(mask, out=np.empty(mask.shape, np.int32))
