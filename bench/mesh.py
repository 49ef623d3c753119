#!/usr/bin/env python3
"""Distances to triangle meshes on the CPU: bands, dense fields and single points, beside Open3D, libigl and trimesh.

Meshes: of an OBJ file (--mesh), and balls with hills that the benchmark makes itself; each scaled so that its longest
side is 1 and its low corner 0, its lattices n points along each axis of [0, 1]³. Answers are compared with brute force
before a time is shown, those of peers with ours: "differ" says how many, by more than 1e-5 or in the sign. A peer is
asked for the same points, or, where all would take too long, for runs of neighbours evenly spread among them. As many
threads as the process has processors: for one, `taskset -c 0`. Prints a table; --json FILE appends one JSON line for
each row; --scaling measures the bands of Landgraf's figures and of his table 4.2 instead, for bench/mesh_plots.py.

  cmake --preset release && cmake --build --preset release
  PYTHONPATH=build/release/python taskset -c 0 python bench/mesh.py --mesh canister.obj --json mesh.jsonl
  PYTHONPATH=build/release/python taskset -c 0 python bench/mesh.py --mesh canister.obj --scaling --json mesh.jsonl
"""

import argparse
import datetime
import json
import os
import pathlib
import tempfile
import time

import mesh_peers
import numpy as np
from measure import Contestant, alternate, machine
from mesh_cases import Truth, ball, check_band, in_order, in_unit_cube, near_surface, read_obj

import fathom

SIGNS = ["none", "pseudonormal", "winding"]
# What is asked: the sign of the set, and what is wanted besides the distance.
QUESTIONS = {"distance": ("none", {}), "pseudonormal": ("pseudonormal", {}), "winding": ("winding", {}),
             "triangle": ("none", {"triangle": True}), "closest": ("none", {"closest": True})}
SAMPLES = 12
LANDGRAF = [(1000, cutoff) for cutoff in (0.001, 0.002, 0.004, 0.008, 0.016)]
LANDGRAF += [(extent, 0.004) for extent in (100, 250, 500, 750, 1250, 1500)]


class Timed(Contestant):
    """A contestant that has run once; `found` is what it gave then, until somebody takes it."""

    def __init__(self, call, budget):
        super().__init__(lambda: self._keep(call()), budget)
        self.turn()

    def _keep(self, found):
        if not self.seconds:
            self.found = found

    def take(self):
        found, self.found = self.found, None
        return found


class Mesh:
    """A mesh, our sets of it with each sign, what peers built of it, and the seconds that building took."""

    def __init__(self, name, vertices, faces, options):
        self.name, self.vertices, self.faces, self.threads = name, vertices, faces, options.threads
        self.truth, self.random = Truth(vertices, faces), np.random.default_rng(2)
        self.sets, self.peers, self.built = {}, {}, {}
        for sign in SIGNS:
            self.sets[sign] = self._timed(("Fathom", sign), fathom.TriangleSet, sign=sign, threads=self.threads)
        for peer, build in mesh_peers.installed(options.peers):
            self.peers[peer] = build, self._timed((peer, ""), build, threads=self.threads)

    def _timed(self, name, build, **options):
        start = time.perf_counter()
        made = build(self.vertices, self.faces, **options)
        self.built[name] = time.perf_counter() - start
        return made


class BandCase:
    """A narrow band of a lattice, as (extent, cutoff)."""

    def __init__(self, mesh, extent, cutoff):
        self.name, self.mesh = f"band {extent}³, {cutoff:.4g}", mesh
        self.lattice = {"origin": (0, 0, 0), "spacing": 1 / (extent - 1), "shape": (extent,) * 3}
        self.cutoff = cutoff
        self.count = 0  # known when there is a band

    def ask(self, question):
        sign, wanted = QUESTIONS[question]
        return self.mesh.sets[sign].band(cutoff=self.cutoff, **self.lattice, **wanted, threads=self.mesh.threads)

    def check(self, question, band):
        self.count = len(band)
        check_band(self.mesh.truth, f"{self.mesh.name}, {self.name}, {question}", band, SAMPLES, self.mesh.random)

    def some(self, band, chosen, question):
        """Points, and what we say of them."""
        return band.points()[chosen], band.values("closest" if question == "closest" else "distance")[chosen]


