#!/usr/bin/env python3
"""Distance transforms of grids: ours beside edt, OpenCV, SciPy and SimpleITK, same arrays, one run, alternating.

Every result is checked before it is timed: ours by brute force at random elements, each peer's against ours. Prints a
table, with how many times the plain distance of the same run each feature takes; --json FILE appends one JSON line for
each row.

  cmake --preset release && cmake --build --preset release --target fathom_bench
  python bench/grid.py --sizes 2048x2048,256x256x256 --threads 1,2 --json results.jsonl
"""

import argparse
import datetime
import json

import numpy as np

from cases import CASES, labels
from fathom_shim import Transform, copy, has
from measure import Contestant, alternate, brute_force_error, check_peer, machine
from peers import SPACING, installed_peers

FEATURES = ["plain", "nearest", "coordinates", "indices", "spacing", "labels", "border"]
SITES_ALONE = {"nearest": "nearest", "coordinates": "coordinates"}  # without distances


# --- Ours ------------------------------------------------------------------------------------------------------------

def ours(feature, image, threads, isa):
    options = {"threads": threads, "isa": isa}
    options[SITES_ALONE.get(feature, "distance")] = np.int32 if feature in SITES_ALONE else np.float32
    if feature == "indices":
        options["coordinates"] = np.int32  # as SciPy: distances and coordinates
    if feature == "spacing":
        options["spacing"] = SPACING[:image.ndim]
    if feature == "labels":
        options["sites"] = "labels"
    if feature == "border":
        options["border"] = "sites"
    return Transform(image, **options)


class DistancesTo:
    """Distances from elements to sites, of which there are indices, or coordinates along the first axis."""

    def __init__(self, sites, shape):
        self.sites, self.shape = sites, shape

    def __getitem__(self, at):
        site = self.sites[(..., *at)]
        if site.min() < 0:
            return np.inf
        site = np.unravel_index(site, self.shape) if site.ndim == 0 else site
        return np.linalg.norm(np.subtract(site, at, dtype=np.float64))


# --- Measuring -------------------------------------------------------------------------------------------------------

def measure(feature, image, threads, isas, peers, args):
    """One record for each instruction set, with the same peers' times."""
    image = labels(image) if feature == "labels" else image
    transforms = {isa: ours(feature, image, threads, isa) for isa in isas}
    for transform in transforms.values():
        transform()
    result = SITES_ALONE.get(feature, "distance")
    reference = getattr(transforms[isas[-1]], result)
    if feature in ("plain", "indices", *SITES_ALONE):
        error = brute_force_error(image, DistancesTo(reference, image.shape) if feature in SITES_ALONE else reference)
        if error > 6e-8:
            raise SystemExit(f"our own result is wrong by {error}: nothing is timed")
    for transform in transforms.values():
        if not np.array_equal(getattr(transform, result), reference):
            raise SystemExit("our instruction sets do not agree: nothing is timed")

    differences, runs = {}, {}
    for peer in peers:
        run = None if feature in SITES_ALONE else peer.prepare(feature, image, threads)
        if run is None:
            continue
        differences[peer.name] = check_peer(run, feature, reference)
        runs[peer.name] = Contestant(run, args.budget)
    target = np.empty_like(reference)
    plain = Contestant(ours("plain", image, threads, isas[-1]), args.budget)
    timed = {isa: Contestant(transform, args.budget) for isa, transform in transforms.items()}
    copying = Contestant(lambda: copy(target, reference), args.budget)
    alternate([*timed.values(), plain, copying, *runs.values()], args.repeat)

    versions = {peer.name: peer.version for peer in peers}
    for isa in isas:
        yield {
            "ours": timed[isa].summary(), "isa": transforms[isa].instruction_set,
            "used_threads": transforms[isa].threads, "scratch_bytes": transforms[isa].scratch_bytes,
            "copy": copying.summary(), "plain": plain.summary(),
            "peers": {name: {**run.summary(), "version": versions[name],
                             "largest_relative_difference": differences[name]}
                      for name, run in runs.items()},
        }


