"""Leather of any size: the creases of one cell on a lattice, distances to them, a profile of those, an outline."""

import fathom
import numpy as np
from fathom import stream
from matplotlib.colors import LightSource
from style import DEEP, PAPER, WARM, panels, save

# The cell: creases between grains, which lie at random and go on across its edges as the lattice has it.
height, width, shift = 150, 190, 70  # pixels; each row of copies lies further right
steps = np.array([(j * height, i * width + j * shift) for j in range(3) for i in range(-2, 5)])
random = np.random.default_rng(3)
places = []  # of the middles of all copies
while len(places) < 120:
    copies = random.uniform(0, (height, width)) + steps
    if all(np.hypot(*(copies[:, None] - others).reshape(-1, 2).T).min() > 10 for others in places):
        places.append(copies)
labels = np.zeros((3 * height, 4 * width), np.int32)
for grain, copies in enumerate(places, 1):
    y, x = copies[(copies[:, 1] >= 0) & (copies[:, 1] < labels.shape[1])].astype(int).T
    labels[y, x] = grain
grains = fathom.expand_labels(labels)
creases = (grains != np.roll(grains, 1, 0)) | (grains != np.roll(grains, 1, 1))
cell = creases[height : 2 * height, width : 2 * width]

# A metre by one and a half, 600 million pixels of which none is computed here.
skin = stream.array(cell, pixel=50, unit="µm").lattice((0, width), (height, shift), 20_000, 30_000)
far = skin.distance(max=1000)  # µm
hide = far.profile("255*(1 - exp(-(d/200)^2))")
outline = stream.formula("((x - 15000)/14500)^4 + ((y - 10000)/9500)^4 <= 1", 20_000, 30_000, dtype="bool", pixel=50,
                         unit="µm")  # fmt: skip
leather = hide.mask(outline)

window = np.s_[1830:2230, 2580:3080]  # the only pixels that are
figure, axes = panels(3, 12, 3.6)
axes[0].imshow(cell, cmap=DEEP, interpolation="nearest")
axes[0].set_title(f"the cell: {height} × {width} pixels")
axes[1].imshow(far[window], cmap=DEEP)
axes[1].set_title("distances on its lattice")
light = LightSource(azdeg=315, altdeg=50)
depth = leather[window].astype(float)
relief = light.shade(depth, WARM.reversed(), blend_mode="soft", vert_exag=0.04, vmin=-80, vmax=340)
relief[~outline[window]] = (*[int(PAPER[k : k + 2], 16) / 255 for k in (1, 3, 5)], 1)
axes[2].imshow(relief)
axes[2].set_title("leather, in light, at a corner of the sheet")
save(figure, "leather")
