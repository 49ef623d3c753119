"""What sets that change have in common: they are asked as any other set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import _core
from .._arrays.annotations import ArrayLike
from .._arrays.dtypes import Shape
from .site_set import SiteSet

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .queries import NearestOptions

Native = TypeVar("Native", _core.DynamicSet, _core.VoxelSet)


class ChangingSet(Generic[Native]):
    """Sites that come and go, behind a set that answers."""

    _set: Native
    _sites: SiteSet

    def _ask_through(self, shape: Shape) -> None:
        """Makes what answers. `shape`: of the array of all the sites that there may be."""
        self._sites = SiteSet._over(self._set, shape)

    @property
    def sites(self) -> SiteSet:
        """What answers: a set that can be asked whatever a :class:`SiteSet` can. It changes with this one."""
        return self._sites

    def nearest(
        self, q: ArrayLike, k: int = 1, *, return_lower: bool = False, **options: Unpack[NearestOptions]
    ) -> tuple[Any, ...]:
        """Distances and indices: as :meth:`SiteSet.nearest`, with the same options."""
        return self._sites.nearest(q, k, return_lower=return_lower, **options)

    def query(self, x: ArrayLike, k: int | Sequence[int] = 1, **options: Any) -> tuple[Any, Any]:
        """As :meth:`SiteSet.query`, same options. Where no site counts, the index is one past the largest there may be:
        of a :class:`DynamicSet` the next to be given out, of a :class:`VoxelSet` the number of elements."""
        return self._sites.query(x, k, **options)

    def __len__(self) -> int:
        """How many sites there are."""
        return self._set.size

    @property
    def nbytes(self) -> int:
        """Bytes that the set keeps, on the host and on devices together."""
        return self._set.bytes
