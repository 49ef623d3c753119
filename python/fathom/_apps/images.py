"""What the operations on images share: an array as a stack of images, and results of its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from .. import _core
from .._arrays.dtypes import DType, Kind, Shape, named
from .._arrays.kinds import Input, Output
from .._arrays.take import on_host, take
from .._common.options import Spacing, backend_number, numbers, space_rank, thread_count
from .._common.progress import Progress, listener


class Images:
    """An input, its axes told apart, and the options that every operation takes, checked."""

    __slots__ = ("_common", "_listener", "batch", "given", "space")

    given: Input
    batch: Shape
    space: Shape
    """Shape of one image."""

    def __init__(
        self,
        x: Any,
        name: str,
        ndim: int | None,
        spacing: Spacing,
        backend: str | None,
        threads: int | None,
        progress: Progress,
        *,
        stream: Any = None,
        on_device: bool = True,
    ) -> None:
        """`name`: of the argument `x`, for errors. `ndim`: trailing axes that are space; None: all. `on_device`:
        whether it may lie there."""
        self.given = take(x, name, stream) if on_device else on_host(x, name)
        shape = self.given.shape
        leading = 0 if ndim is None else len(shape) - space_rank(ndim, len(shape))
        self.batch, self.space = shape[:leading], shape[leading:]
        if leading > 0:
            self.given = self.given.within(leading, ())
        sizes = () if spacing is None else numbers(spacing, len(self.space), "spacing")
        self._common = _core.Common(sizes, backend_number(backend), thread_count(threads))
        self._listener = listener(progress)

    def output(self, out: Any, kind: Kind, dtype: npt.DTypeLike | None = None, usual: DType | None = None) -> Output:
        """A place for one value per element: the caller's array, or a new one; `usual`: its dtype where none is asked
        for, by default the first that the kind allows."""
        if out is not None:
            return self.given.output_into(out, kind, self.given.shape, dtype)
        new = named(dtype, kind.allowed) if dtype is not None else kind.allowed[0] if usual is None else usual
        return self.given.output(self.given.shape, new)

    def beside(self, x: Any, name: str) -> Any:
        """Another array that the operation reads, which must lie where the first does."""
        return self.given.beside(x, name)

    def run(self, operation: Callable[..., Any], *arguments: Any) -> Any:
        """Calls an operation of the compiled part: with the array, the rank of space, the common options, the
        arguments, in which inputs and outputs stand for their memory, and whoever listens."""
        memories = [getattr(one, "memory", one) for one in arguments]
        return operation(self.given.memory, len(self.space), self._common, *memories, self._listener)
