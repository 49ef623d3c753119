"""fathom voronoi and lloyd: regions, tables of sites and edges, moved sites; what they refuse."""

import json

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def seeds(fathom):
    mask = np.random.default_rng(1).random((30, 40)) < 0.02
    fathom.mask = mask
    fathom.weights = np.random.default_rng(2).integers(0, 256, mask.shape).astype(np.uint8)
    Image.fromarray(mask).save(fathom.directory / "seeds.png")
    Image.fromarray(fathom.weights).save(fathom.directory / "weights.png")
    return fathom


def table(fathom, name):
    return np.genfromtxt(fathom.directory / name, delimiter=",", names=True)


def test_regions_and_tables(seeds):
    n = seeds.mask.sum()
    assert seeds.ok("voronoi", "seeds.png", "-o", "regions.npy", "--weights", "weights.png", "--table", "sites.csv",
                    "--edges", "edges.csv") == (
        f"regions.npy: regions, int32, 30 × 40, {n} sites\nsites.csv: sites\nedges.csv: edges\n"
    )
    regions = np.load(seeds.directory / "regions.npy")
    sites = table(seeds, "sites.csv")
    assert sites.dtype.names == ("y", "x", "area", "mass", "centroid_y", "centroid_x")
    np.testing.assert_array_equal(np.column_stack([sites["y"], sites["x"]]), np.argwhere(seeds.mask))
    y, x = np.mgrid[:30, :40]
    distance = np.hypot(*[a[..., None] - sites[name] for a, name in ((y, "y"), (x, "x"))])
    np.testing.assert_array_equal(regions, distance.argmin(-1))  # the first of equals
    np.testing.assert_array_equal(sites["area"], np.bincount(regions.ravel()))
    mass = np.bincount(regions.ravel(), seeds.weights.ravel())
    np.testing.assert_array_equal(sites["mass"], mass)
    for a, name in ((y, "centroid_y"), (x, "centroid_x")):
        np.testing.assert_allclose(sites[name], np.bincount(regions.ravel(), (seeds.weights * a).ravel()) / mass)
    edges = table(seeds, "edges.csv")
    assert edges.dtype.names == ("first", "second", "length") and (edges["first"] < edges["second"]).all()
    assert edges["length"].sum() == (np.diff(regions, axis=0) != 0).sum() + (np.diff(regions, axis=1) != 0).sum()


def test_spacing_json_and_a_chart(seeds):
    found = json.loads(seeds.ok("voronoi", "seeds.png", "-o", "regions.tif", "--spacing", "3,1", "--preview",
                                "chart.png", "--json", "--threads", 1))
    assert found["regions"] == seeds.mask.sum() and found["settings"] == {"sites": "nonzero"}
    assert Image.open(seeds.directory / "chart.png").format == "PNG"
    assert seeds.ok("voronoi", "seeds.png", "-o", "plain.npy", "--quiet") == ""
    spaced = np.array(Image.open(seeds.directory / "regions.tif"))
    assert (np.load(seeds.directory / "plain.npy") != spaced).any()


def test_no_site(fathom):
    np.save(fathom.directory / "none.npy", np.zeros((3, 4), np.uint8))
    assert fathom.ok("voronoi", "none.npy", "-o", "r.npy", "--table", "t.csv") == (
        "r.npy: regions, int32, 3 × 4, 0 sites\nt.csv: sites\n"
    )
    assert (np.load(fathom.directory / "r.npy") == -1).all()


def test_numbers_of_regions_stay_in_a_png(seeds):
    assert "stored" not in seeds.ok("voronoi", "seeds.png", "-o", "r.png")
    seeds.ok("voronoi", "seeds.png", "-o", "r.npy", "--quiet")
    np.testing.assert_array_equal(np.array(Image.open(seeds.directory / "r.png")), np.load(seeds.directory / "r.npy"))
    np.save(seeds.directory / "none.npy", np.zeros((3, 4)))
    assert seeds.refuses(2, "voronoi", "none.npy", "-o", "none.png") == (
        "none.png: a PNG holds indices from 0 to 65535, and 12 are others; use .npy, .tif or .nii")


