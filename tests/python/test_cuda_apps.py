"""Operations of images on arrays on a CUDA device: what PyTorch and CuPy users get. Without a device these skip."""

import fathom
import numpy as np
import pytest
from devices import Cupy, Torch

if not fathom.info().devices:
    pytest.skip("no CUDA device, or a build without CUDA", allow_module_level=True)

RANDOM = np.random.default_rng(0)
MASK = RANDOM.random((57, 83)) > 0.7
LABELS = RANDOM.integers(0, 4, (3, 40, 31)).astype(np.int32)


@pytest.fixture(params=[Torch, Cupy])
def library(request):
    return request.param()


def check(library, operation, x, *arguments, **options):
    """The host's answer, from arrays of the host, and of the device, on its stream."""
    expected = operation(x, *arguments, **options)
    np.testing.assert_array_equal(operation(x, *arguments, backend="cuda", **options), expected)
    there = library.put(x)
    library.synchronize()
    with library.on(library.stream()):
        found = operation(there, *arguments, **options)
    library.synchronize()
    np.testing.assert_array_equal(library.get(found), expected)
    assert library.get(found).dtype == expected.dtype


@pytest.mark.parametrize("name", fathom.morphology.__all__)
def test_morphology(library, name):
    operation = getattr(fathom.morphology, name)
    for border in ("ignore", "pad", "background"):
        check(library, operation, MASK, 3.2, border=border)
    check(library, operation, MASK.astype(np.float32), 2, spacing=(1, 0.7))
    check(library, operation, LABELS, 2, labels=True, ndim=2)


@pytest.mark.parametrize("options", [{}, {"pruning": "linear", "gamma": 1.5, "spacing": (1, 0.7)}, {"ties": "thin", "ndim": 1}])
def test_medial_axis(library, options):
    for output in range(4):  # one after the other, as check() takes them
        wanted = {f"return_{name}": True for name in ("distance", "nearest", "witness")}
        check(library, lambda x, output=output, **more: fathom.medial_axis(x, **wanted, **more)[output], MASK, **options)
    nearest = fathom.nearest_site(MASK, spacing=options.get("spacing"), ndim=options.get("ndim"))
    check(library, fathom.medial_axis_of_nearest, nearest, **options)


def test_axis_balls(library):
    axis, nearest = fathom.medial_axis(MASK, return_nearest=True)
    there = fathom.axis_balls(library.put(axis), library.put(nearest))
    np.testing.assert_array_equal(library.get(there), fathom.axis_balls(axis, nearest))
    np.testing.assert_array_equal(fathom.axis_balls(axis, nearest, backend="cuda"), fathom.axis_balls(axis, nearest))
    with pytest.raises(ValueError, match="nearest lies on the host"):
        fathom.axis_balls(library.put(axis), nearest)


def test_local_thickness(library):
    check(library, fathom.local_thickness, MASK)
    check(library, fathom.local_thickness, LABELS, ndim=2, spacing=(1, 0.7), dtype="float64")
    check(library, fathom.porosimetry, MASK)
    check(library, fathom.porosimetry, LABELS, ndim=2, spacing=(1, 0.7), dtype="float64")
    inlets = RANDOM.random(MASK.shape) > 0.9
    found = library.get(fathom.porosimetry(library.put(MASK), library.put(inlets)))
    np.testing.assert_array_equal(found, fathom.porosimetry(MASK, inlets))
    with pytest.raises(ValueError, match="inlets lies on the host"):
        fathom.porosimetry(library.put(MASK), inlets)


def test_nearest_values(library):
    for options in ({}, {"spacing": (2, 1), "max_distance": 3}, {"border": "periodic"}):
        check(library, fathom.direction, MASK, **options)
    check(library, fathom.direction, LABELS, ndim=2, sites="==2")
    check(library, fathom.allocation, LABELS, ndim=2, sites=">=2")
    check(library, fathom.expand_labels, LABELS[0], 3, ties="lowest")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
def test_costmap(library, dtype):
    cells = np.array([0, 0, 0, 0, 100, -1])[RANDOM.integers(0, 6, (2, 40, 50))].astype(np.int8).astype(dtype)
    robot = {"resolution": 0.05, "inscribed": 0.1, "inflation": 0.5, "ndim": 2}
    if dtype == "uint8":
        robot["occupied"] = "==100"
    check(library, fathom.costmap, cells, **robot)
    costs, nearest = fathom.costmap(library.put(cells), return_nearest=True, **robot)
    expected = fathom.costmap(cells, return_nearest=True, **robot)
    np.testing.assert_array_equal(library.get(costs), expected[0])
    np.testing.assert_array_equal(library.get(nearest), expected[1])


