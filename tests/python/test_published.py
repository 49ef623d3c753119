"""The published algorithms: the same distances where they are exact, and what they say where they are not."""

import fathom
import numpy as np
import pytest
from fathom import published

RANDOM = np.random.default_rng(3)
IMAGE = (RANDOM.random((47, 71)) > 0.03).astype(np.uint8)
VOLUME = RANDOM.random((9, 17, 23)) > 0.05
EVERY = [published.pba, published.proximate, published.jfa, published.skw, published.brute]


@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("x", [IMAGE, VOLUME])
def test_distances_and_sites(algorithm, x):
    if algorithm is published.proximate and x.ndim == 3:
        pytest.skip("of images alone")
    found, exact = algorithm(x, backend="cpu", dtype="float64"), fathom.distance_transform(x, dtype="float64")
    wrong = found.distances != exact
    assert (found.distances >= exact).all()
    assert not x.ravel()[found.nearest].any()
    places = np.stack(np.unravel_index(found.nearest, x.shape)) - np.indices(x.shape)
    np.testing.assert_array_equal(np.sqrt((places**2).sum(0)), found.distances)
    assert found.exact == (algorithm not in (published.jfa, published.skw))
    assert found.backend == "cpu" and found.device is None
    assert found.seconds == pytest.approx(sum(found.phases.values()))
    if found.exact:
        assert not wrong.any() and found.error is None
    else:
        assert found.error.wrong == wrong.sum()
        assert found.error.largest == pytest.approx((found.distances - exact).max())


def test_parameters_change_no_distance():
    expected = fathom.distance_transform(IMAGE)
    for m1, m2, m3 in ((1, 1, 1), (5, 3, 7), (32, 60, 32)):
        np.testing.assert_array_equal(published.pba(IMAGE, m1=m1, m2=m2, m3=m3).distances, expected)
    for access in ("vv-hh", "hh-vv", "vh-vh", "hv-hv", "vtv-vtv"):
        np.testing.assert_array_equal(published.proximate(IMAGE, access=access).distances, expected)


def test_slice():
    found = published.pba(VOLUME, slice=4)
    np.testing.assert_array_equal(found.distances, fathom.distance_transform(VOLUME)[4])
    assert not VOLUME.ravel()[found.nearest].any()


