"""Morphology and label expansion with the conventions of scikit-image.

``isotropic_dilation``, ``isotropic_erosion``, ``isotropic_opening``, ``isotropic_closing`` are those of
``skimage.morphology``, ``expand_labels`` is that of ``skimage.segmentation``. Equal to scikit-image pixel by pixel, and
in which of equally near labels an element takes. What differs, and why:

- Where nothing is set there is nothing to dilate, and where all is set nothing to erode from; scikit-image there
  measures to an element outside the array, and dilates or erodes a corner.
- With spacing, a distance that equals the radius but for rounding, 1 in 10**14, counts as equal.
- Spacings must be finite and not 0.

Examples
--------
>>> import numpy as np
>>> from fathom.compat import skimage
>>> skimage.expand_labels(np.array([0, 1, 0, 0, 0, 0, 2]), distance=1)
array([1, 1, 1, 0, 0, 2, 2])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .. import expand_labels as _expand
from .. import morphology

Array = npt.NDArray[Any]
Spacing = Union[float, Sequence[float], None]

__all__ = ["expand_labels", "isotropic_closing", "isotropic_dilation", "isotropic_erosion", "isotropic_opening"]


def isotropic_erosion(image: Array, radius: float, out: Array | None = None, spacing: Spacing = None) -> Array:
    """Erosion by a ball; see ``skimage.morphology.isotropic_erosion``.

    Parameters
    ----------
    image : array
        Binary image, of any number of axes up to 8.
    radius : float
        Elements no farther than this from the background become background.
    out : array of bool, shape of `image`, optional
        Where to put the result.
    spacing : float or sequence of float, optional
        Size of an element along each axis.

    Returns
    -------
    array of bool, shape of `image`
        `out`, if given.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import skimage
    >>> skimage.isotropic_erosion(np.array([[0, 1, 1, 1, 0]]), radius=1)
    array([[False, False,  True, False, False]])
    """
    return _morphology("erosion", image, radius, out, spacing)


def isotropic_dilation(image: Array, radius: float, out: Array | None = None, spacing: Spacing = None) -> Array:
    """Dilation by a ball; see ``skimage.morphology.isotropic_dilation``.

    Parameters
    ----------
    image, out, spacing
        As for :func:`isotropic_erosion`.
    radius : float
        Elements no farther than this from the object become part of it.

    Returns
    -------
    array of bool, shape of `image`
        `out`, if given.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import skimage
    >>> skimage.isotropic_dilation(np.array([[0, 0, 1, 0, 0]]), radius=1)
    array([[False,  True,  True,  True, False]])
    """
    return _morphology("dilation", image, radius, out, spacing)


def isotropic_opening(image: Array, radius: float, out: Array | None = None, spacing: Spacing = None) -> Array:
    """Erosion, then dilation; see ``skimage.morphology.isotropic_opening``.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import skimage
    >>> skimage.isotropic_opening(np.array([[0, 1, 0, 1, 1, 1, 0]]), radius=1)
    array([[False, False, False,  True,  True,  True, False]])
    """
    return _morphology("opening", image, radius, out, spacing)


def isotropic_closing(image: Array, radius: float, out: Array | None = None, spacing: Spacing = None) -> Array:
    """Dilation, then erosion; see ``skimage.morphology.isotropic_closing``.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import skimage
    >>> skimage.isotropic_closing(np.array([[0, 0, 1, 0, 1, 0, 0]]), radius=1)
    array([[False, False,  True,  True,  True, False, False]])
    """
    return _morphology("closing", image, radius, out, spacing)


def expand_labels(label_image: Array, distance: float = 1, spacing: Spacing = 1) -> Array:
    """Labels grown without overlap; see ``skimage.segmentation.expand_labels``.

    Parameters
    ----------
    label_image : array of integers
        0 is background.
    distance : float
        How far labels grow, in the unit of the spacing.
    spacing : float or sequence of float
        Size of an element along each axis.

    Returns
    -------
    array, shape and dtype of `label_image`
        Of equally near labels, the one whose element is first in column-major order.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import skimage
    >>> skimage.expand_labels(np.array([[0, 1, 0, 0], [2, 0, 0, 0], [0, 3, 0, 0]]), distance=1)
    array([[2, 1, 1, 0],
           [2, 2, 0, 0],
           [2, 3, 3, 0]])
    """
    labels = np.asarray(label_image)
    result = np.zeros_like(labels)
    if distance < 0:
        return result
    sizes = _sizes(spacing, labels.ndim)
    # The first in columns is the first in rows of the axes turned round.
    _expand(labels.T, _reach(distance, sizes), spacing=sizes[::-1], out=result.T)
    return result


def _sizes(spacing: Spacing, ndim: int) -> list[float]:
    values = np.abs(np.broadcast_to(np.asarray(1.0 if spacing is None else spacing, np.float64), (ndim,)))
    sizes: list[float] = values.tolist()
    return sizes


def _reach(radius: float, sizes: Sequence[float]) -> float:
    """A radius that means the same and stays clear of rounding: distances that round to the radius are within it."""
    if any(size != 1 for size in sizes) or not math.isfinite(radius) or radius >= 2**26:
        return radius * (1 + 1e-14)
    last = math.floor(radius * radius) + 1  # squared distance
    while math.sqrt(last) > radius:
        last -= 1
    return math.sqrt(last + 0.5)


def _morphology(operation: str, image: npt.ArrayLike, radius: float, out: Array | None, spacing: Spacing) -> Array:
    mask = np.asarray(image)
    sizes = _sizes(spacing, mask.ndim)
    if radius >= 0:
        result: Array = getattr(morphology, operation)(mask, _reach(radius, sizes), spacing=sizes)
    else:  # nothing is so near
        result = np.full(mask.shape, operation in ("erosion", "closing"))
    if out is None:
        return result
    out[...] = result  # which may be the image
    return out
