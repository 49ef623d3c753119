"""Pytest plugin that puts one of Fathom's layers in the place of its peer, named by FATHOM_LAYER.

Prints, after the tests, how often the layer was called: `layer calls: N`.
"""

import functools
import importlib
import os
import sys

import fathom.compat

MODULES = {  # layer: where its peer's functions live
    "scipy": ["scipy.ndimage"],
    "skimage": ["skimage.morphology.isotropic", "skimage.segmentation._expand_labels"],
    "cucim": ["cucim.core.operations.morphology"],
    "edt": [],
}
calls = 0


def counted(function):
    @functools.wraps(function)
    def call(*arguments, **options):
        global calls
        calls += 1
        return function(*arguments, **options)

    return call


def layer():
    name = {"cucim": "cupyx"}.get(os.environ["FATHOM_LAYER"], os.environ["FATHOM_LAYER"])
    return importlib.import_module(f"fathom.compat.{name}")


def functions():
    found = {name: counted(getattr(layer(), name)) for name in layer().__all__}
    if os.environ["FATHOM_LAYER"] == "cucim":
        found["distance_transform_edt"] = functools.partial(found["distance_transform_edt"], float64_distances=False)
    return found


def replace():
    for module in map(importlib.import_module, MODULES[os.environ["FATHOM_LAYER"]]):
        for name, function in functions().items():
            if hasattr(module, name):
                setattr(module, name, function)


def pytest_configure():
    if os.environ["FATHOM_LAYER"] == "edt":
        for name, function in functions().items():
            setattr(layer(), name, function)
        sys.modules["edt"] = layer()
    elif os.environ["FATHOM_LAYER"] != "scipy":
        replace()


def pytest_collection_finish():
    # SciPy looks its functions up in a table when its tests are collected, and by name when they run.
    if os.environ["FATHOM_LAYER"] == "scipy":
        replace()


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"layer calls: {calls}")
