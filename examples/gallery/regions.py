"""Regions of sites before and after Lloyd's iteration, on a map of how many people live where."""

import fathom
import numpy as np
from scipy import ndimage
from style import DEEP, INK, PAPER, WARM, panels, save

random = np.random.default_rng(11)
people = np.zeros((400, 560))
for _ in range(40):  # towns
    people[tuple(random.integers(20, people.shape[k] - 20) for k in (0, 1))] = random.pareto(1.6) + 0.4
people = ndimage.gaussian_filter(people, 22) + 2e-5

start = np.column_stack([random.integers(0, extent, 120) for extent in people.shape])
end, energies = fathom.lloyd(people, start, on_elements=True, return_energies=True)

figure, axes = panels(2, 12, 4.6)
titles = (f"{len(start)} stations anywhere",
          f"after {len(energies) - 1} steps: mean squared distance down to {energies[-1] / energies[0]:.0%}")  # fmt: skip
for axis, sites, title in zip(axes, (start, end.astype(int)), titles):
    mask = np.zeros(people.shape, bool)
    mask[tuple(sites.T)] = True
    found = fathom.voronoi(mask, people)
    axis.imshow(found.masses[found.regions], cmap=DEEP, norm="log", vmin=5e-2, vmax=5)
    borders = np.diff(found.regions, axis=0, prepend=found.regions[:1]) | np.diff(
        found.regions, axis=1, prepend=found.regions[:, :1]
    )
    axis.imshow(np.ma.masked_where(borders == 0, borders != 0), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    axis.scatter(sites[:, 1], sites[:, 0], s=7, color=WARM(0.55), edgecolors=PAPER, linewidths=0.4)
    axis.set_title(title, color=INK)
save(figure, "regions")
