"""Resident sets of sites: against brute force in float64, and beside SciPy's cKDTree."""

import threading

import fathom
import numpy as np
import pytest

RANDOM = np.random.default_rng(0)


def brute_force(points, queries, k):
    """Distances and indices of the k nearest, lowest index first among equals."""
    d2 = ((queries[:, None].astype(float) - points[None].astype(float)) ** 2).sum(-1)
    order = np.argsort(d2, axis=1, kind="stable")[:, :k]
    return np.sqrt(np.take_along_axis(d2, order, 1)), order


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("storage", ["sorted", "boxed", "plain"])
def test_nearest(axes, dtype, storage):
    points = RANDOM.integers(0, 40, (300, axes)).astype(dtype)
    queries = RANDOM.integers(0, 60, (50, axes)).astype(dtype)
    sites = fathom.SiteSet(points, storage=storage)
    assert len(sites) == 300 and sites.nbytes >= 0
    for k in (1, 3):
        distances, indices = sites.nearest(queries, k)
        expected, places = brute_force(points, queries, k)
        assert indices.dtype == np.int64 and distances.dtype == ("f4" if dtype in ("f2", "f4") else "f8")
        np.testing.assert_array_equal(indices, places[:, 0] if k == 1 else places)
        np.testing.assert_array_equal(distances, (expected[:, 0] if k == 1 else expected).astype(distances.dtype))


def test_shapes_of_queries():
    points = RANDOM.random((60, 3))
    sites = fathom.SiteSet(points)
    grid = RANDOM.random((4, 5, 3))
    distances, indices = sites.nearest(grid, k=2)
    assert distances.shape == indices.shape == (4, 5, 2)
    np.testing.assert_array_equal(indices.reshape(20, 2), sites.nearest(grid.reshape(20, 3), k=2)[1])
    assert sites.nearest(grid[0, 0])[0].shape == ()
    assert sites.nearest(np.empty((0, 3)))[0].shape == (0,)
    np.testing.assert_array_equal(sites.nearest(grid[::2, ::-1])[1], sites.nearest(grid[::2, ::-1].copy())[1])


def test_batches_of_clouds():
    points, queries = RANDOM.random((3, 70, 2)), RANDOM.random((3, 20, 2))
    distances, indices = fathom.SiteSet(points).nearest(queries, k=4)
    for n in range(3):
        alone = fathom.SiteSet(points[n]).nearest(queries[n], k=4)
        np.testing.assert_array_equal(distances[n], alone[0])
        np.testing.assert_array_equal(indices[n], alone[1])


def test_masks():
    mask = RANDOM.random((9, 14, 11)) > 0.9
    sites = fathom.SiteSet.of_mask(mask)
    assert len(sites) == mask.sum()
    places = np.moveaxis(np.indices(mask.shape), 0, -1)
    distances, nearest = sites.nearest(places)
    np.testing.assert_array_equal(distances.astype("f4"), fathom.distance_transform(mask, sites="nonzero"))
    np.testing.assert_array_equal(nearest, fathom.nearest_site(mask, sites="nonzero"))


def test_what_counts():
    points = RANDOM.random((200, 2))
    queries = RANDOM.random((40, 2))
    expected, places = brute_force(points, queries, 1)
    sites = fathom.SiteSet(points)
    distances, indices = sites.nearest(queries, radius=0.03)
    far = expected[:, 0] > 0.03
    assert far.any() and np.isinf(distances[far]).all() and (indices[far] == -1).all()
    np.testing.assert_array_equal(indices[~far], places[~far, 0])
    sparse = fathom.SiteSet(points, every=7).nearest(queries)[1]
    np.testing.assert_array_equal(sparse, 7 * brute_force(points[::7], queries, 1)[1][:, 0])
    around = fathom.SiteSet(points, period=1).nearest(queries)[0]
    copies = np.concatenate([points + (dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)])
    np.testing.assert_allclose(around, brute_force(copies, queries, 1)[0][:, 0], rtol=1e-12)
    np.testing.assert_allclose(sites.nearest(queries, squared=True)[0], expected[:, 0] ** 2, rtol=1e-15)


