"""Sets of sites on a CUDA device: what PyTorch, CuPy and JAX users get. Without a device these skip."""

import fathom
import numpy as np
import pytest
from devices import Cupy, Torch

if not fathom.info().devices:
    pytest.skip("no CUDA device, or a build without CUDA", allow_module_level=True)

RANDOM = np.random.default_rng(0)
POINTS = RANDOM.random((5000, 3)).astype("f4")
QUERIES = RANDOM.random((300, 3)).astype("f4")


def same(library, got, expected):
    for ours, theirs in zip(got, expected):
        array, right = library.get(ours), theirs.astype(library.kept(theirs.dtype))
        assert array.dtype == right.dtype
        np.testing.assert_array_equal(array, right)


@pytest.mark.parametrize("storage", ["sorted", "boxed", "plain"])
@pytest.mark.parametrize("options", [
    {}, {"k": 7}, {"radius": 0.02}, {"squared": True}, {"return_lower": True}, {"dtype": "float32"},
    {"metric": "taxicab", "return_lower": True}, {"metric": "chessboard", "k": 7, "radius": 0.02},
    {"directions": (1, 2, 3), "half_angle": 0.4, "cylinder_radius": 0.01},
], ids=str)
def test_same_bytes_as_on_the_host(library, storage, options):
    expected = fathom.SiteSet(POINTS, storage=storage, every=3).nearest(QUERIES, **options)
    sites = fathom.SiteSet(library.put(POINTS), storage=storage, every=3)
    same(library, sites.nearest(library.put(QUERIES), **options), expected)
    for ours, theirs in zip(sites.nearest(QUERIES, **options), expected):  # and queries of the host
        np.testing.assert_array_equal(ours, theirs)


def test_percentage_error(library):
    expected = fathom.SiteSet(POINTS, every=3).percentage_error(QUERIES, fathom.SiteSet(POINTS))
    there = library.put(POINTS)
    error = fathom.SiteSet(there, every=3).percentage_error(library.put(QUERIES), fathom.SiteSet(there))
    assert error == pytest.approx(expected, rel=1e-5)  # CuPy and the like may add in another order, JAX in float32


def test_a_cone_for_each_query(with_streams):
    directions, angles = RANDOM.standard_normal(QUERIES.shape).astype("f4"), RANDOM.random(len(QUERIES)) + 0.2
    expected = fathom.SiteSet(POINTS).nearest(QUERIES, directions=directions, half_angle=angles, cylinder_radius=0.01)
    sites, q = fathom.SiteSet(with_streams.put(POINTS)), with_streams.put(QUERIES)
    d, a = with_streams.put(directions), with_streams.put(angles)
    same(with_streams, sites.nearest(q, directions=d, half_angle=a, cylinder_radius=0.01), expected)
    grid = sites.nearest(q.reshape(6, 50, 3), directions=d.reshape(6, 50, 3), half_angle=a.reshape(6, 50),
                         cylinder_radius=0.01)
    same(with_streams, grid, [x.reshape(6, 50) for x in expected])
    same(with_streams, sites.nearest(q, directions=with_streams.put(np.float64([1, 2, 3])), half_angle=0.4),
         fathom.SiteSet(POINTS).nearest(QUERIES, directions=(1, 2, 3), half_angle=0.4))
    for wrong, words in [
        ({"directions": directions, "half_angle": 1}, "directions lies on the host, but q on CUDA device 0"),
        ({"directions": d, "half_angle": angles}, "half_angle lies on the host, but q on CUDA device 0"),
        ({"directions": d[:5], "half_angle": 1}, r"directions has the shape \(5, 3\)"),
    ]:
        with pytest.raises(ValueError, match=words):
            sites.nearest(q, **wrong)
    with pytest.raises(ValueError, match="directions lies on a CUDA device, but q on the host"):
        sites.nearest(QUERIES, directions=d, half_angle=1)


