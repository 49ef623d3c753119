"""Random tile graphs, each beside an array that NumPy makes by the plain definition of every node."""

import math

import fathom
import numpy as np
from fathom import stream

TYPES = ("bool", "uint8", "uint16", "float32")
MOST = {"bool": 1, "uint8": 255, "uint16": 65535, "float32": 1}


def saturated(values, dtype):
    """Rounded to nearest, ties to even, kept to the type's range; NaN is 0 in integers and false."""
    values = np.asarray(values, np.float64)
    if dtype == "float32":
        with np.errstate(over="ignore"):
            return values.astype(np.float32)
    if dtype == "bool":
        return (values != 0) & ~np.isnan(values)
    return np.clip(np.rint(np.where(np.isnan(values), 0, values)), 0, MOST[dtype]).astype(dtype)


def moved(values, y, x, shape):
    """With the first pixel at (y, x) of a raster of a shape, 0 beyond its edges."""
    out = np.zeros(shape, values.dtype)
    y0, x0 = max(y, 0), max(x, 0)
    y1, x1 = min(y + values.shape[0], shape[0]), min(x + values.shape[1], shape[1])
    if y0 < y1 and x0 < x1:
        out[y0:y1, x0:x1] = values[y0 - y : y1 - y, x0 - x : x1 - x]
    return out


def blended(copies, shape, dtype, blend, transparent, background):
    """@param copies  of (y, x, values, mask, weight), in their order"""
    out, covered = np.zeros(shape, dtype), np.zeros(shape, bool)
    sums, weights = np.zeros(shape), np.zeros(shape)
    for y, x, values, mask, weight in copies:
        rows = slice(max(y, 0), max(y, 0, min(y + values.shape[0], shape[0])))
        columns = slice(max(x, 0), max(x, 0, min(x + values.shape[1], shape[1])))
        part = slice(rows.start - y, rows.stop - y), slice(columns.start - x, columns.stop - x)
        new, old, done = values[part], out[rows, columns], covered[rows, columns]
        here = np.ones(new.shape, bool) if mask is None else mask[part] != 0
        if transparent is not None:
            here = here & (new.astype(np.float64) != transparent)
        amount = np.ones(new.shape) if weight is None else weight[part].astype(np.float64)
        sums[rows, columns][here] += amount[here] * new[here].astype(np.float64)
        weights[rows, columns][here] += amount[here]
        wins = {"max": new > old, "min": new < old, "last": True}.get(blend, False)
        wins = here & (~done | wins)
        old[wins] = new[wins]
        done |= here
    if blend in ("sum", "mean"):
        covered = weights != 0
        with np.errstate(divide="ignore", invalid="ignore"):
            result = sums if blend == "sum" else sums / weights
            if blend == "mean" and dtype != "float32":
                result = np.floor(result + 0.5)
        out = saturated(result, dtype)
    return np.where(covered, out, np.array(background).astype(dtype))


def lattice_copies(shape, size, u, v):
    """Corners of the copies that reach into a raster: j outer, i inner."""
    high, wide = shape[0] + size[0], shape[1] + size[1]
    reach = (abs(u[0]) * wide + abs(u[1]) * high) // abs(u[0] * v[1] - u[1] * v[0]) + 1
    found = []
    for j in range(-reach, reach + 1):
        middle, most = (-j * v[0] / u[0], high / abs(u[0])) if u[0] else (-j * v[1] / u[1], wide / abs(u[1]))
        i = np.arange(math.floor(middle - most), math.ceil(middle + most) + 1)
        y, x = i * u[0] + j * v[0], i * u[1] + j * v[1]
        inside = (y > -size[0]) & (y < shape[0]) & (x > -size[1]) & (x < shape[1])
        found += list(zip(y[inside].tolist(), x[inside].tolist()))
    return found


def distances(sites):
    """By looking at all pairs, in float64."""
    where = np.argwhere(sites)
    if len(where) == 0:
        return np.full(sites.shape, np.inf)
    if sites.size * len(where) > 10**7:
        return fathom.distance_transform(sites, sites="nonzero", dtype=np.float64)
    y, x = np.indices(sites.shape)
    squares = np.full(sites.shape, np.inf)
    for at_y, at_x in where:
        np.minimum(squares, (y - at_y) ** 2 + (x - at_x) ** 2, out=squares)
    return np.sqrt(squares)


