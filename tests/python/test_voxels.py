"""Sets of voxels that come and go: the answers of a SiteSet of the same mask."""

import threading

import fathom
import numpy as np
import pytest
from devices import Cupy, Torch

DEVICES = fathom.info().devices
BACKENDS = ["cpu", "cuda"] if DEVICES else ["cpu"]


def check(voxels, mask, queries, **options):
    distances, sites = fathom.SiteSet.of_mask(mask).nearest(queries, **options)
    ours, elements = voxels.nearest(queries, **options)
    assert len(voxels) == np.count_nonzero(mask)
    np.testing.assert_array_equal(ours, distances)
    np.testing.assert_array_equal(elements, sites)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(90, 70), (20, 30, 25)])
def test_edits(backend, shape):
    random = np.random.default_rng(1)
    mask = np.zeros(shape, bool)
    voxels = fathom.VoxelSet(shape, backend=backend)
    flat = mask.reshape(-1)
    for step in range(20):
        new = random.integers(flat.size, size=60)
        assert voxels.add(new) == len(np.unique(new[~flat[new]]))
        flat[new] = True
        there = random.permutation(np.flatnonzero(flat))
        gone = np.concatenate([there[:20], there[:5], np.flatnonzero(~flat)[:7]])  # some twice, some that are none
        assert voxels.remove(gone) == 20
        flat[gone] = False
        to = random.integers(flat.size, size=25)
        assert voxels.move(there[20:45], to) == 25
        flat[there[20:45]] = False
        flat[to] = True
        queries = random.random((50, len(shape))) * shape * 1.4 - 3
        cone = {"directions": (1,) * len(shape), "half_angle": 0.8}
        check(voxels, mask, queries, **[{}, {"k": 5}, {"radius": 2}, cone][step % 4])
    assert voxels.shape == shape and voxels.nbytes < flat.size / 6 + 1024
    assert int(to[0]) in voxels and (int(gone[0]) in voxels) == flat[gone[0]]
    assert -1 not in voxels and flat.size not in voxels and 2**70 not in voxels
    check(fathom.VoxelSet.of_mask(mask, backend=backend), mask, queries, k=3)
    assert voxels.query(queries, distance_upper_bound=1e-9)[1].tolist() == [flat.size] * 50
    np.testing.assert_array_equal(voxels.sites.query(queries, k=2)[0], voxels.nearest(queries, k=2)[0])


@pytest.mark.parametrize("edit,error,message", [
    (lambda v: v.add(20), ValueError, r"there is no element 20 in a set of 4 × 5; give linear indices from 0 to 19"),
    (lambda v: v.add([3, -1]), ValueError, "there is no element -1"),
    (lambda v: v.move([3, 4], [1]), ValueError, "2 elements are to move to 1 places"),
    (lambda v: v.move([3], [[1]]), ValueError, r"to has the shape \(1, 1\)"),
    (lambda v: v.move([3], None), TypeError, "to holds objects"),
    (lambda v: v.remove(1.5), TypeError, "elements has the dtype float64; indices are integers"),
    (lambda v: v.remove(np.uint64(2**63 + 5)), ValueError, "there is no element 9223372036854775813"),
    (lambda v: v.add([1], stream=0), ValueError, "stream is for arrays on a CUDA device; elements lies on the host"),
    (lambda v: v.nearest([1, 2, 3]), ValueError, r"q has the shape \(3,\); it must have"),
])
@pytest.mark.parametrize("backend", BACKENDS)
def test_refusals(backend, edit, error, message):
    voxels = fathom.VoxelSet((4, 5), backend=backend)
    voxels.add([2, 3])
    with pytest.raises(error, match=message):
        edit(voxels)
    assert len(voxels) == 2 and 2 in voxels and 3 in voxels


def test_shapes_that_are_none():
    with pytest.raises(ValueError, match="a set of voxels has 2 or 3 axes, not 1"):
        fathom.VoxelSet((5,))
    for none in 5, (5, 5.0), None:
        with pytest.raises(TypeError, match="shape is .*; it must be 2 or 3 integers"):
            fathom.VoxelSet(none)
    for none in (2**31, 5), (5, -1), (2**70, 5), (5, -(2**70)):
        with pytest.raises(ValueError, match="shape is .*; extents must be from 0 to 2³¹ − 1"):
            fathom.VoxelSet(none)
    with pytest.raises(ValueError, match="mask has 1 axes; it must have 2 or 3"):
        fathom.VoxelSet.of_mask([1, 0])
    with pytest.raises(ValueError, match="backend"):
        fathom.VoxelSet((5, 5), backend="gpu")
    if not DEVICES:
        with pytest.raises(fathom.DeviceError):
            fathom.VoxelSet((5, 5), backend="cuda")


