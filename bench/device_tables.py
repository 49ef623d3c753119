#!/usr/bin/env python3
"""Writes the results of device_bench and device_peers.py into the tables of docs/performance.md.

  python bench/device_tables.py results.jsonl … -o docs/performance.md

A table follows a comment with its name. One that the results have nothing for stays as it is.
"""

import argparse
import json
import math
import pathlib
import re

CASES = {"all": "all", "50%": "50%", "10%": "10%", "1%": "1%", "0.3%": "0.3%", "0.1%": "0.1%", "0.01%": "0.01%",
         "one": "one site", "none": "none", "blobs": "blobs", "ring": "ring, shell", "plane": "one row, plane",
         "diagonal": "diagonal"}
OPERATIONS = {"distance": "distance", "nearest": "nearest site", "border": "border of sites", "spacing": "spacing",
              "labels": "labels", "signed": "signed", "squared": "squares", "labels-nearest": "nearest of labels",
              "labels-squared": "squares of labels", "labels-signed": "signed labels", "microscope": "spacing",
              "microscope-border": "and a border of sites", "microscope-limit": "and a maximum of 50",
              "microscope-nearest": "nearest site", "microscope-signed": "signed",
              "microscope-signed-limit": "signed, a maximum of 50", "microscope-labels": "labels",
              "scanner": "no unit", "scanner-signed": "no unit, signed"}


class Results:
    """Records by operation, size and case; of several, the last."""

    def __init__(self, paths):
        self.records = {}
        for path in paths:
            for r in map(json.loads, pathlib.Path(path).read_text().splitlines()):
                self.records[r["operation"], r["size"], r["case"], r["batch_axes"] > 0] = r

    def cell(self, tell, operation, size, case, is_batch=False):
        """What is told of a record, and of the plain distance of its size and case; nothing where there is no record."""
        record = self.records.get((operation, size, case, is_batch))
        plain = self.records.get(("distance", size, case, is_batch))
        return tell(record, plain or record) if record else ""


def digits(ms):
    return f"{ms:.3f}" if ms < 1 else f"{ms:.3g}"


def times(quotient):
    return f"{quotient:.0f}×" if quotient >= 9.95 else f"{quotient:.1f}×"


def elements(record):
    return math.prod(map(int, record["size"].split("x")))


def alone(record, plain):
    return digits(record["ms"])


def over_copy(record, plain):
    return f"{digits(record['ms'])} ({times(record['ms'] / record['copy_ms'])})"


def over_plain(record, plain):
    return f"{digits(record['ms'])} ({times(record['ms'] / plain['ms'])})"


def over_plain_and_indices(record, plain):
    """Writing the indices is half of what a copy of as many distances moves."""
    return f"{digits(record['ms'])} ({times((record['ms'] - record['copy_ms'] / 2) / plain['ms'])})"


def per_element(record, plain):
    picoseconds = record["ms"] * 1e9 / elements(record)
    return f"{digits(record['ms'])} ({picoseconds:.{0 if picoseconds >= 9.95 else 1}f})"


def scratch(record, plain):
    return f"{record['scratch_bytes'] / elements(record):.2g} B"


def copy(record, plain):
    return digits(record["copy_ms"])


def peer(name):
    def tell(record, plain):
        return f"{digits(record[name])} ({times(record[name] / record['ms'])})" if record.get(name) else ""
    return tell


def name_of(size):
    return size.replace("x", " × ")


def power_of(size):
    """Of equal extents."""
    return size.split("x")[0] + " ²³"[size.count("x")]


def label_of(case, sizes):
    """Two names: in images, in volumes."""
    names = CASES[case].split(", ")
    ranks = {size.count("x") for size in sizes}
    return names[0] if ranks == {1} else names[-1] if ranks == {2} else CASES[case]


def by_size(operation, sizes, tell, *last_rows):
    """A row for each case, a column for each size."""
    def rows(results):
        yield ["case", *map(name_of, sizes)]
        for case in CASES:
            yield [label_of(case, sizes), *(results.cell(tell, operation, size, case) for size in sizes)]
        for label, tell_last in last_rows:
            yield [label, *(results.cell(tell_last, operation, size, "1%") for size in sizes)]
    return rows


