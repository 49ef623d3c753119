"""How thick vessels are: twice the distance along the centreline, carried to where it is nearest."""

import fathom
import numpy as np
from skimage.morphology import skeletonize
from style import WARM, bar, panels, save


def branch(canvas, start, angle, radius, side, random):
    """Draws a vessel that wanders, thins out and forks."""
    y, x = start
    for _ in range(int(4.2 * radius + 16)):
        y, x = y + np.sin(angle), x + np.cos(angle)
        angle = 0.997 * angle + random.normal(0, 0.025)
        top, left = int(y - radius) - 1, int(x - radius) - 1
        bottom, right = int(y + radius) + 3, int(x + radius) + 3
        if top < 0 or left < 0 or bottom > canvas.shape[0] or right > canvas.shape[1]:
            return
        rows, columns = np.mgrid[top:bottom, left:right]
        canvas[top:bottom, left:right] |= (rows - y) ** 2 + (columns - x) ** 2 < radius**2
    if radius < 1.9:
        return
    thinner = random.uniform(0.5, 0.66) * radius
    branch(canvas, (y, x), angle - side * random.uniform(0.05, 0.2), 0.87 * radius, -side, random)
    branch(canvas, (y, x), angle + side * random.uniform(0.5, 0.8), thinner, side, random)


vessels = np.zeros((480, 860), bool)
branch(vessels, (240, 26), 0.0, 20.0, 1, np.random.default_rng(2))

radius = fathom.distance_transform(vessels)
centreline = skeletonize(vessels)
# Each pixel of a vessel takes the thickness of the nearest pixel of the centreline.
thickness = fathom.fill_nearest(np.where(centreline, 2 * radius, 0), missing=~centreline)

figure, (axes,) = panels(1, 10, 4.9)
image = axes.imshow(np.ma.masked_where(~vessels, thickness), cmap=WARM, vmin=0, interpolation="nearest")
line = np.argwhere(centreline)
axes.scatter(line[:, 1], line[:, 0], s=0.5, c="white", linewidths=0, alpha=0.85)
axes.set_title("Thickness of vessels, and their centreline")
bar(figure, image, axes, "pixels")
save(figure, "vessels")