def test_threads_ask_and_edit_at_once():
    """Far elements come and go, while the nearest ones stay."""
    voxels = fathom.VoxelSet((64, 64, 64))
    core = np.arange(0, 4096, 7)
    voxels.add(core)
    queries = np.random.default_rng(2).random((2000, 3)) * [1, 64, 64]
    distances, sites = voxels.nearest(queries)
    far, wrong, stop = np.arange(64**3 - 4096, 64**3), [], threading.Event()

    def ask():
        while not stop.is_set():
            ours, elements = voxels.nearest(queries, threads=1)
            if not (np.array_equal(ours, distances) and np.array_equal(elements, sites)):
                wrong.append(elements)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(100):
            assert voxels.add(far) == len(far)
            assert voxels.remove(far) == len(far)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong and len(voxels) == len(core)


def test_progress_may_not_edit_but_ask():
    voxels = fathom.VoxelSet((30, 30))
    voxels.add(7)
    seen = []

    def progress(share):
        if share == 1:
            return
        seen.append((len(voxels), 7 in voxels))
        with pytest.raises(RuntimeError, match="progress may not edit the set that is asked"):
            voxels.add(8)

    voxels.nearest(np.random.default_rng(3).random((400_000, 2)) * 30, k=8, threads=1, progress=progress)
    assert set(seen) == {(1, True)}
    assert voxels.add(8) == 1


@pytest.mark.skipif(not DEVICES, reason="no CUDA device, or a build without CUDA")
@pytest.mark.parametrize("kind", [Torch, Cupy])
def test_on_a_device(kind):
    """Masks, edits, queries and answers in the device's memory."""
    library = kind()
    random = np.random.default_rng(4)
    mask = random.random((40, 50, 60)) < 0.001
    queries = (random.random((200, 3)) * mask.shape).astype("f4")
    voxels = fathom.VoxelSet.of_mask(library.put(mask))
    flat = mask.reshape(-1)
    for dtype in "int64", "int32", "uint64":
        new, gone = random.integers(flat.size, size=500).astype(dtype), np.flatnonzero(flat)[::3].astype(dtype)
        assert voxels.add(library.put(new)) == len(np.unique(new[~flat[new]]))
        flat[new] = True
        assert voxels.remove(library.put(gone)) == np.count_nonzero(flat[gone])
        flat[gone] = False
        assert voxels.move(library.put(new), library.put(new[::-1].copy())) == np.count_nonzero(flat[new])
        arriving = new[::-1][flat[new]]
        flat[new] = False
        flat[arriving] = True
        for options in {}, {"k": 4}:
            expected = fathom.SiteSet.of_mask(mask).nearest(queries, **options)
            for ours, theirs in zip(voxels.nearest(library.put(queries), **options), expected):
                np.testing.assert_array_equal(library.get(ours), theirs)
            for ours, theirs in zip(voxels.nearest(queries, **options), expected):
                np.testing.assert_array_equal(ours, theirs)
    assert len(voxels) == np.count_nonzero(flat)
    for wrong, error, message in [
        (lambda: voxels.add(library.put(np.int64([1, 120000]))), ValueError, "there is no element 120000"),
        (lambda: voxels.add(library.put(np.uint64([1, 2**63 + 5, 2**63]))), ValueError,
         "there is no element 9223372036854775813"),
        (lambda: voxels.move(library.put(np.uint64([1])), library.put(np.uint64([2**64 - 1]))), ValueError,
         "there is no element 18446744073709551615"),
        (lambda: voxels.add(library.put(np.float32([1]))), TypeError, "indices are integers"),
        (lambda: voxels.move(library.put(np.int64([1])), [2]), ValueError, "to lies on the host, but elements on CUDA"),
        (lambda: voxels.move([1], library.put(np.int64([2]))), ValueError, "to lies on a CUDA device, but elements on"),
        (lambda: voxels.move(library.put(np.int64([1])), None), TypeError, "to holds objects"),
        (lambda: fathom.VoxelSet((5, 5)).add(library.put(np.int64([1]))), ValueError, "the set in the host's"),
        (lambda: fathom.VoxelSet.of_mask(library.put(mask), backend="cpu"), ValueError, "the backend cpu cannot work"),
    ]:
        with pytest.raises(error, match=message):
            wrong()
    assert len(voxels) == np.count_nonzero(flat)
    assert voxels.add(library.put(np.float64([]))) == voxels.add([]) == 0
    stream = library.stream()
    with library.on(stream):
        later = library.put(np.int64([5]))
        voxels.add(later)
        assert library.get(voxels.nearest(library.put(np.float32([[0, 0, 5]])))[1]).tolist() == [5]
