"""Which way the nearest town is: the direction as a hue, fading with the distance, and whose land it is."""

import fathom
import numpy as np
from matplotlib.colors import hsv_to_rgb
from style import INK, panels, save

random = np.random.default_rng(4)
towns = np.zeros((420, 640), np.uint16)
places = random.integers(0, towns.size, 26)
towns.flat[places] = np.arange(1, places.size + 1)

owner = fathom.allocation(towns)
degrees = fathom.direction(towns, sites="nonzero")
distance = fathom.distance_transform(towns, sites="nonzero")

hue = degrees / 360 % 1
light = 1 - 0.62 * distance / distance.max()
compass = hsv_to_rgb(np.dstack([hue, 0.55 * np.ones_like(hue), light]))
shades = hsv_to_rgb(np.column_stack([random.random(places.size + 1), np.full(places.size + 1, 0.35),
                                     np.full(places.size + 1, 0.9)]))

figure, axes = panels(2, 12, 4.3)
for axis, picture, title in (
    (axes[0], shades[owner], "the town that is nearest: allocation"),
    (axes[1], compass, "which way it is: north red, east green, south cyan, west violet"),
):
    axis.imshow(picture, interpolation="nearest")
    axis.plot(places % 640, places // 640, "o", color=INK, markersize=3)
    axis.set_title(title)
save(figure, "direction")
