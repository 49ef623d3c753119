"""Tile graphs for the tests of `stream`, and what each is by NumPy."""

import json

import numpy as np


def write(fathom, nodes, root=None, name="graph.json"):
    """The document of some nodes; the last one is the root."""
    document = {"fathom": "stream", "version": 1, "root": root or list(nodes)[-1], "nodes": nodes}
    (fathom.directory / name).write_text(json.dumps(document))
    return name


def surface(height=700, width=900, cell=(41, 53)):
    """Dots that repeat, the distance to them, a profile, under a mask."""
    return {
        "grain": {"type": "noise", "seed": 5, "height": cell[0], "width": cell[1]},
        "dots": {"type": "threshold", "value": 250, "children": ["grain"]},
        "all": {"type": "repeat", "height": height, "width": width, "children": ["dots"]},
        "far": {"type": "distance", "max": 15, "children": ["all"]},
        "coat": {"type": "profile", "expression": "255*exp(-d/5)", "children": ["far"]},
        "shape": {"type": "formula", "expression": "(x-450)^2 + (y-350)^2 < 300^2", "height": height, "width": width,
                  "dtype": "bool"},
        "out": {"type": "mask", "children": ["coat", {"node": "shape", "role": "mask"}]},
    }


def exact(height=600, width=500):
    """The exact distance to a few pixels that repeat nowhere."""
    return {
        "grain": {"type": "noise", "seed": 8, "height": height, "width": width, "dtype": "uint16"},
        "dots": {"type": "threshold", "value": 65500, "children": ["grain"]},
        "far": {"type": "distance", "children": ["dots"]},
    }


def bits(height=77, width=93):
    return {
        "ramp": {"type": "formula", "expression": "x + 2*y", "height": height, "width": width, "dtype": "uint8"},
        "dither": {"type": "halftone", "matrix": 4, "children": ["ramp"]},
    }


def brute_distance(sites):
    """Exact distances of a small array, one pair at a time."""
    ys, xs = np.nonzero(sites)
    y, x = np.indices(sites.shape)
    squares = np.full(sites.shape, np.inf)
    for sy, sx in zip(ys, xs):
        squares = np.minimum(squares, (y - sy) ** 2 + (x - sx) ** 2)
    return np.sqrt(squares).astype(np.float32)
