"""--algorithm of `distance`, `query` and `mesh`: the published algorithms, what they say, and what they have not."""

import json

import numpy as np
import oracle
import pytest

RANDOM = np.random.default_rng(2)
MASK = (RANDOM.random((61, 83)) > 0.02).astype(np.uint8)
NAMES = ("pba", "proximate", "jfa", "skw", "brute")


@pytest.fixture
def mask(fathom):
    np.save(fathom.directory / "in.npy", MASK)
    return fathom


def test_list(fathom):
    text = fathom.ok("distance", "--algorithm", "list")
    assert [line.split()[0] for line in text.splitlines()] == list(NAMES)


@pytest.mark.parametrize("algorithm", ["pba", "pba:m1=3,m2=7,m3=2", "proximate", "proximate:access=vv-hh", "brute"])
def test_exact_ones(mask, algorithm):
    expected = oracle.transform(MASK)[0].astype(np.float32)
    text = mask.ok("distance", "in.npy", "-o", "out.npy", "--algorithm", algorithm, "--backend", "cpu")
    assert text.splitlines()[1].startswith(f"{algorithm.split(':')[0]} on cpu: ")
    assert text.endswith(" ms, exact\n")
    np.testing.assert_array_equal(np.load(mask.directory / "out.npy"), expected)


def test_what_an_approximate_one_says(mask):
    line = mask.ok("distance", "in.npy", "-o", "out.npy", "--nearest", "n.npy", "--algorithm", "jfa", "--json")
    told = json.loads(line)["algorithm"]
    squared, nearest = oracle.transform(MASK)[0] ** 2, np.load(mask.directory / "n.npy")
    y, x = np.indices(MASK.shape)
    found = (nearest // 83 - y) ** 2 + (nearest % 83 - x) ** 2
    assert told["error"]["wrong"] == (found > squared.round()).sum() > 0
    assert told["exact"] is False
    assert [phase["name"] for phase in told["phases"]][-1] == "rounds"
    text = mask.ok("distance", "in.npy", "-o", "out.npy", "--algorithm", "jfa", "--backend", "cpu")
    assert f"approximate: {told['error']['wrong']} elements" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--algorithm", "fast"], "--algorithm: there is no 'fast'; use pba, proximate, jfa, skw or brute, or list for "
                                  "what they are"),
        (["--algorithm", "pba:m4=1"], "--algorithm pba: there is no parameter 'm4'; use m1 m2 m3"),
        (["--algorithm", "pba:m1=33"], "--algorithm: m1 takes a whole number from 1 to 32, not '33'"),
        (["--algorithm", "skw:a=1"], "--algorithm skw: there are no parameters; leave out ':a=1'"),
        (["--algorithm", "proximate:access=hh"],
         "--algorithm: access is vv-hh, hh-vv, vh-vh, hv-hv or vtv-vtv, not 'hh'"),
        (["--algorithm", "jfa", "--signed"], "--algorithm jfa has no --signed; leave one of them out"),
        (["--algorithm", "jfa", "--border", "sites"], "--algorithm jfa has no --border; leave one of them out"),
        (["--algorithm", "jfa", "--spacing", "2"],
         "--algorithm jfa counts in elements, but their size is 2 × 2; give --spacing 1"),
        (["--algorithm", "pba", "--memory", "1KiB"], None),
    ],
)
def test_what_is_refused(mask, options, message):
    told = mask.refuses(2, "distance", "in.npy", "-o", "out.npy", *options)
    if message is None:
        assert "--memory 1024B is too small" in told
    else:
        assert told == message
    assert not (mask.directory / "out.npy").exists()


SITES = RANDOM.random((500, 3))
QUERIES = RANDOM.random((40, 3))


@pytest.fixture
def points(fathom):
    np.save(fathom.directory / "sites.npy", SITES)
    np.save(fathom.directory / "queries.npy", QUERIES)
    return fathom


def query(points, *options):
    points.ok("query", "sites.npy", "queries.npy", "-o", "out.npy", "--dtype", "float64", "--backend", "cpu", *options)
    return np.load(points.directory / "out.npy")


def test_list_of_query(fathom):
    assert fathom.ok("query", "--algorithm", "list").startswith("map-reduce exact; ")


@pytest.mark.parametrize(
    "options", [[], ["--perforate", "3"], ["--cone", "0,1,2,30"], ["--perforate", "2", "--cone", "0,1,2,80"]]
)
@pytest.mark.parametrize("parameters", ["", ":kernels=3,streams=3,tile=32", ":atomic=1"])
def test_map_reduce(points, options, parameters):
    expected = query(points, *options)
    np.testing.assert_array_equal(query(points, *options, "--algorithm", "map-reduce" + parameters), expected)


