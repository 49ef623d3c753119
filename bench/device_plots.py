#!/usr/bin/env python3
"""Draws the results of device_bench and device_peers.py: time per element against density and against size.

  python bench/device_plots.py results.jsonl … -o device.png
"""

import argparse
import json
import math

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

SERIES = {"ms": ("Fathom", "#0b6e99"), "copy_ms": ("copy of the output", "#9a9a9a"), "npp_ms": ("NPP", "#5b8c3e"),
          "cupy_ms": ("CuPy", "#d1793b"), "cucim_ms": ("cuCIM", "#8a5aa8")}


def read(paths):
    """Plain distances of whole arrays, the last of each size and case."""
    records = {}
    for path in paths:
        with open(path) as file:
            for record in map(json.loads, file):
                if record["operation"] == "distance" and record["batch_axes"] == 0:
                    records[record["size"], record["case"]] = record
    return list(records.values())


def extents(record):
    return [int(n) for n in record["size"].split("x")]


def draw(axes, records, position):
    for key, (label, colour) in SERIES.items():
        points = [(position(r), r[key] * 1e6 / math.prod(extents(r))) for r in records if r.get(key)]
        if not points:
            continue
        style = {"linestyle": "--"} if key == "copy_ms" else {"marker": "o", "markersize": 4}
        axes.plot(*zip(*sorted(points)), color=colour, label=label, linewidth=2.5 if key == "ms" else 1.2, **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(True, which="major", axis="y", color="#e5e5e5")
    axes.spines[["top", "right"]].set_visible(False)


def share(record):
    return {"one": 1 / math.prod(extents(record)), "all": 1}.get(record["case"], record["share"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("-o", "--output", required=True, help="SVG or PNG")
    parser.add_argument("--sizes", default="16384x16384,512x512x512", help="of the plots against density")
    parser.add_argument("--case", default="1%", help="of the plots against size")
    args = parser.parse_args()
    records = read(args.results)
    figure, panels = plt.subplots(1, 4, figsize=(15, 4), sharey=True)
    for axes, size in zip(panels, args.sizes.split(",")):
        draw(axes, [r for r in records if r["size"] == size and (r["share"] or r["case"] in ("one", "all"))], share)
        axes.set_title(size.replace("x", " × "), fontsize=10)
        axes.set_xlabel("share of sites")
    for axes, rank in zip(panels[2:], (2, 3)):
        square = [r for r in records if r["case"] == args.case and len(extents(r)) == rank and len(set(extents(r))) == 1]
        draw(axes, square, lambda r: extents(r)[0])
        axes.set_title(f"{rank}D, {args.case.replace('%', ' %')} sites", fontsize=10)
        axes.set_xlabel("elements along each axis")
        axes.set_xticks(sorted({extents(r)[0] for r in square}))
        axes.minorticks_off()
        axes.xaxis.set_major_formatter("{x:.0f}")
    panels[0].set_ylabel("nanoseconds per element")
    panels[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(args.output, dpi=110)


if __name__ == "__main__":
    main()
