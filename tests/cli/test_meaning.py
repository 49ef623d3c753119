"""What files say of their arrays is used, kept, or told; and what the command says of them wins."""

import gzip
import json

import numpy as np
import pytest
import tifffile
from meaning import distance, info, mask, per_plane
from PIL import Image
from scipy import ndimage


def test_axes_and_ndim(fathom):
    a = mask(3, 9, 8)
    np.save(fathom.directory / "a.npy", a)
    np.save(fathom.directory / "last.npy", np.moveaxis(a, 0, 2))
    apart = per_plane(a, [0])
    assert np.allclose(distance(fathom, "a.npy", "--ndim", "2"), apart)
    assert np.allclose(distance(fathom, "a.npy", "--axes", "cyx", "--quiet"), apart)
    assert np.allclose(distance(fathom, "last.npy", "--axes", "yxc", "--quiet"), np.moveaxis(apart, 0, 2))
    assert np.allclose(distance(fathom, "last.npy", "--axes", "yxc", "--channel", "1", "--quiet"), apart[1])
    field = distance(fathom, "last.npy", "--axes", "yxc", "--spacing", "2,3", "--region", "2:9,0:5", "--quiet")
    assert np.allclose(field, np.moveaxis(per_plane(a, [0], (2, 3)), 0, 2)[2:9, :5], rtol=1e-6)
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--axes", "yx") == (
        "--axes yx names 2 axes, but a.npy has 3, 3 × 9 × 8")
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--axes", "yyx") == "--axes yyx names the axis y twice"
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--channel", "1") == (
        "--channel 1: a.npy has no channels; --axes says which axis counts them")
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--axes", "zyx", "--spacing", "1,2").startswith(
        "--spacing has 2 values, but the shape 3 × 9 × 8 has 3 axes")


def test_nearest_and_coordinates_of_a_batch(fathom):
    a = mask(9, 8, 3)
    a[0, 0] = 0
    np.save(fathom.directory / "a.npy", a)
    distance(fathom, "a.npy", "--axes", "yxc", "--nearest", "n.npy", "--coordinates", "c.npy", "--quiet")
    nearest, coordinates = np.load(fathom.directory / "n.npy"), np.load(fathom.directory / "c.npy")
    assert nearest.shape == (9, 8, 3) and coordinates.shape == (2, 9, 8, 3)
    assert np.array_equal(nearest, coordinates[0] * 8 + coordinates[1])
    for c in range(3):
        assert (a[coordinates[0, ..., c], coordinates[1, ..., c], c] == 0).all()


def test_a_channel_is_counted_alone(fathom):
    a = np.arange(2 * 3 * 4 * 5, dtype=np.uint8).reshape(2, 3, 4, 5)  # z, c, y, x
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, metadata={"axes": "ZCYX"})
    line = json.loads(fathom("info", "a.tif", "--channel", "1", "--json").out)
    assert (line["min"], line["max"], line["elements"]) == (20, 99, 40)
    bands = np.moveaxis(mask(9, 8, 3), 2, 0)
    tifffile.imwrite(fathom.directory / "b.tif", bands, photometric="minisblack", planarconfig="separate", metadata=None)
    got = distance(fathom, "b.tif", "--channel", "2")
    assert np.allclose(got, ndimage.distance_transform_edt(bands[2]))


def test_metaimage_keeps_numbers(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(9, 8), imagej=True, resolution=(0.5, 0.5), metadata={"unit": "nm"})
    distance(fathom, "a.tif", out="out.mha", warnings=["out.mha: MetaImage does not hold what the input says: unit (nm)"])
    assert info(fathom, "out.mha")["spacing"] == [2, 2]


def test_print_resolution_only_when_asked(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(9, 8), resolution=(254, 127), resolutionunit="INCH", metadata=None)
    Image.fromarray(mask(9, 8)).save(fathom.directory / "a.png", dpi=(254, 254))
    for name in ("a.tif", "a.png"):
        assert info(fathom, name)["spacing"] is None
    outcome = fathom("distance", "a.tif", "-o", "o.tif", "--spacing", "print", "--json")
    assert json.loads(outcome.out)["input"]["spacing"] == pytest.approx([0.2, 0.1])
    outcome = fathom("distance", "a.png", "-o", "o.tif", "--spacing", "print", "--json")
    assert json.loads(outcome.out)["input"]["spacing"] == pytest.approx([0.1, 0.1])
    tifffile.imwrite(fathom.directory / "b.tif", mask(9, 8), metadata=None)
    assert fathom.refuses(3, "distance", "b.tif", "-o", "o.npy", "--spacing", "print") == (
        "b.tif states no resolution per inch or centimetre; give the spacing in numbers")


