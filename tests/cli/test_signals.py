"""Ctrl-C, kill, kill -9: the old file or the new one, and nothing else."""

import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def start(fathom, *arguments, **popen):
    return subprocess.Popen([fathom.command, *map(str, arguments)], cwd=fathom.directory, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **popen)


def wait_until_it_listens(process):
    """Until the command has taken over the signals; before that they act as they do on any program."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        status = Path(f"/proc/{process.pid}/status").read_text()
        blocked = int(next(line for line in status.splitlines() if line.startswith("SigBlk")).split()[1], 16)
        if blocked >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.005)
    raise AssertionError("the command never took over its signals")


@pytest.mark.parametrize("number", SIGNALS)
def test_while_it_waits_for_input(fathom, number):
    process = start(fathom, "distance", "-", "-o", "out.npy", stdin=subprocess.PIPE)
    wait_until_it_listens(process)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    process.stdin.close()
    assert fathom.files() == {}


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("delay", [0, 0.02, 0.05, 0.1, 0.2])
def test_while_it_works(fathom, number, delay):
    """Whenever the signal comes, there is all of the result or nothing."""
    a = np.ones((60, 200, 200), np.uint8)
    a[0, 0, 0] = 0
    np.save(fathom.directory / "in.npy", a)
    process = start(fathom, "distance", "in.npy", "-o", "out.npy", "--nearest", "nearest.npy", "--threads", "1",
                    "--quiet")
    wait_until_it_listens(process)
    time.sleep(delay)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    names = sorted(fathom.files())
    if process.returncode == 0:
        assert names == ["in.npy", "nearest.npy", "out.npy"]
    else:
        assert process.returncode == 128 + number
        assert names == ["in.npy"]
        assert err in (b"", b"fathom: interrupted; nothing was written\n")


def test_ignored_signals_stay_ignored(fathom):
    """As under nohup, or behind a shell's `&`."""
    np.save(fathom.directory / "in.npy", np.eye(4))
    data = (fathom.directory / "in.npy").read_bytes()
    process = start(fathom, "distance", "-", "-o", "out.npy", "--quiet", stdin=subprocess.PIPE,
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    wait_until_it_listens(process)
    process.send_signal(signal.SIGINT)
    process.communicate(data, timeout=60)
    assert process.returncode == 0
    assert (fathom.directory / "out.npy").exists()


def test_kill_leaves_the_old_file_or_the_new_one(fathom):
    """Or both: a file that is replaced gets a name of its own for a moment, when it is complete."""
    generator = random.Random(7)
    a = (np.random.default_rng(8).random((700, 900)) < 0.99).astype(np.uint8)
    np.save(fathom.directory / "in.npy", a)
    fathom.ok("distance", "in.npy", "-o", "out.npy", "--quiet")
    new = (fathom.directory / "out.npy").read_bytes()
    old = b"\0" * 1000
    seen = set()
    for _ in range(60):
        (fathom.directory / "out.npy").write_bytes(old)
        process = start(fathom, "distance", "in.npy", "-o", "out.npy", "--quiet")
        time.sleep(generator.uniform(0, 0.06))
        process.kill()
        process.communicate()
        found = (fathom.directory / "out.npy").read_bytes()
        assert found in (old, new)
        seen.add(found == new)
        for name in set(fathom.files()) - {"in.npy", "out.npy"}:
            assert name.startswith(".fathom-") and found == old
            beside = fathom.directory / name
            assert beside.read_bytes() == new
            beside.unlink()
    print("kill -9 met", "both files" if len(seen) == 2 else "one of the two files")


def test_a_closed_pipe_is_an_ordinary_error(fathom):
    np.save(fathom.directory / "in.npy", np.ones((600, 600)))
    process = start(fathom, "distance", "in.npy", "-o", "-", "--quiet", "--nearest", "nearest.npy")
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(60) == 3
    assert err.startswith(b"fathom: standard output ") and err.count(b"\n") == 1
    assert list(fathom.files()) == ["in.npy"]
