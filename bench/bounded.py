#!/usr/bin/env python3
"""Nearest sites within a limit of device memory: figure 6 and table II of Khan & Zahran, with copies.

Sites and queries of the host, plain storage. Where the limit does not hold the sites, they pass by in pieces for every
call. Each answer is compared with that of a sorted set on the host. Prints a table; --json FILE appends one JSON line for
each row, --plot FILE draws time and device memory against the number of sites.

  PYTHONPATH=build/cuda/python python bench/bounded.py --plot bounded.png
"""

import argparse
import datetime
import json
import sys
import time

import numpy as np
from figure import tidy
from measure import machine

import fathom

MIB = 2**20
COLOURS = ["#0b6e99", "#5b8c3e", "#d1793b", "#8a5aa8", "#b83a4b"]


def timed(call, runs):
    """What the call returns, and its median of the runs in milliseconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        result = call()
        times.append((time.perf_counter() - start) * 1e3)
    return result, sorted(times)[len(times) // 2]


def measure(sites, queries, limits, runs):
    """A row for each limit that holds a piece."""
    expected = fathom.SiteSet(sites).nearest(queries)
    for limit in limits:
        try:
            resident = fathom.SiteSet(sites, storage="plain", backend="cuda", device_memory=limit and limit * MIB)
            found, ms = timed(lambda: resident.nearest(queries), runs)  # noqa: B023
        except ValueError as error:
            print(f"{len(sites):>10} {limit:>8}  left out: {error}")
            continue
        if not all(np.array_equal(a, b) for a, b in zip(found, expected)):
            sys.exit(f"{len(sites)} sites within {limit} MiB: other answers than on the host")
        held = resident.nbytes
        yield {"sites": len(sites), "queries": len(queries), "limit_mib": limit, "milliseconds": ms,
               "in_pieces": held == 0, "sites_mib": held / MIB}


def plot(rows, limits, path):
    """Time, and the device memory that may be taken, against the number of sites."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.2))
    for limit, colour in zip(limits, COLOURS):
        mine = [row for row in rows if row["limit_mib"] == limit]
        label = f"{limit} MiB" if limit else "no limit"
        for axes, value in zip(panels, (lambda row: row["milliseconds"], lambda row: row["limit_mib"] or
                                        row["sites_mib"])):
            axes.plot([row["sites"] for row in mine], list(map(value, mine)), color=colour, marker="o", markersize=4,
                      label=label)
    for axes, title in zip(panels, ("milliseconds", "device memory, MiB")):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("sites")
        axes.set_title(title, fontsize=10)
        tidy(axes)
    panels[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", default="16384,65536,262144,1048576,4194304,16777216,67108864")
    parser.add_argument("--limits", default="0,64,16,4", help="MiB of device memory; 0: all there is")
    parser.add_argument("--queries", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", help="file to append one line of JSON per row to")
    parser.add_argument("--plot", help="file for the plot")
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    limits = [int(limit) or None for limit in arguments.limits.split(",")]
    print(f"{'sites':>10} {'MiB':>8} {'ms':>10}")
    rows = []
    for count in map(int, arguments.sites.split(",")):
        sites, queries = random.random((count, 3), np.float32), random.random((arguments.queries, 3), np.float32)
        for row in measure(sites, queries, limits, arguments.runs):
            rows.append(row)
            print(f"{count:>10} {row['limit_mib'] or 'all':>8} {row['milliseconds']:10.3f}"
                  f"{'  in pieces' if row['in_pieces'] else ''}", flush=True)
    if arguments.plot:
        plot(rows, limits, arguments.plot)
    if arguments.json:
        about = {"machine": machine(), "date": datetime.date.today().isoformat()}
        with open(arguments.json, "a", encoding="utf-8") as file:
            file.writelines(json.dumps({**row, **about}) + "\n" for row in rows)


if __name__ == "__main__":
    main()
