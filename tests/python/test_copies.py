"""Sets are pickled and copied by their sites: what is built again answers the same, and goes its own way."""

import copy
import multiprocessing
import pickle
import time

import fathom
import numpy as np
import pytest

COPIES = [copy.copy, copy.deepcopy] + [
    lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol)) for protocol in (2, pickle.HIGHEST_PROTOCOL)
]
RANDOM = np.random.default_rng(0)
BACKENDS = [None, pytest.param("cuda", marks=pytest.mark.skipif(not fathom.info().devices, reason="no CUDA device"))]


def same(one, other, queries, **options):
    assert len(one) == len(other)
    for ours, theirs in zip(one.nearest(queries, **options), other.nearest(queries, **options)):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("again", COPIES)
@pytest.mark.parametrize("storage", ["sorted", "boxed", "plain"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_site_sets(storage, dtype, again, backend):
    for axes, count, options in [
        (3, 1000, {}), (2, 1001, {"every": 3}), (3, 0, {}), (2, 1, {"every": 5}), (3, 500, {"period": 90}),
        (2, 777, {"period": (80, 0), "every": 2}),
    ]:
        points = (RANDOM.random((count, axes)) * 80).astype(dtype)
        sites = fathom.SiteSet(points, storage=storage, backend=backend, **options)
        queries = RANDOM.random((200, axes)) * 100
        made = again(sites)
        assert type(made) is fathom.SiteSet
        same(made, sites, queries, k=4)
        same(again(made), sites, queries)
        assert made.query([[1e9] * axes], distance_upper_bound=1)[1].tolist() == [count]
    clouds = RANDOM.random((4, 300, 3)).astype(dtype)
    sites = fathom.SiteSet(clouds, storage=storage, backend=backend)
    same(again(sites), sites, clouds + 1, k=2)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("again", COPIES)
@pytest.mark.parametrize("storage", ["sorted", "boxed", "plain"])
def test_masks(storage, again, backend):
    for shape in (30, 41), (11, 12, 13):
        mask = RANDOM.random(shape) < 0.1
        for every in 1, 3:
            sites = fathom.SiteSet.of_mask(mask, storage=storage, every=every, backend=backend)
            queries = RANDOM.random((200, len(shape))) * 50
            same(again(sites), sites, queries, k=3)
            same(again(again(sites)), sites, queries)
            assert again(sites).query([[1e9] * len(shape)], distance_upper_bound=1)[1].tolist() == [mask.size]
    same(again(fathom.SiteSet.of_mask(mask * 0)), fathom.SiteSet.of_mask(mask * 0), queries)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("again", COPIES)
def test_dynamic_sets(again, backend):
    points = RANDOM.random((500, 3)).astype("f4")
    taxis = fathom.DynamicSet(points, period=2, backend=backend)
    queries = RANDOM.random((100, 3)) * 2
    taxis.remove(np.arange(7, 300))
    taxis.move([3], [[1.5, 1.5, 1.5]])
    taxis.remove([499])
    made = again(taxis)
    same(made, taxis, queries, k=3)
    assert 3 in made and 7 not in made and 499 not in made
    assert made.add([[1.0, 1.0, 1.0]]).tolist() == [500] and len(taxis) == len(made) - 1
    same(again(made), made, queries)
    made.remove([n for n in range(501) if n in made])
    nothing = again(made)
    assert len(nothing) == 0 and nothing.add(points[:2]).tolist() == [501, 502]
    assert len(again(fathom.DynamicSet(np.zeros((0, 2))))) == 0


def test_copies_after_many_sites_are_gone():
    """They stand in one place until they are removed, which costs no more than building does."""
    points = RANDOM.random((200000, 3))
    start = time.perf_counter()
    taxis = fathom.DynamicSet(points)
    building = time.perf_counter() - start
    taxis.remove(np.arange(199990))
    start = time.perf_counter()
    made = copy.copy(taxis)
    assert time.perf_counter() - start < 10 * building
    same(made, taxis, points[:9])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("again", COPIES)
def test_voxel_sets(again, backend):
    for shape in (33, 70), (9, 13, 21), (0, 5), (2**12, 2**11, 3):
        walls = fathom.VoxelSet(shape, backend=backend)
        count = min(300, int(np.prod(shape)))
        walls.add(RANDOM.integers(max(1, np.prod(shape)), size=count))
        made = again(walls)
        assert made.shape == walls.shape
        same(made, walls, RANDOM.random((100, len(shape))) * shape, k=2)
        if count:
            made.remove(made.nearest([0.0] * len(shape))[1])
            assert len(made) == len(walls) - 1
    mask = RANDOM.random((20, 30)) < 0.5
    same(again(fathom.VoxelSet.of_mask(mask, backend=backend)), fathom.SiteSet.of_mask(mask), [[3.5, 4.5]])


def test_what_answers_for_another_is_not_copied():
    sites = fathom.DynamicSet(np.zeros((1, 2))).sites
    for again in COPIES:
        with pytest.raises(TypeError) as error:
            again(sites)
        assert str(error.value) == (
            "what answers for a set that changes cannot be copied or pickled; copy or pickle that set"
        )


def found(sites):
    return sites.nearest([[0.5, 0.5], [3.0, 3.0]])[1].tolist()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers(method):
    sets = [
        fathom.SiteSet([[0.0, 0.0], [3.0, 4.0]]), fathom.DynamicSet([[0.0, 0.0], [3.0, 4.0]]),
        fathom.VoxelSet.of_mask(np.eye(4)),
    ]
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(found, sets) == list(map(found, sets))
