"""Fathom's transforms as operators of PyTorch, with shapes and dtypes known beforehand and batches by vmap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union, cast

import torch

import fathom

Spacing = Union[float, Sequence[float], None]
Border = Union[str, Sequence[str]]

# The arguments of the operators are those that PyTorch has types for: borders are joined by commas.


@torch.library.custom_op("fathom::distance_transform", mutates_args=())
def _distance_transform(
    x: torch.Tensor,
    ndim: int,
    sites: str,
    spacing: Optional[Sequence[float]],  # noqa: UP045, PyTorch reads it
    metric: str,
    border: str,
    max_distance: Optional[float],  # noqa: UP045
    squared: bool,
) -> torch.Tensor:
    result: torch.Tensor = fathom.distance_transform(
        _known(x),
        ndim=ndim,
        sites=sites,
        spacing=spacing,
        metric=cast(Any, metric),
        border=_borders(border),
        max_distance=max_distance,
        squared=squared,
        dtype="float64" if squared else "float32",
    )
    return result


@_distance_transform.register_fake
def _(x: torch.Tensor, *options: Any) -> torch.Tensor:
    return x.new_empty(x.shape, dtype=torch.float64 if options[-1] else torch.float32)


@torch.library.custom_op("fathom::distance_transform_with_indices", mutates_args=())
def _with_indices(
    x: torch.Tensor,
    ndim: int,
    sites: str,
    spacing: Optional[Sequence[float]],  # noqa: UP045
    metric: str,
    border: str,
    max_distance: Optional[float],  # noqa: UP045
) -> tuple[torch.Tensor, torch.Tensor]:
    distances, indices = fathom.distance_transform(
        _known(x),
        ndim=ndim,
        sites=sites,
        spacing=spacing,
        metric=cast(Any, metric),
        border=_borders(border),
        max_distance=max_distance,
        return_indices=True,
    )
    return distances, indices


@_with_indices.register_fake
def _(x: torch.Tensor, ndim: int, *options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    leading = x.dim() - ndim
    indices = x.new_empty((*x.shape[:leading], ndim, *x.shape[leading:]), dtype=torch.int32)
    return x.new_empty(x.shape, dtype=torch.float32), indices


@torch.library.custom_op("fathom::signed_distance", mutates_args=())
def _signed_distance(
    x: torch.Tensor,
    ndim: int,
    spacing: Optional[Sequence[float]],  # noqa: UP045
    metric: str,
    border: str,
    surface: str,
    max_distance: Optional[float],  # noqa: UP045
) -> torch.Tensor:
    result: torch.Tensor = fathom.signed_distance(
        _known(x),
        ndim=ndim,
        spacing=spacing,
        metric=cast(Any, metric),
        border=_borders(border),
        surface=cast(Any, surface),
        max_distance=max_distance,
    )
    return result


@_signed_distance.register_fake
def _(x: torch.Tensor, *options: Any) -> torch.Tensor:
    return x.new_empty(x.shape, dtype=torch.float32)


def _batched(operator: Any) -> Any:
    """What vmap does with an operator: leading axes are a batch already."""

    def rule(info: Any, in_dims: Any, x: torch.Tensor, *options: Any) -> Any:
        result = operator(x.movedim(in_dims[0], 0), *options)
        return result, (0, 0) if isinstance(result, tuple) else 0

    return rule


for _operator in (_distance_transform, _with_indices, _signed_distance):
    _operator.register_vmap(_batched(_operator))


def distance_transform(
    x: torch.Tensor,
    *,
    ndim: int | None = None,
    sites: str = "zero",
    spacing: Spacing = None,
    metric: str = "euclidean",
    border: Border = "open",
    max_distance: float | None = None,
    squared: bool = False,
    return_indices: bool = False,
) -> Any:
    """Exact distance from each element to its nearest site: :func:`fathom.distance_transform` for tensors.

    Works under ``torch.compile``, ``torch.export``, ``torch.func.vmap`` and with fake tensors. Distances are constants:
    no gradient flows through them.

    Parameters
    ----------
    x : tensor of any real dtype, shape (batch, channels, *space)
        Masks, labels or values. bfloat16 is copied to float32.
    ndim : int, optional
        How many trailing axes are space; all after the first two, if not given.
    sites, spacing, metric, border, max_distance
        As for :func:`fathom.distance_transform`.
    squared : bool
        Squared distances, as float64.
    return_indices : bool
        Also give the coordinates of the nearest sites.

    Returns
    -------
    distances : tensor of float32 (squared: float64), shape of `x`
        On the device of `x`; +inf where there is no site.
    indices : tensor of int32, shape (batch, channels, ndim, *space)
        With `return_indices`; -1 where there is no site.

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError
        As :func:`fathom.distance_transform`.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> masks = torch.tensor([[1, 1, 0, 1], [0, 1, 1, 1]]).reshape(1, 2, 1, 4)
    >>> fathom.torch.distance_transform(masks)
    tensor([[[[2., 1., 0., 1.]],
    <BLANKLINE>
             [[0., 1., 2., 3.]]]])
    """
    rank = space_rank(x, ndim)
    options = (rank, sites, spacings(spacing, rank), metric, _joined(border), max_distance)
    if not return_indices:
        return _distance_transform(x.detach(), *options, squared)
    if squared:
        raise ValueError("squared and return_indices cannot be had in one call")
    return _with_indices(x.detach(), *options)


def signed_distance(
    x: torch.Tensor,
    *,
    ndim: int | None = None,
    spacing: Spacing = None,
    metric: str = "euclidean",
    border: Border = "open",
    surface: str = "faces",
    max_distance: float | None = None,
) -> torch.Tensor:
    """Signed distance to the boundary of each mask: negative inside, positive outside.

    :func:`fathom.signed_distance` for tensors: a one-hot segmentation gives the fields of all its classes in one call.

    Parameters
    ----------
    x : tensor of any real dtype, shape (batch, channels, *space)
        Masks: inside is what is not 0.
    ndim : int, optional
        How many trailing axes are space; all after the first two, if not given.
    spacing, metric, border, surface, max_distance
        As for :func:`fathom.signed_distance`.

    Returns
    -------
    tensor of float32, shape of `x`
        On the device of `x`; ±inf where the other side is empty.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> segmentation = torch.tensor([[0, 0, 1, 2]])
    >>> one_hot = torch.nn.functional.one_hot(segmentation).movedim(-1, 1)  # (batch, classes, space)
    >>> fathom.torch.signed_distance(one_hot)
    tensor([[[-1.5000, -0.5000,  0.5000,  1.5000],
             [ 1.5000,  0.5000, -0.5000,  0.5000],
             [ 2.5000,  1.5000,  0.5000, -0.5000]]])
    """
    rank = space_rank(x, ndim)
    result: torch.Tensor = _signed_distance(
        x.detach(), rank, spacings(spacing, rank), metric, _joined(border), surface, max_distance
    )
    return result


def space_rank(x: torch.Tensor, ndim: int | None) -> int:
    """How many trailing axes are space."""
    if ndim is not None:
        return ndim
    if x.dim() < 3:
        raise ValueError(f"x has {x.dim()} axes; it must be (batch, channels, *space), or ndim must say what is space")
    return int(x.dim()) - 2


def spacings(spacing: Spacing, ndim: int) -> list[float] | None:
    """One number for each axis."""
    if spacing is None:
        return None
    return [float(spacing)] * ndim if isinstance(spacing, (int, float)) else [float(value) for value in spacing]


def _joined(border: Border) -> str:
    return border if isinstance(border, str) else ",".join(border)


def _borders(border: str) -> Any:
    return border.split(",") if "," in border else border


def _known(x: torch.Tensor) -> torch.Tensor:
    """The tensor in a dtype that Fathom knows."""
    return x.float() if x.dtype == torch.bfloat16 else x
