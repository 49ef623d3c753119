#!/usr/bin/env python3
"""Checks who includes whom (docs/design.md, "The house"), and that a name means one thing.

    scripts/check_includes.py [ROOT]

Prints each violation as path:line: message, and exits 1 if there is any.

Between rooms:   core <- grid | points | mesh <- stream <- apps <- published;  core <- io
Inside a room:   .hd.h <- other headers <- cpu/ | cuda/ <- the .cpp files beside them
Across rooms:    public headers, and the internal headers of core; those in its cuda/ for cuda/ alone; and what SHARED names
Public headers:  the standard library and other public headers
Outside:         cli, python, bench and examples use public headers and their own files
Names:           types and constants of a namespace are defined in one file of a room, for a program may hold one of each
"""

import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

ROOMS = {  # room: the rooms that it may include besides itself
    "core": set(),
    "grid": {"core"},
    "points": {"core"},
    "mesh": {"core"},
    "stream": {"core", "grid", "points", "mesh"},
    "apps": {"core", "grid", "points", "mesh", "stream"},
    "published": {"core", "grid", "points", "mesh", "stream", "apps"},
    "io": {"core"},
}
FLOORS = {  # part of a room: the parts of the same room that it may include
    "hd": {"hd"},
    "header": {"hd", "header"},
    "cpu": {"hd", "header", "cpu"},
    "cuda": {"hd", "header", "cuda"},
    "front": {"hd", "header", "cpu", "cuda", "front"},
}
SHARED = {  # room, header of another room: numbers that must be the same bits in both
    ("published", "mesh/band_rule.h"),
    ("published", "mesh/surface.h"),
    ("published", "mesh/tree_view.hd.h"),
    ("published", "mesh/triangle.hd.h"),
}
OUTSIDE = ("cli", "python", "bench", "examples")
SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# As clang-format leaves them: what a namespace holds begins at the line's start.
NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) ?\{")
END_OF_NAMESPACE = re.compile(r"^\}  // namespace")
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?) (?:alignas\(.*?\) )?(\w+)(?: final)?(?: :[^;]*)? ?\{")
CONSTANT = re.compile(r"^(?:inline |static )*constexpr [^(={]*?\b(k[A-Z]\w*)(?:\[[^]]*\])? ?[={]")


class Place(NamedTuple):
    """Where a file lives: `area` is public, src or one of OUTSIDE; `floor` matters in src alone."""

    area: str
    room: str
    floor: str

    def __str__(self) -> str:
        if self.area == "src":
            return f"src/{self.room} ({self.floor})"
        return f"include/fathom/{self.room}" if self.area == "public" else self.area


def floor_of(path: Path) -> str:
    """The part of its room that src/<room>/... belongs to."""
    if path.name.endswith(".hd.h"):
        return "hd"
    if path.parts[2] in ("cpu", "cuda"):
        return path.parts[2]
    return "header" if path.suffix in (".h", ".hpp", ".cuh") else "front"


def place_of(path: Path) -> Optional[Place]:
    """The place of a path relative to the root; None where no rule applies (tests, docs)."""
    parts = path.parts
    if parts[:2] == ("include", "fathom") and len(parts) > 3:
        return Place("public", parts[2], "")
    if parts[0] == "src" and len(parts) > 2:
        return Place("src", parts[1], floor_of(path))
    if parts[0] in OUTSIDE:
        return Place(parts[0], "", "")
    return None


def resolve(root: Path, source: Path, name: str, quoted: bool) -> Optional[Path]:
    """The file of the project that an include names, relative to the root; None if it is a stranger's."""
    folders = [root / "include", root / "src"]
    if quoted:
        folders = [(root / source).parent, *folders, root]
    for folder in folders:
        file = (folder / name).resolve()
        if file.is_file() and file.is_relative_to(root):
            return file.relative_to(root)
    return None


def is_standard(name: str) -> bool:
    """Whether <name> is a header of the standard library: those in C++ have neither folder nor ending."""
    return re.fullmatch(r"[a-z_0-9]+", name) is not None


def check_rooms(source: Place, target: Place) -> Optional[str]:
    if target.room not in ROOMS:
        return f"there is no room '{target.room}'; the rooms are {', '.join(ROOMS)}"
    if source.room != target.room and target.room not in ROOMS[source.room]:
        return f"room {source.room} must not include room {target.room}"
    if source.area == target.area == "src":
        if source.room != target.room:
            if target.room == "core" and target.floor in ("hd", "header"):
                return None  # what every room needs and no user does
            if target.room == "core" and source.floor == target.floor == "cuda":
                return None  # the same, for the device
            return f"room {source.room} must use the public headers of room {target.room}, not its sources"
        if target.floor not in FLOORS[source.floor]:
            return f"{source} must not include {target}"
    return None


def check(source: Place, target: Optional[Place], name: str) -> Optional[str]:
    """What is wrong with an include, if anything. `target` is None for files outside the project's rooms."""
    if source.area == "public":
        if target is None:
            foreign = "a public header includes the standard library and public headers alone"
            return None if is_standard(name) else foreign
        if target.area != "public":
            return "a public header must not include what is not public"
        return check_rooms(source, target)
    if source.area == "src":
        if target is None or (source.room, name) in SHARED:
            return None
        return check_rooms(source, target) if target.area in ("src", "public") else f"the library must not use {target}"
    if target is not None and target.area not in ("public", source.area):
        return f"{source} uses public headers alone, not {target}"
    return None


def sources(root: Path) -> Iterator[Path]:
    for area in ("include", "src", *OUTSIDE):
        for path in sorted((root / area).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path.relative_to(root)


def definitions(text: str) -> Iterator[Tuple[int, str]]:
    """Lines and qualified names of the types and constants of a file that others may see."""
    spaces: List[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := NAMESPACE.match(line):
            spaces.append(match[1])
            if line.rstrip().endswith("}"):
                spaces.pop()
        elif END_OF_NAMESPACE.match(line) and spaces:
            spaces.pop()
        elif (match := TYPE.match(line) or CONSTANT.match(line)) and "" not in spaces:
            yield number, "::".join([*spaces, match[1]])


def repeated_names(root: Path) -> Iterator[str]:
    defined: Dict[Tuple[str, str], Path] = {}
    for path in sources(root):
        place = place_of(path)
        if place is None or place.area != "src":
            continue
        for number, name in definitions((root / path).read_text(encoding="utf-8")):
            first = defined.setdefault((place.room, name), path)
            if first != path:
                yield f"{path}:{number}: {name} is defined in {first}, too"


def violations(root: Path) -> Iterator[str]:
    for path in sources(root):
        place = place_of(path)
        if place is None or (place.room and place.room not in ROOMS):
            yield f"{path}:1: this file is in no room; the rooms are {', '.join(ROOMS)}"
            continue
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match[2]
            found = resolve(root, path, name, match[1] == '"')
            problem = check(place, place_of(found) if found else None, name)
            if problem:
                yield f"{path}:{number}: {problem}: {name}"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    if not (root / "src").is_dir():
        print(f"{root} has no src/; give the project's root", file=sys.stderr)
        return 2
    problems = [*violations(root), *repeated_names(root)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
