#!/usr/bin/env python3
"""Sums up JUnit files that ctest wrote.

    scripts/summarize_tests.py [--broken N] FILE...

Names what was skipped and, last, what failed, with the end of the output, and closes with one line: "N passed, N failed,
N skipped". --broken adds N failures of things that are not tests, such as a build. Exits 1 if anything failed or
nothing passed.
"""

import argparse
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def outcome(case):
    """'passed', 'failed' or 'skipped' for a <testcase>."""
    if case.get("status") == "run":
        return "passed"
    if case.get("status") == "disabled":
        return "skipped"
    # A test that asked for it was skipped; one that could not start, for lack of its program for example, failed.
    skipped = case.find("skipped")
    asked = skipped is not None and skipped.get("message", "").startswith("SKIP_")
    return "skipped" if asked else "failed"


def last_output(case, lines):
    output = (case.findtext("system-out") or "").rstrip().splitlines()
    return "".join(f"    {line}\n" for line in output[-lines:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--broken", type=int, default=0)
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()

    counts = {"passed": 0, "failed": arguments.broken, "skipped": 0}
    texts = {"skipped": [], "failed": []}  # logs are cut at their start: what failed stands at their end
    for file in arguments.files:
        for case in xml.parse(file).getroot().iter("testcase"):
            result = outcome(case)
            counts[result] += 1
            if result != "passed":
                output = last_output(case, 40 if result == "failed" else 1)
                texts[result].append(f"{result}: {case.get('name')} ({file.parent.name})\n{output}")
    print("".join(texts["skipped"] + texts["failed"]), end="")
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
