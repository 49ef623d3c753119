#!/usr/bin/env python3
"""Distance transforms of grids: ours beside edt, OpenCV, SciPy and SimpleITK, same arrays, one run, alternating.

Every result is checked before it is timed: ours by brute force at random elements, each peer's against ours. Prints a
table; --json FILE appends one JSON line for each row.

  cmake --preset release && cmake --build --preset release --target fathom_bench
  python bench/grid.py --sizes 2048x2048,256x256x256 --threads 1,2 --json results.jsonl
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import sys
import time

import numpy as np

from cases import CASES, labels
from fathom_shim import Transform, copy, has

FEATURES = ["plain", "indices", "spacing", "labels", "border"]
SPACING = [1.5, 1.0, 0.75]


# --- Peers: each returns a function that computes the feature's result, or None where the peer lacks it. -------------

class Edt:
    name = "edt"

    def __init__(self):
        import edt
        from importlib.metadata import version
        self.module, self.version = edt, version("edt")

    def prepare(self, feature, image, threads):
        if feature == "indices":
            return None
        data = image if feature == "labels" else image.view(bool)
        options = {"parallel": threads, "black_border": feature == "border"}
        if feature == "spacing":
            options["anisotropy"] = tuple(SPACING[:image.ndim])
        return lambda: self.module.edt(data, **options)


class OpenCV:
    name = "OpenCV"

    def __init__(self):
        import cv2
        self.module, self.version = cv2, cv2.__version__

    def prepare(self, feature, image, threads):
        if feature != "plain" or image.ndim != 2:
            return None
        self.module.setNumThreads(threads)
        return lambda: self.module.distanceTransform(image, self.module.DIST_L2, self.module.DIST_MASK_PRECISE)


class SciPy:
    name = "SciPy"

    def __init__(self):
        import scipy
        import scipy.ndimage
        self.module, self.version = scipy.ndimage, scipy.__version__

    def prepare(self, feature, image, threads):
        transform = self.module.distance_transform_edt
        if threads > 1 or feature in ("labels", "border"):
            return None
        if feature == "indices":
            return lambda: transform(image, return_indices=True)
        sampling = SPACING[:image.ndim] if feature == "spacing" else None
        return lambda: transform(image, sampling=sampling)


class SimpleITK:
    name = "SimpleITK"

    def __init__(self):
        import SimpleITK
        self.module, self.version = SimpleITK, SimpleITK.Version_VersionString()

    def prepare(self, feature, image, threads):
        if feature not in ("plain", "spacing"):
            return None
        sitk = self.module
        sitk.ProcessObject.SetGlobalDefaultNumberOfThreads(threads)
        # Its field is signed; inside must be the sites for the outside to be what the others compute.
        sites = sitk.GetImageFromArray((image == 0).astype(np.uint8))
        if feature == "spacing":
            sites.SetSpacing(SPACING[:image.ndim][::-1])
        run = lambda: sitk.SignedMaurerDistanceMap(sites, False, False, True)
        run.convert = lambda result: np.maximum(sitk.GetArrayViewFromImage(result), 0)
        return run


def installed_peers(wanted):
    peers = []
    for peer in (Edt, OpenCV, SciPy, SimpleITK):
        if wanted and peer.name.lower() not in wanted:
            continue
        try:
            peers.append(peer())
        except ImportError:
            print(f"{peer.name} is not installed: left out", file=sys.stderr)
    return peers


# --- Ours ------------------------------------------------------------------------------------------------------------

def ours(feature, image, threads, isa):
    options = {"threads": threads, "isa": isa, "distance": np.float32}
    if feature == "indices":
        options["coordinates"] = np.int32  # as SciPy: distances and coordinates
    if feature == "spacing":
        options["spacing"] = SPACING[:image.ndim]
    if feature == "labels":
        options["sites"] = "labels"
    if feature == "border":
        options["border"] = "sites"
    return Transform(image, **options)


def brute_force_error(image, distance, samples=8):
    """Largest relative error at random elements, by looking at every element within the distance claimed."""
    random = np.random.default_rng(1)
    worst = 0.0
    for _ in range(samples):
        at = tuple(int(random.integers(n)) for n in image.shape)
        claimed = float(distance[at])
        reach = int(min(claimed, sum(image.shape))) + 1
        box = tuple(slice(max(0, x - reach), x + reach + 1) for x in at)
        found = np.argwhere(image[box] == 0)
        if not len(found):
            worst = max(worst, 0.0 if np.isinf(claimed) else np.inf)
            continue
        offset = [x - b.start for x, b in zip(at, box)]
        true = np.sqrt(float(((found - offset) ** 2).sum(1).min()))
        worst = max(worst, abs(claimed - true) / max(true, 1.0))
    return worst


def largest_difference(got, expected):
    """Relative, as the largest over all elements; infinite where one says there is no site and the other does not."""
    got, expected = np.asarray(got), np.asarray(expected)
    worst = 0.0
    for a, b in zip(got, expected):  # piece by piece
        finite = np.isfinite(b)
        if (np.isfinite(a) != finite).any():
            return float("inf")
        if finite.any():
            error = np.abs(a[finite].astype(np.float64) - b[finite]) / np.maximum(b[finite], 1)
            worst = max(worst, float(error.max()))
    return worst


# --- Measuring -------------------------------------------------------------------------------------------------------

class Contestant:
    """Something to time: runs while its share of the time budget lasts, at least once."""

    def __init__(self, run, budget):
        self.run, self.budget, self.seconds = run, budget, []

    def turn(self):
        if self.seconds and sum(self.seconds) > self.budget:
            return
        start = time.perf_counter()
        self.run()
        self.seconds.append(time.perf_counter() - start)

    def summary(self):
        return {"min": min(self.seconds), "median": statistics.median(self.seconds), "runs": len(self.seconds)}


def alternate(contestants, repeat):
    for _ in range(repeat):
        for contestant in contestants:
            contestant.turn()


def check_peer(run, feature, reference):
    result = run()
    if feature == "indices":
        result = result[0]
    convert = getattr(run, "convert", lambda field: field)
    return largest_difference(convert(result), reference)


def measure(feature, image, threads, isas, peers, args):
    """One record for each instruction set, with the same peers' times."""
    image = labels(image) if feature == "labels" else image
    transforms = {isa: ours(feature, image, threads, isa) for isa in isas}
    for transform in transforms.values():
        transform()
    reference = transforms[isas[-1]].distance
    if feature in ("plain", "indices"):
        error = brute_force_error(image, reference)
        if error > 6e-8:
            raise SystemExit(f"our own result is wrong by {error}: nothing is timed")
    for transform in transforms.values():
        if not np.array_equal(transform.distance, reference):
            raise SystemExit("our instruction sets do not agree: nothing is timed")

    differences, runs = {}, {}
    for peer in peers:
        run = peer.prepare(feature, image, threads)
        if run is None:
            continue
        differences[peer.name] = check_peer(run, feature, reference)
        runs[peer.name] = Contestant(run, args.budget)
    target = np.empty_like(reference)
    timed = {isa: Contestant(transform, args.budget) for isa, transform in transforms.items()}
    copying = Contestant(lambda: copy(target, reference), args.budget)
    alternate([*timed.values(), copying, *runs.values()], args.repeat)

    versions = {peer.name: peer.version for peer in peers}
    for isa in isas:
        yield {
            "ours": timed[isa].summary(), "isa": transforms[isa].instruction_set,
            "used_threads": transforms[isa].threads, "scratch_bytes": transforms[isa].scratch_bytes,
            "copy": copying.summary(),
            "peers": {name: {**run.summary(), "version": versions[name],
                             "largest_relative_difference": differences[name]}
                      for name, run in runs.items()},
        }


# --- Reporting -------------------------------------------------------------------------------------------------------

def machine():
    model = "unknown"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":")[1].strip()
                break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": model, "processors": len(os.sched_getaffinity(0)), "memory_gib": round(memory / 2**30, 1),
            "system": f"{platform.system()} {platform.machine()}"}


def print_head(peers):
    columns = "".join(f"{peer.name + ' ms':>14}{'×':>7}" for peer in peers)
    print(f"{'feature':9}{'size':14}{'case':9}{'thr':>4} {'set':9}{'ours ms':>10}{'median':>10}{'Mel/s':>8}"
          f"{'copy ms':>9}{'B/el':>6}{columns}")


def print_row(record, peers):
    seconds = record["ours"]["min"]
    elements = np.prod(record["size"], dtype=float)
    row = (f"{record['feature']:9}{'x'.join(map(str, record['size'])):14}{record['case']:9}{record['threads']:4d} "
           f"{record['isa']:9}{seconds * 1e3:10.2f}{record['ours']['median'] * 1e3:10.2f}"
           f"{elements / seconds / 1e6:8.0f}{record['copy']['min'] * 1e3:9.2f}"
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
