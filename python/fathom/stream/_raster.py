"""Rasters that are computed where they are needed: around stream::Node of the C++ library."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any, Literal, Union

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.cuda import Pixels
from .._common.optional import need
from .._files import Path
from .._files import write as write_image
from ._computed import Computed, Kept
from ._graph import NUMBERS, Number, apply, dtype_name, greys, json_number, number

Sites = Literal["nonzero", "zero"]
Blend = Literal["max", "min", "sum", "first", "last", "mean"]
Operand = Union["Raster", "tuple[Raster, int, int]"]
"""A raster, or one with the row and the column at which its first pixel lies."""
_SHOWN = 512
"""Pixels along a side of a picture in a notebook."""
_DRAWN = 1 << 24
"""Pixels that are computed for such a picture at most."""


class Raster(Computed):
    """A raster that is never stored: its pixels are computed where they are asked for.

    Made by the functions of :mod:`fathom.stream` and by its own methods, each of which gives a new raster.
    ``raster[y0:y1, x0:x1]`` computes a part, [y, x]. Pixels are bool, uint8, uint16 or float32; results are rounded to
    nearest, ties to even, and saturate. Heights, widths, rows and columns are in pixels, distances in the unit of the
    pixels' size. What cannot be made is a ValueError that names the node and what is wrong; rasters whose pixels are of
    other sizes are brought to one by :meth:`resample`.

    Examples
    --------
    >>> import numpy as np
    >>> from fathom import stream
    >>> dot = stream.array(np.eye(3, dtype=np.uint8))
    >>> far = dot.repeat(2_000_000, 2_000_000).distance(max=15)
    >>> far
    fathom.stream.Raster(distance, shape=(2000000, 2000000), dtype=float32)
    >>> far[1_000_000:1_000_002, 5:9]
    array([[1., 1., 0., 1.],
           [0., 1., 1., 0.]], dtype=float32)
    """

    # Layout

    def repeat(self, height: int, width: int) -> Raster:
        """The raster again and again in both directions, up to a height and a width.

        Examples
        --------
        >>> import numpy as np
        >>> from fathom import stream
        >>> stream.array(np.array([[1, 2], [3, 4]], np.uint8)).repeat(3, 5)[:]
        array([[1, 2, 1, 2, 1],
               [3, 4, 3, 4, 3],
               [1, 2, 1, 2, 1]], dtype=uint8)
        """
        return make("repeat", [(self, "pattern")], height=height, width=width)

    def lattice(
        self,
        u: Sequence[int],
        v: Sequence[int],
        height: int,
        width: int,
        *,
        blend: Blend = "last",
        transparent: Number | Literal["auto"] | None = "auto",
        background: Number = 0,
        mask: Raster | None = None,
        weight: Raster | None = None,
    ) -> Raster:
        """Copies of the raster at all i·u + j·v, blended where they overlap, j outer, i inner.

        Parameters
        ----------
        u, v : pair of ints
            Steps (y, x), not parallel.
        height, width : int
            Of the result.
        blend : {"max", "min", "sum", "first", "last", "mean"}
            What becomes of pixels that several copies cover.
        transparent : number, "auto" or None
            Pixels of this value are not part of a copy. None: all are; so does "auto" with a mask, else it is 0.
        background : number
            Of pixels that no copy covers.
        mask, weight : Raster, optional
            Of the raster's shape. A copy covers where the mask is not 0, and if `transparent` is stated both must hold;
            a mean is weighted by the weight.

        Examples
        --------
        >>> import numpy as np
        >>> from fathom import stream
        >>> stream.array(np.array([[5, 7]], np.uint8)).lattice((0, 3), (1, 1), 3, 6)[:]
        array([[5, 7, 0, 5, 7, 0],
               [0, 5, 7, 0, 5, 7],
               [7, 0, 5, 7, 0, 5]], dtype=uint8)
        """
        children: list[tuple[Operand, str]] = [(self, "pattern")]
        children += [(of, role) for of, role in ((mask, "mask"), (weight, "weight")) if of is not None]
        stated: dict[str, Any] = {} if transparent == "auto" else {"transparent": transparent}
        return make(
            "lattice", children, u=list(u), v=list(v), height=height, width=width, blend=blend, background=background,
            **stated,
        )  # fmt: skip

    def crop(self, y: int, x: int, height: int, width: int) -> Raster:
        """A part of the raster, as a raster of height × width pixels; it must lie inside.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("x + 10*y", 4, 4, dtype="uint8").crop(1, 2, 2, 2)[:]
        array([[12, 13],
               [22, 23]], dtype=uint8)
        """
        return make("crop", [(self, "data")], y=y, x=x, height=height, width=width)

    def flip(self, rows: bool = False, columns: bool = False) -> Raster:
        """With its rows, its columns or both in reverse order.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("x", 1, 3).flip(columns=True)[:]
        array([[2., 1., 0.]], dtype=float32)
        """
        return make("flip", [(self, "data")], rows=bool(rows), columns=bool(columns))

    def rotate(self, quarters: int = 1) -> Raster:
        """Turned by quarters counter-clockwise, as :func:`numpy.rot90` does it; odd ones swap height and width.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("x", 1, 3).rotate()[:, 0]
        array([2., 1., 0.], dtype=float32)
        """
        return make("rotate", [(self, "data")], quarters=quarters)

    def resample(self, pixel: float, unit: str | None = None) -> Raster:
        """With pixels of another size: each has the value of the pixel in which its middle lies.

        Parameters
        ----------
        pixel : float
            Size of the new pixels, in the unit of those that there are.
        unit : str, optional
            That of the pixels that there are; another one is an error.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("x", 1, 6).resample(2.0)[:]
        array([[1., 3., 5.]], dtype=float32)
        """
        return make("resample", [(self, "data")], pixel=pixel, unit=self.pixel[1] if unit is None else unit)

    def mask(self, mask: Operand, background: Number = 0) -> Raster:
        """The raster where the mask is not 0, the background elsewhere. Beyond its edges the mask is 0.

        Examples
        --------
        >>> import numpy as np
        >>> from fathom import stream
        >>> one = stream.constant(9, 2, 4)
        >>> one.mask((stream.constant(1, 1, 2), 1, 1), background=3)[:]
        array([[3, 3, 3, 3],
               [3, 9, 9, 3]], dtype=uint8)
        """
        return make("mask", [(self, "data"), (mask, "mask")], background=background)

    # Compute

    def math(self, expression: str, *others: Operand, dtype: npt.DTypeLike = np.float32) -> Raster:
        """An expression of a, b, c, …: this raster and the others, in their order.

        Others lie where they say, their first pixel on the first of this raster's if they do not, and are 0 beyond
        their edges. It is computed in double; operators and functions are those of `fathom.stream.formula`.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("x", 1, 4).math("2*a + max(b, 1)", stream.formula("x*x", 1, 4), dtype="uint8")[:]
        array([[ 1,  3,  8, 15]], dtype=uint8)
        """
        children = [(of, "data") for of in (self, *others)]
        return make("math", children, expression=expression, dtype=dtype_name(dtype))

    def astype(self, dtype: npt.DTypeLike) -> Raster:
        """The same values in another type, bool, uint8, uint16 or float32: rounded and saturated.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("150.5*x", 1, 3).astype("uint8")[:]
        array([[  0, 150, 255]], dtype=uint8)
        """
        return self if dtype_name(dtype) == self._graph.dtype else self.math("a", dtype=dtype)

    def threshold(self, value: Number, above: bool = False) -> Raster:
        """Whether pixels are at least a number, or above it: bool. As ``raster >= value`` and ``raster > value``.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("x", 1, 3).threshold(1)[:]
        array([[False,  True,  True]])
        """
        return make("threshold", [(self, "data")], value=value, above=bool(above))

    def profile(
        self, z: str | Sequence[Number], *, dtype: npt.DTypeLike = np.uint8, infinite: Number | None = None
    ) -> Raster:
        """z = f(d) of each pixel's value d: an expression of d, or a table of the values at 0, 1, 2, …, linear between
        them.

        Parameters
        ----------
        z : str or sequence of numbers
            The function. Beyond a table's end its last entry counts.
        dtype : dtype
            Of the result.
        infinite : number, optional
            What becomes of +inf: where no site is within reach of a distance. Else the table's last entry, or the
            expression's value at the distance's bound. Of -inf it is the table's first, or the value at minus the
            bound.

        Examples
        --------
        >>> from fathom import stream
        >>> d = stream.formula("x == 0", 1, 6, dtype="bool").distance(max=3)
        >>> d.profile("255*exp(-d/5)")[:]
        array([[255, 209, 171, 140, 140, 140]], dtype=uint8)
        >>> d.profile([100, 50, 0])[:]
        array([[100,  50,   0,   0,   0,   0]], dtype=uint8)
        """
        fields: dict[str, Any] = {"dtype": dtype_name(dtype)}
        if isinstance(z, str):
            fields["expression"] = z
        else:
            fields["table"] = [number(entry, "the table") for entry in z]
        if infinite is not None:
            fields["infinite"] = infinite
        return make("profile", [(self, "data")], **fields)

    def distance(self, max: Number | None = None, *, to: Sites = "nonzero", signed: bool = False) -> Raster:
        """Distance to the nearest pixel that is not 0, float32, in the unit of the pixels' size.

        Parameters
        ----------
        max : number, optional
            Farther pixels are +inf. Without it the distance is exact everywhere, and is computed in whole rows from the
            first to the last: parts that are asked for in another order begin anew.
        to : {"nonzero", "zero"}
            Which pixels are the sites.
        signed : bool
            Negative inside, ±(d − ½) on both sides; with `max` alone.

        Raises
        ------
        ValueError
            `max` is not above 0, or more than 4096 pixels.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("x == 1", 1, 7, dtype="bool").distance(max=3)[:]
        array([[ 1.,  0.,  1.,  2.,  3., inf, inf]], dtype=float32)
        """
        bound: dict[str, Any] = {} if max is None else {"max": max}
        return make("distance", [(self, "mask")], **bound, to=to, signed=bool(signed))

    def halftone(self, matrix: int = 8) -> Raster:
        """Ordered dither to bool, by Bayer's matrix of 2, 4, 8 or 16: the share of pixels that are set is that of the
        value in the range of its type (of float32: in 0 … 1).

        Examples
        --------
        >>> from fathom import stream
        >>> float(stream.constant(0.25, 8, 8, dtype="float32").halftone()[:].mean())
        0.25
        """
        return make("halftone", [(self, "data")], matrix=matrix)

    def __add__(self, other: Operand | Number) -> Raster:
        return self._with(other, "{a} + {b}")

    def __radd__(self, other: Number) -> Raster:
        return self._with(other, "{b} + {a}")

    def __sub__(self, other: Operand | Number) -> Raster:
        return self._with(other, "{a} - {b}")

    def __rsub__(self, other: Number) -> Raster:
        return self._with(other, "{b} - {a}")

    def __mul__(self, other: Operand | Number) -> Raster:
        return self._with(other, "{a} * {b}")

    def __rmul__(self, other: Number) -> Raster:
        return self._with(other, "{b} * {a}")

    def __truediv__(self, other: Operand | Number) -> Raster:
        return self._with(other, "{a} / {b}")

    def __rtruediv__(self, other: Number) -> Raster:
        return self._with(other, "{b} / {a}")

    def __neg__(self) -> Raster:
        return self.math("-a")

    def __ge__(self, other: Operand | Number) -> Raster:
        return self.threshold(other) if isinstance(other, NUMBERS) else self._with(other, "{a} >= {b}", "bool")

    def __gt__(self, other: Operand | Number) -> Raster:
        return self.threshold(other, True) if isinstance(other, NUMBERS) else self._with(other, "{a} > {b}", "bool")

    def __le__(self, other: Operand | Number) -> Raster:
        return self._with(other, "{a} <= {b}", "bool")

    def __lt__(self, other: Operand | Number) -> Raster:
        return self._with(other, "{a} < {b}", "bool")

    def _with(self, other: Any, expression: str, dtype: str = "float32") -> Raster:
        if isinstance(other, NUMBERS):
            return self.math(expression.format(a="a", b=f"({+number(other, 'the operand')!r})"), dtype=dtype)
        if not isinstance(other, (Raster, tuple)):
            return NotImplemented  # type: ignore[no-any-return, unused-ignore]
        return self.math(expression.format(a="a", b="b"), other, dtype=dtype)

    # Out of this process

    def to_dask(self, chunks: Any = 2048) -> Any:
        """A Dask array whose chunks, of NumPy, are computed by the graph when they are needed.

        Raises
        ------
        ModuleNotFoundError
            Dask is not installed.
        """
        need("dask", "Dask", "to_dask()")
        from dask import array as dask_array  # type: ignore[import-not-found, unused-ignore]

        own = "".join(f"-{id(function):x}" for function in self._functions.values())  # their code has no hash
        name = f"fathom-{self._graph.hash()}{own}"
        return dask_array.from_array(_OnHost(self), chunks=chunks, name=name, asarray=True)

    def to_json(self, folder: Path | None = None) -> str:
        """The graph's document: for :func:`fathom.stream.from_json`, and for `fathom stream`. Arrays and functions
        stand in it by their names.

        Parameters
        ----------
        folder : path, optional
            In which the document will lie: paths of files are relative to it. If not given, they are absolute.
        """
        text = self._graph.document()
        if folder is None:
            return text
        document = json.loads(text)
        for node in document["nodes"].values():
            if node["type"] == "file":
                node["path"] = os.path.relpath(node["path"], folder)
        return json.dumps(document, indent=2, ensure_ascii=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy; functions must be what pickle can find again."""
        return read, (self._graph.document(), None, {}, self._arrays, self._functions)

    def _repr_png_(self) -> bytes | None:
        """For notebooks: all of it, made smaller; of what is larger than 16 million pixels a window at its middle;
        nothing where that takes too long."""
        longest, raster = max(self.shape), self
        if self.size > _DRAWN:
            if any(entry["sweeps"] for entry in self.plan["entries"]):
                return None
            height, width = (min(_SHOWN, extent) for extent in self.shape)
            raster = self.crop((self.shape[0] - height) // 2, (self.shape[1] - width) // 2, height, width)
        elif longest > _SHOWN:
            raster = self.resample(self.pixel[0] * longest / _SHOWN)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "raster.png")
            write_image(path, greys(np.asarray(raster)))
            with open(path, "rb") as file:
                return file.read()


