#!/usr/bin/env python3
"""The published algorithms beside Fathom's own engines, on the same images and volumes, on the CPU or a device.

  PYTHONPATH=build/cuda/python python bench/published.py --json rows.jsonl      the table of docs/algorithms.md (needs CuPy)
  PYTHONPATH=build/release/python python bench/published.py --backend cpu       the same on the CPU, of small sizes
  PYTHONPATH=build/cuda/python python bench/published.py --phases --sizes 1024x1024       more cases and parameters, by phases

Distances of exact algorithms must be Fathom's before a number counts; of the others the error is measured. Times of
algorithms are the sums of their phases, without copies; Fathom's is that of a call from Python, from an array to an array
where it computes. --json FILE appends one JSON line for each number.

Cases of the table: a tenth of the elements are sites, and a grid of disks or balls of sites; on a device those of
device_bench. Cases of the phases: random sites; uniform: a tenth of the sites in rows that are shifted, which Man et al.
found to be the worst for memory; full: every element is a site, which is what block colouring with large m3 is slowest for
(Cao et al., Fact 6); unbalanced: half a row of sites and a column behind it, so that the last merge of Parallel Banding
takes up to half a line's sites away one after the other, which no number of bands shortens (section 7).
"""

import argparse
import datetime
import json
import math
import sys
import time

import fathom
import numpy as np
from cases import CASES
from fathom import published
from measure import machine

SIZES = {
    "cuda": "1024x1024,2048x2048,4096x4096,8192x8192,16384x16384,128x128x128,256x256x256,512x512x512",
    "cpu": "1024x1024,2048x2048,64x64x64,128x128x128",
}
BEST_M3 = {512: 16, 1024: 8, 2048: 4, 4096: 2, 8192: 1}
"""Of textures so wide on a GTX280, with m1 = m2 = 16 (Cao et al., section 5.1); in volumes m1 = m3 = 1, m2 = 2 (5.4)."""


def table_cases(shape, backend):
    """Name and mask, whose zeros are sites."""
    if backend == "cpu":
        return [("10 %", CASES["10%"](shape)), ("blobs", CASES["blobs"](shape))]
    from device_peers import cupy, draw, drawing

    kernel, size = drawing(), "x".join(map(str, shape))
    kinds = (("10 %", 0, 0.1), ("blobs", 4, 0))  # of device_cases.cuh
    return ((case, cupy.asnumpy(draw(kernel, {"size": size, "kind": kind, "share": share}))) for case, kind, share in kinds)