def test_axes_that_are_said_are_not_guessed(fathom):
    a = mask(3, 4, 9, 8)
    told = "has more than three axes of space: the slowest are taken for time, not measured along"
    for name, header in (("a.mha", "ObjectType = Image\nNDims = 4\nDimSize = 8 9 4 3\nElementType = MET_UCHAR\n"
                                   "ElementDataFile = LOCAL\n"),
                         ("a.nrrd", "NRRD0004\ntype: uint8\ndimension: 4\nsizes: 8 9 4 3\nencoding: raw\n\n")):
        (fathom.directory / name).write_bytes(header.encode() + a.tobytes())
        apart = distance(fathom, name, warnings=[
            f"{name} {told}", "out.npy: NPY does not hold what the input says: names of axes (tzyx)"])
        assert np.allclose(apart, per_plane(a, [0]))
        whole = distance(fathom, name, "--ndim", "4", warnings=[
            "out.npy: NPY does not hold what the input says: names of axes (tzyx)"])
        assert np.allclose(whole, ndimage.distance_transform_edt(a))
        fathom.ok("info", name, "--axes", "wzyx")
    tifffile.imwrite(fathom.directory / "a.tif", a[0], imagej=True, metadata={"spacing": 1.5})
    fathom.ok("info", "a.tif", "--axes", "cyx")


@pytest.mark.parametrize("name", ["a.npy", "a.tif", "a.png", "a.nii", "a.nrrd", "a.mha"])
def test_gzip_around_any_format(fathom, name):
    np.save(fathom.directory / "m.npy", mask(9, 8))
    distance(fathom, "m.npy", out=name)
    data = (fathom.directory / name).read_bytes()
    (fathom.directory / "z.gz").write_bytes(gzip.compress(data))
    assert fathom.ok("compare", name, "z.gz") == f"equal: 9 × 8, {'uint16' if name == 'a.png' else 'float32'}\n"
    assert fathom("info", "-", stdin=gzip.compress(data)).text.splitlines()[1:] == fathom("info", name).text.splitlines()[1:]
    (fathom.directory / "cut.gz").write_bytes(gzip.compress(data)[:-9])
    assert fathom.refuses(3, "info", "cut.gz") == "cut.gz is truncated: its gzip stream does not end"
    (fathom.directory / "twice.gz").write_bytes(gzip.compress(gzip.compress(data)))
    assert fathom.refuses(3, "info", "twice.gz").startswith("twice.gz looks like gzip within gzip (undo one of them); NPY, ")
    (fathom.directory / "text.gz").write_bytes(gzip.compress(b"no image"))
    assert fathom.refuses(3, "info", "text.gz").startswith("text.gz is no image or array that is known; NPY, ")


def test_errors_come_alone(fathom):
    """Nothing is told of outputs that are not written."""
    tifffile.imwrite(fathom.directory / "a.tif", mask(4, 9, 8), imagej=True, metadata={"axes": "CYX"})
    assert fathom.refuses(2, "distance", "a.tif", "-o", "x.npy", "--nearest", "n.png").startswith("--nearest: a PNG ")
    assert fathom.refuses(2, "distance", "a.tif", "-o", "x.npy", "--memory", "1").startswith("--memory ")
    assert fathom.refuses(3, "distance", "a.tif", "-o", "none/x.npy").startswith("none/x.npy ")
    a = np.zeros((9, 8, 4), np.uint8)
    Image.fromarray(a).save(fathom.directory / "a.png")
    data = (fathom.directory / "a.png").read_bytes()
    (fathom.directory / "a.png").write_bytes(data[:-30])
    for verb in (["distance", "a.png", "-o", "x.npy"], ["info", "a.png"]):
        assert "truncated" in fathom.refuses(3, *verb)
