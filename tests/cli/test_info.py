"""What `info` says about files."""

import json

import nibabel
import numpy as np
from PIL import Image


def test_png(fathom):
    Image.fromarray(np.array([[0, 5, 9], [0, 0, 255]], np.uint8)).save(fathom.directory / "a.png")
    assert fathom.ok("info", "a.png") == (
        "file     a.png\n"
        "format   png\n"
        "shape    2 × 3\n"
        "type     uint8\n"
        "spacing  not stated\n"
        "values   0 to 255\n"
        "sites    3 of 6 elements (zero elements)\n"
    )


def test_nifti(fathom):
    image = nibabel.Nifti1Image(np.arange(24, dtype=np.int16).reshape(2, 3, 4), np.diag([1.5, 2, 3, 1]))
    nibabel.save(image, fathom.directory / "a.nii.gz")
    assert fathom.ok("info", "a.nii.gz", "--sites", ">=20") == (
        "file     a.nii.gz\n"
        "format   nifti\n"
        "shape    4 × 3 × 2\n"
        "type     int16\n"
        "spacing  3, 2, 1.5\n"
        "origin   0, 0, 0\n"
        "values   0 to 23\n"
        "sites    4 of 24 elements (>=20 elements)\n"
    )


def test_floats_that_are_no_numbers(fathom):
    np.save(fathom.directory / "a.npy", np.array([0.0, -1.25, np.nan, np.inf, -np.inf, np.nan, 2.5]))
    text = fathom.ok("info", "a.npy", "--sites", "nonzero")
    assert "values   -1.25 to 2.5, 2 infinite, 2 NaN\n" in text
    assert "sites    6 of 7 elements (nonzero elements)\n" in text


def test_labels(fathom):
    np.save(fathom.directory / "a.npy", np.array([[0, 3, 3], [7, 0, -1]]))
    text = fathom.ok("info", "a.npy", "--sites", "labels")
    assert "sites    3 labels, and 2 of 6 elements without (label 0)\n" in text


def test_empty(fathom):
    np.save(fathom.directory / "a.npy", np.zeros((0, 3), np.float32))
    text = fathom.ok("info", "a.npy")
    assert "shape    0 × 3\n" in text and "values   none\n" in text
    assert "sites    0 of 0 elements (zero elements)\n" in text


def test_comparisons_are_exact(fathom):
    """Between a 64-bit integer and its neighbour, where a double cannot tell."""
    np.save(fathom.directory / "a.npy", np.array([2**63 - 1, 2**53, 2**53 + 1, -(2**63)]))
    text = fathom.ok("info", "a.npy", "--sites", f"=={2**53}")
    assert "sites    1 of 4 elements (==9007199254740992 elements)\n" in text
    text = fathom.ok("info", "a.npy", "--sites", f"> {2**53}")
    assert "sites    2 of 4 elements (>9007199254740992 elements)\n" in text
    assert "sites    0 of 4" in fathom.ok("info", "a.npy", "--sites", f">={2**63}")
    assert "sites    1 of 4" in fathom.ok("info", "a.npy", "--sites", f"<=-{2**63}")
    assert "sites    3 of 4" in fathom.ok("info", "a.npy", "--sites", ">=0.5")


def test_json(fathom):
    np.save(fathom.directory / "a.npy", np.array([[0.0, np.nan, 4.5], [np.inf, 0.0, 1.0]], np.float32))
    text = fathom.ok("info", "a.npy", "--json")
    assert text.count("\n") == 1
    assert json.loads(text) == {
        "operation": "info",
        "input": {"path": "a.npy", "format": "npy", "dtype": "float32", "shape": [2, 3], "spacing": None,
                  "unit": None, "axes": None, "origin": None, "directions": None, "no_data": None, "colours": 0,
                  "georeference": None, "warnings": []},
        "elements": 6,
        "min": 0.0,
        "max": 4.5,
        "infinite": 1,
        "nan": 1,
        "sites": {"rule": "zero", "count": 2},
    }


def test_standard_input(fathom):
    np.save(fathom.directory / "a.npy", np.eye(3, dtype=bool))
    text = fathom.ok("info", "-", stdin=(fathom.directory / "a.npy").read_bytes())
    assert text.startswith("file     standard input\nformat   npy\nshape    3 × 3\ntype     bool\n")
    assert "sites    6 of 9 elements (zero elements)\n" in text
