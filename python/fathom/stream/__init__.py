"""Rasters larger than any memory, computed on the fly from a graph of nodes.

Sources are made here; what becomes of them is said by methods and operators of :class:`Raster`. Nothing is computed
until a part is asked for.

>>> import numpy as np
>>> from fathom import stream
>>> dots = stream.array(np.eye(8, dtype=np.uint8)).repeat(1_000_000, 1_000_000)
>>> coat = dots.distance(max=15).profile("255*exp(-d/5)")
>>> coat[500_000, :6]
array([255, 209, 192, 163, 145, 163], dtype=uint8)
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays.annotations import ArrayLike
from .._arrays.cuda import CudaInput, Pixels
from .._arrays.given import as_numpy
from .._arrays.places import lies_on_cuda
from .._files import Path
from ._computed import Kept
from ._graph import Number, dtype_name, placement_rows
from ._raster import Blend, Operand, Raster, make, read

Raster.__module__ = "fathom.stream"
_TYPES = ("bool", "uint8", "uint16", "float32")
_count = itertools.count(1)

__all__ = ["Raster", "array", "constant", "formula", "from_json", "function", "noise", "open", "place"]


def array(x: ArrayLike, *, name: str | None = None, pixel: float = 1.0, unit: str = "") -> Raster:
    """An array as a raster: it is referred to, not copied, where its rows are contiguous, and must not change.

    An array on a CUDA device – of CuPy, PyTorch or the like – stays there, and what is made of it is computed there:
    parts are arrays of the same library on that device. ``compute(backend="cpu")`` copies what it reads of it to the
    host, and gives NumPy arrays, as ``numpy.asarray(raster)`` does.

    Parameters
    ----------
    x : array, [y, x]
        bool, uint8, uint16 or float32. On a device the call waits until it is complete.
    name : str, optional
        By which documents refer to it; "array-1" and so on if not given.
    pixel, unit
        Size of a pixel.

    Raises
    ------
    TypeError
        Another dtype.
    ValueError
        Not two axes, or an empty one.
    DeviceError
        It lies on a device that cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom import stream
    >>> stream.array(np.arange(6, dtype=np.uint16).reshape(2, 3))[1]
    array([3, 4, 5], dtype=uint16)
    """
    kept = _kept(x, "x")
    name = f"array-{next(_count)}" if name is None else name
    return make("array", [], own_arrays={name: kept}, name=name, pixel=pixel, unit=unit)


def open(path: Path, *, pixel: float | None = None, unit: str | None = None) -> Raster:
    """A file as a raster. TIFF, BigTIFF and NPY are read where they are needed, PNG and the like whole.

    Parameters
    ----------
    path : path
        Of the file.
    pixel, unit : optional
        Size of a pixel; what the file says if not given.

    Raises
    ------
    OSError
        The file cannot be read, or is no raster of two axes and one value a pixel.

    Warns
    -----
    UserWarning
        What the file says and a raster does not keep.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from fathom import stream
    >>> path = os.path.join(tempfile.mkdtemp(), "mask.npy")
    >>> np.save(path, np.eye(100, dtype=bool))
    >>> stream.open(path)
    fathom.stream.Raster(file, shape=(100, 100), dtype=bool)
    """
    given: dict[str, Any] = {"pixel": pixel, "unit": unit}
    return make("file", [], path=os.fspath(path), **{name: x for name, x in given.items() if x is not None})


def constant(
    value: Number, height: int, width: int, *, dtype: npt.DTypeLike = np.uint8, pixel: float = 1.0, unit: str = ""
) -> Raster:
    """A raster of one value, [height, width].

    Parameters
    ----------
    value : number
        Rounded and saturated to the dtype; of float32 also inf and nan.
    height, width : int
        In pixels, 1 to 2⁴⁰.
    dtype : dtype
        bool, uint8, uint16 or float32.
    pixel, unit
        Size of a pixel.

    Examples
    --------
    >>> from fathom import stream
    >>> stream.constant(300, 1, 3)[:]
    array([[255, 255, 255]], dtype=uint8)
    """
    return make(
        "constant", [], value=value, height=height, width=width, dtype=dtype_name(dtype), pixel=pixel, unit=unit
    )


def formula(
    expression: str, height: int, width: int, *, dtype: npt.DTypeLike = np.float32, pixel: float = 1.0, unit: str = ""
) -> Raster:
    """The value of an expression of x and y, columns and rows from 0; other parameters as for :func:`constant`.

    Parameters
    ----------
    expression : str
        Of `x` and `y`, computed in double: ``+ - * / ^``, comparisons, ``&&``, ``||``, ``if ? then : else``, min, max,
        sum, avg, abs, sqrt, exp, ln, log2, log10, pow, the trigonometric and hyperbolic functions, atan2, hypot, floor,
        ceil, rint, sign, _pi and _e.

    Raises
    ------
    ValueError
        It does not parse: the message says where.

    Examples
    --------
    >>> from fathom import stream
    >>> stream.formula("10*y + x", 2, 3)[:]
    array([[ 0.,  1.,  2.],
           [10., 11., 12.]], dtype=float32)
    """
    return make(
        "formula", [], expression=expression, height=height, width=width, dtype=dtype_name(dtype), pixel=pixel,
        unit=unit,
    )  # fmt: skip


def noise(
    seed: int, height: int, width: int, *, dtype: npt.DTypeLike = np.uint8, pixel: float = 1.0, unit: str = ""
) -> Raster:
    """Equally distributed random values over the whole range of the type, of float32 in [0, 1). A pixel's value depends
    on the seed, y and x alone. Other parameters as for :func:`constant`.

    Examples
    --------
    >>> from fathom import stream
    >>> grain = stream.noise(7, 1_000_000, 1_000_000, dtype="float32")
    >>> bool((grain[5:9, 5:9] == grain[:16, :16][5:9, 5:9]).all())
    True
    """
    return make("noise", [], seed=seed, height=height, width=width, dtype=dtype_name(dtype), pixel=pixel, unit=unit)


def place(
    rasters: Sequence[Raster],
    placements: npt.ArrayLike,
    height: int,
    width: int,
    *,
    blend: Blend = "last",
    transparent: Number | None = None,
    background: Number = 0,
) -> Raster:
    """Copies of some rasters anywhere.

    Parameters
    ----------
    rasters : sequence of Raster
        Of one dtype.
    placements : array of ints, [n, 3]
        Row and column of a copy's first pixel, and the number of its raster; [n, 2] are all of the first one.
    height, width : int
        Of the result.
    blend, transparent, background
        As for :meth:`Raster.lattice`, but that all pixels cover if nothing is said.

    Examples
    --------
    >>> from fathom import stream
    >>> stream.place([stream.constant(7, 2, 2), stream.constant(5, 1, 3)], [(0, 1, 0), (1, 2, 1)], 2, 6)[:]
    array([[0, 7, 7, 0, 0, 0],
           [0, 7, 5, 5, 5, 0]], dtype=uint8)
    """
    rows = placement_rows(placements)
    return make(
        "place", [(raster, "data") for raster in rasters], placements=rows.ravel().tolist(), height=height, width=width,
        blend=blend, transparent=transparent, background=background,
    )  # fmt: skip


def function(
    f: Callable[..., Any], *rasters: Operand, halo: int = 0, dtype: npt.DTypeLike | None = None, name: str | None = None
) -> Raster:
    """A node of your own: a function of arrays.

    Parameters
    ----------
    f : function
        Gets an array of each raster, a part with `halo` more pixels on each side, which beyond the raster's edges are
        0. Gives an array of the same shape, of which the halo is cut off, or one of the part alone. It must give the
        same value for a pixel whatever the part, and is called by several threads, one at a time.
    *rasters : Raster
        At least one, which says the shape; others as for :meth:`Raster.math`.
    halo : int
        Pixels around a part that f needs, at most 4096.
    dtype : dtype, optional
        Of the result, which is rounded and saturated to it; the first raster's if not given.
    name : str, optional
        By which documents refer to it; the function's own if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom import stream
    >>> def spread(a):
    ...     return np.maximum(a, np.maximum(np.roll(a, 1, 1), np.roll(a, -1, 1)))
    >>> stream.function(spread, stream.formula("x == 4", 1, 9, dtype="uint8"), halo=1)[:]
    array([[0, 0, 0, 1, 1, 1, 0, 0, 0]], dtype=uint8)
    """
    if not callable(f):
        raise TypeError(f"f must be a function of arrays, not {f!r}")
    if not rasters:
        raise TypeError("a function takes at least one raster")
    if name is None:
        own: str = getattr(f, "__name__", type(f).__name__)
        name = own if own != "<lambda>" else f"function-{next(_count)}"
    more: dict[str, Any] = {} if dtype is None else {"dtype": dtype_name(dtype)}
    children = [(raster, "data") for raster in rasters]
    return make("function", children, own_functions={name: f}, name=name, halo=halo, **more)


def from_json(
    document: str,
    *,
    folder: Path | None = None,
    arrays: Mapping[str, Any] | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Raster:
    """The raster of a document: what :meth:`Raster.to_json` gives, and `fathom stream` reads.

    Parameters
    ----------
    document : str
        The JSON text.
    folder : path, optional
        Where relative paths in it begin; the working directory if not given.
    arrays, functions : dict, optional
        What the document refers to, by name.

    Raises
    ------
    ValueError
        What is wrong, with the node and the field.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom import stream
    >>> far = stream.array(np.eye(4, dtype=bool), name="mask").repeat(100, 100).distance(max=5)
    >>> again = stream.from_json(far.to_json(), arrays={"mask": np.eye(4, dtype=bool)})
    >>> bool((again[:] == far[:]).all())
    True
    """
    if not isinstance(document, str):
        raise TypeError(f"a document is a text, not {type(document).__name__}")
    kept = {name: _kept(x, f"the array {name!r}") for name, x in (arrays or {}).items()}
    return read(document, None if folder is None else os.fspath(folder), {}, kept, functions or {})


def _kept(x: Any, name: str) -> Kept:
    """An array that the library can refer to."""
    kept = CudaInput.of_values(x, name, None) if lies_on_cuda(x, name) else as_numpy(x, name)
    if kept.dtype.name not in _TYPES:
        raise TypeError(f"{name} has the dtype {kept.dtype}; rasters hold {', '.join(_TYPES)}: convert it by astype()")
    if len(kept.shape) != 2:
        raise ValueError(f"{name} has the shape {kept.shape}; a raster has two axes")
    if isinstance(kept, CudaInput):
        return Pixels(kept)
    if kept.strides[1] != kept.itemsize or kept.strides[0] < 0 or not kept.dtype.isnative or not kept.flags.aligned:
        kept = np.ascontiguousarray(kept, kept.dtype.newbyteorder("="))
    return kept
