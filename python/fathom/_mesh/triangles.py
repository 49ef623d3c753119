"""Triangles and points as callers give them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._arrays.dtypes import FLOATS, INDICES
from .._arrays.places import lies_on_cuda
from .._arrays.take import AnyInput, take_values
from .._common.warning import warn
from .field import Topology

Sign = Literal["auto", "none", "pseudonormal", "winding", "fast-winding"]
Rule = Literal["nonzero", "even-odd", "positive"]


def coordinates(x: Any, name: str, stream: Any) -> AnyInput:
    """Rows of x, y, z in a dense array of float32 or float64."""
    given = take_values(x, name, stream)
    if given.shape[-1:] != (3,):
        raise ValueError(f"{name} has the shape {given.shape}; it must have x, y, z in its last axis: (..., 3)")
    return given.coordinates(name, True).reals(name, FLOATS)


def faces_of(x: Any, stream: Any) -> npt.NDArray[Any]:
    """A copy on the host, in one of the types that the library reads."""
    array = take_values(x, "faces", stream if lies_on_cuda(x, "faces") else None).downloaded()
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"faces has the shape {array.shape}; it must have (f, 3): split polygons into triangles first")
    if array.dtype.kind not in "iu" and array.size > 0:
        raise TypeError(f"faces has the dtype {array.dtype}; numbers of vertices are integers")
    if array.dtype.kind == "u" and array.size > 0 and array.max() >= 2**31:
        raise ValueError(f"faces has the vertex {array.max()}; there are fewer")
    narrow = array.dtype.kind == "u" or np.can_cast(array.dtype, np.int32)
    return np.asarray(array, INDICES[0] if narrow else INDICES[1], order="C")


def warn_of_sign(sign: str, rule: str, topology: Topology) -> None:
    edges = "1 edge is open" if topology.open_edges == 1 else f"{topology.open_edges} edges are open"
    if topology.flipped_edges > 0:
        edges += f", {topology.flipped_edges} of them between faces turned against each other"
    if sign == "auto" and not topology.closed:
        ruled = ", whatever rule says" if rule != "nonzero" else ""
        warn(
            f"the mesh: {edges}, so inside is where the generalised winding number is at least 1/2{ruled}; sign says "
            "otherwise, sign='none' does without"
        )
    elif sign == "pseudonormal" and not topology.closed:
        text = "near which pseudonormals may mistake the side; sign='fast-winding' is for such meshes"
        warn(f"the mesh: {edges}, {text}")
    elif sign == "pseudonormal" and topology.volume < 0:
        warn(
            "the mesh is inside out: the sign pseudonormal makes distances inside it positive; turn its triangles "
            "round, as faces[:, ::-1], or use winding"
        )
