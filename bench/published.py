#!/usr/bin/env python3
"""The published algorithms beside Fathom's own engines, on the same images and volumes, on the CPU or a device.

  PYTHONPATH=build/release/python python bench/published.py --backend cpu --sizes 1024x1024
  PYTHONPATH=build/cuda/python python bench/published.py --sizes 1024x1024,8192x8192,256x256x256     (CuPy for Fathom's time)

Distances of exact algorithms must be Fathom's before a number counts; of the others the error is printed. Times of
algorithms are the sums of their phases, without copies; Fathom's on a device is from an array there to an array there.
--json FILE appends one JSON line for each row.

Cases: random sites; uniform: a tenth of the sites in rows that are shifted, which Man et al. found to be the worst for memory;
full: every element is a site, which is what block colouring with large m3 is slowest for (Cao et al., Fact 6); unbalanced:
half a row of sites and a column behind it, so that the last merge of Parallel Banding takes up to half a line's sites away
one after the other, which no number of bands shortens (section 7).
"""

import argparse
import datetime
import json
import sys
import time

import fathom
import numpy as np
from fathom import published
from measure import machine


def cases(shape):
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


def algorithms(shape, backend):
    """Name and call."""

    def made(name, algorithm, **options):
        return name, lambda mask: algorithm(mask, backend=backend, **options)

    yield made("pba", published.pba)
    yield made("pba, 1 band", published.pba, m1=1, m2=1, m3=1)
    yield made("pba, 32 32 16", published.pba, m1=32, m2=32, m3=16)
    if len(shape) == 2:
        for access in ("vtv-vtv", "vh-vh", "hv-hv", "vv-hh", "hh-vv") if backend != "cpu" else ("hv-hv",):
            yield made(f"proximate, {access}", published.proximate, access=access)
    yield made("jfa", published.jfa)
    yield made("jfa + 2", published.jfa, more_rounds=2)
    yield made("skw", published.skw)


def own_seconds(mask, backend, runs):
    """Fathom's own engine on the same mask."""
    if backend == "cpu":
        call, wait = lambda: fathom.distance_transform(mask, out=out, backend="cpu"), lambda: None
        out = np.empty(mask.shape, np.float32)
    else:
        import cupy

        there, out = cupy.asarray(mask), cupy.empty(mask.shape, cupy.float32)
        call, wait = lambda: fathom.distance_transform(there, out=out), cupy.cuda.Device().synchronize
    seconds = []
    for _ in range(runs + 2):
        wait()
        start = time.perf_counter()
        for _ in range(10):
            call()
        wait()
        seconds.append((time.perf_counter() - start) / 10)
    return min(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1024x1024,128x128x128")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", help="file to append to")
    arguments = parser.parse_args()
    about = {"machine": machine(), "date": str(datetime.date.today()), "devices": list(fathom.info().devices)}
    for size in arguments.sizes.split(","):
        shape = tuple(map(int, size.split("x")))
        for case, mask in cases(shape):
            exact = fathom.distance_transform(mask)
            own = own_seconds(mask, arguments.backend, arguments.runs)
            print(f"{size}, {case}: Fathom {1e3 * own:.4g} ms")
            for name, run in algorithms(shape, arguments.backend):
                found = min((run(mask) for _ in range(arguments.runs)), key=lambda one: one.seconds)
                if found.exact and not np.array_equal(found.distances, exact):
                    sys.exit(f"{name} of {case}, {size}, is not exact")
                error = f", {found.error.wrong} wrong, up to {found.error.largest:.3g}" if found.error else ""
                phases = ", ".join(f"{phase} {1e3 * seconds:.3g}" for phase, seconds in found.phases.items())
                print(f"  {name:20} {1e3 * found.seconds:9.4g} ms {found.seconds / own:8.1f} ×{error}  ({phases})", flush=True)
                if arguments.json:
                    row = {"size": size, "case": case, "algorithm": name, "seconds": found.seconds, "own": own,
                           "phases": found.phases, "error": found.error, **about}  # fmt: skip
                    with open(arguments.json, "a") as file:
                        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
