"""Distances by looking at every pair of elements: slow, and with nothing to get wrong."""

import itertools

import numpy as np

SHIFTS = {"open": (0,), "periodic": (-1, 0, 1)}


def squared_distances(sites, spacing=1.0, border="open"):
    """float64 squared Euclidean distance of each element to its nearest site, and that site's linear index.

    sites: bool. Of equally near sites the one with the lowest index; inf and -1 without sites.
    """
    shape = np.array(sites.shape)
    spacing = np.broadcast_to(np.asarray(spacing, float), shape.shape)
    places = np.argwhere(sites)
    indices = np.flatnonzero(sites)
    here = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1)
    best = np.full(sites.shape, np.inf)
    nearest = np.full(sites.shape, -1)
    for place, index in zip(places, indices):
        for shift in itertools.product(SHIFTS[border], repeat=len(shape)):
            squares = (((here - place - shift * shape) * spacing) ** 2).sum(-1)
            closer = squares < best
            best[closer], nearest[closer] = squares[closer], index
    return best, nearest


def distances(sites, spacing=1.0, border="open"):
    return np.sqrt(squared_distances(sites, spacing, border)[0])
