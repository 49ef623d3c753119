"""Nearest points with the signature of ``pytorch3d.ops.knn_points``.

What differs, and why:

- Lengths beyond the clouds, and K beyond 64, are a ValueError: there memory beyond the cloud would be read, here sets
  answer for 64 sites at most.
- Points are in 2D or 3D, and the norm is 2: sets of sites are made for that. Tensors lie on the host
  or on one CUDA device, where the call waits until the sets are built.
- Of equally near points the one with the lowest index is taken.
- ``version``, which chooses a kernel there, is without effect; results are always sorted.

Examples
--------
>>> import torch
>>> from fathom.compat.pytorch3d import knn_points
>>> clouds = torch.tensor([[[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]])
>>> found = knn_points(torch.tensor([[[0.0, 1.0]]]), clouds, K=2)
>>> found.dists, found.idx
(tensor([[[ 1., 18.]]]), tensor([[[0, 1]]]))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import SiteSet
from .._common.optional import need

need("torch", "PyTorch", "fathom.compat.pytorch3d")

import torch

__all__ = ["knn_points"]


class KNN(NamedTuple):
    """What :func:`knn_points` found."""

    dists: torch.Tensor
    """Squared distances, shape (batch, queries, K), through which gradients flow; 0 beyond the ends of clouds."""
    idx: torch.Tensor
    """Indices of points, int64, the same shape; 0 beyond the ends of clouds."""
    knn: torch.Tensor | None
    """The points themselves, shape (batch, queries, K, d), if asked for."""


def knn_points(
    p1: torch.Tensor,
    p2: torch.Tensor,
    lengths1: torch.Tensor | None = None,
    lengths2: torch.Tensor | None = None,
    norm: int = 2,
    K: int = 1,
    version: int = -1,
    return_nn: bool = False,
    return_sorted: bool = True,
) -> KNN:
    """The K points of one cloud that are nearest to each point of another, for a batch of clouds.

    Parameters
    ----------
    p1 : tensor, shape (batch, n1, d)
        Points that ask, d = 2 or 3.
    p2 : tensor, shape (batch, n2, d)
        Points that are found.
    lengths1, lengths2 : tensor of int, shape (batch,), optional
        How many points of each cloud count, at most those that there are; all, if not given.
    norm : int
        2.
    K : int
        How many, 1 to 64; or more than there are points in a cloud, if these are 64 at most.
    version, return_sorted
        Accepted; without effect.
    return_nn : bool
        Also give the points that were found.

    Returns
    -------
    KNN
        A named tuple of `dists`, `idx` and `knn`.

    Raises
    ------
    TypeError, ValueError
        An argument is of no use.
    fathom.DeviceError
        A tensor lies on a device that cannot be used.

    Examples
    --------
    Clouds of 3 and of 1 points, padded to the same length:

    >>> import torch
    >>> from fathom.compat.pytorch3d import knn_points
    >>> clouds = torch.tensor([[[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]], [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]])
    >>> knn_points(torch.zeros(2, 1, 2), clouds, lengths2=torch.tensor([3, 1]), K=2).idx
    tensor([[[0, 1]],
    <BLANKLINE>
            [[0, 0]]])
    """
    if norm != 2:
        raise ValueError(f"norm is {norm}; it must be 2")
    if p1.dim() != 3 or p2.dim() != 3 or p1.shape[::2] != p2.shape[::2]:
        raise ValueError(
            f"p1 and p2 have the shapes {tuple(p1.shape)} and {tuple(p2.shape)}; they must be (batch, points, d), with "
            "the same batch and d"
        )
    if p1.device != p2.device:
        raise ValueError(f"p1 lies on {p1.device}, but p2 on {p2.device}; give both on one device")
    if K < 1:
        raise ValueError(f"K is {K}; give 1 or more")
    if min(K, p2.shape[1]) > 64:
        raise ValueError(f"K is {K}; of clouds of {p2.shape[1]} points at most 64 can be asked for")
    idx, known = _indices(p1.detach(), p2.detach(), lengths1, lengths2, K)
    found = p2.new_zeros((*idx.shape, p2.shape[2]))
    if p2.shape[1]:
        found = torch.where(known[..., None], p2[torch.arange(len(p2), device=p2.device)[:, None, None], idx], 0)
    dists = torch.where(known, ((p1[:, :, None] - found) ** 2).sum(-1), 0)
    return KNN(dists, idx, found if return_nn else None)


def _lengths(lengths: Any, points: torch.Tensor, number: str) -> list[int]:
    """How many points of each cloud count."""
    if lengths is None:
        return [points.shape[1]] * len(points)
    given = torch.as_tensor(lengths)
    name = f"lengths{number}"
    if given.shape != (len(points),) or given.is_floating_point() or given.is_complex() or given.dtype == torch.bool:
        raise ValueError(
            f"{name} has the shape {tuple(given.shape)} and holds {given.dtype}; give one integer for each of the "
            f"{len(points)} clouds"
        )
    counts: list[int] = given.tolist()
    for cloud, count in enumerate(counts):
        if not 0 <= count <= points.shape[1]:
            raise ValueError(
                f"{name} says {count} for cloud {cloud}, but p{number} has {points.shape[1]} points in each; give 0 to "
                f"{points.shape[1]}"
            )
    return counts


def _indices(
    p1: torch.Tensor, p2: torch.Tensor, lengths1: torch.Tensor | None, lengths2: torch.Tensor | None, K: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Indices, and which of them there are."""
    shape = (*p1.shape[:2], K)
    idx = torch.zeros(shape, dtype=torch.int64, device=p2.device)
    known = torch.zeros_like(idx, dtype=torch.bool)
    if lengths1 is None and lengths2 is None and p2.shape[1] >= K:
        return SiteSet(p2).nearest(p1, K)[1].reshape(shape), torch.ones_like(known)
    asking, there = _lengths(lengths1, p1, "1"), _lengths(lengths2, p2, "2")
    for n, (queries, points) in enumerate(zip(asking, there)):
        count = min(K, points)
        if count == 0:
            continue
        found = SiteSet(p2[n, :points]).nearest(p1[n, :queries], count)[1]
        idx[n, :queries, :count] = found.reshape(queries, count)
        known[n, :queries, :count] = True
    return idx, known