def test_stated_errors(library):
    exact = fathom.SiteSet(POINTS).nearest(QUERIES, dtype="float64")[0]
    sites, q = fathom.SiteSet(library.put(POINTS)), library.put(QUERIES)
    loose = library.get(sites.nearest(q, relative_error=0.5)[0])
    assert (loose >= exact * (1 - 1e-6)).all() and (loose <= exact * (1.5 + 1e-6)).all()
    assert (loose > exact * 1.01).any()
    upper, _, lower = (library.get(x) for x in sites.nearest(q, work_limit=16, return_lower=True))
    assert (lower <= exact * (1 + 1e-6)).all() and (exact * (1 - 1e-6) <= upper).all() and (lower < upper).any()


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float16", "float32"])
def test_element_types(library, dtype):
    points, queries = (200 * POINTS).astype(dtype), (200 * QUERIES).astype(dtype)
    got = fathom.SiteSet(library.put(points)).nearest(library.put(queries))
    same(library, got, fathom.SiteSet(points).nearest(queries))
    with pytest.raises(TypeError, match="points has the dtype complex64; coordinates on a device are"):
        fathom.SiteSet(library.put(points.astype("c8")))


def test_shapes_and_layouts(with_streams):
    expected, places = fathom.SiteSet(POINTS).nearest(QUERIES, k=2)
    padded = np.zeros((len(POINTS), 8))
    padded[:, 1:4] = POINTS
    x, q = with_streams.put(padded), with_streams.put(QUERIES)
    for storage in ("sorted", "plain"):
        sites = fathom.SiteSet(x[:, 1:4], storage=storage)
        assert len(sites) == len(POINTS) and sites.nbytes >= 0
        same(with_streams, sites.nearest(q.reshape(6, 50, 3), k=2),
             (expected.reshape(6, 50, 2), places.reshape(6, 50, 2)))
        turned = with_streams.put(np.ascontiguousarray(QUERIES.reshape(6, 50, 3).swapaxes(0, 1))).swapaxes(0, 1)
        same(with_streams, sites.nearest(turned, k=2), (expected.reshape(6, 50, 2), places.reshape(6, 50, 2)))
        same(with_streams, sites.nearest(q[::3], k=2), (expected[::3], places[::3]))
        same(with_streams, sites.nearest(q[7]), (expected[7, 0], places[7, 0]))
        assert with_streams.get(sites.nearest(q[:0])[0]).shape == (0,)
    columns = with_streams.put(np.ascontiguousarray(POINTS.T)).T
    same(with_streams, fathom.SiteSet(columns, storage="boxed").nearest(q, k=2), (expected, places))


def test_batches(library):
    points, queries = POINTS.reshape(5, 1000, 3), QUERIES.reshape(5, 60, 3)
    for options in ({}, {"k": 3}, {"directions": (0, 1, 0), "half_angle": 1.0}):
        got = fathom.SiteSet(library.put(points)).nearest(library.put(queries), **options)
        same(library, got, fathom.SiteSet(points).nearest(queries, **options))


def test_sites_of_the_host_by_way_of_the_device(library):
    expected = fathom.SiteSet(POINTS).nearest(QUERIES)
    same(library, fathom.SiteSet(POINTS, backend="cuda").nearest(library.put(QUERIES)), expected)
    mask = POINTS.reshape(30, 50, 10) > 0.9
    places = 30 * QUERIES
    same(library, fathom.SiteSet.of_mask(mask, backend="cuda").nearest(library.put(places)),
         fathom.SiteSet.of_mask(mask).nearest(places))


def test_masks_on_the_device(library):
    mask, places = POINTS.reshape(30, 50, 10) > 0.9, 30 * QUERIES
    expected = fathom.SiteSet.of_mask(mask).nearest(places)
    for there in (library.put(mask), library.put(mask.astype("i2"))):
        sites = fathom.SiteSet.of_mask(there)
        same(library, sites.nearest(library.put(places)), expected)
        for ours, theirs in zip(sites.nearest(places), expected):
            np.testing.assert_array_equal(ours, theirs)


def on_several_devices(**options):
    """A set on one device twice, and, where there are more, on each."""
    for devices in ([0, 0], list(range(len(fathom.info().devices)))):
        if len(devices) > 1:
            yield {"backend": "cuda", "devices": devices, **options}


@pytest.mark.parametrize("options", [{}, {"storage": "plain"}, {"storage": "plain", "device_memory": 3_000_000}])
def test_several_devices(options):
    points = RANDOM.random((100_000, 3)).astype("f4")
    queries = RANDOM.random((30_000, 3)).astype("f4")
    expected = fathom.SiteSet(points).nearest(queries, k=2)
    for there in on_several_devices(**options):
        sites = fathom.SiteSet(points, **there)
        for _ in range(3):
            for ours, theirs in zip(sites.nearest(queries, k=2), expected):
                np.testing.assert_array_equal(ours, theirs)


