"""Rasters of tile graphs: against plain definitions in NumPy, and part by part."""

import itertools

import fathom
import numpy as np
import pytest
from fathom import stream
from graphs import Graphs


def parts(graphs, raster):
    """Tiles of some size in some order."""
    height, width = raster.shape
    h, w = graphs.upto(height), graphs.upto(width)
    corners = list(itertools.product(range(0, height, h), range(0, width, w)))
    if graphs.upto(2) == 1:
        graphs.random.shuffle(corners)
    return [(y, x, min(y + h, height), min(x + w, width)) for y, x in corners[:40]]


def least_memory(raster, threads):
    """The smallest that works, by halving."""
    low, high = 0, raster._plan(None, threads)["bytes"]
    while high - low > max(64, high // 500):
        middle = (low + high) // 2
        try:
            raster._plan(middle, threads)
            high = middle
        except ValueError:
            low = middle
    return high


def check(seed, side, depth):
    graphs = Graphs(seed, side)
    raster, expected = graphs.graph(depth)
    assert raster.shape == expected.shape and raster.dtype == expected.dtype
    np.testing.assert_array_equal(raster[:], expected)
    least = least_memory(raster, 2)
    for memory, threads in ((None, 3), (least, 2), (None, 1)):
        for y0, x0, y1, x1 in parts(graphs, raster):
            part = raster.compute(y0, x0, y1, x1, memory=memory, threads=threads)
            np.testing.assert_array_equal(part, expected[y0:y1, x0:x1], f"{memory} {threads} {y0, x0, y1, x1}")
        np.testing.assert_array_equal(raster.compute(memory=memory, threads=threads), expected)
    again = stream.from_json(raster.to_json(), arrays=raster._arrays, functions=raster._functions)
    assert again.to_json() == raster.to_json()
    np.testing.assert_array_equal(again[:], expected)


@pytest.mark.parametrize("seeds", range(10))
def test_small_graphs(seeds):
    for seed in range(40 * seeds, 40 * seeds + 40):
        check(seed, 20, 1 + seed % 6)


@pytest.mark.parametrize("seeds", range(8))
def test_graphs_of_several_tiles(seeds):
    for seed in range(5 * seeds, 5 * seeds + 5):
        check(10_000 + seed, 600, 1 + seed % 4)
