"""Masks that tell implementations apart."""

import numpy as np


def masks(seed, count, most_axes=4, least_axes=1):
    """Boolean arrays with at least one False, of all densities and of odd shapes."""
    random = np.random.default_rng(seed)
    longest = {1: 60, 2: 40, 3: 14, 4: 8}
    made = 0
    while made < count:
        ndim = int(random.integers(least_axes, most_axes + 1))
        shape = random.integers(1, longest[ndim], ndim)
        mask = random.random(shape) > random.choice([0.01, 0.1, 0.5, 0.9])
        if not mask.all():
            made += 1
            yield mask


def labels(seed, count, most_axes=3):
    """Blocks of labels with some background."""
    random = np.random.default_rng(seed)
    longest = {1: 60, 2: 40, 3: 14}
    for _ in range(count):
        ndim = int(random.integers(1, most_axes + 1))
        shape = random.integers(2, longest[ndim], ndim)
        coarse = random.integers(0, 4, -(-shape // 4))
        for axis in range(ndim):
            coarse = np.repeat(coarse, 4, axis)
        yield coarse[tuple(slice(0, extent) for extent in shape)].astype(random.choice(["u1", "i4", "u8", "f4"]))