class PointCase:
    """Any points, [..., 3]; answers are float32 and int64."""

    def __init__(self, mesh, name, points):
        self.name, self.mesh, self.points, self.count = name, mesh, points, points.size // 3

    def ask(self, question):
        sign, wanted = QUESTIONS[question]
        return self.mesh.sets[sign].nearest(self.points, dtype=np.float32, threads=self.mesh.threads, **wanted)

    def check(self, question, found):
        chosen = self.mesh.random.choice(self.count, min(SAMPLES, self.count), replace=False)
        every = {"distance": found.distance.ravel()[chosen]}
        if found.triangle is not None:
            every["triangle"] = found.triangle.ravel()[chosen]
        if found.closest is not None:
            every["closest"] = found.closest.reshape(-1, 3)[chosen]
        signed = QUESTIONS[question][0] != "none"
        self.mesh.truth.check(f"{self.mesh.name}, {self.name}", self.points.reshape(-1, 3)[chosen], signed, **every)

    def some(self, found, chosen, question):
        ours = found.closest.reshape(-1, 3) if question == "closest" else found.distance.ravel()
        return self.points.reshape(-1, 3)[chosen], ours[chosen]


class FieldCase(PointCase):
    """A dense field; as points its elements have the order of the array."""

    def __init__(self, mesh, extent):
        along = np.arange(extent) * (1 / (extent - 1))
        z, y, x = np.meshgrid(along, along, along, indexing="ij")
        super().__init__(mesh, f"dense {extent}³", np.stack([x, y, z], -1))
        self.lattice = {"origin": (0, 0, 0), "spacing": 1 / (extent - 1), "shape": (extent,) * 3}

    def ask(self, question):
        sign, wanted = QUESTIONS[question]
        return self.mesh.sets[sign].field(**self.lattice, **wanted, threads=self.mesh.threads)


