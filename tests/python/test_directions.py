"""Which parts of the package import which, as scripts/check_includes.py says it of the library.

_core <- _common <- _arrays <- _grid | _points | _mesh | stream <- _apps <- published <- fathom <- compat, torch
"""

import ast
from pathlib import Path

import fathom
import pytest

FOLDER = Path(fathom.__file__).parent
MAY_IMPORT = {  # a room, which is a folder or a module: the rooms that it may import besides itself
    "_core": set(),
    "_alone": set(),
    "__main__": set(),
    "_info": {"_core"},
    "_common": {"_core"},
    "_arrays": {"_core", "_common"},
    "_files": {"_core", "_common", "_arrays"},
    "_grid": {"_core", "_common", "_arrays"},
    "_points": {"_core", "_common", "_arrays"},
    "_mesh": {"_core", "_common", "_arrays", "_files"},
    "stream": {"_core", "_common", "_arrays", "_files"},
    "_apps": {"_core", "_common", "_arrays", "_grid", "morphology"},
    "morphology": {"_core", "_common", "_arrays", "_apps"},  # the part of _apps that users name
    "published": {"_core", "_common", "_arrays", "_grid", "_mesh"},
    "compat": {"fathom", "_common", "morphology"},
    "torch": {"fathom", "_common"},
}
MAY_IMPORT["fathom"] = MAY_IMPORT.keys() - {"compat", "torch"}


def room_of(module):
    """The room of a module, which is named without the package's name."""
    return module.partition(".")[0] or "fathom"


def modules(folder):
    """Names of all modules, without the package's, and their files."""
    found = {}
    for path in (*folder.rglob("*.py"), folder / "_core.pyi"):
        parts = path.relative_to(folder).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(module, path, known):
    """Modules of the package that one imports, wherever it does: for types alone, and within functions, too."""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
            yield from (name.partition(".")[2] for name in names if name.partition(".")[0] == "fathom")
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            upwards = [part for part in package if part][: len(package) - node.level + 1]
            base = ".".join([*upwards, *filter(None, [node.module])])
            for name in node.names:
                inner = f"{base}.{name.name}".lstrip(".")
                yield inner if inner in known else base


def graph(folder):
    known = modules(folder)
    return {module: set(imports(module, path, known)) - {module} for module, path in known.items()}


def wrong_ways(folder):
    found = graph(folder)
    for module, imported in found.items():
        here = room_of(module)
        assert here in MAY_IMPORT, f"{module or 'fathom'} is in no room; the rooms are {', '.join(MAY_IMPORT)}"
        for other in imported:
            if room_of(other) not in {here, *MAY_IMPORT[here]}:
                yield f"{module} imports {other}"
    rest = dict(found)
    while free := [module for module, imported in rest.items() if not imported & rest.keys()]:
        for module in free:
            del rest[module]
    yield from (f"{module} is in a cycle with some of {sorted(rest[module] & rest.keys())}" for module in rest)


def test_imports_go_one_way():
    assert list(wrong_ways(FOLDER)) == []


@pytest.mark.parametrize(
    "module, text, wrong",
    [
        ("_grid/new.py", "from .._points import site_set", "_grid.new imports _points.site_set"),
        ("_arrays/new.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .. import distance_transform",
         "_arrays.new imports "),
        ("_arrays/new.py", "def late():\n    import fathom.stream", "_arrays.new imports stream"),
        ("_common/options.py", "from . import progress", "_common.progress is in a cycle with some of ['_common.options']"),
        ("compat/new.py", "from .._grid.call import Call", "compat.new imports _grid.call"),
    ],
)  # fmt: skip
def test_wrong_ways_are_found(tmp_path, module, text, wrong):
    for name, path in modules(FOLDER).items():
        copy = tmp_path / path.relative_to(FOLDER)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8") if name != "_common.progress" else "from . import options")
    assert list(wrong_ways(tmp_path)) == []
    (tmp_path / module).write_text(text)
    assert wrong in list(wrong_ways(tmp_path))
