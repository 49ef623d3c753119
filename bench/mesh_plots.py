#!/usr/bin/env python3
"""Draws what bench/mesh.py --scaling measured, as Landgraf's figures 4.1 to 4.4: time and size of bands against cutoff
and extent. His sizes are those of his table 4.2; the times of his figures have no numbers, so none are drawn.

  python bench/mesh_plots.py mesh.jsonl -o mesh-scaling.png
"""

import argparse
import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from figure import tidy  # noqa: E402

# Cutoff, extent: megabytes on the GPU and in the file.
TABLE_4_2 = {(0.001, 1000): (97.3, 323.7), (0.002, 1000): (176.4, 629.9), (0.004, 1000): (335.3, 1242),
             (0.008, 1000): (654.8, 2472), (0.016, 1000): (1161, 4414), (0.004, 100): (0.6, 1.0),
             (0.004, 250): (6.0, 18.0), (0.004, 500): (43.4, 146.9), (0.004, 1250): (1143, 2511),
             (0.004, 1500): (1750, 4044)}
SIZES = {"bytes": ("Fathom's tiles", "#0b6e99", "-"), "packed": ("Fathom's values, masks, tiles", "#0b6e99", "--")}


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
    his = along(TABLE_4_2, axis, fixed)
    axes.plot([band[axis] for band in his], [TABLE_4_2[band][0] for band in his], color="#8a5aa8", marker="s",
              markersize=4, label="Landgraf's octree (table 4.2)")
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
            axes.set_ylim(bottom=0)
            tidy(axes)
        row[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(arguments.output, dpi=100)


if __name__ == "__main__":
    main()
