"""Morphology by balls, exact for any radius: of masks, and of labels, each by itself.

>>> import numpy as np
>>> import fathom
>>> mask = np.array([[0, 0, 1, 1, 0, 1, 1, 0, 0]])
>>> fathom.morphology.closing(mask, radius=1).astype(int)
array([[0, 0, 1, 1, 1, 1, 1, 0, 0]])

A ball of radius r is all elements no farther than r, in units of the spacing, so that radii need not be whole, and
balls stay round where elements are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from . import _core
from ._arrays.annotations import ArrayLike
from ._apps.images import Images
from ._arrays.dtypes import MASKS, Kind
from ._common.options import Spacing, choose, number
from ._common.progress import Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "black_top_hat",
    "closing",
    "dilation",
    "erosion",
    "fill_thin",
    "gradient",
    "opening",
    "remove_thin",
    "white_top_hat",
]


class Options(TypedDict, total=False):
    """What all operations take besides: see :func:`erosion`."""

    border: str
    labels: bool
    spacing: Spacing
    ndim: int | None
    out: Any
    backend: str | None
    threads: int | None
    stream: Any
    progress: Progress


def erosion(x: ArrayLike, radius: float, **options: Unpack[Options]) -> Any:
    """Elements that no background comes near: those farther than `radius` from it.

    Parameters
    ----------
    x : array, shape (*batch, *space)
        As for :func:`fathom.distance_transform`. Nonzero elements are the object; NaN is nonzero. With `labels`,
        integers or bool.
    radius : float
        Of the ball, 0 or more, in the unit of the spacing.

    Other Parameters
    ----------------
    border : {"ignore", "pad", "background"}, optional
        What lies outside of the array. "ignore": nothing, which neither grows nor shrinks anything, as scikit-image has
        it. "pad": background without end, into which a closing may grow on its way. "background": background that eats
        from the edges, but into which nothing grows, so that closings lose elements there.
    labels : bool, optional
        Elements are labels, 0 being background: each label is done by itself, and an element that two would cover
        becomes that of the nearer one, of equally near ones that of the lower. Gradient and black top hat are
        differences of these results.
    spacing : float or sequence of float, optional
        Physical size of an element along each space axis, finite and > 0; 1 if not given.
    ndim : int, optional
        How many trailing axes are space; the axes before them are a batch of independent images. All, if not given.
    out : array, optional
        Where to put the result: bool or uint8, of labels of their dtype; not `x`.
    backend : {None, "auto", "cpu", "cuda"}, optional
        Where to compute; None and "auto": where `x` lies.
    threads : int, optional
        Most threads to use; all processors if not given. Results do not depend on it.
    stream : optional
        As for :func:`fathom.distance_transform`, for arrays on a CUDA device. Of labels, all but erosions wait for the
        device, since the processor lists the labels.
    progress : bool or callable, optional
        True shows a bar on standard error; a function is called with the share done, in [0, 1].

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`
        The same kind of array as `x` (`out`, if given).

    Raises
    ------
    TypeError, ValueError
        An argument is of no use; the message names it and says what would do. Nothing has been computed.
    fathom.DeviceError
        `backend` asks for a device, and there is none; the device failed.
    KeyboardInterrupt
        Ctrl-C stops long calls; `out` is then unspecified.

    Notes
    -----
    Cost, of all operations: one distance transform with the radius as its maximum, of openings and closings two; of
    labels, for all but the erosion, two of the box around each label. Distances are compared in integers where the
    spacing allows. Source: Ragnemalm 1992, Cao et al. 2010.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.morphology.erosion(np.array([[0, 1, 1, 1, 1]]), radius=1).astype(int)
    array([[0, 0, 1, 1, 1]])
    >>> fathom.morphology.erosion(np.array([[0, 1, 1, 1, 1]]), radius=1, border="background").astype(int)
    array([[0, 0, 0, 0, 0]])
    """
    return _run("erosion", x, radius, options)


def dilation(x: ArrayLike, radius: float, **options: Unpack[Options]) -> Any:
    """Elements no farther than `radius` from the object.

    Parameters
    ----------
    x, radius, **options
        As for :func:`erosion`.

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`erosion`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.morphology.dilation(np.array([[0, 0, 1, 0, 0, 0]]), radius=1.5, spacing=0.75).astype(int)
    array([[1, 1, 1, 1, 1, 0]])
    >>> fathom.morphology.dilation(np.array([[9, 0, 0, 0, 5, 0, 0]]), radius=2, labels=True)
    array([[9, 9, 5, 5, 5, 5, 5]])
    """
    return _run("dilation", x, radius, options)


def opening(x: ArrayLike, radius: float, **options: Unpack[Options]) -> Any:
    """What balls inside the object cover: erosion, then dilation.

    Smoothes corners of the object, and takes what is too narrow for the ball.

    Parameters
    ----------
    x, radius, **options
        As for :func:`erosion`.

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`erosion`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.morphology.opening(np.array([[0, 1, 0, 1, 1, 1, 0]]), radius=1).astype(int)
    array([[0, 0, 0, 1, 1, 1, 0]])
    """
    return _run("opening", x, radius, options)


def closing(x: ArrayLike, radius: float, **options: Unpack[Options]) -> Any:
    """What no ball outside of the object reaches: dilation, then erosion.

    Fills holes and gaps that are too narrow for the ball.

    Parameters
    ----------
    x, radius, **options
        As for :func:`erosion`.

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`erosion`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.morphology.closing(np.array([[0, 0, 1, 0, 1, 0, 0]]), radius=1).astype(int)
    array([[0, 0, 1, 1, 1, 0, 0]])
    """
    return _run("closing", x, radius, options)


def gradient(x: ArrayLike, radius: float, **options: Unpack[Options]) -> Any:
    """The dilation without the erosion: elements within `radius` of the other side.

    Parameters
    ----------
    x, radius, **options
        As for :func:`erosion`.

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`erosion`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.morphology.gradient(np.array([[0, 0, 1, 1, 1, 1, 1]]), radius=1).astype(int)
    array([[0, 1, 1, 0, 0, 0, 0]])
    """
    return _run("gradient", x, radius, options)


def white_top_hat(x: ArrayLike, radius: float, **options: Unpack[Options]) -> Any:
    """The object without its opening: what is too narrow for the ball.

    Parameters
    ----------
    x, radius, **options
        As for :func:`erosion`.

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`erosion`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.morphology.white_top_hat(np.array([[0, 1, 0, 1, 1, 1, 0]]), radius=1).astype(int)
    array([[0, 1, 0, 0, 0, 0, 0]])
    """
    return _run("white_top_hat", x, radius, options)


def black_top_hat(x: ArrayLike, radius: float, **options: Unpack[Options]) -> Any:
    """The closing without the object: holes and gaps that are too narrow for the ball.

    Parameters
    ----------
    x, radius, **options
        As for :func:`erosion`.

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`erosion`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.morphology.black_top_hat(np.array([[0, 0, 1, 0, 1, 0, 0]]), radius=1).astype(int)
    array([[0, 0, 0, 1, 0, 0, 0]])
    """
    return _run("black_top_hat", x, radius, options)


def remove_thin(x: ArrayLike, thickness: float, **options: Unpack[Options]) -> Any:
    """The object without the parts that are thinner than `thickness`.

    What is left is covered by open balls of this diameter, around elements, in which no background lies: the opening by
    distances of at least, then less than, half of it. Of n elements side by side, a thickness up to n leaves all.

    Parameters
    ----------
    thickness : float
        The thickness: 0 or more, in the unit of the spacing.
    x, **options
        As for :func:`erosion`.

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`erosion`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.morphology.remove_thin(np.array([[0, 1, 1, 0, 1, 1, 1, 1, 0]]), thickness=4).astype(int)
    array([[0, 0, 0, 0, 1, 1, 1, 1, 0]])
    """
    return _run("remove_thin", x, thickness, options)


def fill_thin(x: ArrayLike, thickness: float, **options: Unpack[Options]) -> Any:
    """The object and the gaps around it that are thinner than `thickness`: :func:`remove_thin` of the background.

    Parameters
    ----------
    thickness : float
        The thickness: 0 or more, in the unit of the spacing.
    x, **options
        As for :func:`erosion`.

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`erosion`.

    Examples
    --------
    >>> import numpy as np
    >>> import fathom
    >>> fathom.morphology.fill_thin(np.array([[1, 0, 0, 1, 1, 0, 0, 0, 0, 1]]), thickness=4).astype(int)
    array([[1, 1, 1, 1, 1, 0, 0, 0, 0, 1]])
    """
    return _run("fill_thin", x, thickness, options)


def _run(operation: str, x: Any, size: float, options: Options) -> Any:
    for name in options.keys() - Options.__annotations__.keys():
        raise TypeError(f"there is no option {name!r}; {operation} has {', '.join(Options.__annotations__)}")
    images = Images(
        x,
        "x",
        options.get("ndim"),
        options.get("spacing"),
        options.get("backend"),
        options.get("threads"),
        options.get("progress"),
        stream=options.get("stream"),
    )
    labels = bool(options.get("labels", False))
    result = images.output(options.get("out"), Kind("out", (images.given.dtype,)) if labels else MASKS)
    border = choose(_core.MORPHOLOGY_BORDERS, options.get("border", "ignore"), "border")
    radius = number(size, "thickness" if operation.endswith("thin") else "radius")
    images.run(_core.morphology, _core.MORPHOLOGY[operation], radius, border, labels, result)
    return result.finish()
