#!/usr/bin/env python3
"""The pictures of docs/algorithms.md, of what the algorithms find.

  PYTHONPATH=build/release/python python scripts/site/algorithms.py docs/images
"""

import sys
from pathlib import Path

import fathom
import numpy as np
from fathom import published, stream

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "gallery"))
from style import DEEP, INK, PAPER, WARM, panels, plt  # noqa: E402

from matplotlib.colors import ListedColormap  # noqa: E402
from matplotlib.patches import Arc, Circle, FancyArrowPatch, Rectangle  # noqa: E402

plt.rcParams.update({"axes.titlesize": 13.5, "axes.titlepad": 9})
FAINT = "#b9c1c2"
COLOURS = [DEEP(0.25), WARM(0.3), DEEP(0.5), WARM(0.45), DEEP(0.68), WARM(0.62), DEEP(0.38), WARM(0.18), DEEP(0.12)]
RED = WARM(0.62)


def image_of_sites(seed, shape, count, apart):
    """A mask whose zeros are sites, none near another."""
    random, places = np.random.default_rng(seed), []
    while len(places) < count:
        place = random.integers(1, np.array(shape) - 1)
        if all(np.hypot(*(place - other)) > apart for other in places):
            places.append(place)
    mask = np.ones(shape, np.uint8)
    mask[tuple(np.array(places).T)] = 0
    return mask


def nearest_in_columns(mask):
    """Row of the nearest site in each element's own column, as Parallel Banding finds it; -1 without one."""
    columns = [published.pba(mask[:, [x]], backend="cpu").nearest[:, 0] for x in range(mask.shape[1])]
    return np.stack(columns, 1)


def proximate_sites(rows, row, wide=400):
    """Columns of the sites that are the nearest of any element of a row, of those that the columns have."""
    mask = np.ones((rows.shape[0], rows.shape[1] + 2 * wide), np.uint8)
    columns = np.flatnonzero(rows[row] >= 0)
    mask[rows[row, columns], columns + wide] = 0
    found = published.pba(mask, backend="cpu").nearest[row]
    return np.unique(found[found >= 0] % mask.shape[1]) - wide


def colours_of_sites(mask):
    """A colour for each region, unlike those that it touches."""
    _, regions = np.unique(published.pba(mask, backend="cpu").nearest, return_inverse=True)
    regions = regions.reshape(mask.shape)
    touch = {tuple(sorted(pair)) for a, b in ((regions[1:], regions[:-1]), (regions[:, 1:], regions[:, :-1]))
             for pair in zip(a[a != b].tolist(), b[a != b].tolist())}  # fmt: skip
    colours = {}
    for region in range(regions.max() + 1):
        taken = {colours.get(a if b == region else b) for a, b in touch if region in (a, b)}
        free = [k for k in range(len(COLOURS)) if k not in taken]
        colours[region] = free[region % len(free)]
    return np.vectorize(colours.get)(regions)


def show(axis, numbers, title):
    """Pixels by the number of their colour; -1 as paper."""
    axis.imshow(np.ma.masked_less(numbers, 0), cmap=ListedColormap(COLOURS), vmin=-0.5, vmax=len(COLOURS) - 0.5,
                interpolation="nearest")  # fmt: skip
    axis.set_title(title, color=INK)


def draw_sites(axis, mask, size=9):
    y, x = np.nonzero(mask == 0)
    axis.scatter(x, y, s=size, color=INK, zorder=5)


