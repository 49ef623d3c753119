"""The benchmark of meshes, in small: it runs, its rows are there, and its checks see what is wrong."""

import json
import subprocess
import sys
from pathlib import Path

import fathom
import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import mesh_cases  # noqa: E402


def run(program, *arguments):
    return subprocess.run([sys.executable, BENCH / program, *map(str, arguments)], capture_output=True, text=True)


def rows_of(path, *arguments):
    done = run("mesh.py", "--json", path, "--repeat", 1, *arguments)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) == len(done.stdout.splitlines()) - 1
    return rows


def test_rows(tmp_path):
    mesh = tmp_path / "solid.obj"
    mesh.write_text("v 0 0 0\nv 4 0 0\nv 0 4 0\nv 0 0 4\nf 1/1 2 3\nf 1 4//2 2\nf 1 3 4\nf 2 4 3\n")  # inside out
    rows = rows_of(tmp_path / "rows.jsonl", "--mesh", mesh, "--balls", 3, "--bands", "30:0.1", "--dense", 9,
                   "--points", 200)
    ours = [row for row in rows if row["name"] == "Fathom"]
    assert {(row["mesh"], row["case"]) for row in ours} == {
        (mesh, case) for mesh in ("solid", "ball 72")
        for case in ("build", "band 30³, 0.1", "dense 9³", "points near", "near, in order",
                     "points anywhere")}
    assert len(ours) == 2 * (3 + 5 * 7)
    assert all(row["differ"] < 0.01 or row["question"] == "closest" for row in rows)


def test_scaling(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = rows_of(path, "--balls", 3, "--scaling", "--scaling-bands", "40:0.004,200:0.005")
    assert [row["question"] for row in rows] == ["distance", "winding"] * 2
    assert all(4 * row["points"] < row["packed"] < row["bytes"] < row["file"] for row in rows)
    pytest.importorskip("matplotlib")
    assert run("mesh_plots.py", path, "-o", tmp_path / "plot.png").returncode == 0
    assert (tmp_path / "plot.png").stat().st_size > 1000


@pytest.fixture(scope="module")
def ball():
    vertices, faces = mesh_cases.in_unit_cube(*mesh_cases.ball(5))
    return mesh_cases.Truth(vertices, faces), fathom.TriangleSet(vertices, faces, sign="pseudonormal")


def test_ball(ball):
    _, ours = ball
    assert len(ours) == 8 * 5**2 and ours.topology.closed and ours.topology.volume > 0.1
    assert ours.bounds[0].tolist() == [0, 0, 0] and np.ptp(ours.bounds, axis=0).max() == 1


def test_a_wrong_answer_ends_the_benchmark(ball):
    truth, ours = ball
    points = np.random.default_rng(0).random((20, 3))
    found = ours.nearest(points, triangle=True, closest=True)
    truth.check("points", points, True, found.distance, found.triangle, found.closest)
    for name in "distance", "triangle", "closest":
        wrong = {key: getattr(found, key).copy() for key in ("distance", "triangle", "closest")}
        wrong[name][7] += 1
        with pytest.raises(SystemExit):
            truth.check("points", points, True, **wrong)
    with pytest.raises(SystemExit):
        truth.check("points", points, True, -found.distance)


def test_what_is_in_a_band(ball):
    truth, ours = ball
    band = ours.band(cutoff=0.05, origin=(0, 0, 0), spacing=0.05, shape=(21, 21, 21))
    places = np.stack(np.meshgrid(*[np.arange(21)] * 3, indexing="ij"), -1).reshape(-1, 3)
    near = ours.nearest(places * 0.05).distance
    np.testing.assert_array_equal(mesh_cases.is_in_band(band, places), np.abs(near) <= 0.05)
    mesh_cases.check_band(truth, "band", band, 50, np.random.default_rng(0))

    class Wider:  # would have more points
        cutoff = 0.08
        __len__ = band.__len__

        def __getattr__(self, name):
            return getattr(band, name)

    with pytest.raises(SystemExit):
        mesh_cases.check_band(truth, "band", Wider(), 50, np.random.default_rng(0))
