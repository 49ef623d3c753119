"""What scripts/wheels refuses before it installs or builds anything."""

import subprocess
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "wheels"


class WheelsTests(unittest.TestCase):
    def check(self, arguments, status, stdout, stderr):
        result = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout.splitlines()[:1], result.stderr.splitlines()[:1]),
                         (status, stdout, stderr))

    def test_help(self):
        self.check(["--help"], 0, ["usage: scripts/wheels [--cuda] [PYTHON...]"], [])

    def test_unknown_option(self):
        self.check(["--cud"], 2, [], ["wheels: unknown option --cud"])

    def test_unknown_python(self):
        self.check(["/nowhere/python3"], 2, [], ["wheels: there is no /nowhere/python3"])


if __name__ == "__main__":
    unittest.main()