# --- Reporting -------------------------------------------------------------------------------------------------------

def print_head(peers):
    columns = "".join(f"{peer.name + ' ms':>14}{'×':>7}" for peer in peers)
    print(f"{'feature':12}{'size':14}{'case':9}{'thr':>4} {'set':9}{'ours ms':>10}{'median':>10}{'Mel/s':>8}"
          f"{'×plain':>7}"
          f"{'copy ms':>9}{'B/el':>6}{columns}")


def print_row(record, peers):
    seconds = record["ours"]["min"]
    elements = np.prod(record["size"], dtype=float)
    row = (f"{record['feature']:12}{'x'.join(map(str, record['size'])):14}{record['case']:9}{record['threads']:4d} "
           f"{record['isa']:9}{seconds * 1e3:10.2f}{record['ours']['median'] * 1e3:10.2f}"
           f"{elements / seconds / 1e6:8.0f}{seconds / record['plain']['min']:7.2f}{record['copy']['min'] * 1e3:9.2f}"
           f"{record['scratch_bytes'] / elements:6.2f}")
    for peer in peers:
        result = record["peers"].get(peer.name)
        if result is None:
            row += f"{'–':>14}{'':>7}"
            continue
        # float32 inside the peer is no fault; more is marked.
        mark = "" if result["largest_relative_difference"] < 1e-6 else "!"
        row += f"{mark}{result['min'] * 1e3:.1f}".rjust(14) + f"{result['min'] / seconds:7.1f}"
    print(row, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")
    parser.add_argument("--sizes", type=words, default=["2048x2048", "8192x8192", "256x256x256", "512x512x512"])
    parser.add_argument("--cases", type=words, default=list(CASES))
    parser.add_argument("--features", type=words, default=["plain"], help=", ".join(FEATURES))
    parser.add_argument("--peers", type=words, default=None, help="edt, OpenCV, SciPy, SimpleITK; 'none' for none")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1])
    parser.add_argument("--isa", type=words, default=[isa for isa in ("avx2", "avx512") if has(isa)] or ["baseline"])
    parser.add_argument("--repeat", type=int, default=7, help="runs of each; slow ones stop when their budget is spent")
    parser.add_argument("--budget", type=float, default=3, help="seconds after which a contestant runs no more")
    parser.add_argument("--json", help="file to append one JSON line per row to")
    args = parser.parse_args()
    for name in args.cases:
        if name not in CASES:
            parser.error(f"there is no case '{name}'; choose from {', '.join(CASES)}")
    for name in args.features:
        if name not in FEATURES:
            parser.error(f"there is no feature '{name}'; choose from {', '.join(FEATURES)}")
    for isa in args.isa:
        if not has(isa):
            parser.error(f"this machine cannot run {isa}")
    return args


def main():
    args = parse()
    peers = installed_peers([name.lower() for name in args.peers] if args.peers else None)
    about = {"machine": machine(), "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ")}
    print(f"{about['machine']['cpu']}, {about['machine']['processors']} processors, "
          f"{about['machine']['memory_gib']} GiB, {about['date']}; times are minima; × = peer / ours; "
          "! = the peer differs by more than 1e-6 (or says otherwise without a site)")
    print_head(peers)
    for size in args.sizes:
        shape = tuple(int(n) for n in size.split("x"))
        for case in args.cases:
            image = CASES[case](shape)
            for feature in args.features:
                for threads in args.threads:
                    for result in measure(feature, image, threads, args.isa, peers, args):
                        record = {**about, "operation": "distance_transform", "feature": feature, "size": shape,
                                  "case": case, "threads": threads, **result}
                        print_row(record, peers)
                        if args.json:
                            with open(args.json, "a") as file:
                                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
