"""Arrays of any kind, and what the calls need of them. What is done with them is up to the kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._cuda import CudaInput
from ._dtypes import DType, DTypes, Kind, Shape
from ._given import plain
from ._host import HostInput
from ._places import lies_on_cuda

if TYPE_CHECKING:
    from ._progress import Listener


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


AnyInput = Union[HostInput, CudaInput]


def take(x: Any, name: str, stream: Any = None) -> Input:
    """An input of any kind, whose elements the library reads.

    It is not copied where its rows are contiguous and its elements native. Else it is copied once: reversed or strided
    rows (Fortran order of more than one axis among them), foreign byte order, and float16 and bfloat16, which become
    float32.

    Raises
    ------
    TypeError
        It is no array, or not one of numbers that have an order: see _given.py.
    ValueError
        A stream is given for an array on the host.
    DeviceError
        It lies on a device that cannot be reached.
    """
    if stream is None and type(x) is np.ndarray:  # most arrays: without a further call
        return HostInput.of_numbers(x, name)
    x = plain(x)
    if _on_host(x, name, stream):
        return HostInput.of_numbers(x, name)
    return CudaInput.of_numbers(x, name, stream)


def take_values(x: Any, name: str, stream: Any = None) -> AnyInput:
    """An input whose elements are carried, not read: of any type of fixed size. Errors as :func:`take`."""
    x = plain(x)
    if _on_host(x, name, stream):
        return HostInput.of_values(x, name)
    return CudaInput.of_values(x, name, stream)


def _on_host(x: Any, name: str, stream: Any) -> bool:
    if type(x) is not np.ndarray and lies_on_cuda(x, name):
        return False
    if stream is not None:
        raise ValueError(f"stream is for arrays on a CUDA device; {name} lies on the host")
    return True
