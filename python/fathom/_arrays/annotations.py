"""What callers may give and get, for the reader of types: any library's arrays, streams, and options of all calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, Union

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing import TypedDict
    from typing import overload as overload

    from .._common.options import Backend, Spacing
    from .._common.progress import Progress

    class CallOptions(TypedDict, total=False):
        """What every call on images takes."""

        ndim: int | None
        backend: Backend | None
        threads: int | None
        stream: Stream
        progress: Progress

    class ImageOptions(CallOptions, total=False):
        """With sizes of elements."""

        spacing: Spacing

else:

    def overload(function: Any) -> Any:
        """For the reader of types alone: `typing` keeps what it overloads, and so the package, beyond its end."""
        return function


class SpeaksDLPack(Protocol):
    """As PyTorch's tensors, and arrays of CuPy and JAX."""

    @property
    def __dlpack__(self) -> Callable[..., Any]: ...


class HasArrayInterface(Protocol):
    """As images of Pillow's."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class HasArray(Protocol):
    """As h5py's datasets and the series of pandas."""

    @property
    def __array__(self) -> Callable[..., Any]: ...


class HasDimensions(Protocol):
    """As xarray's DataArrays, of which results are DataArrays, too."""

    @property
    def __array__(self) -> Callable[..., Any]: ...
    @property
    def dims(self) -> Any: ...
    @property
    def coords(self) -> Any: ...


class HasCudaArrayInterface(Protocol):
    """As arrays of Numba's on CUDA devices."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class HasCudaStream(Protocol):
    """As streams of cuda.core's."""

    @property
    def __cuda_stream__(self) -> Callable[[], tuple[int, int]]: ...


class TorchStream(Protocol):
    @property
    def cuda_stream(self) -> int: ...


class CupyStream(Protocol):
    @property
    def ptr(self) -> int: ...


Array = Union[npt.NDArray[Any], SpeaksDLPack, HasArray, HasArrayInterface, HasCudaArrayInterface]
"""An array, on the host or on a device, whose memory can be written."""
ArrayLike = Union[npt.ArrayLike, Array]
"""An array on the host or on a device, or what NumPy makes one of, such as nested lists."""
Stream = Union[int, HasCudaStream, TorchStream, CupyStream, None]
"""A CUDA stream, or its address; None: the current one of the array's library."""

HostArray = Union[npt.NDArray[Any], Sequence[Any], float, HasArrayInterface]
"""Of which results are NumPy's. NumPy's arrays speak DLPack, too: overloads have these before :data:`SameKind`."""
SameKind = TypeVar("SameKind", bound=Union[SpeaksDLPack, HasDimensions])
"""The kind of array that was given, and that results are of."""
SameType = TypeVar("SameType", bound=Union[npt.NDArray[Any], SpeaksDLPack, HasDimensions])
"""The same where results have its dtype, too."""
Numbers = Union[Sequence[Any], float]
"""Lists and the like, of which results are NumPy's arrays, too."""
Out = TypeVar("Out", bound=Array)
"""The caller's array for a result, which is returned."""
Masks = npt.NDArray[np.bool_]
Singles = npt.NDArray[np.float32]
Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.signedinteger[Any]]
Ids = npt.NDArray[np.int64]
Yes = Literal[True]
No = Literal[False]
