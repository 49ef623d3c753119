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

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from . import _core
from ._apps.images import Images
from ._arrays.annotations import Array, ArrayLike, HostArray, Masks, No, Out, SameKind, SameType, Yes, overload
from ._arrays.dtypes import MASKS, Kind
from ._common.options import choose, number

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

_OPTIONS = ("border", "labels", "spacing", "ndim", "out", "backend", "threads", "stream", "progress")

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._arrays.annotations import ImageOptions

    class BallOptions(ImageOptions, total=False):
        border: Literal["ignore", "pad", "background"]

    class Options(BallOptions, total=False):  # what all operations take besides: see erosion()
        labels: bool
        out: Array | None

    class ByRadius(Protocol):
        @overload
        def __call__(
            self, x: HostArray, radius: float, *, out: None = None, labels: No = False, **options: Unpack[BallOptions]
        ) -> Masks: ...
        @overload
        def __call__(
            self, x: SameKind, radius: float, *, out: None = None, labels: No = False, **options: Unpack[BallOptions]
        ) -> SameKind: ...
        @overload
        def __call__(
            self, x: SameType, radius: float, *, out: Array | None = None, labels: Yes, **options: Unpack[BallOptions]
        ) -> SameType: ...
        @overload
        def __call__(
            self, x: ArrayLike, radius: float, *, out: Out, labels: bool = False, **options: Unpack[BallOptions]
        ) -> Out: ...
        @overload
        def __call__(
            self, x: ArrayLike, radius: float, *, out: Array | None = None, labels: bool = False,
            **options: Unpack[BallOptions],
        ) -> Any: ...

    class ByThickness(Protocol):
        @overload
        def __call__(
            self, x: HostArray, thickness: float, *, out: None = None, labels: No = False,
            **options: Unpack[BallOptions],
        ) -> Masks: ...
        @overload
        def __call__(
            self, x: SameKind, thickness: float, *, out: None = None, labels: No = False, **options: Unpack[BallOptions]
        ) -> SameKind: ...
        @overload
        def __call__(
            self, x: SameType, thickness: float, *, out: Array | None = None, labels: Yes,
            **options: Unpack[BallOptions],
        ) -> SameType: ...
        @overload
        def __call__(
            self, x: ArrayLike, thickness: float, *, out: Out, labels: bool = False, **options: Unpack[BallOptions]
        ) -> Out: ...
        @overload
        def __call__(
            self, x: ArrayLike, thickness: float, *, out: Array | None = None, labels: bool = False,
            **options: Unpack[BallOptions],
        ) -> Any: ...

    def _by_radius(operation: Callable[..., Any]) -> ByRadius: ...
    def _by_thickness(operation: Callable[..., Any]) -> ByThickness: ...
else:
    _by_radius = _by_thickness = lambda operation: operation  # noqa: E731


@_by_radius
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
    out : array, optional
        Where to put the result: bool or uint8, of labels of their dtype; not `x`.
    stream : optional
        As for :func:`fathom.distance_transform`. Of labels, all but erosions wait for the device, since the processor
        lists the labels.
    spacing, ndim, backend, threads, progress : optional
        As for :func:`fathom.distance_transform`.

    Returns
    -------
    array of bool, of labels of their dtype, shape of `x`
        The same kind of array as `x` (`out`, if given).

    Raises
    ------
    TypeError, ValueError, fathom.DeviceError, KeyboardInterrupt
        As :func:`fathom.distance_transform`.

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


@_by_radius
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


@_by_radius
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


@_by_radius
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


@_by_radius
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


@_by_radius
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


@_by_radius
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


@_by_thickness
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


@_by_thickness
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
    for name in options.keys() - set(_OPTIONS):
        raise TypeError(f"there is no option {name!r}; {operation} has {', '.join(_OPTIONS)}")
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
