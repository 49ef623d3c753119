"""The tables of measurements: each page has what it names, and records become the tables they are measured for."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import suite  # noqa: E402
import tables  # noqa: E402
from pages import FOLLOWED, PAGES  # noqa: E402

ABOUT = {"machine": "NVIDIA Test (driver 1)", "date": "2026-01-02", "version": "1.2.3", "command": "device_bench"}


def record(task, **more):
    size, case, operation, batch = task
    return {
        "operation": operation,
        "size": size,
        "batch_axes": batch,
        "case": case,
        "ms": 0.25 if operation == "distance" else 1.5,
        "copy_ms": 0.125,
        "npp_ms": 0,
        "scratch_bytes": 1000,
        "right": True,
        **more,
    }


class Tables(unittest.TestCase):
    def test_every_table_is_measured_or_kept_and_all_that_is_kept_is_shown(self):
        names = [table.name for _, page in PAGES.values() for table in page]
        self.assertEqual(len(names), len(set(names)))
        kept = {path.stem for path in tables.RESULTS.glob("*.md")} - {"README"}
        self.assertLessEqual(kept, set(names))
        followers = {name for new in FOLLOWED.values() for name in new}
        for _, page in PAGES.values():
            for table in page:
                if not table.rows:
                    self.assertTrue(table.name in kept or table.name in FOLLOWED, table.name)
        for name in PAGES:
            text = tables.page(name)
            self.assertIn("|---|", text)
            for line in text.splitlines():
                self.assertFalse(line.startswith("| ") and not line.endswith(" |"), line)
        self.assertLessEqual(followers, set(names))

    def test_what_the_suite_measures_fills_the_tables(self):
        runs = [run for _, page in PAGES.values() for table in page for run in table.runs]
        found = {"device_bench": [(ABOUT, [record(run) for run in runs])]}
        text = tables.page("grid-gpu", found)
        for _, table in ((name, table) for name, (_, page) in PAGES.items() for table in page if table.runs):
            self.assertIn(table.name, tables.served(found))
            part = text[text.index(f"## {table.title}") :].split("\n## ")[0]
            self.assertIn("*NVIDIA Test (driver 1), 2026-01-02, Fathom 1.2.3: `device_bench`*", part)
        self.assertIn("| all | 0.250 (2.0×) |", text)  # over the copy
        self.assertIn("| 4096 × 4096, 1% | 0.250 | 1.50 (6.0×) |", text)  # over the plain distance

    def test_wrong_results_are_not_shown(self):
        run = ("4096x4096", "all", "distance", 0)
        found = {"device_bench": [(ABOUT, [record(run, right=False), record(("4096x4096", "1%", "distance", 0))])]}
        part = tables.page("grid-gpu", found).split("## Images")[1].split("\n## ")[0]
        self.assertNotIn("| all |", part)
        self.assertIn("| 1% |", part)


class Suite(unittest.TestCase):
    def run_steps(self, folder, *steps, minutes="1"):
        """What the suite prints, of steps that stand for the benchmarks."""
        said = io.StringIO()
        arguments = ["suite.py", "device", "-o", folder, "--minutes", minutes, "--version", "1"]
        with (
            mock.patch.object(suite, "device_steps", lambda build: steps),
            mock.patch.object(sys, "argv", arguments),
            mock.patch.object(suite, "device_name", lambda: "NVIDIA Test (driver 1)"),
            contextlib.redirect_stdout(said),
        ):
            return suite.main(), said.getvalue()

    def step(self, name, *records):
        lines = "\n".join(map(json.dumps, records))
        return suite.Step(name, name, [[sys.executable, "-c", f"print('a heading')\nprint({lines!r})"]])

    def test_records_replace_what_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "stream-gpu.md").write_text("*old*")
            Path(folder, "mesh-gpu.md").write_text("*old*")
            status, said = self.run_steps(
                folder,
                self.step("device_stream", {"case": "repeat", "ms": 0.5, "right": True}),
                self.step("device_mesh", {"case": "band", "ms": 0.5, "same": False}),
            )
            self.assertEqual(status, 1)
            self.assertIn("device_mesh        failed: 1 of 1 results are wrong", said)
            self.assertEqual(
                sorted(path.name for path in Path(folder).iterdir()), ["device_stream-test.jsonl", "mesh-gpu.md"]
            )
            first, second = map(json.loads, Path(folder, "device_stream-test.jsonl").read_text().splitlines())
            self.assertEqual((first["benchmark"], first["version"], second["ms"]), ("device_stream", "1", 0.5))

    def test_what_was_measured_before_the_time_was_up_counts(self):
        step = suite.Step("device_stream", "device_stream", [["first"], ["second"]])
        outputs = ['{"case": "repeat", "ms": 0.5}', suite.LeftOut("no time was left")]
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(suite, "capture", side_effect=outputs):
            status, said = self.run_steps(folder, step)
            self.assertEqual(status, 0)
            self.assertIn("device_stream      cut off after 1 of 2 commands\n", said)
            self.assertEqual(len(Path(folder, "device_stream-test.jsonl").read_text().splitlines()), 2)

    def test_what_no_time_is_left_for_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "stream-gpu.md").write_text("*old*")
            status, said = self.run_steps(
                folder, self.step("device_stream", {"case": "repeat", "ms": 0.5}), minutes="1e-9"
            )
            self.assertEqual((status, said), (0, "device_stream      left out: no time was left\n"))
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["stream-gpu.md"])


if __name__ == "__main__":
    unittest.main()
