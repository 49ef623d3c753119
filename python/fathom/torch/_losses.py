"""Losses on distances. Distances are constants; gradients flow through the predictions that they weigh."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ._ops import Spacing, distance_transform, signed_distance

_REDUCTIONS = ("mean", "sum", "none")


def distance_field(masks: torch.Tensor, *, spacing: Spacing = None) -> torch.Tensor:
    """Distance of each element to the nearest one on the other side of its mask's boundary; 0 without another side.

    Parameters
    ----------
    masks : tensor, shape (batch, channels, *space)
        Inside is what is greater than ½: probabilities will do.
    spacing : float or sequence of float, optional
        Size of an element along each axis.

    Returns
    -------
    tensor of float32, shape of `masks`
        Distances, in the unit of the spacing.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> fathom.torch.distance_field(torch.tensor([[[0.1, 0.2, 0.9, 0.7, 0.8]]]))
    tensor([[[2., 1., 1., 2., 3.]]])
    """
    inside = masks > 0.5
    # One of the two is 0 everywhere. A signed field takes the host's general engine, which two runs of the fast one
    # beat.
    field = distance_transform(inside, spacing=spacing) + distance_transform(inside, sites="nonzero", spacing=spacing)
    return torch.where(torch.isinf(field), 0.0, field)


class HausdorffDTLoss(torch.nn.Module):
    """Hausdorff-distance loss by distance transforms.

    The squared error of each element, weighted by its distances to the boundaries of the prediction and of the target,
    to the power of `alpha`. Source: Karimi & Salcudean, Reducing the Hausdorff distance in medical image segmentation
    with convolutional neural networks, 2019, equation 8. Equal to ``monai.losses.HausdorffDTLoss``, whose arguments it
    takes, but for `spacing`, which is new; all classes of the whole batch are transformed in one call.

    Parameters
    ----------
    alpha : float
        Power of the distances.
    include_background : bool
        Whether the first of several channels counts.
    to_onehot_y : bool
        Whether targets are labels, (batch, 1, *space), of which there are as many as channels.
    sigmoid, softmax : bool
        What to apply to the input.
    other_act : callable, optional
        Or what else to apply.
    reduction : {"mean", "sum", "none"}
        What becomes of the losses of items and channels; "none" keeps them, (batch, channels, 1, …).
    batch : bool
        Whether to average over the batch first.
    spacing : float or sequence of float, optional
        Size of an element along each axis.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> target = torch.zeros(1, 1, 8, 8)
    >>> target[..., 2:6, 2:6] = 1
    >>> logits = torch.full_like(target, -1.0, requires_grad=True)
    >>> loss = fathom.torch.HausdorffDTLoss(sigmoid=True, include_background=True)(logits, target)
    >>> loss.backward()
    >>> round(loss.item(), 4), logits.grad.shape == logits.shape
    (0.4146, True)
    """

    def __init__(
        self,
        alpha: float = 2.0,
        include_background: bool = False,
        to_onehot_y: bool = False,
        sigmoid: bool = False,
        softmax: bool = False,
        other_act: Callable[[torch.Tensor], torch.Tensor] | None = None,
        reduction: str = "mean",
        batch: bool = False,
        *,
        spacing: Spacing = None,
    ) -> None:
        super().__init__()
        self.alpha = alpha
        self.include_background = include_background
        self.to_onehot_y = to_onehot_y
        self.activation = _activation(sigmoid, softmax, other_act)
        self.reduction = _checked(reduction)
        self.batch = batch
        self.spacing = spacing

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss of `input`, (batch, channels, *space), for `target` of the same shape, or of labels."""
        input, target = _prepared(self.activation(input), target, self.to_onehot_y, self.include_background)
        weights = distance_field(input, spacing=self.spacing) ** self.alpha
        weights = weights + distance_field(target, spacing=self.spacing) ** self.alpha
        error = (input - target) ** 2 * weights
        axes = list(range(2, error.dim()))
        return _reduced(error.mean(dim=[0, *axes] if self.batch else axes, keepdim=True), self.reduction)


