"""Streams of billions of pixels through a pipe, to a sink that adds them up."""

import os
import subprocess

import numpy as np
import stream_graphs

GRAIN, HOLES = (61, 67), (7, 11)


def counts(length, period):
    """How many of [0, length) leave each remainder."""
    return np.array([len(range(k, length, period)) for k in range(period)], np.uint64)


def test_sum_of_a_large_raster(fathom):
    """2 Gpixel; with --full 100."""
    scale = 50 if "FATHOM_TEST_FULL" in os.environ else float(os.environ.get("FATHOM_TEST_SCALE", "1"))
    height, width = int(40_000 * scale), 50_000
    random = np.random.default_rng(4)
    grain = random.integers(0, 256, GRAIN).astype(np.uint8)
    holes = (random.random(HOLES) > 0.3).astype(np.uint8)
    np.save(fathom.directory / "grain.npy", grain)
    np.save(fathom.directory / "holes.npy", holes)
    graph = stream_graphs.write(fathom, {
        "grain": {"type": "file", "path": "grain.npy"},
        "leather": {"type": "repeat", "height": height, "width": width, "children": ["grain"]},
        "holes": {"type": "file", "path": "holes.npy"},
        "grid": {"type": "repeat", "height": height, "width": width, "children": ["holes"]},
        "out": {"type": "mask", "children": ["leather", {"node": "grid", "role": "mask"}]},
    })
    period = (GRAIN[0] * HOLES[0], GRAIN[1] * HOLES[1])
    y, x = np.ogrid[: period[0], : period[1]]
    cell = grain[y % GRAIN[0], x % GRAIN[1]].astype(np.uint64) * holes[y % HOLES[0], x % HOLES[1]]
    expected = int(counts(height, period[0]) @ cell @ counts(width, period[1]))

    command = [fathom.command, "stream", graph, "-o", "-", "--format", "raw", "--quiet", "--memory", "256MiB"]
    process = subprocess.Popen(command, cwd=fathom.directory, stdout=subprocess.PIPE)
    found = pixels = 0
    while piece := process.stdout.read(1 << 23):
        found += int(np.frombuffer(piece, np.uint8).sum(dtype=np.uint64))
        pixels += len(piece)
    assert process.wait() == 0
    assert (pixels, found) == (height * width, expected)
