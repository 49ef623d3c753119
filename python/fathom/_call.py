"""One call of the library: its input as a batch of images, its options, and its results on their way."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _options
from ._arrays import take
from ._options import Settings
from ._outputs import Output, Shape, Wanted
from ._progress import listener


class Call:
    """Everything is checked while the call is put together; run() then computes."""

    __slots__ = ("_options", "_settings", "batch", "part", "source", "space")

    def __init__(self, x: Any, settings: Settings, name: str = "x") -> None:
        if settings.stream is not None:
            raise ValueError(f"stream is for arrays on a CUDA device; {name} lies on the host")
        self.source = take(x, name)
        shape = self.source.array.shape
        leading = len(shape) - _options.space_rank(settings.ndim, len(shape))
        self.batch: Shape = shape[:leading]
        self.space: Shape = shape[leading:]
        """Shape of one image."""
        ranges = _options.ranges(settings.region, self.space)
        self.part: Shape = tuple(end - begin for begin, end in ranges) if ranges else self.space
        """Shape of one image's result."""
        self._settings = settings
        self._options = _options.make(settings, len(self.space), ranges)

    def output(self, wanted: Wanted, default: np.dtype[Any]) -> Output:
        """A place for one value per element."""
        return Output(wanted, default, self.batch + self.part, self.source)

    def coordinates(self, wanted: Wanted, default: np.dtype[Any]) -> Output:
        """A place for one coordinate per element and axis."""
        return Output(wanted, default, (*self.batch, len(self.space), *self.part), self.source)

    def run(
        self,
        distance: Output | None = None,
        squared: Output | None = None,
        nearest: Output | None = None,
        coordinates: Output | None = None,
    ) -> None:
        """Fills the outputs that are given."""
        progress = self._settings.progress
        _core.transform(
            self.source.array,
            len(self.space),
            self._options,
            None if distance is None else distance.array,
            None if squared is None else squared.array,
            None if nearest is None else nearest.array,
            None if coordinates is None else coordinates.array,
            None if progress is None else listener(progress, "fathom"),
        )
