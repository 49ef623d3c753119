"""Streams that are cut off: killed, told to end, out of disk; what goes on behind that has the same bytes."""

import json
import os
import random
import signal
import subprocess
import time

import numpy as np
import pytest
import stream_graphs as graphs


def start(fathom, *arguments, **popen):
    return subprocess.Popen([fathom.command, *map(str, arguments)], cwd=fathom.directory, stderr=subprocess.PIPE, **popen)


@pytest.fixture
def surface(fathom):
    """About 40 bands, and what they are."""
    nodes = graphs.surface(10000, 1100)
    fathom.graph = graphs.write(fathom, nodes)
    fathom.ok("stream", fathom.graph, "-o", "expected.raw")
    fathom.ok("stream", fathom.graph, "-o", "expected.tif")
    fathom.expected = (fathom.directory / "expected.raw").read_bytes()
    return fathom


def entries(fathom, name="out.journal"):
    path = fathom.directory / name
    return path.read_text().splitlines()[1:] if path.exists() else []


def wait_until(true, process):
    while not true():
        assert process.poll() is None
        time.sleep(0.02)


@pytest.mark.parametrize("options", [["out.raw"], ["out.tif"], ["out.tif", "--compress"], ["out.npy"]], ids=str)
def test_killed_at_random(surface, options):
    """kill -9 again and again, until it is whole: at 20 moments or more in all of the cases, with --full at 200."""
    surface.ok("stream", surface.graph, "-o", "expected.npy")
    if "--compress" in options:
        surface.ok("stream", surface.graph, "-o", "expected.tif", "--compress")
    name = options[0]
    rng = random.Random(name)
    kills = 0
    while kills < (50 if "FATHOM_TEST_FULL" in os.environ else 5):
        for left in (name, "out.journal"):
            (surface.directory / left).unlink(missing_ok=True)
        kills += killed_until_whole(surface, options, rng)
        assert (surface.directory / name).read_bytes() == (surface.directory / f"expected.{name[4:]}").read_bytes()
        assert not (surface.directory / f"{name}.unfinished").exists()
        assert surface.ok("stream", "verify", name, "--journal", "out.journal") == f"{name}: all 40 bands are as out.journal tells\n"
        assert len(entries(surface)) == 40


def killed_until_whole(surface, options, rng):
    """How often it was killed until the file was there."""
    command = ["stream", surface.graph, "-o", *options, "--journal", "out.journal", "--rate", "3MB/s", "--quiet"]
    for kills in range(60):
        process = start(surface, *command)
        try:
            assert process.wait(0.05 + 0.9 * rng.random()) == 0, process.stderr.read()
            return kills
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            # Killed between the last step, which names the file, and its exit: what has the name is whole.
            if (surface.directory / options[0]).exists():
                return kills + 1
    pytest.fail("it does not become whole")


@pytest.mark.parametrize("lost", [1, 10, 200])
def test_journals_that_end_in_the_middle_of_a_line(surface, lost):
    """A power cut may leave any part of the last entries; rows behind the journal are written anew."""
    command = ["stream", surface.graph, "-o", "out.raw", "--journal", "out.journal"]
    surface.ok(*command)
    journal = (surface.directory / "out.journal").read_bytes()
    (surface.directory / "out.raw").rename(surface.directory / "out.raw.unfinished")
    with (surface.directory / "out.raw.unfinished").open("r+b") as file:
        file.seek(39 * 256 * 1100)
        file.write(b"rows that were never synced")
    (surface.directory / "out.journal").write_bytes(journal[:-lost])
    if lost > 1:
        with (surface.directory / "out.journal").open("ab") as file:
            file.write(bytes(100))
    surface.ok(*command)
    assert (surface.directory / "out.raw").read_bytes() == surface.expected
    assert (surface.directory / "out.journal").read_bytes() == journal


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_waits_for_the_band(surface, number):
    command = ["stream", surface.graph, "-o", "out.raw", "--journal", "out.journal"]
    process = start(surface, *command, "--rate", "1MB/s")
    wait_until(lambda: len(entries(surface)) >= 3, process)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert process.stderr.read() == b"fathom: interrupted; the same command goes on from here\n"
    done = len(entries(surface))
    assert 3 <= done < 40
    assert (surface.directory / "out.raw.unfinished").read_bytes() == surface.expected[: done * 256 * 1100]
    report = json.loads(surface.ok(*command, "--json"))
    assert report["begun_at_row"] == done * 256
    assert (surface.directory / "out.raw").read_bytes() == surface.expected


def test_a_signal_does_not_wait_for_the_rate(surface):
    """The next band is due in minutes."""
    process = start(surface, "stream", surface.graph, "-o", "out.raw", "--journal", "out.journal", "--rate", "1kB/s")
    wait_until(lambda: entries(surface), process)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 143 and time.monotonic() - began < 2  # half a second, on a machine that has time
    assert len(entries(surface)) == 1


def test_without_a_journal_nothing_is_left(surface):
    before = surface.files()
    process = start(surface, "stream", surface.graph, "-o", "out.raw", "--rate", "1MB/s")
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert surface.files() == before


