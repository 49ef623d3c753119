"""The arrays that the benchmarks run on: zeros are sites, as for SciPy, edt and OpenCV."""

import numpy as np

SEED = 20240229


def _random(shape):
    return np.random.default_rng([SEED, *shape])


def one(shape):
    mask = np.ones(shape, np.uint8)
    mask[tuple(int(n * f) for n, f in zip(shape, (0.37, 0.61, 0.43)))] = 0
    return mask


def sparse(shape, density):
    mask = np.empty(shape, np.uint8)
    random = _random(shape)
    for row in mask:  # piece by piece: the random numbers are larger than the mask
        np.greater_equal(random.random(row.shape, np.float32), np.float32(density), out=row.view(bool))
    mask[(0,) * mask.ndim] = 0
    return mask


def _smooth_noise(shape, cell):
    """Smooth random values, `cell` elements from hill to hill: a coarse grid, interpolated along each axis."""
    coarse = _random(shape).standard_normal([n // cell + 2 for n in shape]).astype(np.float32)
    for axis, n in enumerate(shape):
        position = np.arange(n, dtype=np.float32) / cell
        index = position.astype(np.int64)
        weight = (position - index).reshape([-1 if k == axis else 1 for k in range(len(shape))])
        coarse = coarse.take(index, axis) * (1 - weight) + coarse.take(index + 1, axis) * weight
    return coarse


def blobs(shape):
    """Round regions, about half of the array, hills as wide as 1/16 of it."""
    return (_smooth_noise(shape, max(shape) // 16) > 0).astype(np.uint8)


def objects(shape):
    """Separate objects on a background of sites, as in a segmentation: about a tenth of the array."""
    return (_smooth_noise(shape, max(shape) // 32) > 0.75).astype(np.uint8)


def plane(shape):
    mask = np.ones(shape, np.uint8)
    mask[-1] = 0
    return mask


def diagonal(shape):
    position = sum(np.arange(n, dtype=np.int32).reshape([-1 if k == axis else 1 for k in range(len(shape))])
                   for axis, n in enumerate(shape))
    return (position != sum(shape) // 2).astype(np.uint8)


CASES = {
    "one": one,
    "1e-4": lambda shape: sparse(shape, 1e-4),
    "1%": lambda shape: sparse(shape, 0.01),
    "10%": lambda shape: sparse(shape, 0.1),
    "50%": lambda shape: sparse(shape, 0.5),
    "blobs": blobs,
    "objects": objects,
    "plane": plane,
    "diagonal": diagonal,
    "all": lambda shape: np.zeros(shape, np.uint8),
    "none": lambda shape: np.ones(shape, np.uint8),
}


def labels(mask):
    """Several labels where the mask is nonzero: stripes along the last axis, a few to a hill."""
    stripe = max(8, mask.shape[-1] // 64)
    return mask * (1 + np.arange(mask.shape[-1], dtype=np.uint16) // stripe % 250)
