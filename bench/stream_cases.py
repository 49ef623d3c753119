"""The rasters of bench/stream.py as graphs, and what some of their pixels are by definition, in NumPy."""

import dataclasses
import json

import numpy as np

TEXTURE, U, V = (160, 200), (0, 190), (150, 70)  # copies overlap by ten rows and ten columns
BOUND = 15  # of distances, as in case 3 of Pellet's
DEPTHS = {BOUND: "255*exp(-d/5)", None: "255*exp(-d/100)"}  # profiles; without a bound sites are rare
REACH = 1500  # in which an exact distance finds a site

DOTS = {"grain": {"type": "noise", "seed": 5, "height": 200, "width": 300, "dtype": "uint16"},
        "cell": {"type": "threshold", "value": 65000, "children": ["grain"]}}
TEXTURES = {"texture": {"type": "noise", "seed": 3, "height": TEXTURE[0], "width": TEXTURE[1]}}


def document(nodes, root=None):
    return json.dumps({"fathom": "stream", "version": 1, "root": root or list(nodes)[-1], "nodes": nodes})


def sparse(height, width, value, seed=8):
    """Random sites that repeat nowhere."""
    return {"noise": {"type": "noise", "seed": seed, "height": height, "width": width, "dtype": "uint16"},
            "sites": {"type": "threshold", "value": value, "children": ["noise"]}}


def deep(bound, sites="sites"):
    """The distance to sites, and its profile."""
    return {"far": {"type": "distance", "children": [sites], **({"max": bound} if bound else {})},
            "deep": {"type": "profile", "expression": DEPTHS[bound], "children": ["far"]}}


def repeated(height, width, child):
    return {"sites": {"type": "repeat", "height": height, "width": width, "children": [child]}}


def lattice(height, width, mask):
    """@param mask  nodes, the last one called "mask" """
    return {**TEXTURES, "skin": {"type": "lattice", "u": U, "v": V, "height": height, "width": width, "blend": "max",
                                 "children": ["texture"]},
            **mask, "cut": {"type": "mask", "children": ["skin", {"node": "mask", "role": "mask"}]}}


def noise_mask(height, width):
    return {"veil": {"type": "noise", "seed": 4, "height": height, "width": width},
            "mask": {"type": "threshold", "value": 128, "children": ["veil"]}}


def outline(height, width):
    text = f"((x-{width / 2})/{0.47 * width})^4 + ((y-{height / 2})/{0.47 * height})^4 <= 1"
    return {"mask": {"type": "formula", "expression": text, "height": height, "width": width, "dtype": "bool"}}


# --- By definition: `pixels` gives those of a source in y0:y1, x0:x1 -------------------------------------------------

def distances(sites, y, x):
    """At (y, x), each to all sites that are there."""
    places = np.argwhere(sites)
    if not len(places):
        return np.full((len(y), len(x)), np.inf)
    squares = (y[:, None, None] - places[:, 0])**2 + (x[None, :, None] - places[:, 1])**2
    return np.sqrt(squares.min(-1)).astype(np.float32).astype(np.float64)


def depth(distance, bound):
    reach = distance if bound is None else np.minimum(distance, bound)
    return np.rint(255 * np.exp(-reach / (100 if bound is None else 5)))


def sites_in(case, pixels, region):
    if "cell" not in case.nodes:
        return pixels("sites", region)
    return expected_repeat(case, pixels, region)


def expected_depth(case, pixels, window, bound):
    """Of distances to whatever sites there are within reach of a window."""
    y0, y1, x0, x1 = window
    reach = bound or REACH
    top, left = max(0, y0 - reach), max(0, x0 - reach)
    sites = sites_in(case, pixels, (top, min(case.height, y1 + reach), left, min(case.width, x1 + reach)))
    found = distances(sites, np.arange(y0 - top, y1 - top), np.arange(x0 - left, x1 - left))
    if bound is None and found.max() > reach:
        raise SystemExit(f"{case.name}: no site within {reach} pixels, so that the benchmark cannot check distances")
    return depth(found, bound)


def expected_repeat(case, pixels, window):
    y0, y1, x0, x1 = window
    cell = pixels("cell", None)
    return cell[np.ix_(np.arange(y0, y1) % cell.shape[0], np.arange(x0, x1) % cell.shape[1])]


