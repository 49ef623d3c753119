"""Colours, palettes, opacity."""

import nibabel
import numpy as np
import pytest
import tifffile
from meaning import RANDOM, distance, mask
from PIL import Image
from scipy import ndimage


def test_palettes_are_indices(fathom):
    a = RANDOM.integers(0, 20, (15, 16)).astype(np.uint8)
    image = Image.fromarray(a, "P")
    colours = RANDOM.integers(0, 255, 60).tolist()
    colours[3:6] = [0, 0, 0]  # index 1 is drawn black
    image.putpalette(colours)
    image.save(fathom.directory / "a.png")
    image.save(fathom.directory / "a.tif")
    np.save(fathom.directory / "a.npy", a)
    expected = {rule: distance(fathom, "a.npy", "--sites", rule) for rule in ("zero", "labels", "==16")}
    for name in ("a.png", "a.tif"):
        for rule, field in expected.items():
            assert np.array_equal(distance(fathom, name, "--sites", rule), field)


def test_colours_are_whole(fathom):
    palette = np.array([[0, 0, 0], [76, 0, 0], [0, 0, 200], [0, 0, 1], [0, 0, 2]], np.uint8)
    labels = RANDOM.integers(0, 5, (15, 16))
    rgb = palette[labels]
    np.save(fathom.directory / "labels.npy", labels.astype(np.uint8))
    Image.fromarray(rgb).save(fathom.directory / "a.png")
    tifffile.imwrite(fathom.directory / "a.tif", rgb, photometric="rgb", metadata=None)
    tifffile.imwrite(fathom.directory / "b.tif", rgb.astype(np.uint16) * 257, photometric="rgb", metadata=None)
    structured = rgb.view([("R", "u1"), ("G", "u1"), ("B", "u1")])[..., 0]
    nibabel.save(nibabel.Nifti1Image(structured[..., None].transpose(1, 0, 2), np.eye(4)), fathom.directory / "a.nii")
    for rule in ("zero", "labels", "nonzero"):
        expected = distance(fathom, "labels.npy", "--sites", rule)
        for name in ("a.png", "a.tif", "b.tif", "a.nii"):
            assert np.array_equal(distance(fathom, name, "--sites", rule, "--quiet"), expected), (name, rule)
    told = "a.png holds colours: their luminance is taken, and not one channel (red, green, blue)"
    distance(fathom, "a.png", "--sites", ">=20", warnings=[told])
    blue = distance(fathom, "a.png", "--sites", ">=100", "--channel", "blue")
    assert np.array_equal(blue, distance(fathom, "labels.npy", "--sites", "==2"))


def test_alpha(fathom):
    a = np.zeros((9, 8, 4), np.uint8)
    a[..., 3] = mask(9, 8) * 255
    Image.fromarray(a).save(fathom.directory / "a.png")
    told = "a.png holds opacity, which is left out; the channel alpha is it alone"
    distance(fathom, "a.png", warnings=[told])
    got = distance(fathom, "a.png", "--channel", "alpha")
    assert np.allclose(got, ndimage.distance_transform_edt(a[..., 3]))
    assert fathom.refuses(3, "distance", "a.png", "-o", "x.npy", "--channel", "cyan") == (
        "a.png has no channel 'cyan'; its pixels have 0 to 3, red, green, blue, alpha")


@pytest.mark.parametrize("bits", [4, 8])
def test_palettes_are_told(fathom, bits):
    a = RANDOM.integers(0, 16, (15, 16)).astype(np.uint8)
    colours = RANDOM.integers(0, 65536, (3, 256)).astype(np.uint16)
    tifffile.imwrite(fathom.directory / "a.tif", a, photometric="palette", colormap=colours)
    assert "palette  256 colours; elements are indices\n" in fathom("info", "a.tif").text
    image = Image.fromarray(a, "P")
    image.putpalette(RANDOM.integers(0, 255, 48).tolist())
    image.save(fathom.directory / "a.png", bits=bits)
    assert "palette  16 colours; elements are indices\n" in fathom("info", "a.png").text


def test_transparent_colours(fathom):
    a = RANDOM.integers(0, 3, (9, 8)).astype(np.uint8)
    told = "holds colours that are transparent (tRNS), which is left out"
    image = Image.fromarray(a, "P")
    image.putpalette([0, 0, 0, 9, 9, 9, 200, 0, 0])
    for name, kind, transparency, expected in [("p", image, 1, [told]), ("o", image, b"\xff\xff\xff", []),
                                               ("l", Image.fromarray(a), 2, [told]),
                                               ("rgb", Image.fromarray(np.dstack([a] * 3)), (1, 1, 1), [told])]:
        kind.save(fathom.directory / f"{name}.png", transparency=transparency)
        got = distance(fathom, f"{name}.png", warnings=[f"{name}.png {line}" for line in expected])
        assert np.array_equal(got, ndimage.distance_transform_edt(a).astype(np.float32))
    distance(fathom, "rgb.png", "--channel", "red")
