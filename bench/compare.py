#!/usr/bin/env python3
"""Compares two builds on a device, and says whether the new one may take the old one's place.

  device_bench --json old.jsonl; device_bench --json new.jsonl       each by its own build, on one machine, in one run
  python bench/compare.py old.jsonl new.jsonl [--known known.txt]

Cells are what both results hold: operation, size, case, batch. The gate: every result right; the geometric mean of the
quotients new / old at most 1.05 for plain distances of images and of volumes, and at most 1.20 for each other table; of
the cells above 0.1 ms at most 3 % beyond 1.6, and none beyond 3. `--known` names cells whose loss was chosen, one in a
line, as printed here; they are left out, and counted. The exit status is 1 if the gate is missed.
"""

import argparse
import json
import math
import pathlib
import sys
from collections import defaultdict

PLAIN, OTHER = 1.05, 1.20
BEYOND, WORST, SHARE, FROM_MS = 1.6, 3.0, 0.03, 0.1


def cells(path):
    """Milliseconds by cell, and the cells whose result was wrong."""
    times, wrong = {}, []
    for r in map(json.loads, pathlib.Path(path).read_text(encoding="utf-8").splitlines()):
        cell = " ".join([r["operation"], r["size"], r["case"]] + ["batch"] * (r["batch_axes"] > 0))
        times[cell] = r["ms"]
        if not r["right"]:
            wrong.append(cell)
    return times, wrong


def table_of(cell):
    operation, size, *rest = cell.split()
    if operation == "distance" and "batch" not in rest:
        return "volumes" if size.count("x") == 2 else "images"
    for name, tables in {"spacing in a unit": ("microscope",), "any spacing": ("scanner", "spacing")}.items():
        if operation.startswith(tables):
            return name
    return "nearest" if operation == "indices" or operation.endswith("nearest") else "options"


def mean(quotients):
    return math.exp(sum(map(math.log, quotients)) / len(quotients))


def compare(old, new):
    """The report's lines, and whether the gate is kept."""
    tables, above, kept = defaultdict(list), [], True
    for cell in old.keys() & new.keys():
        quotient = new[cell] / old[cell]
        tables[table_of(cell)].append(quotient)
        if max(old[cell], new[cell]) > FROM_MS:
            above.append((quotient, cell))
    lines = ["| table | cells | new / old | at most |", "|---|---|---|---|"]
    for table, quotients in sorted(tables.items()):
        bound = PLAIN if table in ("images", "volumes") else OTHER
        kept &= mean(quotients) <= bound
        lines.append(f"| {table} | {len(quotients)} | {mean(quotients):.3f} | {bound:.2f} |")
    slower = sorted((pair for pair in above if pair[0] > BEYOND), reverse=True)
    kept &= len(slower) <= SHARE * len(above) and not any(quotient > WORST for quotient, _ in slower)
    lines.append(f"\n{len(slower)} of {len(above)} cells above {FROM_MS} ms are beyond {BEYOND} times (at most "
                 f"{SHARE:.0%}), {sum(quotient > WORST for quotient, _ in slower)} beyond {WORST:g} times (none)")
    lines += [f"  {quotient:5.2f}  {cell}  {old[cell]:.3f} -> {new[cell]:.3f} ms" for quotient, cell in slower]
    return lines, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--known", type=pathlib.Path, help="cells whose loss was chosen")
    arguments = parser.parse_args()
    (old, _), (new, wrong) = cells(arguments.old), cells(arguments.new)
    known = set(arguments.known.read_text(encoding="utf-8").splitlines()) if arguments.known else set()
    left_out = known & new.keys()
    for cell in left_out:
        del new[cell]
    if not old.keys() & new.keys():
        raise SystemExit("compare.py: the two files have no cell in common")
    lines, kept = compare(old, new)
    print("\n".join(lines))
    if left_out:
        print(f"{len(left_out)} cells left out, whose loss was chosen")
    for cell in wrong:
        print(f"wrong: {cell}")
    kept &= not wrong
    print("the gate is kept" if kept else "the gate is missed")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
