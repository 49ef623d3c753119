"""fathom medial-axis and fathom thickness: what they write, say, plan and refuse."""

import json

import numpy as np
import pytest
from PIL import Image

BAR = np.zeros((7, 12), np.uint8)
BAR[1:6, 1:11] = 1


@pytest.fixture
def bar(fathom):
    np.save(fathom.directory / "bar.npy", BAR)
    return fathom


def load(fathom, name):
    return np.load(fathom.directory / name)


def test_medial_axis(bar):
    text = bar.ok("medial-axis", "bar.npy", "-o", "axis.npy", "--distance", "d.npy", "--nearest", "n.npy",
                  "--witness", "w.npy", "--balls", "b.npy")
    assert text == (
        "axis.npy: medial axis, bool, 7 × 12, 14 of 50 elements\n"
        "d.npy: distance, float32, 7 × 12\n"
        "n.npy: nearest background, int32, 7 × 12\n"
        "w.npy: background on the other side, int32, 7 × 12\n"
        "b.npy: balls around the axis, bool, 7 × 12, 50 of 50 elements\n"
    )
    axis, nearest, witness = load(bar, "axis.npy"), load(bar, "n.npy"), load(bar, "w.npy")
    rows = ["".join(".#"[int(one)] for one in row) for row in axis[1:6]]
    assert rows == [".#........#.", "..#......#..", "...######...", "..#......#..", ".#........#."]
    assert load(bar, "d.npy")[3, 5] == 3 and nearest[3, 5] == 5 and witness[3, 5] == 6 * 12 + 5
    assert (witness[axis == 0] == -1).all()
    np.testing.assert_array_equal(load(bar, "b.npy"), BAR != 0)


def test_pruning_and_ties(bar):
    def count(*options):
        return json.loads(bar.ok("medial-axis", "bar.npy", "-o", "a.npy", "--json", *options))["axis"]

    assert count("--gamma", "4") < count() == 14
    assert count("--pruning", "linear", "--gamma", "1") > count("--pruning", "linear", "--gamma", "1.8")
    assert count("--pruning", "square-root") <= count()
    tall = np.zeros((9, 6), np.uint8)
    tall[:, 1:5] = 1
    np.save(bar.directory / "bar.npy", tall)
    assert (count(), count("--ties", "thin")) == (18, 9)


def test_thickness(fathom):
    np.save(fathom.directory / "line.npy", np.array([0, 1, 0, 1, 1, 1, 0], np.uint8))
    text = fathom.ok("thickness", "line.npy", "-o", "t.npy", "--distribution", "t.csv")
    assert text == (
        "t.npy: local thickness, float32, 7\n"
        "t.csv: distribution\n"
        "thickness of 4 elements: mean 3.5, standard deviation 0.866025, largest 4\n"
    )
    np.testing.assert_array_equal(load(fathom, "t.npy"), [0, 2, 0, 4, 4, 4, 0])
    assert (fathom.directory / "t.csv").read_text() == (
        "thickness,elements,size,share,share_at_least\n4,3,3,0.75,0.75\n2,1,1,0.25,1\n"
    )


def test_spacing_scales_thickness(bar):
    bar.ok("thickness", "bar.npy", "-o", "t.npy")
    half = ["-o", "half.npy", "--spacing", "0.5", "--dtype", "float64"]
    bar.ok("thickness", "bar.npy", *half, "--distribution", "t.csv")
    np.testing.assert_array_equal(load(bar, "half.npy"), load(bar, "t.npy") / 2)
    first = (bar.directory / "t.csv").read_text().splitlines()[1].split(",")
    assert float(first[0]) == 3 and float(first[2]) == int(first[1]) / 4


def test_porosimetry(fathom):
    pores = np.zeros((5, 7), np.uint8)
    pores[1:4, 2:5] = pores[2, :5] = 1
    np.save(fathom.directory / "pores.npy", pores)
    text = fathom.ok("thickness", "pores.npy", "-o", "p.npy", "--inlets", "faces")
    assert text.startswith("p.npy: porosimetry, float32, 5 × 7\n")
    assert load(fathom, "p.npy").max() == 2
    inside = np.zeros_like(pores)
    inside[2, 3] = 1
    np.save(fathom.directory / "inlets.npy", inside)
    fathom.ok("thickness", "pores.npy", "-o", "p.npy", "--inlets", "inlets.npy")
    fathom.ok("thickness", "pores.npy", "-o", "t.npy")
    np.testing.assert_array_equal(load(fathom, "p.npy"), load(fathom, "t.npy"))
    np.save(fathom.directory / "inlets.npy", inside[1:])
    assert fathom.refuses(2, "thickness", "pores.npy", "-o", "q.npy", "--inlets", "inlets.npy") == (
        "--inlets inlets.npy has the shape 4 × 7; it must have 5 × 7, as the input"
    )
    np.save(fathom.directory / "inlets.npy", np.zeros_like(pores))
    fathom.ok("thickness", "pores.npy", "--inlets", "inlets.npy", "--distribution", "c.csv")
    assert (fathom.directory / "c.csv").read_text().splitlines()[1:] == ["0,11,11,1,1"]


