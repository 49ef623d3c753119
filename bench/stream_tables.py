#!/usr/bin/env python3
"""Prints the results of stream.py and stream_paper.py as the tables of the documentation.

  python bench/stream_tables.py stream.jsonl paper.jsonl

Where other jobs ran beside, --busy takes the seconds of processors instead of the clock's.
"""

import argparse
import json
import pathlib

PEERS = ["libvips", "NumPy", "OpenCV", "SciPy"]
# As printed in the slides: what, µs an iteration, and what they say of it.
REPEAT = [("Host (basic)", "870'000", ""), ("Host (indexed)", "114'000", "7.5x faster"),
          ("Host (ptr increment)", "99'600", "8.7x faster"), ("Host (repeater loop)", "912'000", "slower"),
          ("GPU – with D-H and H-D copy", "34'000", "25x faster"), ("GPU – without copy", "2'030", "430x faster"),
          ("GPU – smem load", "816'000", ""), ("GPU – repeater grid", "3'200", "270x faster")]
LATTICE = [("GPU loop over UV", "9'800", ""), ("the same, `atomicExch`", "6'300", "")]
DISTANCE = [("White (unoptimized)", "251'000", ""), ("White (block spread)", "246'000", "About the same"),
            ("White (distance check)", "125'000", "2x faster"), ("White (neighbour check)", "49'000", "5x faster"),
            ("White (improved neighbour check)", "9'800", "26x faster"), ("Black", "90'000", "")]
CELLS = [(128, "2.3", "1.4"), (64, "2.3", "1.8"), (32, "2.5", "7.3"), (16, "2.5", "10.1")]  # ms: GPU, GPU – rep grid


def table(*rows):
    head, *rest = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *rest]) + "\n"


def digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def size(row):
    return f"{row['height']:,} × {row['width']:,}"


def wide(rows, busy):
    """Ours alone: rates, and memory beside the plan."""
    rates = ["MB/s of two processors"] if busy else ["MB/s", "first byte, s"]
    yield "raster", "pixels", *rates, "memory, MB", "plan, MB"
    for row in rows:
        rates = [digits(row["processor_rate"])] if busy else [digits(row["rate"]), f"{row['first']:.2f}"]
        yield row["case"], size(row), *rates, digits(row["most_bytes"] / 1e6), digits(row["plan_bytes"] / 1e6)


def square(rows, seconds):
    """Seconds and MB of each; of peers, how many times ours."""
    yield "raster", "Fathom", *PEERS
    for ours in (row for row in rows if row["name"] == "Fathom"):
        cells = [ours["case"], f"{ours[seconds]:.2f} s, {digits(ours['most_bytes'] / 1e6)} MB"]
        for peer in PEERS:
            theirs = [row for row in rows if row["name"].startswith(peer) and row["case"] == ours["case"]]
            cells.append(", ".join(f"{times(row[seconds] / ours[seconds])}, {digits(row['most_bytes'] / 1e6)} MB"
                                   for row in theirs))
        yield cells


def times(quotient):
    return f"{quotient:.0f}×" if quotient >= 9.95 else f"{quotient:.1f}×"


def microseconds(ms):
    return f"{float(f'{ms * 1000:.3g}'):,.0f}".replace(",", "'")


def printed(lines, names, rows, clock):
    """Those of the slides, and ours below; in seconds of processors, of one thread."""
    yield "", "μs / iteration", ""
    yield from lines
    for case, name in names.items():
        for threads, ms in rows[case][clock].items():
            if threads == "1" or (threads != "fill" and clock == "ms"):
                yield f"**Fathom**, {name}", microseconds(ms), f"{threads} {'thread' if threads == '1' else 'threads'}"


def papers(rows, clock):
    yield table(*printed(REPEAT, {"1: repeat 100": "CPU"}, rows, clock))
    yield table(("`SIZE_REPEATER`, ms", "GPU", "GPU – rep grid", "**Fathom**, CPU, 1 thread"),
                *((cell, *theirs, digits(rows[f"1: repeat {cell}"][clock]["1"])) for cell, *theirs in CELLS))
    yield table(*printed(LATTICE, {f"2: lattice, {blend}": f"CPU, {blend}" for blend in ("last", "mean")}, rows, clock))
    ours = {f"3: distance ≤ 15, {mask}": f"CPU, {mask}" for mask in ("1 %", "discs")}
    yield table(*printed(DISTANCE, ours, rows, clock))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()
    found = {}  # of several, the last
    for path in options.results:
        for row in map(json.loads, pathlib.Path(path).read_text(encoding="utf-8").splitlines()):
            found[row["case"], row.get("height"), row.get("width"), row.get("name", "").split(" ")[0]] = row
    streams = [row for row in found.values() if "rate" in row and "ring" not in row]
    squares = [row for row in streams if row["height"] == row["width"]]
    if streams:
        print(table(*wide([row for row in streams if row not in squares], options.busy)),
              table(*square(squares, "processor" if options.busy else "seconds")), sep="\n")
    for row in found.values():
        if "ring" in row:
            print(f"{row['case']}: {row['bytes']:,} pixels in {row['seconds']:.1f} s, {row['underruns']} underruns, "
                  f"least margin {row['least_margin'] or float('inf'):.2g} s, {row['ring']} bands ahead, "
                  f"{digits(row['most_bytes'] / 1e6)} MB\n")
    memory = {row["case"]: row for row in found.values() if "ms" in row}
    if memory:
        print(*papers(memory, "processor_ms" if options.busy else "ms"), sep="\n")


if __name__ == "__main__":
    main()