def phase_cases(shape):
    """Name and mask, whose zeros are sites."""
    random = np.random.default_rng(1)
    for density in (0.001, 0.1, 0.4, 0.9):
        yield f"random {100 * density:g} %", random.random(shape) >= density
    *_, y, x = np.indices(shape, sparse=True)
    yield "uniform 10 %", np.broadcast_to((3 * y + x) % 10 != 0, shape).copy()
    yield "full", np.zeros(shape, bool)
    unbalanced = np.ones(shape, bool)
    unbalanced[..., 0, : shape[-1] // 2] = unbalanced[..., shape[-1] // 2] = False
    yield "unbalanced", unbalanced


def table_algorithms(shape):
    """Column, algorithm and parameters."""
    yield "PBA, 32 32 16", published.pba, {"m1": 32, "m2": 32, "m3": 16}
    best = {"m1": 1, "m2": 2, "m3": 1} if len(shape) == 3 else {"m1": 16, "m2": 16, "m3": BEST_M3.get(shape[-1], 1)}
    yield "PBA, as tuned", published.pba, best
    if len(shape) == 2:
        yield "proximate", published.proximate, {}
    yield "JFA", published.jfa, {}


def phase_algorithms(shape, backend):
    """Name, algorithm and parameters."""
    yield "pba", published.pba, {}
    yield "pba, 1 band", published.pba, {"m1": 1, "m2": 1, "m3": 1}
    yield "pba, 32 32 16", published.pba, {"m1": 32, "m2": 32, "m3": 16}
    if len(shape) == 2:
        for access in ("vtv-vtv", "vh-vh", "hv-hv", "vv-hh", "hh-vv") if backend != "cpu" else ("hv-hv",):
            yield f"proximate, {access}", published.proximate, {"access": access}
    yield "jfa", published.jfa, {}
    yield "jfa + 2", published.jfa, {"more_rounds": 2}
    yield "skw", published.skw, {}


def least_seconds(call, wait, runs):
    seconds = []
    for _ in range(runs + 2):
        wait()
        start = time.perf_counter()
        for _ in range(10):
            call()
        wait()
        seconds.append((time.perf_counter() - start) / 10)
    return min(seconds)


def own(mask, backend, runs):
    """Fathom's distances, the seconds that they take, and those of copying them."""
    if backend == "cpu":
        out, other = np.empty(mask.shape, np.float32), np.empty(mask.shape, np.float32)
        own = least_seconds(lambda: fathom.distance_transform(mask, out=out, backend="cpu"), lambda: None, runs)
        return out, own, least_seconds(lambda: np.copyto(other, out), lambda: None, runs)
    import cupy

    there, out, other = cupy.asarray(mask), *(cupy.empty(mask.shape, cupy.float32) for _ in range(2))
    wait = cupy.cuda.Device().synchronize
    own = least_seconds(lambda: fathom.distance_transform(there, out=out), wait, runs)
    return cupy.asnumpy(out), own, least_seconds(lambda: cupy.copyto(other, out), wait, runs)


def fastest(algorithm, mask, exact, runs, **options):
    """The run that took the least time, and how many of the sites that it found are not the nearest; checked."""
    first = found = algorithm(mask, **options)
    if found.exact and not np.array_equal(found.distances, exact):
        sys.exit(f"{algorithm.__name__} of {mask.shape} is not exact")
    quick = options if found.exact else {**options, "measure_error": False}
    for _ in range(runs - 1):
        found = min(found, algorithm(mask, **quick), key=lambda one: one.seconds)
    return found, first.error


def rounded(seconds):
    ms = 1e3 * seconds
    return f"{ms:.3f}" if ms < 0.1 else f"{ms:.2f}" if ms < 10 else f"{ms:.1f}" if ms < 100 else f"{ms:.0f}"


def print_table(shapes, backend, keep):
    columns = ["PBA, 32 32 16", "PBA, as tuned", "proximate", "JFA"]
    print(f"| sites | size | Fathom | copy | {' | '.join(columns)} | wrong sites |\n|{'---|' * (len(columns) + 5)}")
    small = np.arange(64 * 64).reshape(64, 64) % 7
    for _, algorithm, options in table_algorithms(small.shape):
        algorithm(small, backend=backend, **options)  # what is loaded when it is first called
    for shape in shapes:
        for case, mask in table_cases(shape, backend):
            runs = max(1, min(5, (1 << 27) // mask.size))  # so that all of it takes a minute
            exact, seconds, copy = own(mask, backend, runs)
            keep(shape, case, "Fathom", seconds=seconds, copy=copy)
            cells, wrong = dict.fromkeys(columns, ""), ""
            for name, algorithm, options in table_algorithms(shape):
                found, error = fastest(algorithm, mask, exact, runs, backend=backend, **options)
                cells[name] = rounded(found.seconds)
                if error:
                    wrong = f"{error.wrong}"
                keep(shape, case, name, seconds=found.seconds, phases=found.phases, parameters=options, error=error)
            extents = f"{shape[0]}{'²³'[len(shape) - 2]}" if len(set(shape)) == 1 else " × ".join(map(str, shape))
            row = [case, extents, rounded(seconds), rounded(copy), *cells.values(), wrong]
            print(f"| {' | '.join(row)} |", flush=True)


def print_phases(shapes, backend, keep):
    for shape in shapes:
        for case, mask in phase_cases(shape):
            exact, seconds, copy = own(mask, backend, 3)
            keep(shape, case, "Fathom", seconds=seconds, copy=copy)
            print(f"{shape}, {case}: Fathom {1e3 * seconds:.4g} ms")
            for name, algorithm, options in phase_algorithms(shape, backend):
                found, error = fastest(algorithm, mask, exact, 3, backend=backend, **options)
                keep(shape, case, name, seconds=found.seconds, phases=found.phases, parameters=options, error=error)
                wrong = f", {error.wrong} wrong, up to {error.largest:.3g}" if error else ""
                phases = ", ".join(f"{phase} {1e3 * took:.3g}" for phase, took in found.phases.items())
                times = found.seconds / seconds
                print(f"  {name:20} {1e3 * found.seconds:9.4g} ms {times:8.1f} ×{wrong}  ({phases})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phases", action="store_true", help="more cases and parameters, by phases, in place of the table")
    parser.add_argument("--sizes", help="such as 1024x1024,128x128x128")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--json", help="file to append to")
    arguments = parser.parse_args()
    shapes = [tuple(map(int, size.split("x"))) for size in (arguments.sizes or SIZES[arguments.backend]).split(",")]
    about = {"machine": machine(), "date": str(datetime.date.today()), "devices": list(fathom.info().devices)}

    def keep(shape, case, algorithm, **measured):
        if not arguments.json:
            return
        measured["elements"] = math.prod(shape)
        with open(arguments.json, "a") as file:
            file.write(json.dumps({"shape": shape, "case": case, "algorithm": algorithm, **measured, **about}) + "\n")

    (print_phases if arguments.phases else print_table)(shapes, arguments.backend, keep)


if __name__ == "__main__":
    main()
