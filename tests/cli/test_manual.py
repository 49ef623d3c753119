"""help, man, completion and "did you mean": all of them from what the verbs declare."""

import re
import shutil
import subprocess

import pytest

VERBS = ["distance", "query", "mesh", "render", "voronoi", "lloyd", "stipple", "costmap", "sdf", "stream", "morphology", "expand",
         "fill", "medial-axis", "thickness", "reproduce", "info", "compare", "help", "man", "completion"]


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help(fathom, verb):
    names = [verb] if verb else []
    text = fathom.ok("help", *names)
    assert text == fathom.ok(*names, "--help")
    assert "TEXT" not in text  # every option with a value has a type


def test_help_of_the_command_lists_the_verbs(fathom):
    assert re.findall(r"^  ([a-z-]+)  ", fathom.ok("help").split("Subcommands:")[1], re.M) == VERBS


def test_types(fathom):
    text = fathom.ok("distance", "--help")
    for option in ("-o,--output FILE ", "--spacing LIST ", "--memory BYTES ", "--threads COUNT ", "--signed  ",
                   "--max-distance NUMBER "):
        assert f"  {option}" in text
    assert "--cone LIST " in fathom.ok("query", "--help") and "--cone DEGREES " in fathom.ok("render", "--help")


@pytest.mark.parametrize("arguments, message", [
    (["distnace"], "'distnace' is no verb; did you mean distance? see fathom --help"),
    (["comp"], "'comp' is no verb; did you mean compare? see fathom --help"),
    (["help", "qeury"], "'qeury' is no verb; did you mean query?"),
    (["man", "blur"], "'blur' is no verb; see fathom --help"),
    (["distance", "a", "--spacng=1"],
     "The following argument was not expected: --spacng=1; did you mean --spacing? see fathom distance --help"),
    (["render", "a", "--elevatoin=1"],
     "The following argument was not expected: --elevatoin=1; did you mean --elevation? see fathom render --help"),
    (["info", "a", "--jsno"],
     "The following argument was not expected: --jsno; did you mean --json? see fathom info --help"),
    (["completion", "tcsh"], "completion is for bash, zsh or fish, not 'tcsh'"),
])
def test_did_you_mean(fathom, arguments, message):
    assert fathom.refuses(2, *arguments) == message


def complete(fathom, *words):
    """What bash offers for the last of some words."""
    script = (fathom.ok("completion", "bash") +
              "\nCOMP_WORDS=(fathom \"$@\"); COMP_CWORD=$#; _fathom; printf '%s\\n' \"${COMPREPLY[@]}\"\n")
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize("words, found", [
    (["di"], ["distance"]),
    (["distance", "--me"], ["--metric", "--memory"]),
    (["distance", "--metric", ""], ["euclidean", "taxicab", "chessboard"]),
    (["distance", "in.png", "--metric", "=", "t"], ["taxicab"]),
    (["render", "--step", "p"], ["pointwise"]),
    (["help", "r"], ["render", "reproduce"]),
    (["completion", ""], ["bash", "zsh", "fish"]),
    (["info", "x"], []),  # files, by bash itself
    (["info", "--s"], ["--stack", "--sites", "--strict"]),
])
def test_bash(fathom, words, found):
    assert complete(fathom, *words) == found


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_option(fathom, shell):
    script = fathom.ok("completion", shell)
    for verb in VERBS:
        assert verb in script
        for option in re.findall(r"--([a-z-]+)", fathom.ok(verb, "--help").split("Options:")[1].split("Example")[0]):
            assert option in script


def test_man(fathom):
    whole = fathom.ok("man")
    assert whole.startswith('.TH FATHOM 1 "" "fathom ')
    for verb in VERBS:
        assert f".SS {verb}\n" in whole
        page = fathom.ok("man", verb)
        assert page.startswith(f'.TH FATHOM-{verb.upper()} 1 ') and page.split(".SH SYNOPSIS\n")[1] in whole
        for page in (whole, page):
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page.encode(), capture_output=True)
                assert (done.returncode, done.stderr) == (0, b"")
