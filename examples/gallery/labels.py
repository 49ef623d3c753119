"""Labels grown into the background, fading with the distance from where they came from."""

import fathom
import numpy as np
from matplotlib.colors import hsv_to_rgb, to_rgb
from scipy import ndimage
from style import INK, PAPER, panels, save

random = np.random.default_rng(7)
blobs = ndimage.gaussian_filter(random.normal(size=(460, 700)), 9)
labels, count = ndimage.label(blobs > np.quantile(blobs, 0.88))

reach = 34
grown = fathom.expand_labels(labels, reach)
distance = fathom.distance_transform(labels, sites="nonzero")
weight = np.clip(1 - distance / reach, 0, 1) ** 0.8

hues = random.permutation(count) / count
shades = np.vstack([to_rgb(PAPER), hsv_to_rgb(np.column_stack([hues, np.full(count, 0.58), np.full(count, 0.80)]))])
paper = np.array(to_rgb(PAPER))


def outlined(colours, of, axes):
    axes.imshow(colours, interpolation="nearest")
    for label in range(1, count + 1):
        axes.contour(of == label, levels=[0.5], colors=INK, linewidths=0.5)


figure, axes = panels(2, 12, 4.3)
outlined(shades[labels], labels, axes[0])
axes[0].set_title(f"{count} objects")
outlined(paper + (shades[grown] - paper) * weight[..., None], labels, axes[1])
axes[1].set_title(f"each grown by up to {reach} pixels, where it is nearest, and weighed by the distance")
save(figure, "labels")