def test_what_is_whole_stays(surface):
    command = ["stream", surface.graph, "-o", "out.raw", "--journal", "out.journal"]
    surface.ok(*command)
    before = surface.files()
    assert surface.ok(*command) == "out.raw: is whole already\n"
    assert surface.files() == before


def test_verify_finds_a_changed_byte(surface):
    for name in ("out.raw", "out.tif"):
        surface.ok("stream", surface.graph, "-o", name, "--journal", f"{name}.journal")
        with (surface.directory / name).open("r+b") as file:
            file.seek(300 * 1100 if name == "out.raw" else 5_000_000)
            byte = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte[0] ^ 1]))
        outcome = surface("stream", "verify", name, "--journal", f"{name}.journal")
        assert outcome.code == 1 and f"{name}: 1 of 40 bands differ from {name}.journal, the first in rows " in outcome.text
    assert "rows 256 to 512" in surface("stream", "verify", "out.raw", "--journal", "out.raw.journal").text
    outcome = surface("stream", "verify", "out.raw", "--journal", "out.raw.journal", "--json")
    assert json.loads(outcome.text)["different"] == [1]


def test_verify_of_bits_and_of_serpentines(fathom):
    graph = graphs.write(fathom, graphs.bits(700, 333))
    fathom.ok("stream", graph, "-o", "out.raw", "--order", "serpentine", "--journal", "j")
    assert fathom.ok("stream", "verify", "out.raw", "--journal", "j") == "out.raw: all 3 bands are as j tells\n"


def test_other_work_is_refused_by_name(surface):
    def refuses(*options, graph="graph.json", code=3):
        return surface.refuses(code, "stream", graph, "-o", "out.raw", "--journal", "out.journal", *options)

    surface.ok("stream", surface.graph, "-o", "out.raw", "--journal", "out.journal")
    again = "give the same options, or remove the journal to begin anew"
    assert refuses("--region", ":5000,:") == (
        f"out.journal was begun with region [0,10000,0,1100], and now it is [0,5000,0,1100]; {again}")
    assert refuses("--order", "serpentine") == (
        f'out.journal was begun with order "rows", and now it is "serpentine"; {again}')
    assert refuses("--format", "npy") == f'out.journal was begun with format "raw", and now it is "npy"; {again}'
    assert refuses("--memory", "2MB").startswith("out.journal was begun with band 256, and now it is ")
    nodes = graphs.surface(10000, 1100)
    nodes["coat"]["expression"] = "255*exp(-d/6)"
    assert refuses(graph=graphs.write(surface, nodes, name="other.json")) == (
        "the graph has changed since out.journal was begun; for the present one begin anew: remove the journal")
    assert refuses("--min-rate", "2MB/s", "--rate", "1MB/s", code=2) == "--min-rate is above --rate"


def test_a_changed_input_is_refused_by_name(fathom):
    np.save(fathom.directory / "in.npy", np.zeros((300, 30), np.uint8))
    graph = graphs.write(fathom, {"in": {"type": "file", "path": "in.npy"}})
    fathom.ok("stream", graph, "-o", "out.raw", "--journal", "j")
    np.save(fathom.directory / "in.npy", np.ones((300, 30), np.uint8))
    assert fathom.refuses(3, "stream", graph, "-o", "out.raw", "--journal", "j") == (
        "in.npy has changed since j was begun; for its present pixels begin anew: remove the journal")


def test_files_that_are_no_journals_stay(surface):
    (surface.directory / "notes.txt").write_text("do not lose me\n")
    assert surface.refuses(3, "stream", surface.graph, "-o", "out.raw", "--journal", "notes.txt") == (
        "notes.txt is no journal of fathom stream; name a file that is new")
    for text in ["{}", '{"fathom":"stream journal"}', '{"fathom":"stream journal","version":1}', '{"fathom":[1]}', "[" * 9000]:
        (surface.directory / "notes.txt").write_text(text + "\n")
        assert surface.refuses(3, "stream", "verify", "expected.raw", "--journal", "notes.txt").startswith("notes.txt is ")
    assert surface.refuses(3, "stream", "verify", "expected.raw", "--journal", surface.graph) == (
        "graph.json is no journal of fathom stream; give the journal that was written with the output")


@pytest.mark.parametrize("region", [
    [0, 2**62, 0, 2**62], [-(2**63), 2**63 - 1, 0, 9], [5, 5, 0, 9], [9, 5, 0, 9], [0, 2**40, 0, 2**40], [0, 1, 0]], ids=str)
def test_forged_regions(surface, region):
    surface.ok("stream", surface.graph, "-o", "out.raw", "--journal", "out.journal")
    first, *rest = (surface.directory / "out.journal").read_text().splitlines()
    about = {**json.loads(first), "region": region}
    (surface.directory / "out.journal").write_text("\n".join([json.dumps(about), *rest]) + "\n")
    line = surface.refuses(3, "stream", "verify", "out.raw", "--journal", "out.journal")
    assert line == "out.journal is no journal of fathom stream; give the journal that was written with the output"


