"""Where a robot may go: rooms, and what it costs to come near their walls."""

import fathom
import numpy as np
from style import INK, PAPER, WARM, bar, panels, save

resolution = 0.05  # metres
rooms = np.zeros((240, 420), np.int8)
rooms[[0, -1]] = rooms[:, [0, -1]] = 100
for x, doors in ((130, (60, 180)), (270, (110,)), (340, (40, 200))):
    rooms[:, x : x + 3] = 100
    for y in doors:
        rooms[y - 11 : y + 11, x : x + 3] = 0
rooms[118:121, :90] = 100
random = np.random.default_rng(2)
for _ in range(26):  # furniture
    y, x, h, w = *random.integers(12, (225, 405)), *random.integers(4, 16, 2)
    rooms[y : y + h, x : x + w] = 100
rooms[150:, 345:] = np.where(np.add.outer(np.arange(90), np.arange(75)) > 60, -1, rooms[150:, 345:])  # not seen yet

costs = fathom.costmap(rooms, resolution=resolution, inscribed=0.25, inflation=1.2, scaling=3)
figure, (axes,) = panels(1, 10, 5.4)
image = axes.imshow(np.ma.masked_where((costs >= 254) | (costs == 0), costs), cmap=WARM, vmin=0, vmax=253)
axes.imshow(np.ma.masked_where(costs != 254, costs), cmap="gray", vmin=254, vmax=255)
axes.contourf(costs == 255, levels=[0.5, 1.5], colors="none", hatches=["////"])
axes.contour(costs >= 253, levels=[0.5], colors=INK, linewidths=0.5)
axes.set_title("Costs of being near walls; within the line, the robot touches one; hatched: unknown")
axes.set_facecolor(PAPER)
bar(figure, image, axes, "cost")
save(figure, "costmap")
