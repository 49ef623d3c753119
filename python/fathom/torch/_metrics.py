"""Metrics of surfaces: how far the edges of predictions lie from those of the truth.

An edge is what lies in a mask and has a face in common with what does not; what is outside the image does not. Equal to
MONAI's functions of like names, whose arguments they take. All items and classes are transformed in one call.
"""

from __future__ import annotations

import torch

from ._ops import Spacing, distance_transform


def mask_edges(masks: torch.Tensor) -> torch.Tensor:
    """Elements of each mask that have a face in common with what is not in it.

    Parameters
    ----------
    masks : tensor, shape (batch, channels, *space)
        Inside is what is not 0.

    Returns
    -------
    tensor of bool, shape of `masks`
        What lies beyond the image is not in a mask.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> fathom.torch.mask_edges(torch.tensor([[[0, 1, 1, 1, 1]]]))
    tensor([[[False,  True, False, False,  True]]])
    """
    inside = masks != 0
    kept = inside.clone()
    for axis in range(2, inside.dim()):
        length = inside.shape[axis]
        if length:
            first, last = inside.narrow(axis, 0, length - 1), inside.narrow(axis, 1, length - 1)
            kept.narrow(axis, 1, length - 1).logical_and_(first)
            kept.narrow(axis, 0, length - 1).logical_and_(last)
            kept.narrow(axis, 0, 1).fill_(False)
            kept.narrow(axis, length - 1, 1).fill_(False)
    return inside & ~kept


