"""What `distance` prints, and where it reads and writes."""

import io
import json

import numpy as np
import oracle
import pytest

MASK = np.array([[0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], np.uint8)
FIELD = oracle.transform(MASK)[0].astype(np.float32)


@pytest.fixture
def mask(fathom):
    np.save(fathom.directory / "in.npy", MASK)
    return fathom


def as_npy(a) -> bytes:
    stream = io.BytesIO()
    np.save(stream, a)
    return stream.getvalue()


def test_summary(mask):
    assert mask.ok("distance", "in.npy", "-o", "out.npy") == "out.npy: distance, float32, 3 × 4, 0 to 3.60555\n"


def test_summary_of_every_output(mask):
    text = mask.ok("distance", "in.npy", "-o", "out.npy", "--squared", "--nearest", "n.tif", "--coordinates", "c.npy",
                   "--offset", "o.npy", "--preview", "chart.png")
    assert text == (
        "out.npy: squared distance, uint32, 3 × 4, 0 to 13\n"
        "n.tif: nearest site, int32, 3 × 4\n"
        "c.npy: coordinates of the nearest site, int32, 2 × 3 × 4\n"
        "o.npy: offset to the nearest site, float32, 2 × 3 × 4\n"
        "chart.png: chart\n"
    )


def test_summary_tells_the_scale_of_a_png(mask):
    text = mask.ok("distance", "in.npy", "-o", "out.png", "--max-distance", "2")
    assert text == (
        "out.png: distance, float32, 3 × 4, 0 to 2; stored = round((value - 0) * 32767.5)\n"
        "6 of 12 elements have no site within 2\n"
    )


def test_summary_tells_of_elements_without_a_site(mask):
    text = mask.ok("distance", "in.npy", "-o", "out.npy", "--sites", "==9")
    assert text == "out.npy: distance, float32, 3 × 4, no finite value\n12 of 12 elements have no site\n"


def test_quiet(mask):
    assert mask.ok("distance", "in.npy", "-o", "out.npy", "--quiet") == ""
    assert (mask.directory / "out.npy").exists()


def test_json(mask):
    text = mask.ok("distance", "in.npy", "-o", "out.npy", "--nearest", "n.npy", "--preview", "chart.png", "--json")
    assert text.endswith("}\n") and text.count("\n") == 1
    line = json.loads(text)
    seconds = line.pop("seconds")
    assert list(seconds) == ["read", "compute", "write", "total"]
    assert all(s >= 0 for s in seconds.values())
    assert seconds["total"] >= max(seconds["read"], seconds["compute"], seconds["write"])
    assert line.pop("backend") == "cpu"
    assert line.pop("device") is None
    assert line.pop("engine") in ("plain", "general")
    assert line.pop("instruction_set") in ("baseline", "avx2", "avx512")
    assert line.pop("threads") >= 1
    assert line.pop("scratch_bytes") >= 0
    assert line == {
        "operation": "distance",
        "input": {"path": "in.npy", "format": "npy", "dtype": "uint8", "shape": [3, 4], "spacing": None,
                  "unit": None, "axes": None, "origin": None, "directions": None, "no_data": None, "colours": 0,
                  "georeference": None, "warnings": []},
        "outputs": [
            {"path": "out.npy", "content": "distance", "format": "npy", "dtype": "float32", "shape": [3, 4]},
            {"path": "n.npy", "content": "nearest site", "format": "npy", "dtype": "int32", "shape": [3, 4]},
            {"path": "chart.png", "content": "chart", "format": "png"},
        ],
        "sites": {"rule": "zero", "count": 1},
        "unreached": 0,
        "min": 0.0,
        "max": float(FIELD.max()),
    }


def test_json_without_a_site(mask):
    line = json.loads(mask.ok("distance", "in.npy", "-o", "out.npy", "--sites", "==9", "--json", "--quiet"))
    assert (line["min"], line["max"], line["unreached"]) == (None, None, 12)
    assert line["sites"] == {"rule": "==9", "count": 0}


def test_json_counts_labels(fathom):
    np.save(fathom.directory / "in.npy", np.array([[0, 3, 3, 7], [0, 3, 7, 3]]))
    line = json.loads(fathom.ok("distance", "in.npy", "-o", "out.npy", "--sites", "labels", "--json"))
    assert line["sites"] == {"rule": "labels", "count": 2, "labels": 2}


def test_json_obeys_threads(mask):
    assert json.loads(mask.ok("distance", "in.npy", "-o", "o.npy", "--json", "--threads", "1"))["threads"] == 1


def test_json_with_indices_alone(mask):
    line = json.loads(mask.ok("distance", "in.npy", "--nearest", "n.npy", "--json"))
    assert (line["min"], line["max"], line["unreached"]) == (None, None, None)
    assert [o["path"] for o in line["outputs"]] == ["n.npy"]


@pytest.mark.parametrize("name", ["näme.npy", "with space.npy", "-dash.npy"])
def test_names(mask, name):
    assert mask.ok("distance", "in.npy", f"--output=./{name}").startswith(f"./{name}: distance")
    np.testing.assert_array_equal(np.load(mask.directory / name), FIELD)


def test_standard_input_and_output(fathom):
    outcome = fathom("distance", "-", "-o", "-", stdin=as_npy(MASK))
    assert outcome.code == 0
    np.testing.assert_array_equal(np.load(io.BytesIO(outcome.out)), FIELD)
    assert outcome.err.decode() == "standard output: distance, float32, 3 × 4, 0 to 3.60555\n"
    assert fathom("distance", "-", "-o", "-", "--quiet", stdin=as_npy(MASK)) == (0, outcome.out, b"")
    assert fathom.files() == {}


@pytest.mark.parametrize("name, start", [
    ("npy", b"\x93NUMPY"), ("png", b"\x89PNG\r\n"), ("tiff", b"II*\0"), ("nifti", b"\x5c\x01\0\0")])
def test_format_of_standard_output(fathom, name, start):
    outcome = fathom("distance", "-", "-o", "-", "--format", name, "--quiet", stdin=as_npy(MASK))
    assert (outcome.code, outcome.err) == (0, b"")
    assert outcome.out.startswith(start)


def test_format_overrules_the_ending(mask):
    assert mask.ok("distance", "in.npy", "-o", "out.dat", "--format", "npy") == (
        "out.dat: distance, float32, 3 × 4, 0 to 3.60555\n"
    )
    np.testing.assert_array_equal(np.load(mask.directory / "out.dat"), FIELD)


def test_other_outputs_beside_standard_output(fathom):
    outcome = fathom("distance", "-", "-o", "-", "--nearest", "n.npy", "--quiet", stdin=as_npy(MASK))
    assert outcome.code == 0
    np.testing.assert_array_equal(np.load(io.BytesIO(outcome.out)), FIELD)
    assert (np.load(fathom.directory / "n.npy") == 0).all()


def test_output_onto_the_input(mask):
    mask.ok("distance", "in.npy", "-o", "in.npy", "--quiet")
    np.testing.assert_array_equal(np.load(mask.directory / "in.npy"), FIELD)
    assert list(mask.files()) == ["in.npy"]


def test_output_replaces_a_file(mask):
    (mask.directory / "out.npy").write_bytes(b"old")
    mask.ok("distance", "in.npy", "-o", "out.npy", "--quiet")
    np.testing.assert_array_equal(np.load(mask.directory / "out.npy"), FIELD)


def test_help(fathom):
    for arguments in (["--help"], ["distance", "--help"], ["info", "--help"], ["compare", "--help"]):
        text = fathom.ok(*arguments)
        assert text.count("\n") > 5
        if len(arguments) > 1:
            assert f"Examples:\n  fathom {arguments[0]} " in text


def test_help_names_every_option(fathom):
    text = fathom.ok("distance", "--help")
    for option in ("-o,--output", "--format", "--sites", "--metric", "--spacing", "--border", "--signed", "--surface",
                   "--squared", "--dtype", "--nearest", "--coordinates", "--offset", "--max-distance", "--region",
                   "--preview", "--title", "--units", "--backend", "--threads", "--memory", "--json", "--quiet"):
        assert option in text


def test_version(fathom):
    assert fathom.ok("--version") == "fathom 0.1.0\n"
