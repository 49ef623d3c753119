#!/usr/bin/env python3
"""The kernels of Norman Pellet's slides with their sizes, in memory: 10240² float32 from an array to an array.

Case 1, a cell of 16² to 128² again and again; case 2, one of 100² on a lattice, which the slides do not name:
(u, v) = ((0, 90), (80, 35)), the last or the mean of what is not 0, as there; case 3, distances ≤ 15, of which they
name neither size nor mask: 10240², one pixel in a hundred a site, or discs of a radius of 12. Each is compared with
NumPy before it is timed; "fill" is NumPy writing as much. Minimum of the runs. --json FILE appends one JSON line for
each row.

  PYTHONPATH=build/release/python python bench/stream_paper.py --json paper.jsonl
"""

import argparse
import datetime
import json
import os
import sys
import time

import numpy as np
from measure import Contestant, alternate, machine

import fathom
from fathom import stream

SIDE, CELL, BOUND = 10240, 100, 15
U, V = (0, 90), (80, 35)


def lattice(cell, side, blend):
    """The last of the copies that are not 0, or the mean, one copy after the other."""
    sums, counts = np.zeros((side, side)), np.zeros((side, side), np.uint8)
    for j in range(-CELL // V[0], side // V[0] + 1):
        for i in range((-CELL - j * V[1]) // U[1], (side - j * V[1]) // U[1] + 1):
            y, x = j * V[0], i * U[1] + j * V[1]
            rows, columns = slice(max(0, y), max(0, min(side, y + CELL))), slice(max(0, x), max(0, min(side, x + CELL)))
            copy = cell[rows.start - y:rows.stop - y, columns.start - x:columns.stop - x]
            covers, there = copy != 0, sums[rows, columns]
            if blend == "last":
                there[covers] = copy[covers]
            else:
                there[covers] += copy[covers]
                counts[rows, columns] += covers
    return (sums if blend == "last" else sums / np.maximum(counts, 1)).astype(np.float32)


def discs(side, random):
    """White discs that may overlap."""
    mask, radius = np.zeros((side, side), np.uint8), 12
    y, x = np.indices((2 * radius + 1, 2 * radius + 1)) - radius
    disc = (y * y + x * x <= radius * radius).view(np.uint8)
    for top, left in random.integers(0, side - 2 * radius, (side * side // 3000, 2)):
        mask[top:top + 2 * radius + 1, left:left + 2 * radius + 1] |= disc
    return mask


def bounded(mask):
    distance = fathom.distance_transform(mask, sites="nonzero")
    return np.where(distance > BOUND, np.float32(np.inf), distance)


def cases(side):
    """Name, raster, and what it is."""
    random = np.random.default_rng(1)
    for extent in (16, 32, 64, 128, CELL):
        cell = random.random((extent, extent), np.float32)
        cell[random.random((extent, extent)) < 0.5] = 0
        times = -(-side // extent)
        yield f"1: repeat {extent}", stream.array(cell).repeat(side, side), np.tile(cell, (times, times))[:side, :side]
    for blend in "last", "mean":
        raster = stream.array(cell).lattice(U, V, side, side, blend=blend)
        yield f"2: lattice, {blend}", raster, lattice(cell, side, blend)
    for name, mask in ("1 %", (random.random((side, side)) < 0.01).view(np.uint8)), ("discs", discs(side, random)):
        far, expected = stream.array(mask).distance(BOUND), bounded(mask)
        yield f"3: distance ≤ {BOUND}, {name}", far, expected
        depth = np.rint(255 * np.exp(-np.minimum(expected, BOUND).astype(np.float64) / 5)).astype(np.uint8)
        yield f"3: the same, profile, {name}", far.profile("255*exp(-d/5)"), depth


class Timed(Contestant):
    """Counts seconds of processors, too."""

    def __init__(self, run, budget):
        super().__init__(run, budget)
        self.processor = []

    def turn(self):
        start, runs = time.process_time(), len(self.seconds)
        super().turn()
        if len(self.seconds) > runs:
            self.processor.append(time.process_time() - start)


def measure(name, raster, expected, options):
    out = np.empty_like(expected)
    raster.compute(out=out)
    if not np.array_equal(out, expected):
        sys.exit(f"{name}: not what NumPy makes: nothing is timed")
    threads = sorted({1, len(os.sched_getaffinity(0))})
    timed = {str(n): Timed(lambda n=n: raster.compute(out=out, threads=n), options.budget) for n in threads}
    timed["fill"] = Timed(lambda: out.fill(1), options.budget)
    alternate(timed.values(), options.repeat)
    return {"case": name, "dtype": str(out.dtype), "side": options.side,
            "ms": {key: min(each.seconds) * 1e3 for key, each in timed.items()},
            "processor_ms": {key: min(each.processor) * 1e3 for key, each in timed.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=SIDE)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--budget", type=float, default=10, help="seconds after which something is not timed again")
    parser.add_argument("--json", help="file to append one line of JSON per row to")
    options = parser.parse_args()
    about = {"machine": machine(), "date": datetime.date.today().isoformat(), "command": " ".join(sys.argv)}
    print(f"{'case':>32} {'dtype':>8}  ms by threads (of processors)")
    for name, raster, expected in cases(options.side):
        row = measure(name, raster, expected, options)
        times = [f"{key}: {ms:.1f} ({row['processor_ms'][key]:.1f})" for key, ms in row["ms"].items()]
        print(f"{name:>32} {row['dtype']:>8}  {'  '.join(times)}", flush=True)
        if options.json:
            with open(options.json, "a", encoding="utf-8") as file:
                file.write(json.dumps({**row, **about}) + "\n")


if __name__ == "__main__":
    main()
