"""Narrow bands on CUDA devices: around mesh::DeviceBand of the C++ library."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy as np

from .. import _core
from .._arrays.dtypes import FLOATS, INDICES, DType, Shape
from .._arrays.host import HostInput
from .._common.optional import need
from .band import Band
from .lattice_band import LatticeBand, Values

_ON_THE_HOST = frozenset(("active", "offset_surface", "points", "save"))
_VALUES = {"distance": (1, None), "triangle": (2, INDICES[0]), "closest": (3, FLOATS[0])}
"""Where a list stands among those of the compiled part, and its element type; None: that of the distances."""


class DeviceBand(LatticeBand):
    """A :class:`fathom.Band` whose arrays lie on a CUDA device: what a mesh on a device gives with `band` or `cutoff`.

    Arrays are of the vertices' kind and share the band's memory, which stays as long as one of them: nothing is copied.
    `tiles` is [n, 3] int32. `masks` is [n, 8, 8] uint8 here: for each z and y a byte, with the bit x. `distance` is
    [n, 8, 8, 8]; so are `triangle`, int32, and `closest`, float32 with x, y, z in a last axis, or None if not asked
    for. What the methods give is of the same kind, in the order of its library's current stream. What tells which side
    the rest is on, :meth:`Band.save` and the like are had by :meth:`download`.
    """

    def __init__(self, band: _core.DeviceBand, sign: str, like: Any) -> None:
        super().__init__(band, sign)
        self._there = band
        self._like = like
        """Makes results of the vertices' kind."""
        arrays = [None if memory is None else like.over(memory) for memory in band.arrays[:5]]
        self.tiles, self.masks, self.distance, self.triangle, self.closest = arrays
        self._dtype: DType = like.library.dtype(self.distance)

    @property
    def nbytes(self) -> int:
        """Bytes of the device's memory that the band keeps."""
        return self._there.bytes

    def coordinates(self) -> Any:
        """i, j, k of the points in the band, [points, 3] int32; as :meth:`Band.coordinates`."""
        return self._list(0, (len(self), 3), INDICES[0])

    def values(self, of: Values = "distance") -> Any:
        """What belongs to them: as :meth:`Band.values`."""
        if of not in _VALUES:
            raise ValueError(f"of is {of!r}; it must be 'distance', 'triangle' or 'closest'")
        if getattr(self, of) is None:
            raise ValueError(f"this band has no {of}; compute it with {of}=True")
        number, dtype = _VALUES[of]
        return self._list(number, (len(self), 3) if of == "closest" else (len(self),), dtype or self._dtype)

    def to_dense(self) -> Any:
        """Distances of the whole lattice, [z, y, x]: as :meth:`Band.to_dense`."""
        like = self._like.at(None)
        out = like.output(self.shape[::-1], self._dtype)
        self._there.to_dense(out.memory)
        return out.finish()

    def to_sparse_coo(self) -> Any:
        """The band as a sparse tensor of PyTorch's on its device: as :meth:`Band.to_sparse_coo`.

        Raises
        ------
        ModuleNotFoundError
            PyTorch is not installed.
        """
        need("torch", "PyTorch", "to_sparse_coo()")
        torch = sys.modules["torch"]
        return self._sparse(torch.from_dlpack(self.coordinates()), torch.from_dlpack(self.values()))

    def _list(self, number: int, shape: Shape, dtype: DType) -> Any:
        """A list of what belongs to the points, in the order of to_list()."""
        like = self._like.at(None)
        out = like.output(shape, dtype)
        self._there.to_list(tuple(out.memory if k == number else None for k in range(4)))
        return out.finish()

    def download(self) -> Band:
        """The band in the host's memory, of NumPy arrays. Waits."""
        return Band(self._there.download(), self.sign, HostInput(np.empty(0), None))

    def __getattr__(self, name: str) -> NoReturn:
        if name in _ON_THE_HOST:
            raise AttributeError(f"{name} is of bands on the host: use download().{name}")
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a band on a device cannot be copied or pickled; copy or pickle its download()")
