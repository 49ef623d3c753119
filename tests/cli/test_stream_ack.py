"""Streams whose reader acknowledges what it took: the same command goes on at that very byte."""

import json
import os
import random
import signal
import subprocess
import threading
import time

import pytest
import stream_graphs as graphs


class Machine:
    """Reads a stream from a begin that is known to it, and tells after each piece how far it is."""

    def __init__(self, fathom, *options):
        read, self.ack = os.pipe()
        command = ["stream", "graph.json", "-o", "-", "--format", "raw", "--journal", "j", "--ack", str(read), *options]
        self.process = subprocess.Popen([fathom.command, *map(str, command)], cwd=fathom.directory, pass_fds=[read],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(read)
        self.error = b""
        self.listener = threading.Thread(target=self.listen)
        self.listener.start()

    def listen(self):
        self.error = self.process.stderr.read()

    def tell(self, text):
        os.write(self.ack, text.encode())

    def take(self, count):
        return self.process.stdout.read(count)

    def end(self, kill=None):
        """The exit code, once the reader has gone."""
        if kill:
            self.process.send_signal(kill)
        os.close(self.ack)
        self.process.stdout.close()
        code = self.process.wait(60)
        self.listener.join()
        return code


@pytest.fixture
def surface(fathom):
    graphs.write(fathom, graphs.surface(3000, 1100))
    fathom.ok("stream", "graph.json", "-o", "expected.raw")
    fathom.expected = (fathom.directory / "expected.raw").read_bytes()
    return fathom


def acknowledged(fathom):
    """Bytes that the journal tells of; none before it has such a line."""
    path = fathom.directory / "j"
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    told = [json.loads(line).get("acknowledged") for line in lines if line.endswith("}")]
    return ([None] + [count for count in told if count is not None])[-1]


def wait_for(fathom, count):
    for _ in range(600):
        if acknowledged(fathom) == count:
            return
        time.sleep(0.02)
    raise AssertionError(f"{acknowledged(fathom)}, not {count}")


def go_on(fathom, got, *options):
    """All that is left, by a machine that has `got`."""
    machine = Machine(fathom, *options)
    rest = machine.take(-1)
    assert got + rest == fathom.expected
    machine.tell(f"{len(fathom.expected)}\n")
    assert machine.end() == 0
    return machine.error.decode()


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM, None])
def test_goes_on_at_the_very_byte(surface, kill):
    """Killed, told to end, or the reader itself goes away, in the middle of a row."""
    got = b""
    for count in (0, 1, 777_777):
        machine = Machine(surface, "--rate", "4MB/s")
        got += machine.take(count)
        machine.tell(f"{len(got)}\n")
        wait_for(surface, len(got))
        if kill == signal.SIGTERM:  # which waits for the band
            machine.process.send_signal(kill)
            machine.take(-1)
        code = machine.end(kill if kill == signal.SIGKILL else None)
        assert code == {signal.SIGKILL: -9, signal.SIGTERM: 143, None: 3}[kill]
    error = go_on(surface, got)
    assert error.startswith(f"fathom: the stream goes on at byte {len(got)}\n")
    verified = surface.ok("stream", "verify", "expected.raw", "--journal", "j")
    assert verified == "expected.raw: all 12 bands are as j tells\n"


def test_killed_at_random(surface):
    """What was taken behind the last count that the journal has comes again."""
    rng = random.Random(3)
    got = b""
    for _ in range(12):
        machine = Machine(surface, "--rate", "8MB/s")
        for _ in range(rng.randrange(1, 20)):
            piece = machine.take(rng.randrange(1, 40_000))
            got += piece
            if not piece:
                break
            machine.tell(f"{len(got)}\n")
        machine.end(signal.SIGKILL)
        assert surface.expected.startswith(got)
        kept = acknowledged(surface) or 0
        assert kept <= len(got)
        got = got[:kept]
    go_on(surface, got)


def test_the_reader_has_the_last_word(surface):
    """It sees the end of the pipe first, and the command waits for what it says then."""
    machine = Machine(surface)
    assert machine.take(-1) == surface.expected
    machine.tell("17\n")
    whole = len(surface.expected)
    assert machine.end() == 3
    assert machine.error.decode().splitlines()[-1].endswith(
        f" ended when 17 of {whole} bytes were acknowledged; the same command goes on there")
    assert go_on(surface, surface.expected[:17]).startswith("fathom: the stream goes on at byte 17\n")
    machine = Machine(surface)
    assert machine.take(-1) == b"" and machine.end() == 0


