"""How far two surfaces are from one another."""

from __future__ import annotations

from dataclasses import dataclass

from .field import Triple


@dataclass(frozen=True)
class Deviation:
    """How far one surface lies from another, without signs."""

    max: float
    """The largest distance of a point of the surface from the other one that was found: the one-sided Hausdorff
    distance, less at most `bound` - `max`."""
    bound: float
    """No point of the surface, between its vertices or on them, is farther."""
    point: Triple
    """Where `max` was found."""
    nearest: Triple
    """The other surface's nearest point."""
    triangle: int
    """In which the point lies."""
    nearest_triangle: int
    """Of the other surface."""
    mean: float
    """Of the distance over the surface's area, by samples; NaN without an area."""
    rms: float
    """Root mean square, likewise."""
    error: float
    """Most that mean and rms are off, for the roughest of surfaces; where distances change smoothly it is far less."""


@dataclass(frozen=True)
class Comparison:
    """How far two surfaces are from one another."""

    forward: Deviation
    """Of the set from the other one."""
    backward: Deviation
    """Of the other one from the set."""
    tolerance: float
    """Most that a `bound` was to be above its `max`."""

    @property
    def hausdorff(self) -> float:
        """The symmetric Hausdorff distance: the larger `max`."""
        return max(self.forward.max, self.backward.max)

    @property
    def hausdorff_bound(self) -> float:
        """The Hausdorff distance is not above it."""
        return max(self.forward.bound, self.backward.bound)
