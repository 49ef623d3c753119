"""Packages that some parts need and that may not be there."""

from __future__ import annotations

import importlib


def need(module: str, package: str, needed_by: str) -> None:
    """Raises ModuleNotFoundError that says what to install, if a module cannot be found."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ModuleNotFoundError(
            f"{needed_by} needs {package}, which is not installed; install it with: pip install {module}", name=module
        ) from error
