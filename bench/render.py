#!/usr/bin/env python3
"""Samples per ray and frames per second of every way that rays step, on a volume: figures 8 and 9 of Khan & Zahran.

One ray per pixel. All pictures are compared before a number counts: they must be the same bytes. Prints a table; --json FILE appends one
JSON line for each row, --plot FILE draws samples and time against the cone's half-angle. Further options go to
`fathom render`.

  cmake --preset release && cmake --build --preset release --target fathom_cli
  python bench/render.py scan.nii.gz --plot render.png --threshold 1843 --up -z
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from figure import tidy
from measure import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("FATHOM_COMMAND", ROOT / "build/release/cli/fathom")
ANGLES = [0, 1, 3, 6, 12, 18, 36, 60, 90, 135, 180]


def ways(angles):
    """Step and half-angle in degrees of each row."""
    return [("unit", None), ("field", None), ("pointwise", None)] + [("cone", angle) for angle in angles]


def render(volume, step, angle, options, folder):
    """The command's report, and the picture's bytes."""
    picture = pathlib.Path(folder, "picture.png")
    cone = [] if angle is None else ["--cone", str(angle)]
    done = subprocess.run([COMMAND, "render", volume, "-o", picture, "--antialias", "1", "--json", "--step", step, *cone,
                           *options], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout), picture.read_bytes()


def measure(volume, angles, options):
    rows, first = [], None
    with tempfile.TemporaryDirectory() as folder:
        for step, angle in ways(angles):
            said, picture = render(volume, step, angle, options, folder)
            first = first or picture
            if picture != first:
                sys.exit(f"{step} {angle} draws another picture than unit steps")
            rows.append({"step": step, "degrees": angle, **{name: said[name] for name in (
                "rays", "hits", "solid", "size", "mean_samples", "most_samples", "frames_per_second", "marcher_bytes",
                "threads")}, "build": said["seconds"]["build"]})
            print_row(rows[-1])
    return rows


def print_row(row):
    name = row["step"] if row["degrees"] is None else f"cone, {row['degrees']:g} degrees"
    print(f"{name:>18} {row['mean_samples']:12.3f} {row['most_samples']:8} {row['frames_per_second']:9.2f} "
          f"{row['build']:8.2f} {row['marcher_bytes'] / 2**20:10.1f}", flush=True)


def plot(rows, path):
    """Samples per ray, and time of a picture, against the half-angle."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    cones = [row for row in rows if row["step"] == "cone"]
    degrees = [row["degrees"] for row in cones]
    figure, panels = plt.subplots(1, 2, figsize=(8, 2.8))
    shown = {"samples per ray": lambda row: row["mean_samples"],
             "seconds per picture": lambda row: 1 / row["frames_per_second"]}
    for axes, (title, value) in zip(panels, shown.items()):
        axes.plot(degrees, list(map(value, cones)), color="#0b6e99", marker="o", markersize=4, label="cone")
        for row, colour in zip(rows[1:3], ("#d1793b", "#5b8c3e")):
            axes.axhline(value(row), color=colour, linestyle="--", linewidth=1.2, label=row["step"])
        axes.set_xlabel("half-angle of the cone, degrees")
        axes.set_title(title, fontsize=10)
        axes.set_xticks(range(0, 181, 45))
        axes.set_ylim(bottom=0)
        tidy(axes)
    panels[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("volume")
    parser.add_argument("--angles", default=",".join(map(str, ANGLES)), help="half-angles in degrees")
    parser.add_argument("--json", help="file to append one line of JSON per row to")
    parser.add_argument("--plot", help="file for the plot")
    arguments, options = parser.parse_known_args()
    print(f"{'':>18} {'samples/ray':>12} {'most':>8} {'frames/s':>9} {'build, s':>8} {'MiB':>10}")
    rows = measure(arguments.volume, list(map(float, arguments.angles.split(","))), options)
    if arguments.plot:
        plot(rows, arguments.plot)
    if arguments.json:
        about = {"machine": machine(), "date": datetime.date.today().isoformat()}
        with open(arguments.json, "a", encoding="utf-8") as file:
            file.writelines(json.dumps({**row, **about}) + "\n" for row in rows)


if __name__ == "__main__":
    main()
