"""What `compare` says about two files."""

import json

import numpy as np
import pytest
import tifffile


@pytest.fixture
def compare(fathom):
    def call(a, b, *options, code=0):
        np.save(fathom.directory / "a.npy", a)
        np.save(fathom.directory / "b.npy", b)
        outcome = fathom("compare", "a.npy", "b.npy", *options)
        assert (outcome.code, outcome.err) == (code, b""), outcome
        return outcome.text

    return call


def test_equal(compare):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert compare(a, a) == "equal: 3 × 4, float32\n"


def test_equal_values_of_different_types(compare):
    a = np.arange(6).reshape(2, 3)
    assert compare(a.astype(np.uint8), a.astype(float)) == "equal: 2 × 3, uint8 and float64\n"


def test_different(compare):
    a = np.zeros((3, 4), np.float32)
    b = a.copy()
    b[0, 1], b[2, 3], b[2, 2] = 0.5, -3.5, 3.5
    assert compare(a, b, code=1) == (
        "different: 3 of 12 elements (3 × 4, float32); largest difference 3.5 at (2, 2): 0 and 3.5\n"
    )


def test_tolerance(compare):
    a = np.array([1.0, 2.0, 3.0])
    b = np.array([1.0, 2.25, 3.5])
    assert compare(a, b, "--tolerance", "0.5") == "equal: 3, float64\n"
    assert compare(a, b, "--tolerance", "0.25", code=1).startswith("different: 1 of 3 elements")
    assert compare(a, b, code=1).startswith("different: 2 of 3 elements")


def test_shapes(compare):
    assert compare(np.zeros((2, 3)), np.zeros((3, 2)), code=1) == "different shapes: 2 × 3 and 3 × 2\n"


def test_infinity_and_nan(compare):
    a = np.array([np.inf, -np.inf, np.nan, 1.0])
    assert compare(a, a.copy()) == "equal: 4, float64\n"
    assert compare(a, np.array([np.inf, -np.inf, 7.0, 1.0]), code=1) == (
        "different: 1 of 4 elements (4, float64); largest difference inf at (2): nan and 7\n"
    )
    assert compare(a, -a, "--tolerance", "1e300", code=1).startswith("different: 2 of 4 elements")


def test_integers_that_doubles_confuse(compare):
    a = np.array([2**53, 2**64 - 1], np.uint64)
    b = np.array([2**53 + 1, 2**64 - 1], np.uint64)
    assert compare(a, b, code=1) == (
        "different: 1 of 2 elements (2, uint64); largest difference 1 at (0): 9007199254740992 and 9007199254740993\n"
    )
    assert compare(np.array([-1]), np.array([2**64 - 1], np.uint64), code=1).endswith("-1 and 18446744073709551615\n")


def test_empty(compare):
    assert compare(np.zeros((0, 2)), np.zeros((0, 2))) == "equal: 0 × 2, float64\n"


def test_json(compare):
    a = np.zeros((2, 3), np.float32)
    b = a.astype(np.float64)
    b[1, 2] = 4
    line = json.loads(compare(a, b, "--json", "--tolerance", "0.5", code=1))
    assert [line["a"]["path"], line["b"]["dtype"]] == ["a.npy", "float64"]
    del line["a"], line["b"]
    assert line == {"operation": "compare", "tolerance": 0.5, "equal": False, "different": 1,
                    "largest_difference": 4.0, "at": [1, 2], "values": [0.0, 4.0]}
    line = json.loads(compare(a, a, "--json"))
    assert (line["equal"], line["different"], line["at"], line["values"]) == (True, 0, None, None)
    line = json.loads(compare(a, a.T, "--json", code=1))
    assert line["equal"] is False and "different" not in line
    line = json.loads(compare(np.array([np.nan]), np.array([1.0]), "--json", code=1))
    assert (line["largest_difference"], line["values"]) == ("inf", ["nan", 1.0])


def test_formats_and_standard_input(fathom):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.save(fathom.directory / "a.npy", a)
    tifffile.imwrite(fathom.directory / "a.tif", a)
    assert fathom.ok("compare", "a.npy", "a.tif") == "equal: 3 × 4, float32\n"
    data = (fathom.directory / "a.npy").read_bytes()
    assert fathom.ok("compare", "-", "a.tif", stdin=data) == "equal: 3 × 4, float32\n"


def test_errors(fathom):
    np.save(fathom.directory / "a.npy", np.zeros(3))
    assert fathom.refuses(2, "compare", "-", "-") == "only one of the two files can be standard input"
    for bad in ("-1", "nan", "x", "1e"):
        assert fathom.refuses(2, "compare", "a.npy", "a.npy", f"--tolerance={bad}") == (
            f"--tolerance takes a number that is at least 0, not '{bad}'"
        )
    assert "b.npy" in fathom.refuses(3, "compare", "a.npy", "b.npy")
    assert fathom.refuses(2, "compare", "a.npy") == "B is required; see fathom compare --help"