def test_a_signal_ends_the_wait(surface):
    machine = Machine(surface)
    assert machine.take(-1) == surface.expected
    machine.tell("17\n")
    machine.process.send_signal(signal.SIGTERM)
    assert machine.process.wait(30) == 143 and acknowledged(surface) == 17
    machine.end()
    assert machine.error == b"fathom: interrupted; the same command goes on from here\n"


@pytest.mark.parametrize("output", ["pipe", "/dev/fd/1"])
def test_other_pipes(surface, output):
    """What is no `-` ends, too, before the reader has the last word."""
    os.mkfifo(surface.directory / "pipe")
    os.mkfifo(surface.directory / "acks")
    done = subprocess.run(["bash", "-c", f"""
        "$1" stream graph.json -o {output} --format raw --journal j --ack 3 --preview p.png --quiet 3< acks \
            {"" if output == "pipe" else "> pipe"} &
        exec 4> acks
        cat pipe | wc -c | tr -d ' ' >&4
        exec 4>&-
        wait $!""", "-", surface.command], cwd=surface.directory, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert acknowledged(surface) == len(surface.expected) and (surface.directory / "p.png").exists()


def test_readers_that_tell_often_never_wait(surface):
    """More lines than a pipe holds, before anything is read."""
    machine = Machine(surface)
    machine.tell("0\n" * 100_000)
    got = machine.take(-1)
    machine.tell(f"{len(got)}\n")
    assert got == surface.expected and machine.end() == 0


def test_a_count_that_is_cut_off_is_none(surface):
    machine = Machine(surface, "--rate", "1MB/s")
    got = machine.take(100_000)
    machine.tell("50000\n1000")
    wait_for(surface, 50_000)
    machine.end(signal.SIGKILL)
    assert acknowledged(surface) == 50_000
    go_on(surface, got[:50_000])


@pytest.mark.parametrize("told, reason", [
    ("ten\n", "acknowledged 'ten', which is no count of bytes"),
    ("\n", "acknowledged '', which is no count of bytes"),
    ("1 2\n", "acknowledged '1 2', which is no count of bytes"),
    ("-5\n", "acknowledged '-5', which is no count of bytes"),
    ("9" * 30, "acknowledged '99999999999999999999', which is no count of bytes"),
    ("\x1b[2J\n", "acknowledged '\\x1b[2J', which is no count of bytes"),
    ("1000\n999\n", "acknowledged '999', after 1000: counts are of the whole stream, and never fall"),
    ("3300001\n", "acknowledged '3300001', and only "),
], ids=str)
def test_what_makes_no_sense(surface, told, reason):
    machine = Machine(surface, "--rate", "2MB/s")
    machine.take(200_000)
    machine.tell(told)
    machine.take(-1)
    assert machine.end() == 3
    assert machine.error.count(b"\n") == 1 and reason in machine.error.decode()


def test_journals_of_other_streams(surface):
    """Without --ack it would not be known where to go on."""
    machine = Machine(surface)
    machine.take(1000)
    machine.tell("1000\n")
    wait_for(surface, 1000)
    machine.end(signal.SIGKILL)
    command = ["stream", "graph.json", "-o", "-", "--format", "raw", "--journal", "j"]
    assert surface.refuses(3, *command) == (
        "j was begun with ack true, and now it is false; give the same options, or remove the journal to begin anew")
    with (surface.directory / "j").open("a") as file:
        file.write('{"acknowledged":99999999}\n')
    machine = Machine(surface)
    machine.take(-1)
    assert machine.end() == 3
    assert machine.error == (
        b"fathom: j tells of 99999999 bytes, and the stream has 3300000; remove the journal to begin anew\n")


def test_the_reader_may_know_better(surface):
    machine = Machine(surface, "--rate", "1MB/s")
    machine.take(5000)
    machine.tell("5000\n")
    wait_for(surface, 5000)
    machine.end(signal.SIGKILL)
    assert go_on(surface, surface.expected[:1234], "--resume-at", 1234).count("goes on") == 0
