#!/usr/bin/env python3
"""Measures all that the tables of the documentation show, and writes the records into bench/results.

  cmake --preset cuda && cmake --build --preset cuda --target bench_device
  PYTHONPATH=build/cuda/python python bench/suite.py device --build build/cuda          (8 minutes on an H200)
  cmake --preset release && cmake --build --preset release
  PYTHONPATH=build/release/python python bench/suite.py cpu --build build/release      (10 minutes on two processors)

Each benchmark is a step: its records replace those of the machine from before once it has ended well and all of them
are right. Steps for which no time is left (--minutes) are named and left out, and so are those whose peers or modules
are not there; what they measured before stays. A table that was kept in Markdown goes when records stand for it.
"""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import tables
from pages import PAGES, PEERS

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"


class LeftOut(Exception):
    """A step was not run, or not to its end."""


@dataclass
class Step:
    """A benchmark: commands that write records, to a file where {json} stands, else to their output."""

    name: str
    shown: str  # the command that the tables name
    commands: list[list[str]]
    needs: tuple[str, ...] = ()  # modules of Python
    then: list[str] = field(default_factory=list)  # in place of commands, what adds to records: {json} in, {more} out
    records: str = ""  # whose these are, if not its own


def python(script, words=""):
    return [sys.executable, str(BENCH / script), *words.split()]


def device_grid(program):
    """As few runs of device_bench as measure all cells of the tables, and no others."""
    wanted = {}  # (batch, size) -> case -> operations
    for _, page in PAGES.values():
        for size, case, operation, batch in (run for table in page for run in table.runs):
            wanted.setdefault((batch, size), {}).setdefault(case, {})[operation] = None
    for (batch, size), cases in wanted.items():
        alike = {}  # operations -> cases
        for case, operations in cases.items():
            alike.setdefault(",".join(operations), []).append(case)
        for operations, names in alike.items():
            yield [
                program,
                "--sizes",
                size,
                "--cases",
                ",".join(names),
                "--operations",
                operations,
                "--batch",
                str(batch),
                "--replays",
                "15",
                "--json",
                "{json}",
            ]


def device_steps(build):
    def step(name, options=""):
        return Step(name, f"{name} {options}".strip(), [[str(build / "bench" / name), *options.split()]])

    def points(options):
        return [str(build / "bench" / "device_points"), "--json", "{json}", *options.split()]

    few, hard = "16384,65536,262144", "sphere,clustered,places,far,equal,middle"
    return [
        Step("device_bench", "device_bench --replays 15", list(device_grid(str(build / "bench" / "device_bench")))),
        Step(
            "device_points",
            "device_points",
            [
                points(f"--sites {few},16777216"),
                points(f"--sites {few} --spreads {hard} --storages plain,sorted"),
                points("--sites 16777216 --spreads uniform,clustered --queries 1048576 --storages sorted --replays 10"),
            ],
        ),
        step("device_morphology"),
        step("device_axes", "--replays 30"),
        step("device_voronoi"),
        step("device_stream", "--replays 20"),
        step("device_mesh", "--replays 5"),
        Step(
            "device_peers",
            "device_bench --replays 15, bench/device_peers.py",
            [],
            ("cupy",),
            python("device_peers.py", f"{{json}} -o {{more}} --sizes {','.join(PEERS)}"),
            "device_bench",
        ),
        Step(
            "point_peers",
            "bench/point_peers.py",
            [python("point_peers.py", "--json {json}")],
            ("cupy", "torch", "fathom"),
        ),
        Step("published", "bench/published.py", [python("published.py", "--json {json}")], ("cupy", "fathom")),
    ]


# What takes peers long is asked for in some cases only.
GRID = [
    "--sizes 2048x2048 --peers edt,OpenCV,SciPy,SimpleITK",
    "--sizes 256x256x256 --peers edt,SciPy --cases 1%,10%,one,blobs,diagonal",
    "--sizes 256x256x256 --peers edt --cases 1e-4,50%,objects,plane,all,none",
    "--sizes 8192x8192 --peers edt,OpenCV --cases 1%,10%,one,blobs,diagonal",
    "--sizes 8192x8192 --peers none --cases 1e-4,50%,objects,plane,all,none",
    "--sizes 512x512x512 --peers edt --cases 1%,blobs,diagonal",
    "--sizes 512x512x512 --peers none --cases one,1e-4,10%,50%,objects,plane,all,none",
    "--sizes 8192x8192,512x512x512 --isa avx512 --threads 2 --peers none",
    "--sizes 2048x2048,256x256x256 --isa avx512 --peers none --features nearest,coordinates,spacing",
    "--sizes 2048x2048,256x256x256 --isa avx512 --peers edt --features labels,border",
]


def cpu_steps(build):
    def step(name, options="", *needs):
        return Step(
            name, f"bench/{name}.py {options}".strip(), [python(f"{name}.py", f"{options} --json {{json}}")], needs
        )

    grid = [python("grid.py", f"{options} --budget 0.6 --json {{json}}") for options in GRID]
    return [
        Step("grid", "bench/grid.py --budget 0.6", grid, ("numpy",)),
        step("calls", "--repeat 12 --budget 0.6", "fathom"),
        step("morphology", "--sizes 256x256x256 --radii 2,5 --repeat 1", "fathom", "skimage"),
        step("points", "--sizes 1000000x1000000,1024x1048576 --repeat 1", "numpy"),
        step("axes", "--repeat 2", "fathom", "scipy"),
        step("stream", "--parts wide,square --repeat 1", "fathom"),
    ]


