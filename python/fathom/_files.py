"""Images and volumes in files, with what the files say of them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays.annotations import ArrayLike
from ._arrays.given import as_numpy

Path = str | os.PathLike[str]
_COLOURS = {"luminance": 0, "packed": 1, "samples": 2}


class Image:
    """An array of a file, and what the file says of it; :func:`numpy.asarray` gives the array.

    Attributes
    ----------
    data : ndarray
        The elements, axes in the file's order, slowest first.
    """

    def __init__(self, data: npt.NDArray[Any], meaning: _core.Meaning) -> None:
        self.data = data
        self._meaning = meaning

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is None:
            return np.asarray(self.data, dtype)
        return np.array(self.data, dtype, copy=copy)

    def __repr__(self) -> str:
        parts = [f"shape={self.data.shape}", f"dtype={self.data.dtype}"]
        parts += [f"{name}={getattr(self, name)!r}" for name in ("axes", "spacing", "unit") if getattr(self, name)]
        return f"fathom.Image({', '.join(parts)})"

    @property
    def axes(self) -> str:
        """What the axes are, a letter each: z, y, x of space, c channels, t time, s samples of a pixel; "" if the file
        does not say it."""
        return self._meaning.axes

    @property
    def spacing(self) -> tuple[float, ...] | None:
        """Size of an element along each axis of space; None if the file states none."""
        spacing = self._meaning.spacing
        return None if spacing is None else tuple(spacing)

    @property
    def unit(self) -> str:
        """Of the spacing, such as "µm"; "" if the file states none."""
        return self._meaning.unit

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels; () if the file names none."""
        return tuple(self._meaning.channels)

    @property
    def origin(self) -> tuple[float, float, float] | None:
        """Position x, y, z of the first element, as the file has it; None if it states none."""
        origin = self._meaning.origin
        return None if origin is None else (origin[0], origin[1], origin[2])

    @property
    def directions(self) -> npt.NDArray[np.float64] | None:
        """Unit vectors x, y, z of the axes of space, [axes, 3]; None as for `origin`."""
        return np.array(self._meaning.directions) if self._meaning.directions else None

    @property
    def no_data(self) -> str:
        """The value of elements that hold no data, as the file writes it; "" if it states none."""
        return self._meaning.no_data

    @property
    def georeference(self) -> str:
        """What places are counted in, such as "EPSG:32633"; "" if the file states none."""
        return self._meaning.georeference


def read(
    path: Path,
    *,
    colours: Literal["luminance", "packed", "samples"] = "samples",
    channel: str | int | None = None,
    print_resolution: bool = False,
) -> Image:
    """Reads an image or volume: PNG, TIFF, NPY, NIfTI and others, by the file's first bytes.

    Parameters
    ----------
    path : str or path
    colours : {"samples", "packed", "luminance"}, optional
        What becomes of pixels that hold colours: all samples, as a last axis "s"; one integer for each colour, 0 for
        black, as the command has it for sites and labels; a gray value, Rec. 601. Palette images are their indices.
    channel : str or int, optional
        The sample of a pixel to take alone: "red", "alpha", 2.
    print_resolution : bool, optional
        Take the resolution at which PNG and TIFF are to be printed for their spacing, in millimetres.

    Returns
    -------
    Image
        The array with its axes, spacing, unit and place.

    Raises
    ------
    OSError
        The file is missing, broken, of a kind that is not read, or larger than the free memory.

    Warns
    -----
    UserWarning
        For everything that the file says and that is not in the result, or had to be guessed.

    Examples
    --------
    >>> import fathom, numpy as np, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "mask.tif")
    >>> fathom.write(path, np.eye(3, dtype=np.uint8), spacing=(0.5, 0.2), unit="µm")
    >>> mask = fathom.read(path)
    >>> mask
    fathom.Image(shape=(3, 3), dtype=uint8, axes='yx', spacing=(0.5, 0.2), unit='µm')
    >>> fathom.distance_transform(mask.data, spacing=mask.spacing)[0]
    array([0.2, 0. , 0. ], dtype=float32)
    """
    if colours not in _COLOURS:
        raise ValueError(f"colours is {colours!r}; it must be 'samples', 'packed' or 'luminance'")
    name = "" if channel is None else str(channel)
    data, meaning, told = _core.read(os.fspath(path), _COLOURS[colours], name, print_resolution)
    for text in told:
        warnings.warn(f"{os.fspath(path)} {text}", UserWarning, stacklevel=2)
    return Image(data, meaning)


