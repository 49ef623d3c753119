"""GeoTIFF: spacing, reference, values that stand for no data."""

import json

import numpy as np
import pytest
import tifffile
from meaning import RANDOM, distance, info, mask
from scipy import ndimage

KEYS_UTM = (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633)
KEYS_DEGREES = (1, 1, 0, 4, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326, 2054, 0, 1, 9102)


def geotiff(path, a, keys, scale=(10.0, 20.0), nodata=None):
    tags = [(33550, "d", 3, (*scale, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 500000.0, 4600000.0, 0.0), True),
            (34735, "H", len(keys), keys, True)]
    if nodata is not None:
        tags.append((42113, "s", len(nodata) + 1, nodata, True))
    tifffile.imwrite(path, a, metadata=None, extratags=tags)


def test_geotiff(fathom):
    a = mask(20, 30)
    geotiff(fathom.directory / "a.tif", a, KEYS_UTM)
    told = info(fathom, "a.tif")
    assert (told["spacing"], told["unit"], told["georeference"]) == ([20.0, 10.0], "m", "EPSG:32633")
    lost = ("out.npy: NPY does not hold what the input says: spacing (20, 10 m) and georeference (EPSG:32633)")
    got = distance(fathom, "a.tif", warnings=[lost])
    assert np.allclose(got, ndimage.distance_transform_edt(a, sampling=(20, 10)), rtol=1e-6)
    distance(fathom, "a.tif", "--region", "5:15,7:30", out="part.tif")
    with tifffile.TiffFile(fathom.directory / "part.tif") as file:
        tags = file.pages[0].tags
        assert tags[33922].value == (-7.0, -5.0, 0.0, 500000.0, 4600000.0, 0.0)
        assert tags[33550].value == (10.0, 20.0, 0.0)
        assert tuple(tags[34735].value) == KEYS_UTM


def test_degrees_are_told(fathom):
    geotiff(fathom.directory / "a.tif", mask(9, 8), KEYS_DEGREES, (0.1, 0.1))
    message = ("a.tif has its spacing in degrees (EPSG:4326): distances in degrees are not distances on the ground; "
               "reproject it, to metres")
    distance(fathom, "a.tif", out="out.tif", warnings=[message])
    assert fathom.refuses(3, "distance", "a.tif", "-o", "o.tif", "--strict") == (
        f"{message}; --strict makes this warning an error")


@pytest.mark.parametrize("sites", ["zero", "nonzero", "==1", ">=1"])
@pytest.mark.parametrize("signed", [False, True])
def test_no_data(fathom, sites, signed):
    a = (RANDOM.random((25, 31)) < 0.5).astype(np.uint8)
    gaps = RANDOM.random(a.shape) < 0.2
    a[gaps] = 255
    geotiff(fathom.directory / "a.tif", a, KEYS_UTM, (1, 1), "255")
    rule = a == 0 if sites == "zero" else a > 0
    option = ["--signed", "--surface", "centers"] if signed else []
    got = distance(fathom, "a.tif", "--sites", sites, *option, "--quiet")
    if signed:
        inside = (~rule if sites == "zero" else rule) & ~gaps
        expected = np.where(inside, -ndimage.distance_transform_edt(inside | gaps), ndimage.distance_transform_edt(~inside))
    else:
        expected = ndimage.distance_transform_edt(~(rule & ~gaps))
    assert np.allclose(got, expected)
    filled = distance(fathom, "a.tif", "--sites", sites, *option, "--use-input-nodata", "--quiet")
    assert np.array_equal(filled, np.where(gaps, np.float32(255), got))
    ignored = distance(fathom, "a.tif", "--sites", "zero", "--no-data", "none", "--quiet")
    assert np.allclose(ignored, ndimage.distance_transform_edt(a))
    part = distance(fathom, "a.tif", "--sites", sites, *option, "--region", "3:20,5:31", "--use-input-nodata", "--quiet")
    assert np.array_equal(part, filled[3:20, 5:31])


