"""A small texture, enlarged: of an icon's coverage, and of its signed distance, cut at the outline."""

import fathom
import numpy as np
from scipy import ndimage
from style import INK, PAPER, panels, save

fine, small, large = 1152, 36, 720
y, x = np.mgrid[:fine, :fine] / (fine / 2) - 1
angle, radius = np.arctan2(y, x), np.hypot(y, x)
gear = (radius < 0.74 + 0.12 * np.tanh(5 * np.sin(9 * angle))) & (radius > 0.34)
gear |= radius < 0.17


def shares(size):
    """What of each pixel the gear covers."""
    step = fine // size
    return gear.reshape(size, step, size, step).mean((1, 3))


def enlarged(texture):
    return ndimage.zoom(texture.astype(float) / 255, large / small, order=1, mode="nearest", grid_mode=True)


field = fathom.sdf(shares(144), (small, small), range=6)  # from a larger drawing of the icon, as tools do
sharp = np.clip((enlarged(field) - 0.5) * 6 * large / small + 0.5, 0, 1)

figure, axes = panels(3, 12, 4.4)
axes[0].imshow(field, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
axes[0].set_title(f"the field: {small} × {small} texels of a byte")
for axis, picture, title in ((axes[1], enlarged(255 * shares(small)), "the icon's own pixels, as few, enlarged"),
                             (axes[2], sharp, "the field, enlarged and cut")):  # fmt: skip
    ink, paper = (np.array([int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)]) for c in (INK, PAPER))
    axis.imshow(paper + picture[..., None] * (ink - paper))
    axis.set_title(title)
save(figure, "icon")
