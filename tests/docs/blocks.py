"""Fenced code blocks of Markdown pages."""

import re
from pathlib import Path
from typing import List, NamedTuple


class Block(NamedTuple):
    language: str
    text: str
    page: Path
    line: int  # of the first line of the text
    follows: bool  # nothing but blank lines stands between this block and the one before


def blocks(page: Path) -> List[Block]:
    found = []
    language, start, lines, gap = None, 0, [], True
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"```(\w*)\s*$", line)
        if language is None and fence:
            language, start, lines = fence[1], number + 1, []
        elif language is not None and line.rstrip() == "```":
            found.append(Block(language, "\n".join(lines) + "\n", page, start, bool(found) and not gap))
            language, gap = None, False
        elif language is not None:
            lines.append(line)
        elif line.strip():
            gap = True
    if language is not None:
        raise ValueError(f"{page}:{start}: this block has no end")
    return found