def test_sets_that_change_on_several_devices():
    points = RANDOM.random((20_000, 3)).astype("f4")
    for there in on_several_devices():
        sites = fathom.DynamicSet(points, **there)
        sites.remove(np.arange(0, 20_000, 3))
        sites.add(points[:100] + 1)
        kept = np.concatenate([np.delete(points, np.arange(0, 20_000, 3), axis=0), points[:100] + 1])
        for ours, theirs in zip(sites.nearest(QUERIES)[:1], fathom.SiteSet(kept).nearest(QUERIES)):
            np.testing.assert_array_equal(ours, theirs)


def test_arrays_of_another_device(with_streams):
    """The second device serves what lies there, wherever the thread is."""
    if len(fathom.info().devices) < 2:
        pytest.skip("one CUDA device")
    expected = fathom.SiteSet(POINTS).nearest(QUERIES)
    with with_streams.on_device(1):
        points, queries = with_streams.put(POINTS), with_streams.put(QUERIES)
        mask = with_streams.put(RANDOM.random((60, 70)) > 0.3)
    same(with_streams, fathom.SiteSet(points).nearest(queries), expected)
    np.testing.assert_array_equal(
        with_streams.get(fathom.distance_transform(mask)), fathom.distance_transform(with_streams.get(mask)))


def test_sites_beyond_the_device():
    points = RANDOM.random((300_000, 3)).astype("f4")
    expected = fathom.SiteSet(points).nearest(QUERIES, k=3)
    sites = fathom.SiteSet(points, storage="plain", backend="cuda", device_memory=3_000_000)
    assert sites.nbytes == 0
    for ours, theirs in zip(sites.nearest(QUERIES, k=3), expected):
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(ValueError, match="the limit of 100000 bytes of device memory is too small; the smallest"):
        fathom.SiteSet(points, storage="plain", backend="cuda", device_memory=100_000).nearest(QUERIES)


def test_query_as_ckdtree(with_streams):
    sites = fathom.SiteSet(POINTS)
    on_device = fathom.SiteSet(with_streams.put(POINTS))
    for options in ({}, {"k": [2, 5]}, {"k": [1], "distance_upper_bound": 0.02}, {"p": 1}, {"p": np.inf}):
        same(with_streams, on_device.query(with_streams.put(QUERIES), **options), sites.query(QUERIES, **options))


def test_order_on_the_current_stream(with_streams):
    """A long queue stands before what makes the points, and before what makes the queries."""
    expected = fathom.SiteSet(POINTS).nearest(QUERIES)
    points, queries = with_streams.put(POINTS), with_streams.put(QUERIES)
    stream = with_streams.stream()
    with_streams.synchronize()
    for give in (False, True):
        with with_streams.on(stream):
            slow = with_streams.put(np.ones((4096, 4096), "f4"))
            x, q = points * 0, queries * 0
            for _ in range(20):
                slow = slow @ slow * 1e-4
            x += points
            if not give:
                sites = fathom.SiteSet(x, storage="plain")
            for _ in range(20):
                slow = slow @ slow * 1e-4
            q += queries
            if not give:
                result = sites.nearest(q)
        if give:
            result = fathom.SiteSet(x, storage="plain", stream=stream).nearest(q, stream=stream)
        stream.synchronize()
        same(with_streams, result, expected)


@pytest.mark.parametrize("storage", ["sorted", "plain"])
def test_calls_do_not_wait(with_streams, storage):
    """Nor does a set that goes before it has answered: its memory is given back after that."""
    expected = fathom.SiteSet(POINTS).nearest(QUERIES)
    sites = fathom.SiteSet(POINTS, storage=storage, backend="cuda")
    q = with_streams.put(QUERIES)
    stream = with_streams.stream()
    with_streams.synchronize()
    with with_streams.on(stream):
        slow = with_streams.put(np.ones((8192, 8192), "f4"))
        slow = slow @ slow
        stream.synchronize()
        for _ in range(40):
            slow = slow @ slow * 1e-4
        result = sites.nearest(q)
        done = stream.query() if hasattr(stream, "query") else stream.done
    del sites
    fathom.SiteSet(POINTS + 1, storage=storage, backend="cuda")  # into that memory, on a stream of its own
    assert not done
    with_streams.synchronize()
    same(with_streams, result, expected)


