"""fathom morphology, expand and fill: what they compute, write, say and refuse."""

import json

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

OPERATIONS = ["erosion", "dilation", "opening", "closing", "gradient", "white-top-hat", "black-top-hat", "remove-thin",
              "fill-thin"]


def near(mask, radius, spacing=(1, 1)):
    """Every element with one of the mask no farther than the radius."""
    places, every = np.argwhere(mask), np.indices(mask.shape).reshape(mask.ndim, -1).T
    steps = (every[:, None] - places[None]) * np.array(spacing)
    return ((steps**2).sum(-1) <= radius**2).any(1).reshape(mask.shape)


@pytest.fixture
def scene(fathom):
    random = np.random.default_rng(0)
    Image.fromarray((random.random((30, 40)) < 0.1).astype(np.uint8) * 255).save(fathom.directory / "m.png")
    labels = np.zeros((12, 30), np.uint8)
    labels[2:6, 2:6] = 7
    labels[2:6, 11:15] = 3
    Image.fromarray(labels).save(fathom.directory / "l.png")
    return fathom


def load(scene, name):
    path = scene.directory / name
    return np.load(path) if name.endswith(".npy") else np.array(Image.open(path))


def test_closing(scene):
    mask = load(scene, "m.png") != 0
    expected = ~near(~near(mask, 2.5), 2.5)
    said = scene.ok("morphology", "closing", "m.png", "-o", "c.png", "--radius", "2.5")
    assert said == f"c.png: closing, bool, 30 × 40, {expected.sum()} of 1200 elements, {mask.sum()} before\n"
    np.testing.assert_array_equal(load(scene, "c.png"), expected)


def test_all_operations(scene):
    mask = near(load(scene, "m.png") != 0, 1.5)
    np.save(scene.directory / "m.npy", mask)
    results = {}
    for operation in OPERATIONS:
        size = "--thickness" if operation.endswith("thin") else "--radius"
        scene.ok("morphology", operation, "m.npy", "-o", "o.npy", size, "2", "--quiet")
        results[operation] = load(scene, "o.npy")
    expected = {
        "dilation": near(mask, 2),
        "erosion": ~near(~mask, 2),
        "opening": near(~near(~mask, 2), 2),
        "closing": ~near(~near(mask, 2), 2),
        "gradient": near(mask, 2) & near(~mask, 2),
        "white-top-hat": mask & ~results["opening"],
        "black-top-hat": results["closing"] & ~mask,
        "remove-thin": near(~near(~mask, 0.99), 0.99),
        "fill-thin": ~near(~near(mask, 0.99), 0.99),
    }
    for operation, result in results.items():
        np.testing.assert_array_equal(result, expected[operation], operation)


def test_border_spacing_and_threshold(scene):
    values = np.random.default_rng(1).random((20, 25)).astype(np.float32)
    nibabel.save(nibabel.Nifti1Image(values, np.diag([2, 0.5, 1, 1])), scene.directory / "v.nii")
    scene.ok("morphology", "dilation", "v.nii", "-o", "d.npy", "--threshold", "0.95", "--radius", "2", "--quiet")
    np.testing.assert_array_equal(load(scene, "d.npy"), near(values.T >= np.float32(0.95), 2, (0.5, 2)))
    found = [scene.ok("morphology", "closing", "m.png", "-o", f"{border}.npy", "--radius", "4", "--border", border,
                      "--quiet") or load(scene, f"{border}.npy") for border in ("ignore", "pad", "background")]
    assert (found[0] >= found[1]).all() and (found[1] >= found[2]).all() and found[0].sum() > found[2].sum()


def test_elements_without_data_are_not_of_the_object(scene):
    values = np.full((5, 9), 4, np.uint8)
    values[2, 4], values[0, 0] = 255, 0
    np.save(scene.directory / "v.npy", values)
    for threshold in ([], ["--threshold", "3"]):
        scene.ok("morphology", "erosion", "v.npy", "-o", "e.npy", "--radius", "1", "--no-data", "255", *threshold)
        np.testing.assert_array_equal(load(scene, "e.npy"), ~near((values == 0) | (values == 255), 1))


def test_labels(scene):
    said = scene.ok("morphology", "dilation", "l.png", "-o", "g.png", "--labels", "--radius", "3")
    grown = load(scene, "g.png")
    assert said == f"g.png: dilation, uint8, 12 × 30, {np.count_nonzero(grown)} of 360 elements, 32 before\n"
    assert grown[3, 5:12].tolist() == [7, 7, 7, 3, 3, 3, 3]


def test_plan_and_json(scene):
    arguments = ["morphology", "closing", "m.png", "-o", "c.npy", "--radius", "2"]
    before = scene.files()
    assert scene.ok(*arguments, "--plan").splitlines()[:6] == [
        "read     m.png: png, uint8, 30 × 40",
        "operation closing",
        "radius   2",
        "border   ignore",
        "labels   false",
        "write    c.npy: closing, npy, bool, 30 × 40",
    ]
    plan = json.loads(scene.ok(*arguments, "--plan", "--json"))
    assert scene.files() == before
    said = json.loads(scene.ok(*arguments, "--json"))
    assert plan["outputs"] == said["outputs"] and plan["settings"] == said["settings"]
    assert said["elements"]["after"] == load(scene, "c.npy").sum() and said["backend"] == "cpu"
    assert said["scratch_bytes"] <= plan["bytes"]["scratch"]


