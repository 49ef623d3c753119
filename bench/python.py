#!/usr/bin/env python3
"""The Python package beside the packages that people use today: arrays in, arrays out.

Every result is checked before it is timed: ours by brute force at random elements, each peer's against ours. Prints
tables; --json FILE appends one JSON line for each row.

  pip install .
  python bench/python.py transform calls            # on the host, one thread
  python bench/python.py device                     # on a CUDA device, beside CuPy
"""

import argparse
import datetime
import functools
import json
import timeit

import fathom
import numpy as np

from cases import CASES
from measure import Contestant, alternate, brute_force_error, check_peer, largest_difference, machine
from peers import installed_peers


def checked(image, distance):
    error = brute_force_error(image, distance)
    if error > 6e-8:
        raise SystemExit(f"our own result is wrong by {error}: nothing is timed")
    return distance


# --- NumPy array to NumPy array --------------------------------------------------------------------------------------

def transforms(args):
    """Each case at each size on one thread, new arrays each time, beside each peer."""
    peers = installed_peers([name.lower() for name in args.peers] if args.peers else None)
    print("\nNumPy array to NumPy array, one thread, ms (× = peer / ours; ! = the peer's result differs)")
    print(f"{'size':14}{'case':10}{'fathom':>9}" + "".join(f"{peer.name:>14}{'×':>7}" for peer in peers))
    for size in args.sizes:
        shape = tuple(int(n) for n in size.split("x"))
        for case in args.cases:
            image = CASES[case](shape)
            ours = functools.partial(fathom.distance_transform, image, backend="cpu", threads=1)
            reference = checked(image, ours())
            runs = {peer.name: run for peer in peers if (run := peer.prepare("plain", image, 1))}
            differences = {name: check_peer(run, "plain", reference) for name, run in runs.items()}
            del reference
            mine = Contestant(ours, args.budget)
            timed = {name: Contestant(run, args.budget) for name, run in runs.items()}
            alternate([mine, *timed.values()], args.repeat)
            best = mine.summary()["min"]
            row = f"{size:14}{case:10}{best * 1e3:9.2f}"
            for peer in peers:
                if peer.name not in timed:
                    row += f"{'–':>14}{'':>7}"
                    continue
                seconds = timed[peer.name].summary()["min"]
                mark = "" if differences[peer.name] < 1e-6 else "!"
                row += f"{mark}{seconds * 1e3:.1f}".rjust(14) + f"{seconds / best:7.1f}"
            print(row, flush=True)
            yield {"table": "transform", "size": shape, "case": case, "ours": mine.summary(),
                   "peers": {name: {**run.summary(), "difference": differences[name]} for name, run in timed.items()}}


# --- What a call costs -----------------------------------------------------------------------------------------------

def microseconds(call, number=2000, repeat=25):
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number * 1e6


def calls(args):
    """A 16 × 16 array: hardly any work, so that what is left is the call."""
    image = (np.random.default_rng(0).random((16, 16)) > 0.1).astype(np.uint8)
    reference = checked(image, fathom.distance_transform(image))
    out = np.empty_like(reference)
    contestants = {
        "fathom": lambda: fathom.distance_transform(image),
        "fathom, out=": lambda: fathom.distance_transform(image, out=out),
        "fathom, spacing": lambda: fathom.distance_transform(image, spacing=(2, 1)),
        "fathom, return_indices": lambda: fathom.distance_transform(image, return_indices=True),
    }
    for peer in installed_peers([name.lower() for name in args.peers] if args.peers else None):
        if run := peer.prepare("plain", image, 1):
            if check_peer(run, "plain", reference) > 1e-6:
                raise SystemExit(f"{peer.name} says otherwise")
            contestants[peer.name] = run
    print("\nOne call on a 16 × 16 array, µs")
    for name, call in contestants.items():
        best = microseconds(call)
        print(f"{name:24}{best:8.1f}")
        yield {"table": "calls", "name": name, "microseconds": best}


# --- On a device -----------------------------------------------------------------------------------------------------

def device(args):
    import cupy
    import torch

    print(f"\n{fathom.info().devices[0]}, PyTorch {torch.__version__}, CuPy {cupy.__version__}")
    yield from device_calls(torch)
    yield from device_batch(torch, cupy)


