"""The compiled part is overloaded on where arrays lie: in a build without CUDA, descriptions of arrays on a device, which
need none, reach the library's own refusal."""

import math

import fathom
import numpy as np
import pytest
from fathom import _core
from fathom._grid.options import Settings, make

if "cuda" in fathom.info().backends:
    pytest.skip("a build with CUDA would look at the device", allow_module_level=True)

SIDE, COUNT = 8, 5
OPTIONS = make(Settings("zero", None, "euclidean", "open", None, None, None), 2, ())
COMMON = _core.Common((), _core.BACKENDS["auto"], 0)
CHOICES = _core.SetChoices(_core.STORAGES["sorted"], 1, (), _core.BACKENDS["auto"], None, ())
QUERY = _core.QueryOptions(1, 0, math.inf, 0, 0, 0, 0, 0, 0)
POINTS = np.zeros((COUNT, 2))


def there(dtype, *shape):
    """An array that is said to lie on a device."""
    array = np.zeros(shape or (SIDE, SIDE), dtype)
    steps = tuple(stride // array.itemsize for stride in array.strides)
    return _core.DeviceArray(array.ctypes.data, _core.DTYPES[dtype], array.shape, steps, 0)


BYTES, FLOATS, INDICES = there("uint8"), there("float32"), there("int32")
PLACES, DISTANCES, IDS = there("float64", COUNT, 2), there("float64", COUNT), there("int64", COUNT)
MESH = fathom.TriangleSet([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], sign="none")._set
LATTICE = _core.Lattice((0, 0, 0), (1, 1, 1), (SIDE, SIDE, 1))
CALLS = {
    "transform": lambda: _core.transform(BYTES, 2, OPTIONS, None, FLOATS),
    "direction": lambda: _core.direction(BYTES, 2, COMMON, OPTIONS, FLOATS, None),
    "morphology": lambda: _core.morphology(BYTES, 2, COMMON, 0, 1.0, 0, False, BYTES, None),
    "local_thickness": lambda: _core.local_thickness(BYTES, 2, COMMON, FLOATS, None),
    "porosimetry": lambda: _core.porosimetry(BYTES, 2, COMMON, None, FLOATS, None),
    "medial_axis": lambda: _core.medial_axis(BYTES, 2, COMMON, 0, 1.0, False, BYTES, None, None, None, None),
    "of_nearest": lambda: _core.medial_axis_of_nearest(INDICES, 2, COMMON, 0, 1.0, False, BYTES, None, None),
    "axis_balls": lambda: _core.axis_balls(BYTES, 2, COMMON, INDICES, FLOATS, None),
    "costmap": lambda: _core.costmap(BYTES, 2, COMMON, (1, 0), None, 1.0, 1.0, 1.0, 1.0, BYTES, None, None),
    "sdf": lambda: _core.sdf(BYTES, 2, COMMON, 1.0, 0.0, False, BYTES, None),
    "voronoi": lambda: _core.voronoi(INDICES, 2, COMMON, None, False, False, INDICES, None),
    "lloyd": lambda: _core.lloyd(there("float64"), 2, COMMON, PLACES, 1, False, 1, 0.1, 0, False, None),
    "stipple": lambda: _core.stipple(BYTES, 2, COMMON, 3, 0, 1, 0.1, 1.0, False, 1, None),
    "SiteSet": lambda: _core.SiteSet(PLACES, False, CHOICES, 0, None),
    "SiteSet of a mask": lambda: _core.SiteSet(BYTES, True, CHOICES, 0, None),
    "nearest": lambda: _core.SiteSet(POINTS, False, CHOICES, 0, None).nearest(
        PLACES, QUERY, None, None, DISTANCES, None, IDS, None, None
    ),
    "nearest in one cone": lambda: _core.SiteSet(POINTS, False, CHOICES, 0, None).nearest(
        PLACES, QUERY, np.ones((1, 2)), None, DISTANCES, None, IDS, None, None
    ),
    "DynamicSet": lambda: _core.DynamicSet(PLACES, CHOICES, 0),
    "add": lambda: _core.DynamicSet(POINTS, CHOICES, 0).add(PLACES),
    "move": lambda: _core.DynamicSet(POINTS, CHOICES, 0).move(np.arange(COUNT), PLACES),
    "VoxelSet": lambda: _core.VoxelSet.of_mask(BYTES, _core.BACKENDS["auto"]),
    "edit": lambda: _core.VoxelSet.of_shape((SIDE, SIDE), 0).edit(_core.EDITS["add"], IDS, None),
    "nearest triangles": lambda: MESH.nearest(there("float64", COUNT, 3), (DISTANCES, *[None] * 6), 0, None),
    "field": lambda: MESH.field(LATTICE, (there("float32", 1, SIDE, SIDE), *[None] * 6), 0, None),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_on_a_device_reach_the_library(name):
    refusals = "has no CUDA backend|(are|is) in (a device's memory, the .* in )?the host's"
    with pytest.raises((fathom.DeviceError, ValueError), match=refusals):
        CALLS[name]()


def test_arrays_lie_in_one_place():
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.transform(BYTES, 2, OPTIONS, None, np.zeros((SIDE, SIDE), np.float32))
