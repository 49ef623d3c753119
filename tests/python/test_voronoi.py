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
    (lambda: fathom.voronoi(np.zeros((1, 1, 1, 1))), ValueError, "sites have 1 to 3 axes, not 4"),
    (lambda: fathom.lloyd(WEIGHTS, [1, 2]), ValueError, r"sites has the shape \(2,\); it must have \(n, 2\)"),
    (lambda: fathom.lloyd(WEIGHTS, [[1, 40]]), ValueError, "site 0 has the coordinate 40"),
    (lambda: fathom.lloyd(WEIGHTS, [[1, 4]], supersample=17), ValueError, "supersample is 17; give 1 to 16"),
    (lambda: fathom.lloyd(WEIGHTS, [[1, 4]], seed=-1), ValueError, "seed is -1; give a whole number from 0 to"),
    (lambda: fathom.stipple(np.zeros((3, 3), np.int32), 1), ValueError, "the image is int32; tones are bool, uint8"),
    (lambda: fathom.stipple(np.zeros((3, 3)), 1.5), TypeError, "dots must be an integer, not 1.5"),
    (lambda: fathom.stipple(np.ones((3, 3)), 1), ValueError, "the image is white all over"),
    (lambda: fathom.stipple(np.full((3, 3), 255.0), 1), ValueError, "floats are tones from 0"),
])
def test_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()
