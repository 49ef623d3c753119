#!/usr/bin/env python3
"""Medial axis, its balls and local thickness between arrays on a CUDA device: blobs, as bench/axes.py makes them.

Every result must be the CPU's, byte for byte, before it is timed. "call": calls of the Python package, one behind the
other on a stream, into arrays that are there, by the device's clock; what the host takes for a call is in it where it
takes longer than the device. "graph": the same call captured once and launched again and again, the device's time
alone. Median of the runs, each of so many calls. Prints a table; --json FILE appends one JSON line for each row.

  cmake --preset cuda && cmake --build --preset cuda --target fathom_python_package
  PYTHONPATH=build/cuda/python python bench/axes_device.py
"""

import argparse
import datetime
import json
import statistics
import sys

import cupy
import fathom
import numpy as np
from axes import blobs
from measure import machine


def milliseconds(work, stream, calls, runs):
    events = [cupy.cuda.Event() for _ in range(runs + 1)]
    events[0].record(stream)
    for event in events[1:]:
        for _ in range(calls):
            work()
        event.record(stream)
    events[-1].synchronize()
    return statistics.median(map(cupy.cuda.get_elapsed_time, events, events[1:])) / calls


def captured(work, stream):
    stream.begin_capture()
    work()
    graph = stream.end_capture()
    return lambda: graph.launch(stream)


def measure(name, operation, mask, dtype, runs, **options):
    """A row of the table. `mask`: of the host; `dtype`: of the result."""
    expected = operation(mask, **options)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        here, out = cupy.asarray(mask), cupy.empty(mask.shape, dtype)

        def work():
            operation(here, out=out, stream=stream, **options)

        work()
        if not (cupy.asnumpy(out) == expected).all():
            sys.exit(f"{name} of {mask.shape} is not what the CPU computes")
        once = milliseconds(work, stream, 1, 3)
        calls = max(1, int(20 / once))
        row = {"operation": name, "shape": mask.shape, "call": milliseconds(work, stream, calls, runs)}
        again = captured(work, stream)
        again()
        row["graph"] = milliseconds(again, stream, calls, runs)
        if not (cupy.asnumpy(out) == expected).all():
            sys.exit(f"{name} of {mask.shape} is not what the CPU computes, in a graph")
    print(f"{name:>26} {' × '.join(map(str, mask.shape)):>16} {row['call']:10.4f} ms {row['graph']:10.4f} ms "
          f"{1e3 / row['graph']:10.0f} per second", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", type=int, default=1024, help="extent of the image")
    parser.add_argument("--volume", type=int, default=256, help="extent of the volume")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", help="file to append to")
    arguments = parser.parse_args()
    image = blobs([arguments.image] * 2).astype(np.uint8)
    volume = blobs([arguments.volume] * 3).astype(np.uint8)
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{device}\n{'':>26} {'':>16} {'call':>13} {'graph':>13}")
    rows = []
    for mask in (image, volume):
        nearest = fathom.nearest_site(mask)
        rows += [
            measure("medial axis", fathom.medial_axis, mask, "uint8", arguments.runs),
            measure("linear pruning", fathom.medial_axis, mask, "uint8", arguments.runs, pruning="linear", gamma=1),
            measure("of nearest sites", fathom.medial_axis_of_nearest, nearest, "uint8", arguments.runs),
            measure("its transform alone", fathom.nearest_site, mask, "int32", arguments.runs),
            measure("local thickness", fathom.local_thickness, mask, "float32", arguments.runs),
        ]
    if arguments.json:
        with open(arguments.json, "a") as file:
            for row in rows:
                about = {"device": device, "machine": machine(), "date": str(datetime.date.today())}
                file.write(json.dumps({**row, **about}) + "\n")


if __name__ == "__main__":
    main()
