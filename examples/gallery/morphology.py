"""Openings and closings by balls: what they take, what they add, and where neither reaches."""

import fathom
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle
from scipy import ndimage
from style import INK, PAPER, panels, save

random = np.random.default_rng(11)
waves = sum(ndimage.gaussian_filter(random.normal(size=(420, 420)), sigma) * sigma for sigma in (4, 11))
mask = waves > np.quantile(waves, 0.58)

radius = 8
opened = fathom.morphology.opening(mask, radius)
closed = fathom.morphology.closing(mask, radius)
SOLID, TAKEN, ADDED = to_rgb("#3d5a73"), to_rgb("#e07a3f"), to_rgb("#7fb7be")


def coloured(*layers):
    picture = np.full((*mask.shape, 3), to_rgb(PAPER))
    for where, colour in layers:
        picture[where] = colour
    return picture


figure, axes = panels(3, 14, 5)
titles = ("a mask", f"opened by a ball of radius {radius}: orange goes", "closed by the same: light blue comes")
pictures = (
    coloured((mask, SOLID)),
    coloured((opened, SOLID), (mask & ~opened, TAKEN)),
    coloured((mask, SOLID), (closed & ~mask, ADDED)),
)
for axis, title, picture in zip(axes, titles, pictures):
    axis.imshow(picture, interpolation="nearest")
    axis.contour(mask, levels=[0.5], colors=INK, linewidths=0.35)
    axis.add_patch(Circle((24, 396), radius, color=INK))
    axis.set_title(title)
save(figure, "morphology")
