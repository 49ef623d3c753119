#!/usr/bin/env python3
"""Times the peers in Python on the masks of device_bench, on the same device, and adds them to its results.

  device_bench --json ours.jsonl && python bench/device_peers.py ours.jsonl -o results.jsonl

Peers: CuPy's and, where it is installed, cuCIM's exact distance transform, to float32. Each result is compared with
ours by the sum of the squared distances. Median of the runs, by the device's clock.
"""

import argparse
import json
import pathlib
import statistics

import cupy
import cupyx.scipy.ndimage


def peers():
    found = {"cupy": lambda mask: cupyx.scipy.ndimage.distance_transform_edt(mask, float64_distances=False)}
    try:
        from cucim.core.operations.morphology import distance_transform_edt
        found["cucim"] = lambda mask: distance_transform_edt(mask, float64_distances=False)
    except ImportError:
        pass
    return found


def drawing():
    """What draws the masks on the device."""
    source = pathlib.Path(__file__).with_name("device_cases.cuh").read_text()
    return cupy.RawModule(code=source, options=("-std=c++17",)).get_function("draw")


def draw(kernel, record):
    """The mask as device_bench drew it, and inverted: for these peers zeros are the sites."""
    shape = [int(n) for n in record["size"].split("x")]
    mask = cupy.empty(shape, cupy.uint8)
    nz, ny, nx = ([1] * 2 + shape)[-3:]
    kernel(((mask.size + 255) // 256,), (256,), (mask, nz, ny, nx, record["kind"], cupy.float64(record["share"])))
    return mask == 0


def sum_of_squares(distances):
    return float(cupy.sum(distances.astype(cupy.float64) ** 2))


def milliseconds(work, runs):
    events = [cupy.cuda.Event() for _ in range(runs + 1)]
    events[0].record()
    for event in events[1:]:
        work()
        event.record()
    events[-1].synchronize()
    return statistics.median(map(cupy.cuda.get_elapsed_time, events, events[1:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", help="what device_bench wrote")
    parser.add_argument("-o", "--output", required=True, help="the same with the peers' times")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sizes", help="of which sizes, separated by commas; all, if not given")
    arguments = parser.parse_args()
    kernel = drawing()
    sizes = arguments.sizes and arguments.sizes.split(",")
    with open(arguments.ours) as lines, open(arguments.output, "w") as output:
        for record in map(json.loads, lines):
            is_plain = record["operation"] == "distance" and record["batch_axes"] == 0 and record["case"] != "none"
            if is_plain and (not sizes or record["size"] in sizes):
                for name, transform in peers().items():
                    mask = draw(kernel, record)
                    error = abs(sum_of_squares(transform(mask)) - record["sum_of_squares"])
                    record[name + "_ms"] = milliseconds(lambda: transform(mask), arguments.runs)
                    record[name + "_right"] = error <= 1e-6 * record["sum_of_squares"]
                    print(f"{record['size']:16} {record['case']:9} {name} {record[name + '_ms']:9.4f} ms "
                          f"{record[name + '_ms'] / record['ms']:6.1f}x", "" if record[name + "_right"] else "wrong")
            output.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
