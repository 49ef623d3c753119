"""What is said beside a result: a line each on stderr, none with --quiet, an error with --strict."""

import numpy as np
import pytest

NO_SITE = "no element is zero, so there is no site; --sites nonzero takes the others"


@pytest.fixture
def ones(fathom):
    np.save(fathom.directory / "in.npy", np.ones((3, 4), np.uint8))
    return fathom


def test_no_site(ones):
    outcome = ones("distance", "in.npy", "-o", "out.npy")
    assert (outcome.code, outcome.err.decode()) == (0, f"fathom: warning: {NO_SITE}\n")
    assert outcome.text == (
        "out.npy: distance, float32, 3 × 4, no finite value\n"
        "12 of 12 elements have no site\n"
    )
    assert np.isinf(np.load(ones.directory / "out.npy")).all()


def test_elsewhere_there_is_nothing_to_say(ones):
    ones.ok("distance", "in.npy", "-o", "out.npy", "--sites", "nonzero")
    ones.ok("distance", "in.npy", "-o", "out.npy", "--sites", ">=7")
    np.save(ones.directory / "none.npy", np.ones((0, 4)))
    ones.ok("distance", "none.npy", "-o", "out.npy")


def test_quiet(ones):
    assert ones("distance", "in.npy", "-o", "out.npy", "--quiet") == (0, b"", b"")
    assert ones("compare", "in.npy", "in.npy", "--quiet") == (0, b"", b"")
    assert ones("compare", "in.npy", "out.npy", "--quiet") == (1, b"", b"")
    assert ones("distance", "none.npy", "-o", "out.npy", "--quiet") == (
        3, b"", b"fathom: none.npy cannot be read: No such file or directory\n")
    assert ones.ok("info", "in.npy", "--quiet") == ones.ok("info", "in.npy")  # what was asked for


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_strict(ones, quiet):
    (ones.directory / "out.npy").write_bytes(b"old")
    message = ones.refuses(3, "distance", "in.npy", "-o", "out.npy", "--nearest", "n.npy", "--strict", *quiet)
    assert message == f"{NO_SITE}; --strict makes this warning an error"
    assert ones.refuses(3, "distance", "in.npy", "-o", "-", "--strict", *quiet) == message


@pytest.mark.parametrize("verb", ["distance", "query", "render", "info", "compare"])
def test_every_verb_has_both(fathom, verb):
    help_text = fathom.ok(verb, "--help")
    assert "--quiet" in help_text and "--strict" in help_text
