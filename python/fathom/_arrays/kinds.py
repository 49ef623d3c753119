"""What the calls need of arrays, whatever kind they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import _core
from .._common.progress import Listener
from .dtypes import DType, DTypes, Kind, Shape


class Output(Protocol):
    """One result on its way: into the caller's array or a new one."""

    memory: Any
    """What the compiled part takes."""

    def finish(self) -> Any:
        """The caller's array, or the new one as the input's kind of array."""


class Input(Protocol):
    """An array that the library can read, and what makes results of its kind."""

    shape: Shape

    @property
    def dtype(self) -> DType:
        """Its element type, in NumPy's words."""

    @property
    def memory(self) -> Any:
        """What the compiled part takes."""

    def beside(self, x: Any, name: str) -> Input:
        """Another input, which must lie where this one does."""

    def copied(self, dtype: DType, out: Any = None) -> Output:
        """A new array, or the caller's, with the same numbers."""

    def within(self, leading: int, ranges: Sequence[tuple[int, int]]) -> Input:
        """The same elements; results are of a part of each image. `leading`: axes that count images."""

    def numbers(self, name: str) -> Input:
        """The same elements, so that the library can read them; converted where :func:`take` says so."""

    def coordinates(self, name: str, dense: bool) -> Input:
        """The same numbers as coordinates: in one of the three types that the library reads, and in contiguous rows."""

    def exactly(self, dtype: DType, name: str) -> Input:
        """The same coordinates in a type that holds each of them."""

    def reals(self, name: str, allowed: DTypes) -> Input:
        """The same numbers in a dense array of one of some types of floats, the last one at worst."""

    def reshaped(self, shape: Shape) -> Input:
        """The same numbers, which are dense, in another shape."""

    def output(self, shape: Shape, dtype: DType) -> Output:
        """A new array for a result."""

    def output_into(self, out: Any, kind: Kind, shape: Shape, dtype: npt.DTypeLike | None) -> Output:
        """The caller's array for a result."""

    def transform(
        self,
        rank: int,
        options: _core.Options,
        distance: Output | None,
        squared: Output | None,
        nearest: Output | None,
        coordinates: Output | None,
        listener: Listener,
    ) -> None:
        """Fills the outputs that are given."""

    def call(self, operation: Callable[..., Any], arguments: tuple[Any, ...], listener: Listener) -> Any:
        """Calls an operation of the compiled part, or its twin for arrays on a device."""

    def site_set(self, is_mask: bool, choices: _core.SetChoices, threads: int, listener: Listener) -> _core.SiteSet:
        """Sites at coordinates, or at a mask's elements that are not 0, where these lie."""

    def indices(self, name: str, noun: str) -> Input:
        """The same numbers as indices, of which each is called `noun`: one axis of int64."""

    def voxel_set(self, backend: int) -> _core.VoxelSet:
        """The mask's elements that are not 0, where it lies."""

    def edit(self, voxels: _core.VoxelSet, edit: int, to: Input | None = None) -> int:
        """Changes the elements with these indices; the number of an edit of ``_core.EDITS``."""

    def dynamic_set(self, choices: _core.SetChoices, threads: int) -> _core.DynamicSet:
        """Sites at coordinates, to be edited."""

    def add_to(self, sites: _core.DynamicSet) -> int:
        """New sites at coordinates. The first one's index."""

    def move_in(self, sites: _core.DynamicSet, ids: npt.NDArray[np.int64]) -> None:
        """Puts sites with these indices to coordinates."""

    def nearest(
        self,
        sites: _core.SiteSet,
        options: _core.QueryOptions,
        directions: Input | None,
        half_angles: Input | None,
        distance: Output | None,
        squared: Output | None,
        site: Output,
        lower: Output | None,
        listener: Listener,
    ) -> None:
        """Fills the outputs that are given for queries at coordinates."""

    def carry(self, nearest: Output, image_size: int, out: Any) -> Any:
        """Each element's value from its nearest site; its own where there is none."""

    def gaps(self, missing: Any) -> Input:
        """True where a value is missing: where `missing` says so, else where it is not equal to itself, as NaN."""
