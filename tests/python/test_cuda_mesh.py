"""Triangle meshes on a CUDA device: what PyTorch, CuPy and JAX users get. Without a device these skip."""

import copy

import fathom
import numpy as np
import pytest
from devices import Cupy, Torch
from solids import box, torus

if not fathom.info().devices:
    pytest.skip("no CUDA device, or a build without CUDA", allow_module_level=True)

RANDOM = np.random.default_rng(0)
VERTICES, FACES = torus()
VERTICES = VERTICES.astype("f4")
POINTS = RANDOM.uniform(-3, 3, (300, 3)).astype("f4")
ALL = dict.fromkeys(("triangle", "closest", "barycentric", "feature", "gradient", "inside"), True)
SIGNS = ["none", "pseudonormal", "winding", "fast-winding"]


def same(library, got, expected):
    for name in ("distance", *ALL):
        ours, theirs = getattr(got, name), getattr(expected, name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            right = theirs.astype(library.kept(theirs.dtype))
            assert library.get(ours).dtype == right.dtype
            np.testing.assert_array_equal(library.get(ours), right)


def same_band(library, got, expected):
    assert isinstance(got, fathom.DeviceBand) and isinstance(expected, fathom.Band)
    for name in ("origin", "spacing", "shape", "cutoff", "sign"):
        assert getattr(got, name) == getattr(expected, name)
    assert len(got) == len(expected) and repr(got) == repr(expected).replace("Band", "DeviceBand")
    for name in ("tiles", "distance", "triangle", "closest"):
        ours, theirs = getattr(got, name), getattr(expected, name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert library.get(ours).dtype == theirs.dtype
            np.testing.assert_array_equal(library.get(ours), theirs)
    bits = np.unpackbits(library.get(got.masks), axis=-1, bitorder="little")
    np.testing.assert_array_equal(bits.reshape(expected.active.shape), expected.active)
    there = got.download()
    np.testing.assert_array_equal(there.to_dense(), expected.to_dense())
    np.testing.assert_array_equal(there.coordinates(), expected.coordinates())


@pytest.mark.parametrize("sign", SIGNS)
def test_same_bytes_as_on_the_host(library, sign):
    host = fathom.TriangleSet(VERTICES, FACES, sign=sign)
    mesh = fathom.TriangleSet(library.put(VERTICES), library.put(FACES), sign=sign)
    assert (mesh.sign, len(mesh), mesh.topology) == (host.sign, len(host), host.topology)
    np.testing.assert_array_equal(mesh.vertices, VERTICES)
    for options in ({}, ALL, {"distance": False, "inside": True}, {"dtype": "float32", "closest": True}):
        expected = host.nearest(POINTS, **options)
        same(library, mesh.nearest(library.put(POINTS), **options), expected)
        for name in ("distance", *ALL):  # and points of the host
            np.testing.assert_array_equal(getattr(mesh.nearest(POINTS, **options), name), getattr(expected, name))
        same(library, mesh.field(resolution=20, **options), host.field(resolution=20, **options))
    for options in ({"band": 2}, {"cutoff": 0.03, "triangle": True, "closest": True}):
        same_band(library, mesh.band(resolution=40, **options), host.band(resolution=40, **options))


def test_one_call(library):
    vertices, faces = library.put(VERTICES), library.put(FACES)
    expected = fathom.mesh_distance(VERTICES, FACES, spacing=(0.1, 0.2, 0.15), **ALL)
    got = fathom.mesh_distance(vertices, faces, spacing=(0.1, 0.2, 0.15), **ALL)
    assert (got.origin, got.spacing, got.sign, got.shape) == (
        expected.origin, expected.spacing, expected.sign, expected.shape)
    same(library, got, expected)
    same_band(library, fathom.mesh_distance(vertices, faces, resolution=30, band=3),
              fathom.mesh_distance(VERTICES, FACES, resolution=30, band=3))


@pytest.mark.parametrize("index", ["int8", "uint8", "int32", "int64"])
def test_element_types(library, index):
    vertices, faces = box(high=(2, 3, 2))
    for dtype in ("f4", "f2", "i4"):
        host = fathom.TriangleSet(vertices.astype(dtype), faces)
        for given in (library.put(faces.astype(index)), faces.tolist()):
            mesh = fathom.TriangleSet(library.put(vertices.astype(dtype)), given)
            same(library, mesh.nearest(library.put(POINTS), **ALL), host.nearest(POINTS, **ALL))


def test_shapes_and_layouts(with_streams):
    host = fathom.TriangleSet(VERTICES, FACES)
    padded = np.zeros((len(VERTICES), 8), "f4")
    padded[:, 1:4] = VERTICES
    mesh = fathom.TriangleSet(with_streams.put(padded)[:, 1:4],
                              with_streams.put(np.ascontiguousarray(FACES.T)).T)
    q = with_streams.put(POINTS)
    for there, here in [
        (q.reshape(6, 50, 3), POINTS.reshape(6, 50, 3)), (q[::3], POINTS[::3]), (q[7], POINTS[7]), (q[:0], POINTS[:0]),
    ]:
        same(with_streams, mesh.nearest(there, **ALL), host.nearest(here, **ALL))


def test_meshes_of_the_host_by_way_of_the_device(library):
    host = fathom.TriangleSet(VERTICES, FACES)
    mesh = fathom.TriangleSet(VERTICES, FACES, backend="cuda")
    same(library, mesh.nearest(library.put(POINTS)), host.nearest(POINTS))
    field = mesh.field(resolution=20)
    assert isinstance(field.distance, np.ndarray)
    np.testing.assert_array_equal(field.distance, host.field(resolution=20).distance)
    band = fathom.mesh_distance(VERTICES, FACES, resolution=20, band=2, backend="cuda")
    assert isinstance(band, fathom.Band)
    np.testing.assert_array_equal(band.to_dense(), host.band(resolution=20, band=2).to_dense())


def test_device_memory_is_kept_to():
    host = fathom.TriangleSet(VERTICES, FACES)
    mesh = fathom.TriangleSet(VERTICES, FACES, backend="cuda", device_memory=4_000_000)
    band, expected = (x.band(resolution=100, band=3, triangle=True, closest=True) for x in (mesh, host))
    assert expected.nbytes > 6_000_000
    for name in ("tiles", "masks", "distance", "triangle", "closest"):
        np.testing.assert_array_equal(getattr(band, name), getattr(expected, name))
    np.testing.assert_array_equal(mesh.field(resolution=60).distance, host.field(resolution=60).distance)
    with pytest.raises(ValueError, match="the limit of 1000 bytes of device memory is too small; at least"):
        fathom.TriangleSet(VERTICES, FACES, backend="cuda", device_memory=1000)
    with pytest.raises(ValueError, match="of device memory is too small; at least"):
        fathom.TriangleSet(VERTICES, FACES, backend="cuda", device_memory=mesh.nbytes).band(resolution=100, band=3)


def test_copies_and_pickles_live_there(library):
    mesh = fathom.TriangleSet(library.put(VERTICES), library.put(FACES))
    again = copy.deepcopy(mesh)
    same(library, again.nearest(library.put(POINTS)), fathom.TriangleSet(VERTICES, FACES).nearest(POINTS))
    same(library, again.field(resolution=9), fathom.TriangleSet(VERTICES, FACES).field(resolution=9))
    with pytest.raises(TypeError, match="copy or pickle its download"):
        copy.copy(mesh.band(resolution=9, band=1))


def test_arrays_of_bands_outlive_them(with_streams):
    """Their memory is given back once nothing reads it, on whatever stream."""
    mesh = fathom.TriangleSet(with_streams.put(VERTICES), with_streams.put(FACES))
    expected = fathom.TriangleSet(VERTICES, FACES).band(resolution=40, band=2)
    distance = mesh.band(resolution=40, band=2).distance
    stream = with_streams.stream()
    with_streams.synchronize()
    with with_streams.on(stream):
        slow = with_streams.put(np.ones((4096, 4096), "f4"))
        for _ in range(20):
            slow = slow @ slow * 1e-4
        kept = distance + 0
    del distance
    mesh.band(resolution=40, band=5)  # into that memory, on another stream
    stream.synchronize()
    np.testing.assert_array_equal(with_streams.get(kept), expected.distance)


def test_order_on_the_current_stream(with_streams):
    """A long queue stands before what makes the mesh, and before what makes the points."""
    expected = fathom.TriangleSet(VERTICES, FACES).nearest(POINTS)
    vertices, faces, points = (with_streams.put(x) for x in (VERTICES, FACES, POINTS))
    stream = with_streams.stream()
    with_streams.synchronize()
    for give in (False, True):
        with with_streams.on(stream):
            slow = with_streams.put(np.ones((4096, 4096), "f4"))
            v, q = vertices * 0, points * 0
            for _ in range(20):
                slow = slow @ slow * 1e-4
            v += vertices
            if not give:
                mesh = fathom.TriangleSet(v, faces)
            for _ in range(20):
                slow = slow @ slow * 1e-4
            q += points
            if not give:
                result, field = mesh.nearest(q), mesh.field(resolution=9)
        if give:
            mesh = fathom.TriangleSet(v, faces, stream=stream)
            result, field = mesh.nearest(q, stream=stream), mesh.field(resolution=9, stream=stream)
        stream.synchronize()
        same(with_streams, result, expected)
        same(with_streams, field, fathom.TriangleSet(VERTICES, FACES).field(resolution=9))


def test_calls_do_not_wait(with_streams):
    """Nor does a mesh that goes before it has answered: its memory is given back after that."""
    expected = fathom.TriangleSet(VERTICES, FACES).nearest(POINTS)
    mesh = fathom.TriangleSet(VERTICES, FACES, backend="cuda")
    q = with_streams.put(POINTS)
    stream = with_streams.stream()
    with_streams.synchronize()
    with with_streams.on(stream):
        slow = with_streams.put(np.ones((8192, 8192), "f4"))
        slow = slow @ slow
        stream.synchronize()
        for _ in range(40):
            slow = slow @ slow * 1e-4
        result = mesh.nearest(q)
        done = stream.query() if hasattr(stream, "query") else stream.done
    del mesh
    fathom.TriangleSet(VERTICES + 1, FACES, backend="cuda")  # into that memory, on a stream of its own
    assert not done
    with_streams.synchronize()
    same(with_streams, result, expected)


def test_arrays_of_another_device(with_streams):
    """The second device serves what lies there, wherever the thread is."""
    if len(fathom.info().devices) < 2:
        pytest.skip("one CUDA device")
    with with_streams.on_device(1):
        vertices, faces, points = (with_streams.put(x) for x in (VERTICES, FACES, POINTS))
    mesh, host = fathom.TriangleSet(vertices, faces), fathom.TriangleSet(VERTICES, FACES)
    same(with_streams, mesh.nearest(points), host.nearest(POINTS))
    same(with_streams, mesh.field(resolution=20), host.field(resolution=20))
    same_band(with_streams, mesh.band(resolution=20, band=2), host.band(resolution=20, band=2))


def test_points_that_are_no_numbers_are_far_from_everything(library):
    found = fathom.TriangleSet(VERTICES, FACES, backend="cuda").nearest(
        library.put(np.full((2, 3), np.nan, "f4")), triangle=True)
    assert np.isinf(library.get(found.distance)).all() and (library.get(found.triangle) == -1).all()


def test_bands_there_stop_where_progress_raises():
    mesh = fathom.TriangleSet(Cupy().put(VERTICES), Cupy().put(FACES))

    def progress(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        mesh.band(resolution=100, band=2, progress=progress)


def test_gradients():
    torch = Torch().library
    from fathom.torch import mesh_distance

    grads = []
    for device in ("cpu", "cuda"):
        vertices = torch.tensor(VERTICES, device=device, requires_grad=True)
        points = torch.tensor(POINTS, device=device, requires_grad=True)
        distances = mesh_distance(vertices, torch.tensor(FACES, device=device), points)
        assert distances.device.type == device
        distances.sum().backward()
        grads.append((distances.detach().cpu(), vertices.grad.cpu(), points.grad.cpu()))
    for ours, theirs in zip(*grads):
        torch.testing.assert_close(ours, theirs)


def test_errors_name_the_argument(with_streams):
    vertices, faces, q = (with_streams.put(x) for x in (VERTICES, FACES, POINTS))
    mesh, host = fathom.TriangleSet(vertices, faces), fathom.TriangleSet(VERTICES, FACES)
    band = mesh.band(resolution=9, band=1)
    for call, error, words in [
        (lambda: host.nearest(q), ValueError, "the mesh is in the host's memory, where arrays of a device"),
        (lambda: fathom.TriangleSet(vertices, faces, backend="cpu"), ValueError, "where the backend cpu cannot work"),
        (lambda: fathom.TriangleSet(VERTICES, faces), ValueError, "faces lies on a CUDA device, but vertices on"),
        (lambda: fathom.TriangleSet(vertices, faces + 99999), ValueError, "99999"),
        (lambda: fathom.TriangleSet(vertices * np.nan, faces), ValueError, "finite"),
        (lambda: fathom.TriangleSet(vertices, faces * 1.0), TypeError, "faces has the dtype float"),
        (lambda: fathom.TriangleSet(vertices[:, :2], faces), ValueError, r"vertices has the shape \(\d+, 2\)"),
        (lambda: fathom.TriangleSet(VERTICES, FACES, stream=0), ValueError, "stream is for arrays on a CUDA device"),
        (lambda: host.field(resolution=9, stream=0), ValueError, "stream is for arrays on a CUDA device"),
        (lambda: mesh.nearest(q[:, :2]), ValueError, r"points has the shape \(300, 2\)"),
        (lambda: mesh.compare(host), ValueError, "where this is not computed"),
        (lambda: mesh.band(resolution=9, band=1, compact=True), ValueError, "bands on a device are not compact"),
        (lambda: fathom.offset_surface(vertices, faces, 1, resolution=9), ValueError, "where surfaces are not made"),
        (lambda: band.to_dense(), AttributeError, r"use download\(\).to_dense"),
        (lambda: band.nothing, AttributeError, "no attribute nothing"),
    ]:
        with pytest.raises(error, match=words):
            call()
