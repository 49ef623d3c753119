"""`distance --algorithm`: the published algorithms, what they say, and what they have not."""

import json

import numpy as np
import oracle
import pytest

RANDOM = np.random.default_rng(2)
MASK = (RANDOM.random((61, 83)) > 0.02).astype(np.uint8)
NAMES = ("pba", "proximate", "jfa", "skw", "brute")


@pytest.fixture
def mask(fathom):
    np.save(fathom.directory / "in.npy", MASK)
    return fathom


def test_list(fathom):
    text = fathom.ok("distance", "--algorithm", "list")
    assert [line.split()[0] for line in text.splitlines()] == list(NAMES)


@pytest.mark.parametrize("algorithm", ["pba", "pba:m1=3,m2=7,m3=2", "proximate", "proximate:access=vv-hh", "brute"])
def test_exact_ones(mask, algorithm):
    expected = oracle.transform(MASK)[0].astype(np.float32)
    text = mask.ok("distance", "in.npy", "-o", "out.npy", "--algorithm", algorithm, "--backend", "cpu")
    assert text.splitlines()[1].startswith(f"{algorithm.split(':')[0]} on cpu: ")
    assert text.endswith(" ms, exact\n")
    np.testing.assert_array_equal(np.load(mask.directory / "out.npy"), expected)


def test_what_an_approximate_one_says(mask):
    line = mask.ok("distance", "in.npy", "-o", "out.npy", "--nearest", "n.npy", "--algorithm", "jfa", "--json")
    told = json.loads(line)["algorithm"]
    squared, nearest = oracle.transform(MASK)[0] ** 2, np.load(mask.directory / "n.npy")
    y, x = np.indices(MASK.shape)
    found = (nearest // 83 - y) ** 2 + (nearest % 83 - x) ** 2
    assert told["error"]["wrong"] == (found > squared.round()).sum() > 0
    assert told["exact"] is False
    assert [phase["name"] for phase in told["phases"]][-1] == "rounds"
    text = mask.ok("distance", "in.npy", "-o", "out.npy", "--algorithm", "jfa", "--backend", "cpu")
    assert f"approximate: {told['error']['wrong']} elements" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--algorithm", "fast"], "--algorithm: there is no 'fast'; use pba, proximate, jfa, skw or brute, or list for "
                                  "what they are"),
        (["--algorithm", "pba:m4=1"], "--algorithm pba: there is no parameter 'm4'; use m1 m2 m3"),
        (["--algorithm", "pba:m1=33"], "--algorithm: m1 takes a whole number from 1 to 32, not '33'"),
        (["--algorithm", "skw:a=1"], "--algorithm skw: there are no parameters; leave out ':a=1'"),
        (["--algorithm", "proximate:access=hh"],
         "--algorithm: access is vv-hh, hh-vv, vh-vh, hv-hv or vtv-vtv, not 'hh'"),
        (["--algorithm", "jfa", "--signed"], "--algorithm jfa has no --signed; leave one of them out"),
        (["--algorithm", "jfa", "--border", "sites"], "--algorithm jfa has no --border; leave one of them out"),
        (["--algorithm", "jfa", "--spacing", "2"],
         "--algorithm jfa counts in elements, but their size is 2 × 2; give --spacing 1"),
        (["--algorithm", "pba", "--memory", "1KiB"], None),
    ],
)
def test_what_is_refused(mask, options, message):
    told = mask.refuses(2, "distance", "in.npy", "-o", "out.npy", *options)
    if message is None:
        assert "--memory 1024B is too small" in told
    else:
        assert told == message
    assert not (mask.directory / "out.npy").exists()
