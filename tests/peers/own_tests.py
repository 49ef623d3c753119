"""Runs a peer's own tests, as it is installed, against Fathom's layer for it.

    own_tests.py LAYER [FOLDER]

LAYER is scipy, skimage, edt or cucim; FOLDER holds what the peer's package on PyPI does not install: edt's
automated_test.py. Prints how many of the tests pass and what fails, with the reason that expected_failures.txt gives.
Ends with status 1 if a test fails without a reason, or passes in spite of one; with 77 if the peer is not there.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUITES = {  # layer: (files of the package that the peer installs, which tests of them)
    "scipy": (["ndimage/tests/test_morphology.py"], "distance_transform"),
    "skimage": (["morphology/tests/test_isotropic.py", "segmentation/tests/test_expand_labels.py"], ""),
    "cucim": (["core/operations/morphology/tests/test_distance_transform.py"], ""),
    "edt": (["automated_test.py"], ""),
}
SKIPPED = 77


def files_of(layer, folder):
    """The peer's test files; none if they are not there."""
    spec = importlib.util.find_spec(layer)
    if spec is None or importlib.util.find_spec("pytest") is None:
        return []
    package = Path(folder) if folder else Path(spec.origin).parent
    found = [next(iter(sorted(package.rglob(name))), None) for name in SUITES[layer][0]]
    return [str(file) for file in found if file]


def run(layer, files):
    """Name and whether it passed of each test, and how often the layer was called."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "layers", "-p", "no:cacheprovider", "-W", "ignore",
             f"--junitxml={report}", "-k", SUITES[layer][1], *files],
            cwd=folder, capture_output=True, text=True,
            env={**os.environ, "FATHOM_LAYER": layer,
                 "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])},
        )
        calls = re.search(r"^layer calls: (\d+)$", result.stdout, re.MULTILINE)
        if not report.exists() or not calls:
            sys.exit(f"the tests of {layer} did not run:\n{result.stdout}{result.stderr}")
        outcomes = {}
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("skipped") is None:
                name = f"{case.get('classname').rpartition('.')[2]}::{case.get('name')}"
                outcomes[name] = case.find("failure") is None and case.find("error") is None
    return outcomes, int(calls[1]), result.stdout


def expected_failures(layer):
    """Pattern and reason of each line `LAYER  PATTERN  REASON`."""
    lines = (HERE / "expected_failures.txt").read_text(encoding="utf-8").splitlines()
    fields = [line.split(maxsplit=2) for line in lines if line and not line.startswith("#")]
    return {re.compile(pattern): reason for name, pattern, reason in fields if name == layer}


def main():
    layer, folder = sys.argv[1], (sys.argv[2:] or [None])[0]
    files = files_of(layer, folder)
    if not files:
        print(f"{layer}: its tests are not installed")
        return SKIPPED
    outcomes, calls, output = run(layer, files)
    expected = expected_failures(layer)
    reasons = {name: next((expected[p] for p in expected if p.fullmatch(name)), None) for name in outcomes}
    passed = sum(outcomes.values())
    print(f"{layer}: {passed} of {len(outcomes)} tests pass ({passed / max(1, len(outcomes)):.1%}), in {calls} calls")
    for name, good in outcomes.items():
        if not good:
            print(f"  fails: {name}: {reasons[name] or 'NOT EXPECTED'}")
        elif reasons[name]:
            print(f"  passes, though it is expected to fail: {name}")
    right = all(good == (reasons[name] is None) for name, good in outcomes.items())
    if not right:
        print(output)
    return 0 if right and passed and calls else 1


if __name__ == "__main__":
    sys.exit(main())
