"""summarize_tests.py counts what ctest reports, and takes nothing for passed or skipped that is not."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "summarize_tests.py"


def case(name, status, inside="", output="", time=0):
    return f'<testcase name="{name}" status="{status}" time="{time}">{inside}<system-out>{output}</system-out></testcase>'


def skip(name, message, output=""):
    return case(name, "notrun", f'<skipped message="{message}"/>', output)


def summarize(*reports, broken=0):
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, cases in enumerate(reports):
            files.append(Path(folder, f"{number}.xml"))
            files[-1].write_text(f"<testsuite>{''.join(cases)}</testsuite>", encoding="utf-8")
        result = subprocess.run([sys.executable, SCRIPT, "--broken", str(broken), *files], capture_output=True, text=True)
        return result.returncode, result.stdout


class SummarizeTests(unittest.TestCase):
    def check(self, expected_status, expected_line, *reports, broken=0):
        status, output = summarize(*reports, broken=broken)
        self.assertEqual(output.splitlines()[-1], expected_line)
        self.assertEqual(status, expected_status)
        return output

    def test_sums_over_files(self):
        self.check(0, "3 passed, 0 failed, 0 skipped", [case("a", "run"), case("b", "run")], [case("a", "run")])

    def test_failures_show_their_output(self):
        output = self.check(1, "1 passed, 1 failed, 0 skipped",
                            [case("a", "run"), case("b", "fail", '<failure message=""/>', "expected 1")])
        self.assertIn("failed: b", output)
        self.assertIn("expected 1", output)

    def test_skips_are_named_with_their_reason(self):
        output = self.check(0, "1 passed, 0 failed, 3 skipped",
                            [case("a", "run"), skip("b", "SKIP_RETURN_CODE=77", "no edt here"),
                             skip("c", "SKIP_REGULAR_EXPRESSION_MATCHED"), case("d", "disabled")])
        self.assertIn("skipped: b", output)
        self.assertIn("no edt here", output)

    def test_a_reason_has_one_line(self):
        gtest = "[ RUN      ] A.B\n/src/device_test.cpp:25: Skipped\nno CUDA device\n\n[  SKIPPED ] A.B (0 ms)"
        pytest = "=== summary ===\nSKIPPED [1] ../test_cuda.py:12: no CUDA device\n1 skipped in 0.12s"
        output = self.check(0, "1 passed, 0 failed, 3 skipped",
                            [case("a", "run"), skip("b", "SKIP_REGULAR_EXPRESSION_MATCHED", gtest),
                             skip("c", "SKIP_REGULAR_EXPRESSION_MATCHED", pytest),
                             skip("d", "SKIP_RETURN_CODE=77", "no edt here")])
        self.assertEqual(output.count("skipped: "), 2)
        self.assertIn("skipped: b and 1 more", output)
        self.assertIn(": no CUDA device\n", output)

    def test_the_slowest_ten_are_named(self):
        output = self.check(0, "12 passed, 0 failed, 0 skipped", [case(f"t{k}", "run", time=k) for k in range(12)])
        self.assertEqual([line.split()[2] for line in output.splitlines() if " s  " in line],
                         [f"t{k}" for k in range(11, 1, -1)])

    def test_failures_come_after_skips(self):
        output = self.check(1, "0 passed, 1 failed, 1 skipped",
                            [case("a", "fail", '<failure message=""/>')], [skip("b", "SKIP_RETURN_CODE=77")])
        self.assertLess(output.index("skipped: b"), output.index("failed: a"))

    def test_what_could_not_start_failed(self):
        self.check(1, "1 passed, 3 failed, 0 skipped",
                   [case("a", "run"), skip("b", "Unable to find executable"), skip("c", "Fixture dependency failed"),
                    skip("d", "Required Files Missing")])

    def test_broken_builds_fail(self):
        self.check(1, "1 passed, 2 failed, 0 skipped", [case("a", "run")], broken=2)

    def test_nothing_passed_is_no_success(self):
        self.check(1, "0 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
