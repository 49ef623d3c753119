"""What CMake says to install and what the scripts install are the same packages."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def listed(name):
    text = re.sub("#.*", "", (ROOT / "scripts" / name).read_text(encoding="utf-8"))
    return set(text.split())


class PackagesTests(unittest.TestCase):
    def test_same(self):
        needs = (ROOT / "cmake" / "FathomNeeds.cmake").read_text(encoding="utf-8")
        named = set(re.findall(r'^ *fathom_(?:needs|lacks)\((?:"[^"]*"|\S+) (\S+)\)', needs, re.MULTILINE)) - {"${package}"}
        # CMake and Ninja come with pip, and the rest can be done without.
        beside = {"ccache", "cmake", "ninja-build", "fonts-dejavu-core"}
        self.assertEqual(named, listed("packages-build.txt") - beside | {"python3-dev"})
        self.assertIn("python3-dev", listed("packages-test.txt"))


if __name__ == "__main__":
    unittest.main()
