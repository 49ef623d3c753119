"""Sets of sites that come and go: the answers of a SiteSet of the sites that are there."""

import sys
import threading
import time
import warnings

import fathom
import numpy as np
import pytest
from devices import Cupy, Torch
from fathom._arrays.host import as_indices

DEVICES = fathom.info().devices
BACKENDS = ["cpu", "cuda"] if DEVICES else ["cpu"]


def check(dynamic, places, queries, **options):
    """Against a set built anew. `places`: where the site with each index is; NaN: nowhere."""
    there = np.flatnonzero(np.isfinite(places).all(axis=1))
    distances, sites = fathom.SiteSet(places[there]).nearest(queries, **options)
    ours, ids = dynamic.nearest(queries, **options)
    assert len(dynamic) == len(there)
    np.testing.assert_array_equal(ours, distances)
    np.testing.assert_array_equal(ids, np.where(sites < 0, -1, there[sites]))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_edits(backend, dtype):
    random = np.random.default_rng(3)
    places = random.random((500, 3)).astype(dtype)
    dynamic = fathom.DynamicSet(places, backend=backend)
    for step in range(20):
        new = random.random((random.integers(60), 3)).astype(dtype)
        ids = dynamic.add(new)
        np.testing.assert_array_equal(ids, np.arange(len(places), len(places) + len(new)))
        places = np.concatenate([places, new])
        there = random.permutation(np.flatnonzero(np.isfinite(places[:, 0])))
        dynamic.remove(there[:30])
        places[there[:30]] = np.nan
        places[there[30:60]] = random.random((30, 3))
        dynamic.move(there[30:60], places[there[30:60]])
        queries = random.random((50, 3)).astype(dtype)
        check(dynamic, places, queries, **[{}, {"k": 5}, {"radius": 0.1}][step % 3])
    assert there[0] not in dynamic and there[30] in dynamic and len(places) not in dynamic and -1 not in dynamic
    assert 2**63 not in dynamic and 2**70 not in dynamic and -(2**70) not in dynamic
    assert 0 < dynamic.nbytes < 300 * len(dynamic)
    distances, sites = dynamic.query(queries, k=2)
    np.testing.assert_array_equal(sites, dynamic.sites.nearest(queries, k=2)[1])
    assert dynamic.query(queries, distance_upper_bound=1e-9)[1].tolist() == [len(places)] * 50


def test_types():
    dynamic = fathom.DynamicSet(np.empty((0, 2), np.float64))
    assert dynamic.nearest([0, 0]) == (np.inf, -1)
    assert dynamic.add([[3, 4]]).tolist() == [0]  # int32 goes into float64
    assert dynamic.nearest([0, 0]) == (5, 0)
    single = fathom.DynamicSet(np.float32([[0, 0]]))
    single.add([[0.5, 0.25]])
    with pytest.raises(ValueError, match=r"does not hold exactly; convert them yourself: points.astype\(float32\)"):
        single.add([[0.1, 0.2]])
    single.move(1, [[8.0, 0.0]])
    assert single.nearest(np.float32([7, 0]), k=2)[1].tolist() == [1, 0]


@pytest.mark.parametrize(("edit", "error", "message"), [
    (lambda s: s.remove(5), ValueError, "there is no site 5; 3 ids"),
    (lambda s: s.remove([1, 1]), ValueError, "site 1 is named twice"),
    (lambda s: s.remove([[1]]), ValueError, r"sites has the shape \(1, 1\)"),
    (lambda s: s.remove(1.5), TypeError, "sites has the dtype float64"),
    (lambda s: s.move([0, 1], [[1.0, 2.0]]), ValueError, "2 sites are to move to 1 places"),
    (lambda s: s.add([[1.0, np.nan]]), ValueError, "site 0 has a coordinate that is not finite"),
    (lambda s: s.add([[1.0, 2.0, 3.0]]), ValueError, "the sites have 3 coordinates, those of the set 2"),
    (lambda s: s.add([1.0, 2.0]), ValueError, r"points are an array \[n, d\] or \[batch, n, d\], not of the shape 2"),
    (lambda s: s.remove(np.uint64(2**63 + 5)), ValueError, "there is no site 9223372036854775813"),
])
def test_refusals(edit, error, message):
    dynamic = fathom.DynamicSet(np.arange(6.0).reshape(3, 2))
    with pytest.raises(error, match=message):
        edit(dynamic)
    assert len(dynamic) == 3


