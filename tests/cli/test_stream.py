"""`fathom stream`: what it says, and that the bytes are the same however they are asked for."""

import json
import re

import numpy as np
import pytest
import stream_graphs as graphs


@pytest.fixture
def surface(fathom):
    fathom.graph = graphs.write(fathom, graphs.surface())
    fathom.ok("stream", fathom.graph, "-o", "whole.npy")
    fathom.whole = np.load(fathom.directory / "whole.npy")
    return fathom


def test_the_surface_is_what_numpy_makes_of_it(surface):
    """The dots from the command itself; distances, profile and mask by definition."""
    nodes = graphs.surface()
    cell = nodes["grain"]
    small = graphs.write(surface, {key: nodes[key] for key in ("grain", "dots")}, name="dots.json")
    surface.ok("stream", small, "-o", "dots.npy")
    dots = np.load(surface.directory / "dots.npy")
    assert dots.shape == (cell["height"], cell["width"]) and 0 < dots.sum() < dots.size / 10
    tiled = np.tile(dots, (4, 3))
    distance = graphs.brute_distance(tiled)
    distance[distance > 15] = np.inf
    expected = np.rint(255 * np.exp(-np.minimum(distance.astype(np.float64), 15) / 5)).astype(np.uint8)
    # Where no copy outside of `tiled` could be nearer.
    inner = (slice(0, 120), slice(0, 130))
    y, x = np.indices(surface.whole.shape)
    shape = (x - 450.0) ** 2 + (y - 350.0) ** 2 < 300.0**2
    assert surface.whole[~shape].max() == 0 and surface.whole[shape].max() == 255
    nodes.pop("out"), nodes.pop("shape")
    surface.ok("stream", graphs.write(surface, nodes, name="coat.json"), "-o", "coat.npy")
    coat = np.load(surface.directory / "coat.npy")
    assert (coat[inner] == expected[inner]).all()
    assert (surface.whole == np.where(shape, coat, 0)).all()


@pytest.mark.parametrize("region", ["0:1,0:1", "3:4,:", ":,899:900", "100:657,13:700", "699:,:"])
def test_regions_are_parts_of_the_whole(surface, region):
    surface.ok("stream", surface.graph, "-o", "part.npy", "--region", region)
    rows, columns = (slice(*(int(end) if end else None for end in part.split(":"))) for part in region.split(","))
    part = np.load(surface.directory / "part.npy")
    assert part.tobytes() == surface.whole[rows, columns].tobytes()


@pytest.mark.parametrize("options", [["--threads", 1], ["--threads", 5], ["--memory", "3MB"], ["--memory", "1GB"],
                                     ["--memory", "3MB", "--threads", 1], ["--rate", "1GB/s"], ["--min-rate", "1kB/s"]],
                         ids=str)
def test_the_same_bytes_with(surface, options):
    surface.ok("stream", surface.graph, "-o", "again.npy", *options)
    assert (surface.directory / "again.npy").read_bytes() == (surface.directory / "whole.npy").read_bytes()


@pytest.mark.parametrize("options", [["--threads", 1], ["--threads", 3], ["--memory", "3MB"]], ids=str)
def test_exact_distances_are_those_of_the_verb_distance(fathom, options):
    nodes = graphs.exact()
    graph = graphs.write(fathom, nodes)
    fathom.ok("stream", graph, "-o", "far.npy", *options)
    nodes.pop("far")
    fathom.ok("stream", graphs.write(fathom, nodes, name="dots.json"), "-o", "dots.npy")
    fathom.ok("distance", "dots.npy", "-o", "expected.npy", "--sites", "nonzero")
    assert (fathom.directory / "far.npy").read_bytes() == (fathom.directory / "expected.npy").read_bytes()


@pytest.mark.parametrize("ending", ["tif", "npy", "raw"])
@pytest.mark.parametrize("nodes", [graphs.bits(), graphs.exact(40, 70), graphs.surface(60, 80)],
                         ids=["bits", "floats", "bytes"])
def test_files_hold_the_same_pixels(fathom, ending, nodes):
    graph = graphs.write(fathom, nodes)
    fathom.ok("stream", graph, "-o", "expected.npy")
    fathom.ok("stream", graph, "-o", f"out.{ending}")
    expected = np.load(fathom.directory / "expected.npy")
    if ending == "raw":
        pixels = np.packbits(expected, axis=1) if expected.dtype == bool else expected
        assert (fathom.directory / "out.raw").read_bytes() == pixels.tobytes()
    else:
        assert fathom.ok("compare", f"out.{ending}", "expected.npy")


