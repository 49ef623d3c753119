"""Paths that are no files: pipes, FIFOs, sockets, devices, names of descriptors that are open, as input and as output."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

MASK = (np.random.default_rng(1).random((300, 400)) < 0.95).astype(np.uint8)
SITES = np.random.default_rng(2).random((3000, 2))
VOLUME = np.zeros((20, 21, 22), np.uint8)
VOLUME[5:15, 5:15, 5:15] = 1
STDOUT_NAMES = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/fd/../fd/1", "link"]


@pytest.fixture
def files(fathom):
    np.save(fathom.directory / "m.npy", MASK)
    np.save(fathom.directory / "v.npy", VOLUME)
    np.savetxt(fathom.directory / "p.csv", SITES, delimiter=",")
    (fathom.directory / "link").symlink_to("/dev/stdout")
    fathom.ok("distance", "m.npy", "-o", "field.npy", "--quiet")
    return fathom


@contextlib.contextmanager
def writing(data, descriptor_or_path):
    """Another thread that writes into a pipe, or into a FIFO as soon as somebody reads it."""
    def write():
        with contextlib.suppress(BrokenPipeError), open(descriptor_or_path, "wb") as pipe:
            pipe.write(data)

    thread = threading.Thread(target=write)
    thread.start()
    yield
    thread.join(60)
    assert not thread.is_alive()


def run_with(fathom, way, data, *arguments):
    """Runs the command where PIPE among the arguments is a path whose bytes come through a pipe of some kind."""
    def filled(path):
        return [path if argument == "PIPE" else argument for argument in arguments]

    if way == "fifo":
        os.mkfifo(fathom.directory / "fifo")
        with writing(data, fathom.directory / "fifo"):
            outcome = fathom(*filled("fifo"))
        (fathom.directory / "fifo").unlink()
        return outcome
    if way == "substitution":  # <(command) of a shell
        ours, theirs = os.pipe()
        with writing(data, theirs):
            outcome = fathom(*filled(f"/dev/fd/{ours}"), pass_fds=[ours])
            os.close(ours)
        return outcome
    if way == "socket":  # what some programs and services give as standard input
        ours, theirs = socket.socketpair()
        with writing(data, theirs.detach()), ours:
            done = subprocess.run([fathom.command, *filled("/dev/stdin")], stdin=ours.fileno(), capture_output=True,
                                  cwd=fathom.directory, timeout=120)
        return type(fathom("--version"))(done.returncode, done.stdout, done.stderr)
    return fathom(*filled(way), stdin=data)


WAYS = ["fifo", "substitution", "socket", "-", "/dev/stdin", "/proc/self/fd/0"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("verb", ["info", "distance", "render", "compare", "query", "query_sites"])
def test_every_verb_reads_pipes(files, way, verb):
    data, arguments = {
        "info": ("m.npy", ["info", "PIPE"]),
        "distance": ("m.npy", ["distance", "PIPE", "-o", "out.npy", "--quiet"]),
        "render": ("v.npy", ["render", "PIPE", "-o", "out.npy", "--size", "40x30", "--quiet"]),
        "compare": ("field.npy", ["compare", "field.npy", "PIPE"]),
        "query": ("p.csv", ["query", "p.csv", "PIPE", "-o", "out.npy", "--quiet"]),
        "query_sites": ("p.csv", ["query", "PIPE", "p.csv", "-o", "out.npy", "--quiet"]),
    }[verb]
    outcome = run_with(files, way, (files.directory / data).read_bytes(), *arguments)
    assert (outcome.code, outcome.err) == (0, b"")
    found = files.directory / "out.npy"
    through_pipe = found.read_bytes() if found.exists() else b""
    expected = files(*(data if argument == "PIPE" else argument for argument in arguments))
    assert outcome.out.splitlines()[1:] == expected.out.splitlines()[1:]  # the first names the file
    assert through_pipe == (found.read_bytes() if found.exists() else b"")


@pytest.mark.parametrize("way", ["fifo", "substitution"])
@pytest.mark.parametrize("name", ["a.npy", "a.png", "a.tif", "a.nii", "a.nii.gz"])
def test_every_format_comes_through_pipes(fathom, way, name):
    path = fathom.directory / name
    if name.endswith("npy"):
        np.save(path, MASK)
    elif name.endswith("png"):
        Image.fromarray(MASK).save(path)
    elif name.endswith("tif"):
        tifffile.imwrite(path, MASK)
    else:
        nibabel.save(nibabel.Nifti1Image(MASK, np.eye(4)), path)
    fathom.ok("distance", name, "-o", "expected.npy", "--quiet")
    outcome = run_with(fathom, way, path.read_bytes(), "distance", "PIPE", "-o", "out.npy", "--quiet")
    assert outcome == (0, b"", b"")
    np.testing.assert_array_equal(np.load(fathom.directory / "out.npy"), np.load(fathom.directory / "expected.npy"))


@pytest.mark.parametrize("way", WAYS)
def test_a_broken_pipe_is_named(files, way):
    data = (files.directory / "m.npy").read_bytes()[:-7]
    outcome = run_with(files, way, data, "distance", "PIPE", "-o", "out.npy")
    assert outcome.code == 3 and b" is truncated: " in outcome.err and outcome.err.count(b"\n") == 1
    outcome = run_with(files, way, b"", "info", "PIPE")
    assert outcome.code == 3 and b" is empty; " in outcome.err


def test_two_pipes(files):
    first, second = os.pipe(), os.pipe()
    data = (files.directory / "field.npy").read_bytes()
    with writing(data, first[1]), writing(data, second[1]):
        outcome = files("compare", f"/dev/fd/{first[0]}", f"/dev/fd/{second[0]}", pass_fds=[first[0], second[0]])
        os.close(first[0])
        os.close(second[0])
    assert outcome == (0, "equal: 300 × 400, float32\n".encode(), b"")


@pytest.mark.parametrize("a, b", [("-", "/dev/stdin"), ("/dev/stdin", "/proc/self/fd/0"), ("/dev/fd/0", "/dev/fd/0")])
@pytest.mark.parametrize("verb", [["compare"], ["query", "-o", "out.npy"]])
def test_one_pipe_is_read_once(files, a, b, verb):
    message = files.refuses(2, verb[0], a, b, *verb[1:], stdin=b"1,2\n")
    assert message == f"{a} and {b} are one pipe, which only one of them can read; give one of them a file"


def test_a_file_by_the_name_of_a_descriptor_is_a_file(files):
    with open(files.directory / "field.npy", "rb") as file:
        done = subprocess.run([files.command, "compare", "/dev/stdin", "/dev/fd/0"], stdin=file, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("path, message", [
    ("/dev/zero", "/dev/zero is a device that never ends; name a file or a pipe"),
    ("/dev/urandom", "/dev/urandom is a device that never ends; name a file or a pipe"),
    (".", ". is a directory; name a file in it"),
    ("socket", "socket is a socket; name a file or a pipe"),
    ("/dev/fd/987", "/dev/fd/987 cannot be read: Bad file descriptor"),
])
@pytest.mark.parametrize("verb", [["distance", "-o", "out.npy"], ["info"], ["query", "p.csv", "-o", "out.npy"],
                                  ["compare", "m.npy"], ["render", "-o", "out.png", "--shape=9,9,9", "--dtype=uint8"]])
def test_what_cannot_be_read(files, path, message, verb):
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(files.directory):
        server.bind("socket")
    if path == "." and verb[0] in ("distance", "info"):
        message += ", or give --stack for a folder of slices"
    assert files.refuses(3, *verb, path) == message


def test_the_empty_device(files):
    readable = files.refuses(3, "info", "/dev/null").removeprefix("/dev/null is empty; ")
    assert readable.endswith(" are read")
    with open("/dev/zero", "rb") as zeros:
        done = subprocess.run([files.command, "query", "-", "p.csv", "-o", "out.npy"], stdin=zeros,
                              capture_output=True, cwd=files.directory, timeout=60)
    assert done.stderr == b"fathom: standard input is a device that never ends; name a file or a pipe\n"


# Output

@contextlib.contextmanager
def reading(fathom, fifo):
    """Another program that reads a FIFO to its end; what it found is in the list then."""
    found = []
    with open(fathom.directory / "found", "wb") as file:
        reader = subprocess.Popen(["cat", fifo], stdout=file, cwd=fathom.directory)
    try:
        yield found
        reader.wait(60)
    finally:
        reader.kill()
        reader.wait()
    found.append((fathom.directory / "found").read_bytes())


def test_a_fifo_is_written_whenever_its_reader_comes(files):
    """Nothing opens it before the result is there: a reader that saw that opening's end would be gone."""
    os.mkfifo(files.directory / "o.npy")
    expected = (files.directory / "field.npy").read_bytes()
    for _ in range(30):
        with reading(files, "o.npy") as found:
            assert files("distance", "m.npy", "-o", "o.npy", "--quiet") == (0, b"", b"")
        assert found == [expected]


