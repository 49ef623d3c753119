#!/usr/bin/env python3
"""Sets that change: the time of an edit, one at a time and many in a call, and of queries before and after.

Sites uniform in a cube, float32, and voxels of a cube, one of a hundred a site. Before a time is printed the answers
are compared with those of a set that was built anew. --json FILE appends one JSON line for each row.

  PYTHONPATH=build/release/python python bench/dynamic.py
  PYTHONPATH=build/cuda/python python bench/dynamic.py --backend cuda
"""

import argparse
import datetime
import json
import sys
import time

import numpy as np
from measure import machine

import fathom


class Edited:
    """A set, and where its sites should be; NaN: nowhere."""

    def __init__(self, places, backend):
        self.places = places
        self.set = fathom.DynamicSet(places, backend=backend)

    def there(self):
        return np.flatnonzero(np.isfinite(self.places[:, 0]))

    def check(self, queries):
        there = self.there()
        distances, sites = fathom.SiteSet(self.places[there]).nearest(queries)
        ours, ids = self.set.nearest(queries)
        if not (np.array_equal(ours, distances) and np.array_equal(ids, there[sites])):
            sys.exit("other answers than those of a set built anew")


class EditedVoxels:
    """A set of voxels, and the mask that it should be."""

    def __init__(self, mask, backend):
        self.mask = mask
        self.set = fathom.VoxelSet.of_mask(mask, backend=backend)

    def check(self, queries):
        distances, sites = fathom.SiteSet.of_mask(self.mask).nearest(queries)
        ours, elements = self.set.nearest(queries)
        if not (np.array_equal(ours, distances) and np.array_equal(elements, sites)):
            sys.exit("other answers than those of a set built anew")


def best(call, runs=3):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def one_by_one(edit, *arrays):
    """Seconds for each of some edits, of what lies in the rows of arrays."""
    rows = [[array[i : i + 1] for array in arrays] for i in range(len(arrays[0]))]
    start = time.perf_counter()
    for row in rows:
        edit(*row)
    return (time.perf_counter() - start) / len(rows)


def at_once(edit, *arrays):
    start = time.perf_counter()
    edit(*arrays)
    return (time.perf_counter() - start) / len(arrays[0])


def measure(count, single, backend):
    """Pairs of what was done and its seconds."""
    random = np.random.default_rng(1)

    def uniform(n):
        return random.random((n, 3), np.float32)

    queries, many = uniform(min(count, 2**20)), count // 10
    start = time.perf_counter()
    edited = Edited(uniform(count), backend)
    yield "build, per site", (time.perf_counter() - start) / count
    yield "bytes per site", edited.set.nbytes / count
    edited.check(queries)
    fixed = fathom.SiteSet(edited.places, backend=backend)
    yield "query of a SiteSet", best(lambda: fixed.nearest(queries)) / len(queries)
    yield "query", best(lambda: edited.set.nearest(queries)) / len(queries)
    for run, n in ((one_by_one, single), (at_once, many)):
        new, to, ids = uniform(n), uniform(n), random.permutation(edited.there())[: 2 * n]
        name = "one at a time" if run is one_by_one else f"{n} at once, each"
        # Only the library's part: where the sites should be is noted afterwards.
        yield f"add, {name}", run(edited.set.add, new)
        edited.places = np.concatenate([edited.places, new])
        yield f"move, {name}", run(edited.set.move, ids[:n], to)
        edited.places[ids[:n]] = to
        yield f"remove, {name}", run(edited.set.remove, ids[n:])
        edited.places[ids[n:]] = np.nan
        edited.check(queries)
    yield "query, after", best(lambda: edited.set.nearest(queries)) / len(queries)
    line = np.full((single, 3), 0.5, np.float32)
    line[:, 0] = 0.25 + np.arange(single) * 1e-7
    yield "add along a line in one place, one at a time", one_by_one(edited.set.add, line)
    edited.places = np.concatenate([edited.places, line])
    edited.check(queries)
    yield "bytes per site, after", edited.set.nbytes / len(edited.set)


def queries_there(name, sets, queries):
    """Seconds for each query where queries and answers are on the device, many and few."""
    import cupy

    for count in len(queries), 1024:
        there = cupy.asarray(queries[:count])
        wait = cupy.cuda.Device().synchronize
        for what, asked in sets.items():
            asked.nearest(there)
            wait()
            seconds = best(lambda: (asked.nearest(there), wait()), 20)
            yield f"{name}{what}, {count} there", seconds / count


def measure_voxels(extent, single, backend):
    """The same for the voxels of a cube."""
    random = np.random.default_rng(1)
    mask = random.random((extent,) * 3, np.float32) < 0.01
    queries = random.random((2**20, 3), np.float32) * extent
    flat = mask.reshape(-1)
    start = time.perf_counter()
    edited = EditedVoxels(mask, backend)
    yield "build, per voxel", (time.perf_counter() - start) / mask.size
    yield "bytes per voxel", edited.set.nbytes / mask.size
    edited.check(queries)
    fixed = fathom.SiteSet.of_mask(mask, backend=backend)
    yield "query of a SiteSet", best(lambda: fixed.nearest(queries)) / len(queries)
    yield "query", best(lambda: edited.set.nearest(queries)) / len(queries)
    if backend == "cuda":
        yield from queries_there("query", {"": edited.set, " of a SiteSet": fixed}, queries)
    for run, n in ((one_by_one, single), (at_once, mask.size // 100)):
        name = "one at a time" if run is one_by_one else f"{n} at once, each"
        new, to = random.integers(mask.size, size=n), random.integers(mask.size, size=n)
        yield f"add, {name}", run(edited.set.add, new)
        flat[new] = True
        there = random.permutation(np.flatnonzero(flat))[: 2 * n]
        leaving, gone = there[: len(there) // 2], there[len(there) // 2 :]
        to = np.setdiff1d(to, leaving)[: len(leaving)]  # one at a time and at once give the same sites then
        leaving = leaving[: len(to)]
        yield f"move, {name}", run(edited.set.move, leaving, to)
        flat[leaving] = False
        flat[to] = True
        yield f"remove, {name}", run(edited.set.remove, gone)
        flat[gone] = False
        edited.check(queries)
    yield "query, after", best(lambda: edited.set.nearest(queries)) / len(queries)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", default="10000,1000000")
    parser.add_argument("--voxels", default="128,512", help="extents of cubes")
    parser.add_argument("--single", type=int, default=20000, help="edits one at a time")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    about = {**machine(), "date": datetime.date.today().isoformat(), "backend": arguments.backend}
    print(about)
    cases = [(f"{n} sites", measure(n, min(arguments.single, n // 10), arguments.backend))
             for n in map(int, filter(None, arguments.sites.split(",")))]
    cases += [(f"{n}³ voxels", measure_voxels(n, arguments.single, arguments.backend))
              for n in map(int, filter(None, arguments.voxels.split(",")))]
    for case, measured in cases:
        for what, value in list(measured):  # all is checked before anything is printed
            shown = f"{value:.3f}" if what.startswith("bytes") else f"{value * 1e6:.4f} µs"
            print(f"{case:>14}  {what:<46} {shown}", flush=True)
            if arguments.json:
                with open(arguments.json, "a") as file:
                    print(json.dumps({**about, "case": case, "what": what, "value": value}), file=file)


if __name__ == "__main__":
    main()