def test_graphs_replay_the_call():
    torch = Torch().library
    sites, q = fathom.SiteSet(torch.from_numpy(POINTS).cuda()), torch.from_numpy(QUERIES).cuda()
    sites.nearest(q)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        distances, places = sites.nearest(q)
    for queries in (QUERIES, QUERIES[::-1].copy()):
        q.copy_(torch.from_numpy(queries))
        graph.replay()
        expected = fathom.SiteSet(POINTS).nearest(queries)
        np.testing.assert_array_equal(distances.cpu().numpy(), expected[0])
        np.testing.assert_array_equal(places.cpu().numpy(), expected[1])


@pytest.mark.parametrize("storage", ["sorted", "boxed", "plain"])
def test_the_array_lives_as_long_as_it_is_needed(storage):
    cupy = Cupy().library
    sites = fathom.SiteSet(cupy.asarray(POINTS) + 0, storage=storage)
    cupy.full(POINTS.shape, 7.0)  # where the memory of the sum was, had it gone
    np.testing.assert_array_equal(cupy.asnumpy(sites.nearest(cupy.asarray(POINTS))[1]), np.arange(len(POINTS)))


def test_queries_that_are_no_numbers_find_nothing(library):
    for q in (np.full((2, 3), np.nan), np.float64([[0, 1e-170, 0], [1e160, 0, 0]])):
        q = library.put(q)
        if library.get(q).dtype == np.float32 and np.isfinite(library.get(q)).any():
            continue  # JAX has made float32 of them: 0 and infinity
        distances, places = fathom.SiteSet(library.put(POINTS)).nearest(q)
        assert np.isinf(library.get(distances)).all() and (library.get(places) == -1).all()


def test_errors_name_the_argument(with_streams):
    x, q = with_streams.put(POINTS), with_streams.put(QUERIES)
    sites = fathom.SiteSet(x)
    for call, error, words in [
        (lambda: fathom.SiteSet(POINTS).nearest(q), ValueError, "the queries are in a device's memory, the sites in"),
        (lambda: fathom.SiteSet(x, backend="cpu"), ValueError, "where the backend cpu cannot work"),
        (lambda: fathom.SiteSet(x * np.nan), ValueError, "finite"),
        (lambda: fathom.SiteSet(x, backend="gpu"), ValueError, "backend is 'gpu'"),
        (lambda: fathom.SiteSet(POINTS, stream=0), ValueError, "stream is for arrays on a CUDA device"),
        (lambda: fathom.SiteSet.of_mask(x[:, 0]), ValueError, "mask has 1 axes"),
        (lambda: fathom.SiteSet(POINTS, backend="cuda", devices=[99]), ValueError, "there is no device 99"),
        (lambda: fathom.SiteSet(POINTS, devices=[0]), ValueError, "not built by the backend cuda"),
        (lambda: sites.nearest(q[:, :2]), ValueError, r"q has the shape \(300, 2\)"),
        (lambda: sites.nearest(q, k=65), ValueError, "k is 65"),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_knn_points():
    torch = Torch().library
    from fathom.compat.pytorch3d import knn_points

    p1, p2 = (torch.from_numpy(x.reshape(5, -1, 3)).float() for x in (QUERIES, POINTS))
    lengths = torch.tensor([1000, 3, 0, 7, 1000])
    for options in ({}, {"lengths2": lengths}):
        expected = knn_points(p1, p2, K=5, return_nn=True, **options)
        got = knn_points(p1.cuda(), p2.cuda(), K=5, return_nn=True,
                         **{name: tensor.cuda() for name, tensor in options.items()})
        assert got.idx.is_cuda and torch.equal(got.idx.cpu(), expected.idx)
        assert torch.equal(got.knn.cpu(), expected.knn)
        torch.testing.assert_close(got.dists.cpu(), expected.dists)
    with pytest.raises(ValueError, match="p1 lies on cuda:0, but p2 on cpu"):
        knn_points(p1.cuda(), p2)