def test_deflated_tiff(surface):
    surface.ok("stream", surface.graph, "-o", "plain.tif")
    surface.ok("stream", surface.graph, "-o", "small.tif", "--compress")
    sizes = [(surface.directory / name).stat().st_size for name in ("plain.tif", "small.tif")]
    assert sizes[1] < sizes[0] * 0.8
    assert surface.ok("compare", "small.tif", "whole.npy") and surface.ok("compare", "plain.tif", "whole.npy")


def test_standard_output(surface):
    done = surface("stream", surface.graph, "-o", "-")
    assert done.out == (surface.directory / "whole.npy").read_bytes()
    assert done.err.startswith(b"standard output: 700 \xc3\x97 900, uint8, npy; 630 kB in ")
    done = surface("stream", surface.graph, "-o", "-", "--format", "raw", "--quiet")
    assert done.out == surface.whole.tobytes() and done.err == b""


def test_serpentine_turns_odd_rows(surface):
    surface.ok("stream", surface.graph, "-o", "out.raw", "--order", "serpentine", "--region", "5:400,:")
    expected = surface.whole[5:400].copy()
    expected[1::2] = expected[1::2, ::-1]
    assert (surface.directory / "out.raw").read_bytes() == expected.tobytes()


@pytest.mark.parametrize("stripe", [1, 100, 300, 900])
@pytest.mark.parametrize("options", [[], ["--memory", "3MB"]], ids=str)
def test_stripes(surface, stripe, options):
    rows = slice(5, 400) if stripe < 900 else slice(0, 700)
    surface.ok("stream", surface.graph, "-o", "out.raw", "--order", f"stripes:{stripe}", "--region", f"{rows.start}:{rows.stop},:",
               "--journal", "j", *options)
    expected = np.concatenate(np.split(surface.whole[rows], 900 // stripe, axis=1))
    assert (surface.directory / "out.raw").read_bytes() == expected.tobytes()
    assert "bands are as j tells" in surface.ok("stream", "verify", "out.raw", "--journal", "j")


def test_stripes_of_exact_distances(fathom):
    graph = graphs.write(fathom, graphs.exact())
    assert fathom.refuses(2, "stream", graph, "-o", "out.raw", "--order", "stripes:50") == (
        "an exact distance is computed in rows; for stripes give it a bound, 'max'")


def test_paths_are_beside_the_document(fathom):
    (fathom.directory / "deep").mkdir()
    np.save(fathom.directory / "deep" / "in.npy", np.arange(12, dtype=np.uint8).reshape(3, 4))
    (fathom.directory / "deep" / "places.csv").write_text("1,2,0\n4,0,0\n")
    graph = graphs.write(fathom, {"in": {"type": "file", "path": "in.npy"},
                                  "out": {"type": "place", "height": 7, "width": 6, "placements_file": "places.csv",
                                          "children": ["in"]}}, name="deep/graph.json")
    fathom.ok("stream", graph, "-o", "out.npy")
    expected = np.zeros((7, 6), np.uint8)
    for y, x in [(1, 2), (4, 0)]:
        expected[y : y + 3, x : x + 4] = np.arange(12).reshape(3, 4)
    assert (np.load(fathom.directory / "out.npy") == expected).all()
    np.save(fathom.directory / "deep" / "places.npy", np.array([[1, 2, 0], [4, 0, 0]], np.int64))
    document = (fathom.directory / graph).read_text().replace("places.csv", "places.npy")
    (fathom.directory / graph).write_text(document)
    fathom.ok("stream", graph, "-o", "again.npy")
    assert (np.load(fathom.directory / "again.npy") == expected).all()


@pytest.mark.parametrize("text, reason", [
    ("1,2,0\n4,0\n", "places.csv has in line 2 2 values where line 1 has 3"),
    ("1,2,0\n4,x,0\n", "places.csv has in line 2 "),
    ("1,2,0\n4,0.5,0\n", "places.csv has in row 2 of its numbers 0.5, which is not whole"),
    ("1,2,0\n4,0,7\n", "graph.json: node 'a': a placement is of child 7; there are 1, counted from 0"),
    ("1,2,0\n4,0,-1\n", "graph.json: node 'a', field 'placements': there is no child -1"),
])
def test_placements_that_are_wrong(fathom, text, reason):
    (fathom.directory / "places.csv").write_text(text)
    graph = graphs.write(fathom, {"in": {"type": "noise", "height": 3, "width": 4},
                                  "a": {"type": "place", "height": 7, "width": 6, "placements_file": "places.csv",
                                        "children": ["in"]}})
    assert fathom.refuses(3, "stream", "check", graph).startswith(reason)


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", 1e300, -1e300])
def test_values_that_are_not_finite(fathom, value):
    """1e300 is inf as float32."""
    size = {"height": 3, "width": 4}
    nodes = {"one": {"type": "constant", "value": 1, **size, "dtype": "float32"},
             "a": {"type": "constant", "value": value, **size, "dtype": "float32"},
             "b": {"type": "mask", "background": value,
                   "children": ["one", {"node": "none", "role": "mask"}]},
             "none": {"type": "constant", "value": 0, **size, "dtype": "bool"}}
    for root in "ab":
        fathom.ok("stream", graphs.write(fathom, nodes, root=root), "-o", "out.npy")
        with np.errstate(over="ignore"):
            expected = np.full((3, 4), float(value), np.float32)
        np.testing.assert_array_equal(np.load(fathom.directory / "out.npy"), expected)
    nodes["a"]["dtype"] = "uint8"
    fathom.ok("stream", graphs.write(fathom, nodes, root="a"), "-o", "out.npy")
    assert np.load(fathom.directory / "out.npy")[0, 0] == (255 if value in ("inf", 1e300) else 0)


def test_the_usage_line(fathom):
    assert fathom.ok("stream", "--help").splitlines()[1] == "Usage: fathom stream [OPTIONS] [check|explain|verify] GRAPH"


def test_the_margin_of_one_band(fathom):
    graph = graphs.write(fathom, graphs.bits())
    assert "at least 1 kB/s: 0 underruns, no band after the first, 2 bands ahead\n" in fathom.ok(
        "stream", graph, "-o", "out.raw", "--min-rate", "1kB/s")
    report = json.loads(fathom.ok("stream", graph, "-o", "out.raw", "--min-rate", "1kB/s", "--json"))
    assert report["least_margin"] is None


def test_the_graph_through_a_pipe(fathom):
    document = (fathom.directory / graphs.write(fathom, graphs.bits())).read_bytes()
    assert fathom.ok("stream", "check", "-", stdin=document) == "standard input: 77 × 93, bool, 2 nodes\n"


def test_check(surface):
    assert surface.ok("stream", "check", "graph.json") == "graph.json: 700 × 900, uint8, 7 nodes\n"


PLAN = """\
graph    graph.json: 700 × 900, uint8, 7 nodes
  out: mask, 700 × 900, uint8; background 0
    coat: profile, 700 × 900, uint8; expression 255*exp(-d/5); computed once for 41 × 53 and repeated
      far: distance, 700 × 900, float32; max 15, to nonzero; halo 15
        mask all: repeat, 700 × 900, bool; kept in tiles of 256 × 256
          dots: threshold, 41 × 53, bool; value 250; kept in tiles of 41 × 53
            grain: noise, 41 × 53, uint8; seed 5
    mask shape: formula, 700 × 900, bool; expression (x-450)^2 + (y-350)^2 < 300^2
region   0:700,10:900
work     3 bands of 256 rows, in tiles of 256 × 890, 2 threads
memory   """


@pytest.mark.parametrize("how", [["explain"], ["--plan"]])
def test_plan(surface, how):
    before = surface.files()
    words = how if how == ["explain"] else []
    text = surface.ok("stream", *words, "graph.json", "-o", "out.tif", "--region", ":,10:", "--threads", 2,
                      "--rate", "1kB/s", *(how if not words else []))
    assert text.startswith(PLAN)
    rest = text.removeprefix(PLAN)
    assert re.fullmatch(r"\d+KiB: scratch \d+KiB, cells [\d.]+KiB, files and tables 1824B, bands \d+KiB, tiles \d+KiB\n"
                        r"write    out.tif: tiff, 623 kB\n"
                        r"time     10 min at 1 kB/s\n"
                        r"guess    [\d.]+ [MG]B/s, [\d.]+ s in all, the first byte after [\de.-]+ s; no pixel was computed: it may "
                        r"be off by some times\n", rest), rest
    assert surface.files() == before


def test_plan_of_an_exact_distance(fathom):
    graph = graphs.write(fathom, graphs.exact(3000, 2000))
    text = fathom.ok("stream", "explain", graph)
    assert "\n  far: distance, 3000 × 2000" in text and "swept from the first row to the last, behind a pass from the last to the first" in text
    assert re.search(r"^disk     [\d.]+ [kM]B of temporary files; the mask is computed twice, once before the first byte$",
                     text, re.M)


def test_plan_as_json(surface):
    plan = json.loads(surface.ok("stream", "explain", "graph.json", "-o", "out.raw", "--threads", 1, "--json"))
    assert [node["id"] for node in plan["nodes"]] == ["grain", "dots", "all", "far", "coat", "shape", "out"]
    profile = plan["nodes"][4]
    assert profile["cell"] == {"height": 41, "width": 53, "skew": 0} and profile["children"] == ["far"]
    assert (plan["operation"], plan["shape"], plan["dtype"]) == ("plan", [700, 900], "uint8")
    assert plan["output"] == {"path": "out.raw", "format": "raw", "bytes": 630000}
    assert plan["memory_bytes"]["total"] == sum(v for k, v in plan["memory_bytes"].items() if k != "total")


def test_the_plan_counts_what_is_computed_ahead(surface):
    """As the stream itself does."""
    options = ["graph.json", "-o", "out.raw", "--threads", 2]
    plain = json.loads(surface.ok("stream", "explain", *options, "--json"))
    ahead = json.loads(surface.ok("stream", "explain", *options, "--json", "--min-rate", "1MB/s"))
    assert (plain["ring"], ahead["ring"]) == (2, 3)
    assert ahead["memory_bytes"]["bands"] == 3 * 256 * 900 == plain["memory_bytes"]["bands"] * 3 / 2
    assert ahead["guess"]["first_seconds"] > plain["guess"]["first_seconds"]
    assert ", 2 threads, 3 bands ahead\n" in surface.ok("stream", "explain", *options, "--min-rate", "1MB/s")
    report = json.loads(surface.ok("stream", *options, "--json", "--min-rate", "1MB/s"))
    assert report["memory_bytes"] == ahead["memory_bytes"]["total"]


def test_guesses(fathom):
    """What repeats costs a copy, twice the bands cost twice as much, and the mask of an exact distance is read first."""
    def guess(nodes, *options, threads=1):
        graph = graphs.write(fathom, nodes)
        return json.loads(fathom.ok("stream", "explain", graph, "--threads", threads, "--json", *options))["guess"]

    nodes = graphs.surface(30000, 40000)
    nodes.pop("out"), nodes.pop("shape")
    repeated = guess(nodes)
    nodes["all"] = {"type": "noise", "height": 30000, "width": 40000}
    every = guess(nodes)
    half = guess(nodes, "--region", ":15000,:")
    assert 3 * repeated["seconds"] < every["seconds"] and repeated["first_seconds"] < repeated["seconds"] / 5
    assert 1.9 * half["seconds"] < every["seconds"] < 2.1 * half["seconds"]
    exact = guess(graphs.exact(20000, 20000))
    assert 0.2 * exact["seconds"] < exact["first_seconds"] < 0.5 * exact["seconds"]
    assert guess(graphs.exact(20000, 20000), threads=2)["seconds"] == exact["seconds"] / 2


def test_report(surface):
    text = surface.ok("stream", "graph.json", "-o", "out.tif")
    assert re.fullmatch(r"out.tif: 700 × 900, uint8, tiff; 630 kB in [\d.e-]+ s, [\d.]+ [kMG]B/s\n", text)
    report = json.loads(surface.ok("stream", "graph.json", "-o", "out.tif", "--json", "--threads", 1))
    assert report["bytes"] == 630000 and report["output"] == {"path": "out.tif", "format": "tiff"}
    assert (report["band_rows"], report["begun_at_row"], report["threads"]) == (256, 0, 1)


def test_huge_rasters_take_little(fathom):
    """A part of 4 · 10¹² pixels, and what all of them would take."""
    nodes = {**graphs.surface(), "all": {"type": "repeat", "height": 2000000, "width": 2000000, "children": ["dots"]}}
    nodes.pop("out"), nodes.pop("shape")
    graph = graphs.write(fathom, nodes)
    fathom.ok("stream", graph, "-o", "out.npy", "--region", "1234567:1234667,1999900:")
    assert np.load(fathom.directory / "out.npy").shape == (100, 100)
    text = fathom.ok("stream", "explain", graph, "-o", "out.tif", "--rate", "10MB/s")
    assert "write    out.tif: tiff, 4 TB\ntime     4 d 15 h at 10 MB/s\n" in text


def test_rates(surface):
    """Bits count as they are written: 8 to a byte."""
    graph = graphs.write(surface, graphs.bits(2000, 800))
    report = json.loads(surface("stream", graph, "-o", "out.raw", "--rate", "400kB/s", "--json").text)
    assert report["bytes"] == 200000 and 0.2 < report["seconds"]["total"] < 5
    report = json.loads(surface("stream", graph, "-o", "out.raw", "--min-rate", "1kB/s", "--json").text)
    assert report["underruns"] == 0 and report["least_margin"] > 0 and report["ring"] >= 2
    report = json.loads(surface("stream", graph, "-o", "out.raw", "--min-rate", "900GB/s", "--json").text)
    assert report["least_margin"] < 0.01


@pytest.mark.parametrize("nodes", [graphs.surface(), graphs.bits(), graphs.exact(1300, 200)], ids=["bytes", "bits", "exact"])
def test_preview(fathom, nodes):
    graph = graphs.write(fathom, nodes)
    assert fathom.ok("stream", graph, "--preview", "out.png") == "out.png: picture\n"
    assert fathom.ok("info", "out.png").startswith("file     out.png")


def test_preview_shows_the_pixels(fathom):
    """A small raster is drawn in whole pixels, which can be read back."""
    graph = graphs.write(fathom, {"in": {"type": "formula", "expression": "40*x + 3*y", "height": 5, "width": 6,
                                         "dtype": "uint8"}})
    fathom.ok("stream", graph, "--preview", "out.png")
    image = pytest.importorskip("PIL.Image").open(fathom.directory / "out.png").convert("L")
    picture = np.asarray(image)
    for y in range(5):
        for x in range(6):
            assert picture[44 + 100 * y + 50, 16 + 100 * x + 50] == 40 * x + 3 * y


def test_preview_takes_samples_in_the_middle(fathom):
    size = {"height": 100000, "width": 100000}
    graph = graphs.write(fathom, {
        "ramp": {"type": "formula", "expression": "x", "height": 100, "width": 100, "dtype": "uint8"},
        "ramps": {"type": "repeat", **size, "children": ["ramp"]},
        "below": {"type": "formula", "expression": "y >= 50000", **size, "dtype": "bool"},
        "both": {"type": "math", "expression": "a + 100*b", "dtype": "uint8", "children": ["ramps", "below"]}})
    fathom.ok("stream", graph, "--preview", "out.png", "--scale", "1000")
    picture = np.asarray(pytest.importorskip("PIL.Image").open(fathom.directory / "out.png").convert("L"))
    part = picture[44:644, 16:616]
    assert set(np.unique(part[3:290])) == {0} and set(np.unique(part[310:597])) == {100}


@pytest.mark.parametrize("size", [(1, 1), (1, 1000000), (1000000, 3), (2, 601)], ids=str)
def test_preview_of_lines(fathom, size):
    for kind in ({}, {"far": {"type": "distance", "children": ["in"]}} if size[0] * size[1] < 10**4 else {}):
        graph = graphs.write(fathom, {"in": {"type": "noise", "height": size[0], "width": size[1]}, **kind})
        fathom.ok("stream", graph, "--preview", "out.png")
        for scale in (7, 10**9):
            if max(size) < 10**6 or scale > 7:
                fathom.ok("stream", graph, "--preview", "out.png", "--scale", scale)
    if max(size) == 10**6:
        assert fathom.refuses(2, "stream", graph, "--preview", "new.png", "--scale", 7) == (
            "--scale 7 makes a picture of 142857 pixels; at least 123 draws it")


def test_preview_of_too_many_exact_distances(fathom):
    graph = graphs.write(fathom, graphs.exact(100000, 100000))
    assert fathom.refuses(2, "stream", graph, "--preview", "new.png") == (
        "--preview of an exact distance computes all of 100000 × 100000 pixels; --region draws a part, and 'max' makes it "
        "bounded")
