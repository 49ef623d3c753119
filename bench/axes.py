#!/usr/bin/env python3
"""Medial axis of an image, and local thickness of a volume, on one thread, beside scikit-image and PoreSpy.

On blobs: noise, blurred and cut, as PoreSpy makes them. Results are checked against the definitions before a number counts:
the axis everywhere, thickness at random elements. Prints a table; --json FILE appends one JSON line for each row.

  cmake --preset release && cmake --build --preset release --target fathom_python_package
  PYTHONPATH=build/release/python python bench/axes.py
"""

import argparse
import datetime
import json
import sys

import fathom
import numpy as np
from measure import Contestant, alternate, machine
from scipy import ndimage


def blobs(shape, porosity=0.6, blobiness=1, seed=1):
    """What PoreSpy 3.2 makes of these numbers."""
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).random(shape), np.mean(shape) / (40 * blobiness))
    return noise < np.quantile(noise, porosity)


def axis_by_definition(mask):
    """Constant pruning with γ = 1, all in integers."""
    nearest = fathom.nearest_site(mask).astype(np.int64)
    sites = np.stack(np.unravel_index(nearest, mask.shape))
    places = np.indices(mask.shape)
    axis = np.zeros(mask.shape, bool)
    for k in range(mask.ndim):
        before = (slice(None),) * k + (slice(None, -1),)
        behind = (slice(None),) * k + (slice(1, None),)
        m, n = places[(slice(None), *before)], places[(slice(None), *behind)]
        f, g = sites[(slice(None), *before)], sites[(slice(None), *behind)]
        apart = ((f - g) ** 2).sum(0) > 1
        side = ((f - g) * (f + g - m - n)).sum(0)
        axis[before] |= apart & (side >= 0)
        axis[behind] |= apart & (side <= 0)
    return axis


def is_thickness(mask, thickness, samples=200):
    """Whether it is what the definition says, at random elements."""
    squares = fathom.distance_transform(mask, squared=True).astype(np.int64)
    reach = int(np.sqrt(squares.max())) + 1
    inside = np.argwhere(mask)
    for at in inside[np.random.default_rng(1).integers(len(inside), size=samples)]:
        box = tuple(slice(max(0, x - reach), x + reach + 1) for x in at)
        ways = sum((places + b.start - x) ** 2 for places, b, x in zip(np.indices(squares[box].shape), box, at))
        if thickness[tuple(at)] != np.float32(2) * np.sqrt(squares[box][ways < squares[box]].max(), dtype=np.float32):
            return False
    return True


def peers_of(operation, mask):
    try:
        if operation == "medial axis":
            from skimage.morphology import medial_axis
            return {"scikit-image": lambda: medial_axis(mask, return_distance=True)} if mask.ndim == 2 else {}
        from porespy.filters import local_thickness
        return {"PoreSpy, 25 radii": lambda: local_thickness(mask)}
    except ImportError:
        return {}


def measure(operation, mask, ours, is_right, repeat, budget):
    if not is_right(ours()):
        sys.exit(f"{operation} is not what its definition says")
    contestants = {"fathom": Contestant(ours, budget)}
    contestants |= {name: Contestant(run, budget) for name, run in peers_of(operation, mask).items()}
    alternate(contestants.values(), repeat)
    best = min(contestants["fathom"].seconds)
    for name, contestant in contestants.items():
        said = contestant.summary()
        print(f"{operation:>16} {' × '.join(map(str, mask.shape)):>16} {name:>18} {1e3 * said['min']:12.2f} ms "
              f"{said['min'] / best:8.1f}", flush=True)
        yield {"operation": operation, "shape": mask.shape, "who": name, **said}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", type=int, default=1024, help="extent of the image")
    parser.add_argument("--volume", type=int, default=256, help="extent of the volume")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--budget", type=float, default=20, help="seconds for each")
    parser.add_argument("--json", help="file to append to")
    arguments = parser.parse_args()
    image, volume = blobs([arguments.image] * 2), blobs([arguments.volume] * 3)
    more = (arguments.repeat, arguments.budget)
    rows = [
        *measure("medial axis", image, lambda: fathom.medial_axis(image, return_distance=True, threads=1),
                 lambda result: (result[0] == axis_by_definition(image)).all(), *more),
        *measure("medial axis", volume, lambda: fathom.medial_axis(volume, threads=1),
                 lambda result: (result == axis_by_definition(volume)).all(), *more),
        *measure("local thickness", volume, lambda: fathom.local_thickness(volume, threads=1),
                 lambda result: is_thickness(volume, result), *more),
    ]
    if arguments.json:
        with open(arguments.json, "a") as file:
            for row in rows:
                file.write(json.dumps({**row, "machine": machine(), "date": str(datetime.date.today())}) + "\n")


if __name__ == "__main__":
    main()
