"""What edits and queries ask of arrays that belong together: that they lie in one place."""

from __future__ import annotations

from typing import Any

from .._arrays.kinds import Input


def memory_beside(given: Input, name: str, owner: Input, owner_name: str, way_out: str | None = None) -> Any:
    """What the compiled part takes of an array that must lie where its owner does."""
    if (given.device is None) != (owner.device is None):
        if owner.device is None:
            where, usual = "a CUDA device, but {} on the host", "give an array on the host"
        else:
            where, usual = f"the host, but {{}} on CUDA device {owner.device}", "give an array there"
        raise ValueError(f"{name} lies on {where.format(owner_name)}; {way_out or usual}")
    owner.check_place(given.array, name)
    return given.memory
