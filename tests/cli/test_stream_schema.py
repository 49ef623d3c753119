"""docs/stream.schema.json and the command agree on what a document is, field by field."""

import json
from pathlib import Path

import numpy as np
import pytest
import stream_graphs as graphs

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "stream.schema.json").read_text(encoding="utf-8"))
TYPES = {of["properties"]["type"]["const"]: of for of in SCHEMA["$defs"]["node"]["oneOf"]}
OF_PROGRAMS = {"array", "function"}  # which take what a file cannot hold
SPECIAL = {"height": 6, "width": 5, "u": [0, 3], "v": [4, 1], "placements": [0, 0, 0], "placements_file": "places.csv",
           "path": "in.npy", "expression": "1", "table": [0, 1], "pixel": 1, "unit": ""}
EITHER = [{"placements", "placements_file"}, {"expression", "table"}]


def value_of(name, spec):
    if name in SPECIAL:
        return SPECIAL[name]
    if "enum" in spec:
        return spec["enum"][-1]
    return {"integer": 1, "number": 2, "boolean": True, "string": "x"}[np.atleast_1d(spec["type"])[0]]


def node_of(kind, names):
    properties = TYPES[kind]["properties"]
    node = {"type": kind, **{name: value_of(name, properties[name]) for name in names if name not in ("type", "children")}}
    if "children" in properties:
        node["children"] = ["in", {"node": "in", "role": "mask"}] if kind == "mask" else ["in"]
    needed = {"place": "placements", "profile": "table"}.get(kind)
    if needed and not any(names & group for group in EITHER if needed in group):
        node[needed] = SPECIAL[needed]
    return node


@pytest.fixture
def check(fathom):
    np.save(fathom.directory / "in.npy", np.ones((9, 9), np.uint8))
    (fathom.directory / "places.csv").write_text("0,0,0\n")
    return lambda node: fathom("stream", "check", graphs.write(fathom, {"in": {"type": "file", "path": "in.npy"}, "a": node}))


@pytest.mark.parametrize("kind", sorted(TYPES.keys() - OF_PROGRAMS))
def test_types(check, kind):
    of = TYPES[kind]
    required = set(of["required"])
    assert check(node_of(kind, required)).code == 0
    for name in of["properties"].keys() - required:
        names = required | {name} | ({"max"} if name == "signed" else set())
        assert check(node_of(kind, names)).code == 0, name
    for name in required - {"type"}:
        node = node_of(kind, required)
        del node[name]
        assert check(node).code == 3, name
    assert "no such field" in check({**node_of(kind, required), "colour": 1}).err.decode()


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_defaults(fathom, kind):
    """A document with all defaults written out has the same pixels as one without."""
    if kind in OF_PROGRAMS:
        return
    of = TYPES[kind]
    np.save(fathom.directory / "in.npy", np.arange(30, dtype=np.uint8).reshape(6, 5))
    node = node_of(kind, set(of["required"]))
    full = {**node, **{name: spec["default"] for name, spec in of["properties"].items() if "default" in spec}}
    for name, of_node in [("short", node), ("full", full)]:
        graph = graphs.write(fathom, {"in": {"type": "file", "path": "in.npy"}, "a": of_node})
        fathom.ok("stream", graph, "-o", f"{name}.npy")
    assert (fathom.directory / "short.npy").read_bytes() == (fathom.directory / "full.npy").read_bytes()


def test_all_types_are_in_it(fathom):
    """The command lists what it knows."""
    text = fathom.refuses(3, "stream", "check", graphs.write(fathom, {"a": {"type": "?"}}))
    assert sorted(text.split("there are ")[1].split(", ")) == sorted(TYPES)


def test_the_example_is_valid():
    document = json.loads((ROOT / "examples" / "data" / "leather.json").read_text(encoding="utf-8"))
    assert document.keys() <= SCHEMA["properties"].keys() and set(SCHEMA["required"]) <= document.keys()
    for node in document["nodes"].values():
        of = TYPES[node["type"]]
        assert set(of["required"]) <= node.keys() <= of["properties"].keys()


def test_the_page_names_every_field():
    page = (ROOT / "docs" / "streams.md").read_text(encoding="utf-8")
    for kind in TYPES.keys() - OF_PROGRAMS:
        row = next(line for line in page.splitlines() if line.startswith(f"| `{kind}` |"))
        for name in TYPES[kind]["properties"].keys() - {"type", "children"}:
            assert f"`{name}`" in row or (name in ("pixel", "unit") and "Sources take `pixel`" in page), (kind, name)
