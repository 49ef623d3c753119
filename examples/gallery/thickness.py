"""Pores: the largest ball that covers a place, and the largest that gets there from the left."""

import fathom
import numpy as np
from scipy import ndimage
from style import DEEP, INK, bar, panels, save

noise = ndimage.gaussian_filter(np.random.default_rng(4).normal(size=(460, 560)), 11)
pores = noise > np.quantile(noise, 0.42)

thickness = fathom.local_thickness(pores)
inlets = np.zeros_like(pores)
inlets[:, 0] = True
invaded = fathom.porosimetry(pores, inlets)

figure, axes = panels(3, 15, 4.2)
for axis, field, title in zip(axes, (thickness, invaded), ("Local thickness", "Porosimetry from the left")):
    image = axis.imshow(np.ma.masked_where(~pores, field), cmap=DEEP, vmin=0, vmax=thickness.max(),
                        interpolation="nearest")
    axis.contour(pores, levels=[0.5], colors=INK, linewidths=0.4)
    axis.set_title(title)
bar(figure, image, axes[1], "diameter, pixels")
axes[2].set(xticks=range(0, 140, 20), yticks=[0, 0.5, 1], xlabel="diameter, pixels", title="Share at least so thick")
for field, label, colour in ((thickness, "balls anywhere", "#2b6a94"), (invaded, "from the left", "#b86537")):
    values, counts = np.unique(field[pores], return_counts=True)
    axes[2].step(values, counts[::-1].cumsum()[::-1] / counts.sum(), color=colour, label=label)
axes[2].legend(frameon=False)
axes[2].set_aspect("auto")
save(figure, "thickness")
