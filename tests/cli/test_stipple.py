"""fathom stipple: the dots of a photo as SVG, PNG and tables; the same for a seed; what it refuses."""

import json
import re

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def photo(fathom):
    """A light half on the left and a dark one on the right, below a white stripe."""
    tones = np.full((60, 80), 230, np.uint8)
    tones[:, 40:] = 40
    tones[:10] = 255
    Image.fromarray(tones).save(fathom.directory / "photo.png")
    return fathom


def dots(fathom, name="dots.csv"):
    return np.loadtxt(fathom.directory / name, delimiter=",", skiprows=1)


def test_table(photo):
    assert photo.ok("stipple", "photo.png", "-o", "dots.csv", "--dots", 200, "--iterations", 1) == (
        "dots.csv: 200 dots after 1 iteration\n"
    )
    assert (photo.directory / "dots.csv").read_text().splitlines()[0] == "x,y,radius"
    x, y, radius = dots(photo).T
    assert len(x) == 200 and (y > 10).all() and (y < 60).all() and (x > 0).all() and (x < 80).all()
    assert 155 < (x > 40).sum() < 185  # of the ink 215/240 are there
    ink = 255 - np.array(Image.open(photo.directory / "photo.png"), float)
    np.testing.assert_allclose(np.pi * (radius**2).sum(), ink.sum() / 255, rtol=1e-4)


def test_the_seed_says_which(photo):
    for name, seed, threads in (("a.csv", 3, 1), ("b.csv", 3, 2), ("c.csv", 4, 1)):
        photo.ok("stipple", "photo.png", "-o", name, "--dots", 50, "--seed", seed, "--threads", threads, "--quiet")
    files = [(photo.directory / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv")]
    assert files[0] == files[1] != files[2]


def test_svg_and_npy_have_the_dots_of_the_table(photo):
    for name in ("dots.csv", "dots.svg", "dots.npy"):
        photo.ok("stipple", "photo.png", "-o", name, "--dots", 30, "--dot-size", 0.5, "--quiet")
    text = (photo.directory / "dots.svg").read_text()
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60" viewBox="0 0 80 60">\n')
    assert '<rect width="100%" height="100%" fill="#ffffff"/>' in text and text.count('fill="#000000"') == 1
    circles = np.array(re.findall(r'<circle cx="([0-9.]+)" cy="([0-9.]+)" r="([0-9.]+)"/>', text), float)
    np.testing.assert_allclose(circles, dots(photo), atol=0.0006)
    table = np.load(photo.directory / "dots.npy")
    np.testing.assert_array_equal(np.column_stack([table[name] for name in ("x", "y", "radius")]), dots(photo))


def test_png_is_as_dark_as_the_photo(photo):
    photo.ok("stipple", "photo.png", "-o", "dots.png", "--dots", 100, "--zoom", 3, "--quiet")
    picture = np.array(Image.open(photo.directory / "dots.png").convert("L"), float)
    assert picture.shape == (180, 240)
    assert (picture[:24] == 255).all()
    ink = 1 - np.array(Image.open(photo.directory / "photo.png"), float).mean() / 255
    assert 1 - picture.mean() / 255 == pytest.approx(ink, rel=0.15)  # dots of dark regions overlap
    assert len(np.unique(picture)) > 50  # antialiased


def test_colours(photo):
    photo.ok("stipple", "photo.png", "-o", "a.png", "--dots", 40, "--ink", "#ff0000", "--paper", "none", "--quiet")
    pixels = np.array(Image.open(photo.directory / "a.png"))
    assert pixels.shape == (120, 160, 4) and (pixels[0, 0] == 0).all()
    assert [255, 0, 0, 255] in pixels.reshape(-1, 4).tolist()
    photo.ok("stipple", "photo.png", "-o", "b.png", "--dots", 40, "--invert", "--quiet")
    pixels = np.array(Image.open(photo.directory / "b.png").convert("L"))
    assert pixels[20:, 90:].mean() < 60 < 150 < pixels[20:, :70].mean()


def test_a_photo_in_colours_needs_no_word(fathom):
    Image.fromarray(np.full((20, 20, 3), [90, 10, 200], np.uint8)).save(fathom.directory / "rgb.png")
    assert "5 dots" in fathom.ok("stipple", "rgb.png", "-o", "dots.svg", "--dots", 5)


def test_json_and_plan(photo):
    found = json.loads(photo.ok("stipple", "photo.png", "-o", "d.svg", "--dots", 50, "--json", "--threads", 1))
    assert found["operation"] == "stipple" and found["dots"] == 50 and found["threads"] == 1
    assert 1 <= found["iterations"] <= 100 and found["settings"] == {"dots": 50, "seed": 0}
    before = photo.files()
    plan = photo.ok("stipple", "photo.png", "-o", "e.svg", "--dots", 50, "--gamma", 2, "--plan")
    assert re.sub(r"\d+(K|M)?i?B", "…", plan).splitlines() == [
        "read     photo.png: png, uint8, 60 × 80",
        "dots     50",
        "seed     0",
        "gamma    2",
        "write    e.svg: 50 dots",
        "memory   … for arrays, … of scratch (at least …)",
    ]
    assert photo.files() == before


@pytest.mark.parametrize("options, message", [
    (["-o", "dots.jpg"], "-o takes a name ending in .svg, .png, .csv or .npy, not 'dots.jpg'"),
    ([], "no output was asked for; give -o FILE.svg, .png, .csv or .npy"),
    (["-o", "d.svg", "--dots", "0"], "--dots takes a whole number from 1 to 2147483647, not '0'"),
    (["-o", "d.svg", "--gamma", "0"], "--gamma takes a number above 0, not '0'"),
    (["-o", "d.svg", "--ink", "red"], "--ink takes a colour such as #1c2b33, not 'red'"),
    (["-o", "d.png", "--zoom", "1000"],
     "a PNG of 80000 pixels is too large; give a --zoom of at most 410, or an SVG"),
    (["-o", "d.svg", "--dots", "100000"],
     "100000 dots are more than the 64000 pixels with ink; give fewer, or a larger supersample"),
])
def test_refuses(photo, options, message):
    assert photo.refuses(2, "stipple", "photo.png", *options) == message


def test_refuses_what_leaves_nothing_to_draw(fathom):
    np.save(fathom.directory / "white.npy", np.ones((4, 4), np.float32))
    np.save(fathom.directory / "volume.npy", np.zeros((4, 4, 4), np.float32))
    assert fathom.refuses(2, "stipple", "white.npy", "-o", "d.svg") == (
        "the image is white all over, and leaves nothing to draw"
    )
    assert fathom.refuses(2, "stipple", "volume.npy", "-o", "d.svg") == (
        "volume.npy has the shape 4 × 4 × 4; stippling takes one image of height and width"
    )