def surface_distances(
    y_pred: torch.Tensor, y: torch.Tensor, *, distance_metric: str = "euclidean", spacing: Spacing = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Distance from each edge of the prediction to the nearest edge of the truth; elsewhere NaN.

    Parameters
    ----------
    y_pred, y : tensor, shape (batch, channels, *space)
        Prediction and truth, one-hot: inside is what is not 0.
    distance_metric : {"euclidean", "chessboard", "taxicab"}
        How distance is measured.
    spacing : float or sequence of float, optional
        Size of an element along each axis; the Euclidean metric alone looks at it.

    Returns
    -------
    tensor of float32, shape of `y`
        Distances; +inf where the truth has no edge.
    tensor of bool, shape of `y`
        Which elements are edges of the prediction.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> truth, prediction = torch.tensor([[[0, 1, 1, 0, 0]]]), torch.tensor([[[0, 0, 1, 1, 1]]])
    >>> fathom.torch.surface_distances(prediction, truth)[0]
    tensor([[[nan, nan, 0., nan, 2.]]])
    """
    pred_edges, edges = mask_edges(y_pred), mask_edges(y)
    return _between(pred_edges, edges, distance_metric, spacing), pred_edges


def average_surface_distance(
    y_pred: torch.Tensor,
    y: torch.Tensor,
    include_background: bool = False,
    symmetric: bool = False,
    distance_metric: str = "euclidean",
    spacing: Spacing = None,
) -> torch.Tensor:
    """Mean distance from the edges of each predicted mask to those of the true one.

    Equal to ``monai.metrics.compute_average_surface_distance``.

    Parameters
    ----------
    y_pred, y, distance_metric, spacing
        As for :func:`surface_distances`.
    include_background : bool
        Whether the first channel counts.
    symmetric : bool
        Take the distances from true edges to predicted ones along.

    Returns
    -------
    tensor of float32, shape (batch, channels)
        NaN where neither mask has anything in it, +inf where one has nothing.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> truth, prediction = torch.tensor([[[0, 1, 1, 0, 0]]]), torch.tensor([[[0, 0, 1, 1, 1]]])
    >>> fathom.torch.average_surface_distance(prediction, truth, include_background=True)
    tensor([[1.]])
    """
    y_pred, y = _classes(y_pred, y, include_background)
    pred_edges, edges = mask_edges(y_pred), mask_edges(y)
    pairs = [(pred_edges, edges), (edges, pred_edges)] if symmetric else [(pred_edges, edges)]
    axes = list(range(2, y.dim()))
    total = torch.zeros(y.shape[:2], dtype=torch.float64, device=y.device)
    count = torch.zeros_like(total)
    for of, to in pairs:
        # float64 sums, so that they do not depend on the order.
        total += torch.nansum(_between(of, to, distance_metric, spacing), axes, dtype=torch.float64)
        count += of.sum(axes)
    means = (total / count).float()
    return torch.where(_one_is_empty(pred_edges, edges), torch.inf, means)


def hausdorff_distance(
    y_pred: torch.Tensor,
    y: torch.Tensor,
    include_background: bool = False,
    distance_metric: str = "euclidean",
    percentile: float | None = None,
    directed: bool = False,
    spacing: Spacing = None,
) -> torch.Tensor:
    """Greatest distance between the edges of each predicted mask and those of the true one, or a percentile of it.

    Equal to ``monai.metrics.compute_hausdorff_distance``, which however interpolates between infinities where one mask
    has nothing and a `percentile` is given, and finds NaN. `percentile` 95 gives the Hausdorff 95.

    Parameters
    ----------
    y_pred, y, distance_metric, spacing
        As for :func:`surface_distances`.
    include_background : bool
        Whether the first channel counts.
    percentile : float, optional
        From 0 to 100: of the distances in each direction, of which the greater one counts. The greatest, if not given.
    directed : bool
        From prediction to truth alone.

    Returns
    -------
    tensor of float32, shape (batch, channels)
        NaN where neither mask has anything in it, +inf where one has nothing.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> truth, prediction = torch.tensor([[[0, 1, 1, 0, 0]]]), torch.tensor([[[0, 0, 1, 1, 1]]])
    >>> fathom.torch.hausdorff_distance(prediction, truth, include_background=True)
    tensor([[2.]])
    """
    if percentile is not None and not 0 <= percentile <= 100:
        raise ValueError(f"percentile is {percentile}; it must be from 0 to 100")
    y_pred, y = _classes(y_pred, y, include_background)
    pred_edges, edges = mask_edges(y_pred), mask_edges(y)
    greatest = _greatest(_between(pred_edges, edges, distance_metric, spacing), percentile)
    if not directed:
        greatest = torch.maximum(greatest, _greatest(_between(edges, pred_edges, distance_metric, spacing), percentile))
    return torch.where(_one_is_empty(pred_edges, edges), torch.inf, greatest)


def _classes(y_pred: torch.Tensor, y: torch.Tensor, include_background: bool) -> tuple[torch.Tensor, torch.Tensor]:
    if y_pred.dim() < 3:
        raise ValueError(f"y_pred has {y_pred.dim()} axes; it must be (batch, channels, *space)")
    if y_pred.shape != y.shape:
        raise ValueError(f"y has the shape {tuple(y.shape)}; it must have {tuple(y_pred.shape)}, as y_pred")
    if include_background or y.shape[1] == 1:
        return y_pred, y
    return y_pred[:, 1:], y[:, 1:]


def _between(of: torch.Tensor, to: torch.Tensor, metric: str, spacing: Spacing) -> torch.Tensor:
    """Distance of each edge to the nearest one of the others; NaN elsewhere."""
    used = spacing if metric == "euclidean" else None
    distances = distance_transform(to, sites="nonzero", metric=metric, spacing=used)
    return torch.where(of, distances, torch.nan)


def _one_is_empty(edges: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    return edges.flatten(2).any(-1) != others.flatten(2).any(-1)


def _greatest(distances: torch.Tensor, percentile: float | None) -> torch.Tensor:
    """Of each channel's numbers; NaN where there are none."""
    flat = distances.flatten(2)
    if not percentile:
        missing = torch.isnan(flat)
        greatest = torch.where(missing, -torch.inf, flat).amax(-1)
        return torch.where(missing.all(-1), torch.nan, greatest)
    result = torch.full(flat.shape[:2], torch.nan, dtype=torch.float32, device=flat.device)
    for place in torch.cartesian_prod(*map(torch.arange, flat.shape[:2])).tolist():
        values = flat[place[0], place[1]]
        values = values[~torch.isnan(values)]
        if values.numel():
            result[place[0], place[1]] = _percentile(values, percentile)
    return result


def _percentile(values: torch.Tensor, percentile: float) -> torch.Tensor:
    """As torch.quantile(), whose interpolation it is, for any number of values."""
    place = percentile / 100 * (values.numel() - 1)
    below = int(place)
    ordered = values.sort().values
    low, high = ordered[below], ordered[min(below + 1, values.numel() - 1)]
    return torch.lerp(low, high, place - below)
