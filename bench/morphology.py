#!/usr/bin/env python3
"""Openings and closings by balls: fathom.morphology beside scikit-image's isotropic operations, same masks, one run.

Every result must equal scikit-image's before it is timed, but where nothing or all is set on the way: scikit-image there
measures to an element outside of the array. Prints a table; --json FILE appends one JSON line for each row.

  pip install scikit-image
  PYTHONPATH=build/release/python taskset -c 0 python bench/morphology.py --sizes 256x256x256 --radii 2,5
  PYTHONPATH=build/release/python taskset -c 0 python bench/morphology.py --input mask.nii.gz --radii 3
"""

import argparse
import datetime
import json

import fathom
import numpy as np
from scipy import ndimage
from skimage import morphology as theirs

from measure import Contestant, alternate, machine


def masks(shape):
    """Name and mask: sparse points, and smooth bodies that touch and have holes."""
    random = np.random.default_rng(1)
    yield "random 2 %", random.random(shape) < 0.02
    waves = ndimage.gaussian_filter(random.standard_normal(shape).astype(np.float32), 6, mode="wrap")
    yield "blobs", waves > 0


def rows(name, mask, radius, options):
    for operation in options.operations.split(","):
        ours, peer = getattr(fathom.morphology, operation), getattr(theirs, f"isotropic_{operation}")
        result = ours(mask, radius, threads=options.threads)
        first = {"closing": "dilation", "opening": "erosion"}.get(operation)
        inner = getattr(fathom.morphology, first)(mask, radius) if first else mask
        if inner.any() and not inner.all():
            assert np.array_equal(result, peer(mask, radius)), f"{operation} of {name} with radius {radius} differs"
        contestants = [Contestant(lambda: ours(mask, radius, threads=options.threads), options.budget),
                       Contestant(lambda: peer(mask, radius), options.budget)]
        alternate(contestants, options.repeat)
        fastest = [contestant.summary()["min"] for contestant in contestants]
        yield {"operation": operation, "mask": name, "shape": mask.shape, "radius": radius, "ours": fastest[0],
               "scikit-image": fastest[1], "factor": fastest[1] / fastest[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="2048x2048,256x256x256")
    parser.add_argument("--input", help="a mask to take instead: a file that fathom.read() reads, whose nonzero elements count")
    parser.add_argument("--radii", default="2,5,10.5")
    parser.add_argument("--operations", default="closing,opening")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--budget", type=float, default=15, help="seconds for each contestant of a row")
    parser.add_argument("--json")
    options = parser.parse_args()

    print(f"{machine()}, {datetime.date.today()}, {options.threads} thread(s); ms")
    print(f"{'operation':10} {'mask':12} {'shape':16} {'radius':>6} {'Fathom':>9} {'scikit-image':>13} {'factor':>7}")
    if options.input:
        scenes = [(options.input, np.asarray(fathom.read(options.input)) != 0)]
    else:
        shapes = [tuple(map(int, size.split("x"))) for size in options.sizes.split(",")]
        scenes = [scene for shape in shapes for scene in masks(shape)]
    for name, mask in scenes:
        for radius in map(float, options.radii.split(",")):
            for row in rows(name, mask, radius, options):
                shape = " × ".join(map(str, row["shape"]))
                print(f"{row['operation']:10} {name:12} {shape:16} {radius:6g} {row['ours'] * 1e3:9.1f} "
                      f"{row['scikit-image'] * 1e3:13.1f} {row['factor']:7.0f}", flush=True)
                if options.json:
                    with open(options.json, "a") as file:
                        file.write(json.dumps({**row, **machine(), "date": str(datetime.date.today())}) + "\n")


if __name__ == "__main__":
    main()
