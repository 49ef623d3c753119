"""Distance transforms with the conventions of OpenCV.

Equal to OpenCV 5.0 to the last bit for DIST_L1 and DIST_C. What differs, and why:

- DIST_L2 is exact with every mask: correctly rounded distances. OpenCV's masks of 3 and 5 approximate them within
  6 and 3 %; its precise mask is off by the rounding of its float32 sums.
- Labels are those of the nearest zero pixel, of equally near ones the first in raster order. OpenCV finds them with a
  mask, that of 5 for DIST_MASK_PRECISE.
- Without any zero pixel distances are FLT_MAX (CV_8U: 255) and labels 0. OpenCV gives FLT_MAX, its root, 65533 or
  65534, depending on the arguments.
- An image without pixels gives one; OpenCV fails.
- Errors are ValueError, and ``cv2.error`` as well where OpenCV has been imported.
- UMat is not taken.

Examples
--------
>>> import numpy as np
>>> from fathom.compat import cv2
>>> cv2.distanceTransform(np.array([[1, 1, 0, 1]], np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
array([[2., 1., 0., 1.]], dtype=float32)
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import distance_transform, expand_labels
from .._common.options import Metric
from ._components import label

Array = npt.NDArray[Any]

CV_8U = 0
CV_32F = 5
DIST_L1 = 1
DIST_L2 = 2
DIST_C = 3
DIST_MASK_PRECISE = 0
DIST_MASK_3 = 3
DIST_MASK_5 = 5
DIST_LABEL_CCOMP = 0
DIST_LABEL_PIXEL = 1

_METRICS: dict[int, Metric] = {DIST_L1: "taxicab", DIST_L2: "euclidean", DIST_C: "chessboard"}
_FARTHEST = np.finfo(np.float32).max

__all__ = [
    "CV_8U",
    "CV_32F",
    "DIST_C",
    "DIST_L1",
    "DIST_L2",
    "DIST_LABEL_CCOMP",
    "DIST_LABEL_PIXEL",
    "DIST_MASK_3",
    "DIST_MASK_5",
    "DIST_MASK_PRECISE",
    "distanceTransform",
    "distanceTransformWithLabels",
]


def distanceTransform(  # noqa: N802, OpenCV's name
    src: npt.ArrayLike, distanceType: int, maskSize: int, dst: Array | None = None, dstType: int = CV_32F  # noqa: N803
) -> Array:
    """Distance to the nearest zero pixel; see ``cv2.distanceTransform``.

    Parameters
    ----------
    src : array of uint8, shape (height, width) or (height, width, 1)
        Image.
    distanceType : {DIST_L1, DIST_L2, DIST_C}
        Metric.
    maskSize : {DIST_MASK_PRECISE, DIST_MASK_3, DIST_MASK_5}
        Without effect: distances are exact.
    dst : array, shape (height, width), optional
        Where to put the result, if its shape and dtype fit.
    dstType : {CV_32F, CV_8U}
        CV_8U, for DIST_L1: distances as uint8, 255 for what is 255 or more.

    Returns
    -------
    array of float32 or uint8, shape (height, width)
        `dst`, if it fits.

    Raises
    ------
    ValueError
        And ``cv2.error``, where OpenCV has been imported: an argument is of no use.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import cv2
    >>> image = np.array([[255, 255, 255], [255, 255, 0]], np.uint8)
    >>> cv2.distanceTransform(image, cv2.DIST_L1, 3, dstType=cv2.CV_8U)
    array([[3, 2, 1],
           [2, 1, 0]], dtype=uint8)
    """
    image, metric = _image(src), _metric(distanceType, maskSize)
    narrow = dstType == CV_8U and distanceType == DIST_L1
    result = _output(dst, image.shape, np.uint8 if narrow else np.float32)
    if narrow:
        result[...] = np.minimum(distance_transform(image, metric=metric), 255)
    else:
        _distances(image, metric, result)
    return result


def distanceTransformWithLabels(  # noqa: N802
    src: npt.ArrayLike,
    distanceType: int,  # noqa: N803
    maskSize: int,  # noqa: N803
    dst: Array | None = None,
    labels: Array | None = None,
    labelType: int = DIST_LABEL_CCOMP,  # noqa: N803
) -> tuple[Array, Array]:
    """Distance to the nearest zero pixel, and its label; see ``cv2.distanceTransformWithLabels``.

    Parameters
    ----------
    src, distanceType, maskSize, dst
        As for :func:`distanceTransform`.
    labels : array of int32, shape (height, width), optional
        Where to put the labels, if shape and dtype fit.
    labelType : {DIST_LABEL_CCOMP, DIST_LABEL_PIXEL}
        What gets labels, 1, 2, ... in raster order: 8-connected components of zero pixels, or zero pixels.

    Returns
    -------
    dst : array of float32, shape (height, width)
        Distances.
    labels : array of int32, shape (height, width)
        0 if there is no zero pixel.

    Raises
    ------
    ValueError
        And ``cv2.error``, where OpenCV has been imported: an argument is of no use.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom.compat import cv2
    >>> image = np.array([[0, 0, 1, 1, 1, 0]], np.uint8)
    >>> cv2.distanceTransformWithLabels(image, cv2.DIST_L2, 5)[1]
    array([[1, 1, 1, 1, 2, 2]], dtype=int32)
    >>> cv2.distanceTransformWithLabels(image, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)[1]
    array([[1, 2, 2, 2, 3, 3]], dtype=int32)
    """
    image, metric = _image(src), _metric(distanceType, maskSize)
    if labelType not in (DIST_LABEL_CCOMP, DIST_LABEL_PIXEL):
        raise _error(f"labelType is {labelType}; it must be DIST_LABEL_CCOMP or DIST_LABEL_PIXEL")
    zero = image == 0
    if labelType == DIST_LABEL_CCOMP:
        seeds = label(zero)
    else:
        seeds = np.zeros(image.shape, np.int32)
        seeds[zero] = np.arange(1, np.count_nonzero(zero) + 1, dtype=np.int32)
    distances = _distances(image, metric, _output(dst, image.shape, np.float32))
    nearest = _output(labels, image.shape, np.int32)
    return distances, expand_labels(seeds, metric=metric, out=nearest)


def _error(message: str) -> ValueError:
    """A ValueError that those who expect OpenCV's own error catch, too."""
    peer = sys.modules.get("cv2")
    if peer is None:
        return ValueError(message)
    kind: type[ValueError] = type("error", (ValueError, peer.error), {"__module__": __name__})
    return kind(message)


