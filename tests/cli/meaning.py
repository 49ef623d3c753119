"""What tests of the meaning of files share: masks, the command's answers, and SciPy's.

Files are made as tifffile, nibabel and Pillow write them, and by hand where no writer of the tests makes them.
"""

import json

import numpy as np
from scipy import ndimage

RANDOM = np.random.default_rng(7)


def mask(*shape):
    a = (RANDOM.random(shape) < 0.9).astype(np.uint8)
    a.reshape(-1, shape[-2] * shape[-1])[:, 0] = 0  # each plane has a site
    return a


def info(fathom, name, *arguments):
    outcome = fathom("info", name, "--json", *arguments)
    assert outcome.code == 0, outcome
    return json.loads(outcome.out)["input"]


def distance(fathom, name, *arguments, warnings=(), out="out.npy"):
    """The field, and exactly these warnings."""
    outcome = fathom("distance", name, "-o", out, *arguments)
    assert outcome.code == 0, outcome
    lines = outcome.err.decode().splitlines()
    assert lines == [f"fathom: warning: {text}" for text in warnings]
    return np.load(fathom.directory / out) if out.endswith(".npy") else None


def per_plane(a, axes, sampling=None):
    """SciPy's distances of each array along all but the axes named."""
    moved = np.moveaxis(a, axes, range(len(axes)))
    out = np.empty(moved.shape, np.float32)
    for index in np.ndindex(*moved.shape[: len(axes)]):
        out[index] = ndimage.distance_transform_edt(moved[index], sampling=sampling)
    return np.moveaxis(out, range(len(axes)), axes)
