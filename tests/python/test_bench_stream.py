"""The benchmark of streams, in small: its rows are there, and its checks see what is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import stream as bench  # noqa: E402
import stream_cases  # noqa: E402
import stream_peers  # noqa: E402


def run(program, *arguments):
    done = subprocess.run([sys.executable, BENCH / program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "rows.jsonl"
    for only in "lattice", "0.003 %":
        run("stream.py", "--quick", "--only", only, "--json", path)
    return path


def test_rows(results):
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    ours = [row for row in rows if row["name"] == "Fathom"]
    assert len(ours) == 2 * (2 + 1 + 1)
    assert all(row["bytes"] == row["height"] * row["width"] and row["plan_bytes"] > 0 for row in ours)
    peers = {row["name"].split()[0] for row in rows} - {"Fathom"}
    assert peers == {name for name in stream_peers.PEERS if stream_peers.version_of(name)}
    assert all(row["differ"] == 0 for row in rows if row not in ours)


def test_tables(results, tmp_path):
    path = tmp_path / "paper.jsonl"
    run("stream_paper.py", "--side", 300, "--repeat", 1, "--json", path)
    lines = run("stream_tables.py", results, path).splitlines()
    assert sum(line.startswith(("| lattice", "| random")) for line in lines) == 5
    assert sum(line.startswith("| **Fathom**") for line in lines) == 5 * len({1, len(os.sched_getaffinity(0))})


@pytest.fixture
def ours(tmp_path):
    return bench.Ours(bench.own_command(), tmp_path)


def test_every_case_is_checked(ours):
    """One whose graph makes something else ends the benchmark."""
    cases = list(stream_cases.wide_cases(0.002)) + list(stream_cases.square_cases(300, ours.file_of))
    for case in cases:
        bench.check(ours, case, bench.Checked(case))
        root = list(case.nodes)[-1]
        case.nodes["other"] = {"type": "math", "expression": "a > 127 ? a - 1 : a + 1", "dtype": "uint8",
                               "children": [root]}
        with pytest.raises(SystemExit, match="not what they are by definition"):
            bench.check(ours, case, bench.Checked(case))


def test_memory_and_the_first_byte(tmp_path):
    """Of a program that takes 64 MiB and waits."""
    program = ("import sys, time; work = sys.stdin.read(); held = bytearray(1 << 26); time.sleep(0.3); "
               "open(sys.argv[-1], 'w').write(work)")
    found = bench.run([sys.executable, "-c", program], "abc")
    assert found["bytes"] == len(" abc") and 0.3 < found["first"] < found["seconds"]
    assert 0.99 * 2**26 < found["most_bytes"] < 1.2 * 2**26 and found["processor"] < 0.3


def test_peers_that_differ_are_counted():
    compared = bench.Compared(np.arange(10, dtype=np.uint8))
    compared.take(4, memoryview(bytes([4, 0, 6, 0])), 0)
    assert compared.differ == 2