class BoundaryLoss(torch.nn.Module):
    """Boundary loss: the mean over the image of probability times signed distance to the target.

    Least where the prediction is 1 inside the target and 0 outside. Source: Kervadec et al., Boundary loss for highly
    unbalanced segmentation, 2019; distances are to the faces between elements, unless spacings differ, when they are to
    the centres of elements, as in the paper. A class that fills all or nothing of an image counts 0 there.

    Parameters
    ----------
    include_background, to_onehot_y, sigmoid, softmax, other_act, reduction, spacing
        As for :class:`HausdorffDTLoss`.

    Examples
    --------
    >>> import torch
    >>> import fathom.torch
    >>> target = torch.zeros(1, 1, 1, 6)
    >>> target[..., 2:4] = 1
    >>> loss = fathom.torch.BoundaryLoss(include_background=True)
    >>> loss(target, target).item() < loss(1 - target, target).item()
    True
    """

    def __init__(
        self,
        include_background: bool = False,
        to_onehot_y: bool = False,
        sigmoid: bool = False,
        softmax: bool = False,
        other_act: Callable[[torch.Tensor], torch.Tensor] | None = None,
        reduction: str = "mean",
        *,
        spacing: Spacing = None,
    ) -> None:
        super().__init__()
        self.include_background = include_background
        self.to_onehot_y = to_onehot_y
        self.activation = _activation(sigmoid, softmax, other_act)
        self.reduction = _checked(reduction)
        self.spacing = spacing
        self.surface = "faces" if spacing is None or isinstance(spacing, (int, float)) else "centers"

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss of `input`, (batch, channels, *space), for `target` of the same shape, or of labels."""
        input, target = _prepared(self.activation(input), target, self.to_onehot_y, self.include_background)
        field = signed_distance(target > 0.5, spacing=self.spacing, surface=self.surface)
        field = torch.where(torch.isinf(field), 0.0, field)
        return _reduced((input * field).mean(dim=list(range(2, input.dim())), keepdim=True), self.reduction)


def _activation(
    sigmoid: bool, softmax: bool, other: Callable[[torch.Tensor], torch.Tensor] | None
) -> Callable[[torch.Tensor], torch.Tensor]:
    if other is not None and not callable(other):
        raise TypeError(f"other_act must be callable or None, not {type(other).__name__}")
    if int(sigmoid) + int(softmax) + int(other is not None) > 1:
        raise ValueError("sigmoid, softmax and other_act exclude one another; give one of them")
    if sigmoid:
        return lambda logits: torch.sigmoid(logits)
    if softmax:
        # One channel has nothing to compare with.
        return lambda logits: torch.softmax(logits, 1) if logits.shape[1] > 1 else logits
    return other if other is not None else lambda values: values


def _checked(reduction: str) -> str:
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; it must be one of {', '.join(map(repr, _REDUCTIONS))}")
    return reduction


def _prepared(
    input: torch.Tensor, target: torch.Tensor, to_onehot: bool, include_background: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Both with one channel for each class that counts."""
    if input.dim() < 3:
        raise ValueError(f"input has {input.dim()} axes; it must be (batch, channels, *space)")
    channels = input.shape[1]
    if to_onehot and channels > 1:
        if target.shape[1] != 1:
            raise ValueError(f"target has {target.shape[1]} channels; labels for to_onehot_y must have one")
        target = torch.nn.functional.one_hot(target[:, 0].long(), channels).movedim(-1, 1).to(input.dtype)
    if not include_background and channels > 1:
        input, target = input[:, 1:], target[:, 1:]
    if input.shape != target.shape:
        raise ValueError(f"target has the shape {tuple(target.shape)}; it must have {tuple(input.shape)}, as input")
    return input, target


def _reduced(losses: torch.Tensor, reduction: str) -> torch.Tensor:
    return losses.mean() if reduction == "mean" else losses.sum() if reduction == "sum" else losses