def device_calls(torch):
    """Time on the host until the work is on the stream: the whole call, and the C++ call in it with everything ready."""
    from fathom import _core
    from fathom._grid.options import Settings, make

    image = torch.from_numpy((np.random.default_rng(0).random((64, 64)) > 0.1).astype(np.uint8)).cuda()
    distance = fathom.distance_transform(image)
    checked(image.cpu().numpy(), distance.cpu().numpy())
    stream = torch.cuda.current_stream().cuda_stream
    describe = lambda x, dtype: _core.DeviceArray(x.data_ptr(), _core.DTYPES[dtype], x.shape, x.stride(), stream)
    x, out = describe(image, "uint8"), describe(distance, "float32")
    options = make(Settings("zero", None, "euclidean", "open", None, None, None), 2, ())

    calls = {
        "ready": lambda: _core.transform(x, 2, options, None, out),
        "whole": lambda: fathom.distance_transform(image),
    }
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(200):
        for name, call in calls.items():
            torch.cuda.synchronize()
            best[name] = min(best[name], timeit.timeit(call, number=10) / 10 * 1e6)  # short of the queue's length
    torch.cuda.synchronize()
    ready, whole = best["ready"], best["whole"]
    print(f"CUDA tensor to CUDA tensor, 64 × 64: {whole:.1f} µs, of which the C++ call {ready:.1f} µs")
    yield {"table": "device_calls", "whole": whole, "ready": ready}


def device_batch(torch, cupy):
    """Masks of a training batch: one call, against a loop over what CuPy has."""
    from cupyx.scipy.ndimage import distance_transform_edt

    shape = (256, 1, 1024, 1024)
    for case in ("blobs", "objects", "1%"):
        one = torch.from_numpy(CASES[case](shape[2:])).cuda()
        masks = torch.stack([one.roll((17 * n, 29 * n), (0, 1)) for n in range(shape[0])]).reshape(shape)
        ours = fathom.distance_transform(masks, ndim=2)
        arrays = cupy.from_dlpack(masks)
        loop = lambda: [distance_transform_edt(arrays[n, 0]) for n in range(shape[0])]
        checked(masks[5, 0].cpu().numpy(), ours[5, 0].cpu().numpy())
        for n, theirs in enumerate(loop()):
            difference = largest_difference(cupy.asnumpy(theirs), ours[n, 0].cpu().numpy())
            if difference > 1e-6:
                raise SystemExit(f"CuPy's image {n} differs by {difference}: nothing is timed")
        best = {}
        for name, call in (("ours", lambda: fathom.distance_transform(masks, ndim=2)), ("CuPy", loop)):
            seconds = []
            for _ in range(5):
                torch.cuda.synchronize()
                start = timeit.default_timer()
                call()
                torch.cuda.synchronize()
                seconds.append(timeit.default_timer() - start)
            best[name] = min(seconds)
        print(f"{shape} {case}: {best['ours'] * 1e3:.2f} ms, a loop over CuPy {best['CuPy'] * 1e3:.1f} ms "
              f"({best['CuPy'] / best['ours']:.0f}×)", flush=True)
        yield {"table": "device_batch", "case": case, "shape": shape, **best}


TABLES = {"transform": transforms, "calls": calls, "device": device}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")
    parser.add_argument("tables", nargs="+", choices=list(TABLES))
    parser.add_argument("--sizes", type=words, default=["2048x2048", "256x256x256"])
    parser.add_argument("--cases", type=words, default=list(CASES))
    parser.add_argument("--peers", type=words, default=["edt", "OpenCV", "SciPy"], help="'none' for none")
    parser.add_argument("--repeat", type=int, default=7, help="runs of each; slow ones stop when their budget is spent")
    parser.add_argument("--budget", type=float, default=3, help="seconds after which a contestant runs no more")
    parser.add_argument("--json", help="file to append one JSON line per row to")
    return parser.parse_args()


def main():
    args = parse()
    about = {"machine": machine(), "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ")}
    print(f"{about['machine']['cpu']}, {about['machine']['processors']} processors, {about['date']}; times are minima")
    for table in args.tables:
        for record in TABLES[table](args):
            if args.json:
                with open(args.json, "a") as file:
                    file.write(json.dumps({**about, **record}) + "\n")


if __name__ == "__main__":
    main()