METRICS = {"euclidean": 2, "taxicab": 1, "chessboard": np.inf}  # and p of cKDTree


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_metrics(metric, axes, dtype):
    points, queries = (RANDOM.integers(-40, 40, (n, axes)).astype(dtype) for n in (300, 50))
    if dtype != "i4":
        points, queries = (points / 3).astype(dtype), (queries / 7).astype(dtype)
    ways = abs(queries[:, None].astype(float) - points[None].astype(float))
    distances = {"euclidean": np.sqrt((ways**2).sum(-1)), "taxicab": ways.sum(-1), "chessboard": ways.max(-1)}[metric]
    order = np.argsort(distances, axis=1, kind="stable")[:, :5]
    nearest = np.take_along_axis(distances, order, 1)
    for storage in ("sorted", "boxed", "plain"):
        for found in (fathom.SiteSet(points, storage=storage), fathom.DynamicSet(points)):
            got = found.nearest(queries, 5, metric=metric, dtype="f8")
            np.testing.assert_array_equal(got[0], nearest)
            np.testing.assert_array_equal(got[1], order)
    radius = float(np.median(nearest))  # of a site, which counts
    within = fathom.SiteSet(points).nearest(queries, 5, metric=metric, radius=radius)
    np.testing.assert_array_equal(within[1], np.where(nearest <= radius, order, -1))


def test_metrics_of_integers_far_apart():
    """Sums of ways that int32 and float32 do not hold, and a period."""
    sites = fathom.SiteSet(np.int32([[-(2**31)] * 3, [2**31 - 1] * 3]), storage="plain")
    q = np.int32([[2**31 - 1, 2**31 - 2, 2**31 - 3], [-1, -1, -1]])
    assert sites.nearest(q, 2, metric="taxicab")[0].tolist() == [[3, 3 * (2**32 - 1) - 3], [3 * (2**31 - 1), 3 * 2**31]]
    assert sites.nearest(q, 2, metric="chessboard")[0].tolist() == [[2, 2**32 - 1], [2**31 - 1, 2**31]]
    around = fathom.SiteSet([[1, 1], [5, 9]], period=10)
    assert [x.tolist() for x in around.nearest([[9, 8]], metric="taxicab")] == [[5], [0]]
    assert [x.tolist() for x in around.nearest([[9, 8]], metric="chessboard")] == [[3], [0]]


def test_coordinates_too_small_to_square():
    for tiny in (1e-170, -1e-170, 5e-324, 9e-139):
        with pytest.raises(ValueError, match="site 1 has a coordinate that is not 0, but nearer to it than 1e-138; "):
            fathom.SiteSet([[0.0, 1.0], [tiny, 1.0]])
        with pytest.raises(ValueError, match="query 0 has a coordinate that is not 0, but nearer to it than 1e-138; "):
            fathom.SiteSet([[0.0, 1.0]]).nearest([tiny, 1.0])
    least = np.nextafter(1e-138, 1)  # the next double is told apart from it
    distances, sites = fathom.SiteSet([[1e-138, 0], [0, 0]]).nearest([[least, 0], [0, 0]])
    assert sites.tolist() == [0, 1] and distances.tolist() == [least - 1e-138, 0] and distances[0] > 0


def test_percentage_error():
    points, queries = RANDOM.random((300, 3)), RANDOM.random((50, 3))
    queries[:3] = points[:3]  # whose distance is 0: they do not count
    exact, sparse = fathom.SiteSet(points), fathom.SiteSet(points, every=5)
    truth, found = (brute_force(some, queries, 1)[0][3:, 0] for some in (points, points[::5]))
    assert sparse.percentage_error(queries, exact) == pytest.approx(100 * np.mean((found - truth) / truth), rel=1e-12)
    assert exact.percentage_error(queries, exact) == 0
    assert exact.percentage_error(points, exact) == 0
    assert sparse.percentage_error(queries[0], exact) == 0
    assert sparse.percentage_error(queries, exact, radius=1e-9) == 0
    assert sparse.percentage_error(points[1] + 1e-6, exact, radius=1e-5) == np.inf
    with pytest.raises(TypeError, match="exact is ndarray; it must be a SiteSet of all sites"):
        sparse.percentage_error(queries, points)


