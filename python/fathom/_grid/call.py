"""One call of the library: its input as a batch of images, its options, and its results on their way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from .. import _core
from .._arrays.dtypes import DType, Kind, Shape, for_indices, named
from .._arrays.kinds import Input, Output
from .._common.options import space_rank
from .._common.progress import Listener
from .options import Region, Settings, make, ranges_of, remembered

_PLACES = {name: place for place, name in enumerate(_core.OUTPUTS)}


class Call:
    """Everything is checked while the call is put together; run() then computes."""

    __slots__ = ("_listener", "_options", "batch", "input", "part", "space")

    batch: Shape
    space: Shape
    """Shape of one image."""
    part: Shape
    """Shape of one image's result."""

    def __init__(self, given: Input, ndim: int | None, region: Region, settings: Settings, listener: Listener) -> None:
        self.input = given
        shape = given.shape
        if ndim is None:
            self.batch, self.space = (), shape
        else:
            leading = len(shape) - space_rank(ndim, len(shape))
            self.batch, self.space = shape[:leading], shape[leading:]
            if leading > 0:
                self.input = given.within(leading, ())
        if region is None:
            self.part = self.space
            self._options = remembered(settings, len(self.space))
        else:
            ranges = ranges_of(region, self.space)
            self.part = tuple(end - begin for begin, end in ranges)
            self._options = make(settings, len(self.space), ranges)
            self.input = given.within(len(self.batch), ranges)
        self._listener = listener

    def output(self, kind: Kind, out: Any, dtype: npt.DTypeLike | None, usual: DType) -> Output:
        """A place for one value per element: the caller's array, or a new one."""
        if out is not None:
            return self.input.output_into(out, kind, self.batch + self.part, dtype)
        return self.input.output(self.batch + self.part, usual if dtype is None else named(dtype, kind.allowed))

    def components(self, kind: Kind, out: Any, usual: DType) -> Output:
        """A place for one value per element and axis."""
        shape = (*self.batch, len(self.space), *self.part)
        if out is not None:
            return self.input.output_into(out, kind, shape, None)
        return self.input.output(shape, usual)

    def run(self, outputs: Mapping[str, Output]) -> None:
        """Fills the outputs that are given, by the library's names for them."""
        memory: list[Any] = [None] * len(_PLACES)
        for name, output in outputs.items():
            memory[_PLACES[name]] = output.memory
        _core.transform(self.input.memory, len(self.space), self._options, self._listener, *memory)

    def carry(self, values: Input, out: Any) -> Any:
        """Values from the nearest sites; their own where there is none."""
        nearest = self.input.output(self.batch + self.part, for_indices(self.space))
        self.run({"nearest": nearest})
        dtype = values.dtype
        result = values.output(values.shape, dtype) if out is None else values.output_over(out, Kind("out", (dtype,)))
        # In place is right: what is read keeps its value.
        dense = values.dense(result)
        _core.gather(dense.bytes, dtype.itemsize, nearest.memory, math.prod(self.space), result.bytes)
        return result.finish()