def test_what_map_reduce_says(points):
    call = ["query", "sites.npy", "queries.npy", "-o", "out.npy", "--backend", "cpu", "--perforate", "4", "--algorithm"]
    line = json.loads(points.ok(*call, "map-reduce:kernels=2,streams=2,tile=32", "--json"))
    told = line["algorithm"]
    assert [phase["name"] for phase in told["phases"]] == ["map", "reduction", "final reduction", "finding sites"]
    assert (told["tiles"], told["intermediate_bytes"], told["exact"]) == (4, 2 * 2 * 40 * 8, False)
    usual = json.loads(points.ok(*call[:-1], "--json"))
    assert line["mean_percentage_error"] == pytest.approx(usual["mean_percentage_error"]) and "algorithm" not in usual
    assert points.ok(*call, "map-reduce").splitlines()[-1].endswith(" ms, perforated")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--algorithm", "pba"], "--algorithm: there is no 'pba'; use map-reduce, or list for what it is"),
        (["--algorithm", "map-reduce:m=1"],
         "--algorithm map-reduce: there is no parameter 'm'; use kernels streams tile atomic"),
        (["--algorithm", "map-reduce:streams=65"], "--algorithm: streams takes a whole number from 1 to 64, not '65'"),
        (["--algorithm", "map-reduce:tile=33"], "the tile is 33; it must be a multiple of 32"),
        (["--algorithm", "map-reduce", "--k", "2"], "--algorithm map-reduce has no --k; leave one of them out"),
        (["--algorithm", "map-reduce", "--plan"], "--algorithm map-reduce has no --plan; leave one of them out"),
    ],
)
def test_what_map_reduce_refuses(points, options, message):
    assert points.refuses(2, "query", "sites.npy", "queries.npy", "-o", "out.npy", *options) == message
    assert not (points.directory / "out.npy").exists()


CORNERS = [(3 * np.cos(0.7 * k), 2 * np.sin(0.7 * k), 0.3 * k) for k in range(9)]  # of a fan, whose triangles are thin
OFF = "OFF\n10 8 0\n0 0 0\n" + "".join("{:.2f} {:.2f} {:.2f}\n".format(*corner) for corner in CORNERS) + "".join(
    f"3 0 {k + 1} {k + 2}\n" for k in range(8)
)
MESH = ["mesh", "in.off", "--spacing", "0.25", "--cutoff", "0.5"]
VTI = [*MESH, "-o", "out.vti"]


@pytest.fixture
def solid(fathom):
    (fathom.directory / "in.off").write_text(OFF)
    return fathom


def band(solid, *options):
    solid.ok(*MESH, *options, "-o", "out.npy", "--quiet")
    return np.load(solid.directory / "out.npy")


def test_list_of_mesh(fathom):
    lines = fathom.ok("mesh", "--algorithm", "list").splitlines()
    assert [line.split()[0] for line in lines] == ["octree", "mauch", "naive"]


@pytest.mark.parametrize("algorithm", ["octree:corrected=1", "mauch", "naive"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_ones_of_mesh(solid, algorithm, dtype):
    exact = band(solid, "--sign", "none", "--dtype", dtype)
    np.testing.assert_array_equal(band(solid, "--algorithm", algorithm, "--dtype", dtype, "--backend", "cpu"), exact)
    text = solid.ok(*VTI, "--algorithm", algorithm, "--backend", "cpu")
    assert text.splitlines()[-1].startswith(f"{algorithm.split(':')[0]} on cpu: ") and text.endswith(" ms, exact\n")


def test_what_the_octree_says(solid):
    exact, found = band(solid, "--sign", "none"), band(solid, "--algorithm", "octree", "--backend", "cpu")
    told = json.loads(solid.ok(*VTI, "--algorithm", "octree", "--backend", "cpu", "--json"))["algorithm"]
    within = exact < np.float32(0.5)
    assert (told["name"], told["exact"], told["corrected"]) == ("octree", False, False)
    assert [phase["name"] for phase in told["phases"]] == ["points", "edges", "faces"]
    assert told["error"]["missed"] == (found[within] == np.float32(0.5)).sum() > 0
    share = told["error"]["missed"] / within.sum()
    assert told["error"]["share"] == pytest.approx(share, rel=0.02)  # some points are at the cutoff
    assert told["error"]["farther"] > 0 and told["nodes"] > 0
    text = solid.ok(*VTI, "--algorithm", "octree", "--backend", "cpu").splitlines()[-1]
    assert f"approximate: {told['error']['missed']} points of the band (" in text
    assert "algorithm" not in json.loads(solid.ok(*VTI, "--sign", "none", "--json"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--algorithm", "pba"],
         "--algorithm: there is no 'pba'; use octree, mauch or naive, or list for what they are"),
        (["--algorithm", "octree:corrected=2"], "--algorithm: corrected takes a whole number from 0 to 1, not '2'"),
        (["--algorithm", "mauch:corrected=1"], "--algorithm mauch: there are no parameters; leave out ':corrected=1'"),
        (["--algorithm", "naive", "--inside", "i.npy"], "--algorithm naive has no --inside; leave one of them out"),
        (["--algorithm", "naive", "--sign", "winding"], "--algorithm naive has no --sign; leave one of them out"),
        (["--algorithm", "mauch", "--backend", "cuda"],
         "the algorithms mauch and naive are of the CPU; take the backend auto or cpu, or the octree"),
    ],
)
def test_what_bands_refuse(solid, options, message):
    assert solid.refuses(2, *VTI, *options) == message
    assert not (solid.directory / "out.vti").exists()


def test_algorithms_of_mesh_make_bands(solid):
    told = solid.refuses(2, "mesh", "in.off", "-o", "out.vti", "--spacing", "0.25", "--algorithm", "octree")
    assert told == "--algorithm octree makes bands; give --band or --cutoff"
