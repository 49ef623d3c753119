"""check_includes.py accepts what the rules allow and names what they do not."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_includes.py"

SOUND = {
    "include/fathom/core/view.h": "#include <vector>",
    "include/fathom/grid/distance.h": '#include "fathom/core/view.h"',
    "include/fathom/stream/tiles.h": '#include "fathom/grid/distance.h"',
    "include/fathom/io/image.h": "#include <cstdio>\n#include <fathom/core/view.h>",
    "src/grid/root.hd.h": "#include <cmath>",
    "src/core/dispatch.h": '#include "fathom/core/view.h"',
    "src/grid/problem.h": '#include "grid/root.hd.h"\n#include "fathom/grid/distance.h"',
    "src/grid/cpu/plain.h": '#include "grid/problem.h"\n#include "core/dispatch.h"',
    "src/grid/cpu/plain.cpp": '#include "plain.h"\n#include <hwy/highway.h>',
    "src/core/cuda/runtime.h": "#include <cuda_runtime_api.h>",
    "src/grid/cuda/plain.cu": '#include "grid/root.hd.h"\n#include "core/cuda/runtime.h"',
    "src/grid/distance.cpp": '#include "grid/cpu/plain.h"',
    "src/io/png.cpp": '#include "fathom/io/image.h"\n#include <png.h>',
    "cli/main.cpp": '#include "options.h"\n#include "fathom/io/image.h"\n#include "fathom/grid/distance.h"',
    "cli/options.h": "#include <CLI/CLI.hpp>",
    "src/mesh/tree.h": "namespace fathom {\nstruct Tree;\nstruct Node {};\nconstexpr int kMost[] = {1};\n}  // namespace fathom",
    "src/mesh/list.h": "namespace fathom::lists {\nstruct Node {\n  struct Tree {};\n};\n}  // namespace fathom::lists",
    "src/mesh/own.cpp": "namespace fathom {\nnamespace {\nstruct Node {};\n}  // namespace\n}  // namespace fathom",
    "src/points/tree.h": "namespace fathom {\nstruct Node {};\n}  // namespace fathom",
}

# file, its text, the line to be named, words of the message
VIOLATIONS = [
    ("include/fathom/core/up.h", '#include "fathom/grid/distance.h"', 1, "room core must not include room grid"),
    ("include/fathom/mesh/side.h", '\n#include "fathom/grid/distance.h"', 2, "room mesh must not include room grid"),
    ("include/fathom/core/own.h", '#include "grid/problem.h"', 1, "must not include what is not public"),
    ("include/fathom/grid/device.h", "#include <cuda_runtime.h>", 1, "standard library and public headers alone"),
    ("include/fathom/grid/simd.h", "#include <hwy/highway.h>", 1, "standard library and public headers alone"),
    ("include/fathom/attic/old.h", "", 1, "no room"),
    ("src/io/joined.cpp", '#include "fathom/grid/distance.h"', 1, "room io must not include room grid"),
    ("src/stream/tiles.cpp", '#include "grid/problem.h"', 1, "public headers of room grid"),
    ("src/grid/late.hd.h", '#include "grid/problem.h"', 1, "src/grid (hd) must not include src/grid (header)"),
    ("src/grid/cpu/cross.cpp", '#include "../cuda/plain.cu"', 1, "src/grid (cpu) must not include src/grid (cuda)"),
    ("src/grid/cuda/cross.cu", '  #  include "grid/cpu/plain.h"', 1, "src/grid (cuda) must not include src/grid (cpu)"),
    ("src/grid/cpu/device.cpp", '#include "core/cuda/runtime.h"', 1, "public headers of room core"),
    ("src/grid/early.h", '#include "grid/cpu/plain.h"', 1, "src/grid (header) must not include src/grid (cpu)"),
    ("src/core/program.cpp", '#include "../../cli/options.h"', 1, "the library must not use cli"),
    ("cli/peek.cpp", '#include "grid/problem.h"', 1, "cli uses public headers alone"),
    ("python/peek.cpp", "#include <grid/cpu/plain.h>", 1, "python uses public headers alone"),
    ("bench/peek.cpp", '#include "../src/grid/problem.h"', 1, "bench uses public headers alone"),
    ("bench/borrow.cpp", '#include "../cli/options.h"', 1, "bench uses public headers alone"),
    ("src/mesh/twice.h", "namespace fathom {\nclass Node final : public Base {", 2, "fathom::Node is defined in src/mesh/tree.h, too"),
    ("src/mesh/utmost.h", "namespace fathom {\ninline constexpr int kMost = 3;", 2, "fathom::kMost is defined in"),
    ("examples/peek.cpp", '#include "../src/grid/problem.h"', 1, "examples uses public headers alone"),
]


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)


class CheckIncludes(unittest.TestCase):
    def test_sound_tree_passes_silently(self):
        result = run(SOUND)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_each_violation_is_found_alone(self):
        for name, text, line, message in VIOLATIONS:
            with self.subTest(name):
                result = run({**SOUND, name: text})
                self.assertEqual(result.returncode, 1)
                self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)
                self.assertIn(f"{name}:{line}: ", result.stdout)
                self.assertIn(message, result.stdout)

    def test_all_violations_are_listed_together(self):
        result = run({**SOUND, **{name: text for name, text, _, _ in VIOLATIONS}})
        self.assertEqual(len(result.stdout.splitlines()), len(VIOLATIONS))

    def test_a_wrong_root_is_a_usage_error(self):
        result = run({"readme": ""})
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no src/", result.stderr)


if __name__ == "__main__":
    unittest.main()
