"""Where output cannot go: directories that take no file, disks that are full. No partial file, no lost old one."""

import os
import resource
import subprocess
import sys
import time

import numpy as np
import pytest


@pytest.fixture
def mask(fathom):
    a = (np.random.default_rng(1).random((300, 400)) < 0.95).astype(np.uint8)
    np.save(fathom.directory / "in.npy", a)
    return fathom


@pytest.fixture
def small_disk(fathom):
    """A directory on a disk of 16 KiB."""
    directory = fathom.directory / "disk"
    directory.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", directory], capture_output=True)
    if done.returncode != 0:
        print("no file system can be mounted here: the tests of a full disk are left out")
        pytest.skip("mount is not permitted")
    yield directory
    subprocess.run(["umount", directory], check=True)


def test_directories(mask):
    (mask.directory / "folder.npy").mkdir()
    assert mask.refuses(3, "distance", "in.npy", "-o", "folder.npy") == (
        "folder.npy is a directory; name a file in it"
    )
    assert mask.refuses(3, "distance", "in.npy", "-o", "none/out.npy") == (
        "none/out.npy cannot be written: its directory takes no new file: No such file or directory"
    )
    assert mask.refuses(3, "distance", "in.npy", "-o", "in.npy/out.npy").startswith("in.npy/out.npy cannot be written")


@pytest.mark.parametrize("option", ["-o", "--nearest", "--coordinates", "--offset"])
def test_every_output_is_checked_before_the_work(mask, option):
    """The missing directory is told although the input is cut, which only reading all of it could tell."""
    whole = (mask.directory / "in.npy").read_bytes()
    (mask.directory / "cut.npy").write_bytes(whole[:-1])
    assert "cannot be written" in mask.refuses(3, "distance", "cut.npy", option, "none/a.npy")


def test_preview_is_checked_before_the_work(mask):
    assert "cannot be written" in mask.refuses(3, "distance", "in.npy", "-o", "out.npy", "--preview", "none/chart.png")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable_directory(mask):
    (mask.directory / "locked").mkdir(mode=0o555)
    assert "cannot be written" in mask.refuses(3, "distance", "in.npy", "-o", "locked/out.npy")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_unwritable_directory_for_another_user(mask):
    nobody = 65534
    for path in [mask.directory, *mask.directory.parents[:-1]]:
        if not path.stat().st_mode & 0o005 == 0o005:
            if "pytest" not in str(path):
                pytest.skip(f"{path} is closed to other users")
            path.chmod(path.stat().st_mode | 0o055)
    if subprocess.run([mask.command, "--version"], user=nobody, capture_output=True).returncode != 0:
        pytest.skip("the command cannot be run by other users")
    message = mask.refuses(3, "distance", "in.npy", "-o", "out.npy", user=nobody, group=nobody)
    assert message == "out.npy cannot be written: its directory takes no new file: Permission denied"


def test_device_that_is_full(mask):
    assert mask.refuses(3, "distance", "in.npy", "-o", "/dev/full", "--format", "npy") == (
        "/dev/full cannot be written: No space left on device"
    )
    assert os.stat("/dev/full").st_rdev == os.makedev(1, 7)  # still the device


