"""Costmaps and textures of signed distance: against NumPy, of any kind of array, and what they refuse."""

import fathom
import numpy as np
import pytest

RNG = np.random.default_rng(5)
GRID = RNG.choice(np.array([0, 0, 0, 0, 0, 0, 30, -1, 100], np.int8), (25, 40))
ROBOT = {"resolution": 0.05, "inscribed": 0.1, "inflation": 0.4, "scaling": 5}


def costs(occupied, unknown):
    metres = fathom.distance_transform(~occupied, dtype=np.float64) * 0.05
    result = np.where(metres > 0.4, 0, (252 * np.exp(-5 * (metres - 0.1))).astype(int).clip(0, 252))
    result[metres <= 0.1] = 253
    result[occupied] = 254
    result[unknown] = 255
    return result


def test_costmap_is_the_formula():
    found, nearest = fathom.costmap(GRID, **ROBOT, return_nearest=True)
    assert found.dtype == np.uint8 and nearest.dtype == np.int32
    np.testing.assert_array_equal(found, costs(GRID == 100, GRID == -1))
    np.testing.assert_array_equal(nearest, fathom.nearest_site(GRID == 100, sites="nonzero"))


def test_what_cells_are_follows_the_type():
    world = np.array([[0, 253, 254, 255]], np.uint8)
    found = fathom.costmap(world, resolution=1, inscribed=0, inflation=0, occupied=">=254", unknown="==255")
    assert found.tolist() == [[0, 0, 254, 255]]
    # of a rule for obstacles alone no cell is unknown
    found = fathom.costmap(world, resolution=1, inscribed=0, inflation=0, occupied=">=253")
    assert found.tolist() == [[0, 254, 254, 254]]
    assert fathom.costmap(world > 0, resolution=1, inscribed=0, inflation=0).tolist() == [[0, 254, 254, 254]]


def test_costmaps_in_batches_and_into_arrays():
    maps = np.stack([GRID, GRID[::-1], np.zeros_like(GRID)])
    out = np.empty(maps.shape, np.uint8)
    assert fathom.costmap(maps, **ROBOT, ndim=2, out=out, threads=2) is out
    for one, expected in zip(out, maps):
        np.testing.assert_array_equal(one, costs(expected == 100, expected == -1) if expected.any() else 0)


def test_sdf_is_the_distance_to_faces():
    mask = RNG.random((20, 30)) < 0.4
    half = (0.5 - fathom.sdf(mask, range=1, dtype=np.float64))
    np.testing.assert_array_equal(half < 0, mask)
    edges = np.zeros((41, 61), bool)  # lattice of half pixels: where faces and corners of the outline are
    padded = np.pad(mask, 1).astype(int)
    edges[::2, 1::2] = padded[1:, 1:-1] != padded[:-1, 1:-1]
    edges[1::2, ::2] = padded[1:-1, 1:] != padded[1:-1, :-1]
    edges[:, 2::2] |= edges[:, 1::2] & (np.arange(41) % 2 == 0)[:, None]
    edges[:, :-1:2] |= edges[:, 1::2] & (np.arange(41) % 2 == 0)[:, None]
    edges[2::2] |= edges[1::2] & (np.arange(61) % 2 == 0)
    edges[:-1:2] |= edges[1::2] & (np.arange(61) % 2 == 0)
    expected = fathom.distance_transform(edges, sites="nonzero", dtype=np.float64)[1::2, 1::2] / 2
    np.testing.assert_allclose(np.abs(half), expected, atol=1e-12)


def test_textures_of_all_types():
    y, x = np.mgrid[:40, :40]
    soft = np.clip(10.5 - np.hypot(y - 20, x - 19), 0, 1)
    real = fathom.sdf(soft, (30, 50), dtype=np.float64, pad=1, threads=1)
    for dtype, most in ((np.uint8, 255), (np.uint16, 65535)):
        found = fathom.sdf(soft, (30, 50), dtype=dtype, pad=1, threads=2)
        np.testing.assert_array_equal(found, np.floor(real.clip(0, 1) * most + 0.5).astype(dtype))
    out = np.empty((30, 50), np.float32)
    assert fathom.sdf(soft, out=out, pad=1) is out
    np.testing.assert_array_equal(out, real.astype(np.float32))
    assert fathom.sdf(soft, pad=2.5).shape == (45, 45)
    assert (fathom.sdf(np.zeros((3, 3)), dtype=np.float32) == -np.inf).all()


