"""Distances for PyTorch: operators that ``torch.compile`` understands, losses and metrics built on them.

Tensors are (batch, channels, *space), as PyTorch has them; each channel of each item is an image of its own, and all
are computed in one call.

>>> import torch
>>> import fathom.torch
>>> mask = torch.tensor([[[[1, 1, 0, 1]]]])
>>> fathom.torch.distance_transform(mask)
tensor([[[[2., 1., 0., 1.]]]])

PyTorch is imported here and nowhere else in Fathom.
"""

from .._common.optional import need

need("torch", "PyTorch", "fathom.torch")

from ._losses import BoundaryLoss, HausdorffDTLoss, distance_field
from ._mesh import mesh_distance
from ._metrics import average_surface_distance, hausdorff_distance, mask_edges, surface_distances
from ._ops import distance_transform, signed_distance

__all__ = [
    "BoundaryLoss",
    "HausdorffDTLoss",
    "average_surface_distance",
    "distance_field",
    "distance_transform",
    "hausdorff_distance",
    "mask_edges",
    "mesh_distance",
    "signed_distance",
    "surface_distances",
]