def test_no_data_nan_and_labels(fathom):
    a = RANDOM.integers(0, 3, (12, 13)).astype(np.float32)
    a[3:5, 2:9] = np.nan
    geotiff(fathom.directory / "a.tif", a, KEYS_UTM, (1, 1), "nan")
    got = distance(fathom, "a.tif", "--sites", "nonzero", "--quiet")
    assert np.allclose(got, ndimage.distance_transform_edt(~(a > 0)))
    distance(fathom, "a.tif", "--use-input-nodata", out="out.tif")
    with tifffile.TiffFile(fathom.directory / "out.tif") as file:
        assert file.pages[0].tags[42113].value == "nan"
        assert np.isnan(file.asarray()[3:5, 2:9]).all()
    assert fathom.refuses(2, "distance", "a.tif", "-o", "o.tif", "--sites", "labels") == (
        "--sites labels where elements hold no data: give --no-data none, and they are a label")


def test_no_data_is_no_site_and_no_index(fathom):
    a = np.ones((6, 7), np.uint8)
    a[2, 3] = 0
    geotiff(fathom.directory / "a.tif", a, KEYS_UTM, (1, 1), "0")
    outcome = fathom("distance", "a.tif", "-o", "o.tif", "--nearest", "n.tif", "--use-input-nodata", "--json")
    line = json.loads(outcome.out)
    assert (line["sites"]["count"], line["unreached"]) == (0, 41)  # of the gap the value is written
    assert outcome.err.decode() == "fathom: warning: no element is zero, so there is no site; --sites nonzero takes the others\n"
    with tifffile.TiffFile(fathom.directory / "n.tif") as file:
        assert 42113 not in file.pages[0].tags
    assert fathom.refuses(2, "distance", "a.tif", "-o", "o.tif", "--squared", "--spacing", "1", "--no-data", "nan",
                          "--use-input-nodata", "--quiet") == (
        "--no-data nan: a.tif holds uint8, which has no such value")


def test_spacing_in_place_of_a_georeference(fathom):
    geotiff(fathom.directory / "a.tif", mask(9, 8), KEYS_UTM, (30, 30))
    distance(fathom, "a.tif", "--spacing", "10", out="out.tif", warnings=[
        "a.tif: with another --spacing the georeference (EPSG:32633) is not kept"])
    told = info(fathom, "out.tif")
    assert (told["spacing"], told["unit"], told["georeference"]) == ([10, 10], "m", None)


@pytest.mark.parametrize("text", ["12abc", "0x10", "none at all"])
def test_no_data_that_is_no_number(fathom, text):
    geotiff(fathom.directory / "a.tif", mask(9, 8), KEYS_UTM, (1, 1), text)
    distance(fathom, "a.tif", out="out.tif", warnings=[
        f"a.tif names a no-data value that is no number ({text}): it is left out"])
    geotiff(fathom.directory / "b.tif", mask(9, 8), KEYS_UTM, (1, 1), " -9999.0 ")
    assert info(fathom, "b.tif")["no_data"] == "-9999.0"


@pytest.mark.parametrize("value", ["-9999", "99", "inf"])
@pytest.mark.parametrize("squared", [False, True])
def test_ranges_leave_out_what_is_filled(fathom, value, squared):
    a = mask(9, 8).astype(np.float32)
    gaps = np.zeros_like(a, bool)
    gaps[4:6, 2:5] = True
    np.save(fathom.directory / "a.npy", np.where(gaps, np.float32(value), a))
    if squared and value != "99":
        assert f"uint32 does not hold the no-data value {value}" in fathom.refuses(
            2, "distance", "a.npy", "-o", "x.tif", "--squared", "--no-data", value, "--use-input-nodata")
        return
    options = ["--no-data", value, "--use-input-nodata", "--region", "2:,1:", *(["--squared"] if squared else [])]
    line = json.loads(fathom.ok("distance", "a.npy", "-o", "out.tif", "--json", *options))
    field, gaps = ndimage.distance_transform_edt(np.where(gaps, 1, a))[2:, 1:], gaps[2:, 1:]
    known = (field ** (2 if squared else 1))[~gaps]
    assert (line["min"], line["max"], line["unreached"]) == (known.min(), pytest.approx(known.max()), 0)
    assert (tifffile.imread(fathom.directory / "out.tif")[gaps] == float(value)).all()
    assert fathom.ok("distance", "a.npy", "-o", "out.tif", *options).endswith(f", {known.min():.6g} to {known.max():.6g}\n")
