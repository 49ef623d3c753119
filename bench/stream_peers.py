#!/usr/bin/env python3
"""Other libraries that make the square rasters of bench/stream.py, each in a process of its own, into a pipe.

  python bench/stream_peers.py NAME -o FILE < work.json

The work is what bench/stream.py writes: a case's name, its size and its files. Distances have no bound there: they are
computed whole, and looked up. libvips has none (`fill_nearest` is of another kind), so that it repeats what is there.
"""

import argparse
import json
import os
import sys

import numpy as np
from stream_cases import BOUND, TEXTURE, U, V, depth, lattice_copies

ROWS = 256  # of which the profile is looked up at once


def libvips(work):
    """An image of libvips that repeats, or lies on the lattice: one cell, skewed, which its own operations make."""
    import pyvips

    height, width = work["height"], work["width"]
    image = lambda path: pyvips.Image.new_from_array(np.load(path).astype(np.uint8))
    cell = image(work["files"]["cell"])

    def tiled(one):
        return one.replicate(-(-width // one.width), -(-height // one.height)).crop(0, 0, width, height)

    if work["case"] == "repeat":
        return tiled(cell)
    wide, high, skew = U[1], V[0], V[1]
    over = cell.crop(wide, 0, TEXTURE[1] - wide, TEXTURE[0]).embed(0, 0, wide, TEXTURE[0])
    row = cell.crop(0, 0, wide, TEXTURE[0]).maxpair(over)
    over = row.crop(0, high, wide, TEXTURE[0] - high).wrap(x=-skew, y=0).embed(0, 0, wide, high)
    strip = row.crop(0, 0, wide, high).maxpair(over).copy_memory()
    turns = wide // np.gcd(wide, skew)
    skin = tiled(pyvips.Image.arrayjoin([strip.wrap(x=skew * j % wide, y=0) for j in range(turns)], across=1)
                 .copy_memory())
    held = np.load(work["files"]["mask"], mmap_mode="r").view(np.uint8)
    mask = pyvips.Image.new_from_memory(held, width, height, 1, "uchar")
    return (mask > 0).ifthenelse(skin, 0)


def write_image(image, file):
    import pyvips

    image.rawsave_target(pyvips.Target.new_to_descriptor(file.fileno()))


def numpy(work):
    height, width = work["height"], work["width"]
    cell = np.load(work["files"]["cell"])
    if work["case"] == "repeat":
        return np.tile(cell, (-(-height // cell.shape[0]), -(-width // cell.shape[1])))[:height, :width]
    mask = np.load(work["files"]["mask"], mmap_mode="r")
    return np.where(mask, lattice_copies(cell, (0, height, 0, width)), 0)


def sites_of(work):
    if "sites" in work["files"]:
        return np.load(work["files"]["sites"], mmap_mode="r")
    return numpy({**work, "case": "repeat"})


def opencv(work):
    import cv2

    others = 1 - sites_of(work).view(np.uint8)
    return cv2.distanceTransform(others, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)


def scipy(work):
    from scipy.ndimage import distance_transform_edt

    return distance_transform_edt(~sites_of(work))


def write_array(values, file):
    for y in range(0, len(values), ROWS):
        file.write(np.ascontiguousarray(values[y:y + ROWS]))


def write_depths(distance, file, bound):
    for y in range(0, len(distance), ROWS):
        file.write(depth(distance[y:y + ROWS].astype(np.float32), bound).astype(np.uint8))


PEERS = {"libvips": libvips, "NumPy": numpy, "OpenCV": opencv, "SciPy": scipy}
MODULES = {"libvips": "pyvips", "NumPy": "numpy", "OpenCV": "cv2", "SciPy": "scipy.ndimage"}


def peers_of(case):
    return ["OpenCV", "SciPy"] if "distance" in case else ["libvips", "NumPy"]


def version_of(name):
    """None: it is not installed."""
    try:
        module = __import__(MODULES[name].partition(".")[0])
    except ImportError as error:
        print(f"{name} left out: {error}", file=sys.stderr)
        return None
    return ".".join(str(module.version(k)) for k in range(3)) if name == "libvips" else module.__version__


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    __import__(MODULES[arguments.name])  # is there before the work is
    work = json.load(sys.stdin)
    made = PEERS[arguments.name](work)
    with open(arguments.output, "wb") as file:
        if arguments.name == "libvips":
            write_image(made, file)
        elif "distance" in work["case"]:
            write_depths(made, file, BOUND if "≤" in work["case"] else None)
        else:
            write_array(made, file)


if __name__ == "__main__":
    main()