# --- Running ---------------------------------------------------------------------------------------------------------


def run(step, deadline):
    """The step's records. @raises what says why there are none"""
    with tempfile.TemporaryDirectory() as folder:
        records = []
        for number, command in enumerate(step.commands):
            written = pathlib.Path(folder, f"{number}.jsonl")
            try:
                output = capture([word.replace("{json}", str(written)) for word in command], deadline)
            except LeftOut:
                if not records:
                    raise
                print(f"{step.name:18} cut off after {number} of {len(step.commands)} commands", flush=True)
                break
            text = (
                written.read_text()
                if written.exists()
                else "\n".join(l for l in output.splitlines() if l.startswith("{"))
            )
            records += map(json.loads, text.splitlines())
    return records


def add_to(records, step, deadline):
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder, "before.jsonl"), pathlib.Path(folder, "after.jsonl")
        before.write_text("".join(json.dumps(r) + "\n" for r in records))
        capture([word.replace("{json}", str(before)).replace("{more}", str(after)) for word in step.then], deadline)
        return list(map(json.loads, after.read_text().splitlines()))


def capture(command, deadline):
    left = deadline - time.monotonic()
    if left <= 0:
        raise LeftOut("no time was left")
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=left,
            cwd=ROOT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    except subprocess.TimeoutExpired:
        raise LeftOut("no time was left") from None
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command[:2])} … ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}"
        )
    return done.stdout


# --- What is written -------------------------------------------------------------------------------------------------


def device_name():
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        sys.exit("suite.py: there is no CUDA device that nvidia-smi knows")
    name, driver = said.strip().split(", ")
    return f"{name} (driver {driver})"


def processor_name():
    model = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return f"{model[1] if model else platform.machine()}, {len(os.sched_getaffinity(0))} processors"


def version():
    release = re.search(r"VERSION (\d[\d.]*)", (ROOT / "CMakeLists.txt").read_text())[1]
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    return release + (f" ({commit})" if commit else "")


def write(folder, name, about, records):
    slug = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)|NVIDIA|,.*", "", about["machine"]).lower()).strip("-")
    path = folder / f"{name}-{slug}.jsonl"
    lines = [{"benchmark": name, **about}, *records]
    path.with_suffix(".new").write_text("".join(json.dumps(line) + "\n" for line in lines))
    path.with_suffix(".new").replace(path)


def measure(step, grid, deadline):
    """The step's records, all of them right. @raises what says why there are none"""
    missing = [name for name in step.needs if not importlib.util.find_spec(name)]
    if missing or (step.then and not grid):
        raise LeftOut(f"there is no {', '.join(missing) or 'record to add to'}")
    records = add_to(grid, step, deadline) if step.then else run(step, deadline)
    wrong = [r for r in records if not r.get("right", r.get("same", True))]
    if wrong or not records:
        raise RuntimeError(f"{len(wrong)} of {len(records)} results are wrong: {wrong[:1]}")
    return records


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("device", "cpu"))
    parser.add_argument("--build", type=pathlib.Path, help="folder of the build; build/cuda or build/release")
    parser.add_argument("--only", default="", help="steps, separated by commas")
    parser.add_argument("--minutes", type=float, help="8 for a device, 10 for a CPU")
    parser.add_argument("--version", default=version(), help="of Fathom, as the tables say it")
    parser.add_argument("--list", action="store_true", help="print the commands, and run none")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=tables.RESULTS)
    return parser.parse_args()


def main():
    arguments = parse()
    is_device = arguments.what == "device"
    build = (arguments.build or pathlib.Path("build", "cuda" if is_device else "release")).resolve()
    steps = (device_steps if is_device else cpu_steps)(build)
    steps = [s for s in steps if not arguments.only or s.name in arguments.only.split(",")]
    if arguments.list:
        print(*(" ".join(command) for step in steps for command in [*step.commands, step.then] if command), sep="\n")
        return 0
    deadline = time.monotonic() + 60 * (arguments.minutes or (8 if is_device else 10))
    about = {
        "machine": device_name() if is_device else processor_name(),
        "date": str(datetime.date.today()),
        "version": arguments.version,
    }
    arguments.output.mkdir(parents=True, exist_ok=True)
    grid, status = [], 0
    for step in steps:
        begin = time.monotonic()
        try:
            records = measure(step, grid, deadline)
        except LeftOut as error:
            print(f"{step.name:18} left out: {error}", flush=True)
            continue
        except RuntimeError as error:
            print(f"{step.name:18} failed: {error}", flush=True)
            status = 1
            continue
        if step.name == "device_bench":
            grid = records
        write(arguments.output, step.records or step.name, {**about, "command": step.shown}, records)
        print(f"{step.name:18} {len(records):5} records, {time.monotonic() - begin:.0f} s", flush=True)
    tables.prune(arguments.output)
    return status


if __name__ == "__main__":
    sys.exit(main())