def test_batches(scene):
    stack = np.random.default_rng(2).random((3, 20, 20)) < 0.1
    tifffile.imwrite(scene.directory / "s.tif", stack.astype(np.uint8), imagej=True, metadata={"axes": "TYX"})
    said = scene.ok("morphology", "dilation", "s.tif", "-o", "o.tif", "--radius", "2", "--threads", "1")
    assert said.startswith("s.tif: arrays along t, each by itself\n")
    np.testing.assert_array_equal(tifffile.imread(scene.directory / "o.tif") != 0, [near(one, 2) for one in stack])


def test_expand(scene):
    labels = load(scene, "l.png")
    said = scene.ok("expand", "l.png", "-o", "e.png", "--max-distance", "3", "--distance", "d.npy", "--direction", "w.npy")
    assert said.splitlines()[1:] == ["d.npy: distance, float32, 12 × 30", "w.npy: direction, float32, 12 × 30"]
    grown, distance, direction = (load(scene, name) for name in ("e.png", "d.npy", "w.npy"))
    np.testing.assert_array_equal(grown != 0, near(labels != 0, 3))
    np.testing.assert_array_equal(np.isfinite(distance), grown != 0)
    assert direction[3, 8] == 270 and direction[3, 10] == 90 and direction[3, 3] == 0 and np.isnan(direction[11, 29])
    scene.ok("expand", "l.png", "-o", "t.png", "--ties", "lowest", "--distance", "d.npy", "--quiet")
    assert grown[3, 8] == 7 and load(scene, "t.png")[3, 8] == 3 and (load(scene, "t.png") != 0).all()


def test_fill(scene):
    heights = np.arange(60, dtype=np.float32).reshape(6, 10)
    heights[2:4, 3:7] = np.nan
    np.save(scene.directory / "h.npy", heights)
    assert scene.ok("fill", "h.npy", "-o", "f.npy") == "f.npy: values, float32, 6 × 10, 8 of 8 gaps filled\n"
    filled = load(scene, "f.npy")
    assert filled[2, 4] == heights[1, 4] and (filled == heights)[~np.isnan(heights)].all()
    counts = np.array([[5, -1, -1, -1, 9]], np.int16)
    np.save(scene.directory / "c.npy", counts)
    assert scene.ok("fill", "c.npy", "-o", "g.npy", "--no-data", "-1", "--max-distance", "1").endswith("2 of 3 gaps filled\n")
    assert load(scene, "g.npy").tolist() == [[5, 5, -1, 9, 9]]


def test_fill_takes_nan_and_the_value_for_gaps(scene):
    heights = np.array([[5, np.nan, -9999, -9999, np.nan, 9, 7]])
    np.save(scene.directory / "h.npy", heights)
    assert scene.ok("fill", "h.npy", "-o", "f.npy", "--no-data", "-9999").endswith("4 of 4 gaps filled\n")
    assert load(scene, "f.npy").tolist() == [[5, 5, 5, 9, 9, 9, 7]]
    assert scene.ok("fill", "h.npy", "-o", "f.npy", "--no-data", "-9999", "--max-distance", "1").endswith(
        "2 of 4 gaps filled\n")
    assert load(scene, "f.npy").tolist() == [[5, 5, -9999, -9999, 9, 9, 7]]
    several = np.random.default_rng(1).choice([1.5, 2.5, np.nan, -1], (5, 3, 8)).astype(np.float32)
    np.save(scene.directory / "s.npy", several)
    np.save(scene.directory / "t.npy", np.moveaxis(several, 1, 0))
    for max_distance in ("1", "inf"):
        gaps = ["--no-data", "-1", "--max-distance", max_distance, "--quiet"]
        scene.ok("fill", "s.npy", "-o", "a.npy", "--axes", "ytx", *gaps)
        scene.ok("fill", "t.npy", "-o", "b.npy", "--axes", "tyx", *gaps)
        np.testing.assert_array_equal(load(scene, "a.npy"), np.moveaxis(load(scene, "b.npy"), 0, 1))
        assert ((load(scene, "a.npy") == -1) | np.isnan(load(scene, "a.npy"))).any() == (max_distance == "1")


