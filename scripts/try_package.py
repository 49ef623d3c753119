#!/usr/bin/env python3
"""Tries the Python package of the environment it runs in: what is imported computes, and the command runs."""

import importlib.metadata
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

import fathom

mask = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], np.uint8)
expected = np.sqrt(np.array([[8, 5, 4], [5, 2, 1], [4, 1, 0]], np.float32))
assert np.array_equal(fathom.distance_transform(mask), expected)
assert fathom.SiteSet(np.array([[0.0, 0.0], [3.0, 4.0]])).nearest(np.array([[3.0, 3.0]]))[1].item() == 1

for command in ([Path(sysconfig.get_path("scripts"), "fathom")], [sys.executable, "-m", "fathom"]):
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "mask.npy"), mask)
        subprocess.run([*command, "distance", "mask.npy", "-o", "field.npy", "--preview", "chart.png"], cwd=folder, check=True,
                       capture_output=True)
        assert np.array_equal(np.load(Path(folder, "field.npy")), expected)
        assert Path(folder, "chart.png").stat().st_size > 1000

names = sorted({name for found in ("fathom",) for name in importlib.metadata.packages_distributions()[found]})
print(f"{', '.join(names)} {fathom.__version__} works with Python {sys.version.split()[0]} and NumPy {np.__version__}")
