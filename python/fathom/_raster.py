"""Rasters that are computed where they are needed: around stream::Node and stream::Evaluator of the C++ library."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import index
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._cuda import CudaInput
from ._files import Path
from ._files import write as write_image
from ._graph import NUMBERS, Array, Number, apply, dtype_name, greys, number, placements_in, words_of
from ._optional import need
from ._options import Memory, backend_number, byte_count, thread_count
from ._places import lies_on_cuda
from ._progress import Progress, listener

Operand = Union["Raster", "tuple[Raster, int, int]"]
"""A raster, or one with the row and the column at which its first pixel lies."""
_SHOWN = 512
"""Pixels along a side of a picture in a notebook."""
_DRAWN = 1 << 24
"""Pixels that are computed for such a picture at most."""


class Raster:
    """A raster that is never stored: its pixels are computed where they are asked for.

    Made by the functions of :mod:`fathom.stream` and by its own methods, each of which gives a new raster.
    ``raster[y0:y1, x0:x1]`` computes a part. Pixels are bool, uint8, uint16 or float32; results are rounded to nearest,
    ties to even, and saturate.

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

    ndim = 2
    __array_ufunc__ = None  # np.float32(2) * raster is a raster, not an array of all pixels

    def __init__(
        self, graph: _core.Graph, arrays: Mapping[str, Array], functions: Mapping[str, Callable[..., Any]]
    ) -> None:
        self._graph = graph
        self._arrays = dict(arrays)
        self._functions = dict(functions)
        """What the graph's document refers to, by name."""
        self._computers: dict[tuple[int | None, ...], _core.Computer] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy; functions must be what pickle can find again."""
        return read, (self.to_json(), None, {}, self._arrays, self._functions)

    def __repr__(self) -> str:
        height, width = self.shape
        return f"fathom.stream.Raster({self._graph.type}, shape=({height}, {width}), dtype={self.dtype})"

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width, in pixels."""
        return self._graph.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """bool, uint8, uint16 or float32."""
        return np.dtype(self._graph.dtype)

    @property
    def pixel(self) -> tuple[float, str]:
        """Size of a pixel and its unit; "" where that is not stated."""
        return self._graph.pixel

    @property
    def size(self) -> int:
        """Number of pixels."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes that all pixels would take."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

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
        blend: str = "last",
        transparent: Number | None = 0,
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
        transparent : number, optional
            Pixels of this value are not part of a copy. None: all are.
        background : number
            Of pixels that no copy covers.
        mask, weight : Raster, optional
            Of the raster's shape. A copy covers where the mask is not 0; a mean is weighted by the weight.

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
        return make(
            "lattice", children, u=list(u), v=list(v), height=height, width=width, blend=blend,
            transparent=transparent, background=background,
        )  # fmt: skip

    def crop(self, y: int, x: int, height: int, width: int) -> Raster:
        """A part of the raster, as a raster."""
        return make("crop", [(self, "data")], y=y, x=x, height=height, width=width)

    def flip(self, rows: bool = False, columns: bool = False) -> Raster:
        """With its rows, its columns or both in reverse order."""
        return make("flip", [(self, "data")], rows=bool(rows), columns=bool(columns))

    def rotate(self, quarters: int = 1) -> Raster:
        """Turned by quarters counter-clockwise, as :func:`numpy.rot90` does it."""
        return make("rotate", [(self, "data")], quarters=quarters)

    def resample(self, pixel: float, unit: str | None = None) -> Raster:
        """With pixels of another size: each has the value of the pixel in which its middle lies.

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
        their edges. It is computed in double; muParser's operators and functions may be used.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("x", 1, 4).math("2*a + max(b, 1)", stream.formula("x*x", 1, 4), dtype="uint8")[:]
        array([[ 1,  3,  8, 15]], dtype=uint8)
        """
        children = [(of, "data") for of in (self, *others)]
        return make("math", children, expression=expression, dtype=dtype_name(dtype))

    def astype(self, dtype: npt.DTypeLike) -> Raster:
        """The same values in another type: rounded and saturated."""
        return self if dtype_name(dtype) == self._graph.dtype else self.math("a", dtype=dtype)

    def threshold(self, value: Number, above: bool = False) -> Raster:
        """Whether pixels are at least a number, or above it: bool. As ``raster >= value`` and ``raster > value``."""
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
            expression's value at the distance's bound. Of -inf it is the table's first, or the value at minus the bound.

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

    def distance(self, max: Number | None = None, *, to: str = "nonzero", signed: bool = False) -> Raster:
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
        value in the range of its type (of float32: in 0 … 1)."""
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

    # What computes

    def __getitem__(self, key: Any) -> Array:
        """Computes a part. Steps other than 1 are not possible; a single row or column goes, as in NumPy."""
        keys = key if isinstance(key, tuple) else (key,)
        if Ellipsis in [k for k in keys if k is Ellipsis]:
            at = next(n for n, k in enumerate(keys) if k is Ellipsis)
            keys = keys[:at] + (slice(None),) * (3 - len(keys)) + keys[at + 1 :]
        if len(keys) > 2:
            raise IndexError(f"a raster has 2 axes, but {len(keys)} were indexed")
        spans = [_span(k, extent) for k, extent in zip((*keys, *[slice(None)] * (2 - len(keys))), self.shape)]
        (y0, y1, one_row), (x0, x1, one_column) = spans
        part = self.compute(y0, x0, y1, x1)
        return part[0 if one_row else slice(None), 0 if one_column else slice(None)]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype)

    def compute(
        self,
        y0: int = 0,
        x0: int = 0,
        y1: int | None = None,
        x1: int | None = None,
        *,
        out: Any = None,
        memory: Memory = None,
        backend: str | None = None,
        threads: int | None = None,
        stream: Any = None,
        progress: Progress = None,
    ) -> Any:
        """Rows y0 … y1 − 1 of the columns x0 … x1 − 1, as a NumPy array or where `out` is.

        Parameters
        ----------
        out : array, optional
            Where they go: of the part's shape and the raster's dtype. An array on a CUDA device is computed there, and
            returned once that is in its stream's order.
        memory : int or str, optional
            Most bytes for all of the work but the result: 100_000_000 or "100MB" or "96MiB"; with a device, of each of
            the two. The same bytes come out.
        backend : {"auto", "cpu", "cuda"}, optional
            Where it is computed. "auto" takes a device for large rasters of which it can compute all.
        threads : int, optional
            All processors if not given.
        stream : optional
            For an `out` on a device: a stream of PyTorch or CuPy, or its address; else the library's current one.
        progress : bool or function, optional
            As for :func:`fathom.distance_transform`.

        Raises
        ------
        DeviceError
            "cuda" without a device, or one without the memory for it.
        ValueError
            A part beyond the raster, or less memory than works: the message names the smallest that does.
        OSError
            A file cannot be read, or changed meanwhile.
        KeyboardInterrupt
            Ctrl-C stops it.

        Examples
        --------
        >>> from fathom import stream
        >>> stream.formula("x + 10*y", 4, 4, dtype="uint8").compute(1, 1, 3, 4, memory="64MiB", threads=1)
        array([[11, 12, 13],
               [21, 22, 23]], dtype=uint8)
        """
        height, width = self.shape
        y1, x1 = height if y1 is None else index(y1), width if x1 is None else index(x1)
        y0, x0 = index(y0), index(x0)
        if not (0 <= y0 <= y1 <= height and 0 <= x0 <= x1 <= width):
            raise ValueError(f"the part {y0}:{y1}, {x0}:{x1} does not lie in the raster of {height} × {width} pixels")
        shape = y1 - y0, x1 - x0
        if out is not None and lies_on_cuda(out, "out"):
            there = CudaInput.of_values(out, "out", stream)
            return there.compute((y0, x0, y1, x1), self._computer(memory, threads, backend, there.device), out, self.dtype)
        if out is None:
            out = np.empty(shape, self.dtype)
        elif out.shape != shape or out.dtype != self.dtype or (out.size and out.strides[1] != out.itemsize):
            raise ValueError(f"out must be {self.dtype} of the shape {shape}, its rows contiguous")
        if out.size:
            self._computer(memory, threads, backend).compute([y0, x0, y1, x1], out, listener(progress))
        return out

    def bands(
        self, rows: int | None = None, *, memory: Memory = None, threads: int | None = None
    ) -> Iterator[tuple[int, Array]]:
        """All of the raster, whole rows from the first to the last: pairs of a band's first row and its pixels.

        Examples
        --------
        >>> from fathom import stream
        >>> [(y, int(band.max())) for y, band in stream.formula("x*y", 5, 3).bands(rows=2)]
        [(0, 2), (2, 6), (4, 8)]
        """
        if rows is None:
            rows = self._plan(memory, threads)["band"][0]
        for y, _, band in self.tiles(rows, self.shape[1], memory=memory, threads=threads):
            yield y, band

    def tiles(
        self, height: int = 1024, width: int = 1024, *, memory: Memory = None, threads: int | None = None
    ) -> Iterator[tuple[int, int, Array]]:
        """All of the raster, tile by tile and row after row of them: a tile's first row and column, and its pixels."""
        if height < 1 or width < 1:
            raise ValueError(f"tiles of {height} × {width} pixels; height and width must be 1 or more")
        for y in range(0, self.shape[0], height):
            for x in range(0, self.shape[1], width):
                y1, x1 = min(y + height, self.shape[0]), min(x + width, self.shape[1])
                yield y, x, self.compute(y, x, y1, x1, memory=memory, threads=threads)

    def write(
        self,
        path: Path,
        *,
        memory: Memory = None,
        compress: bool = False,
        threads: int | None = None,
        progress: Progress = None,
    ) -> None:
        """Computes all pixels into a file, band after band: tiled TIFF (BigTIFF where 4 GiB do not suffice), or .npy.

        The file appears once it is complete. `compress`: TIFF by deflate; the others as for :meth:`compute`.

        Examples
        --------
        >>> import fathom, os, tempfile
        >>> from fathom import stream
        >>> path = os.path.join(tempfile.mkdtemp(), "wave.tif")
        >>> stream.formula("100 + 100*sin(x/9)", 300, 400, dtype="uint8").write(path, compress=True)
        >>> fathom.read(path).shape
        (300, 400)
        """
        told = listener(progress)
        self._graph.write(os.fspath(path), byte_count(memory), thread_count(threads), bool(compress), told)

    @property
    def plan(self) -> dict[str, Any]:
        """How the raster will be computed, and what that takes: a dict.

        Its "entries" are the nodes, children before parents: "type", "shape", "dtype", "children" (entries), "tile"
        (pixels that are computed at once), "halo", "kept" (tiles are kept for those that need them again), "cell"
        (height, width and skew of what repeats itself: it is computed once and copied), "sweeps" (computed in rows,
        from the first to the last) and "on_device"; "device" is the name of the one that computes these, or "".
        """
        return self._plan(None, None)

    def explain(self, *, memory: Memory = None, threads: int | None = None) -> str:
        """The same as a text. Nothing is computed.

        Examples
        --------
        >>> from fathom import stream
        >>> print(stream.constant(1, 9, 9).repeat(5000, 4000).distance(max=15).explain(threads=1))  # doctest: +ELLIPSIS
        distance 5000 × 4000 float32, max 15, to nonzero, halo 15...
          repeat 5000 × 4000 uint8...
            constant 9 × 9 uint8...
        20 bands of 256 rows, 1 thread, ... MiB of memory
        """
        plan = self._plan(memory, threads)
        nodes = list(json.loads(self.to_json())["nodes"].values())
        lines: list[str] = []
        seen: set[int] = set()
        path = [(len(nodes) - 1, 0)]
        while path:
            k, depth = path.pop()
            words = words_of(nodes[k], plan["entries"][k])
            lines.append("  " * depth + words + (" (see above)" if k in seen else ""))
            if k not in seen:
                path += [(child, depth + 1) for child in reversed(plan["entries"][k]["children"])]
            seen.add(k)
        threads_used = plan["threads"]
        disk = f", {plan['disk_bytes'] / 2**20:.0f} MiB of temporary files" if plan["disk_bytes"] else ""
        lines.append(
            f"{plan['bands']} bands of {plan['band'][0]} rows, {threads_used} thread{'s' * (threads_used > 1)}, "
            f"{plan['bytes'] / 2**20:.1f} MiB of memory{disk}"
        )
        return "\n".join(lines)

    def to_dask(self, chunks: Any = 2048) -> Any:
        """A Dask array whose chunks are computed by the graph when they are needed.

        Raises
        ------
        ModuleNotFoundError
            Dask is not installed.
        """
        need("dask", "Dask", "to_dask()")
        from dask import array as dask_array  # type: ignore[import-not-found, unused-ignore]

        own = "".join(f"-{id(function):x}" for function in self._functions.values())  # their code has no hash
        return dask_array.from_array(self, chunks=chunks, name=f"fathom-{self._graph.hash()}{own}", asarray=True)

    def to_json(self) -> str:
        """The graph's document: for :func:`fathom.stream.from_json`, and for `fathom stream`. Arrays and functions
        stand in it by their names."""
        return self._graph.document()

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
            write_image(path, greys(raster[:]))
            with open(path, "rb") as file:
                return file.read()

    def _plan(self, memory: Memory, threads: int | None) -> dict[str, Any]:
        return self._computer(memory, threads).plan()

    def _computer(
        self, memory: Memory, threads: int | None, backend: str | None = None, device: int | None = None
    ) -> _core.Computer:
        """The one for these settings; the last one is kept, since what it holds is memory. `device`: for arrays there."""
        number = backend_number(backend)
        if device is not None and number == _core.BACKENDS["cpu"]:
            raise ValueError("out lies on a CUDA device, where the backend cpu cannot work; use auto or cuda")
        settings = byte_count(memory), thread_count(threads), number if device is None else _core.BACKENDS["cuda"]
        key = *settings, device
        computer = self._computers.get(key)
        if computer is None:
            computer = _core.Computer(self._graph, *settings)
            self._computers = {key: computer}
        return computer


