"""Distances by trying every pair of elements: slow, and plainly right."""

import itertools

import numpy as np

INT_MAX = {np.dtype(t): np.iinfo(t).max for t in (np.uint32, np.uint64)}


def site_mask(a, rule):
    """Which elements are sites, by the rule as the command line gives it."""
    rule = "".join(rule.split())
    if rule == "zero":
        return a == 0
    if rule == "nonzero":
        return a != 0
    sign = rule[:2] if rule[1] == "=" else rule[0]
    if rule[len(sign) :] == "nan":
        return np.isnan(a) == (sign == "==")
    compare = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less, "==": np.equal,
               "!=": np.not_equal}
    return compare[sign](a, float(rule[len(sign) :]))


def _length(steps, metric):
    """Length of a vector of physical steps; squared for the Euclidean metric."""
    steps = np.abs(steps)
    if metric == "euclidean":
        return (steps * steps).sum(axis=-1)
    return steps.sum(axis=-1) if metric == "taxicab" else steps.max(axis=-1)


def _steps(to, points, shape, border):
    """Steps along each axis from the points to one element, the short way round a periodic axis."""
    steps = np.abs(points - to)
    for axis, kind in enumerate(border):
        if kind == "periodic":
            steps[:, axis] = np.minimum(steps[:, axis], shape[axis] - steps[:, axis])
    return steps


def _beyond(to, shape, spacing, border):
    """Distance to the nearest site outside of the array."""
    ends = [
        min(index + 1, extent - index) * step
        for index, extent, step, kind in zip(to, shape, spacing, border)
        if kind == "sites"
    ]
    return min(ends, default=np.inf)


def transform(a, rule="zero", metric="euclidean", spacing=None, border="open", max_distance=np.inf):
    """Distance (float64), and linear index of the nearest site (the lowest among equals, −1 without)."""
    spacing = np.ones(a.ndim) if spacing is None else np.broadcast_to(np.asarray(spacing, float), a.ndim)
    border = [border] * a.ndim if isinstance(border, str) else border
    everywhere = np.argwhere(np.ones(a.shape, bool))
    distance = np.full(a.shape, np.inf)
    nearest = np.full(a.shape, -1, np.int64)
    for to in itertools.product(*map(range, a.shape)):
        if rule == "labels":
            mask = (a != a[to]) | np.full(a.shape, a[to] == 0)
        else:
            mask = site_mask(a, rule)
        if rule == "labels" and a[to] == 0:
            mask = np.zeros(a.shape, bool)
            mask[to] = True
        indices = np.flatnonzero(mask.ravel())
        if indices.size:
            lengths = _length(_steps(np.array(to), everywhere[indices], a.shape, border) * spacing, metric)
            best = lengths.argmin()  # the first among equals
            distance[to] = np.sqrt(lengths[best]) if metric == "euclidean" else lengths[best]
            nearest[to] = indices[best]
        beyond = _beyond(to, a.shape, spacing, border) if not (rule == "labels" and a[to] == 0) else np.inf
        if beyond < distance[to]:
            distance[to], nearest[to] = beyond, -1
    far = distance > max_distance
    distance[far], nearest[far] = np.inf, -1
    return distance, nearest
