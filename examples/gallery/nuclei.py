"""Nuclei that touch, separated: peaks of the distance are seeds, and water rises from them."""

import fathom
import numpy as np
from matplotlib.colors import ListedColormap
from scipy import ndimage
from skimage.feature import peak_local_max
from skimage.segmentation import find_boundaries, watershed
from style import DEEP, INK, panels, save

# A culture seen through a microscope: ellipses with rough edges, many of which touch, some by much.
random = np.random.default_rng(5)
rows, columns = np.mgrid[:420, :420]
mask = np.zeros(rows.shape, bool)
centres = []
while len(centres) < 84:
    y, x, angle = random.uniform(22, 398), random.uniform(22, 398), random.uniform(0, np.pi)
    if any(np.hypot(y - other[0], x - other[1]) < 32 for other in centres):
        continue
    centres.append((y, x))
    long, short = random.uniform(18, 23), random.uniform(14, 18)
    along = (rows - y) * np.sin(angle) + (columns - x) * np.cos(angle)
    across = (rows - y) * np.cos(angle) - (columns - x) * np.sin(angle)
    mask |= (along / long) ** 2 + (across / short) ** 2 < 1
mask = ndimage.gaussian_filter(mask + random.normal(0, 0.35, mask.shape), 2) > 0.5

depth = fathom.distance_transform(mask)  # to the background
smooth = ndimage.gaussian_filter(depth, 2)
seeds = np.zeros(mask.shape, np.int32)
peaks = peak_local_max(smooth, min_distance=9, threshold_abs=5)
seeds[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
nuclei = watershed(-smooth, seeds, mask=mask)

shades = np.vstack([[0.984, 0.980, 0.969], 0.45 + 0.5 * random.random((len(peaks), 3)) * [0.7, 0.9, 1.0]])
figure, axes = panels(3, 12, 4.3)
axes[0].imshow(mask, cmap=ListedColormap(["#fbfaf7", "#35506b"]))
axes[0].set_title("the mask")
axes[1].imshow(np.ma.masked_equal(depth, 0), cmap=DEEP)
axes[1].contour(depth, levels=np.arange(3, 30, 4), colors=INK, linewidths=0.4, alpha=0.5)
axes[1].plot(peaks[:, 1], peaks[:, 0], "o", color="#e4572e", ms=4, mec="white", mew=0.7)
axes[1].set_title(f"distance to the background, and its {len(peaks)} peaks")
axes[2].imshow(nuclei, cmap=ListedColormap(shades), interpolation="nearest")
edges = np.ma.masked_equal(find_boundaries(nuclei, mode="inner"), 0)
axes[2].imshow(edges, cmap=ListedColormap([INK]), alpha=0.8, interpolation="nearest")
axes[2].set_title(f"nuclei: {len(peaks)} found of {len(centres)}")
save(figure, "nuclei")