def make(
    kind: str,
    children: Sequence[tuple[Operand, str]],
    *,
    own_arrays: Mapping[str, Array] | None = None,
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
    fields = {name: number(value, name) if isinstance(value, NUMBERS) else value for name, value in fields.items()}
    node = {"type": kind, **fields, **({"children": entries} if entries else {})}
    document = {"fathom": "stream", "version": 1, "root": kind, "nodes": {kind: node}}
    return read(json.dumps(document), None, nodes, arrays, functions)


def read(
    document: str,
    folder: str | None,
    nodes: Mapping[str, _core.Graph],
    arrays: Mapping[str, Array],
    functions: Mapping[str, Callable[..., Any]],
) -> Raster:
    """The raster of a document."""

    def place(path: str) -> str:
        return os.path.join(folder or "", path)

    graph, told = _core.read_graph(
        document, dict(nodes), dict(arrays), dict(functions), apply, lambda path: placements_in(place(path)), place
    )
    for warning in told:
        warnings.warn(warning, stacklevel=4)
    return Raster(graph, arrays, functions)


def _merge(to: dict[str, Any], more: Mapping[str, Any], kind: str) -> None:
    for name, value in more.items():
        if to.setdefault(name, value) is not value:
            raise ValueError(f"the graph would have two {kind} of the name {name!r}; give one of them another name")


def _span(key: Any, extent: int) -> tuple[int, int, bool]:
    """Begin and end, and whether the axis goes."""
    if isinstance(key, slice):
        begin, end, step = key.indices(extent)
        if step != 1:
            raise IndexError(f"a step of {step}; rasters are computed in steps of 1: compute the part, then index it")
        return begin, max(begin, end), False
    try:
        at = index(key)
    except TypeError:
        raise IndexError(f"a raster takes slices and integers as indices, not {key!r}") from None
    if not -extent <= at < extent:
        raise IndexError(f"index {at} does not lie in an axis of {extent} pixels")
    return at % extent, at % extent + 1, True
