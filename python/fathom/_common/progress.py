"""A progress bar that needs no other package."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Union

Progress = Union[bool, Callable[[float], object], None]
Listener = Union[Callable[[float], object], None]

_WIDTH = 30


class Bar:
    """Draws the share done on standard error, with the time gone and the time left."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._start = time.monotonic()

    def __call__(self, share: float) -> None:
        gone = time.monotonic() - self._start
        left = gone / share - gone if share > 0 else 0.0
        done = "█" * round(share * _WIDTH)
        sys.stderr.write(f"\r{self._title}: {share:4.0%}|{done:<{_WIDTH}}| {_clock(gone)}<{_clock(left)}")
        if share >= 1:
            sys.stderr.write("\n")
        sys.stderr.flush()


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def listener(progress: Progress, title: str = "fathom") -> Listener:
    """Who is told of the progress: a bar for True, nobody for False and None, else the caller's function."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return Bar(title)
    if not callable(progress):
        raise TypeError(f"progress must be True, False, None or a function of the share done, not {progress!r}")
    return progress