@pytest.mark.parametrize("dtype", ["i4", "f4"])
def test_places_that_a_dtype_does_not_hold(dtype):
    dynamic = fathom.DynamicSet(np.zeros((1, 2), dtype))
    name = np.dtype(dtype).name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for wrong in np.nan, np.inf:
            with pytest.raises(ValueError, match="site 1 has a coordinate that is not finite"):
                dynamic.add([[1.0, 2.0], [3.0, wrong]])
        with pytest.raises(ValueError, match=f"beyond those of {name}, the dtype of the set; make a set of float64"):
            dynamic.add([[1.0, 1e60]])
        with pytest.raises(ValueError, match=f"does not hold exactly; .*astype.{name}."):
            dynamic.move(0, [[1.0, 1.1]])
        dynamic.add([[1.0, 2.0]])
    assert len(dynamic) == 2


def test_indices_are_copied():
    """Another thread may write into the caller's array between the check and the edit."""
    given = np.arange(5)
    assert not np.shares_memory(as_indices(given, "sites", "site"), given)


@pytest.mark.skipif(not DEVICES, reason="no CUDA device, or a build without CUDA")
@pytest.mark.parametrize("kind", [Torch, Cupy])
@pytest.mark.parametrize("backend", [None, "cpu"])
def test_places_on_a_device(kind, backend):
    library = kind()
    random = np.random.default_rng(8)
    places = random.random((3000, 3), np.float32)
    dynamic = fathom.DynamicSet(library.put(places), backend=backend)
    assert dynamic.nbytes > (1.5 if backend is None else 1) * 30 * len(places)  # there and on the host, or here alone
    new, to = random.random((2, 500, 3), np.float32)
    assert dynamic.add(library.put(new)).tolist() == list(range(3000, 3500))
    dynamic.move(np.arange(1000, 1500), library.put(to))
    dynamic.remove(range(100))
    places = np.concatenate([places, new])
    places[1000:1500] = to
    places[:100] = np.nan
    queries = random.random((200, 3), np.float32)
    check(dynamic, places, queries, k=3)
    if backend is None:
        there = np.flatnonzero(np.isfinite(places[:, 0]))
        expected = there[fathom.SiteSet(places[there]).nearest(queries)[1]]
        np.testing.assert_array_equal(library.get(dynamic.nearest(library.put(queries))[1]), expected)
    for wrong, error, message in [
        (lambda: dynamic.add(library.put(np.zeros((1, 3)))), TypeError, "points has the dtype float64, the set float32"),
        (lambda: dynamic.add(library.put(np.float32([[1, 2, np.inf]]))), ValueError, "site 0 has a coordinate that is"),
        (lambda: dynamic.move([5000], library.put(to[:1])), ValueError, "there is no site 5000"),
        (lambda: dynamic.add(np.zeros((1, 3)), stream=0), ValueError, "stream is for arrays on a CUDA device"),
        (lambda: fathom.DynamicSet(library.put(places), backend="gpu"), ValueError, "backend is 'gpu'"),
    ]:
        with pytest.raises(error, match=message):
            wrong()
    stream = library.stream()
    with library.on(stream):
        later = library.put(np.float32([[5, 5, 5]]))
        dynamic.add(later)
    assert dynamic.nearest([5, 5, 5])[1] == 3500
    assert fathom.DynamicSet(library.put(np.empty((0, 2)))).nearest([0, 0]) == (np.inf, -1)


