"""Meshes as tensors, and gradients of their distances."""

import sys
from pathlib import Path

import fathom
import numpy as np
import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[1]))
import fathom.torch  # noqa: E402
import solids  # noqa: E402

VERTICES, FACES = map(torch.from_numpy, solids.torus(9, 6))
SIGNS = ["none", "pseudonormal", "winding", "fast-winding"]


def some_points(count=40):
    generator = torch.Generator().manual_seed(0)
    return (torch.rand((count, 3), generator=generator, dtype=torch.float64) - 0.5) * torch.tensor([6, 6, 2.0])


def test_results_are_tensors():
    mesh = fathom.TriangleSet(VERTICES.float(), FACES)
    found = mesh.nearest(some_points(), triangle=True, inside=True, closest=True)
    assert all(type(x) is torch.Tensor for x in (found.distance, found.triangle, found.inside, found.closest))
    types = found.distance.dtype, found.inside.dtype, found.triangle.dtype
    assert types == (torch.float64, torch.bool, torch.int64)
    assert type(mesh.nearest(some_points().numpy()).distance) is np.ndarray
    field = mesh.field(resolution=12, gradient=True)
    assert type(field.distance) is torch.Tensor and field.gradient.shape == (*field.distance.shape, 3)
    same = fathom.mesh_distance(VERTICES.float().numpy(), FACES.numpy(), resolution=12)
    assert type(same.distance) is np.ndarray and torch.equal(field.distance, torch.from_numpy(same.distance))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bands_are_tensors(dtype):
    band = fathom.mesh_distance(VERTICES, FACES, resolution=40, band=2, dtype=dtype, triangle=True)
    places, values, dense = band.coordinates(), band.values(), band.to_dense()
    assert all(type(x) is torch.Tensor for x in (places, values, dense, band.points(), band.values("triangle")))
    i, j, k = places.long().T
    assert torch.equal(dense[k, j, i], values)
    sparse = band.to_sparse_coo()
    assert sparse.shape == dense.shape and sparse.dtype == values.dtype and sparse.is_coalesced()
    z, y, x = sparse.indices()
    assert len(z) == len(band) and torch.equal(dense[z, y, x], sparse.values())


@pytest.mark.parametrize("sign", SIGNS)
def test_gradients(sign):
    vertices, points = VERTICES.clone().requires_grad_(), some_points().reshape(4, 10, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda v, p: fathom.torch.mesh_distance(v, FACES, p, sign=sign), (vertices, points))


def test_distances_are_those_of_the_set():
    points = some_points(200)
    for dtype in (torch.float32, torch.float64):
        expected = fathom.TriangleSet(VERTICES, FACES).nearest(points.to(dtype)).distance
        assert torch.equal(fathom.torch.mesh_distance(VERTICES, FACES.int(), points.to(dtype)), expected)
    mixed = fathom.torch.mesh_distance(VERTICES.float().requires_grad_(), FACES, points)
    mixed.sum().backward()
    assert mixed.dtype == torch.float64


def test_on_the_surface_the_gradient_is_the_normal():
    vertices = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], requires_grad=True)
    point = torch.tensor([0.25, 0.25, 0.0], requires_grad=True)
    fathom.torch.mesh_distance(vertices, torch.tensor([[0, 1, 2]]), point, sign="none").backward()
    assert point.grad.tolist() == [0, 0, 1] and vertices.grad[:, 2].tolist() == [-0.5, -0.25, -0.25]


def test_a_mesh_is_fitted_to_points():
    target = some_points(60)
    target = 2 * target / target.norm(dim=1, keepdim=True)
    start, faces = map(torch.from_numpy, solids.box((-1, -1, -1), (1, 1, 1)))
    vertices = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([vertices], lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = fathom.torch.mesh_distance(vertices, faces, target, sign="none").square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_compiled():
    vertices, points = VERTICES.clone().requires_grad_(), some_points()

    def loss(vertices, points):
        return fathom.torch.mesh_distance(vertices, FACES, points).square().mean()

    loss(vertices, points).backward()
    expected, vertices.grad = vertices.grad, None
    torch.compile(loss, fullgraph=True, backend="aot_eager")(vertices, points).backward()
    assert torch.equal(vertices.grad, expected)


def test_no_second_derivative():
    points = some_points().requires_grad_()
    distances = fathom.torch.mesh_distance(VERTICES, FACES, points)
    (gradient,) = torch.autograd.grad(distances.sum(), points, create_graph=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(gradient.sum(), points)