def test_missing_parts(surface):
    command = ["stream", surface.graph, "-o", "out.raw", "--journal", "out.journal"]
    surface.ok(*command)
    (surface.directory / "out.raw").unlink()
    assert surface.refuses(3, *command) == (
        "out.raw.unfinished is missing, of which out.journal tells; remove the journal to begin anew")
    (surface.directory / "out.raw.unfinished").write_bytes(b"short")
    assert "has not the 10000 rows" in surface.refuses(3, *command)
    (surface.directory / "out.journal").unlink()
    assert surface.refuses(3, *command) == "out.raw.unfinished is there, of which no out.journal tells; remove it to begin anew"


def test_two_at_once(surface):
    command = ["stream", surface.graph, "-o", "out.raw", "--journal", "out.journal"]
    process = start(surface, *command, "--rate", "1MB/s")
    wait_until(lambda: entries(surface), process)
    outcome = surface(*command)
    assert (outcome.code, outcome.err) == (3, b"fathom: out.journal is in use by another fathom\n")
    process.kill()
    process.wait()


@pytest.mark.parametrize("at", [0, 1, 1099, 1100, 256 * 1100, 256 * 1100 * 3 + 1100 * 7 + 13, 10000 * 1100 - 1, 10000 * 1100])
def test_pipes_go_on_where_the_reader_says(surface, at):
    done = surface("stream", surface.graph, "-o", "-", "--format", "raw", "--resume-at", at, "--quiet")
    assert (done.code, done.err) == (0, b"")
    assert done.out == surface.expected[at:]


@pytest.mark.parametrize("at", [0, 1, 11, 12, 300, 1000])
@pytest.mark.parametrize("nodes", [graphs.bits(), graphs.exact(50, 40)], ids=["bits", "floats"])
def test_pipes_go_on_in_the_middle_of_elements(fathom, nodes, at):
    graph = graphs.write(fathom, nodes)
    fathom.ok("stream", graph, "-o", "expected.raw")
    expected = (fathom.directory / "expected.raw").read_bytes()
    at = min(at, len(expected) - 1)
    done = fathom("stream", graph, "-o", "-", "--format", "raw", "--resume-at", at, "--quiet")
    assert done.out == expected[at:]


def test_pipes_with_a_journal_begin_again_at_a_whole_band(surface):
    command = ["stream", surface.graph, "-o", "-", "--format", "raw", "--journal", "j", "--quiet"]
    with (surface.directory / "got.raw").open("wb") as file:
        process = start(surface, *command, "--rate", "4MB/s", stdout=subprocess.PIPE)
        file.write(process.stdout.read(3_000_000))
        process.send_signal(signal.SIGTERM)
        file.write(process.stdout.read())
        assert process.wait() == 143
    got = (surface.directory / "got.raw").read_bytes()
    assert got == surface.expected[: len(got)] and len(got) % (256 * 1100) == 0 and 0 < len(got) < len(surface.expected)
    lines = (surface.directory / "j").read_text()
    done = surface(*command)
    assert done.err == f"fathom: the stream goes on at byte {len(got)}\n".encode()
    assert done.out == surface.expected[len(got) :]
    # The reader knows better what it has, and says so.
    (surface.directory / "j").write_text(lines)
    done = surface(*command, "--resume-at", 700_001)
    assert done.err == b"" and done.out == surface.expected[700_001:]
    assert len(entries(surface, "j")) == 40


def test_a_reader_that_goes_away(surface):
    process = start(surface, "stream", surface.graph, "-o", "-", "--format", "raw", stdout=subprocess.PIPE)
    process.stdout.read(1000)
    process.stdout.close()
    assert process.wait(60) == 3
    assert process.stderr.read() == b"fathom: standard output cannot be written: Broken pipe\n"


def test_a_disk_that_is_full(surface):
    assert surface.refuses(3, "stream", surface.graph, "-o", "/dev/full", "--format", "raw") == (
        "/dev/full cannot be written: No space left on device")


def test_a_file_that_must_not_grow(surface):
    """As on a full disk: with a journal the work stays, and goes on once there is room."""
    command = ["stream", surface.graph, "-o", "out.raw", "--journal", "out.journal"]
    limited = subprocess.run(["bash", "-c", 'ulimit -f 5000; exec "$@"', "-", surface.command, *command],
                             cwd=surface.directory, capture_output=True)
    assert (limited.returncode, limited.stderr) == (3, b"fathom: out.raw.unfinished cannot be written: File too large\n")
    assert not (surface.directory / "out.raw").exists()
    surface.ok(*command)
    assert (surface.directory / "out.raw").read_bytes() == surface.expected
    before = surface.files()
    limited = subprocess.run(["bash", "-c", 'ulimit -f 5000; exec "$@"', "-", surface.command, "stream", surface.graph, "-o",
                              "new.raw"], cwd=surface.directory, capture_output=True)
    assert limited.returncode == 3 and surface.files() == before