def run_or_give_up(work, seconds=60):
    """A thread that waits for itself cannot be interrupted; here it is left behind, and the test fails."""
    result = []
    thread = threading.Thread(target=lambda: result.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "waits for ever"
    return result[0]


@pytest.mark.parametrize("edit", [
    lambda s: s.add([[2.0] * 3]),
    lambda s: s.remove(0),
    lambda s: s.move(0, [[2.0] * 3]),
])
def test_progress_may_not_edit_but_ask(edit):
    random = np.random.default_rng(5)
    dynamic = fathom.DynamicSet(random.random((2000, 3)))
    other = fathom.DynamicSet(random.random((20, 3)))
    queries = random.random((300_000, 3))
    refusals, answers, editors = [], [], []

    def progress(share):
        if share == 1:
            return
        if not editors:  # one that waits does not keep us from asking again
            editors.append(threading.Thread(target=dynamic.add, args=(np.full((1, 3), 5.0),), daemon=True))
            editors[0].start()
            time.sleep(0.05)
        answers.append((len(dynamic), 0 in dynamic, int(dynamic.nearest(queries[0])[1])))
        other.add([[0.5] * 3])
        with pytest.raises(RuntimeError, match="progress may not edit the set that is asked"):
            edit(dynamic)
        refusals.append(share)

    sites = run_or_give_up(lambda: dynamic.nearest(queries, k=8, threads=1, progress=progress)[1])
    assert refusals and set(answers) == {(2000, True, sites[0, 0])}
    run_or_give_up(editors[0].join)
    assert len(dynamic) == 2001 and len(other) == 20 + len(refusals)
    edit(dynamic)


def test_size_is_told_during_edits():
    dynamic = fathom.DynamicSet(np.zeros((1, 3)))
    places = np.random.default_rng(6).random((500_000, 3))
    took = []

    def add():
        start = time.perf_counter()
        dynamic.add(places)
        took.append(time.perf_counter() - start)

    thread = threading.Thread(target=add)
    thread.start()
    longest = 0
    while thread.is_alive():
        start = time.perf_counter()
        assert len(dynamic) in (1, 500_001) and dynamic.nbytes > 0
        longest = max(longest, time.perf_counter() - start)
    thread.join()
    assert longest < took[0] / 2


def test_edits_get_their_turn():
    """Among many who ask without a pause."""
    random = np.random.default_rng(7)
    dynamic = fathom.DynamicSet(random.random((2000, 3)))
    queries = random.random((10_000, 3))
    asked = []

    def ask():
        for _ in range(50):
            dynamic.nearest(queries, threads=1)
            asked.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    while len(asked) < 16:
        time.sleep(0.001)
    before = len(asked)
    dynamic.add([[5.0, 5.0, 5.0]])
    waited = len(asked) - before
    for thread in threads:
        thread.join()
    assert waited < 100


def test_threads_ask_and_edit_at_once():
    random = np.random.default_rng(4)
    core = random.random((2000, 3))
    dynamic = fathom.DynamicSet(core)
    queries = random.random((1000, 3))
    distances, sites = fathom.SiteSet(core).nearest(queries, k=3)
    edits, seen, failures = [], [], []

    def edit(seed):
        own = np.random.default_rng(seed)
        rounds = 0
        while rounds < 100 or (len(set(seen)) <= 10 and rounds < 20_000):  # until enough fell between queries
            rounds += 1
            far = 100 + own.random((30, 3))
            ids = dynamic.add(far)
            none = dynamic.query([[50.0] * 3], distance_upper_bound=1.0)[1]
            if len(ids) != 30 or none[0] <= ids[-1]:
                failures.append((ids, none))
            dynamic.remove(ids[::2])
            far[1::2] += 1
            dynamic.move(ids[1::2], far[1::2])
            far[::2] = np.nan
            edits.append((ids, far))

    def ask():
        while any(editor.is_alive() for editor in editors):
            try:
                ours, ids = dynamic.nearest(queries, k=3)
            except RuntimeError as error:
                failures.append(error)
                return
            if not (np.array_equal(ours, distances) and np.array_equal(ids, sites)):
                failures.append(ids)
            seen.append(len(edits))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        editors = [threading.Thread(target=edit, args=(seed,)) for seed in range(2)]
        threads = editors + [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures and len(edits) >= 200
    assert len(set(seen)) > 10
    ids = np.concatenate([ids for ids, _ in edits])
    np.testing.assert_array_equal(np.sort(ids), np.arange(2000, 2000 + 30 * len(edits)))
    places = np.concatenate([core, np.concatenate([far for _, far in edits])[np.argsort(ids)]])
    check(dynamic, places, 100 + 2 * random.random((500, 3)), k=4)
