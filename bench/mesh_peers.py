"""Other libraries that answer how far a mesh is from points: Open3D, libigl, trimesh.

Each is a function (vertices, faces, threads) that builds what it asks, and returns questions by name: from points to
distances, or to nearest points. `most` is how many points it is asked at a time, so that a run ends.
"""

import importlib.metadata
import sys

import numpy as np


def open3d(vertices, faces, threads):
    import open3d

    scene = open3d.t.geometry.RaycastingScene(nthreads=threads)
    scene.add_triangles(vertices.astype(np.float32), faces.astype(np.uint32))
    scene.compute_distance(np.zeros((1, 3), np.float32))  # builds the tree

    def ask(question, **options):
        return lambda points: question(points, nthreads=threads, **options)

    return {"distance": lambda points: ask(scene.compute_distance)(points).numpy(),
            "winding": lambda points: ask(scene.compute_signed_distance)(points).numpy(),
            "closest": lambda points: ask(scene.compute_closest_points)(points)["points"].numpy()}


def libigl(vertices, faces, threads):
    import igl

    tree = igl.AABB()
    tree.init(vertices, faces)

    def signed(points):  # builds a tree each time
        return igl.signed_distance(points, vertices, faces, igl.SIGNED_DISTANCE_TYPE_PSEUDONORMAL)[0]

    return {"distance": lambda points: np.sqrt(tree.squared_distance(vertices, faces, points)[0]),
            "closest": lambda points: tree.squared_distance(vertices, faces, points)[2],
            "pseudonormal": signed}


def trimesh(vertices, faces, threads):
    import rtree  # noqa: F401  its tree, without which it answers nothing
    import trimesh

    query = trimesh.proximity.ProximityQuery(trimesh.Trimesh(vertices, faces, process=False))
    query.on_surface(vertices[:1])  # builds the tree
    questions = {"distance": lambda points: query.on_surface(points)[1],
                 "closest": lambda points: query.on_surface(points)[0]}
    if len(faces) < 100000:  # of a million, the rays of 4096 points take more than 20 GB
        questions["winding"] = lambda points: -query.signed_distance(points)
    return questions


open3d.dtype, open3d.most = np.float32, 2**24
libigl.dtype, libigl.most = np.float64, 2**18
trimesh.dtype, trimesh.most = np.float64, 2**12
ALL = {"Open3D": open3d, "libigl": libigl, "trimesh": trimesh}


def installed(names):
    """Name with version, and function, of those that are there."""
    for name in names:
        try:
            ALL[name](np.eye(3), np.array([[0, 1, 2]]), 1)
            yield f"{name} {importlib.metadata.version(name.lower())}", ALL[name]
        except ImportError as error:
            print(f"{name} left out: {error}", file=sys.stderr)