def by_operation(sizes, cases, operations, tell):
    """A row for each size and case, a column for each operation."""
    def rows(results):
        yield ["", *(OPERATIONS[operation] for operation in operations)]
        for size in sizes:
            for case in cases:
                before = name_of(size) + ", " if case == cases[0] else ""
                yield [before + label_of(case, [size]), *(results.cell(tell, operation, size, case) for operation in operations)]
    return rows


def peers(results):
    columns = [("4096x4096", "NPP"), ("4096x4096", "CuPy"), ("16384x16384", "NPP"), ("16384x16384", "CuPy"),
               ("256x256x256", "CuPy"), ("512x512x512", "CuPy")]
    yield ["case", *(f"{power_of(size)}: {name}" for size, name in columns)]
    for case, label in CASES.items():
        if case != "none":
            yield [label, *(results.cell(peer(name.lower() + "_ms"), "distance", size, case) for size, name in columns)]


def shapes(results):
    """Of batches, images: the last two axes."""
    cases = ["all", "1%", "blobs", "diagonal"]
    yield ["shape", *cases, "scratch per element"]
    for size, is_batch in (("1000x1777", False), ("3x40000", False), ("511x513x515", False), ("64x1024x1024", False),
                           ("100x2048x2048", False), ("256x1024x1024", True), ("2500x128x128", True),
                           ("10000x64x64", True), ("50000x28x28", True)):
        count, _, image = size.partition("x")
        label = f"{int(count):,} images of {name_of(image)}" if is_batch else name_of(size)
        yield [label, *(results.cell(per_element, "distance", size, case, is_batch) for case in cases),
               results.cell(scratch, "distance", size, "1%", is_batch)]


IMAGE, VOLUME, LARGE = "4096x4096", "256x256x256", "512x512x512"
TABLES = {
    "images": by_size("distance", ["1024x1024", IMAGE, "16384x16384", "32768x32768"], over_copy, ("*copy*", copy)),
    "volumes": by_size("distance", ["128x128x128", VOLUME, LARGE, "1024x1024x1024"], over_copy, ("*copy*", copy)),
    "peers": peers,
    "shapes": shapes,
    "options": by_operation([IMAGE, VOLUME], ["1%", "diagonal"],
                            ["distance", "border", "spacing", "labels", "signed", "nearest"], alone),
    "values": by_operation([IMAGE, VOLUME], ["all", "1%", "none", "blobs", "diagonal"],
                           ["distance", "squared", "labels", "labels-nearest", "labels-squared", "labels-signed"], alone),
    "nearest": by_size("nearest", [IMAGE, VOLUME, LARGE, "64x1024x1024", "511x513x515"], over_plain_and_indices),
    "microscope": by_operation([IMAGE, VOLUME], ["all", "10%", "1%", "0.01%", "blobs", "diagonal"],
                               ["microscope", "microscope-border", "microscope-limit"], over_plain),
    "microscope-more": by_operation([IMAGE, VOLUME, LARGE], ["all", "1%", "blobs", "diagonal"],
                                    ["microscope-nearest", "microscope-signed", "microscope-signed-limit",
                                     "microscope-labels"], over_plain),
    "no-unit": by_operation([IMAGE, VOLUME, LARGE],
                            ["all", "50%", "1%", "0.1%", "0.01%", "one", "blobs", "plane", "diagonal"],
                            ["scanner", "scanner-signed"], over_plain),
    "spacing": by_size("spacing", [IMAGE, VOLUME, LARGE], over_plain),
}


def markdown(rows):
    """Without rows that say nothing."""
    head, *rest = rows
    lines = ["| " + " | ".join(row) + " |" for row in [head, *(row for row in rest if any(row[1:]))]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]]) + "\n"


def update(text, name, rows):
    """The text with a table in place of the one behind the comment."""
    pattern = rf"(<!-- {name} -->\n)(?:\|.*\n)*"
    if not re.search(pattern, text):
        raise SystemExit(f"there is no comment <!-- {name} -->")
    return re.sub(pattern, lambda match: match[1] + markdown(rows), text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="the document")
    arguments = parser.parse_args()
    results, text = Results(arguments.results), arguments.output.read_text()
    for name, table in TABLES.items():
        rows = list(table(results))
        if any(cell for row in rows[1:] for cell in row[1:]):
            text = update(text, name, rows)
    arguments.output.write_text(text)


if __name__ == "__main__":
    main()
