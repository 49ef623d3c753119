#!/usr/bin/env python3
"""Nearest sites of points on a device: ours beside PyTorch's distances and CuPy's tree, same tensors, one run.

Float32 points uniform in a cube, distance and index of the nearest. Every answer is checked before it is timed: ours by
float64 brute force at some queries, a peer's distances against ours. Median of the replays of a graph; of CuPy's
queries, which wait for the device, by events. PyTorch measures all pairs, a piece of the sites at a time, by matrix
products, which lose digits where sites are near: the last column has the largest relative error of a distance. Prints
a table; --json FILE appends one JSON line for each row.

  PYTHONPATH=build/cuda/python python bench/point_peers.py
"""

import argparse
import datetime
import json
import statistics
import sys
import time

import torch

import fathom

PAIRS_AT_ONCE = 2**28


def ours(storage):
    def prepare(sites):
        resident = fathom.SiteSet(sites, storage=storage)
        return resident.nearest

    return prepare


def pytorch(sites):
    def run(queries):
        distance = torch.full((len(queries),), torch.inf, device=queries.device)
        index = torch.zeros(len(queries), dtype=torch.int64, device=queries.device)
        step = max(1, PAIRS_AT_ONCE // len(queries))
        for first in range(0, len(sites), step):
            least, at = torch.cdist(queries, sites[first : first + step]).min(1)
            nearer = least < distance
            distance = torch.where(nearer, least, distance)
            index = torch.where(nearer, at + first, index)
        return distance, index

    return run


def cupy_tree(sites):
    import cupy
    from cupyx.scipy.spatial import KDTree

    tree = KDTree(cupy.asarray(sites))

    def run(queries):
        distance, index = tree.query(cupy.asarray(queries))
        return torch.as_tensor(distance, device="cuda"), torch.as_tensor(index, device="cuda")

    return run


CONTENDERS = {"Fathom, plain": (ours("plain"), True), "Fathom, sorted": (ours("sorted"), True),
              "PyTorch cdist": (pytorch, True), "CuPy KDTree": (cupy_tree, False)}


def replays(run, queries, count):
    """Milliseconds of each replay of what the call puts on the device."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = run(queries)  # noqa: F841
    return calls(graph.replay, count)


def calls(run, count):
    for _ in range(count):  # until the clocks have risen
        run()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        run()
        event.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) for a, b in zip(events, events[1:])]


def check_ours(sites, queries, found):
    for q in range(0, len(queries), max(1, len(queries) // 16)):
        steps = sites.double() - queries[q].double()
        squared = (steps[:, 0] ** 2 + steps[:, 1] ** 2) + steps[:, 2] ** 2
        least, at = squared.min(0)
        lowest = (squared == least).nonzero()[0, 0]
        if found[1][q] != lowest or found[0][q] != squared[at].sqrt().float():
            sys.exit(f"Fathom is wrong at query {q}")


def largest_error(name, found, expected):
    """Relative, of the distances, if their squares agree to what float32 products of coordinates up to 1 round."""
    distance, right = found[0].double(), expected[0].double()
    wrong = (distance**2 - right**2).abs().max().item()
    if not wrong < 1e-5:
        sys.exit(f"{name} finds other squared distances than Fathom: by {wrong:.2g}")
    return ((distance - right).abs() / right).max().item()


def measure(sites, queries, count):
    """A row for each contender; ours first."""
    expected = None
    for name, (prepare, in_graph) in CONTENDERS.items():
        try:
            prepare(sites)  # what is compiled or loaded at first
            torch.cuda.synchronize()
            start = time.perf_counter()
            run = prepare(sites)
            torch.cuda.synchronize()
            built = 1e3 * (time.perf_counter() - start)
            found = run(queries)
        except ImportError as error:
            print(f"{name} left out: {error}", file=sys.stderr)
            continue
        if expected is None:
            check_ours(sites, queries, found)
            expected = found
        error = largest_error(name, found, expected)
        taken = replays(run, queries, count) if in_graph else calls(lambda: run(queries), count)  # noqa: B023
        yield {"name": name, "build_ms": built, "ms": statistics.median(taken), "error": error}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1024x16384,1024x65536,1024x262144,1024x16777216",
                        help="queries x sites, separated by commas")
    parser.add_argument("--replays", type=int, default=50)
    parser.add_argument("--json", help="file to append one line of JSON per row to")
    arguments = parser.parse_args()
    print(torch.cuda.get_device_name())
    print(f"{'queries x sites':>20} {'':>16} {'build, ms':>10} {'query, ms':>10}  x our fastest  largest error")
    random = torch.Generator("cuda").manual_seed(1)
    for size in arguments.sizes.split(","):
        query_count, site_count = map(int, size.split("x"))
        sites = torch.rand((site_count, 3), generator=random, device="cuda")
        queries = torch.rand((query_count, 3), generator=random, device="cuda")
        rows = list(measure(sites, queries, arguments.replays))
        best = min(row["ms"] for row in rows if row["name"].startswith("Fathom"))
        for row in rows:
            print(f"{size:>20} {row['name']:>16} {row['build_ms']:10.3f} {row['ms']:10.4f} {row['ms'] / best:13.1f} "
                  f"{row['error']:14.1e}")
            if arguments.json:
                row.update(size=size, replays=arguments.replays, device=torch.cuda.get_device_name(),
                           date=datetime.date.today().isoformat())
                with open(arguments.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