def test_sites_and_options():
    x = RANDOM.integers(0, 9, (20, 30))
    np.testing.assert_array_equal(published.pba(x, sites="==5").distances, fathom.distance_transform(x, sites="==5"))
    assert published.jfa(IMAGE, measure_error=False).error is None
    assert published.jfa(IMAGE, more_rounds=2, backend="cpu").phases.keys() == {"rounds", "more rounds"}
    nothing = published.pba(np.ones((3, 4)))
    assert np.isinf(nothing.distances).all() and (nothing.nearest == -1).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: published.pba(IMAGE, m1=0), ValueError, "m1 is 0; it must be from 1 to 32"),
        (lambda: published.pba(IMAGE, dtpye="float64"), TypeError,
         "there is no option 'dtpye'; pba has sites, dtype, backend, threads, progress"),
        (lambda: published.pba(IMAGE, m2="3"), TypeError, "interpreted as an integer"),
        (lambda: published.pba(IMAGE[0]), ValueError, "with 2 or 3 axes, not 1"),
        (lambda: published.proximate(VOLUME), ValueError, "take pba for volumes"),
        (lambda: published.proximate(IMAGE, access="hh"), ValueError, "access is 'hh'; it must be one of 'vv-hh'"),
        (lambda: published.jfa(IMAGE, more_rounds=3), ValueError, "it must be from 0 to 2"),
        (lambda: published.pba(IMAGE, sites="labels"), ValueError, "know sites, not labels"),
        (lambda: published.pba(VOLUME, slice=9), ValueError, "slice 9 is not one of the 9"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


TILE = RANDOM.random((11, 13)).astype(np.float32)


@pytest.mark.parametrize(
    "variant", ["basic", "indexed", "pointer", "repeater-loop", "modulo", "shared", "repeater-grid"]
)
def test_repeat(variant):
    made = published.repeat(TILE, (50, 70), variant=variant, backend="cpu")
    np.testing.assert_array_equal(made.pixels, np.tile(TILE, (5, 6))[:50, :70])
    assert made.phases.keys() == {"stitching"} and made.seconds == made.phases["stitching"]
    assert made.backend == "cpu" and made.device is None


@pytest.mark.parametrize("variant", ["target-loop", "uv-loop", "uv-exchange"])
def test_lattice(variant):
    made = published.lattice(TILE, (60, 80), (0, 15), (12, -7), variant=variant).pixels
    expected = np.zeros((60, 80), np.float32)
    for y, x in np.ndindex(60, 80):
        row, column = y % 12, (x + 7 * (y // 12)) % 15
        if row < 11 and column < 13:
            expected[y, x] = TILE[row, column]
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("variant", ["white", "distance-check", "neighbour-check", "improved", "black"])
def test_near(variant):
    expected = fathom.distance_transform(IMAGE, sites="nonzero", max_distance=7)
    np.testing.assert_array_equal(published.near(IMAGE, 7, variant=variant).pixels, expected)
    tiny = np.array([[0, 1e-300, 0]])
    assert published.near(tiny, 1, variant=variant).pixels.tolist() == [[1, 0, 1]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: published.repeat(TILE, (3, 4), variant="fast"), ValueError, "it must be one of 'basic', 'indexed'"),
        (lambda: published.repeat(TILE, (3,)), ValueError, "shape has 1 numbers; give two"),
        (lambda: published.repeat(TILE, (3, -1)), ValueError, "its extents must be 0 or more"),
        (lambda: published.repeat(TILE[0], (3, 4)), ValueError, "the repeater has 1 axes; it must have 2"),
        (lambda: published.lattice(TILE, (3, 4), (1, 2), (2, 4)), ValueError, "u and v are parallel"),
        (lambda: published.near(IMAGE, 0), ValueError, "the largest distance is 0; it must be from 1 to 4096"),
        (lambda: published.near(IMAGE, 2.5), TypeError, "interpreted as an integer"),
    ],
)
def test_tiles_that_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("kind", ["int32", "float32", "float64"])
def test_map_reduce(kind, atomic):
    sites, queries = ((RANDOM.random((n, 3)) * 200).astype(kind) for n in (700, 30))
    for options in ({}, {"every": 7}, {"directions": (1, 2, 0), "half_angle": 0.5}, {"directions": queries - 99.5, "half_angle": 1}):
        found = published.map_reduce(sites, queries, dtype="float64", atomic=atomic, kernels=3, tile=32, backend="cpu", **options)
        every = options.pop("every", 1)
        expected = fathom.SiteSet(sites, every=every, backend="cpu").nearest(queries, dtype="float64", **options)
        np.testing.assert_array_equal(found.distances, expected[0])
        np.testing.assert_array_equal(found.nearest, expected[1])
        assert found.exact == (every == 1) and found.tiles == (22 if every == 1 else 4)
        assert found.intermediate_bytes == (0 if atomic else 2 * (8 if every == 1 else 2) * 30 * (4 if kind == "int32" else 8))
        assert found.seconds == pytest.approx(sum(found.phases.values()))
        if every == 1:
            assert found.error is None
        else:
            exact = fathom.SiteSet(sites, backend="cpu").nearest(queries, dtype="float64")[0]
            near = exact > 0
            error = 100 * np.mean((found.distances - exact)[near] / exact[near])
            assert found.error == pytest.approx(error) and error > 0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[0, 0]], [[0, 0, 0]]), {}, "the sites have 2 coordinates, the queries 3; give as many"),
        (([[0, 0]], [[0, 0]]), {"kernels": 0}, "the number of kernels is 0; it must be from 1"),
        (([[0, 0]], [[0, 70000]]), {}, "squares of 32 bits hold 65535; give them as float64"),
        (([[0, 0]], [[0, 0]]), {"directions": [0, 0]}, "direction 0 is not finite, or has no length"),
        (([[0, 0]], [[0, 0]]), {"devices": [0]}, "devices are named for the backend cpu"),
    ],
)
def test_what_map_reduce_refuses(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        published.map_reduce(*arguments, backend="cpu", **options)


TETRAHEDRON = np.array([[0, 0, 0], [3, 0, 0], [0, 2, 0], [0.3, 0.4, 2]]), [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
LATTICE = {"spacing": 0.17, "cutoff": 0.5}


@pytest.mark.parametrize(
    ("find", "options"),
    [(published.octree, {"corrected": True}), (published.mauch, {}), (published.naive, {})],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_bands(find, options, dtype):
    found = find(*TETRAHEDRON, **LATTICE, **options, dtype=dtype)
    exact = fathom.mesh_distance(*TETRAHEDRON, **LATTICE, sign="none", dtype=dtype)
    assert found.exact and found.visited >= len(found.band) == len(exact)
    np.testing.assert_array_equal(found.band.coordinates(), exact.coordinates())
    np.testing.assert_array_equal(found.band.values(), exact.values())
    np.testing.assert_array_equal(found.band.to_dense(), exact.to_dense())
    assert found.band.sign == "none"


def test_octree_as_published():
    exact = fathom.mesh_distance(*TETRAHEDRON, **LATTICE, sign="none")
    found = published.octree(*TETRAHEDRON, **LATTICE, measure_tree=True)
    assert not found.exact
    assert list(found.phases) == ["points", "edges", "faces", "again", "without tree"]
    assert found.error.missed == len(exact) - len(found.band) == round(found.error.share * len(exact))
    edges = published.octree(*TETRAHEDRON, **LATTICE, passes=["edges"])
    assert list(edges.phases) == ["edges"]
    assert edges.error.missed > found.error.missed
    assert published.octree(*TETRAHEDRON, **LATTICE, measure_error=False).error is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spacing": 1}, "neither of band and cutoff given"),
        ({"spacing": 1, "cutoff": 100}, "more than 64 of the lattice's shortest steps"),
        ({"spacing": 1, "cutoff": 1, "passes": ["vertices"]}, "there are 'points', 'edges' and 'faces'"),
    ],
)
def test_what_octrees_refuse(options, message):
    with pytest.raises(ValueError, match=message):
        published.octree(*TETRAHEDRON, **options)