def test_threshold_and_picture(bar):
    Image.fromarray(BAR * 200).save(bar.directory / "bar.png")
    text = bar.ok("medial-axis", "bar.png", "-o", "axis.png", "--threshold", "150", "--preview", "chart.png")
    assert text == "axis.png: medial axis, bool, 7 × 12, 14 of 50 elements\nchart.png: chart\n"
    assert np.array(Image.open(bar.directory / "axis.png")).sum() == 14
    assert Image.open(bar.directory / "chart.png").size[0] > 300
    bar.ok("thickness", "bar.png", "--threshold", "150", "--preview", "thick.png")
    assert Image.open(bar.directory / "thick.png").size[0] > 300


def test_thickness_without_background(fathom):
    np.save(fathom.directory / "full.npy", np.ones((3, 4)))
    assert fathom.ok("thickness", "full.npy", "-o", "t.npy").splitlines()[1] == (
        "thickness of 12 elements: infinite, for there is no background")
    found = json.loads(fathom.ok("thickness", "full.npy", "-o", "t.npy", "--json"))
    assert (found["mean"], found["standard_deviation"], found["largest"]) == ("inf", None, "inf")


def test_nan_is_of_the_object_and_said(bar):
    holed = BAR.astype(np.float32)
    holed[3, 5:7] = np.nan
    np.save(bar.directory / "holed.npy", holed)
    expected = bar.ok("medial-axis", "bar.npy", "-o", "a.npy")
    done = bar("medial-axis", "holed.npy", "-o", "a.npy")
    assert done.text == expected
    assert done.err.decode() == (
        "fathom: warning: holed.npy holds 2 NaN, counted as not 0; --no-data nan leaves them out\n")
    assert bar.ok("medial-axis", "holed.npy", "-o", "a.npy", "--no-data", "none") == expected
    assert bar.ok("medial-axis", "holed.npy", "-o", "a.npy", "--no-data", "nan").endswith("of 48 elements\n")


def test_spacing_for_printing_must_be_stated(bar):
    assert bar.refuses(3, "medial-axis", "bar.npy", "-o", "a.npy", "--spacing", "print") == (
        "bar.npy states no resolution; give the spacing in numbers")


def test_plan(bar):
    before = bar.files()
    text = bar.ok("medial-axis", "bar.npy", "-o", "axis.npy", "--gamma", "2.5", "--threads", "1", "--plan")
    lines = text.splitlines()
    assert lines[0] == "read     bar.npy: npy, uint8, 7 × 12"
    assert lines[1:4] == ["pruning  constant", "gamma    2.5", "ties     both"]
    assert lines[4] == "write    axis.npy: medial axis, npy, bool, 7 × 12"
    assert lines[5].startswith("memory ")
    plan = json.loads(bar.ok("thickness", "bar.npy", "-o", "t.npy", "--plan", "--json"))
    assert plan["bytes"]["scratch"] > 0
    assert bar.files() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["medial-axis", "bar.npy"], "no output was asked for; give -o FILE or --distance FILE or --nearest FILE or "
                                     "--witness FILE or --balls FILE"),
        (["medial-axis", "bar.npy", "-o", "a.npy", "--pruning", "cubic"],
         "--pruning takes constant, linear or square-root, not 'cubic'"),
        (["medial-axis", "bar.npy", "-o", "a.npy", "--pruning", "square-root", "--gamma", "2"],
         "--pruning square-root takes no --gamma; leave it out"),
        (["medial-axis", "bar.npy", "-o", "a.npy", "--no-data", "256"],
         "--no-data 256: bar.npy holds uint8, which has no such value"),
        (["thickness", "bar.npy", "-o", "t.npy", "--distribution", "d.npy"],
         "--distribution takes the name of a .csv file, not 'd.npy'"),
        (["medial-axis", "bar.npy", "-o", "a.npy", "--ties", "none"], "--ties takes both or thin, not 'none'"),
        (["thickness", "bar.npy"], "no output was asked for; give -o FILE or --distribution FILE"),
        (["thickness", "bar.npy", "-o", "t.npy", "--dtype", "int8"],
         "--dtype of distances is float32 or float64, not 'int8'"),
    ],
)
def test_refusals(bar, arguments, message):
    assert bar.refuses(2, *arguments) == message


@pytest.mark.parametrize("verb", ["medial-axis", "thickness"])
def test_cuda_without_a_device(bar, verb):
    message = bar.refuses(4, verb, "bar.npy", "-o", "out.npy", "--backend", "cuda")
    assert "CUDA" in message and "auto or cpu" in message
