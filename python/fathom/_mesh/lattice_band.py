"""What bands say of their lattice, wherever their arrays lie."""

from __future__ import annotations

import sys
from typing import Any, Literal

from .. import _core
from .field import Triple

Values = Literal["distance", "triangle", "closest"]


class LatticeBand:
    """Of host and device bands."""

    tiles: Any

    def __init__(self, band: _core.Band | _core.DeviceBand, sign: str) -> None:
        self._band = band
        self._sign = sign

    def __len__(self) -> int:
        return self._band.active

    @property
    def compact(self) -> bool:
        """Whether `distance`, `triangle` and `closest` hold the points in the band alone."""
        return False

    def _sparse(self, places: Any, values: Any) -> Any:
        """Of PyTorch's tensors of the band's points."""
        torch = sys.modules["torch"]
        indices = places.flip(1).t().to(torch.int64)
        return torch.sparse_coo_tensor(indices, values, self.shape[::-1], check_invariants=False).coalesce()

    def __repr__(self) -> str:
        return (
            f"fathom.{type(self).__name__}(points={len(self)}, tiles={self.tiles.shape[0]}, shape={self.shape}, "
            f"origin={self.origin}, spacing={self.spacing}, cutoff={self.cutoff}, "
            f"sign={self.sign!r}{', compact=True' * self.compact})"
        )

    @property
    def origin(self) -> Triple:
        """Of the lattice's first point: x, y, z."""
        x, y, z = self._band.lattice.origin
        return x, y, z

    @property
    def spacing(self) -> Triple:
        """Along x, y, z."""
        x, y, z = self._band.lattice.spacing
        return x, y, z

    @property
    def shape(self) -> tuple[int, int, int]:
        """Points of the lattice along x, y, z."""
        x, y, z = self._band.lattice.shape
        return x, y, z

    @property
    def cutoff(self) -> float:
        """Largest distance in the band, in the mesh's unit."""
        return self._band.cutoff

    @property
    def sign(self) -> str:
        """How inside was told from outside: what "auto" chose."""
        return self._sign
