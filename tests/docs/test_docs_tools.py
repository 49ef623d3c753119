"""The checks of the documentation notice what is wrong in it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(tool, page_text, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.md")
        page.write_text(page_text, encoding="utf-8")
        places = [str(argument).format(page=page, folder=folder) for argument in arguments]
        result = subprocess.run([sys.executable, HERE / tool, *places], capture_output=True, text=True)
        output = Path(folder, "out.cpp")
        return result, output.read_text() if output.exists() else ""


def commands(page_text):
    return run("run_commands.py", page_text, "{page}", "/bin/echo", ROOT)[0]


class CheckMessages(unittest.TestCase):
    def check(self, source, row):
        with tempfile.TemporaryDirectory() as folder:
            for room in ("docs", "src", "cli"):
                Path(folder, room).mkdir()
            Path(folder, "cli", "a.cpp").write_text(source)
            Path(folder, "docs", "troubleshooting.md").write_text(row, encoding="utf-8")
            return subprocess.run([sys.executable, HERE / "check_messages.py", folder], capture_output=True).returncode

    def test_pieces_of_messages(self):
        source = 'warn("{} has no "\n     "site; {{stem}} helps");\n'
        self.assertEqual(self.check(source, "| `… has no site; {stem} …` | why |\n"), 0)
        self.assertEqual(self.check(source, "| `… has a site` | why |\n"), 1)
        self.assertEqual(self.check(source, "no table\n"), 1)


class RunCommands(unittest.TestCase):
    def test_expected_output_matches(self):
        text = "```sh\nfathom one two\necho 3 s\n```\n\n```text\none two\n… s\n```\n"
        self.assertEqual(commands(text).returncode, 0)

    def test_any_lines(self):
        self.assertEqual(commands("```sh\nprintf 'a\\nb\\nc\\n'\n```\n```text\na\n…\n```\n").returncode, 0)

    def test_wrong_output_fails(self):
        result = commands("```sh\nfathom one\n```\n```text\ntwo\n```\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("page.md:2", result.stdout)

    def test_failing_command_fails(self):
        self.assertEqual(commands("```sh\nfalse\necho later\n```\n").returncode, 1)

    def test_text_elsewhere_is_not_compared(self):
        self.assertEqual(commands("```sh\nfathom one\n```\nwords\n```text\ntwo\n```\n").returncode, 0)

    def test_other_languages_do_not_run(self):
        self.assertEqual(commands("```sh\ntrue\n```\n```bash\nfalse\n```\n").returncode, 0)

    def test_page_without_commands_fails(self):
        self.assertEqual(commands("words\n").returncode, 1)

    def test_unclosed_block_fails(self):
        self.assertNotEqual(commands("```sh\ntrue\n").returncode, 0)


def sessions(page_text):
    return run("run_python.py", page_text, "{page}")[0]


class RunPython(unittest.TestCase):
    def test_right_output_passes_and_names_are_shared(self):
        self.assertEqual(sessions("```pycon\n>>> a = 1\n```\nwords\n```pycon\n>>> a\n1\n```\n").returncode, 0)

    def test_wrong_output_fails(self):
        self.assertEqual(sessions("```pycon\n>>> 1\n2\n```\n").returncode, 1)

    def test_imports_are_tried(self):
        page = "```python\nfrom json import no_such_name\n```\n```pycon\n>>> 1\n1\n```\n"
        self.assertNotEqual(sessions(page).returncode, 0)

    def test_page_without_sessions_fails(self):
        self.assertEqual(sessions("words\n").returncode, 1)


class CollectCpp(unittest.TestCase):
    def test_blocks_become_functions_of_one_program(self):
        text = "```cpp\n#include <vector>\nstd::vector<int> a;\n```\n```cpp\nint b = 1;\n```\n"
        result, program = run("collect_cpp.py", text, "{folder}/out.cpp", "{page}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(program.index("#include <vector>"), program.index("example_0"))
        self.assertIn("example_1();", program)

    def test_page_without_blocks_fails(self):
        self.assertEqual(run("collect_cpp.py", "words\n", "{folder}/out.cpp", "{page}")[0].returncode, 1)


if __name__ == "__main__":
    unittest.main()
