"""What users bring besides plain arrays: taken for what it is, or refused by its name, with the way out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .dtypes import FLOATS, READABLE, DType

Array = npt.NDArray[Any]

_KINDS = (
    ("numpy.ma", "MaskedArray", "a masked array, whose mask would be lost; give {0}.filled(value)"),
    ("dask.array", "Array", "a Dask array, and distances need the whole of it; give {0}.compute()"),
    ("xarray", "Dataset", "an xarray Dataset, which has many arrays; give one of them, as {0}['name']"),
    ("scipy.sparse", "spmatrix", "a sparse array of SciPy; give {0}.toarray()"),
    ("scipy.sparse", "sparray", "a sparse array of SciPy; give {0}.toarray()"),
)
"""Module, class, and what is wrong with it: NumPy would make something else of it than its elements, or without a word
too much."""
_COLOURLESS = frozenset(("1", "L", "P", "I", "F", "I;16", "I;16L", "I;16B", "I;16N"))
"""Pillow's modes of one value for each pixel; of a palette these are the indices."""


def is_of(x: Any, module: str, kind: str) -> bool:
    """Whether it is of a class of a module that somebody may have imported."""
    found = getattr(sys.modules.get(module), kind, None)
    return found is not None and isinstance(x, found)


def plain(x: Any) -> Any:
    """A tensor of a subclass of PyTorch's as a tensor: what a subclass does on the way is not asked for."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor) or type(x) is torch.Tensor:
        return x
    with torch._C.DisableTorchFunctionSubclass():
        return x.as_subclass(torch.Tensor)


def refuse(x: Any, name: str) -> None:
    """Raises TypeError for what is no array of numbers."""
    if isinstance(x, (str, os.PathLike)):
        raise TypeError(f"{name} is a path or text, not an array; read the file first, with fathom.read()")
    if isinstance(x, bytes):
        raise TypeError(f"{name} is bytes, without dtype or shape; give numpy.frombuffer({name}, dtype).reshape(shape)")
    for module, kind, what in _KINDS:
        if is_of(x, module, kind):
            raise TypeError(f"{name} is {what.format(name)}")
    if is_of(x, "xarray", "DataArray") and x.chunks is not None:
        raise TypeError(
            f"{name} has its elements in Dask's chunks, and distances need the whole; give {name}.compute()"
        )
    if is_of(x, "PIL.Image", "Image") and x.mode not in _COLOURLESS:
        raise TypeError(
            f"{name} is an image of Pillow's mode {x.mode}, whose colours are no axis of space; give one of them, as "
            f"{name}.getchannel(0), or {name}.convert('L')"
        )


def as_numpy(x: Any, name: str, *, carried: bool = False) -> Array:
    """Its elements. `carried`: in their own type, whatever it is, or not at all.

    Raises
    ------
    TypeError
        It has none that NumPy knows.
    """
    if type(x) is not np.ndarray:
        refuse(x, name)
        x = plain(x)
    try:
        if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
            return np.asarray(x)
        return np.from_dlpack(x)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        dtype = str(getattr(x, "dtype", ""))
        if dtype.endswith("bfloat16") and not carried:
            given: Any = x
            return as_numpy(given.float() if hasattr(given, "float") else given.astype("float32"), name)
        if "dtype" in str(error):
            raise TypeError(f"{name} has the dtype {dtype}, which NumPy does not have; convert it first") from error
        raise TypeError(f"{name} must be an array of numbers: {error}") from error


def is_narrow(dtype: DType) -> bool:
    """Whether it is a float of few bits that NumPy has not of itself, as bfloat16."""
    return dtype.kind == "V" and bool(np.can_cast(dtype, FLOATS[0]))


def readable_type(dtype: DType, name: str) -> DType:
    """The one that the library reads such elements in: float32 for those of fewer bits, as float16 and bfloat16.

    Raises
    ------
    TypeError
        They are no numbers that have an order.
    """
    if dtype.char in READABLE:
        return dtype.newbyteorder("=")
    if dtype.char == "e" or is_narrow(dtype):
        return FLOATS[0]
    hint = ""
    if dtype.names:
        hint = f"; give one field, as {name}['{dtype.names[0]}']"
    elif dtype.kind == "c":
        hint = f"; give numpy.abs({name}), or one part of it"
    elif dtype.kind == "O":
        hint = f"; if its elements are numbers, give numpy.asarray({name}, float)"
    raise TypeError(f"{name} has the dtype {dtype}; it must be bool, integer or float of up to 64 bits{hint}")


class Labelled:
    """Makes DataArrays of results, beside the one that was given: with its name, dimensions and coordinates."""

    def __init__(self, given: Any, keep_attributes: bool, leading: int = 0) -> None:
        self._given = given
        self._keep_attributes = keep_attributes
        """Values that are carried mean what they meant; distances do not."""
        self._leading = leading

    def within(self, leading: int, ranges: Sequence[tuple[int, int]]) -> Labelled:
        """For results of a part. `leading`: axes that count images."""
        part = self._given[(..., *(slice(*bounds) for bounds in ranges))]
        return Labelled(part, self._keep_attributes, leading)

    def __call__(self, values: Array) -> Any:
        given = self._given
        dims = list(given.dims)
        if values.ndim > len(dims):  # coordinates of sites
            dims.insert(self._leading, "axis" if "axis" not in dims else "axis_of_space")
        attributes = given.attrs if self._keep_attributes else None
        return type(given)(values, coords=given.coords, dims=dims, name=given.name, attrs=attributes)


def way_back(x: Any, carried: bool = False) -> Any:
    """How x's library makes an array of its own from a NumPy array, by the array API standard or by habit; else None.

    `carried`: results are values of x.
    """
    if isinstance(x, np.ndarray):
        return None
    if is_of(x, "xarray", "DataArray"):
        return Labelled(x, carried)
    if not hasattr(x, "__dlpack__"):
        return None
    namespace = getattr(x, "__array_namespace__", None)
    library = namespace() if namespace else sys.modules.get(type(x).__module__.partition(".")[0])
    return getattr(library, "from_dlpack", None)
