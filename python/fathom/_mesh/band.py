"""Narrow bands of fields: around mesh::Band of the C++ library."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.dtypes import INDICES
from .._arrays.host import HostInput
from .._common.optional import need
from .._files import Path
from .field import save_numpy
from .lattice_band import LatticeBand, Values
from .surface import level_of, level_set

Array = npt.NDArray[Any]
_SIDE = 8
"""Points of a tile along each axis."""
_STORED = ("tiles", "masks", "distance", "triangle", "closest", "row_inside", "after_inside", "first", "inside")
_OPTIONAL = {"triangle", "closest", "first", "inside"}


class Band(LatticeBand):
    """The points of a lattice no farther than a cutoff from a mesh, in sorted tiles of 8 × 8 × 8: what
    :func:`fathom.mesh_distance` gives with `band` or `cutoff`.

    Point (i, j, k) lies at origin + (i, j, k) · spacing. Arrays of tiles are [n, z, y, x]; those that the methods
    give are of the vertices' kind. Can be copied and pickled; the length is the number of points in the band. Of meshes
    with holes, parts of inside or outside that are far from the surface and narrower than a tile may be missed.

    Examples
    --------
    >>> import fathom, numpy as np
    >>> corners, triangle = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), [[0, 1, 2]]
    >>> band = fathom.mesh_distance(corners, triangle, spacing=0.5, cutoff=0.5, sign="none")
    >>> band
    fathom.Band(points=28, tiles=1, shape=(7, 7, 5), origin=(-1.0, -1.0, -1.0), spacing=(0.5, 0.5, 0.5),
               cutoff=0.5, sign='none')
    >>> band.coordinates()[:2], band.values()[:2]
    (array([[2, 2, 1],
           [3, 2, 1]], dtype=int32), array([0.5, 0.5], dtype=float32))
    >>> band.to_dense()[2, 2]
    array([0.5, 0.5, 0. , 0. , 0. , 0.5, 0.5], dtype=float32)
    """

    def __init__(self, band: _core.Band, sign: str, like: HostInput) -> None:
        super().__init__(band, sign)
        self._band: _core.Band = band
        self._like = like
        """Makes results of the vertices' kind."""
        self._arrays: dict[str, Any] = dict(zip(_STORED, band.arrays))
        for name in ("tiles", "masks", "row_inside", "after_inside", "first", "inside"):
            if self._arrays[name] is not None:
                self._arrays[name].flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy."""
        lattice = (self.origin, self.spacing, self.shape)
        return _rebuilt, (type(self), lattice, self.cutoff, self._sign, self._arrays, self._like)

    @property
    def compact(self) -> bool:
        """Whether `distance`, `triangle` and `closest` hold the points in the band alone."""
        return self.first is not None

    @property
    def nbytes(self) -> int:
        """Bytes that the band keeps."""
        return sum(array.nbytes for array in self._arrays.values() if array is not None)

    @property
    def tiles(self) -> Array:
        """Places of the tiles, [n, 3] int32: x, y, z, in tiles; ascending by z, then y, then x."""
        tiles: Array = self._arrays["tiles"]
        return tiles

    @property
    def masks(self) -> Array:
        """Which points are in the band, [n, 8] uint64: a word for each z, with the bit x + 8·y."""
        masks: Array = self._arrays["masks"]
        return masks

    @property
    def active(self) -> Array:
        """The same as bool, [n, 8, 8, 8]."""
        bits = np.unpackbits(self.masks.astype("<u8").view(np.uint8), bitorder="little")
        return bits.view(bool).reshape(-1, _SIDE, _SIDE, _SIDE)

    @property
    def distance(self) -> Array:
        """Distances, [n, 8, 8, 8]; ±cutoff, with the side's sign, where a point is not in the band. [points], in the
        order of :meth:`coordinates`, if the band is compact."""
        distances = self._kept("distance")
        assert distances is not None
        return distances

    @property
    def triangle(self) -> Array | None:
        """Nearest triangles, [n, 8, 8, 8] int32; -1 where a point is not in the band. [points] if it is compact. None
        if not asked for."""
        return self._kept("triangle")

    @property
    def closest(self) -> Array | None:
        """Nearest points of the surface, [n, 8, 8, 8, 3] float32; NaN where a point is not in the band. [points, 3] if
        it is compact. None if not asked for."""
        return self._kept("closest", 3)

    def _kept(self, name: str, *vector: int) -> Array | None:
        kept: Array | None = self._arrays[name]
        return kept if kept is None or self.compact else kept.reshape(-1, _SIDE, _SIDE, _SIDE, *vector)

    @property
    def first(self) -> Array | None:
        """Of compact bands: how many points of the band lie before each tile, and in all, [n + 1] int64. Tile i has
        `distance[first[i] : first[i + 1]]`."""
        first: Array | None = self._arrays["first"]
        return first

    @property
    def inside(self) -> Array | None:
        """Of compact bands with a sign: which points are not outside, [n, 8] uint64, as :attr:`masks`."""
        inside: Array | None = self._arrays["inside"]
        return inside

    def coordinates(self) -> Any:
        """i, j, k of the points in the band, [points, 3] int32: tile after tile, and in a tile x fastest."""
        out = self._like.output((len(self), 3), INDICES[0])
        self._band.to_list(out.memory, None)
        return out.finish()

    def points(self) -> Any:
        """Where they lie: x, y, z, [points, 3] float64."""
        places = np.empty((len(self), 3), np.int32)
        self._band.to_list(places, None)
        return self._like.given(np.asarray(self.origin) + places * np.asarray(self.spacing))

    def values(self, of: Values = "distance") -> Any:
        """What belongs to the points in the band, in the order of :meth:`coordinates`.

        Parameters
        ----------
        of : {"distance", "triangle", "closest"}
            Distances, [points]; or, if they were asked for, nearest triangles, [points], or nearest points of the
            surface, [points, 3].
        """
        if of == "distance":
            out = self._like.output((len(self),), self.distance.dtype)
            self._band.to_list(None, out.memory)
            return out.finish()
        if of not in ("triangle", "closest"):
            raise ValueError(f"of is {of!r}; it must be 'distance', 'triangle' or 'closest'")
        kept = getattr(self, of)
        if kept is None:
            raise ValueError(f"this band has no {of}; compute it with {of}=True")
        return self._like.given(kept if self.compact else kept[self.active])

    def to_dense(self) -> Any:
        """Distances of the whole lattice, [z, y, x]: the band's, and ±cutoff elsewhere, with the side's sign."""
        out = self._like.output(self.shape[::-1], self.distance.dtype)
        self._band.to_dense(out.memory)
        return out.finish()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        dense = np.empty(self.shape[::-1], self.distance.dtype)
        self._band.to_dense(dense)
        return np.asarray(dense, dtype)

    def offset_surface(self, distance: float) -> tuple[Any, Any]:
        """The surface at some distance within the band; as :meth:`fathom.Field.offset_surface`.

        Raises
        ------
        TypeError, ValueError
            As there; or `distance`, and one step of the lattice more, leads out of the band.
        """
        level, step = level_of(distance, self.sign), max(self.spacing)
        if abs(level) + step > self.cutoff * (1 + 1e-9):
            raise ValueError(
                f"distance is {level}; the band, up to {self.cutoff}, holds surfaces up to {self.cutoff - step}, a "
                "step of the lattice less"
            )
        return level_set(self._band.lattice, np.asarray(self), level, self._like)

    def to_sparse_coo(self) -> Any:
        """The band as a sparse tensor of PyTorch's with the size [z, y, x]. Distances of 0 are elements, too.

        Raises
        ------
        ModuleNotFoundError
            PyTorch is not installed.
        """
        need("torch", "PyTorch", "to_sparse_coo()")
        torch = sys.modules["torch"]
        places, values = np.empty((len(self), 3), np.int32), np.empty(len(self), self.distance.dtype)
        self._band.to_list(places, values)
        return self._sparse(torch.from_numpy(places), torch.from_numpy(values))

    def save(self, path: Path) -> None:
        """Writes the band to .npz, for :meth:`load`; its points to .vtu, for ParaView; as a level set to .vdb, for
        Houdini, Blender and OpenVDB, or .nvdb, for NanoVDB and Warp; or the whole lattice to .npy.

        Raises
        ------
        ValueError
            Another ending; for .vdb and .nvdb steps of the lattice that differ, or no OpenVDB or NanoVDB.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import fathom, numpy as np, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "band.npz")
        >>> band = fathom.mesh_distance(np.eye(3), [[0, 1, 2]], resolution=100, band=3, sign="none")
        >>> band.save(path)
        >>> len(fathom.Band.load(path)) == len(band)
        True
        """
        name = os.fspath(path)
        if name.lower().endswith((".vtu", ".vdb", ".nvdb")):
            self._band.save(name)
            return
        kept = {name: array for name, array in self._arrays.items() if array is not None}
        save_numpy(path, {**kept, "shape": self.shape, "cutoff": self.cutoff}, self)

    @classmethod
    def load(cls, path: Path) -> Band:
        """A band from a file of :meth:`save`.

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            It holds no band.
        """
        from zipfile import BadZipFile  # takes as long to import as half of this package

        try:
            with np.load(path, allow_pickle=False) as file:
                lattice = tuple(file[name].tolist() for name in ("origin", "spacing", "shape"))
                arrays = {name: file[name] if name in file or name not in _OPTIONAL else None for name in _STORED}
                cutoff, sign, like = float(file["cutoff"]), str(file["sign"]), HostInput(np.empty(0), None)
            made: Band = _rebuilt(cls, lattice, cutoff, sign, arrays, like)
        except (ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
            raise ValueError(f"{os.fspath(path)} holds no band: {error}") from error
        return made


def _rebuilt(
    kind: Any, lattice: Any, cutoff: float, sign: str, arrays: dict[str, Array | None], like: HostInput
) -> Any:
    """A band of its parts, which are copied."""
    dense = tuple(None if arrays[name] is None else np.ascontiguousarray(arrays[name]) for name in _STORED)
    if not 0 < cutoff < math.inf:
        raise ValueError(f"the cutoff of the band is {cutoff}; it must be finite and above 0")
    return kind(_core.Band(_core.Lattice(*lattice), cutoff, sign != "none", dense), sign, like)
