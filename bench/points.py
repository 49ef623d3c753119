#!/usr/bin/env python3
"""Nearest sites of points: ours beside SciPy's cKDTree, nanoflann and FAISS, same arrays, one run, alternating.

The first answer of each is checked: a peer's distances against ours, ours by brute force at some queries. FAISS
measures all pairs (IndexFlatL2), by matrix products that lose digits where sites are near; it takes part up to 2³⁵
pairs. Prints a table of seconds to build, to query, and both; --json FILE appends one JSON line for each row.

  cmake --preset release && cmake --build --preset release --target fathom_bench
  python bench/points.py --sizes 1024x16777216,1000000x1000000 --threads 2 --json points.jsonl
"""

import argparse
import ctypes
import datetime
import json
import os
import pathlib
import platform
import sys
import time

import numpy as np

STORAGES = ["plain", "boxed", "sorted"]
MOST_PAIRS = 2**35  # for peers that measure all


class _Call(ctypes.Structure):
    _fields_ = [("sites", ctypes.c_void_p), ("queries", ctypes.c_void_p), ("site_count", ctypes.c_int64),
                ("query_count", ctypes.c_int64), ("storage", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("distance", ctypes.c_void_p), ("site", ctypes.c_void_p), ("build_seconds", ctypes.c_double),
                ("query_seconds", ctypes.c_double), ("message", ctypes.c_char * 512)]


def load_library():
    root = pathlib.Path(__file__).resolve().parent.parent
    return ctypes.CDLL(os.environ.get("FATHOM_BENCH_LIBRARY", root / "build/release/bench/libfathom_bench.so"))


def call_native(function, sites, queries, threads, storage=2):
    distance, site = np.empty(len(queries), np.float32), np.empty(len(queries), np.int64)
    call = _Call(sites.ctypes.data, queries.ctypes.data, len(sites), len(queries), storage, threads,
                 distance.ctypes.data, site.ctypes.data)
    if function(ctypes.byref(call)):
        raise RuntimeError(call.message.decode())
    return call.build_seconds, call.query_seconds, distance, site


def call_scipy(sites, queries, threads):
    from scipy.spatial import cKDTree
    start = time.perf_counter()
    tree = cKDTree(sites)
    built = time.perf_counter()
    distance, site = tree.query(queries, workers=threads)
    return built - start, time.perf_counter() - built, distance, site


def call_faiss(sites, queries, threads):
    import faiss
    faiss.omp_set_num_threads(threads)
    start = time.perf_counter()
    index = faiss.IndexFlatL2(sites.shape[1])
    index.add(sites)
    built = time.perf_counter()
    squared, site = index.search(queries, 1)
    return built - start, time.perf_counter() - built, np.sqrt(squared[:, 0]), site[:, 0]


def contenders(library, storages, pairs):
    """Name and call(sites, queries, threads) of each; ours first."""
    for storage in storages:
        number = STORAGES.index(storage)
        yield f"Fathom, {storage}", lambda *a, n=number: call_native(library.fathom_bench_points, *a, n)
    if hasattr(library, "fathom_bench_nanoflann"):
        yield "nanoflann", lambda *a: call_native(library.fathom_bench_nanoflann, *a)
    else:
        print("nanoflann was not there when the library was built: left out", file=sys.stderr)
    try:
        import scipy
        yield f"SciPy {scipy.__version__} cKDTree", call_scipy
    except ImportError:
        print("SciPy is not installed: left out", file=sys.stderr)
    if pairs > MOST_PAIRS:
        return
    try:
        import faiss
        yield f"FAISS {faiss.__version__} flat", call_faiss
    except ImportError:
        print("FAISS is not installed: left out", file=sys.stderr)


def make(spread, count, random):
    if spread == "uniform":
        return random.random((count, 3), np.float32)
    if spread == "clustered":
        centers = random.random((100, 3))
        return (centers[random.integers(100, size=count)] + 1e-3 * random.normal(size=(count, 3))).astype(np.float32)
    sphere = random.normal(size=(count, 3))
    return (sphere / np.linalg.norm(sphere, axis=1, keepdims=True)).astype(np.float32)


def check(name, sites, queries, found, expected):
    """Ours by brute force. Distances agree up to float32's rounding, those of products up to that of their squares."""
    if expected is None:
        for q in range(0, len(queries), max(1, len(queries) // 16)):
            steps = sites.astype(np.float64) - queries[q]
            squared = (steps[:, 0] ** 2 + steps[:, 1] ** 2) + steps[:, 2] ** 2
            if found[3][q] != squared.argmin() or found[2][q] != np.float32(np.sqrt(squared.min())):
                sys.exit(f"{name} is wrong at query {q}")
    elif name.startswith("FAISS"):
        if not np.allclose(found[2] ** 2, expected[2] ** 2, rtol=1e-5, atol=1e-5):
            sys.exit(f"{name} finds other squared distances than Fathom")
    elif not np.allclose(found[2], expected[2], rtol=1e-5, atol=1e-9):
        sys.exit(f"{name} finds other distances than Fathom")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000000x1000000", help="queries x sites, separated by commas")
    parser.add_argument("--spreads", default="uniform", help="uniform, clustered, sphere")
    parser.add_argument("--storages", default="sorted", help="sorted, boxed, plain")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", help="file to append one line of JSON per row to")
    arguments = parser.parse_args()
    library = load_library()
    print(f"{'queries x sites':>20} {'spread':>10} {'':>24} {'build, s':>9} {'query, s':>9} {'both, s':>9}  x ours")
    for size in arguments.sizes.split(","):
        query_count, site_count = map(int, size.split("x"))
        for spread in arguments.spreads.split(","):
            random = np.random.default_rng(1)
            sites, queries = make(spread, site_count, random), make(spread, query_count, random)
            rows, first = {}, None
            for _ in range(arguments.repeat):
                for name, call in contenders(library, arguments.storages.split(","), query_count * site_count):
                    found = call(sites, queries, arguments.threads)
                    if name not in rows:
                        check(name, sites, queries, found, first)
                    first = first or found
                    rows.setdefault(name, []).append(found[:2])
            ours = None
            for name, times in rows.items():
                build, query = min(t[0] for t in times), min(t[1] for t in times)
                both = min(sum(t) for t in times)
                ours = ours or both
                print(f"{size:>20} {spread:>10} {name:>24} {build:9.3f} {query:9.3f} {both:9.3f} {both / ours:6.1f}")
                if arguments.json:
                    row = {"size": size, "spread": spread, "name": name, "threads": arguments.threads, "build": build,
                           "query": query, "both": both, "runs": arguments.repeat, "machine": platform.processor(),
                           "date": datetime.date.today().isoformat()}
                    with open(arguments.json, "a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
