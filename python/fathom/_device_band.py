"""Narrow bands on CUDA devices: around mesh::DeviceBand of the C++ library."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from . import _core
from ._band import Band
from ._host import HostInput
from ._lattice_band import LatticeBand

_ON_THE_HOST = frozenset(
    ("active", "coordinates", "offset_surface", "points", "save", "to_dense", "to_sparse_coo", "values")
)


class DeviceBand(LatticeBand):
    """A :class:`fathom.Band` whose arrays lie on a CUDA device: what a mesh on a device gives with `band` or `cutoff`.

    Arrays are of the vertices' kind and share the band's memory, which stays as long as one of them: nothing is copied.
    `tiles` is [n, 3] int32. `masks` is [n, 8, 8] uint8 here: for each z and y a byte, with the bit x. `distance` is
    [n, 8, 8, 8]; so are `triangle`, int32, and `closest`, float32 with x, y, z in a last axis, or None if not asked
    for. What tells which side the rest is on, and :meth:`Band.to_dense` and the like, are had by :meth:`download`; the whole
    lattice on the device by :meth:`fathom.TriangleSet.field`.
    """

    def __init__(self, band: _core.DeviceBand, sign: str, like: Any) -> None:
        super().__init__(band, sign)
        self._there = band
        arrays = [None if memory is None else like.over(memory) for memory in band.arrays[:5]]
        self.tiles, self.masks, self.distance, self.triangle, self.closest = arrays

    @property
    def nbytes(self) -> int:
        """Bytes of the device's memory that the band keeps."""
        return self._there.bytes

    def download(self) -> Band:
        """The band in the host's memory, of NumPy arrays. Waits."""
        return Band(self._there.download(), self.sign, HostInput(np.empty(0), None))

    def __getattr__(self, name: str) -> NoReturn:
        if name in _ON_THE_HOST:
            raise AttributeError(f"{name} is of bands on the host: use download().{name}")
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a band on a device cannot be copied or pickled; copy or pickle its download()")