def _image(src: npt.ArrayLike) -> Array:
    image = np.asarray(src)
    if image.dtype != np.uint8:
        raise _error(f"src has the dtype {image.dtype}; it must be uint8")
    if image.ndim == 3 and image.shape[2] == 1:
        image = image[:, :, 0]
    if image.ndim == 1:
        image = image[None]
    if image.ndim != 2:
        raise _error(f"src has the shape {image.shape}; it must be an image with one channel")
    return image


def _metric(distance_type: int, mask_size: int) -> Metric:
    metric = _METRICS.get(distance_type)
    if metric is None:
        raise _error(f"distanceType is {distance_type}; it must be DIST_L1, DIST_L2 or DIST_C")
    # The other metrics have one mask only, whatever is said.
    if metric == "euclidean" and mask_size not in (DIST_MASK_PRECISE, DIST_MASK_3, DIST_MASK_5):
        raise _error(f"maskSize is {mask_size}; it must be DIST_MASK_PRECISE, DIST_MASK_3 or DIST_MASK_5")
    return metric


def _output(given: Array | None, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    if given is not None and given.shape == shape and given.dtype == dtype:
        return given
    return np.empty(shape, dtype)


def _distances(image: Array, metric: Metric, result: Array) -> Array:
    distance_transform(image, metric=metric, out=result)
    # Where one pixel has no distance, none has.
    if result.size and np.isinf(result.flat[0]):
        result.fill(_FARTHEST)
    return result