def test_cones():
    points, queries = RANDOM.random((300, 3)), RANDOM.random((30, 3))
    directions, angles = RANDOM.standard_normal((30, 3)), RANDOM.random(30)
    away = points[None] - queries[:, None]
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    length = np.linalg.norm(away, axis=2)
    inside = (away * unit[:, None]).sum(2) >= np.cos(angles)[:, None] * length
    expected = np.where(inside, length, np.inf).min(1)
    sites = fathom.SiteSet(points)
    got = sites.nearest(queries, directions=directions, half_angle=angles)[0]
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    alone = [sites.nearest(q, directions=d, half_angle=a)[0] for q, d, a in zip(queries, directions, angles)]
    np.testing.assert_array_equal(np.array(alone), got)
    along = (away * unit[:, None]).sum(2)
    beside = np.where(along >= 0, np.sqrt(np.maximum(length**2 - along**2, 0)), length) <= 0.1
    expected = np.where(inside | beside, length, np.inf).min(1)
    got = sites.nearest(queries, directions=directions, half_angle=angles, cylinder_radius=0.1)[0]
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_stated_errors():
    points, queries = RANDOM.random((5000, 3)), RANDOM.random((200, 3))
    sites = fathom.SiteSet(points)
    exact = sites.nearest(queries)[0]
    for options, most in (({"relative_error": 0.5}, exact * 1.5), ({"absolute_error": 0.05}, exact + 0.05)):
        loose = sites.nearest(queries, **options)[0]
        assert (loose >= exact).all() and (loose <= most * (1 + 1e-12)).all()
    upper, _, lower = sites.nearest(queries, work_limit=16, return_lower=True)
    assert (lower <= exact).all() and (exact <= upper).all()


def test_query_as_ckdtree():
    tree = pytest.importorskip("scipy.spatial").cKDTree
    points, queries = RANDOM.random((400, 3)), RANDOM.random((5, 8, 3))
    sites, theirs = fathom.SiteSet(points), tree(points)
    for options in ({}, {"k": 1}, {"k": [1]}, {"k": 4}, {"k": [2, 5]}, {"k": 6, "distance_upper_bound": 0.1},
                    {"workers": -1}):
        for q in (queries, queries[0], queries[0, 0]):
            got, expected = sites.query(q, **options), theirs.query(q, **options)
            np.testing.assert_allclose(got[0], expected[0], rtol=1e-15)
            np.testing.assert_array_equal(got[1], expected[1])
    edge = fathom.SiteSet([[0, 0]]).query([3, 4], distance_upper_bound=5)
    assert edge[0] == tree([[0, 0]]).query([3, 4], distance_upper_bound=5)[0] == np.inf
    for p in (1, 2, np.inf):
        for options in ({}, {"k": 5}, {"k": 6, "distance_upper_bound": 0.1}, {"k": 3, "eps": 1e-9}):
            got, expected = sites.query(queries, p=p, **options), theirs.query(queries, p=p, **options)
            np.testing.assert_allclose(got[0], expected[0], rtol=1e-15)
            np.testing.assert_array_equal(got[1], expected[1])
    for p in (1.5, 0, np.nan):
        with pytest.raises(ValueError, match=f"p is {p}; it must be 1, 2 or infinity"):
            sites.query(queries, p=p)


def test_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    points, queries = torch.rand(50, 3), torch.rand(6, 3)
    distances, indices = fathom.SiteSet(points).nearest(queries)
    assert isinstance(distances, torch.Tensor) and isinstance(indices, torch.Tensor)
    assert torch.equal(indices, torch.cdist(queries.double(), points.double()).argmin(1))


@pytest.mark.parametrize("storage", ["sorted", "boxed", "plain"])
def test_the_array_lives_as_long_as_it_is_needed(storage):
    points = RANDOM.random((1000, 3))
    sites = fathom.SiteSet(points.copy(), storage=storage)
    np.full((1000, 3), 7.0)  # where the memory of the copy was, had it gone
    np.testing.assert_array_equal(sites.nearest(points)[1], np.arange(1000))


def test_many_threads_ask_at_once():
    points, queries = RANDOM.random((2000, 3)), RANDOM.random((300, 3))
    sites = fathom.SiteSet(points)
    expected = sites.nearest(queries)[1]
    wrong = []

    def ask():
        for _ in range(20):
            if not np.array_equal(sites.nearest(queries, threads=1)[1], expected):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


POINTS = np.zeros((3, 2))


def test_without_a_device_none_is_used():
    if fathom.info().devices:
        pytest.skip("there is a CUDA device")
    for build in (fathom.SiteSet, fathom.SiteSet.of_mask):
        with pytest.raises(fathom.DeviceError, match="no CUDA"):
            build(POINTS, backend="cuda")