@pytest.mark.parametrize("threads", [1, 2, 9])
def test_batches_of_textures_are_their_images(threads):
    images = np.random.default_rng(1).integers(0, 256, (3, 2, 9, 11), np.uint8).transpose(1, 0, 2, 3)
    out = np.empty((2, 3, 20, 24), np.uint8)[..., ::2]
    assert fathom.sdf(images, ndim=2, out=out, threads=threads) is out
    assert fathom.sdf(images, ndim=2, pad=1, threads=threads).shape == (2, 3, 11, 13)
    for item in np.ndindex(2, 3):
        np.testing.assert_array_equal(out[item], fathom.sdf(images[item], (20, 12)))
    assert fathom.sdf(images[:0], (5, 5), ndim=2).shape == (0, 3, 5, 5)


@pytest.mark.parametrize("call, error, message", [
    (lambda: fathom.costmap(GRID, **{**ROBOT, "resolution": 0}), ValueError, "the resolution is 0; give a finite number"),
    (lambda: fathom.costmap(GRID, **{**ROBOT, "scaling": np.nan}), ValueError, "the scaling is nan"),
    (lambda: fathom.costmap(GRID, **ROBOT, occupied="labels"), ValueError, "cannot be those of labels"),
    (lambda: fathom.costmap(GRID, **ROBOT, out=np.empty((2, 2), np.uint8)), ValueError, r"out has the shape \(2, 2\)"),
    (lambda: fathom.costmap(GRID, **ROBOT, nearest_out=np.empty((25, 40), np.int64)), ValueError, "return_nearest is False"),
    (lambda: fathom.costmap(np.ones((3, 3), np.uint8), **ROBOT), ValueError,
     "occupied must be given for uint8: '>=254' of costmaps, '<=89' of images of maps, or 'nonzero'"),
    (lambda: fathom.costmap(GRID, **ROBOT, unknown="none"), ValueError, "unknown is 'none'; it must be 'zero'"),
    (lambda: fathom.costmap(GRID, **ROBOT, occupied=3), TypeError, "occupied is 3; it must be"),
    (lambda: fathom.costmap(GRID, **{**ROBOT, "inflation": "1"}), TypeError, "inflation must be a number, not '1'"),
    (lambda: fathom.sdf(np.zeros((3, 3)), "12"), TypeError, "size must be a pair of integers, height and width, not '12'"),
    (lambda: fathom.sdf(np.zeros((3, 3)), 12), TypeError, "size must be a pair of integers"),
    (lambda: fathom.sdf(np.zeros((3, 3)), (3, 4, 5)), TypeError, "size must be a pair of integers"),
    (lambda: fathom.sdf(np.zeros((3, 3)), (3.7, 4)), TypeError, "size must be an integer, not 3.7"),
    (lambda: fathom.sdf(np.zeros((3, 3)), (-3, 4)), ValueError, r"size is \(-3, 4\); give a height and a width"),
    (lambda: fathom.sdf(np.zeros((3, 3)), pad=None), TypeError, "pad must be a number, not None"),
    (lambda: fathom.sdf(np.zeros((3, 3)), pad=-1), ValueError, "pad is -1; give a finite number"),
    (lambda: fathom.sdf(np.zeros((2, 3, 4))), ValueError, "a texture is made of one image"),
    (lambda: fathom.sdf(np.zeros((2, 3, 4)), ndim=1), ValueError, "or with ndim=2 one of each image of a batch"),
    (lambda: fathom.sdf(np.zeros((2, 3, 4)), ndim=2, out=np.zeros((3, 3, 4))), ValueError, r"out has the shape \(3, 3, 4\)"),
    (lambda: fathom.sdf(np.full((3, 3), 2.0)), ValueError, "a coverage is 2; floats are shares"),
    (lambda: fathom.sdf(np.zeros((3, 3)), dtype=np.int8), TypeError, "dtype is int8; it must be uint8"),
    (lambda: fathom.sdf(np.zeros((3, 3)), (4, 4), pad=2), ValueError, "pad is 2 texels, which leaves nothing"),
    (lambda: fathom.sdf(np.zeros((3, 3)), range=-1), ValueError, "range is -1"),
])
def test_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()
