#!/usr/bin/env python3
"""Rasters that are never stored, from `fathom stream` through a pipe, beside libvips, NumPy, OpenCV and SciPy.

Wide rasters are ours alone. Squares, whose cells and masks are files, are made by the peers that are installed, too
(libvips: `pip install pyvips[binary]`), in the same run and through the same kind of pipe. Then a machine takes
10 MB/s, and stalls now and then. Each result is checked before it is timed: parts by definition in NumPy, all of it
with one thread and other tiles; peers' pixels are compared with ours. The reader of the pipe counts on the same
processors. MB of memory are anonymous, at most, beyond those of the start; "!" where that is more than the plan said,
and 5 %. Prints a table; --json FILE appends one JSON line for each row.

  cmake --preset release && cmake --build --preset release
  PYTHONPATH=build/release/python python bench/stream.py --json stream.jsonl
"""

import argparse
import datetime
import json
import pathlib
import sys
import tempfile
import time
import zlib

import numpy as np
import stream_peers
from measure import machine
from stream_cases import Case, document, machine_case, square_cases, wide_cases
from stream_piped import Sink, run

SIDE, WINDOWS = 32, 6  # of the parts that are checked
RATE, STALL, BETWEEN = 10e6, 0.5, 7  # bytes a second; seconds that the machine stalls, and from one to the next


class Sum(Sink):
    """A checksum."""

    sum = 0

    def take(self, at, piece, asked):
        self.sum = zlib.crc32(piece, self.sum)


class Checked(Sum):
    """A checksum, and what went by in some windows."""

    def __init__(self, case):
        random = np.random.default_rng(1)
        high, wide = min(SIDE, case.height), min(SIDE, case.width)
        corners = [(0, 0), (case.height - high, case.width - wide)]
        corners += [(random.integers(case.height - high + 1), random.integers(case.width - wide + 1))
                    for _ in range(WINDOWS - 2)]
        self.windows = [((int(y), int(y) + high, int(x), int(x) + wide), np.zeros((high, wide), np.uint8))
                        for y, x in corners]
        self.rows = [(y * case.width + window[2], row) for window, held in self.windows
                     for y, row in zip(range(window[0], window[1]), held)]

    def take(self, at, piece, asked):
        super().take(at, piece, asked)
        for begin, row in self.rows:
            low, high = max(begin, at), min(begin + len(row), at + len(piece))
            if low < high:
                row[low - begin:high - begin] = np.frombuffer(piece[low - at:high - at], np.uint8)


class Kept(Checked):
    """All of it, too."""

    def __init__(self, case):
        super().__init__(case)
        self.all = np.empty(case.bytes, np.uint8)

    def take(self, at, piece, asked):
        super().take(at, piece, asked)
        self.all[at:at + len(piece)] = np.frombuffer(piece, np.uint8)


class Compared(Sink):
    """How many pixels are others."""

    def __init__(self, expected):
        self.expected, self.differ = expected, 0

    def take(self, at, piece, asked):
        self.differ += int(np.count_nonzero(self.expected[at:at + len(piece)] != np.frombuffer(piece, np.uint8)))


class Paced(Sum):
    """Takes so many bytes a second, stalls now and then, and catches up; how long it had to wait for what was due."""

    def __init__(self):
        self.begun, self.stalled, self.longest = None, time.perf_counter(), 0.0

    def take(self, at, piece, asked):
        now = time.perf_counter()
        super().take(at, piece, asked)
        self.begun = self.begun or now
        self.longest = max(self.longest, now - max(asked, self.begun + at / RATE)) if at else 0.0
        if now - self.stalled > BETWEEN:
            time.sleep(STALL)
            self.stalled = time.perf_counter()
        time.sleep(max(0.0, self.begun + (at + len(piece)) / RATE - time.perf_counter()))


class Ours:
    """The command, and the pixels of one node."""

    def __init__(self, command, folder):
        self.command, self.folder = [command, "stream", "-", "--format", "raw", "--json"], folder

    def run(self, case, sink=None, options=()):
        taken = run([*self.command, *case.options, *options], document(case.nodes), sink)
        if taken["bytes"] != case.bytes:
            sys.exit(f"{case.name}: {taken['bytes']} bytes came, not {case.bytes}")
        said = json.loads(taken.pop("said"))
        paced = {key: said[key] for key in ("underruns", "least_margin", "ring") if key in said}
        return {**taken, "plan_bytes": said["memory_bytes"], **paced}

    def file_of(self, name, nodes):
        """The path of an NPY file with the raster of the last node."""
        path = self.folder / f"{name}.npy"
        run([*self.command[:3], "--format", "npy", "--quiet"], document(nodes), Written(path))
        return str(path)

    def pixels(self, case, node, region):
        path, words = self.folder / "part.npy", ["--region", "{}:{},{}:{}".format(*region)] if region else []
        run([*self.command[:3], "--format", "npy", "--quiet", *words], document(case.nodes, node), Written(path))
        return np.load(path)


class Written(Sink):
    def __init__(self, path):
        self.file = open(path, "wb", buffering=0)

    def take(self, at, piece, asked):
        self.file.write(piece)


def check(ours, case, sink):
    """Ends the benchmark where a pixel is wrong."""
    ours.run(case, sink)
    for window, held in sink.windows:
        expected = case.expected(case, lambda node, region: ours.pixels(case, node, region), window)
        if not np.array_equal(held, expected):
            sys.exit(f"{case.name}: pixels {window} are not what they are by definition: nothing is timed")
    other = Checked(case)
    ours.run(case, other, ["--threads", "1"])
    if other.sum != sink.sum:
        sys.exit(f"{case.name}: one thread makes other bytes: nothing is timed")


