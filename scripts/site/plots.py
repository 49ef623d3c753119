"""Bars of the tables of measurements, so that plots and tables cannot disagree.

A table that is drawn has times of Fathom and of at least one peer, in ms: its first column is `case`, and the others that
are drawn are named as in COLOURS.
"""

import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

OURS = ("Fathom", "AVX-512")
COLOURS = {"Fathom": "#0b6e99", "AVX-512": "#0b6e99", "copy": "#9a9a9a", "edt": "#d1793b", "OpenCV": "#5b8c3e",
           "SciPy": "#8a5aa8", "SimpleITK": "#b83a4b", "NPP": "#5b8c3e", "CuPy": "#d1793b", "cuCIM": "#8a5aa8"}


def draw_table(text, path):
    """Draws the first table of a text, if it is one to draw. @returns whether it is"""
    header, rows = first_table(text)
    columns = [name for name in header[1:] if name in COLOURS]
    if header[:1] != ["case"] or not set(OURS) & set(columns) or not set(columns) - {*OURS, "copy"}:
        return False
    draw(header, rows, columns, path)
    return True


def first_table(text):
    """Header and rows."""
    lines = re.search(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    header, _, *rows = map(cells, lines[0].splitlines()) if lines else ([], None)
    return header, rows


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
        label = "Fathom" if name in OURS else "a copy of the output" if name == "copy" else name
        axes.bar(np.arange(len(rows)) + (at - (len(columns) - 1) / 2) * width, values, 0.9 * width, label=label,
                 color=COLOURS[name])
    axes.set(yscale="log", ylabel="ms", xticks=range(len(rows)), xticklabels=[row[0] for row in rows])
    axes.tick_params(axis="x", rotation=20 if len(rows) > 11 else 0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    figure.legend(frameon=False, ncols=len(columns), loc="outside upper left")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
