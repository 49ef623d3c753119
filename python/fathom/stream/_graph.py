"""What nodes of tile graphs take – numbers, types, placements, functions – as documents and the library have them; and
what is said and shown of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Union

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Number = Union[int, float]
NUMBERS = (bool, int, float, np.number, np.bool_)


def number(value: Any, name: str) -> Number:
    """A plain number of a NumPy one, or the like; finite."""
    if not isinstance(value, NUMBERS):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    plain = json_number(value)
    if isinstance(plain, str):
        raise ValueError(f"{name} is {plain}; it must be finite")
    return plain


def json_number(value: Any) -> Number | str:
    """As documents have numbers: what is not finite by a word."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    return float(value) if math.isfinite(value) else f"{float(value)}"


def dtype_name(dtype: npt.DTypeLike) -> str:
    return np.dtype(dtype).name


def apply(
    function: Callable[..., Any], given: tuple[Array, ...], halo: int, dtype: str, height: int, width: int
) -> Array:
    """A part, of the result of a user's function: of its own shape, or with the halo around."""
    result = np.asarray(function(*given))
    if result.shape == given[0].shape:
        result = result[halo : halo + height, halo : halo + width]
    if result.shape != (height, width):
        raise ValueError(
            f"the function gave an array of the shape {result.shape} for a part of {(height, width)} pixels and a halo "
            f"of {halo}; it must have the shape {given[0].shape} that it was given, or {(height, width)}"
        )
    if result.dtype.name != dtype:
        result = saturated(result, dtype)
    return np.ascontiguousarray(result)


def saturated(values: Array, dtype: str) -> Array:
    """Rounded to nearest, ties to even, and kept to the type's range; NaN becomes 0 in integers, false in bool."""
    if values.dtype.kind not in "biuf":
        raise TypeError(f"the function gave elements of the type {values.dtype}; they must be numbers")
    if dtype == "bool":
        return np.asarray((values != 0) & (values == values))
    if dtype == "float32":
        with np.errstate(over="ignore"):
            return values.astype(np.float32)
    if values.dtype.kind == "f":
        values = np.rint(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf))
    return np.clip(values, 0, np.iinfo(dtype).max).astype(dtype)


def placement_rows(placements: Any) -> Array:
    rows = np.asarray(placements)
    if rows.size == 0:
        rows = np.empty((0, 3), np.int64)
    if rows.ndim != 2 or rows.shape[1] not in (2, 3):
        raise ValueError(f"placements have the shape {rows.shape}; they must be rows of y, x and the raster's number")
    if rows.dtype.kind not in "iu":
        raise TypeError(f"placements have the dtype {rows.dtype}; they must be integers")
    if rows.shape[1] == 2:
        rows = np.column_stack([rows, np.zeros(len(rows), rows.dtype)])
    return np.ascontiguousarray(rows, np.int64)


def words_of(node: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """A line of what explain() says."""
    height, width = entry["shape"]
    words = [f"{node['type']} {height} × {width} {entry['dtype']}"]
    skipped = ("type", "children", "height", "width", "dtype", "pixel", "unit")
    for name, value in node.items():
        if name not in skipped:
            text = json.dumps(value, ensure_ascii=False).strip('"')
            words.append(f"{name} {text if len(text) <= 40 else text[:37] + '…'}")
    if entry["halo"]:
        words.append(f"halo {entry['halo']}")
    if entry["cell"]:
        cell_height, cell_width, skew = entry["cell"]
        words.append(f"a cell of {cell_height} × {cell_width} is computed and copied" + f", skew {skew}" * (skew > 0))
    if entry["kept"]:
        words.append("tiles of {} × {} are kept".format(*entry["tile"]))
    if entry["sweeps"]:
        words.append("exact, in rows from the first to the last")
    return ", ".join(words)


def greys(values: Array) -> Array:
    """As uint8: floats from their least to their largest."""
    if values.dtype == np.bool_:
        return values.astype(np.uint8) * np.uint8(255)
    if values.dtype == np.uint16:
        return (values >> 8).astype(np.uint8)
    if values.dtype == np.uint8:
        return values
    finite = np.isfinite(values)
    least, most = (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 1.0)
    scaled = (values.astype(np.float64) - least) / max(most - least, 1e-30) * 255
    return saturated(np.nan_to_num(scaled, nan=0.0, posinf=255.0, neginf=0.0), "uint8")