@pytest.mark.parametrize("call, error, words", [
    (lambda: fathom.SiteSet(np.zeros((3, 4))), ValueError, "4"),
    (lambda: fathom.SiteSet(7), ValueError, "points is a number"),
    (lambda: fathom.SiteSet([["a", "b"]]), TypeError, "points has the dtype"),
    (lambda: fathom.SiteSet(POINTS * np.nan), ValueError, "finite"),
    (lambda: fathom.SiteSet([[2**60, 1]]), ValueError, "points has coordinates beyond"),
    (lambda: fathom.SiteSet(POINTS, storage="best"), ValueError, "storage is 'best'; it must be one of 'plain'"),
    (lambda: fathom.SiteSet(POINTS, every=0), ValueError, "0-th"),
    (lambda: fathom.SiteSet(POINTS, period=(1, 2, 3)), ValueError, "3 periods"),
    (lambda: fathom.SiteSet(POINTS, threads=0), ValueError, "threads is 0"),
    (lambda: fathom.SiteSet(POINTS, backend="best"), ValueError, "backend is 'best'; it must be one of 'auto'"),
    (lambda: fathom.SiteSet(POINTS, stream=0), ValueError, "stream is for arrays on a CUDA device; points lies on the"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, stream=0), ValueError, "q lies on the host"),
    (lambda: fathom.SiteSet.of_mask(np.zeros(3)), ValueError, "mask has 1 axes"),
    (lambda: fathom.SiteSet(POINTS).nearest([1, 2, 3]), ValueError, r"q has the shape \(3,\); it must have \(..., 2\)"),
    (lambda: fathom.SiteSet(POINTS[None]).nearest(POINTS), ValueError, r"it must have \(1, m, 2\)"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, k=0), ValueError, "0"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, k=1.5), TypeError, "integer"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, metric="manhattan"), ValueError,
     "metric is 'manhattan'; it must be one of 'euclidean', 'taxicab'"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, metric="taxicab", squared=True), ValueError,
     "squared distances belong to the Euclidean metric; ask for 'distance'"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, metric="chessboard", directions=(1, 0), half_angle=1), ValueError,
     "cones belong to the Euclidean metric; leave out the cone or the other metric"),
    (lambda: fathom.VoxelSet((4, 5)).nearest([1, 2], metric="taxicab"), ValueError,
     "sets of voxels answer by Euclidean distances; for another metric make a SiteSet of the mask"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, radius="far"), TypeError, "radius must be a number"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, directions=(1, 0)), ValueError, "half_angle is not"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, half_angle=1), ValueError, "half_angle is given"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, cylinder_radius=1), ValueError, "cylinder_radius is given"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, cylinder_radius="wide"), TypeError, "cylinder_radius must be a nu"),
    (lambda: fathom.SiteSet(POINTS, device_memory=-1), ValueError, "device_memory is -1"),
    (lambda: fathom.SiteSet(POINTS, device_memory=2**64), ValueError, "device_memory is .* 64 bits"),
    (lambda: fathom.SiteSet(POINTS, every=2**64), ValueError, "every is .* 64 bits"),
    (lambda: fathom.SiteSet(POINTS, devices=[2**31]), ValueError, "devices is 2147483648, which 32 bits"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, k=2**40), ValueError, "give 1 to 64"),
    (lambda: fathom.SiteSet(POINTS).query(POINTS, k=[0, 2]), ValueError, r"k is \[0, 2\]; give 1 to 64"),
    (lambda: fathom.SiteSet(POINTS).query(POINTS, k=[]), ValueError, r"k is \[\]; give 1 to 64"),
    (lambda: fathom.SiteSet(POINTS).query(POINTS, k=[1.5]), TypeError, "integer"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, work_limit=-(2**64)), ValueError, "work_limit is .* 64 bits"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, directions=(1,), half_angle=1), ValueError, "directions has"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, directions=(1, 0), half_angle=[1]), ValueError, "half_angle has"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, k=2, return_lower=True), ValueError, "k = 1"),
    (lambda: fathom.SiteSet(POINTS).nearest(POINTS, dtype="int32"), TypeError, "dtype is int32"),
])
def test_errors_name_the_argument(call, error, words):
    with pytest.raises(error, match=words):
        call()
