"""Forked processes compute as others do, whatever the threads of the process before were at."""

import subprocess
import sys

import fathom
import pytest

# The children of a process in which other threads work all the time. A child that hangs is killed, and told of.
BUSY = """
import multiprocessing, os, signal, sys, threading, time, warnings
import numpy as np, fathom

warnings.simplefilter("ignore", DeprecationWarning)  # of forks where there are threads
stop = threading.Event()


def busy(work):
    def go():
        while not stop.is_set():
            work()

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    return thread


def children(count, work):
    exits = []
    for n in range(count):
        time.sleep(0.003)
        child = os.fork()
        if child == 0:
            code = work()
            sys.exit(code) if n % 2 else os._exit(code)
        end = time.monotonic() + 60
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
            time.sleep(0.001)
        if ended[0] == 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        exits.append("hung" if ended[0] == 0 else os.waitstatus_to_exitcode(ended[1]))
    return exits


image = np.ones((300, 400), np.uint8)
image[100, 200] = 0
points = np.random.default_rng(0).random((5000, 3))
sites = fathom.SiteSet(points)
field = fathom.distance_transform(image, threads=4)
found = sites.nearest(points[:300] + 1, k=3, threads=4)
"""

COMPUTE = BUSY + """
def work():
    same = np.array_equal(fathom.distance_transform(image, threads=4), field)
    same &= all(map(np.array_equal, sites.nearest(points[:300] + 1, k=3, threads=4), found))
    same &= all(map(np.array_equal, fathom.SiteSet(points, threads=4).nearest(points[:300] + 1, k=3), found))
    fathom.release_threads()
    return 0 if same and fathom.info().threads == len(os.sched_getaffinity(0)) else 1


threads = [busy(lambda: fathom.distance_transform(image, threads=4)), busy(lambda: sites.nearest(points, threads=4))]
exits = children(60, work)
stop.set()
for thread in threads:
    thread.join()
print({code: exits.count(code) for code in exits}, work())
"""

POOL = BUSY + """
def work(number):
    return float(fathom.distance_transform(image[number:], threads=4).sum())


thread = busy(lambda: fathom.distance_transform(image, threads=4))
with multiprocessing.get_context("fork").Pool(4, maxtasksperchild=1) as pool:
    sums = pool.map_async(work, range(60), chunksize=1).get(100)
stop.set()
thread.join()
print(sums == list(map(work, range(60))))
"""

SETS = BUSY + """
voxels, dynamic = fathom.VoxelSet((200, 200, 200)), fathom.DynamicSet(points)
half = np.arange(0, 200**3, 2)


def work():
    try:
        said = "whole"
        if voxels.add([1, 3]) != 2 or voxels.nearest([0.0, 0.0, 1.1])[1] != 1:
            said = "wrong"
    except RuntimeError as error:
        said = str(error)
    known = ["whole", "the set was being edited when this process was forked, and nobody knows its sites here; build it anew"]
    works = dynamic.add([[5.0, 5.0, 5.0]]).tolist() == [5000] and dynamic.nearest([5.0, 5.0, 5.1])[1] == 5000
    return known.index(said) if works else 9


def edit():
    voxels.add(half)
    voxels.remove(half)


threads = [busy(edit), busy(lambda: dynamic.nearest(points))]
exits = children(40, work)
stop.set()
for thread in threads:
    thread.join()
print(set(exits) <= {0, 1} and 1 in exits, len(voxels), work())
"""

ASKED = BUSY + """
def progress(share):  # forks in the midst of a call of its own
    if os.fork() == 0:
        os._exit(0 if dynamic.add([[5.0, 5.0, 5.0]])[0] == 5000 else 1)
    exits.append(os.waitstatus_to_exitcode(os.wait()[1]))


exits, dynamic = [], fathom.DynamicSet(points)
sites.nearest(np.random.default_rng(1).random((200_000, 3)), k=8, threads=2, progress=progress)
print(set(exits))
"""


@pytest.mark.parametrize("script, printed", [
    (COMPUTE, "{0: 60} 0\n"), (POOL, "True\n"), (SETS, "True 0 0\n"), (ASKED, "{0}\n"),
], ids=["computing", "pool", "sets", "out of a call"])
def test_forks(script, printed):
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert (ran.stdout, ran.stderr, ran.returncode) == (printed, "", 0)


@pytest.mark.skipif(bool(fathom.info().devices), reason="there is a CUDA device")
def test_a_device_of_before_the_fork_is_told_of():
    """As PyTorch's tensors meet it; what the library itself says stands in tests/parity/cuda/call_test.cpp."""
    script = """
import os, fathom

fathom._core.HAS_CUDA = True


class OnDevice:
    def __dlpack_device__(self):
        return 2, 0


for attempt in 0, 1:
    try:
        fathom.distance_transform(OnDevice())
    except fathom.DeviceError as error:
        print(error, flush=True)
    if attempt == 0 and os.fork():
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    before, after = ran.stdout.splitlines()
    assert before == "x lies on a CUDA device, and this process can use none; copy it to the host first"
    assert after == (
        "x lies on a CUDA device, and this process was forked: it cannot use what was in use before; start it with the "
        "start method spawn of multiprocessing, or copy the array to the host first"
    )
