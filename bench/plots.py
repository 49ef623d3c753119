#!/usr/bin/env python3
"""Draws benchmark results: time per element against the case, ours and the peers', one panel for each size.

  python bench/plots.py results.jsonl -o grid.svg [--feature plain] [--threads 1] [--isa avx512]
"""

import argparse
import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

CASES = ["none", "one", "1e-4", "1%", "10%", "50%", "all", "blobs", "objects", "plane", "diagonal"]
COLOURS = {"Fathom": "#0b6e99", "copy": "#9a9a9a", "edt": "#d1793b", "OpenCV": "#5b8c3e", "SciPy": "#8a5aa8",
           "SimpleITK": "#b83a4b"}


def read(path, feature, threads, isa):
    """{size: {case: record}}; of several records of a row the last one counts."""
    sizes = {}
    with open(path) as file:
        for line in file:
            record = json.loads(line)
            if (record["feature"], record["threads"], record["isa"]) == (feature, threads, isa):
                sizes.setdefault(tuple(record["size"]), {})[record["case"]] = record
    return sizes


def series(records, cases, name):
    def seconds(record):
        if name == "Fathom":
            return record["ours"]["min"]
        if name == "copy":
            return record["copy"]["min"]
        return record["peers"].get(name, {}).get("min", np.nan)
    return [seconds(records[case]) * 1e9 / np.prod(records[case]["size"], dtype=float) for case in cases]


def draw(axes, size, records):
    cases = [case for case in CASES if case in records]
    for name, colour in COLOURS.items():
        values = series(records, cases, name)
        if not np.isfinite(values).any():
            continue
        width = 2.5 if name == "Fathom" else 1.2
        style = {"linestyle": "--"} if name == "copy" else {"marker": "o", "linewidth": width}
        label = "copy of the output" if name == "copy" else name
        axes.plot(cases, values, color=colour, label=label, markersize=4, **style)
    axes.set_yscale("log")
    axes.set_title(" × ".join(map(str, size)), fontsize=10)
    axes.grid(True, which="major", axis="y", color="#e5e5e5")
    axes.tick_params(axis="x", rotation=45)
    axes.spines[["top", "right"]].set_visible(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("-o", "--output", required=True, help="SVG or PNG")
    parser.add_argument("--feature", default="plain")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--isa", default="avx512")
    args = parser.parse_args()
    sizes = read(args.results, args.feature, args.threads, args.isa)
    if not sizes:
        parser.error("the file has no such results")
    figure, panels = plt.subplots(1, len(sizes), figsize=(4.2 * len(sizes), 4), sharey=True, squeeze=False)
    for axes, (size, records) in zip(panels[0], sorted(sizes.items(), key=lambda item: (len(item[0]), item[0]))):
        draw(axes, size, records)
    panels[0][0].set_ylabel("nanoseconds per element")
    lines = {}  # a peer may be missing in some panels
    for axes in panels[0]:
        lines |= {label: line for line, label in zip(*axes.get_legend_handles_labels())}
    panels[0][-1].legend(lines.values(), lines, fontsize=8, frameon=False)
    about = next(iter(next(iter(sizes.values())).values()))
    figure.suptitle(f"Euclidean distance transform ({args.feature}), {about['machine']['cpu']}, {args.threads} thread"
                    f"{'s' if args.threads > 1 else ''}, {args.isa}, {about['date'][:10]}", fontsize=11)
    figure.tight_layout()
    figure.savefig(args.output, dpi=150)


if __name__ == "__main__":
    main()