def test_nan_is_a_site_and_said(fathom):
    np.save(fathom.directory / "s.npy", np.array([[1, 0, np.nan]]))
    done = fathom("voronoi", "s.npy", "-o", "r.npy")
    assert done.text == "r.npy: regions, int32, 1 × 3, 2 sites\n"
    assert done.err.decode() == "fathom: warning: s.npy holds 1 NaN, counted as not 0; --sites '>0' leaves them out\n"
    assert fathom.ok("voronoi", "s.npy", "-o", "r.npy", "--sites", ">0") == "r.npy: regions, int32, 1 × 3, 1 sites\n"


def test_lloyd(fathom):
    weights = np.random.default_rng(3).integers(0, 9, (30, 50))
    np.save(fathom.directory / "w.npy", weights)
    (fathom.directory / "p.csv").write_text("name,x,y\na,4,5\nb,20,25\nc,40,6\n")
    y, x = np.indices(weights.shape)
    nearest = np.argmin([(y - 5) ** 2 + (x - 4) ** 2, (y - 25) ** 2 + (x - 20) ** 2, (y - 6) ** 2 + (x - 40) ** 2], axis=0)
    expected = [np.average(at, weights=weights * (nearest == site)) for site in range(3) for at in (x, y)]
    assert fathom.ok("lloyd", "w.npy", "--points", "p.csv", "-o", "m.csv", "--iterations", 1) == (
        "m.csv: sites, 3 after 1 iteration\n")
    np.testing.assert_allclose(table(fathom, "m.csv")[["x", "y"]].tolist(), np.reshape(expected, (3, 2)))
    fathom.ok("lloyd", "w.npy", "--points", "p.csv", "-o", "m.npy", "--iterations", 1, "--on-elements", "--quiet")
    assert np.load(fathom.directory / "m.npy").tolist() == [tuple(at) for at in np.round(expected).reshape(3, 2)]
    found = json.loads(fathom.ok("lloyd", "w.npy", "--points", "p.csv", "-o", "m.csv", "--supersample", 2, "--tolerance", 0.1,
                                 "--json"))
    assert found["sites"] == 3 and found["at_rest"] and found["iterations"] > 1


@pytest.mark.parametrize("options, message", [
    (["w.npy", "--points", "p.csv"], "no output was asked for; give -o FILE"),
    (["w.npy", "--points", "p.csv", "-o", "m.ply"], "-o takes the name of a .csv or .npy file, not 'm.ply'"),
    (["w.npy", "--points", "p.csv", "-o", "m.csv", "--supersample", "0"],
     "--supersample takes a whole number from 1 to 16, not '0'"),
    (["v.npy", "--points", "p.csv", "-o", "m.csv"],
     "p.csv has points with 2 coordinates; the weights have 3 axes"),
    (["w.npy", "--points", "p.csv", "-o", "m.csv", "--on-elements"],
     "site 1 has the coordinate 0.5; sites on elements have whole numbers"),
])
def test_lloyd_refuses(fathom, options, message):
    np.save(fathom.directory / "w.npy", np.ones((3, 4)))
    np.save(fathom.directory / "v.npy", np.ones((3, 4, 2)))
    (fathom.directory / "p.csv").write_text("x,y\n1,2\n0.5,1\n")
    assert fathom.refuses(2, "lloyd", *options) == message


@pytest.mark.parametrize("options, message", [
    (["-o", "r.npy", "--sites", "labels"],
     "the regions of sites cannot be those of labels; give another rule, such as nonzero"),
    (["-o", "r.npy", "--table", "t.txt"], None),
    (["-o", "r.npy", "--table", "-"], "--table takes the name of a .csv or .npy file, not '-'"),
    (["-o", "r.npy", "--edges", "t.ply"], "--edges takes the name of a .csv or .npy file, not 't.ply'"),
    (["-o", "r.npy", "--weights", "small.npy"],
     "--weights small.npy has the shape 2 × 2; it must be that of the sites, 30 × 40"),
    ([], "no output was asked for; give -o FILE"),
])
def test_refuses(seeds, options, message):
    np.save(seeds.directory / "small.npy", np.zeros((2, 2)))
    found = seeds.refuses(2, "voronoi", "seeds.png", *options)
    assert message is None or found == message
