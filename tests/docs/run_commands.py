"""Runs the ```sh blocks of a documentation page, in order, in an empty folder that sees the project's examples/.

    run_commands.py PAGE COMMAND PROJECT_ROOT

Each block must end with status 0. A ```text block right after it is the output to expect: "…" stands for any text
within a line, and a line of "…" alone for any lines.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from blocks import blocks


def pattern_of(expected: str) -> str:
    lines = []
    for line in expected.splitlines():
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ ]*\n")
    return "".join(lines)


def main() -> int:
    page, command, root = (Path(argument).resolve() for argument in sys.argv[1:4])
    all_blocks = blocks(page)
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(root / "examples" / "data", Path(folder, "examples", "data"))
        Path(folder, "fathom").symlink_to(command)
        environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
        for index, block in enumerate(all_blocks):
            if block.language != "sh":
                continue
            result = subprocess.run(["sh", "-e", "-c", block.text], cwd=folder, env=environment, text=True,
                                    stdin=subprocess.DEVNULL, capture_output=True)
            ran += 1
            where = f"{page}:{block.line}"
            if result.returncode != 0:
                print(f"{where}: status {result.returncode}\n{block.text}\n{result.stdout}{result.stderr}")
                return 1
            after = all_blocks[index + 1] if index + 1 < len(all_blocks) else None
            if after and after.language == "text" and after.follows:
                if not re.fullmatch(pattern_of(after.text), result.stdout):
                    print(f"{where}: printed\n{result.stdout}\nbut the page says\n{after.text}")
                    return 1
    if ran == 0:
        print(f"{page} has no sh blocks")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