def test_out_and_refusals(library):
    x = library.put(MASK)
    out = library.empty(MASK.shape, "uint8")
    assert fathom.morphology.closing(x, 4, out=out) is out
    np.testing.assert_array_equal(library.get(out), fathom.morphology.closing(MASK, 4))
    with pytest.raises(ValueError, match="backend cpu cannot work"):
        fathom.morphology.closing(x, 4, backend="cpu")
    with pytest.raises(ValueError, match="lies on the host"):
        fathom.morphology.closing(x, 4, out=np.empty(MASK.shape, np.uint8))


def test_voronoi(library):
    weights = RANDOM.integers(0, 5000, MASK.shape).astype(np.uint16)
    sites = RANDOM.random(MASK.shape) > 0.97
    expected = fathom.voronoi(sites, weights, covariances=True, neighbours=True)
    there = [library.put(x) for x in (sites, weights)]
    library.synchronize()
    with library.on(library.stream()):
        found = fathom.voronoi(*there, covariances=True, neighbours=True)
    library.synchronize()
    again = fathom.voronoi(sites, weights, covariances=True, neighbours=True, backend="cuda")
    for one, regions in ((found, library.get(found.regions)), (again, again.regions)):
        np.testing.assert_array_equal(regions, expected.regions)
        for a, b in zip(one[1:], expected[1:]):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="weights lies on the host"):
        fathom.voronoi(there[0], weights)


def test_lloyd_and_stipple(library):
    weights = RANDOM.random(MASK.shape)
    start = RANDOM.random((40, 2)) * (56, 82)
    expected, energies = fathom.lloyd(weights, start, iterations=9, return_energies=True)
    sites = library.put(start)
    moved, found = fathom.lloyd(library.put(weights), sites, iterations=9, return_energies=True)
    np.testing.assert_array_equal(library.get(moved), expected)
    np.testing.assert_array_equal(library.get(sites), start)
    out = library.empty(start.shape, "float64")
    assert fathom.lloyd(library.put(weights), sites, iterations=9, out=out) is out
    np.testing.assert_array_equal(library.get(out), expected)
    np.testing.assert_array_equal(found, energies)
    dots = fathom.stipple(weights, 200)
    for image in (library.put(weights), weights):
        for a, b in zip(fathom.stipple(image, 200, backend="cuda"), dots):
            np.testing.assert_array_equal(a, b)


def test_batches(library):
    sites, weights = RANDOM.random((2, 3, 20, 30)) > 0.95, RANDOM.random((2, 3, 20, 30))
    start = RANDOM.integers(0, 20, (2, 3, 7, 2)).astype(float)
    expected = fathom.voronoi(sites, weights, ndim=2)
    found = fathom.voronoi(library.put(sites), library.put(weights), ndim=2)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(library.get(one.regions), other.regions)
        np.testing.assert_array_equal(one.centroids, other.centroids)
    moved = fathom.lloyd(library.put(weights), library.put(start), ndim=2, iterations=5)
    np.testing.assert_array_equal(library.get(moved), fathom.lloyd(weights, start, ndim=2, iterations=5))
    for a, b in zip(fathom.stipple(library.put(weights), 40, ndim=2), fathom.stipple(weights, 40, ndim=2), strict=True):
        np.testing.assert_array_equal(a, b)
    check(library, fathom.sdf, weights, (25, 31), ndim=2)


def test_sdf(library):
    check(library, fathom.sdf, MASK, (100, 90), dtype=np.uint16)
    check(library, fathom.sdf, RANDOM.random((40, 50)), range=4, pad=2, dtype=np.float32)


def test_what_waits_is_refused_while_a_stream_is_captured():
    torch = Torch().library
    labels, weights = torch.from_numpy(LABELS[0]).cuda(), torch.from_numpy(MASK.astype(np.float32)).cuda()
    start = torch.tensor([[3.0, 4.0], [20.0, 9.0]], dtype=torch.float64).cuda()
    calls = [
        lambda: fathom.morphology.dilation(labels, 2, labels=True),
        lambda: fathom.voronoi(labels),
        lambda: fathom.lloyd(weights, start, iterations=2),
        lambda: fathom.stipple(weights, 20),
        lambda: fathom.sdf(weights, (25, 31)),
    ]
    for call in calls:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), pytest.raises(ValueError, match="cannot be captured into a graph"):
            call()
    thickness = torch.zeros(MASK.shape, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        fathom.porosimetry(weights, out=thickness)
    graph.replay()
    np.testing.assert_array_equal(thickness.cpu().numpy(), fathom.porosimetry(MASK))
