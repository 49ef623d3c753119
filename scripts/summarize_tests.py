#!/usr/bin/env python3
"""Sums up JUnit files that ctest wrote.

    scripts/summarize_tests.py [--broken N] FILE...

Names what was skipped, shows the end of the output of what failed, and closes with one line: "N passed, N failed,
N skipped". --broken adds N failures of things that are not tests, such as a build. Exits 1 if anything failed or
nothing passed.
"""

import argparse
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def outcome(case):
    """'passed', 'failed' or 'skipped' for a <testcase>."""
    if case.find("failure") is not None or case.get("status") == "fail":
        return "failed"
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        # A test whose program could not be started is no skip: ctest says that it was not run for lack of it.
        skipped = case.find("skipped")
        message = skipped.get("message", "") if skipped is not None else ""
        return "failed" if "Unable to find executable" in message or "Required Files" in message else "skipped"
    return "passed"


def last_output(case, lines=40):
    return "\n".join("    " + line for line in (case.findtext("system-out") or "").splitlines()[-lines:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--broken", type=int, default=0)
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()

    counts = {"passed": 0, "failed": arguments.broken, "skipped": 0}
    for file in arguments.files:
        for case in xml.parse(file).getroot().iter("testcase"):
            result = outcome(case)
            counts[result] += 1
            if result != "passed":
                print(f"{result}: {case.get('name')} ({file.parent.name})")
            if result == "failed":
                print(last_output(case))
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
