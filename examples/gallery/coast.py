"""Distance to the coast, on land and at sea, on a map that closes on itself from east to west."""

from pathlib import Path

import fathom
import numpy as np
from PIL import Image
from style import DEEP, INK, WARM, bar, panels, save

DATA = Path(__file__).resolve().parents[1] / "data"

land = np.asarray(Image.open(DATA / "land.png").convert("L")) > 0
field = fathom.signed_distance(land, spacing=1 / 6, border=("open", "periodic"))  # degrees; negative on land

figure, (axes,) = panels(1, 10, 5.2)
place = {"extent": (-180, 180, -90, 90), "interpolation": "bilinear"}
sea = axes.imshow(np.ma.masked_less(field, 0), cmap=DEEP, vmin=0, vmax=32, **place)
axes.imshow(np.clip(-field, 0, 24), cmap=WARM, vmin=0, vmax=24, alpha=land.astype(float), **place)
longitudes, latitudes = np.linspace(-180, 180, land.shape[1]), np.linspace(90, -90, land.shape[0])
lines = {"linewidths": 0.35, "colors": [INK], "linestyles": "solid"}
axes.contour(longitudes, latitudes, field, levels=np.arange(-25, 40, 5), alpha=0.5, **lines)
axes.contour(longitudes, latitudes, field, levels=[0], **{**lines, "linewidths": 0.8})
farthest = np.unravel_index(np.argmax(field), field.shape)
axes.plot(longitudes[farthest[1]], latitudes[farthest[0]], "o", color="white", ms=4, mec=INK, mew=0.8)
axes.annotate(f"farthest from any land: {field.max():.1f}°", (longitudes[farthest[1]], latitudes[farthest[0]]),
              xytext=(6, 7), textcoords="offset points", color="white", fontsize=8)
axes.set_title("Distance to the coast, a line every 5°")
bar(figure, sea, axes, "degrees from land")
save(figure, "coast")
