#!/usr/bin/env python3
"""What each kind of call costs on the CPU, over the plain distance of the same array: one thread, from Python.

Each result is checked by its definition or against a call that must agree before it is timed; both are timed in turn.
Prints a table; --json FILE appends one JSON line for each row.

  cmake --preset release && cmake --build --preset release --target fathom_python_package
  PYTHONPATH=build/release/python taskset -c 0 python bench/calls.py
"""

import argparse
import datetime
import json
import math

import fathom
import numpy as np
from cases import CASES, labels
from measure import Contestant, alternate, brute_force_error, machine

OF = ["1%", "blobs", "diagonal"]
UNIT, ANY = [1.5, 1, 0.75], [1.25, 0.742188, 0.742188]


def squares(mask, out):
    return fathom.distance_transform(mask, squared=True, out=out, threads=1)


def distances(**options):
    return lambda mask, out: fathom.distance_transform(mask, out=out, threads=1, **options)


# Name, type of the result, call of mask and result; spacings have as many axes as the mask.
CALLS = {
    "squares": (np.uint32, squares),
    "float64 distances": (np.float64, distances(dtype=np.float64)),
    "nearest sites": (np.int32, lambda mask, out: fathom.nearest_site(mask, out=out, threads=1)),
    "distances and nearest sites": (np.float32, lambda mask, out: fathom.distance_transform(
        mask, out=out, return_indices=True, threads=1)),
    "a spacing in a unit": (np.float32, lambda mask, out: distances(spacing=UNIT[:mask.ndim])(mask, out)),
    "any spacing": (np.float32, lambda mask, out: distances(spacing=ANY[:mask.ndim])(mask, out)),
    "labels": (np.float32, lambda mask, out: distances(sites="labels")(mask, out)),
    "signed": (np.float32, lambda mask, out: fathom.signed_distance(mask, out=out, threads=1)),
    "a border of sites": (np.float32, distances(border="sites")),
    "periodic": (np.float32, distances(border="periodic")),
    "a maximum of 10": (np.float32, distances(max_distance=10)),
    "taxicab": (np.float32, distances(metric="taxicab")),
    "chessboard": (np.float32, distances(metric="chessboard")),
}  # fmt: skip
SHAPES = {"images in a batch": (64, 256, 256), "an odd width": (2047, 2049), "a line": (1 << 22,),
          "four axes": (16, 64, 64, 64)}  # fmt: skip


def check(name, mask, result):
    """Of what brute force tells: Euclidean distances to zeros with equal spacings."""
    if name == "squares":
        result = np.sqrt(result.astype(np.float64))
    if name in ("plain", "squares", "float64 distances") or name in SHAPES:
        if brute_force_error(mask, result) > 6e-8:
            raise SystemExit(f"{name}: our own result is wrong, nothing is timed")


def array(name, case, shape):
    if name == "images in a batch":
        return np.stack([CASES[case](shape[1:])] * shape[0])
    return CASES[case]((1, *shape))[0] if len(shape) == 1 else CASES[case](shape)


def rows(size, arguments):
    """The calls, on masks of a size; of SHAPES, on their own."""
    for name in [*CALLS, *(SHAPES if len(size) == 2 else ())]:
        dtype, call = CALLS.get(name, (np.float32, distances(**({"ndim": 2} if "batch" in name else {}))))
        shape = SHAPES.get(name, size)
        factors = []
        for case in OF:
            images = array(name, case, shape)
            mask = labels(images) if name == "labels" else images
            like = CASES[case](size) if name in SHAPES else images
            out, plain_out = np.empty(shape, dtype), np.empty(like.shape, np.float32)
            call(mask, out), distances()(like, plain_out)
            check("plain", like, plain_out)
            check(name, images[0] if "batch" in name else images, out[0] if "batch" in name else out)
            runs = (lambda: call(mask, out)), (lambda: distances()(like, plain_out))
            ours, plain = (Contestant(run, arguments.budget) for run in runs)
            alternate([ours, plain], arguments.repeat)
            per_element = [timed.summary()["min"] / n for timed, n in ((ours, mask.size), (plain, like.size))]
            factors.append(per_element[0] / per_element[1])
        mean = math.prod(factors) ** (1 / len(factors))
        yield {"call": name, "size": "x".join(map(str, size)), "mean": mean, "most": max(factors)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="2048x2048,256x256x256")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--budget", type=float, default=1, help="seconds after which a call is not timed again")
    parser.add_argument("--json", help="file to append to")
    arguments = parser.parse_args()
    print(f"{machine()['cpu']}, {datetime.date.today()}; over the plain distance: mean and most of {', '.join(OF)}")
    for size in arguments.sizes.split(","):
        for row in rows(tuple(map(int, size.split("x"))), arguments):
            print(f"{row['call']:28} {size:12} {row['mean']:6.2f} {row['most']:6.2f}", flush=True)
            if arguments.json:
                with open(arguments.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
