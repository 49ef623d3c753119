"""Looks up in the sources what docs/troubleshooting.md quotes of errors and warnings.

    check_messages.py PROJECT_ROOT

The first cell of each row of its tables is a message in backticks, "…" for what differs. Each piece between must stand in
a string of the library or the command.
"""

import re
import sys
from pathlib import Path


def messages(page):
    return re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)


def strings_of(root):
    """The sources as one text; literals that C++ joins are joined, braces that are doubled for {fmt} are single."""
    files = sorted(path for room in ("src", "cli") for path in (root / room).rglob("*.cpp"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return re.sub(r'"\s*\n\s*"', "", text).replace("{{", "{").replace("}}", "}")


def main():
    root = Path(sys.argv[1])
    quoted = messages((root / "docs" / "troubleshooting.md").read_text(encoding="utf-8"))
    sources = strings_of(root)
    unknown = [message for message in quoted for piece in message.split("…") if piece.strip() not in sources]
    for message in unknown:
        print(f"docs/troubleshooting.md quotes what no source says: {message}")
    print(f"{len(quoted)} messages")
    return 1 if unknown or not quoted else 0


if __name__ == "__main__":
    sys.exit(main())
