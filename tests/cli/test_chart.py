"""The chart of --preview: drawn for every kind of field, and showing it."""

import numpy as np
import pytest
from PIL import Image


def chart(fathom, a, *options):
    np.save(fathom.directory / "in.npy", a)
    fathom.ok("distance", "in.npy", "--preview", "chart.png", "--quiet", *options)
    return np.asarray(Image.open(fathom.directory / "chart.png").convert("RGB")).astype(int)


@pytest.mark.parametrize("shape", [(1,), (5000,), (1, 1), (20, 20), (3, 40000), (900, 2), (1200, 1700), (5, 30, 40),
                                   (2, 3, 9, 11), (0, 4), (0,)])
@pytest.mark.parametrize("options", [[], ["--signed"], ["--squared"], ["--max-distance", "1"]])
def test_every_shape(fathom, shape, options):
    a = (np.random.default_rng(5).random(shape) < 0.9).astype(np.uint8)
    image = chart(fathom, a, *options)
    assert 100 < image.shape[0] < 1600 and 400 < image.shape[1] < 2100
    assert (image[[0, -1]] == 255).all() and (image[:, [0, -1]] == 255).all()  # a margin all around
    assert (image < 100).any()  # and something in it


@pytest.mark.parametrize("rule", ["==9", "nonzero"])
def test_all_or_none(fathom, rule):
    chart(fathom, np.ones((30, 40), np.uint8), "--sites", rule)


def test_colours_follow_the_distance(fathom):
    """Brighter with the distance, on a field where that is known: to the left edge."""
    a = np.ones((400, 400), np.uint8)
    a[:, 0] = 0
    image = chart(fathom, a)
    row = image[image.shape[0] // 2]
    inside = row[150:500]
    brightness = np.median(inside.reshape(-1, 10, 3), axis=1) @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(brightness) > 0).all()


def test_drawn_alone_or_beside_the_field(fathom):
    a = np.eye(40, dtype=np.uint8)
    alone = chart(fathom, a)
    beside = chart(fathom, a, "-o", "out.npy")
    np.testing.assert_array_equal(alone, beside)
    assert (fathom.directory / "out.npy").exists()


def test_title_and_units_are_drawn(fathom):
    a = np.eye(40, dtype=np.uint8)
    plain = chart(fathom, a)
    titled = chart(fathom, a, "--title", "Distance to the coast")
    assert plain.shape == titled.shape and (plain != titled).any()
    assert not np.array_equal(chart(fathom, a, "--units", "µm"), plain)
    chart(fathom, a, "--title", "Ünïcode " * 100)  # shortened, not spilled


def test_deterministic(fathom):
    a = (np.random.default_rng(6).random((200, 300)) < 0.99).astype(np.uint8)
    np.testing.assert_array_equal(chart(fathom, a), chart(fathom, a))
