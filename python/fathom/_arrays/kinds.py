"""What the calls need of arrays, whatever kind they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy.typing as npt

from .dtypes import DType, DTypes, Kind, Shape


class Output(Protocol):
    """One result on its way: into the caller's array or a new one."""

    memory: Any
    """What the compiled part takes."""

    @property
    def bytes(self) -> Any:
        """The same, whatever its elements are; of a result without gaps."""
        ...

    def finish(self) -> Any:
        """The caller's array, or the new one as the input's kind of array."""
        ...


class Input(Protocol):
    """An array that the library can read, and what makes results of its kind."""

    array: Any
    """As its own library has it."""
    shape: Shape

    @property
    def device(self) -> int | None:
        """The number of the CUDA device that it lies on; None for the host."""
        ...

    @property
    def dtype(self) -> DType:
        """Its element type, in NumPy's words."""
        ...

    @property
    def memory(self) -> Any:
        """What the compiled part takes."""
        ...

    def check_place(self, x: Any, name: str) -> None:
        """Raises ValueError or TypeError if an array does not lie where this one does, or is of another kind."""

    @property
    def bytes(self) -> Any:
        """The same of elements without gaps, whatever they are."""
        ...

    def beside(self, x: Any, name: str) -> Input:
        """Another input, which must lie where this one does."""
        ...

    def copied(self, dtype: DType, out: Any = None) -> Output:
        """A new array, or the caller's, with the same numbers."""
        ...

    def within(self, leading: int, ranges: Sequence[tuple[int, int]]) -> Input:
        """The same elements; results are of a part of each image. `leading`: axes that count images."""
        ...

    def numbers(self, name: str) -> Input:
        """The same elements, so that the library can read them; converted where :func:`take` says so."""
        ...

    def coordinates(self, name: str, dense: bool) -> Input:
        """The same numbers as coordinates: in one of the three types that the library reads, and in contiguous rows."""
        ...

    def exactly(self, dtype: DType, name: str) -> Input:
        """The same coordinates in a type that holds each of them."""
        ...

    def reals(self, name: str, allowed: DTypes) -> Input:
        """The same numbers in a dense array of one of some types of floats, the last one at worst."""
        ...

    def reshaped(self, shape: Shape) -> Input:
        """The same numbers, which are dense, in another shape."""
        ...

    def undefined(self) -> Input | None:
        """Which elements are not equal to themselves, as NaN is; None if there is none such in their type."""
        ...

    def dense(self, result: Output) -> Input:
        """The same elements without gaps, to be read while the result is written: in place, or elsewhere."""
        ...

    def output(self, shape: Shape, dtype: DType) -> Output:
        """A new array for a result."""
        ...

    def output_over(self, out: Any, kind: Kind) -> Output:
        """The caller's array for a result of the input's shape, without gaps; it may be the input's own."""
        ...

    def output_into(self, out: Any, kind: Kind, shape: Shape, dtype: npt.DTypeLike | None) -> Output:
        """The caller's array for a result."""
        ...

    def indices(self, name: str, noun: str) -> Input:
        """The same numbers as indices, of which each is called `noun`: one axis of int64."""
        ...