def test_standard_output_that_is_full(mask):
    for arguments in (["distance", "in.npy", "-o", "-", "--quiet"], ["info", "in.npy"],
                      ["compare", "in.npy", "in.npy"], ["distance", "in.npy", "-o", "out.npy", "--json"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([mask.command, *arguments], cwd=mask.directory, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 3, arguments
        assert done.stderr.count(b"\n") == 1 and b"standard output" in done.stderr, arguments


def test_standard_error_that_is_full(mask):
    for arguments, code in ((["distance", "in.npy", "-o", "-"], 0), (["distance", "none.npy", "-o", "out.npy"], 3),
                            (["distance", "in.npy"], 2), (["distance"], 2)):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([mask.command, *arguments], cwd=mask.directory, stdout=subprocess.PIPE, stderr=full)
        assert done.returncode == code, arguments


@pytest.mark.parametrize("name", ["out.npy", "out.tif", "out.nii", "out.nii.gz", "out.png"])
def test_full_disk(mask, small_disk, name):
    message = mask.refuses(3, "distance", "in.npy", "-o", f"disk/{name}", "--dtype", "float64", "--spacing", "0.3")
    assert f"disk/{name}" in message and "No space left on device" in message


def test_full_disk_keeps_the_old_file(mask, small_disk):
    (small_disk / "out.npy").write_bytes(b"old")
    mask.refuses(3, "distance", "in.npy", "-o", "disk/out.npy")
    assert (small_disk / "out.npy").read_bytes() == b"old"


def test_full_disk_for_the_second_output_keeps_the_first_away(mask, small_disk):
    mask.refuses(3, "distance", "in.npy", "-o", "out.npy", "--nearest", "disk/nearest.npy")
    mask.refuses(3, "distance", "in.npy", "-o", "out.npy", "--preview", "disk/chart.png", "--title", "x")


@pytest.mark.parametrize("name", ["out.npy", "out.tif", "out.nii", "out.nii.gz", "out.png", "chart.png"])
def test_file_that_may_not_grow(mask, name):
    """The same without a mount: the system lets no file grow beyond a limit."""
    a = np.random.default_rng(2).random((600, 700))
    np.save(mask.directory / "in.npy", a > 0.05)
    option = "--preview" if name == "chart.png" else "-o"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    (mask.directory / name).write_bytes(b"old")
    message = mask.refuses(3, "distance", "in.npy", option, name, "--dtype", "float64", "--spacing", "0.3",
                           preexec_fn=limit)
    assert "File too large" in message
    assert (mask.directory / name).read_bytes() == b"old"


def test_links_are_followed(mask):
    (mask.directory / "real").mkdir()
    (mask.directory / "out.npy").symlink_to("real/out.npy")
    mask.ok("distance", "in.npy", "-o", "out.npy", "--quiet")
    assert (mask.directory / "out.npy").is_symlink()
    assert np.load(mask.directory / "real/out.npy").shape == (300, 400)
    message = mask.refuses(2, "distance", "in.npy", "-o", "out.npy", "--nearest", "real/out.npy")
    assert message == "-o and --nearest name the same file 'real/out.npy'; give each its own"


def test_permissions_are_those_of_any_new_file(mask):
    mask.ok("distance", "in.npy", "-o", "out.npy", "--preview", "chart.png", "--quiet")
    (mask.directory / "reference").touch()
    mode = (mask.directory / "reference").stat().st_mode
    assert (mask.directory / "out.npy").stat().st_mode == mode
    assert (mask.directory / "chart.png").stat().st_mode == mode


def start_on_a_terminal(mask):
    """A command, its terminal's other end, and what it waits for on standard input, long enough for a bar to appear."""
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen([mask.command, "distance", "-", "-o", "out.npy"], cwd=mask.directory,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    return process, leader, (mask.directory / "in.npy").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="pseudo terminals as Linux has them")
def test_progress_bar_on_a_terminal(mask):
    """Appears while the command works for long, and is gone at the end."""
    process, leader, data = start_on_a_terminal(mask)
    seen = os.read(leader, 1000)  # waits for the bar
    assert b"reading" in seen
    out, _ = process.communicate(data, timeout=60)
    while True:
        try:
            more = os.read(leader, 10000)
        except OSError:  # the terminal's other side is closed
            break
        if not more:
            break
        seen += more
    os.close(leader)
    assert process.returncode == 0
    assert seen.endswith(b"\r\x1b[K")
    assert out.startswith(b"out.npy: distance")


@pytest.mark.skipif(sys.platform != "linux", reason="pseudo terminals as Linux has them")
def test_progress_bar_on_a_terminal_that_is_closed(mask):
    process, leader, data = start_on_a_terminal(mask)
    assert b"reading" in os.read(leader, 1000)
    os.close(leader)
    time.sleep(0.5)  # it goes on drawing
    out, _ = process.communicate(data, timeout=60)
    assert process.returncode == 0
    assert out.startswith(b"out.npy: distance")
