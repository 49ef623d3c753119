"""The medial axis of a letter, pruned again and again from the same nearest sites, and the balls that it tells of."""

import fathom
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.textpath import TextPath
from PIL import Image, ImageDraw
from style import DEEP, INK, PAPER, bar, panels, save

SIZE = 620
LETTER = ListedColormap([PAPER, "#f0e2c8"])
BALLS = ListedColormap([PAPER, "#d9603a", "#2b6a94"])
outlines = TextPath((0, 0), "R", size=760, prop={"family": "DejaVu Serif", "weight": "bold"}).to_polygons()
low = np.min([outline.min(0) for outline in outlines], axis=0)
high = np.max([outline.max(0) for outline in outlines], axis=0)
letter = np.zeros((SIZE, SIZE), bool)
for outline in outlines:
    picture = Image.new("1", (SIZE, SIZE))
    points = (outline - (low + high) / 2) * [1, -1] + SIZE / 2
    ImageDraw.Draw(picture).polygon([tuple(point) for point in points], fill=1)
    letter ^= np.array(picture)

axis, radius, nearest = fathom.medial_axis(letter, gamma=3, return_distance=True, return_nearest=True)
pruned = fathom.medial_axis_of_nearest(nearest, pruning="linear", gamma=1.3)
balls = fathom.axis_balls(pruned, nearest)

figure, axes = panels(3, 14, 4.9)
for axes_of, kept, title in zip(axes, (axis, pruned), ("sites more than 3 apart", "seen under a wide angle")):
    axes_of.imshow(letter, cmap=LETTER, interpolation="nearest")
    rows, columns = np.nonzero(kept)
    dots = axes_of.scatter(columns, rows, s=2.2, c=radius[kept], cmap=DEEP, vmin=-25, linewidths=0)
    axes_of.set_title(title)
bar(figure, dots, axes[1], "radius, pixels").ax.set_ylim(0)
axes[2].imshow(letter + balls.astype(int), cmap=BALLS, interpolation="nearest")
axes[2].contour(letter, levels=[0.5], colors=INK, linewidths=0.5)
axes[2].set_title(f"its balls cover {balls.sum() / letter.sum():.1%} of the letter")
save(figure, "medial_axis")
