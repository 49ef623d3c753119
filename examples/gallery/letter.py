"""The signed field of a letter: one mask, every outline that is offset from it."""

import fathom
import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D
from style import DEEP, INK, WARM, panels, save

size = 900
outline = TextPath((0, 0), "&", size=1, prop=FontProperties(family="DejaVu Serif", weight="bold"))
box = outline.get_extents()
scale = 0.62 * size / max(box.width, box.height)
centred = Affine2D().translate(-(box.x0 + box.x1) / 2, -(box.y0 + box.y1) / 2).scale(scale, -scale)
outline = centred.translate(size / 2, size / 2).transform_path(outline)
rows, columns = np.mgrid[:size, :size]
pixels = np.column_stack([columns.ravel(), rows.ravel()])
# Outlines that run the other way round cut holes.
letter = np.zeros(size * size, bool)
for polygon in outline.to_polygons():
    letter ^= Path(polygon).contains_points(pixels)
letter = letter.reshape(size, size)

field = fathom.signed_distance(letter)  # negative inside

figure, axes = panels(2, 10, 5.1)
axes[0].imshow(letter, cmap="gray_r", interpolation="nearest", vmax=1.2)
axes[0].set_title("the mask")
axes[1].imshow(field, cmap=DEEP, vmin=0, vmax=330)
axes[1].imshow(-field, cmap=WARM, vmin=-10, vmax=75, alpha=letter.astype(float))
axes[1].contour(field, levels=np.arange(15, 420, 15), colors=INK, linewidths=0.35, alpha=0.6)
axes[1].contour(field, levels=np.arange(-90, 0, 10), colors="white", linewidths=0.5, linestyles="solid", alpha=0.8)
axes[1].contour(field, levels=[0], colors=INK, linewidths=1.3)
axes[1].set_title("its signed distance, a line every 15 pixels outside, every 10 inside")
save(figure, "letter")