def thinned_out(count, most):
    """Places of at most about so many of `count` points: runs of neighbours, from which a peer's caches gain, evenly
    spread."""
    run = min(512, most)
    begins = np.arange(0, count, run * -(-count // most))
    places = (begins[:, None] + np.arange(run)).ravel()
    return places[places < count]


def share_that_differs(ours, theirs):
    """Of distances with their signs, which count for nothing on the surface; or of nearest points."""
    wrong = np.abs(ours - theirs) > 1e-5
    return float(np.mean(wrong.any(axis=1) if wrong.ndim == 2 else wrong))


def contestants_of(case, question, ours, options):
    """Peers that answer this question: name, number of points, share of answers that differ from ours, time so far."""
    for peer, (about, questions) in case.mesh.peers.items():
        if question in questions:
            chosen = thinned_out(case.count, min(about.most, options.most))
            points, expected = case.some(ours, chosen, question)
            points = np.ascontiguousarray(points, about.dtype)
            timed = Timed(lambda ask=questions[question], points=points: ask(points), options.budget)
            yield peer, len(points), share_that_differs(expected, timed.take()), timed


def rows_of(case, question, options):
    """A row of ours, and one for each peer that answers this question, timed in turn."""
    mesh = case.mesh
    ours = Timed(lambda: case.ask(question), options.budget)
    first = ours.take()
    case.check(question, first)
    peers = list(contestants_of(case, question, first, options))
    del first  # its memory is for the next
    alternate([ours, *(peer[-1] for peer in peers)], options.repeat - 1)
    best = ours.summary()["min"] / case.count
    for name, count, differ, times in [("Fathom", case.count, 0, ours), *peers]:
        seconds = times.summary()["min"]
        yield {"mesh": mesh.name, "case": case.name, "question": question, "name": name, "points": count,
               "seconds": seconds, "rate": count / seconds / mesh.threads / 1e6, "differ": differ,
               "times": seconds / count / best, "runs": len(times.seconds)}


def cost_of_sign(rows):
    """What a field or band takes more with its sign."""
    ours = {row["question"]: row for row in rows if row["name"] == "Fathom"}
    for sign in SIGNS[1:]:
        if sign in ours and "distance" in ours:
            more = ours[sign]["seconds"] - ours["distance"]["seconds"]
            yield {**ours[sign], "question": f"sign alone: {sign}", "seconds": more, "rate": None, "times": None}


def cases_of(mesh, options):
    for extent, cutoff in options.bands:
        yield BandCase(mesh, extent, cutoff)
    for extent in options.dense:
        yield FieldCase(mesh, extent)
    diagonal = np.linalg.norm(np.ptp(mesh.vertices, axis=0))
    near = near_surface(mesh.vertices, mesh.faces, options.points, 0.01 * diagonal, mesh.random).astype(np.float32)
    yield PointCase(mesh, "points near", near)
    yield PointCase(mesh, "near, in order", near[in_order(near)])
    yield PointCase(mesh, "points anywhere", mesh.random.random((options.points, 3), np.float32))


def measure(mesh, options):
    for (name, sign), seconds in mesh.built.items():
        yield {"mesh": mesh.name, "case": "build", "question": sign, "name": name, "points": len(mesh.faces),
               "seconds": seconds, "rate": len(mesh.faces) / seconds / mesh.threads / 1e6, "differ": 0,
               "times": seconds / mesh.built["Fathom", "none"], "runs": 1}
    for case in cases_of(mesh, options):
        rows = []
        for question in options.questions:
            for row in rows_of(case, question, options):
                rows.append(row)
                yield row
        yield from cost_of_sign(rows)


def scale(mesh, options):
    """The bands of Landgraf's figures 4.1 to 4.4: seconds, bytes in memory, packed, and in a file."""
    for extent, cutoff in options.scaling_bands:
        for question in "distance", "winding":
            case = BandCase(mesh, extent, cutoff)
            timed = Timed(lambda case=case, question=question: case.ask(question), options.budget)
            band = timed.take()
            case.check(question, band)
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "band.npz")
                band.save(path)
                on_disk = path.stat().st_size
            about = {"tiles": len(band.tiles), "bytes": band.nbytes, "file": on_disk,
                     "packed": 4 * len(band) + band.masks.nbytes + band.tiles.nbytes}
            del band
            alternate([timed], options.repeat - 1)
            seconds = timed.summary()["min"]
            yield {"mesh": mesh.name, "case": case.name, "question": question, "name": "Fathom", "points": case.count,
                   "seconds": seconds, "rate": case.count / seconds / mesh.threads / 1e6, "differ": 0, "times": 1,
                   "runs": len(timed.seconds), "extent": extent, "cutoff": cutoff, **about}


def show(row):
    rate, times = (" " * 9 if row[key] is None else f"{row[key]:9.3f}" for key in ("rate", "times"))
    sizes = "".join(f" {key} {row[key] / 1e6:.1f} MB" for key in ("bytes", "packed", "file") if key in row)
    print(f"{row['mesh']:>10} {row['case']:>20} {row['question']:>24} {row['name']:>20} {row['points']:>10} "
          f"{row['seconds']:10.4f} {rate} {times} {row['differ']:9.2g}{sizes}", flush=True)


def pairs(text):
    return [(int(extent), float(cutoff)) for extent, _, cutoff in (pair.partition(":") for pair in words(text))]


def words(text):
    return [word for word in text.split(",") if word]


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mesh", help="OBJ file of triangles")
    parser.add_argument("--balls", default="25,362", help="parts that the edges of an octahedron are cut into")
    parser.add_argument("--bands", type=pairs, default="600:0.016,1000:0.003", help="extent:cutoff of each")
    parser.add_argument("--dense", type=words, default="128,256", help="extents")
    parser.add_argument("--points", type=int, default=1000000)
    parser.add_argument("--questions", type=words, default=",".join(QUESTIONS))
    parser.add_argument("--peers", type=words, default=",".join(mesh_peers.ALL))
    parser.add_argument("--most", type=int, default=2**21, help="points that a peer is asked for")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--budget", type=float, default=5, help="seconds after which something is not timed again")
    parser.add_argument("--scaling", action="store_true", help="the bands of Landgraf's figures, of the first mesh")
    parser.add_argument("--scaling-bands", type=pairs, default=LANDGRAF, help="others instead: extent:cutoff of each")
    parser.add_argument("--json", help="file to append one line of JSON per row to")
    options = parser.parse_args()
    options.dense, options.threads = [int(n) for n in options.dense], len(os.sched_getaffinity(0))
    return options


def main():
    options = read_arguments()
    made = [(pathlib.Path(options.mesh).stem, lambda: read_obj(options.mesh))] if options.mesh else []
    made += [(f"ball {8 * n * n}", lambda n=n: ball(n)) for n in map(int, words(options.balls))]
    about = {"threads": options.threads, "machine": machine(), "date": datetime.date.today().isoformat()}
    print(f"{'mesh':>10} {'case':>20} {'question':>24} {'':>20} {'points':>10} {'seconds':>10} {'M/s, core':>9} "
          f"{'x ours':>9} {'differ':>9}")
    for name, make in made[: 1 if options.scaling else None]:
        if options.scaling:
            options.peers = []
        mesh = Mesh(name, *in_unit_cube(*make()), options)
        for row in (scale if options.scaling else measure)(mesh, options):
            show(row)
            if options.json:
                with open(options.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps({**row, **about}) + "\n")


if __name__ == "__main__":
    main()