def test_memory_is_what_arrays_take(scene):
    np.save(scene.directory / "h.npy", np.zeros((20, 30), np.float32))

    def arrays(verb, *options):
        return json.loads(scene.ok(*verb.split(), "h.npy", *options, "--plan", "--json"))["bytes"]["arrays"] / 600

    assert arrays("fill", "-o", "f.npy") == 4 + 4
    assert arrays("fill", "-o", "f.npy", "--no-data", "-1", "--distance", "d.npy") == 4 + 4 + 4 + 1  # and a mask
    assert arrays("expand", "-o", "f.npy", "--no-data", "-1") == 4 + 4 + 4 + 1  # and a copy without them
    assert arrays("morphology closing", "-o", "m.npy", "--radius", "2", "--threshold", "1") == 4 + 1 + 1
    assert arrays("medial-axis", "--balls", "b.npy") == 4 + 1 + 1 + 4  # axis and nearest are made, too
    assert arrays("medial-axis", "--preview", "c.png") == 4 + 1 + 4 + 4  # distances, and those on the axis


def test_charts(scene):
    for arguments in (["morphology", "closing", "m.png", "--radius", "2"], ["fill", "m.png", "--no-data", "0"],
                      ["morphology", "gradient", "l.png", "--radius", "2", "--labels"], ["expand", "l.png"]):
        assert scene.ok(*arguments, "--preview", "chart.png") == "chart.png: chart\n"
        assert Image.open(scene.directory / "chart.png").size[0] > 300
        (scene.directory / "chart.png").unlink()


def test_nothing_of_an_empty_map(scene):
    np.save(scene.directory / "e.npy", np.zeros((0, 4), np.float32))
    scene.ok("expand", "e.npy", "-o", "r.npy", "--distance", "d.npy", "--direction", "w.npy", "--quiet")
    assert scene.ok("fill", "e.npy", "-o", "r.npy") == "r.npy: values, float32, 0 × 4, 0 of 0 gaps filled\n"


@pytest.mark.parametrize("arguments, message", [
    (["morphology", "blur", "m.png", "-o", "o.png", "--radius", "1"],
     "OP takes erosion, dilation, opening, closing, gradient, white-top-hat, black-top-hat, remove-thin or fill-thin, not "
     "'blur'"),
    (["morphology", "closing", "m.png", "-o", "o.png"], "closing takes --radius, and not --thickness"),
    (["morphology", "fill-thin", "m.png", "-o", "o.png", "--radius", "2"], "fill-thin takes --thickness, and not --radius"),
    (["morphology", "closing", "m.png", "--radius", "1"], "no output was asked for; give -o FILE"),
    (["morphology", "closing", "m.png", "-o", "o.png", "--radius", "-1"],
     "--radius takes a number that is at least 0, not '-1'"),
    (["morphology", "closing", "m.png", "-o", "o.png", "--radius", "1", "--border", "open"],
     "--border takes ignore, pad or background, not 'open'"),
    (["morphology", "closing", "m.png", "-o", "o.png", "--radius", "1", "--labels", "--threshold", "3"],
     "--threshold makes a mask, which has no labels; leave out --labels"),
    (["morphology", "closing", "m.png", "-o", "o.npy", "--radius", "1", "--spacing", "1,2,3"],
     "--spacing has 3 values, but the shape 30 × 40 has 2 axes; give one for all axes or one per axis"),
    (["expand", "l.png", "-o", "o.png", "--ties", "last"], "--ties takes first or lowest, not 'last'"),
    (["expand", "l.png", "-o", "o.png", "--ties", "lowest", "--direction", "d.npy"],
     "--ties lowest is for the Euclidean metric and open borders, without --direction; leave these out"),
    (["expand", "l.png"], "no output was asked for; give -o FILE or --distance FILE or --direction FILE"),
    (["expand", "l.png", "-o", "o.png", "--distance", "o.png"],
     "-o and --distance name the same file 'o.png'; give each its own"),
    (["fill", "l.png", "-o", "o.png", "--no-data", "none"],
     "--no-data none takes all elements for values, and leaves nothing to fill; leave it out"),
    (["fill", "l.png", "-o", "o.png", "--no-data", "0.5"], "--no-data 0.5: l.png holds uint8, which has no such value"),
    (["fill", "l.png", "-o", "o.png"], "l.png holds uint8, which has no NaN, and states no no-data value; --no-data gives one"),
])
def test_refuses(scene, arguments, message):
    assert scene.refuses(2, *arguments) == message


def test_refuses_values_that_a_file_would_change(scene):
    np.save(scene.directory / "w.npy", np.zeros((4, 5), np.int32))
    assert (scene.refuses(2, "expand", "w.npy", "-o", "o.png")
            == "o.png: a PNG cannot hold values of int32 as they are; use .npy, .tif or .nii")
    Image.new("RGB", (4, 5)).save(scene.directory / "rgb.png")
    assert (scene.refuses(2, "expand", "rgb.png", "-o", "o.npy")
            == "rgb.png holds colours, which are no values to carry; --channel takes one channel")


def test_memory(scene):
    refusal = scene.refuses(2, "morphology", "closing", "m.png", "-o", "o.png", "--radius", "2", "--memory", "5KB")
    assert refusal.startswith("--memory 5000B is too small: input and outputs need 2400B, scratch ")
    enough = refusal.split("; ")[1].removesuffix(" works")
    scene.ok("morphology", "closing", "m.png", "-o", "o.png", "--radius", "2", "--memory", enough)
