"""A knot in dots: rays that go as far as the nearest site allows, light and shadow, and a dot for each region of ink."""

import fathom
import numpy as np
from matplotlib.collections import EllipseCollection
from style import INK, panels, save

t = np.linspace(0, 2 * np.pi, 6000, endpoint=False)
around = 2 + np.cos(3 * t)  # a trefoil, as a curve of sites; the rope is what is near them
curve = np.column_stack([around * np.cos(2 * t), around * np.sin(2 * t), 1.2 * np.sin(3 * t)])
sites = fathom.SiteSet(curve)
rope, floor = 0.62, -2.2

height, width = 620, 900
view, light = np.array([0.35, -0.75, -0.56]), np.array([-0.45, -0.5, 0.74])
view, light = view / np.linalg.norm(view), light / np.linalg.norm(light)
right = np.cross(view, [0, 0, 1]) / np.linalg.norm(np.cross(view, [0, 0, 1]))
up = np.cross(right, view)
y, x = np.mgrid[:height, :width]
scale = 8.2 / height
eye = (x[..., None] - width / 2) * scale * right + (height / 2 - y[..., None]) * scale * up - 12 * view - 0.5 * right + [0, 0, -0.45]


def march(starts, direction):
    """How far each ray goes until it meets the rope; inf: it does not, within 30."""
    gone, left = np.full(len(starts), np.inf), np.arange(len(starts))
    length = np.zeros(len(starts))
    while len(left):
        free = sites.query(starts[left] + length[left, None] * direction)[0] - rope
        gone[left[free < 1e-3]] = length[left[free < 1e-3]]
        length[left] += free
        left = left[(free >= 1e-3) & (length[left] < 30)]
    return gone


rays = eye.reshape(-1, 3)
seen = march(rays, view)
on_floor = np.isinf(seen)
seen[on_floor] = (floor - rays[on_floor, 2]) / view[2]
places = rays + seen[:, None] * view
normals = np.where(on_floor[:, None], [0.0, 0.0, 1.0], places - curve[sites.query(places)[1]])
normals /= np.linalg.norm(normals, axis=1, keepdims=True)
lit = np.isinf(march(places + 0.02 * normals, light))
open_sky = np.clip((sites.query(places + 0.7 * normals)[0] - rope) / 0.7, 0, 1)  # little of it in creases
bright = lit * np.clip(normals @ light, 0, 1)
shine = lit * np.clip(normals @ (light - view) / np.linalg.norm(light - view), 0, 1) ** 40 * ~on_floor
tone = np.where(on_floor, 0.28 + 0.2 * open_sky + 0.66 * bright, 0.02 + 0.14 * open_sky + 0.72 * bright + 0.6 * shine)
tone = np.clip(tone, 0, 1).reshape(height, width)

dots = fathom.stipple(tone, 16_000, seed=4, gamma=1.25)
figure, (axes,) = panels(1, 10, 7.0)
axes.add_collection(EllipseCollection(2 * dots.radii, 2 * dots.radii, 0, units="xy", offsets=dots.positions[:, ::-1],
                                      offset_transform=axes.transData, facecolor=INK, linewidth=0))  # fmt: skip
axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5), aspect="equal")
save(figure, "stipple")
