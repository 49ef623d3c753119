"""fathom sdf: textures of signed distance from icons and scans; what it refuses."""

import json

import numpy as np
import pytest
from PIL import Image, ImageDraw
from scipy import ndimage


def disc(size, centre, radius):
    """Coverage of a disc, 16 × 16 samples a pixel."""
    image = Image.new("L", (16 * size, 16 * size))
    ImageDraw.Draw(image).ellipse([16 * (centre - radius), 16 * (centre - radius),
                                   16 * (centre + radius) - 1, 16 * (centre + radius) - 1], fill=255)
    return image.resize((size, size), Image.BOX)


@pytest.fixture
def icon(fathom):
    """A disc of radius 12 as opacity, over colours that say nothing."""
    alpha = disc(32, 16, 12)
    rgba = Image.merge("RGBA", [Image.new("L", (32, 32), level) for level in (200, 30, 90)] + [alpha])
    rgba.save(fathom.directory / "icon.png")
    return fathom


def test_an_icon(icon):
    assert icon.ok("sdf", "icon.png", "-o", "sdf.png", "--size", "72x40", "--pad", 4, "--range", 6) == (
        "sdf.png: texture, uint8, 40 × 72\n"
    )
    texture = np.array(Image.open(icon.directory / "sdf.png"))
    assert texture.shape == (40, 72) and texture.dtype == np.uint8
    y, x = np.mgrid[:40, :72] + 0.5
    expected = 255 * np.clip(0.5 - (np.hypot(y - 20, x - 36) - 12) / 6, 0, 1)
    assert np.abs(texture - expected).max() < 255 / 6 * 0.1 + 0.5


def test_without_partial_coverage_it_is_exact(fathom):
    mask = np.random.default_rng(0).random((20, 30)) < 0.7
    Image.fromarray(mask).save(fathom.directory / "mask.png")
    fathom.ok("sdf", "mask.png", "-o", "sdf.npy", "--dtype", "float64", "--range", 2, "--quiet")
    fathom.ok("sdf", "mask.png", "-o", "padded.npy", "--dtype", "float64", "--range", 2, "--pad", 3, "--quiet")
    field = (0.5 - np.load(fathom.directory / "sdf.npy")) * 2
    np.testing.assert_array_equal(field < 0, mask)
    inside = np.pad(mask, 1)
    half = ndimage.distance_transform_edt(inside, sampling=1)[1:-1, 1:-1]
    flat = mask & ~ndimage.binary_erosion(mask, np.ones((3, 3)))
    np.testing.assert_allclose(-field[mask & (half == 1)], 0.5)
    assert (flat[mask] == (-field[mask] < 1)).all()
    padded = (0.5 - np.load(fathom.directory / "padded.npy")) * 2
    assert padded.shape == (26, 36)
    np.testing.assert_allclose(padded[3:-3, 3:-3], field)


def test_ink_on_paper(fathom):
    scan = Image.eval(disc(24, 12, 7), lambda level: 255 - level)
    scan.save(fathom.directory / "scan.png")
    found = json.loads(fathom.ok("sdf", "scan.png", "-o", "sdf.tif", "--invert", "--dtype", "float32", "--range", 1,
                                 "--preview", "chart.png", "--json"))
    assert found["settings"] == {"size": "24x24", "range": 1, "pad": 0, "coverage": "luminance", "invert": True}
    field = 0.5 - np.array(Image.open(fathom.directory / "sdf.tif"))
    y, x = np.mgrid[:24, :24] + 0.5
    assert np.abs(field - (np.hypot(y - 12, x - 12) - 7)).max() < 0.1
    assert Image.open(fathom.directory / "chart.png").format == "PNG"


def test_plan(icon):
    before = icon.files()
    lines = icon.ok("sdf", "icon.png", "-o", "sdf.png", "--pad", 2, "--plan").splitlines()
    assert lines[:6] == [
        "read     icon.png: png, uint8, 32 × 32",
        "size     36x36",
        "range    8",
        "pad      2",
        "coverage alpha",
        "write    sdf.png: texture, uint8, 36 × 36",
    ]
    assert icon.files() == before


@pytest.mark.parametrize("options, message", [
    (["-o", "s.png", "--range", "0"], "--range takes a number of texels above 0, not '0'"),
    (["-o", "s.png", "--pad", "-1"], "--pad takes a number of texels that is at least 0, not '-1'"),
    (["-o", "s.png", "--size", "64"], "--size takes WIDTHxHEIGHT, such as 640x480, not '64'"),
    (["-o", "s.png", "--dtype", "int8"], "--dtype of a texture is uint8, uint16, float32 or float64, not 'int8'"),
    (["-o", "s.png", "--dtype", "float32"], "a PNG holds no floats; write them to .tif or .npy, or use --dtype uint16"),
    (["-o", "s.png", "--size", "8x8", "--pad", "4"],
     "a padding of 4 texels leaves nothing of a texture of 8 × 8; give less, or a larger texture"),
    ([], "no output was asked for; give -o FILE"),
])
def test_refuses(icon, options, message):
    assert icon.refuses(2, "sdf", "icon.png", *options) == message
