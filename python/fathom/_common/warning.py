"""Warnings at the line that called the package."""

from __future__ import annotations

import sys
import warnings


def warn(text: str) -> None:
    """A UserWarning at the caller's line, however many functions of the package lie between."""
    package, frame, level = __name__.split(".")[0], sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, UserWarning, stacklevel=level)
