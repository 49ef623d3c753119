"""How calls behave beside others: threads, progress, Ctrl-C."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import fathom
import numpy as np
import pytest

LONG = np.ones((1200, 1200), np.uint8)
LONG[600, 600] = 0
NO_DEVICE = os.environ | {"CUDA_VISIBLE_DEVICES": ""}  # which would be done before it is interrupted


def test_many_threads_at_once():
    random = np.random.default_rng(0)
    images = [(random.random((64 + n, 90 - n)) > 0.05).astype(np.uint8) for n in range(16)]
    expected = [fathom.distance_transform(image, return_indices=True, threads=1) for image in images]

    def work(job):
        at = job % len(images)
        got = fathom.distance_transform(images[at], return_indices=True, threads=1 + job % 3)
        return all(map(np.array_equal, got, expected[at]))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(400)))


def test_other_threads_run_meanwhile():
    """Without the lock released, the counter could not move while the call works."""
    counted = []
    stop = threading.Event()

    def count():
        n = 0
        while not stop.is_set():
            n += 1
            if n % 100 == 0:
                counted.append(time.perf_counter())

    counter = threading.Thread(target=count)
    counter.start()
    try:
        start = time.perf_counter()
        for _ in range(5):
            fathom.distance_transform(LONG, metric="chessboard", return_indices=True, threads=1)
        end = time.perf_counter()
    finally:
        stop.set()
        counter.join()
    assert sum(start < t < end for t in counted) > 10


def test_progress_rises_to_the_end():
    for options in ({}, {"threads": 1}, {"threads": 4}):
        shares = []
        fathom.distance_transform(LONG, progress=shares.append, **options)
        assert shares == sorted(shares) and shares[-1] == 1 and shares.count(1) == 1
    shares = []
    fathom.distance_transform(np.stack([LONG] * 3), ndim=2, threads=2, progress=shares.append)
    assert shares[-1] == 1 and all(0 <= share <= 1 for share in shares)


def test_bar(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    fathom.distance_transform(LONG, progress=True)
    assert stream.getvalue().startswith("\r") and "100%|███" in stream.getvalue()
    assert stream.getvalue().endswith("\n")
    fathom.distance_transform(LONG, progress=False)
    assert stream.getvalue().count("\n") == 1


def test_errors_of_the_listener_stop_the_call():
    def fail(share):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        fathom.distance_transform(LONG, progress=fail)
    assert fathom.distance_transform(LONG)[600, 601] == 1


INTERRUPTED = """
import numpy as np, fathom, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # where a shell started the tests in the background, it is ignored
x = np.ones((400, 400, 400), bool)
x[200, 200, 200] = False
print("ready", flush=True)
try:
    fathom.nearest_site(x, metric="chessboard", threads=int(sys.argv[1]))
    print("done", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c(threads):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, threads], stdout=subprocess.PIPE, text=True,
                               env=NO_DEVICE)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        sent = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        line = process.stdout.readline()
        took = time.monotonic() - sent
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert line == "stopped\n", "the call ran to its end"
    assert took < 30  # on a busy machine; the call would take minutes


STOPPED = """
import signal, sys, time
import numpy as np, fathom


class Stop(BaseException):
    pass


def stop(signal, frame):
    raise Stop


signal.signal(signal.SIGPROF, stop)  # after so much time of the processor: other programs do not count
random = np.random.default_rng(0)
places = random.random((3_000_000, 3))
equal = np.repeat(random.random((3, 3)), 700_000, axis=0)
mask = random.random((240, 240, 240)) < 0.3
voxels, dynamic = fathom.VoxelSet(mask.shape), fathom.DynamicSet(places[:1_000_000])
elements = random.permutation(mask.size)
plain = fathom.SiteSet(places, storage="plain")
labels = np.where(random.random((260, 260, 260)) < 0.001, 1.0, np.nan).astype("c16")
leaving = iter(np.arange(600_000).reshape(3, -1))
calls = {
    "build": lambda: fathom.SiteSet(places, threads=1),
    "build of equal ones": lambda: fathom.SiteSet(equal, threads=1),
    "of_mask": lambda: fathom.SiteSet.of_mask(mask, threads=1),
    "voxels of_mask": lambda: fathom.VoxelSet.of_mask(mask),
    "voxels add": lambda: voxels.add(elements),
    "voxels move": lambda: voxels.move(elements, elements[::-1].copy()),
    "dynamic build": lambda: fathom.DynamicSet(places, threads=1),
    "dynamic add": lambda: dynamic.add(places[:200_000]),
    "dynamic add many": lambda: dynamic.add(places),
    "dynamic move": lambda: dynamic.move(np.arange(200_000), places[:200_000]),
    "dynamic remove": lambda: dynamic.remove(next(leaving)),
    "scan": lambda: plain.nearest(places[:200], k=3, threads=1),
    "fill": lambda: fathom.fill_nearest(labels, threads=1),
}
for name, call in calls.items():
    stopped = 0
    for delay in 0.02, 0.1, 0.25:
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, delay)
        try:
            call()
            signal.setitimer(signal.ITIMER_PROF, 0)
        except Stop:
            stopped += 1
        late = time.process_time() - start - delay
        assert late < 0.5 or stopped == 0, (name, delay, late)
    assert stopped, name
left = len(voxels)
assert voxels.add(elements) == mask.size - left and len(voxels) == mask.size
assert dynamic.nearest(places[999_999])[1] == 999_999 and len(dynamic) >= 400_000
ids = dynamic.add(places[:3])
dynamic.remove(ids)
print("whole")
"""


def test_every_long_call_hears_signals():
    ran = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, timeout=500, env=NO_DEVICE)
    assert (ran.stdout, ran.stderr) == ("whole\n", "")


def test_info():
    info = fathom.info()
    assert info.version == fathom.__version__
    assert info.instruction_sets[0] == "baseline"
    assert 1 <= info.threads <= os.cpu_count()
    assert "cpu" in info.backends
    fathom.release_threads()
    fathom.release_device_memory()
    assert fathom.distance_transform(LONG)[600, 600] == 0
