#!/usr/bin/env python3
"""Writes the results of device_bench and device_peers.py into the tables of docs/performance.md.

  python bench/device_tables.py results.jsonl … -o docs/performance.md

A table follows a comment with its name. Its rows and columns are the document's own: what they stand for is read from
their labels, and what the results have nothing for stays as it is. Results that were wrong are left out.
"""

import argparse
import json
import math
import pathlib
import re

# Labels that are not the benchmark's own names: in images, in volumes, in both.
CASES = {"one site": "one", "shell": "ring", "ring, shell": "ring", "one row": "plane", "one plane": "plane",
         "one row, plane": "plane"}


class Results:
    """Records by operation, size and case; of several, the last."""

    def __init__(self, paths):
        self.records = {}
        for path in paths:
            for r in map(json.loads, pathlib.Path(path).read_text().splitlines()):
                if r["right"]:
                    self.records[r["operation"], r["size"], r["case"], r["batch_axes"] > 0] = r

    def cell(self, tell, operation, size, case, is_batch=False):
        """What is told of a record, and of the plain distance of its size and case; nothing without a record."""
        record = self.records.get((operation, size, CASES.get(case, case), is_batch))
        plain = self.records.get(("distance", size, CASES.get(case, case), is_batch))
        return tell(record, plain) if record else ""


def digits(ms):
    return f"{ms:.3f}" if ms < 1 else f"{ms:#.3g}".rstrip(".")


def times(quotient):
    return f"{quotient:.0f}×" if quotient >= 9.95 else f"{quotient:.1f}×"


def elements(record):
    return math.prod(map(int, record["size"].split("x")))


def alone(record, plain):
    return digits(record["ms"])


def over_copy(record, plain):
    return f"{digits(record['ms'])} ({times(record['ms'] / record['copy_ms'])})"


def over_plain(record, plain):
    return f"{digits(record['ms'])} ({times(record['ms'] / plain['ms'])})" if plain else ""


def over_plain_and_indices(record, plain):
    """Writing the indices is half of what a copy of as many distances moves."""
    return f"{digits(record['ms'])} ({times((record['ms'] - record['copy_ms'] / 2) / plain['ms'])})" if plain else ""


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


def size_of(label):
    """Of “3 × 40,000”, of “4096²”; without the mark of a footnote."""
    power = re.fullmatch(r"(\d+)([²³])", label)
    return "x".join([power[1]] * (2 + "²³".index(power[2])) if power else re.findall(r"\d+", label.replace(",", "")))


def by_size(operation, tell):
    """A row for each case, a column for each size."""
    def cell(results, prefix, row, column_prefix, column):
        if row == "*copy*":
            return results.cell(copy, operation, size_of(column), "1%")
        return results.cell(tell, operation, size_of(column), row)
    return cell


def by_operation(tell, operations):
    """A row for each size and case, a column for each operation."""
    def cell(results, prefix, row, column_prefix, column):
        return results.cell(tell, operations[column], size_of(prefix), row)
    return cell


def by_case(tell, size, operations):
    """A row for each operation, a column for each case."""
    def cell(results, prefix, row, column_prefix, column):
        return results.cell(tell, operations[row], size, column)
    return cell


def peers(results, prefix, row, column_prefix, column):
    return results.cell(peer(column.lower() + "_ms"), "distance", size_of(column_prefix), row)


def shapes(results, prefix, row, column_prefix, column):
    """Of batches, images: the last two axes."""
    is_batch = "images of" in row
    size = size_of(row.replace(" images of", " ×"))
    if column == "scratch per element":
        return results.cell(scratch, "distance", size, "1%", is_batch)
    return results.cell(per_element, "distance", size, column, is_batch)


TABLES = {
    "images": by_size("distance", over_copy),
    "volumes": by_size("distance", over_copy),
    "peers": peers,
    "shapes": shapes,
    "options": by_operation(alone, {"distance": "distance", "border of sites": "border", "spacing": "spacing",
                                    "labels": "labels", "signed": "signed", "nearest site": "nearest"}),
    "values": by_operation(alone, {"distance": "distance", "squares": "squared", "labels": "labels",
                                   "nearest of labels": "labels-nearest", "squares of labels": "labels-squared",
                                   "signed labels": "labels-signed"}),
    "nearest": by_size("nearest", over_plain_and_indices),
    "microscope": by_operation(over_plain, {"spacing": "microscope", "and a border of sites": "microscope-border",
                                            "and a maximum of 50": "microscope-limit"}),
    "microscope-more": by_operation(over_plain, {"nearest site": "microscope-nearest", "signed": "microscope-signed",
                                                 "signed, a maximum of 50": "microscope-signed-limit",
                                                 "labels": "microscope-labels", "no unit": "scanner",
                                                 "no unit, signed": "scanner-signed"}),
    "no-unit": by_case(over_plain, "4096x4096", {"no unit": "scanner", "signed": "scanner-signed"}),
    "spacing": by_size("spacing", over_plain),
}


def with_prefixes(labels, pattern):
    """Labels with what stands before them, or before one of those above: “4096 × 4096, 1%”, “blobs”."""
    prefix = None
    for label in labels:
        match = re.fullmatch(pattern, label)
        prefix, label = match.groups() if match else (prefix, label)
        yield prefix, label


def update(table, results, cell):
    """The lines of a table with what the results have."""
    head, rule, *rows = [[c.strip() for c in line.strip("|").split("|")] for line in table.splitlines()]
    columns = list(with_prefixes(head[1:], r"(\d+[²³]): (.+)"))
    lines = table.splitlines()[:2]
    for (prefix, label), row in zip(with_prefixes([row[0] for row in rows], r"([\d ×]+), (.+)"), rows):
        cells = [cell(results, prefix, label, *column) or old for column, old in zip(columns, row[1:])]
        lines.append("| " + " | ".join([row[0], *cells]) + " |")
    return "".join(line + "\n" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="the document")
    arguments = parser.parse_args()
    results, text = Results(arguments.results), arguments.output.read_text()
    for name, cell in TABLES.items():
        text, count = re.subn(rf"(<!-- {name} -->\n)((?:\|.*\n)+)",
                              lambda match: match[1] + update(match[2], results, cell), text)
        if count != 1:
            raise SystemExit(f"there is no table behind a comment <!-- {name} -->")
    arguments.output.write_text(text)


if __name__ == "__main__":
    main()
