"""No eight lines in a row stand twice in the package. Lists of parameters do not count, which calls share, nor do
imports, titles in docstrings and empty lines."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import fathom

FOLDER = Path(fathom.__file__).parent
LONGEST = 8
SLIGHT = re.compile(r"\s*(-+|(>>> )?(import|from) .*|[A-Z][A-Za-z]+( [A-Z][a-z]+)?|\"\"\"|)$")


def lines_that_count(path):
    text = path.read_text(encoding="utf-8")
    left_out = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            left_out.update(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, ast.FunctionDef):
            begin = min(line.lineno for line in (node, *node.decorator_list))
            left_out.update(range(begin, node.body[0].lineno + (ast.unparse(node.body[0]) == "...")))
    for number, line in enumerate(text.splitlines(), 1):
        if number not in left_out and not SLIGHT.match(line):
            yield number, line


def repeated(folder):
    places = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        lines = list(lines_that_count(path))
        for run in zip(*(lines[start:] for start in range(LONGEST))):
            places[tuple(line for _, line in run)].append(f"{path.relative_to(folder)}:{run[0][0]}")
    return [found for found in places.values() if len(found) > 1]


def test_nothing_stands_twice():
    assert repeated(FOLDER) == []


def test_what_stands_twice_is_found(tmp_path):
    lines = "".join(f"x{number} = {number}\n" for number in range(LONGEST))
    (tmp_path / "once.py").write_text("import math\n" + lines)
    assert repeated(tmp_path) == []
    (tmp_path / "twice.py").write_text(lines.replace("\n", "\n\n"))
    assert repeated(tmp_path) == [["once.py:2", "twice.py:1"]]
