"""Regions of sites, Lloyd's iteration and stippling: against NumPy, of any kind of array, and what they refuse."""

import fathom
import numpy as np
import pytest

RNG = np.random.default_rng(3)
SITES = RNG.random((20, 31)) < 0.03
WEIGHTS = RNG.integers(0, 200, (20, 31), dtype=np.uint8)


def test_tables_are_those_of_the_regions():
    found = fathom.voronoi(SITES, WEIGHTS, spacing=(2, 1), covariances=True, neighbours=True)
    np.testing.assert_array_equal(found.sites, np.argwhere(SITES))
    linear = fathom.nearest_site(SITES, sites="nonzero", spacing=(2, 1))
    np.testing.assert_array_equal(np.ravel_multi_index(found.sites.T, SITES.shape)[found.regions], linear)
    touching = set()
    for a, b in ((found.regions[1:], found.regions[:-1]), (found.regions[:, 1:], found.regions[:, :-1])):
        touching |= {(min(i, j), max(i, j)) for i, j in zip(a.ravel().tolist(), b.ravel().tolist()) if i != j}
    assert [tuple(pair) for pair in found.neighbours.tolist()] == sorted(touching)
    for k in range(len(found.sites)):
        at = np.argwhere(found.regions == k)
        weights = WEIGHTS[found.regions == k].astype(float)
        assert found.areas[k] == len(at) and found.masses[k] == weights.sum()
        np.testing.assert_allclose(found.centroids[k], np.average(at, axis=0, weights=weights))
        np.testing.assert_allclose(found.covariances[k], np.cov(at.T, aweights=weights, ddof=0), atol=1e-9)
    across = (found.regions[:, 1:] != found.regions[:, :-1]).sum() * 2 + (found.regions[1:] != found.regions[:-1]).sum()
    assert found.lengths.sum() == across


def test_weights_of_floats_are_those_of_integers():
    whole, real = fathom.voronoi(SITES, WEIGHTS), fathom.voronoi(SITES, WEIGHTS / np.float32(WEIGHTS.max()))
    np.testing.assert_allclose(real.centroids, whole.centroids, atol=1e-3)
    np.testing.assert_allclose(real.masses * WEIGHTS.max(), whole.masses, rtol=1e-4)


def test_volumes_and_lines():
    volume = np.zeros((4, 5, 6), bool)
    volume[0, 0, 0] = volume[0, 0, 3] = True
    assert fathom.voronoi(volume).areas.tolist() == [40, 80]
    assert fathom.voronoi(np.zeros(4)).sites.shape == (0, 1)
    assert fathom.voronoi(np.zeros((0, 3))).regions.shape == (0, 3)
    assert np.isnan(fathom.voronoi(np.array([1, 0]), np.array([0, 0])).centroids).all()


def test_kinds_of_arrays():
    expected = fathom.voronoi(SITES, WEIGHTS)
    strided = fathom.voronoi(np.asfortranarray(SITES), WEIGHTS.astype(">u2"))
    np.testing.assert_array_equal(strided.centroids, expected.centroids)
    out = np.empty(SITES.shape, np.int64)
    assert fathom.voronoi(SITES, out=out).regions is out
    np.testing.assert_array_equal(out, expected.regions)
    torch = pytest.importorskip("torch")
    found = fathom.voronoi(torch.from_numpy(SITES), torch.from_numpy(WEIGHTS))
    assert isinstance(found.regions, torch.Tensor)
    np.testing.assert_array_equal(found.regions.numpy(), expected.regions)


def test_lloyd_leaves_its_input_alone():
    start = np.argwhere(SITES)
    before = start.copy()
    positions = fathom.lloyd(WEIGHTS, start, on_elements=True)
    np.testing.assert_array_equal(start, before)
    assert (positions == np.floor(positions)).all() and (positions != start).any()
    for out in (np.empty(start.shape), np.empty(start.shape, order="F"), np.empty(start.shape, ">f8")):
        assert fathom.lloyd(WEIGHTS, start, on_elements=True, out=out) is out
        np.testing.assert_array_equal(out, positions)
    with pytest.raises(TypeError, match="float64"):
        fathom.lloyd(WEIGHTS, start, out=np.empty(start.shape, np.float32))
    moving = np.array(start, float, order="C")
    with pytest.raises(ValueError, match="out shares memory with the input"):
        fathom.lloyd(WEIGHTS, moving, out=moving)