class _OnHost(Raster):
    """A raster whose parts are NumPy arrays, whatever it is made of."""

    def __init__(self, raster: Raster) -> None:
        super().__init__(raster._graph, raster._arrays, raster._functions)
        self._raster = raster

    def _place(self, stream: Any) -> None:
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return _OnHost, (self._raster,)


def make(
    kind: str,
    children: Sequence[tuple[Operand, str]],
    *,
    own_arrays: Mapping[str, Kept] | None = None,
    own_functions: Mapping[str, Callable[..., Any]] | None = None,
    **fields: Any,
) -> Raster:
    """A raster of one more node: a document of that node alone, whose children are there already."""
    entries, nodes = [], {}
    arrays, functions = dict(own_arrays or {}), dict(own_functions or {})
    for k, (operand, role) in enumerate(children):
        raster, y, x = operand if isinstance(operand, tuple) and len(operand) == 3 else (operand, 0, 0)
        if not isinstance(raster, Raster):
            raise TypeError(f"a raster, or one with its place as (raster, y, x), is needed, not {operand!r}")
        nodes[f"child {k}"] = raster._graph
        entries.append({"node": f"child {k}", "role": role, "y": index(y), "x": index(x)})
        _merge(arrays, raster._arrays, "arrays")
        _merge(functions, raster._functions, "functions")
    fields = {name: json_number(value) if isinstance(value, NUMBERS) else value for name, value in fields.items()}
    node = {"type": kind, **fields, **({"children": entries} if entries else {})}
    document = {"fathom": "stream", "version": 1, "root": kind, "nodes": {kind: node}}
    return read(json.dumps(document), None, nodes, arrays, functions)


def read(
    document: str,
    folder: str | None,
    nodes: Mapping[str, _core.Graph],
    arrays: Mapping[str, Kept],
    functions: Mapping[str, Callable[..., Any]],
) -> Raster:
    """The raster of a document."""

    def place(path: str) -> str:
        return path if path == "-" else os.path.abspath(os.path.join(folder or "", path))

    views = {name: x.view if isinstance(x, Pixels) else x for name, x in arrays.items()}
    graph, told = _core.read_graph(document, dict(nodes), views, dict(functions), apply, place)
    for warning in told:
        warnings.warn(warning, stacklevel=4)
    return Raster(graph, arrays, functions)


def _merge(to: dict[str, Any], more: Mapping[str, Any], kind: str) -> None:
    for name, value in more.items():
        if to.setdefault(name, value) is not value:
            raise ValueError(f"the graph would have two {kind} of the name {name!r}; give one of them another name")
