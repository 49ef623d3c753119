#!/usr/bin/env python3
"""What is lost and gained by looking at every p-th site only: figure 7 of Khan & Zahran.

Three sets of as many sites: the nonzero voxels of a volume in the order of its memory, the same in random order, and
random ones. Queries are voxels outside. Answers are checked: every set of all sites against the others, perforated ones
against an exact set of the sites that are left. Prints a table; --json FILE appends one JSON line for each row,
--plot FILE draws error against speed-up.

  cmake --preset release && cmake --build --preset release
  PYTHONPATH=build/release/python python bench/perforation.py scan.nii.gz --threshold 1843 --plot perforation.png
"""

import argparse
import datetime
import gzip
import json
import math
import sys
import time

import numpy as np
from figure import tidy
from measure import machine

import fathom

STEPS = [1, 2, 3, 4, 6, 8, 12, 16, 23, 32, 48, 64]
COLOURS = {"in the volume's order": "#0b6e99", "in random order": "#d1793b", "random sites": "#5b8c3e"}


def read_volume(path):
    """Of a NIfTI-1 or NPY file, compressed or not; the axes as they lie in the file."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        data = file.read()
    if data[:6] == b"\x93NUMPY":
        return np.load(path)
    order = "<" if data[:4] == b"\\\x01\0\0" else ">"
    number, *extents = np.frombuffer(data, order + "i2", 8, 40)
    code, start = int(np.frombuffer(data, order + "i2", 1, 70)[0]), int(np.frombuffer(data, order + "f4", 1, 108)[0])
    dtype = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 256: "i1", 512: "u2"}[code]
    shape = [int(n) for n in extents[:number][::-1]]
    return np.frombuffer(data, order + dtype, math.prod(shape), start).reshape(shape)


def arrangements(solid, random):
    """Sites of each kind, as many of each."""
    sites = np.argwhere(solid).astype(np.int32)
    yield "in the volume's order", sites
    yield "in random order", random.permutation(sites)
    places = random.integers(solid.size, size=len(sites))
    yield "random sites", np.stack(np.unravel_index(places, solid.shape), axis=1).astype(np.int32)


def outside(solid, count, random):
    """Random voxels that are not solid."""
    places = random.permutation(np.flatnonzero(~solid.ravel()))[:count]
    return np.stack(np.unravel_index(places, solid.shape), axis=1).astype(np.int32)


def timed(sites, queries, runs, **options):
    """Distances, and the least seconds of the runs to find them; the set is there already."""
    resident = fathom.SiteSet(sites, threads=1, **options)
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        distances, _ = resident.nearest(queries, threads=1)
        seconds.append(time.perf_counter() - start)
    return distances, min(seconds)


def measure(name, sites, queries, runs):
    """Rows of one arrangement: the perforated sets, and at the end the exact answer of a sorted set."""
    exact, whole = timed(sites, queries, runs, storage="plain")
    indexed, fastest = timed(sites, queries, runs, storage="sorted")
    if not np.array_equal(indexed, exact):
        sys.exit(f"sites {name}: a sorted set answers otherwise than a plain one")
    asked = exact > 0  # a query on a random site has no percentage
    for every in STEPS:
        found, seconds = timed(sites, queries, runs, storage="plain", every=every)
        left, _ = timed(np.ascontiguousarray(sites[::every]), queries, 1, storage="sorted")
        if not np.array_equal(found, left):
            sys.exit(f"sites {name}: every {every}th finds other distances than the sites that are left")
        error = float(np.mean((found - exact)[asked] / exact[asked]) * 100)
        yield {"sites": name, "count": len(sites), "every": every, "milliseconds": seconds * 1e3,
               "speedup": whole / seconds, "error": error}
    yield {"sites": name, "count": len(sites), "every": None, "milliseconds": fastest * 1e3,
           "speedup": whole / fastest, "error": 0.0}


def plot(rows, path):
    """Error against speed-up; the exact sorted sets as single marks."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(6.5, 3.4))
    for name, colour in COLOURS.items():
        mine = [row for row in rows if row["sites"] == name]
        axes.plot([row["speedup"] for row in mine[:-1]], [row["error"] for row in mine[:-1]], color=colour, marker="o",
                  markersize=4, label=f"every p-th, {name}")
        axes.plot(mine[-1]["speedup"], 0, color=colour, marker="*", markersize=11, linestyle="", clip_on=False)
    axes.plot([], [], color="#444444", marker="*", markersize=11, linestyle="", label="exact, sorted")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("times faster than looking at every site")
    axes.set_ylabel("mean error, %")
    tidy(axes)
    axes.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("volume", help="NIfTI-1 or NPY")
    parser.add_argument("--threshold", type=float, default=1, help="voxels from here on are sites")
    parser.add_argument("--queries", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", help="file to append one line of JSON per row to")
    parser.add_argument("--plot", help="file for the plot")
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    solid = read_volume(arguments.volume) >= arguments.threshold
    queries = outside(solid, arguments.queries, random)
    print(f"{'sites':>22} {'every':>6} {'ms':>10} {'x faster':>9} {'error, %':>9}")
    rows = []
    for name, sites in arrangements(solid, random):
        for row in measure(name, sites, queries, arguments.runs):
            rows.append(row)
            print(f"{row['sites']:>22} {row['every'] or 'sorted':>6} {row['milliseconds']:10.2f} {row['speedup']:9.1f} "
                  f"{row['error']:9.2f}", flush=True)
    if arguments.plot:
        plot(rows, arguments.plot)
    if arguments.json:
        about = {"machine": machine(), "date": datetime.date.today().isoformat(), "queries": len(queries)}
        with open(arguments.json, "a", encoding="utf-8") as file:
            file.writelines(json.dumps({**row, **about}) + "\n" for row in rows)


if __name__ == "__main__":
    main()
