#!/usr/bin/env python3
"""Regions of sites, Lloyd's iteration and stipples on the processor, beside SciPy's nearest sites summed by NumPy.

Results are checked before a number counts: areas, centroids and edges against sums over SciPy's regions, a step of Lloyd's
against the centroids, stipples by their ink. Prints a table; --json FILE appends one JSON line for each row.

  cmake --preset release && cmake --build --preset release --target fathom_python_package
  PYTHONPATH=build/release/python taskset -c 0 python bench/voronoi.py --photo photo.jpg
"""

import argparse
import datetime
import json
import sys

import fathom
import numpy as np
from measure import Contestant, alternate, machine
from scipy import ndimage


def summed(sites, weights):
    """Areas and centroids, by SciPy's nearest sites."""
    nearest = ndimage.distance_transform_edt(~sites, return_distances=False, return_indices=True)
    number = np.zeros(sites.shape, np.int64)
    number[sites] = np.arange(sites.sum())
    of = number[tuple(nearest)].ravel()
    mass = np.bincount(of, weights.ravel())
    places = np.indices(sites.shape).reshape(sites.ndim, -1)
    return np.bincount(of), np.stack([np.bincount(of, weights.ravel() * axis) for axis in places], 1) / mass[:, None]


def check(is_right, what):
    if not is_right:
        sys.exit(f"{what} is not what it should be")


def check_regions(sites, weights):
    """Areas and centroids by sums over the regions, these by distances, for of equally near sites SciPy takes another."""
    found = fathom.voronoi(sites, weights, covariances=True, neighbours=True)
    ways = ((np.indices(sites.shape).T - found.sites[found.regions].swapaxes(0, 1)) ** 2).sum(-1).T
    check(np.array_equal(ways, fathom.distance_transform(~sites, squared=True)), "a region")
    of, mass = found.regions.ravel(), weights.ravel().astype(np.float64)
    check(np.array_equal(found.areas, np.bincount(of)), "an area")
    places = np.indices(sites.shape).reshape(2, -1)
    total = np.bincount(of, mass)
    centroids = np.stack([np.bincount(of, mass * axis) for axis in places], 1) / total[:, None]
    check(np.allclose(found.centroids, centroids, rtol=0, atol=1e-6), "a centroid")
    around = places - found.centroids[of].T
    both = np.bincount(of, mass * around[0] * around[1]) / total
    check(np.allclose(found.covariances[:, 0, 1], both, rtol=0, atol=1e-6), "a covariance")
    faces = (found.regions[1:] != found.regions[:-1]).sum() + (found.regions[:, 1:] != found.regions[:, :-1]).sum()
    check(found.lengths.sum() == faces, "the length of a boundary")
    moved = fathom.lloyd(weights, found.sites, iterations=1)
    check(np.allclose(moved, found.centroids, rtol=0, atol=1e-9), "a step of Lloyd's")


def measure(what, shape, contestants, repeat, budget):
    contestants = {name: (Contestant(run, budget), share) for name, (run, share) in contestants.items()}
    alternate([contestant for contestant, _ in contestants.values()], repeat)
    for name, (contestant, share) in contestants.items():
        milliseconds = 1e3 * contestant.summary()["min"] * share
        print(f"{what:>44} {' × '.join(map(str, shape)):>12} {name:>8} {milliseconds:10.2f} ms", flush=True)
        yield {"operation": what, "shape": shape, "who": name, "ms": milliseconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=2048, help="extent of the image")
    parser.add_argument("--sites", type=int, default=100_000)
    parser.add_argument("--photo", help="to stipple with --dots")
    parser.add_argument("--dots", type=int, default=20_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--budget", type=float, default=20, help="seconds for each")
    parser.add_argument("--json", help="file to append to")
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    shape = (arguments.size, arguments.size)
    sites = np.zeros(shape, bool)
    sites.ravel()[random.choice(sites.size, arguments.sites, replace=False)] = True
    weights = random.integers(1, 256, shape).astype(np.uint8)
    check_regions(sites, weights)
    start = np.argwhere(sites).astype(np.float64)
    threads, more = arguments.threads, (arguments.repeat, arguments.budget)
    steps = 10
    rows = [
        *measure(f"areas and centroids of {arguments.sites} regions", shape,
                 {"fathom": (lambda: fathom.voronoi(sites, weights, threads=threads), 1),
                  "SciPy": (lambda: summed(sites, weights), 1)}, *more),
        *measure("the same with covariances and neighbours", shape,
                 {"fathom": (lambda: fathom.voronoi(sites, weights, covariances=True, neighbours=True,
                                                    threads=threads), 1)}, *more),
        *measure("an iteration of Lloyd's", shape,
                 {"fathom": (lambda: fathom.lloyd(weights, start, iterations=steps, threads=threads), 1 / steps)}, *more),
    ]
    if arguments.photo:
        photo = np.asarray(fathom.read(arguments.photo, colours="luminance"))
        positions, radii = fathom.stipple(photo, arguments.dots, threads=threads)
        ink = (1 - photo / np.float64(np.iinfo(photo.dtype).max)).sum()
        check(len(np.unique(positions, axis=0)) == arguments.dots and np.isclose(np.pi * (radii**2).sum(), ink, rtol=1e-3),
              "the ink of the dots")
        rows += measure(f"{arguments.dots} stipples, at most 100 iterations", photo.shape,
                        {"fathom": (lambda: fathom.stipple(photo, arguments.dots, threads=threads), 1)}, *more)
    if arguments.json:
        with open(arguments.json, "a") as file:
            for row in rows:
                file.write(json.dumps({**row, "machine": machine(), "date": str(datetime.date.today())}) + "\n")


if __name__ == "__main__":
    main()