@pytest.mark.parametrize("arguments", [["query", "p.csv", "p.csv", "-o", "fifo"],
                                       ["render", "v.npy", "-o", "fifo", "--size", "40x30"],
                                       ["distance", "m.npy", "-o", "out.npy", "--nearest", "fifo"],
                                       ["distance", "m.npy", "--preview", "fifo.png"]])
def test_fifos_of_other_outputs(files, arguments):
    fifo = arguments[-1] if arguments[0] == "distance" else "fifo"
    os.mkfifo(files.directory / fifo)
    with reading(files, fifo) as found:
        assert files(*arguments, "--quiet") == (0, b"", b"")
    assert found[0].startswith(b"\x89PNG" if fifo.endswith("png") else b"\x93NUMPY")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("to", ["fifo", "-"])
def test_a_signal_ends_a_wait_for_a_reader(files, number, to):
    """Who opens no FIFO's other end, or does not read on, cannot hold the command."""
    os.mkfifo(files.directory / "fifo")
    process = subprocess.Popen([files.command, "distance", "m.npy", "-o", to, "--nearest", "n.npy"],
                               cwd=files.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stack = f"/proc/{process.pid}/wchan"
    deadline = time.monotonic() + 30
    while open(stack).read() not in ("fifo_open", "wait_for_partner", "pipe_write", "anon_pipe_write"):
        if time.monotonic() > deadline or open(stack).read() == "0":
            time.sleep(1)  # the system does not say where a process waits
            break
        time.sleep(0.01)
    start = time.monotonic()
    process.send_signal(number)
    assert process.wait(10) == 128 + number
    assert time.monotonic() - start < 0.5
    assert process.stderr.read() == b"fathom: interrupted; nothing was written\n"
    assert not (files.directory / "n.npy").exists()


@pytest.mark.parametrize("name", STDOUT_NAMES)
@pytest.mark.parametrize("arguments", [
    ["distance", "m.npy", "-o"],
    ["distance", "m.npy", "-o", "out.npy", "--nearest"],
    ["query", "p.csv", "p.csv", "-o"],
    ["render", "v.npy", "--size", "40x30", "-o"],
    ["render", "v.npy", "--size", "40x30", "-o", "out.png", "--samples"],
])
def test_standard_output_by_any_name_is_data_alone(files, name, arguments):
    files.ok(*arguments, "plain.npy", "--quiet")
    expected = (files.directory / "plain.npy").read_bytes()
    done = files(*arguments, name)  # into a pipe
    assert (done.code, done.out == expected) == (0, True)
    with open(files.directory / "out.bin", "wb") as file:
        subprocess.run([files.command, *arguments, name], stdout=file, cwd=files.directory, timeout=60, check=True)
    assert (files.directory / "out.bin").read_bytes() == expected
    called = b"standard output" if name == "-" else name.encode()
    assert any(line.startswith(called + b": ") for line in done.err.splitlines()), done.err


def test_standard_error_as_output(files):
    expected = (files.directory / "field.npy").read_bytes()
    outcome = files("distance", "m.npy", "-o", "/dev/stderr")
    assert (outcome.code, outcome.err == expected) == (0, True)
    assert outcome.text.startswith("/dev/stderr: distance, ")
    done = subprocess.run([files.command, "distance", "m.npy", "-o", "-"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=files.directory)
    assert (done.returncode, done.stdout == expected) == (0, True)  # both are one pipe: no place for a report


def test_a_fifo_that_is_standard_output_too(files):
    os.mkfifo(files.directory / "o.npy")
    with reading(files, "o.npy") as found, open(files.directory / "o.npy", "wb") as fifo:
        done = subprocess.run([files.command, "distance", "m.npy", "-o", "o.npy"], stdout=fifo, stderr=subprocess.PIPE,
                              cwd=files.directory)
    assert done.returncode == 0 and done.stderr.startswith(b"o.npy: distance, ")
    assert found == [(files.directory / "field.npy").read_bytes()]


@pytest.mark.parametrize("name", STDOUT_NAMES)
def test_json_wants_standard_output(files, name):
    for arguments, option in ((["distance", "m.npy"], "-o"), (["distance", "m.npy"], "--nearest"),
                              (["query", "p.csv", "p.csv"], "-o"), (["render", "v.npy"], "--samples")):
        message = files.refuses(2, *arguments, option, name, "--json")
        assert message == f"--json and {option} {name} both want standard output; write the result to a file"


@pytest.mark.parametrize("a, b", [(name, "-") for name in STDOUT_NAMES] + [("/dev/stdout", "/dev/fd/1"), ("-", "link")])
def test_standard_output_holds_one_result(files, a, b):
    assert files.refuses(2, "distance", "m.npy", "-o", a, "--nearest", b) == (
        f"-o and --nearest name the same file '{b}'; give each its own")


def test_outputs_that_cannot_be_written(files):
    assert files.refuses(3, "distance", "m.npy", "-o", "/dev/fd/987") == (
        "/dev/fd/987 cannot be written: Bad file descriptor")
    for arguments in (["query", "p.csv", "none.csv", "-o"], ["render", "none.npy", "-o"]):
        assert files.refuses(3, *arguments, "none/a.npy") == (  # told before the input, which is missing, too
            "none/a.npy cannot be written: its directory takes no new file: No such file or directory")
