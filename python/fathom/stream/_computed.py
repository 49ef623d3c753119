"""What a raster of a tile graph is, and how it is computed: around stream::Evaluator of the C++ library."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from operator import index
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.annotations import Stream
from .._arrays.cuda import CudaInput, Pixels
from .._arrays.dtypes import Kind
from .._arrays.places import lies_on_cuda
from .._common.options import Backend, Memory, backend_number, byte_count, thread_count
from .._common.progress import Progress, listener
from .._files import Path
from ._graph import Array, words_of

Kept = Union[Array, Pixels]
"""An array that a graph refers to."""


class Computed:
    """The part of :class:`fathom.stream.Raster` that makes no new nodes."""

    ndim = 2
    __array_ufunc__ = None  # np.float32(2) * raster is a raster, not an array of all pixels

    def __init__(
        self, graph: _core.Graph, arrays: Mapping[str, Kept], functions: Mapping[str, Callable[..., Any]]
    ) -> None:
        self._graph = graph
        self._arrays = dict(arrays)
        self._functions = dict(functions)
        """What the graph's document refers to, by name."""
        self._computers: dict[tuple[int | None, ...], _core.Computer] = {}

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

    def __getitem__(self, key: Any) -> Any:
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
        return np.asarray(self.compute(out=np.empty(self.shape, self.dtype)), dtype)

    def compute(
        self,
        y0: int = 0,
        x0: int = 0,
        y1: int | None = None,
        x1: int | None = None,
        *,
        out: Any = None,
        memory: Memory = None,
        backend: Backend | None = None,
        threads: int | None = None,
        stream: Stream = None,
        progress: Progress = None,
    ) -> Any:
        """Rows y0 … y1 − 1 of the columns x0 … x1 − 1: where `out` is, or as a NumPy array, or if the raster is made of
        an array on a CUDA device and the backend is not "cpu", as an array of the same library on that device.

        Parameters
        ----------
        y0, x0, y1, x1 : int
            The part, in pixels; all of the raster if not given.
        out : array, optional
            Where they go: of the part's shape and the raster's dtype. An array on a CUDA device is computed there, and
            returned once that is in its stream's order.
        memory : int or str, optional
            Most bytes for all of the work but the result: 100_000_000 or "100MB" or "96MiB"; with a device, of each of
            the two. The same bytes come out.
        backend : {"auto", "cpu", "cuda"}, optional
            Where it is computed. "auto" takes a device for rasters of which it can compute all that are large or made
            of arrays there.
        threads : int, optional
            All processors if not given.
        stream : optional
            For a result on a device: a stream of PyTorch or CuPy, or its address; else the library's current one.
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
        there = None
        if out is None and backend != "cpu":
            there = self._place(stream)
        elif out is not None and lies_on_cuda(out, "out"):
            there = CudaInput.of_values(out, "out", stream)
        if there is not None:
            computer = self._computer(memory, threads, backend, there.device)
            kind = Kind("out", (self.dtype,))
            result = there.output(shape, self.dtype) if out is None else there.output_into(out, kind, shape, None)
            if shape[0] and shape[1]:
                with there.current():  # and its device, on which the evaluator is made
                    computer.compute([y0, x0, y1, x1], result.memory, None)
            return result.finish()
        if out is None:
            out = np.empty(shape, self.dtype)
        elif out.shape != shape or out.dtype != self.dtype or (out.size and out.strides[1] != out.itemsize):
            raise ValueError(f"out must be {self.dtype} of the shape {shape}, its rows contiguous")
        if out.size:
            self._computer(memory, threads, backend).compute([y0, x0, y1, x1], out, listener(progress))
        return out

    def _place(self, stream: Any) -> CudaInput | None:
        """Where results belong, if the raster is made of arrays on a device."""
        return next((x.place.at(stream) for x in self._arrays.values() if isinstance(x, Pixels)), None)

    def bands(
        self, rows: int | None = None, *, memory: Memory = None, threads: int | None = None
    ) -> Iterator[tuple[int, Any]]:
        """All of the raster, whole rows from the first to the last: pairs of a band's first row and its pixels.

        Examples
        --------
        >>> from fathom import stream
        >>> [(y, int(band.max())) for y, band in stream.formula("x*y", 5, 3).bands(rows=2)]
        [(0, 2), (2, 6), (4, 8)]
        """
        height = int(self._plan(memory, threads)["band"][0]) if rows is None else rows
        for y, _, band in self.tiles(height, self.shape[1], memory=memory, threads=threads):
            yield y, band

    def tiles(
        self, height: int = 1024, width: int = 1024, *, memory: Memory = None, threads: int | None = None
    ) -> Iterator[tuple[int, int, Any]]:
        """All of the raster, tile by tile and row after row of them: a tile's first row and column, and its pixels.

        Examples
        --------
        >>> from fathom import stream
        >>> [(y, x, tile.shape) for y, x, tile in stream.formula("x*y", 2, 5).tiles(2, 3)]
        [(0, 0, (2, 3)), (0, 3, (2, 2))]
        """
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

        Raises
        ------
        ValueError
            The path's ending is of no such format, or less memory than works.
        OSError
            The disk is full, or a file of the graph cannot be read.

        Examples
        --------
        >>> import fathom, os, tempfile
        >>> from fathom import stream
        >>> path = os.path.join(tempfile.mkdtemp(), "wave.tif")
        >>> stream.formula("100 + 100*sin(x/9)", 300, 400, dtype="uint8").write(path, compress=True)
        >>> fathom.read(path).data.shape
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
        "seconds", for all rows, and "first_seconds", until the first band is there, are guesses from the types of the
        nodes, which may be off by some times.
        """
        return self._plan(None, None)

    def explain(self, *, memory: Memory = None, threads: int | None = None) -> str:
        """The same as a text. Nothing is computed.

        Examples
        --------
        >>> from fathom import stream
        >>> print(stream.constant(1, 9, 9).repeat(5000, 4000).distance(max=15).explain(threads=1))  # doctest: +ELLIPSIS
        distance 5000 × 4000 float32, max 15.0, to nonzero, halo 15...
          repeat 5000 × 4000 uint8...
            constant 9 × 9 uint8...
        20 bands of 256 rows, 1 thread, ... MiB of memory
        at a guess ... MB/s
        """
        plan = self._plan(memory, threads)
        nodes = list(json.loads(self._graph.document())["nodes"].values())
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
        rate = self.nbytes / 1e6 / max(plan["seconds"], 1e-9)
        lines.append(f"at a guess {float(f'{rate:.2g}'):g} MB/s")
        return "\n".join(lines)

    def _plan(self, memory: Memory, threads: int | None) -> dict[str, Any]:
        return self._computer(memory, threads).plan()

    def _computer(
        self, memory: Memory, threads: int | None, backend: Backend | None = None, device: int | None = None
    ) -> _core.Computer:
        """The one for these settings; the last one is kept, since what it holds is memory. `device`: of the result."""
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
