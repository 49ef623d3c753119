"""Distances of points to triangle meshes, through which gradients flow to both."""

from __future__ import annotations

from typing import Any, cast

import torch

import fathom


@torch.library.custom_op("fathom::mesh_distance", mutates_args=())
def _nearest(
    vertices: torch.Tensor, faces: torch.Tensor, points: torch.Tensor, sign: str, rule: str
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    mesh = fathom.TriangleSet(vertices.detach(), faces, sign=cast(Any, sign), rule=cast(Any, rule))
    found = mesh.nearest(points.detach(), triangle=True, barycentric=True, gradient=True)
    return found.distance, found.triangle, found.barycentric, found.gradient


@_nearest.register_fake
def _(vertices: torch.Tensor, faces: torch.Tensor, points: torch.Tensor, *options: Any) -> Any:
    triangle = points.new_empty(points.shape[:-1], dtype=torch.int64)
    return points.new_empty(points.shape[:-1]), triangle, torch.empty_like(points), torch.empty_like(points)


def _remember(ctx: Any, inputs: Any, output: Any) -> None:
    vertices, faces, _, _, _ = inputs
    _, triangle, barycentric, gradient = output
    ctx.mark_non_differentiable(triangle, barycentric, gradient)
    ctx.save_for_backward(vertices, faces, triangle, barycentric, gradient)


def _backward(ctx: Any, of_distance: torch.Tensor, *others: Any) -> Any:
    vertices, faces, triangle, barycentric, gradient = ctx.saved_tensors
    of_points = of_distance[..., None] * gradient
    # The nearest point goes where the triangle's corners go, by their weights; that it slips along the surface does not
    # change the distance.
    of_corners = -barycentric[..., None] * of_points[..., None, :]
    of_vertices = torch.zeros_like(vertices)
    corners = faces.long()[triangle].reshape(-1)
    of_vertices.index_add_(0, corners, of_corners.reshape(-1, 3).to(vertices.dtype))
    return of_vertices, None, of_points, None, None


_nearest.register_autograd(_backward, setup_context=_remember)


def mesh_distance(
    vertices: torch.Tensor, faces: torch.Tensor, points: torch.Tensor, *, sign: str = "auto", rule: str = "nonzero"
) -> torch.Tensor:
    """Distance of points to a triangle mesh, negative inside, differentiable in vertices and points.

    The distance is that of :class:`fathom.TriangleSet`, which is built anew with each call; its gradient to the
    points is the direction away from the surface, on the surface the face's normal, and goes to the vertices by the
    barycentric weights of the nearest point. There is no second derivative. Works under ``torch.compile``.

    Parameters
    ----------
    vertices : tensor of float32 or float64, shape (v, 3)
    faces : tensor of int, shape (f, 3)
    points : tensor of float32 or float64, shape (*queries, 3)
    sign, rule
        As for :class:`fathom.TriangleSet`; "none" for distances that are not negative.

    Returns
    -------
    tensor of the points' dtype, shape of the queries

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError
        As :class:`fathom.TriangleSet`.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> vertices = torch.tensor([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]], requires_grad=True)
    >>> faces, points = torch.tensor([[0, 1, 2]]), torch.tensor([[1.0, 1.0, 2.0]])
    >>> distances = fathom.torch.mesh_distance(vertices, faces, points, sign="none")
    >>> distances.sum().backward()
    >>> distances.detach(), vertices.grad[:, 2]
    (tensor([2.]), tensor([-0.5000, -0.2500, -0.2500]))
    """
    distances: torch.Tensor = _nearest(vertices, faces, points, sign, rule)[0]
    return distances
