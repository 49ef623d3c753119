#!/usr/bin/env python3
"""Sums up JUnit files that ctest wrote.

    scripts/summarize_tests.py [--broken N] FILE...

Names the ten slowest tests, what was skipped in one line for each reason and, last, what failed with the end of its
output, and closes with one line: "N passed, N failed, N skipped". --broken adds N failures of things that are not tests, such as a build. Exits 1 if anything failed or
nothing passed.
"""

import argparse
import re
import sys
import xml.etree.ElementTree as xml
from collections import defaultdict
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


def output_of(case):
    return (case.findtext("system-out") or "").rstrip().splitlines()


def reason(case):
    """Why a test was skipped: what GoogleTest or pytest prints of it, else the last line of its output."""
    lines = output_of(case)
    for line, following in zip(lines, lines[1:]):
        if line.endswith(": Skipped") and following:
            return following
    for line in lines:
        if match := re.match(r"SKIPPED \[\d+\] [^:]+:\d+: (.+)", line):
            return match[1]
    return lines[-1].strip() if lines else "no reason given"


def skip_lines(cases):
    """One line for each reason: how many tests, which builds, and one of them by name."""
    by_reason = defaultdict(list)
    for name, build, why in cases:
        by_reason[why].append((name, build))
    for why, tests in by_reason.items():
        builds = ", ".join(dict.fromkeys(build for _, build in tests))
        more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
        yield f"skipped: {tests[0][0]}{more} ({builds}): {why}"


def slowest_lines(cases, count=10):
    for seconds, name, build in sorted(cases, reverse=True)[:count]:
        yield f"{seconds:7.1f} s  {name} ({build})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--broken", type=int, default=0)
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()

    counts = {"passed": 0, "failed": arguments.broken, "skipped": 0}
    timed, skipped, failed = [], [], []
    for file in arguments.files:
        for case in xml.parse(file).getroot().iter("testcase"):
            result, name, build = outcome(case), case.get("name"), file.parent.name
            counts[result] += 1
            timed.append((float(case.get("time", 0)), name, build))
            if result == "skipped":
                skipped.append((name, build, reason(case)))
            elif result == "failed":
                failed += [f"failed: {name} ({build})", *(f"    {line}" for line in output_of(case)[-40:])]
    # Logs are cut at their start: what failed stands at their end.
    print("\n".join([*slowest_lines(timed), *skip_lines(skipped), *failed]))
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
