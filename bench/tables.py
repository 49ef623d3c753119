#!/usr/bin/env python3
"""Writes the records of bench/results as pages of tables, in Markdown.

  python bench/tables.py -o pages          (the site does so when it is built)
  python bench/tables.py grid-gpu          (prints one page)
  python bench/tables.py --prune           (where records came from another machine: kept tables that they replace go)

A file of records is JSON lines; its first line says benchmark, machine, date, version and command, and bench/suite.py
writes it. A table without records is taken as it was measured last, from bench/results/NAME.md. What a table shows is
what the suite measures: both read bench/pages.py.
"""

import argparse
import json
import pathlib
import sys

from pages import FOLLOWED, PAGES

RESULTS = pathlib.Path(__file__).with_name("results")


def read_records(folder=RESULTS):
    """By benchmark, pairs of a file's first line and its records."""
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        about, *records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        found.setdefault(about["benchmark"], []).append((about, records))
    return found


def markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * lines[0].count(" | ") + "---|", *lines[1:]]) if len(lines) > 1 else ""


def sections(table, found, folder=RESULTS):
    """The text below a table's heading: one for each machine that measured it, else the one that is kept."""
    made = []
    for about, records in found.get(table.benchmark, []) if table.rows else []:
        text = markdown([list(row) for row in table.rows(records)])
        if text:
            said = f"*{about['machine']}, {about['date']}, Fathom {about['version']}: `{about['command']}`*"
            made.append("\n\n".join(part for part in (said, table.note, text) if part))
    kept = folder / f"{table.name}.md"
    return made or ([kept.read_text(encoding="utf-8").strip()] if kept.exists() else [])


def page(name, found=None, folder=RESULTS):
    found = read_records(folder) if found is None else found
    title, tables = PAGES[name]
    texts = {table.name: sections(table, found, folder) for table in tables}
    for old, new in FOLLOWED.items():
        if old in texts and all(texts.get(one) for one in new):
            texts[old] = []
    parts = [f"# {title}"]
    for table in tables:
        parts += [f"## {table.title}", *texts[table.name]] if texts[table.name] else []
    return "\n\n".join(parts) + "\n"


def served(found):
    """Names of the kept tables that records stand for now."""
    now = [
        table.name
        for _, page_tables in PAGES.values()
        for table in page_tables
        for _, records in found.get(table.benchmark, [])
        if table.rows and markdown([list(row) for row in table.rows(records)])
    ]
    return now + [old for old, new in FOLLOWED.items() if set(new) <= set(now)]


def prune(folder=RESULTS):
    """Removes the kept tables that records stand for now."""
    for name in served(read_records(folder)):
        (folder / f"{name}.md").unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help=", ".join(PAGES))
    parser.add_argument(
        "-o", "--output", type=pathlib.Path, help="folder for a file for each page, instead of printing"
    )
    parser.add_argument("--prune", action="store_true", help="remove the kept tables that records stand for now")
    arguments = parser.parse_args()
    if arguments.prune:
        return prune()
    unknown = set(arguments.pages) - set(PAGES)
    if unknown:
        parser.error(f"there is no page {', '.join(unknown)}; choose from {', '.join(PAGES)}")
    for name in arguments.pages or PAGES:
        if arguments.output:
            arguments.output.mkdir(parents=True, exist_ok=True)
            (arguments.output / f"{name}.md").write_text(page(name), encoding="utf-8")
        else:
            sys.stdout.write(page(name))


if __name__ == "__main__":
    main()
