"""fathom voronoi: regions, tables of sites and edges; what it refuses."""

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


@pytest.mark.parametrize("options, message", [
    (["-o", "r.npy", "--sites", "labels"],
     "the regions of sites cannot be those of labels; give another rule, such as nonzero"),
    (["-o", "r.npy", "--table", "t.txt"], None),
    (["-o", "r.npy", "--table", "-"], "--table takes the name of a .csv or .npy file, not standard output"),
    (["-o", "r.npy", "--weights", "small.npy"],
     "--weights small.npy has the shape 2 × 2; it must be that of the sites, 30 × 40"),
    ([], "no output was asked for; give -o FILE"),
])
def test_refuses(seeds, options, message):
    np.save(seeds.directory / "small.npy", np.zeros((2, 2)))
    found = seeds.refuses(2, "voronoi", "seeds.png", *options)
    assert message is None or found == message
