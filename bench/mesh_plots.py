#!/usr/bin/env python3
"""Draws what bench/mesh.py --scaling measured, as Landgraf's figures 4.1 to 4.4: time and size of bands against cutoff
and extent. His curves are not drawn: they have no numbers, and his bands have other points.

  python bench/mesh_plots.py mesh.jsonl -o mesh-scaling.png
"""

import argparse
import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from figure import tidy  # noqa: E402

SIZES = {"bytes": ("in memory: tiles", "#0b6e99", "-"), "packed": ("values, masks, places of tiles", "#5b8c3e", "-")}


def read(path):
    """{threads: {question: {(cutoff, extent): row}}}; of several rows of a band the last one counts."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for row in map(json.loads, file):
            if "extent" in row:
                of = found.setdefault(row["threads"], {}).setdefault(row["question"], {})
                of[row["cutoff"], row["extent"]] = row
    return found


def along(bands, axis, fixed):
    """The bands of a panel: those whose other parameter has the value, in ascending order."""
    return sorted(band for band in bands if band[1 - axis] == fixed)


def draw_times(axes, found, axis, fixed):
    for threads, questions in sorted(found.items()):
        for question, colour in ("distance", "#0b6e99"), ("winding", "#d1793b"):
            rows = questions.get(question, {})
            chosen = along(rows, axis, fixed)
            label = f"{'signed' if question == 'winding' else 'unsigned'}, {threads} thread{'s' if threads > 1 else ''}"
            axes.plot([band[axis] for band in chosen], [rows[band]["seconds"] for band in chosen], color=colour,
                      marker="o", markersize=4, linestyle="-" if threads == 1 else "--", label=label)
    axes.set_ylabel("seconds")


def draw_sizes(axes, found, axis, fixed):
    rows = next(iter(found.values()))["distance"]
    chosen = along(rows, axis, fixed)
    for key, (label, colour, line) in SIZES.items():
        axes.plot([band[axis] for band in chosen], [rows[band][key] / 1e6 for band in chosen], color=colour,
                  linestyle=line, marker="o", markersize=4, label=label)
    axes.set_ylabel("MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("-o", "--output", required=True, help="SVG or PNG")
    arguments = parser.parse_args()
    found = read(arguments.results)
    if not found:
        parser.error("the file has no bands of bench/mesh.py --scaling")
    figure, panels = plt.subplots(2, 2, figsize=(8, 5.6))
    columns = (0, 1000, "cutoff, at 1000³"), (1, 0.004, "extent, cutoff 0.004")
    for row, draw in zip(panels, (draw_times, draw_sizes)):
        for axes, (axis, fixed, label) in zip(row, columns):
            draw(axes, found, axis, fixed)
            axes.set_xlabel(label)
            axes.set_xticks([0, 0.004, 0.008, 0.012, 0.016] if axis == 0 else [0, 500, 1000, 1500])
            axes.set_ylim(bottom=0)
            tidy(axes)
        row[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(arguments.output, dpi=100)


if __name__ == "__main__":
    main()