def write(
    path: Path,
    array: ArrayLike,
    *,
    spacing: Sequence[float] | float | None = None,
    unit: str | None = None,
    axes: str = "",
    like: Image | None = None,
    compress: bool = False,
) -> None:
    """Writes an array; the path's ending names the format. The path holds the old file or the new one at any moment.

    Parameters
    ----------
    path : str or path
        Ends in .npy, .tif, .nii, .nii.gz, .png or another ending that the command writes.
    array : array_like
        Bool, integers or floats of up to 64 bits, as the format holds them.
    spacing : float or sequence of float, optional
        Size of an element along each axis of space, or one for all.
    unit : str, optional
        Of the spacing: "µm", "mm", "m", …
    axes : str, optional
        What the axes are, a letter each, such as "tczyx".
    like : Image, optional
        What it says of its array is said of this one: axes, spacing, unit, origin, orientation, georeference; where
        `spacing`, `unit` and `axes` say something else, they win.
    compress : bool, optional
        Deflate a TIFF or NRRD.

    Raises
    ------
    ValueError
        The format does not hold such an array, or the arguments do not fit it.
    OSError
        The file cannot be written; no partial file is left.

    Warns
    -----
    UserWarning
        What was to be said of the array, and the format does not hold.

    Examples
    --------
    >>> import fathom, numpy as np, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "cells.tif")
    >>> fathom.write(path, np.zeros((2, 4, 5, 6), np.uint8), spacing=(1.5, 0.2, 0.2), unit="µm", axes="czyx")
    >>> fathom.read(path)
    fathom.Image(shape=(2, 4, 5, 6), dtype=uint8, axes='czyx', spacing=(1.5, 0.2, 0.2), unit='µm')
    """
    elements = np.asarray(array.data if isinstance(array, Image) else as_numpy(array, "array"), order="C")
    if elements.dtype.char not in "?bBhHiIlLqQfd":
        raise TypeError(f"array has the dtype {elements.dtype}; files hold bool, integers or floats of up to 64 bits")
    if not elements.dtype.isnative:
        elements = elements.astype(elements.dtype.newbyteorder("="))
    if axes and len(axes) != elements.ndim:
        raise ValueError(f"axes {axes!r} names {len(axes)} axes, but array has {elements.ndim}")
    meaning = _core.Meaning() if like is None else like._meaning
    meaning = meaning.changed(elements.ndim, axes, [], unit)
    if spacing is not None:
        meaning = meaning.changed(elements.ndim, "", _along_all(spacing, meaning, axes, elements.ndim), unit)
    lost = _core.write(os.fspath(path), elements, meaning, compress)
    if lost:
        warnings.warn(f"{os.fspath(path)}: {lost}", UserWarning, stacklevel=2)


def _along_all(spacing: Sequence[float] | float, meaning: _core.Meaning, axes: str, ndim: int) -> list[float]:
    """One per axis of the array, 0 along those that are not of space."""
    names = axes or meaning.axes or "?" * ndim
    is_space = [name in "zyxw?" for name in names]
    given = [float(s) for s in np.atleast_1d(np.asarray(spacing, float))]
    if len(given) == 1:
        given *= sum(is_space)
    if len(given) != sum(is_space):
        raise ValueError(f"spacing has {len(given)} values for an array with {sum(is_space)} axes of space")
    if not all(0 < s < float("inf") for s in given):
        raise ValueError("spacings are finite and greater than 0")
    rest = iter(given)
    return [next(rest) if space else 0 for space in is_space]
