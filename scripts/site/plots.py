"""Bars of the tables of docs/performance.md, so that plots and tables cannot disagree.

A table that is drawn has the columns `case`, `AVX-512`, `copy` and at least one peer, in ms, as docs/performance.md has
them; the line before it is its title.
"""

import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

COLOURS = {"AVX-512": "#0b6e99", "copy": "#9a9a9a", "edt": "#d1793b", "OpenCV": "#5b8c3e", "SciPy": "#8a5aa8",
           "SimpleITK": "#b83a4b"}


def draw_tables(page, folder):
    """Draws the tables of a page: the path of the plot for each title."""
    paths = {}
    for title, header, rows in tables(page.read_text(encoding="utf-8")):
        columns = [name for name in header if name in COLOURS]
        if header[0] != "case" or not {"AVX-512", "copy"} < set(columns):
            continue
        path = folder / f"plot-{len(paths)}.svg"
        draw(header, rows, columns, path)
        paths[title] = path
    return paths


def tables(text):
    """Title, header and rows of each table."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if re.match(r"\|[\s|-]*-[\s|-]*\|$", line):
            rows = []
            for row in lines[number + 1:]:
                if not row.startswith("|"):
                    break
                rows.append(cells(row))
            yield next(before for before in reversed(lines[:number - 1]) if before), cells(lines[number - 1]), rows


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def number(cell):
    found = re.match(r"[\d.]+", cell)
    return float(found[0]) if found else np.nan


def draw(header, rows, columns, path):
    plt.rcParams.update({"svg.hashsalt": "fathom", "font.family": "DejaVu Sans", "svg.fonttype": "path"})
    figure, axes = plt.subplots(figsize=(9, 3.4), layout="constrained", facecolor="#fbfaf7")
    axes.set_facecolor("#fbfaf7")
    width = 0.84 / len(columns)
    for at, name in enumerate(columns):
        values = [number(row[header.index(name)]) for row in rows]
        label = "Fathom" if name == "AVX-512" else name
        axes.bar(np.arange(len(rows)) + (at - (len(columns) - 1) / 2) * width, values, 0.9 * width, label=label,
                 color=COLOURS[name])
    axes.set(yscale="log", ylabel="ms", xticks=range(len(rows)), xticklabels=[row[0] for row in rows])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    figure.legend(frameon=False, ncols=len(columns), loc="outside upper left")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