def lattice_copies(texture, window):
    """The largest of all copies, one after the other."""
    y0, y1, x0, x1 = window
    found = np.zeros((y1 - y0, x1 - x0), np.uint8)
    for j in range((y0 - TEXTURE[0]) // V[0], y1 // V[0] + 1):
        for i in range((x0 - TEXTURE[1] - j * V[1]) // U[1], (x1 - j * V[1]) // U[1] + 1):
            top, left = j * V[0] - y0, i * U[1] + j * V[1] - x0  # of the copy, in the window
            rows = slice(max(0, top), max(0, min(y1 - y0, top + TEXTURE[0])))
            columns = slice(max(0, left), max(0, min(x1 - x0, left + TEXTURE[1])))
            copy = texture[rows.start - top:rows.stop - top, columns.start - left:columns.stop - left]
            np.maximum(found[rows, columns], copy, out=found[rows, columns])
    return found


def expected_lattice(case, pixels, window):
    return np.where(pixels("mask", window), lattice_copies(pixels("texture", None), window), 0)


@dataclasses.dataclass
class Case:
    name: str
    height: int
    width: int
    nodes: dict
    expected: object  # of (case, pixels, window)
    options: tuple = ()
    aim: float | None = None  # MB/s
    files: dict = dataclasses.field(default_factory=dict)  # what peers read

    @property
    def bytes(self):
        return self.height * self.width


def bounded(case, pixels, window):
    return expected_depth(case, pixels, window, BOUND)


def exact(case, pixels, window):
    return expected_depth(case, pixels, window, None)


def wide_cases(scale):
    """Rasters wider than any memory would hold as a square. @param scale  1, or less for a quick look"""
    wide, wider = int(262144 * scale), int(2000000 * scale)
    rows = lambda count: max(300, int(count * scale))
    rare = {"grain": {"type": "noise", "seed": 5, "height": 701, "width": 907, "dtype": "uint16"},
            "cell": {"type": "threshold", "value": 65500, "children": ["grain"]}}

    def case(name, height, width, nodes, expected, **more):
        return Case(name, height, width, nodes(height, width), expected, **more)

    def distances_of(height, width, value, bound, **more):
        share = f"{100 * (65536 - value) / 65536:.1g} %"
        kind = f"distance ≤ {bound}" if bound else "exact distance"
        return case(f"random {share}, {kind}, profile", height, width,
                    lambda h, w: {**sparse(h, w, value), **deep(bound)}, bounded if bound else exact, **more)

    yield case("repeated, distance ≤ 15, profile", rows(16384), wide,
               lambda h, w: {**DOTS, **repeated(h, w, "cell"), **deep(BOUND)}, bounded, aim=800)
    yield case("lattice under random bits", rows(8192), wide, lambda h, w: lattice(h, w, noise_mask(h, w)),
               expected_lattice, aim=200)
    yield case("lattice under an outline", rows(1024), wide, lambda h, w: lattice(h, w, outline(h, w)),
               expected_lattice, aim=200)
    yield distances_of(rows(4096), wide, 65000, BOUND)
    narrow = {"options": ("--memory", "160MB"), "aim": 150}
    yield case("repeated, exact distance, profile", rows(4096), wide,
               lambda h, w: {**rare, **repeated(h, w, "cell"), **deep(None)}, exact, **narrow)
    yield distances_of(rows(4096), wide, 65000, None, **narrow)
    yield distances_of(rows(4096), wide, 65534, None, **narrow)
    yield distances_of(rows(1024), wider, 65534, None, options=("--memory", "600MB"), aim=150)


def square_cases(side, file_of):
    """Rasters that peers can hold, from the same files.

    @param file_of  (name, nodes) -> path of the last node's raster
    """
    read = lambda path: {"type": "file", "path": path}
    dots, texture = file_of("dots", DOTS), file_of("texture", TEXTURES)
    dense, rare = (file_of(f"sites-{value}", sparse(side, side, value)) for value in (65000, 65534))
    mask = file_of("mask", noise_mask(side, side))
    cut = lattice(side, side, {"mask": read(mask)})
    cut["texture"] = read(texture)
    for name, nodes, expected, files in [
        ("repeat", {"cell": read(texture), **repeated(side, side, "cell")}, expected_repeat, {"cell": texture}),
        ("lattice, mask", cut, expected_lattice, {"cell": texture, "mask": mask}),
        ("repeated, distance ≤ 15, profile", {"cell": read(dots), **repeated(side, side, "cell"), **deep(BOUND)},
         bounded, {"cell": dots}),
        ("0.8 %, distance ≤ 15, profile", {"sites": read(dense), **deep(BOUND)}, bounded, {"sites": dense}),
        ("0.8 %, exact distance, profile", {"sites": read(dense), **deep(None)}, exact, {"sites": dense}),
        ("0.003 %, exact distance, profile", {"sites": read(rare), **deep(None)}, exact, {"sites": rare}),
    ]:
        yield Case(name, side, side, nodes, expected, files=files)


def machine_case(height, width):
    """Dots on a lattice, their distances and a profile, under an outline."""
    skin = {"type": "lattice", "u": U, "v": V, "height": height, "width": width, "children": ["cell"]}
    return {**DOTS, "sites": skin, **deep(BOUND), **outline(height, width),
            "part": {"type": "mask", "children": ["deep", {"node": "mask", "role": "mask"}]}}