def best(case, name, runs, processors):
    """A row, of the fastest run; memory is the most of all."""
    fastest = min(runs, key=lambda taken: taken["seconds"])
    return {"case": case.name, "height": case.height, "width": case.width, "name": name, **fastest,
            "processor": min(taken["processor"] for taken in runs), "runs": len(runs),
            "most_bytes": max(taken["most_bytes"] for taken in runs), "rate": case.bytes / fastest["seconds"] / 1e6,
            "processor_rate": case.bytes * processors / min(taken["processor"] for taken in runs) / 1e6,
            "aim": case.aim}


def timed_runs(call, options):
    runs = [call()]
    while len(runs) < options.repeat and sum(taken["seconds"] for taken in runs) < options.budget:
        runs.append(call())
    return runs


def wide(ours, options):
    for case in wide_cases(options.scale):
        if options.only in case.name:
            check(ours, case, Checked(case))
            yield best(case, "Fathom", timed_runs(lambda case=case: ours.run(case), options), options.processors)


def square(ours, options):
    for case in square_cases(options.square, ours.file_of):
        if options.only not in case.name:
            continue
        kept = Kept(case)
        check(ours, case, kept)
        yield best(case, "Fathom", timed_runs(lambda case=case: ours.run(case), options), options.processors)
        work = json.dumps({"case": case.name, "height": case.height, "width": case.width, "files": case.files})
        for name in stream_peers.peers_of(case.name):
            version = name in options.peers and stream_peers.version_of(name)
            if not version:
                continue
            command = [sys.executable, pathlib.Path(stream_peers.__file__), name]
            compared = Compared(kept.all)
            runs = [run(command, work, compared)]
            if options.repeat > 1 and runs[0]["seconds"] < options.budget:
                runs = timed_runs(lambda command=command, work=work: run(command, work), options)
            row = best(case, f"{name} {version}", runs, options.processors)
            yield {**row, "differ": compared.differ / case.bytes}


def paced(ours, options):
    """A machine that takes a raster at its rate."""
    width = options.paced_width
    height = int(-(-options.paced * RATE // width))
    case = Case("a machine takes 10 MB/s", height, width, machine_case(height, width), None)
    taken, at_once = Paced(), Sum()
    row = best(case, "Fathom", [ours.run(case, taken, ["--min-rate", f"{RATE / 1e6:g}MB/s"])], options.processors)
    ours.run(case, at_once)
    if taken.sum != at_once.sum:
        sys.exit(f"{case.name}: not the bytes that come without it")
    yield {**row, "longest_wait": taken.longest}


def show(row):
    over = "plan_bytes" in row and row["most_bytes"] > 1.05 * row["plan_bytes"]
    plan = f"{row['plan_bytes'] / 1e6:.0f}" if "plan_bytes" in row else ""
    differ = f" {row['differ']:.2g} differ" if row.get("differ") else ""
    if "underruns" in row:
        differ = (f" {row['underruns']} underruns, margin {row['least_margin'] or 0:.3g} s, {row['ring']} bands ahead; "
                  f"the reader waited {row['longest_wait'] * 1e3:.0f} ms")
    print(f"{row['case']:>39} {row['height']:>6} × {row['width']:<7} {row['name']:>18} {row['seconds']:8.2f} "
          f"{row['processor']:8.2f} {row['rate']:7.0f} {row['processor_rate']:7.0f} {row['aim'] or '':>5} "
          f"{row['first']:7.2f} {row['most_bytes'] / 1e6:7.0f} {plan:>5}{'!' if over else ' '}{differ}", flush=True)


def own_command():
    import fathom

    return pathlib.Path(fathom.__file__).parent / "bin" / "fathom"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", help="the command, if not that of the Python package")
    parser.add_argument("--parts", default="wide,square,paced")
    parser.add_argument("--only", default="", help="of wide and square rasters, those with this in their name")
    parser.add_argument("--square", type=int, default=16384, help="side of the rasters that peers make, too")
    parser.add_argument("--peers", default=",".join(stream_peers.PEERS))
    parser.add_argument("--paced", type=float, default=100, help="seconds that a machine takes 10 MB/s")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--budget", type=float, default=20, help="seconds after which something is not timed again")
    parser.add_argument("--quick", action="store_true", help="small rasters, once")
    parser.add_argument("--json", help="file to append one line of JSON per row to")
    options = parser.parse_args()
    options.scale, options.paced_width = 1, 262144
    if options.quick:
        options.scale, options.square, options.repeat, options.paced, options.paced_width = 0.004, 500, 1, 0.2, 4096
    options.command = options.command or own_command()
    return options


def main():
    options = read_arguments()
    about = {"machine": machine(), "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
             "command": " ".join(sys.argv)}
    options.processors = about["machine"]["processors"]
    print(f"{about['machine']['cpu']}, {options.processors} processors, {about['machine']['memory_gib']} GiB, "
          f"{about['date']}; MB/s by the clock, and of all processors' seconds")
    print(f"{'raster':>39} {'':>16} {'':>18} {'seconds':>8} {'of cpus':>8} {'MB/s':>7} {'of cpus':>7} {'aim':>5} "
          f"{'first s':>7} {'MB':>7} {'plan':>5}")
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(options.command, pathlib.Path(folder))
        for part in options.parts.split(","):
            for row in {"wide": wide, "square": square, "paced": paced}[part](ours, options):
                show(row)
                if options.json:
                    with open(options.json, "a", encoding="utf-8") as file:
                        file.write(json.dumps({**row, **about}) + "\n")


if __name__ == "__main__":
    main()
