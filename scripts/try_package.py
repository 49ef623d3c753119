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

band = fathom.mesh_distance(np.eye(3), [[0, 1, 2]], resolution=20, band=3, sign="none")
for ending in ("vdb", "nvdb"):
    with tempfile.TemporaryDirectory() as folder:
        try:
            band.save(Path(folder, f"band.{ending}"))
        except ValueError as error:
            assert str(error).startswith("this build has no "), error

for command in ([Path(sysconfig.get_path("scripts"), "fathom")], [sys.executable, "-m", "fathom"]):
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "mask.npy"), mask)
        arguments = ["distance", "mask.npy", "-o", "field.npy", "--preview", "chart.png"]
        done = subprocess.run([*command, *arguments], cwd=folder, check=True, capture_output=True, text=True)
        assert done.stderr == "", done.stderr  # such as fontconfig's about missing fonts
        assert np.array_equal(np.load(Path(folder, "field.npy")), expected)
        assert Path(folder, "chart.png").stat().st_size > 1000

names = [found.name for found in importlib.metadata.distributions() if found.name.startswith("fathom-distance")]
print(f"{', '.join(names)} {fathom.__version__} works with Python {sys.version.split()[0]} and NumPy {np.__version__}")
