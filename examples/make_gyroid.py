"""Makes examples/data/gyroid.nii.gz: a ball of 96 voxels across with the channels of a gyroid through it."""

import pathlib

import nibabel
import numpy as np

EXTENT = 96
z, y, x = (np.indices((EXTENT,) * 3) + 0.5) / EXTENT * 2 - 1
turn = 2.2 * np.pi
gyroid = np.sin(turn * x) * np.cos(turn * y) + np.sin(turn * y) * np.cos(turn * z) + np.sin(turn * z) * np.cos(turn * x)
solid = (np.abs(gyroid) < 0.42) & (x * x + y * y + z * z < 0.95**2)
image = nibabel.Nifti1Image(solid.astype(np.uint8).T, np.eye(4))
nibabel.save(image, pathlib.Path(__file__).parent / "data" / "gyroid.nii.gz")
