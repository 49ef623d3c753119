"""bench/compare.py keeps its gate: means, worst cells, wrong results, known losses."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "compare.py"


def record(operation, ms, case="1%", size="256x256x256", right=True):
    return {"operation": operation, "size": size, "batch_axes": 0, "case": case, "ms": ms, "right": right}


def compare(old, new, known=None):
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for name, records in (("old", old), ("new", new)):
            arguments.append(Path(folder, name))
            arguments[-1].write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        if known:
            Path(folder, "known").write_text("\n".join(known), encoding="utf-8")
            arguments += ["--known", Path(folder, "known")]
        result = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr


class CompareTests(unittest.TestCase):
    def test_same(self):
        records = [record("distance", 1.0), record("nearest", 2.0)]
        status, text = compare(records, records)
        self.assertEqual(status, 0)
        self.assertIn("| volumes | 1 | 1.000 | 1.05 |", text)

    def test_means(self):
        self.assertEqual(compare([record("distance", 1.0)], [record("distance", 1.06)])[0], 1)
        self.assertEqual(compare([record("nearest", 1.0)], [record("nearest", 1.19)])[0], 0)
        self.assertEqual(compare([record("nearest", 1.0)], [record("nearest", 1.21)])[0], 1)

    def test_worst(self):
        cases = [f"{k}%" for k in range(100)]
        old = [record("labels", 1.0, case) for case in cases]
        new = [record("labels", 1.7 if k < 3 else 1.0, case) for k, case in enumerate(cases)]
        self.assertEqual(compare(old, new)[0], 0)
        new[3]["ms"] = 1.7
        self.assertEqual(compare(old, new)[0], 1)
        new = [record("labels", 3.1 if k == 7 else 1.0, case) for k, case in enumerate(cases)]
        status, text = compare(old, new)
        self.assertEqual(status, 1)
        self.assertIn("3.10  labels 256x256x256 7%", text)
        self.assertEqual(compare(old, new, ["labels 256x256x256 7%"])[0], 0)

    def test_wrong_results(self):
        status, text = compare([record("distance", 1.0)], [record("distance", 1.0, right=False)])
        self.assertEqual(status, 1)
        self.assertIn("wrong: distance 256x256x256 1%", text)

    def test_nothing_in_common(self):
        status, text = compare([record("distance", 1.0)], [record("nearest", 1.0)])
        self.assertEqual(status, 1)
        self.assertIn("no cell in common", text)


if __name__ == "__main__":
    unittest.main()
