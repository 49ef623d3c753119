"""Makes examples/data/knot.ply: a trefoil knot of pipe, in millimetres; its bore is a second surface, turned inside out."""

import pathlib

import numpy as np


def tube(radius, along, around):
    """Vertices and triangles of a closed tube about a torus knot, seen counter-clockwise from outside."""
    t = np.arange(along)[:, None] / along * 2 * np.pi
    outward = np.hstack([np.cos(3 * t) * np.cos(2 * t), np.cos(3 * t) * np.sin(2 * t), np.sin(3 * t)])
    middle = 20 * np.hstack([np.cos(2 * t), np.sin(2 * t), 0 * t]) + 10 * outward
    tangent = np.roll(middle, -1, 0) - np.roll(middle, 1, 0)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    first = outward - (outward * tangent).sum(1)[:, None] * tangent
    first /= np.linalg.norm(first, axis=1)[:, None]
    second = np.cross(tangent, first)
    angle = np.arange(around) / around * 2 * np.pi
    vertices = middle[:, None] + radius * (np.cos(angle)[:, None] * first[:, None] + np.sin(angle)[:, None] * second[:, None])
    i, j = (index.ravel() for index in np.indices((along, around)))
    a, b = i * around + j, (i + 1) % along * around + j
    c, d = (i + 1) % along * around + (j + 1) % around, i * around + (j + 1) % around
    return vertices.reshape(-1, 3), np.vstack([np.column_stack([a, c, b]), np.column_stack([a, d, c])])


outer, skin = tube(4.4, 230, 26)
inner, bore = tube(2.3, 110, 12)
vertices = np.vstack([outer, inner]).astype("<f4")
triangles = np.vstack([skin, bore[:, ::-1] + len(outer)])
faces = np.empty(len(triangles), [("corners", "u1"), ("numbers", "<i4", 3)])
faces["corners"], faces["numbers"] = 3, triangles
header = (f"ply\nformat binary_little_endian 1.0\ncomment made by make_knot.py\nelement vertex {len(vertices)}\n"
          "property float x\nproperty float y\nproperty float z\n"
          f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n")
path = pathlib.Path(__file__).parent / "data" / "knot.ply"
path.write_bytes(header.encode() + vertices.tobytes() + faces.tobytes())
