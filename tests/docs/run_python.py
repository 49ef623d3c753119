"""Runs the Python of documentation pages.

    run_python.py PAGE...

```pycon blocks are sessions, whose output must be what the page says; those of a page share their names. ```python
blocks are imports or programs, which must work wherever the libraries that they import from are installed. Pages whose
libraries are missing are named and left out: status 77, if there was no other page.
"""

import ast
import doctest
import importlib.util
import re
import sys
from pathlib import Path

from blocks import blocks

SKIPPED = 77
OPTIONAL = ("numpy", "torch", "scipy", "edt", "cv2", "skimage", "cupyx")


class AnyText(doctest.OutputChecker):
    """"…" stands for any text, as in what commands print."""

    def check_output(self, want, got, optionflags):
        return super().check_output(want.replace("…", "..."), got, optionflags)


def missing(code):
    """The first optional library that is imported and not there."""
    for name in re.findall(r"^(?:>>> )?(?:import|from) (\w+)", code, re.MULTILINE):
        if name in OPTIONAL and importlib.util.find_spec(name) is None:
            return name
    return "torch" if "fathom.torch" in code and importlib.util.find_spec("torch") is None else None


def run_program(block):
    """Imports that stand alone are tried one by one; a program needs all that it imports."""
    statements = ast.parse(block.text).body
    if not all(isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in statements) and missing(block.text):
        print(f"{block.page}:{block.line}: left out, for {missing(block.text)} is not installed")
        return
    names = {}
    for statement in statements:
        code = ast.unparse(statement)
        if not missing(code):
            exec(compile(code, f"{block.page}:{block.line}", "exec"), names)


def run_sessions(page, sessions):
    """How many examples there were, and how many failed."""
    names, attempted, failed = {}, 0, 0
    runner = doctest.DocTestRunner(AnyText(), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for block in sessions:
        test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
        result = runner.run(test, clear_globs=False)
        names = test.globs
        attempted, failed = attempted + result.attempted, failed + result.failed
    return attempted, failed


def main():
    ran = failed = 0
    for page in map(Path, sys.argv[1:]):
        found = blocks(page)
        sessions = [block for block in found if block.language == "pycon"]
        if not sessions:
            print(f"{page} has no pycon blocks")
            return 1
        needs = missing("".join(block.text for block in sessions))
        if needs:
            print(f"{page}: left out, for {needs} is not installed")
            continue
        for block in found:
            if block.language == "python" and "--8<--" not in block.text:
                run_program(block)
        attempted, wrong = run_sessions(page, sessions)
        print(f"{page}: {attempted} examples, {wrong} failed")
        ran, failed = ran + attempted, failed + wrong
    return 1 if failed else 0 if ran else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