def distance(values, bound, to, signed):
    """The bound is of distances between pixels, whether half of one is then taken off or not."""
    inside = values != 0
    if signed:
        found = np.where(inside, distances(~inside), distances(inside))
    else:
        found = distances(inside if to == "nonzero" else ~inside)
    if bound is not None:
        found = np.where(found > bound, np.inf, found)
    if signed:
        found = np.where(inside, 0.5 - found, found - 0.5)
    return found.astype(np.float32)


def bayer(side):
    matrix = np.zeros((1, 1), int)
    while len(matrix) < side:
        matrix = np.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
    return matrix


EXPRESSIONS = {
    1: [("a", lambda a: a), ("2*a + 1", lambda a: 2 * a + 1), ("-a/3", lambda a: -a / 3), ("a*a", lambda a: a * a),
        ("a >= 3", lambda a: (a >= 3) * 1.0)],
    2: [("a + b", lambda a, b: a + b), ("a - b", lambda a, b: a - b), ("a*b/7", lambda a, b: a * b / 7),
        ("a > b ? a : 2*b", lambda a, b: np.where(a > b, a, 2 * b)), ("a / b", lambda a, b: a / b)],
}  # fmt: skip
FUNCTIONS = ["exp(-d/5)*200", "d*d/8 + 1", "3*d - 4"]


def by_expression(expression, d):
    def one(value):
        return {0: lambda: math.exp(-value / 5) * 200, 1: lambda: value * value / 8 + 1, 2: lambda: 3 * value - 4}[
            FUNCTIONS.index(expression)
        ]()

    return np.vectorize(one, otypes=[float])(d.astype(np.float64))


def by_table(table, d):
    d = np.where(np.isnan(d), 0, d.astype(np.float64))
    return np.interp(d, np.arange(len(table)), np.array(table, float))


def grown(a):
    """The largest of 5 × 5 pixels, 0 beyond the edges."""
    padded = np.pad(a, 2)
    return np.lib.stride_tricks.sliding_window_view(padded, (5, 5)).max((2, 3))


def grown_part(a):
    return np.lib.stride_tricks.sliding_window_view(a, (5, 5)).max((2, 3))


