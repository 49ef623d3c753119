"""`fathom stream` refuses in one line, and at once."""

import json
import os
import resource

import numpy as np
import pytest
import stream_graphs as graphs


def processor_seconds():
    """Of the commands so far: other work on the machine does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture
def graph(fathom):
    graphs.write(fathom, graphs.bits())
    return fathom


@pytest.mark.parametrize("arguments, line", [
    (["graph.json"], "nothing to do: give -o FILE, --preview FILE or --plan"),
    (["look", "graph.json"], "two words are an action and a file, and 'look' is none of check, explain and verify"),
    (["check"], "check takes a file: fathom stream check FILE"),
    (["graph.json", "-o", "out.raw", "--backend", "gpu"], "--backend takes auto, cpu or cuda, not 'gpu'"),
    (["verify", "out.raw"], "verify compares a file with a journal: give --journal FILE"),
    (["graph.json", "-o", "out.png"], "out.png: rows are streamed into .tif, .npy or .raw; --format tiff, npy or raw says so "
                                      "whatever the ending"),
    (["graph.json", "-o", "out.raw", "--format", "png"], "--format takes tiff, npy or raw, not 'png'"),
    (["graph.json", "-o", "out.npy", "--compress"], "--compress deflates TIFF, and out.npy is none"),
    (["graph.json", "-o", "-", "--format", "tiff", "--compress"],
     "--compress needs a file: where tiles lie is written in front of them, and a pipe cannot go back"),
    (["graph.json", "-o", "out.tif", "--order", "serpentine"], "--order serpentine is for machines, and takes --format raw"),
    (["graph.json", "-o", "out.raw", "--order", "columns"], "--order takes rows, serpentine or stripes:WIDTH, not 'columns'"),
    (["graph.json", "-o", "out.raw", "--order", "stripes:10"],
     "--order stripes:10: the stripes must divide the width, 93; --region takes a part"),
    (["graph.json", "-o", "out.raw", "--order", "stripes:0"], "--order stripes takes a whole number from 1 to 93, not '0'"),
    (["graph.json", "--preview", "out.png", "--order", "stripes:31"], "--preview draws rows; leave --order out"),
    (["graph.json", "-o", "out.raw", "--region", "0:78,:"], "--region: '0:78' does not lie in axis 0, which takes begin:end "
                                                            "from 0 to 77"),
    (["graph.json", "-o", "out.raw", "--rate", "fast"], "--rate takes bytes a second such as 10MB/s, not 'fast'"),
    (["graph.json", "-o", "out.raw", "--memory", "1kB"], "the graph takes 1 MiB of memory or more; less was given"),
    (["graph.json", "-o", "out.raw", "--ack", "0", "--journal", "j"],
     "--ack listens to the reader of a pipe: it takes -o - or another pipe"),
    (["graph.json", "-o", "-", "--format", "raw", "--ack", "0"], "--ack is kept in a journal: give --journal FILE"),
    (["graph.json", "-o", "-", "--format", "raw", "--ack", "77", "--journal", "j"],
     "--ack 77 is no descriptor that can be read; the shell opens it by 77< FILE"),
    (["graph.json", "-o", "out.raw", "--resume-at", "7"],
     "--resume-at goes on with a stream: it takes --format raw and -o - or another pipe"),
    (["graph.json", "-o", "-", "--journal", "j"], "--journal of a pipe takes --format raw, whose bytes can be counted"),
    (["graph.json", "-o", "a.raw", "--journal", "a.raw"], "--output and --journal name the same file 'a.raw'; give each its own"),
    (["graph.json", "-o", "-", "--json"], "--json and --output - both want standard output; write the result to a file"),
])
def test_options(graph, arguments, line):
    assert graph.refuses(2, "stream", *arguments) == line


def test_cuda_without_a_device(graph):
    message = graph.refuses(4, "stream", "graph.json", "-o", "out.raw", "--backend", "cuda")
    assert "CUDA" in message and "auto or cpu" in message


def test_files_that_are_missing(fathom):
    assert fathom.refuses(3, "stream", "check", "none.json") == "none.json cannot be read: No such file or directory"
    assert fathom.refuses(3, "stream", "check", ".") == ". is a directory, not a document"
    graph = graphs.write(fathom, {"in": {"type": "file", "path": "none.tif"}})
    assert "none.tif" in fathom.refuses(3, "stream", "check", graph)


NOISE = {"type": "noise", "height": 3, "width": 4}
HOSTILE = {
    "cycle": ({"a": {"type": "flip", "children": ["b"]}, "b": {"type": "flip", "children": ["a"]}},
              "node 'a' is its own descendant, by 'b'"),
    "unknown": ({"a": {"type": "flip", "children": ["b"]}}, "there is no node 'b'"),
    "type": ({"a": {"type": "flop"}}, "node 'a', field 'type': there is no type 'flop'"),
    "field": ({"a": {**NOISE, "hight": 2}}, "node 'a', field 'hight': a node of type 'noise' has no such field"),
    "parallel": ({"n": NOISE, "a": {"type": "lattice", "u": [1, 2], "v": [2, 4], "height": 9, "width": 9, "children": ["n"]}},
                 "node 'a'"),
    "zero": ({"n": NOISE, "a": {"type": "lattice", "u": [0, 0], "v": [2, 4], "height": 9, "width": 9, "children": ["n"]}},
             "node 'a'"),
    "overflow": ({"a": {"type": "noise", "height": 2**62, "width": 2**62}}, "node 'a'"),
    "negative": ({"a": {"type": "noise", "height": -1, "width": 4}}, "node 'a'"),
    "expression": ({"a": {"type": "formula", "expression": "x +", "height": 3, "width": 4}}, "node 'a'"),
    "size": ({"a": {"type": "noise", "height": 1e300, "width": 4}}, "node 'a', field 'height'"),
}


@pytest.mark.parametrize("nodes, line", HOSTILE.values(), ids=HOSTILE)
def test_graphs(fathom, nodes, line):
    text = fathom.refuses(3, "stream", "check", graphs.write(fathom, nodes, root="a"))
    assert text.startswith(f"graph.json: {line}"), text


def document(nodes, root="a"):
    """With nodes as text: json.dumps() would not say a field twice."""
    return f'{{"fathom": "stream", "version": 1, "root": "{root}", "nodes": {{{nodes}}}}}'


@pytest.mark.parametrize("text, line", [
    (document('"a": {"type": "noise", "height": 3, "width": 4, "height": 5}'), "the field 'height' twice, in 'a'"),
    (document('"a": {"children": [{"node": "b", "y": 0, "y": 0}]}'), "the field 'y' twice, in 'children'"),
    (document('"a": {"type": "noise", "height": 3, "width": 4}, "a": {}'), "the field 'a' twice, in 'nodes'"),
    ('{"fathom": "stream", "version": 1, "root": "a", "root": "b"}', "the field 'root' twice"),
    (r'{"fathom": "stream", "\u0061": 1, "a": 2}', "the field 'a' twice"),
], ids=lambda text: text[-30:])
def test_fields_that_stand_twice(fathom, text, line):
    (fathom.directory / "graph.json").write_text(text)
    assert fathom.refuses(3, "stream", "check", "graph.json") == f"graph.json: the document has {line}"


def test_many_fields_are_compared_in_no_time(fathom):
    nodes = ", ".join(f'"n{k}": {{"type": "noise", "height": 3, "width": 4}}' for k in range(300_000))
    (fathom.directory / "graph.json").write_text(document(nodes, "n7"))
    began = processor_seconds()
    assert fathom.ok("stream", "check", "graph.json") == "graph.json: 3 × 4, uint8, 1 node\n"
    assert processor_seconds() - began < 10


def test_control_characters_are_shown(fathom):
    graph = graphs.write(fathom, {"a\x1b[31m\x7f\x9b": {"type": "no"}})
    assert fathom.refuses(3, "stream", "check", graph).startswith(
        r"graph.json: node 'a\x1b[31m\x7f\x9b', field 'type': there is no type 'no'")
    graph = graphs.write(fathom, {"a": {**NOISE, "unit": "\x1b[2J"}})
    assert fathom.ok("stream", "check", graph) == "graph.json: 3 × 4, uint8, 1 \\x1b[2J a pixel, 1 node\n"
    assert "\x1b" not in fathom.ok("stream", "explain", graph)


def test_more_bytes_than_can_be_counted(fathom):
    graph = graphs.write(fathom, {"a": {**NOISE, "height": 2**40, "width": 2**40, "dtype": "float32"}})
    assert fathom.refuses(2, "stream", "explain", graph, "-o", "out.raw") == (
        "1099511627776 × 1099511627776 pixels are more bytes than any output holds; --region takes a part")
    plan = json.loads(fathom.ok("stream", "explain", graph, "-o", "out.raw", "--region", f":,:{2**19}", "--json"))
    assert plan["output"]["bytes"] == 2**61


@pytest.mark.parametrize("text", [
    "", "{", "[]", "null", '"stream"', "[" * 1_000_000, '{"a":' * 1_000_000, '{"fathom": "stream"}',
    '{"fathom": "stream", "version": 2}', '{"fathom": "stream", "version": 1, "root": "a", "nodes": 1000000000}',
    '{"fathom": "stream", "version": 1, "root": "a", "nodes": {"a": 7}}', "\xff\xfe", "x" * 70_000_000,
], ids=lambda text: text[:24])
def test_hostile_documents_are_refused_at_once(fathom, text):
    (fathom.directory / "graph.json").write_text(text, encoding="latin1")
    began = processor_seconds()
    assert fathom.refuses(3, "stream", "check", "graph.json").startswith("graph.json")
    assert processor_seconds() - began < 1


def test_deep_and_wide_graphs(fathom):
    """A thousand nodes in a row are refused or computed, and a doubling at each of 60 levels is no 2⁶⁰."""
    chain = {"n0": NOISE, **{f"n{k}": {"type": "flip", "rows": True, "children": [f"n{k - 1}"]} for k in range(1, 900)}}
    fathom.ok("stream", graphs.write(fathom, chain), "-o", "out.npy")
    chain |= {f"n{k}": {"type": "flip", "rows": True, "children": [f"n{k - 1}"]} for k in range(900, 2000)}
    assert "deep" in fathom.refuses(3, "stream", graphs.write(fathom, chain), "-o", "deep.npy")
    began = processor_seconds()
    wide = {"n0": NOISE, **{f"n{k}": {"type": "math", "expression": "a+b", "dtype": "uint8", "children": [f"n{k - 1}"] * 2}
                            for k in range(1, 60)}}
    fathom.ok("stream", graphs.write(fathom, wide), "-o", "wide.npy")
    assert processor_seconds() - began < 20


def test_a_folder_for_temporary_files(fathom):
    graph = graphs.write(fathom, graphs.exact(40, 70))
    line = fathom.refuses(3, "stream", graph, "-o", "out.npy", env={**os.environ, "TMPDIR": "/nowhere"})
    assert line.startswith("an exact distance has no folder for its temporary file: ")


def test_long_expressions_are_not_evaluated_before_they_must(fathom):
    slow = "+".join(["sin(a)"] * 1400)
    nodes = {"n": {**NOISE, "dtype": "uint16"}}
    nodes |= {f"m{k}": {"type": "math", "expression": slow, "children": ["n"]} for k in range(100)}
    nodes |= {f"p{k}": {"type": "profile", "expression": slow.replace("a", "d"), "children": [f"m{k}"], "infinite": 0}
              for k in range(100)}
    nodes["all"] = {"type": "place", "placements": [], "height": 9, "width": 9, "children": [f"p{k}" for k in range(100)]}
    began = processor_seconds()
    fathom.ok("stream", "check", graphs.write(fathom, nodes))
    assert processor_seconds() - began < 6  # under sanitizers, too; evaluating them takes 12 and more


def test_pixel_sizes_that_are_not_square(fathom):
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(fathom.directory / "in.tif", np.ones((4, 5), np.uint8), imagej=True, resolution=(1 / 2, 1 / 3),
                     metadata={"unit": "um"})
    nodes = {"in": {"type": "file", "path": "in.tif"}}
    outcome = fathom("stream", "check", graphs.write(fathom, nodes))
    assert outcome.code == 0
    assert outcome.err.decode() == (
        'fathom: warning: in.tif: its pixels are 3 × 2, not square; each counts as 1 × 1 unless its node states "pixel"\n')
    assert fathom("stream", "check", "graph.json", "--strict").code == 3
    tifffile.imwrite(fathom.directory / "in.tif", np.ones((4, 5), np.uint8), imagej=True, resolution=(1 / 2, 1 / 2),
                     metadata={"unit": "um"})
    assert fathom.ok("stream", "check", "graph.json") == "graph.json: 4 × 5, uint8, 2 µm a pixel, 1 node\n"


def test_pixel_sizes_reach_the_output(fathom):
    nodes = {"in": {**NOISE, "pixel": 0.5, "unit": "µm"}}
    fathom.ok("stream", graphs.write(fathom, nodes), "-o", "out.tif")
    info = json.loads(fathom.ok("info", "out.tif", "--json"))
    assert (info["input"]["spacing"], info["input"]["unit"]) == ([0.5, 0.5], "µm")
