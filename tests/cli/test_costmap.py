"""fathom costmap: Nav2's formula on distances by SciPy; images of maps and occupancy grids; what it refuses."""

import json

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage


def costs(occupied, unknown, resolution, inscribed, inflation, scaling):
    metres = ndimage.distance_transform_edt(~occupied) * resolution
    result = (252 * np.exp(-scaling * (metres - inscribed))).astype(int)
    result[metres > inflation] = 0
    result[metres <= inscribed] = 253
    result[occupied] = 254
    result[unknown] = 255
    return result


@pytest.fixture
def world(fathom):
    """A map as map servers keep it: walls 0, free 254, unknown 205."""
    cells = np.full((60, 90), 254, np.uint8)
    cells[20:22, 10:70] = 0
    cells[40:, :20] = 205
    cells[45, 5] = 0
    fathom.cells = cells
    (fathom.directory / "map.pgm").write_bytes(b"P5\n90 60\n255\n" + cells.tobytes())
    return fathom


def test_an_image_of_a_map(world):
    assert world.ok("costmap", "map.pgm", "-o", "costs.png", "--nearest", "nearest.npy") == (
        "costs.png: costs, uint8, 60 × 90, 121 of 5400 cells occupied\n"
        "nearest.npy: nearest obstacles, int64, 60 × 90\n"
    )
    expected = costs(world.cells == 0, world.cells == 205, 0.05, 0.3, 1, 3)
    np.testing.assert_array_equal(np.array(Image.open(world.directory / "costs.png")), expected)
    nearest = np.load(world.directory / "nearest.npy")
    assert (world.cells.ravel()[nearest] == 0).all() and nearest[0, 0] == 20 * 90 + 10


def test_an_occupancy_grid(world):
    grid = np.where(world.cells == 0, 100, np.where(world.cells == 205, -1, 30)).astype(np.int8)
    np.save(world.directory / "grid.npy", grid)
    world.ok("costmap", "grid.npy", "-o", "out.npy", "--resolution", 0.1, "--inscribed", 0.25, "--inflation", 0.7,
             "--scaling", 10, "--quiet")
    expected = costs(grid == 100, grid == -1, 0.1, 0.25, 0.7, 10)
    np.testing.assert_array_equal(np.load(world.directory / "out.npy"), expected)


def test_other_rules_and_a_chart(world):
    found = json.loads(world.ok("costmap", "map.pgm", "-o", "out.npy", "--occupied", "==205", "--unknown", "none",
                                "--preview", "chart.png", "--json"))
    assert found["occupied_cells"] == (world.cells == 205).sum()
    assert found["settings"]["occupied"] == "==205" and found["settings"]["unknown"] == "none"
    assert Image.open(world.directory / "chart.png").format == "PNG"
    assert (np.load(world.directory / "out.npy") != 255).all()


@pytest.mark.parametrize("options, message", [
    (["-o", "o.npy", "--resolution", "0"], "--resolution takes a number above 0, not '0'"),
    (["-o", "o.npy", "--inflation", "-1"], "--inflation takes a number that is at least 0, not '-1'"),
    (["-o", "o.npy", "--occupied", "labels"],
     "--occupied takes nonzero, zero, or '>=V', '>V', '<=V', '<V', '==V' or '!=V' with a number V, not 'labels'"),
    ([], "no output was asked for; give -o FILE"),
])
def test_refuses(world, options, message):
    assert world.refuses(2, "costmap", "map.pgm", *options) == message