def bands():
    """Sweeping, merging, colouring."""
    mask, m1, m2, row = image_of_sites(4, (36, 48), 26, 5), 3, 4, 13
    height, width = mask.shape
    colours, rows = colours_of_sites(mask), nearest_in_columns(mask)
    in_bands = np.concatenate([np.where(found >= 0, found + first, -1) for first in range(0, height, height // m1)
                               for found in [nearest_in_columns(mask[first : first + height // m1])]])  # fmt: skip
    figure, axes = panels(3, 14, 4.1)
    columns = np.broadcast_to(np.arange(width), mask.shape)
    show(axes[0], np.where(in_bands >= 0, colours[in_bands, columns], -1), f"1  sweeping columns, in {m1} bands")
    for edge in range(height // m1, height, height // m1):
        axes[0].axhline(edge - 0.5, color=INK, linewidth=1)
    draw_sites(axes[0], mask)

    axis, level, lists = axes[1], 0, [range(first, first + width // m2) for first in range(0, width, width // m2)]
    axis.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5), aspect="equal")
    axis.set_title(f"2  merging a row's lists, of {m2} bands", color=INK)
    before = np.flatnonzero(rows[row] >= 0)
    while lists:
        y = 8.5 + 12 * level
        axis.hlines(y, -0.5, width - 0.5, color=FAINT, linewidth=0.7)
        kept = []
        for band in lists:
            own = np.full_like(rows, -1)
            own[:, band.start : band.stop] = rows[:, band.start : band.stop]
            chain = proximate_sites(own, row)
            kept.extend(chain)
            if band.start:
                axis.plot([band.start - 0.5] * 2, [y - 6, y + 1], color=INK, linewidth=1)
            for a, b in zip(chain[:-1], chain[1:]):
                axis.add_patch(Arc(((a + b) / 2, y), b - a, min(1.1 * (b - a), 10), theta1=180, theta2=360, color=RED,
                                   linewidth=1.2))  # fmt: skip
        gone = np.setdiff1d(before, kept)
        axis.scatter(gone, [y] * len(gone), s=9, facecolor=PAPER, edgecolor=FAINT, linewidth=0.8, zorder=4)
        of_kept = [COLOURS[colours[rows[row, x], x]] for x in kept]
        axis.scatter(kept, [y] * len(kept), s=16, color=of_kept, edgecolor=INK, linewidth=0.6, zorder=5)
        before, level = np.array(kept), level + 1
        lists = [range(a.start, b.stop) for a, b in zip(lists[::2], lists[1::2])]
    show(axes[2], colours, "3  each element's site: that row, and all")
    draw_sites(axes[2], mask)
    axes[2].add_patch(Rectangle((-0.5, row - 0.5), width, 1, fill=False, edgecolor=INK, linewidth=1.2))
    return figure


def proximate():
    """A row's parabolas and their lower envelope."""
    mask, row = image_of_sites(8, (40, 60), 24, 5), 20
    colours, found = colours_of_sites(mask), published.proximate(mask, backend="cpu")
    rows = nearest_in_columns(mask)
    figure, axes = panels(2, 14, 4.6)
    of_columns = np.where(rows >= 0, colours[rows, np.arange(mask.shape[1])], -1)
    show(axes[0], of_columns, "step 1: the nearest site in each column")
    draw_sites(axes[0], mask)
    axes[0].add_patch(Rectangle((-0.5, row - 0.5), mask.shape[1], 1, fill=False, edgecolor=INK, linewidth=1.2))
    owners = np.unique(found.nearest[row] % mask.shape[1])
    at = np.linspace(-0.5, mask.shape[1] - 0.5, 1201)
    columns = np.flatnonzero(rows[row] >= 0)
    for x in columns:
        axes[1].plot(at, np.hypot(rows[row, x] - row, at - x), color=FAINT, linewidth=0.7, zorder=1)
    axes[1].scatter(columns, abs(rows[row, columns] - row), s=7, color=FAINT, zorder=2)
    lowest = np.stack([np.hypot(rows[row, x] - row, at - x) for x in owners])
    for k, x in enumerate(owners):
        colour = COLOURS[colours[rows[row, x], x]]
        inside = lowest.argmin(0) == k
        axes[1].fill_between(at, lowest[k], where=inside, color=colour, linewidth=0, zorder=3)
        axes[1].scatter([x], [abs(rows[row, x] - row)], s=20, color=[colour], edgecolor=INK, linewidth=0.7, zorder=5)
    axes[1].plot(at, lowest.min(0), color=INK, linewidth=1.4, zorder=4)
    axes[1].set(xlim=(-0.5, mask.shape[1] - 0.5), ylim=(0, 17))
    axes[1].set_title("step 2: how far these are from a row: the lowest stay", color=INK)
    return figure


def on_cell(axis, x, y, number):
    axis.text(x, y, str(number), ha="center", va="center", color=PAPER if number > 2 else INK, fontsize=11, zorder=3)


def access():
    """What neighbouring threads read at one time, and a tile that is transposed."""
    n = 8
    figure, axes = panels(3, 14, 4.7)
    threads = ListedColormap([DEEP(0.15 + 0.75 * k / (n - 1)) for k in range(n)])
    for axis, title, at in ((axes[0], "vertical: a thread has a column", lambda t: (3, t)),
                            (axes[1], "horizontal: a thread has a row", lambda t: (t, 3))):  # fmt: skip
        picture = np.full((n, n), -1)
        for thread in range(n):
            picture[at(thread)] = thread
        lines = np.unique(np.nonzero(picture >= 0)[0])
        for line in range(n):
            colour = WARM(0.12) if line in lines else "#f1f0ea"
            axis.add_patch(Rectangle((-0.5, line - 0.5), n, 1, color=colour, zorder=0))
        axis.imshow(np.ma.masked_less(picture, 0), cmap=threads, vmin=0, vmax=n - 1, zorder=1)
        for k in range(n + 1):
            axis.plot([-0.5, n - 0.5], [k - 0.5] * 2, color=PAPER, linewidth=2.5, zorder=2)
            axis.plot([k - 0.5] * 2, [-0.5, n - 0.5], color=PAPER, linewidth=0.8, zorder=2)
        for thread in range(n):
            y, x = at(thread)
            on_cell(axis, x, y, thread)
        count = f"{len(lines)} line{'s' if len(lines) > 1 else ''} of memory"
        axis.set_title(f"{title}\n{n} threads read {count}", color=INK)
        axis.set(xlim=(-0.6, n - 0.4), ylim=(n - 0.4, -0.6))
    axis = axes[2]
    for row in range(n):
        for column in range(n + 1):
            bank = (row * (n + 1) + column) % n
            pad = column == n
            colour = "#e7e5dd" if pad else threads(bank)
            axis.add_patch(Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, color=colour))
            if not pad:
                on_cell(axis, column, row, bank)
    axis.add_patch(Rectangle((2.5, -0.5), 1, n, fill=False, edgecolor=RED, linewidth=2))
    axis.add_patch(Rectangle((-0.5, 4.5), n, 1, fill=False, edgecolor=RED, linewidth=2))
    axis.text(n, n - 0.35, "padding", ha="center", va="top", fontsize=10, color=INK)
    axis.set(xlim=(-0.6, n + 0.6), ylim=(n + 0.1, -0.6), aspect="equal")
    axis.set_title("a padded tile in shared memory:\nno bank twice in a row or a column", color=INK)
    return figure


def along_hilbert_curve(sites, bits=6):
    """The sites in the order of a curve along which neighbours stay together."""
    x, y = np.minimum(sites * 2**bits, 2**bits - 1).astype(int).T
    key = np.zeros(len(sites), int)
    for half in 2 ** np.arange(bits - 1, -1, -1):
        right, upper = (x & half) > 0, (y & half) > 0
        key += half * half * ((3 * right) ^ upper)
        flip = right & ~upper
        x, y = np.where(flip, 2**bits - 1 - x, x), np.where(flip, 2**bits - 1 - y, y)
        x, y = np.where(upper, x, y), np.where(upper, y, x)
    return sites[np.argsort(key, kind="stable")]


def pointwise():
    """The map over tiles and its reduction; and boxes that a bound leaves out."""
    random, size = np.random.default_rng(5), 32
    sites = random.random((16 * size, 2))
    query = np.array([[0.46, 0.55]])
    sites = sites[np.hypot(*(sites - query).T) > 0.07]
    sites = sites[: len(sites) // size * size]
    tiles = sites.reshape(-1, size, 2)
    figure, axes = panels(2, 12, 5.4)
    minima = [published.map_reduce(tile, query, backend="cpu").nearest[0] for tile in tiles]
    axes[0].scatter(*sites.T, s=7, color=FAINT)
    distances = [np.hypot(*(tile[k] - query[0])) for tile, k in zip(tiles, minima)]
    for number, (tile, k) in enumerate(zip(tiles, minima)):
        least = number == np.argmin(distances)
        colour = RED if least else DEEP(0.6)
        axes[0].plot(*zip(query[0], tile[k]), color=colour, linewidth=2.4 if least else 0.8, zorder=3)
        axes[0].scatter(*tile[k], s=26, color=[colour], zorder=4)
    axes[0].set_title(f"map and reduction: the nearest of each of\n{len(tiles)} tiles, and of these", color=INK)
    nearest, _ = fathom.SiteSet(sites, backend="cpu").nearest(query)
    radius, looked = nearest[0], 0
    for box in along_hilbert_curve(sites).reshape(-1, 12, 2):
        low, high = box.min(0), box.max(0)
        bound = np.hypot(*np.maximum(np.maximum(low - query[0], query[0] - high), 0))
        inside = bound <= radius
        looked += inside
        axes[1].add_patch(Rectangle(low, *(high - low), facecolor=WARM(0.12) if inside else "none",
                                    edgecolor=RED if inside else FAINT, linewidth=1.6 if inside else 0.8))  # fmt: skip
        axes[1].scatter(*box.T, s=7, color=[RED if inside else FAINT], zorder=3)
    axes[1].add_patch(Circle(query[0], radius, fill=False, edgecolor=INK, linewidth=1, linestyle="--"))
    axes[1].set_title("Fathom: boxes of sites that lie together,\n"
                      f"of which {looked} of {len(sites) // 12} are looked into", color=INK)  # fmt: skip
    for axis in axes:
        axis.scatter(*query[0], s=70, marker="x", color=INK, linewidth=2, zorder=6)
        axis.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    return figure


def tree():
    """The nodes of a tree, each with its part of one tile and what it needs around it."""
    height, width, shift, tile, reach = 56, 72, 26, 96, 20
    random = np.random.default_rng(2)
    cell = np.zeros((height, width), bool)
    for y, x in random.integers(0, (height - 2, width - 2), (9, 2)):
        cell[y : y + 2, x : x + 2] = True
    skin = stream.array(cell).lattice((0, width), (height, shift), 600, 600)
    far = skin.distance(max=reach)
    hide = far.profile("255*(1 - exp(-(d/9)^2))")
    outline = stream.formula("((x - 300)/260)^4 + ((y - 300)/260)^4 <= 1", 600, 600, dtype="bool")
    leather = hide.mask(outline)
    at = np.s_[60 : 60 + tile, 70 : 70 + tile]
    around = np.s_[60 - reach : 60 + tile + reach, 70 - reach : 70 + tile + reach]
    figure, (axis,) = panels(1, 14, 4.5)
    axis.set(xlim=(0, 14), ylim=(0, 4.5), aspect="equal")

    def node(x, y, side, picture, cmap, title, halo=0.0):
        picture = np.asarray(picture, float)
        high = side * picture.shape[0] / picture.shape[1]
        axis.imshow(np.where(np.isinf(picture), np.nan, picture), cmap=cmap, extent=(x, x + side, y, y + high),
                    interpolation="nearest", zorder=2)  # fmt: skip
        axis.add_patch(Rectangle((x, y), side, high, fill=False, edgecolor=INK, linewidth=0.8, zorder=3))
        if halo:
            axis.add_patch(Rectangle((x + halo, y + halo), side - 2 * halo, high - 2 * halo, fill=False, edgecolor=RED,
                                     linewidth=1.8, zorder=4))  # fmt: skip
        axis.text(x + side / 2, y + high + 0.12, title, ha="center", va="bottom", fontsize=13, color=INK)

    def arrow(x0, y0, x1, y1):
        look = {"arrowstyle": "-|>", "mutation_scale": 13, "color": INK, "linewidth": 1.1}
        axis.add_patch(FancyArrowPatch((x0, y0), (x1, y1), **look))

    wide = 2.0 * (tile + 2 * reach) / tile
    halo = wide * reach / (tile + 2 * reach)
    node(0.1, 1.9, 1.5, cell, DEEP, "repeater")
    node(2.3, 1.45, wide, skin[around], DEEP, "lattice, and a halo", halo)
    node(5.85, 1.7, 2.0, far[at], DEEP, "distance")
    node(8.5, 1.7, 2.0, hide[at], WARM.reversed(), "profile")
    node(8.5, 0.15, 1.0, outline[at], DEEP, "")
    axis.text(8.35, 0.65, "outline", ha="right", va="center", fontsize=13, color=INK)
    node(11.4, 1.35, 2.4, leather[at], WARM.reversed(), "mask: the tile")
    for ends in ((1.65, 2.5, 2.25, 2.7), (5.2, 2.8, 5.8, 2.75), (7.9, 2.7, 8.45, 2.7), (10.55, 2.65, 11.35, 2.6),
                 (9.55, 0.7, 11.35, 1.7)):  # fmt: skip
        arrow(*ends)
    return figure


def star(points=5, apart=0.5, tilt=0.1):
    """The side of a prism over a star, that leans a little."""
    angles = np.arange(2 * points) * np.pi / points + 0.31
    radii = np.where(np.arange(2 * points) % 2, 0.46, 1.0)
    ring = np.stack([radii * np.cos(angles), radii * np.sin(angles)], 1)
    z = tilt * ring[:, 1]
    vertices = np.concatenate([np.column_stack([ring, z + level]) for level in (0, apart)])
    n, faces = len(ring), []
    for a, b in zip(range(n), [*range(1, n), 0]):
        faces += [[a, b, a + n], [b, b + n, a + n]]
    return vertices, np.array(faces)


def cells_in_slice(found, size, z):
    """Cells of an octree over the points of a band that a slice cuts: (x, y, width, height, depth)."""
    cells = []

    def enter(low, size, points, depth):
        cells.append((low[0], low[1], size[0], size[1], depth))
        if max(size) == 1:
            return
        half = (np.array(size) + 1) // 2
        for octant in range(8):
            upper = np.array([octant >> k & 1 for k in range(3)], bool)
            first = np.where(upper, low + half, low)
            part = np.where(upper, np.array(size) - half, half)
            if not first[2] <= z < first[2] + part[2]:
                continue
            inside = points[((points >= first) & (points < first + part)).all(1)]
            if len(inside):
                enter(first, part, inside, depth + 1)

    enter(np.zeros(3, int), np.array(size), found, 0)
    return cells


def octree():
    """Cells around a curve, and which of vertices, edges and faces is nearest."""
    vertices, faces = star()
    lattice = {"origin": (-1.28, -1.28, 0.18), "shape": (64, 64, 16), "spacing": 0.04}
    passes = ("points", "edges", "faces")
    call = {"cutoff": 0.1, "backend": "cpu", **lattice}
    found = published.octree(vertices, faces, **call)
    z = 8
    dense = found.band.to_dense()
    places = np.argwhere(dense < np.float32(0.1))[:, ::-1]
    figure, axes = panels(3, 14, 5.1)
    axes[0].set_title("cells of the octree", color=INK)
    for x, y, width, height, depth in cells_in_slice(places, lattice["shape"], z):
        if width * height > 1:
            axes[0].add_patch(Rectangle((x - 0.5, y - 0.5), width, height, facecolor=DEEP(0.06 + 0.15 * depth),
                                        edgecolor=PAPER, linewidth=1.6 - 0.25 * depth))  # fmt: skip
    alone = [published.octree(vertices, faces, passes=(one,), **call).band.to_dense()[z] for one in passes]
    for axis, title in ((axes[1], "which pass found the least distance"), (axes[2], "the distances")):
        axis.set_title(title, color=INK)
    within = dense[z] < np.float32(0.1)
    least = np.where(within, np.argmin(np.stack(alone[::-1]), 0), 3)
    y, x = np.nonzero(within)
    names, colours = ("faces", "edges", "vertices"), (DEEP(0.45), WARM(0.35), RED)
    for number, (name, colour) in enumerate(zip(names, colours)):
        own = least[y, x] == number
        axes[1].scatter(x[own], y[own], s=13, color=[colour], label=name if own.any() else None, linewidths=0)
    axes[1].legend(loc="lower left", frameon=False, fontsize=12, handletextpad=0.1)
    axes[2].imshow(np.where(within, dense[z], np.nan), cmap=WARM.reversed(), interpolation="nearest")
    rim = (np.concatenate([vertices[10:], vertices[10:11]])[:, :2] + 1.28) / 0.04
    for axis in axes:
        axis.plot(*rim.T, color=INK, linewidth=1.1)
        axis.set(xlim=(-0.5, 63.5), ylim=(-0.5, 63.5), aspect="equal")
    return figure


def main():
    folder = Path(sys.argv[1])
    for draw in (bands, proximate, access, pointwise, tree, octree):
        figure = draw()
        figure.savefig(folder / f"algorithm-{draw.__name__}.png", dpi=110)
        plt.close(figure)


if __name__ == "__main__":
    main()
