"""Meshes to measure with, and the checks of what was answered by brute force."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python"))
import solids  # noqa: E402


def read_obj(path):
    """Vertices and triangles of an OBJ file without other polygons."""
    rows = {"v": [], "f": []}
    with open(path, encoding="utf-8") as file:
        for line in file:
            kind, *words = line.split() or [""]
            if kind in rows:
                rows[kind].append([word.split("/")[0] for word in words[:3]])
                if kind == "f" and len(words) != 3:
                    sys.exit(f"{path} has polygons of {len(words)} corners; it must have triangles alone")
    return np.array(rows["v"], float), np.array(rows["f"], np.int64) - 1


def ball(parts):
    """A ball with hills, of 8·parts² triangles: an octahedron whose edges are cut into so many parts, put on a
    sphere.

    Its radius is a sum of waves, and each vertex a little off. It surrounds its centre once, so no part meets another.
    """
    i, j = (side.ravel() for side in np.meshgrid(np.arange(parts), np.arange(parts), indexing="ij"))
    upper, lower = i + j < parts, i + j < parts - 1
    steps = [(i[upper], j[upper], [(0, 0), (1, 0), (0, 1)]), (i[lower], j[lower], [(1, 0), (1, 1), (0, 1)])]
    corner = np.concatenate([[(a + s, b + t) for s, t in corners] for a, b, corners in steps], axis=2)
    face = np.stack([corner[:, 0], corner[:, 1], parts - corner[:, 0] - corner[:, 1]], -1).swapaxes(0, 1)
    signs = np.array(np.meshgrid([1, -1], [1, -1], [1, -1])).reshape(3, -1).T
    octants = [(face * sign)[:, :: np.prod(sign)] for sign in signs]
    places = np.concatenate(octants).reshape(-1, 3)
    keys = (places + parts) @ np.array([(2 * parts + 1) ** 2, 2 * parts + 1, 1])
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    way = places[first] / np.linalg.norm(places[first], axis=1, keepdims=True)
    random = np.random.default_rng(1)
    radius = 1 + 0.1 / parts * (random.random(len(way)) - 0.5)
    for frequency in 3 * 1.17 ** np.arange(24):
        radius += 0.12 / frequency * np.sin(way @ random.uniform(-frequency, frequency, 3) + random.uniform(0, 6.28))
    return way * radius[:, None], which.reshape(-1, 3)


def in_unit_cube(vertices, faces):
    """The longest side 1, the low corner at 0, and turned so that its normals point outward."""
    low, high = vertices.min(0), vertices.max(0)
    vertices = (vertices - low) / (high - low).max()
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    volume = solids.dot(a, solids.cross(b, c)).sum()
    return vertices, np.ascontiguousarray(faces if volume > 0 else faces[:, ::-1])


def near_surface(vertices, faces, count, reach, random):
    """Points at most `reach` away from random places of the surface, as many of each area, in random order."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    of = random.choice(len(faces), count, p=area / area.sum())
    u, v = np.sort(random.random((2, count, 1)), axis=0)
    way = random.normal(size=(count, 3))
    way *= reach * random.random((count, 1)) / np.linalg.norm(way, axis=1, keepdims=True)
    return a[of] * u + b[of] * (v - u) + c[of] * (1 - v) + way


def in_order(points):
    """Where points of the unit cube stand along a Morton curve, cells of 1/1024: neighbours one after the other."""
    places = np.clip(points * 1024, 0, 1023).astype(np.int64)
    key = sum((places >> bit & 1) << np.array([0, 1, 2]) + 3 * bit for bit in range(10)).sum(1)
    return np.argsort(key, kind="stable")


class Truth:
    """What brute force says of single points."""

    def __init__(self, vertices, faces):
        self.vertices, self.faces = vertices, faces
        corners = vertices[faces]
        self.centre = corners.mean(1)
        self.reach = np.linalg.norm(corners - self.centre[:, None], axis=2).max(1)

    def nearest(self, point):
        """Distance, triangle and nearest point: all triangles but those that another one is surely nearer than."""
        far = np.linalg.norm(self.centre - point, axis=1)
        left = np.flatnonzero(far - self.reach <= far.min() * (1 + 1e-9))
        kept, faces = np.unique(self.faces[left], return_inverse=True)
        squared, triangle, weights, _ = solids.nearest(self.vertices[kept], faces.reshape(-1, 3), point[None])
        nearest = left[triangle[0]]
        return np.sqrt(squared[0]), nearest, weights[0] @ self.vertices[self.faces[nearest]]

    def is_inside(self, point):
        return abs(solids.winding(self.vertices, self.faces, point[None])[0]) > 0.5

    def check(self, what, points, signed, distance, triangle=None, closest=None):
        """Ends the program unless the answers are those of brute force, to the last bit of the distances."""
        for n, point in enumerate(points):
            right, first, place = self.nearest(point)
            right = distance.dtype.type(right)
            if signed and self.is_inside(point):
                right = -right
            if distance[n] != right:
                sys.exit(f"{what}: Fathom says {distance[n]} at {point}, and brute force {right}")
            if triangle is not None and triangle[n] != first:
                sys.exit(f"{what}: Fathom says triangle {triangle[n]} at {point}, and brute force {first}")
            if closest is not None and not np.allclose(closest[n], place, rtol=0, atol=1e-6):
                sys.exit(f"{what}: Fathom's nearest point of {point} is {closest[n]}, and that of brute force {place}")


def is_in_band(band, places):
    """Whether a band says that the points i, j, k of its lattice are in it."""
    extents = [-(-n // 8) for n in band.shape]

    def key(tiles):
        return (tiles[:, 2].astype(np.int64) * extents[1] + tiles[:, 1]) * extents[0] + tiles[:, 0]

    keys, wanted, (x, y, z) = key(band.tiles), key(places // 8), (places % 8).T
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    bits = band.masks[at, z] >> (x + 8 * y).astype(np.uint64) & np.uint64(1)
    return (keys[at] == wanted) & (bits == 1)


def check_band(truth, what, band, samples, random):
    """Ends the program unless points in the band, and points about them, in and out, are as brute force has them."""
    chosen = np.sort(random.choice(len(band), min(samples, len(band)), replace=False))
    every = {name: band.values(name)[chosen] for name in ("distance", "triangle", "closest")
             if getattr(band, name) is not None}
    places = band.coordinates()[chosen]
    spacing, origin = np.array(band.spacing), np.array(band.origin)
    truth.check(what, origin + places * spacing, band.sign != "none", **every)
    steps = int(np.ceil(2 * band.cutoff / spacing.min()))
    about = places + random.integers(-steps, steps + 1, places.shape)
    about = about[((about >= 0) & (about < band.shape)).all(1)]
    for place, said in zip(about, is_in_band(band, about)):
        if said != (truth.nearest(origin + place * spacing)[0] <= band.cutoff):
            sys.exit(f"{what}: Fathom says that point {place} is {'in' if said else 'out of'} the band; it is not")