class Graphs:
    """@param side  of rasters, at most"""

    def __init__(self, seed, side):
        self.random = np.random.default_rng(seed)
        self.side = side

    def upto(self, most, least=1):
        return int(self.random.integers(least, most + 1))

    def one_of(self, choices):
        return choices[self.upto(len(choices)) - 1]

    def source(self, dtype=None, shape=None):
        dtype = dtype or self.one_of(TYPES)
        height, width = shape or (self.upto(self.side), self.upto(self.side))
        kind = self.upto(6)
        if kind == 1:
            value = self.one_of([0, 1, 3.7, 250, 0.1, -2])
            return stream.constant(value, height, width, dtype=dtype), saturated(np.full((height, width), value), dtype)
        if kind == 2:
            y, x = np.indices((height, width)).astype(float)
            raster = stream.formula("3*x - 2*y + 1", height, width, dtype=dtype)
            return raster, saturated(3 * x - 2 * y + 1, dtype)
        if kind == 3:
            raster = stream.noise(self.upto(100), height, width, dtype=dtype)
            return raster, raster[:]
        values = self.random.random((height, width)) * MOST[dtype]
        values[self.random.random((height, width)) < self.one_of([0, 0.5, 0.9, 0.99])] = 0
        values = saturated(values, dtype)
        held = np.zeros((height + 3, width + 5), dtype)[2 : 2 + height, 1 : 1 + width]
        held[...] = values
        return stream.array(held), values

    def graph(self, depth):
        if depth == 0:
            return self.source()
        kinds = [
            "repeat", "lattice", "place", "crop", "flip", "rotate", "resample", "mask", "math", "math2", "threshold",
            "profile", "distance", "exact", "halftone", "function", "twice", "operators",
        ]  # fmt: skip
        return getattr(self, self.one_of(kinds))(*self.graph(depth - self.upto(min(2, depth))), depth)

    def other(self, depth):
        return self.graph(self.upto(depth, 0) // 2)

    def place_of(self, shape):
        return self.upto(shape[0], -shape[0] // 2), self.upto(shape[1], -shape[1] // 2)

    def repeat(self, raster, a, _):
        height, width = self.upto(2 * self.side), self.upto(2 * self.side)
        y, x = np.arange(height) % a.shape[0], np.arange(width) % a.shape[1]
        return raster.repeat(height, width), a[np.ix_(y, x)]

    def blending(self, dtype, transparent):
        blend = self.one_of(["max", "min", "sum", "first", "last", "mean"])
        transparent = self.one_of([0, 0, None, 1]) if transparent else self.one_of([None, None, 0])
        return {"blend": blend, "transparent": transparent, "background": self.one_of([0, 0, 1])}

    def lattice(self, raster, a, _):
        height, width = self.upto(self.side), self.upto(self.side)
        if a.size > 900:
            raster, a = self.crop(raster, a, 0)
        while True:
            u, v = ([self.upto(12, -12), self.upto(12, -12)] for _ in range(2))
            if u[0] * v[1] != u[1] * v[0]:
                break
        how = self.blending(raster.dtype, True)
        mask = weight = (None, None)
        if self.upto(3) == 1:
            mask = self.source(shape=a.shape)
        if how["blend"] == "mean" and self.upto(2) == 1:
            weight = self.source("uint8", shape=a.shape)
        if self.upto(2) == 1:  # what is usual
            given = {"blend": how["blend"], "background": how["background"]}
            how["transparent"] = 0 if mask[0] is None else None
        else:
            given = how
        raster = raster.lattice(u, v, height, width, **given, mask=mask[0], weight=weight[0])
        copies = [(y, x, a, mask[1], weight[1]) for y, x in lattice_copies((height, width), a.shape, u, v)]
        return raster, blended(copies, (height, width), raster.dtype.name, **how)

    def place(self, raster, a, depth):
        height, width = self.upto(2 * self.side), self.upto(2 * self.side)
        children = [(raster, a), self.source(raster.dtype.name)]
        if self.upto(2) == 1:
            more, b = self.other(depth)
            children.append((more.astype(raster.dtype), saturated(b, raster.dtype.name)))
        rows = [
            (self.upto(height + 5, -10), self.upto(width + 5, -10), self.upto(len(children)) - 1)
            for _ in range(self.upto(12, 0))
        ]
        how = self.blending(raster.dtype, False)
        copies = [(y, x, children[n][1], None, None) for y, x, n in rows]
        placed = stream.place([child for child, _ in children], rows, height, width, **how)
        return placed, blended(copies, (height, width), raster.dtype.name, **how)

    def crop(self, raster, a, _):
        height, width = (self.upto(min(extent, 30)) for extent in a.shape)
        y, x = self.upto(a.shape[0] - height, 0), self.upto(a.shape[1] - width, 0)
        return raster.crop(y, x, height, width), a[y : y + height, x : x + width]

    def flip(self, raster, a, _):
        rows, columns = self.upto(2) == 1, self.upto(2) == 1
        return raster.flip(rows, columns), a[:: -1 if rows else 1, :: -1 if columns else 1]

    def rotate(self, raster, a, _):
        quarters = self.upto(5, -5)
        return raster.rotate(quarters), np.rot90(a, quarters)

    def resample(self, raster, a, _):
        """To pixels of another size and back: others have pixels of one size."""
        size = self.one_of([0.5, 0.75, 2, 3, 1.5])
        for pixel, ratio in ((size, size), (1.0, 1 / size)):
            raster = raster.resample(pixel)
            shape = [max(1, math.floor(extent / ratio + 0.5)) for extent in a.shape]
            at = [np.minimum(((np.arange(n) + 0.5) * ratio).astype(int), e - 1) for n, e in zip(shape, a.shape)]
            a = a[np.ix_(*at)]
        return raster, a

    def mask(self, raster, a, depth):
        of, b = self.other(depth)
        y, x = self.place_of(a.shape)
        background = self.one_of([0, 1, 0.1 if a.dtype == np.float32 else 0])
        within = moved(b != 0, y, x, a.shape)
        return raster.mask((of, y, x), background), np.where(within, a, np.array(background).astype(a.dtype))

    def math(self, raster, a, _):
        expression, model = self.one_of(EXPRESSIONS[1])
        dtype = self.one_of(TYPES)
        with np.errstate(all="ignore"):
            return raster.math(expression, dtype=dtype), saturated(model(a.astype(float)), dtype)

    def math2(self, raster, a, depth):
        other, b = self.other(depth)
        y, x = self.place_of(a.shape)
        expression, model = self.one_of(EXPRESSIONS[2])
        dtype = self.one_of(TYPES)
        b = moved(b, y, x, a.shape).astype(float)
        with np.errstate(all="ignore"):
            return raster.math(expression, (other, y, x), dtype=dtype), saturated(model(a.astype(float), b), dtype)

    def twice(self, raster, a, _):
        """A node with two parents."""
        other, b = self.flip(raster, a, 0)
        with np.errstate(all="ignore"):
            sums = a.astype(float) + b.astype(float)
        return raster.math("a + b", other, dtype=a.dtype), saturated(sums, a.dtype.name)

    def operators(self, raster, a, _):
        b, c = a.astype(np.float32), a.astype(float)
        with np.errstate(all="ignore"):
            half = saturated(c / 2, "float32").astype(float)
            return self.one_of([
                (raster + 1, saturated(c + 1, "float32")), (1 - raster, saturated(1 - c, "float32")),
                (2 * raster, saturated(2 * c, "float32")), (raster / 2 - raster, saturated(half - c, "float32")),
                (raster < 2, c < 2), (raster <= 2, c <= 2), (-raster, -b), (raster >= raster / 2, c >= half),
            ])  # fmt: skip

    def threshold(self, raster, a, _):
        value = self.one_of([0, 1, 0.5, 3, 0.1])
        above = self.upto(2) == 1
        wide = a.astype(np.float64)
        return (raster > value, wide > value) if above else (raster >= value, wide >= value)

    def profile(self, raster, a, _):
        dtype = self.one_of(TYPES)
        infinite = self.one_of([None, 77, 0])
        if self.upto(2) == 1:
            table = [self.upto(300, -50) for _ in range(self.upto(6))]
            values = by_table(table, a)
            values = values if infinite is None else np.where(a == np.inf, infinite, values)
            return raster.profile(table, dtype=dtype, infinite=infinite), saturated(values, dtype)
        infinite = 77 if infinite is None else infinite
        expression = self.one_of(FUNCTIONS)
        if (a < -2000).any():  # beyond what exp takes here
            return raster, a
        with np.errstate(all="ignore"):
            values = np.where(a == np.inf, infinite, by_expression(expression, np.where(a == np.inf, 0, a)))
        return raster.profile(expression, dtype=dtype, infinite=infinite), saturated(values, dtype)

    def distance(self, raster, a, _):
        bound = self.one_of([1, 2.5, 5, 15, 40])
        to = self.one_of(["nonzero", "zero"])
        signed = self.upto(3) == 1
        return raster.distance(bound, to=to, signed=signed), distance(a, bound, to, signed)

    def exact(self, raster, a, _):
        to = self.one_of(["nonzero", "zero"])
        return raster.distance(to=to), distance(a, None, to, False)

    def halftone(self, raster, a, _):
        side = self.one_of([2, 4, 8, 16])
        y, x = np.indices(a.shape)
        limits = (bayer(side) + 0.5) / side**2 * MOST[a.dtype.name]
        return raster.halftone(side), a.astype(float) > limits[y % side, x % side]

    def function(self, raster, a, _):
        f = self.one_of([grown, grown_part])
        with np.errstate(all="ignore"):
            return stream.function(f, raster, halo=2), grown(a)