def test_stippling_is_seeded():
    tones = np.linspace(0, 1, 900, dtype=np.float32).reshape(30, 30)
    one = fathom.stipple(tones, 50, seed=2**64 - 1, threads=1)
    two = fathom.stipple(tones, 50, seed=2**64 - 1, threads=2)
    assert one.positions.tobytes() == two.positions.tobytes() and one.radii.tobytes() == two.radii.tobytes()
    assert fathom.stipple(tones, 50, seed=1).positions.tobytes() != one.positions.tobytes()
    assert (fathom.stipple(tones, 50, invert=True).positions[:, 0] > 15).sum() > 30
    shares = []
    fathom.stipple(tones, 50, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1


def test_batches_are_their_images():
    sites = RNG.random((2, 3, 12, 15)) < 0.05
    sites[1, 0] = False
    weights = RNG.integers(0, 200, sites.shape, dtype=np.uint8)
    out = np.empty((3, 2, 12, 15), np.int64).transpose(1, 0, 2, 3)
    places = list(np.ndindex(2, 3))
    every = fathom.voronoi(sites.transpose(1, 0, 2, 3).copy().transpose(1, 0, 2, 3), weights, ndim=2, spacing=(2, 1),
                           covariances=True, neighbours=True, out=out)
    for item, found in zip(places, every, strict=True):
        alone = fathom.voronoi(sites[item], weights[item], spacing=(2, 1), covariances=True, neighbours=True)
        for a, b in zip(found, alone, strict=True):
            np.testing.assert_array_equal(a, b)
        assert np.shares_memory(found.regions, out)
    tones, start = RNG.random((2, 3, 20, 20)), RNG.integers(0, 12, (2, 3, 5, 2))
    moved, energies = fathom.lloyd(weights, start, ndim=2, iterations=5, return_energies=True)
    dots = fathom.stipple(tones, 30, ndim=2, seed=2)
    assert dots.positions.shape == (2, 3, 30, 2) and dots.radii.shape == (2, 3, 30)
    for item, energy in zip(places, energies, strict=True):
        alone, its = fathom.lloyd(weights[item], start[item], iterations=5, return_energies=True)
        np.testing.assert_array_equal(moved[item], alone)
        np.testing.assert_array_equal(energy, its)
        np.testing.assert_array_equal(dots.positions[item], fathom.stipple(tones[item], 30, seed=2).positions)
        np.testing.assert_array_equal(dots.radii[item], fathom.stipple(tones[item], 30, seed=2).radii)


def test_batches_of_one_and_of_none():
    (found,) = fathom.voronoi(SITES, ndim=2)
    np.testing.assert_array_equal(found.regions, fathom.voronoi(SITES).regions)
    assert [len(one.sites) for one in fathom.voronoi(SITES, ndim=1)] == SITES.sum(1).tolist()
    assert fathom.voronoi(np.zeros((0, 4, 4)), ndim=2) == []
    assert fathom.lloyd(np.zeros((0, 4, 4)), np.zeros((0, 3, 2)), ndim=2).shape == (0, 3, 2)
    assert fathom.stipple(np.zeros((0, 4, 4)), 7, ndim=2).positions.shape == (0, 7, 2)


@pytest.mark.parametrize("weight", [1, 1.0, 0.001, 40])
def test_energies_are_of_the_weights_that_are_given(weight):
    for on_elements in (False, True):
        _, energies = fathom.lloyd(np.full(5, weight), [[0], [1]], iterations=0, on_elements=on_elements,
                                   return_energies=True)
        np.testing.assert_allclose(energies, [14 * weight], rtol=1e-12)


@pytest.mark.parametrize("call, error, message", [
    (lambda: fathom.voronoi(SITES, WEIGHTS[1:]), ValueError,
     r"weights has the shape \(19, 31\); it must have that of sites, \(20, 31\)"),
    (lambda: fathom.voronoi(SITES, -WEIGHTS.astype(float) - 1), ValueError, "weights are finite and not negative"),
    (lambda: fathom.voronoi(SITES, np.full(SITES.shape, 1e308)), ValueError, "the sum of the weights passes what float64"),
    (lambda: fathom.lloyd(WEIGHTS, [[1, 4]], tolerance="0"), TypeError, "tolerance must be a number, not '0'"),
    (lambda: fathom.stipple(np.zeros((0, 3)), 1), ValueError, "the image has no pixels"),
    (lambda: fathom.voronoi(np.zeros((1, 1, 1, 1))), ValueError, "sites have 1 to 3 axes, not 4"),
    (lambda: fathom.lloyd(WEIGHTS, [1, 2]), ValueError, r"sites has the shape \(2,\); it must have \(n, 2\)"),
    (lambda: fathom.lloyd(np.ones((3, 4, 4)), np.zeros((2, 5, 2)), ndim=2), ValueError,
     r"sites has the shape \(2, 5, 2\); it must have \(3, n, 2\)"),
    (lambda: fathom.stipple(np.zeros((4, 4, 3)), 1), ValueError, "the image has 3 axes; stippling takes 2"),
    (lambda: fathom.stipple(np.ones((2, 3, 3)), 1, ndim=2), ValueError, "the image is white all over, or nearly"),
    (lambda: fathom.lloyd(WEIGHTS, [[1, 40]]), ValueError, "site 0 has the coordinate 40"),
    (lambda: fathom.lloyd(WEIGHTS, [[1, 4]], supersample=17), ValueError, "supersample is 17; give 1 to 16"),
    (lambda: fathom.lloyd(WEIGHTS, [[1, 4]], seed=-1), ValueError, "seed is -1; give a whole number from 0 to"),
    (lambda: fathom.stipple(np.zeros((3, 3), np.int32), 1), ValueError, "the image is int32; tones are bool, uint8"),
    (lambda: fathom.stipple(np.zeros((3, 3)), 1.5), TypeError, "dots must be an integer, not 1.5"),
    (lambda: fathom.stipple(np.ones((3, 3)), 1), ValueError, "the image is white all over, or nearly"),
    (lambda: fathom.stipple(np.full((3, 3), 255.0), 1), ValueError, "floats are tones from 0"),
])
def test_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()
