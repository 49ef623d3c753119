"""Exact distances to the nearest site, on images, volumes, points and triangle meshes.

>>> import numpy as np
>>> import fathom
>>> fathom.distance_transform(np.array([[1, 1, 0, 1]], np.uint8))
array([[2., 1., 0., 1.]], dtype=float32)
"""

import importlib as _importlib
import typing as _typing

from . import _alone  # noqa: F401  (first, before a file of another distribution)
from ._apps.direction import direction
from ._apps.fields import costmap, sdf
from ._apps.local_thickness import local_thickness, porosimetry
from ._apps.medial_axis import axis_balls, medial_axis, medial_axis_of_nearest
from ._apps.nearest_value import allocation, expand_labels, fill_nearest
from ._apps.voronoi import Stipples, Voronoi, lloyd, stipple, voronoi
from ._core import VERSION as __version__
from ._core import DeviceError
from ._files import Image, read, write
from ._grid.transform import distance_transform, nearest_site, signed_distance
from ._info import Info, info, release_device_memory, release_threads

if _typing.TYPE_CHECKING:
    from . import morphology, published, stream
    from ._mesh.band import Band
    from ._mesh.comparison import Comparison, Deviation
    from ._mesh.device_band import DeviceBand
    from ._mesh.distance import mesh_distance, offset_surface
    from ._mesh.field import Field, Nearest, Topology
    from ._mesh.triangle_set import TriangleSet
    from ._points.dynamic_set import DynamicSet
    from ._points.site_set import SiteSet
    from ._points.voxel_set import VoxelSet

DeviceError.__module__ = "fathom"

__all__ = [
    "Band",
    "Comparison",
    "DeviceBand",
    "DeviceError",
    "Deviation",
    "DynamicSet",
    "Field",
    "Image",
    "Info",
    "Nearest",
    "SiteSet",
    "Stipples",
    "Topology",
    "TriangleSet",
    "Voronoi",
    "VoxelSet",
    "__version__",
    "allocation",
    "axis_balls",
    "costmap",
    "direction",
    "distance_transform",
    "expand_labels",
    "fill_nearest",
    "info",
    "lloyd",
    "local_thickness",
    "medial_axis",
    "medial_axis_of_nearest",
    "mesh_distance",
    "morphology",
    "nearest_site",
    "offset_surface",
    "porosimetry",
    "published",
    "read",
    "release_device_memory",
    "release_threads",
    "sdf",
    "signed_distance",
    "stipple",
    "stream",
    "voronoi",
    "write",
]


_LATER = {
    "Band": "_mesh.band",
    "Comparison": "_mesh.comparison",
    "Deviation": "_mesh.comparison",
    "DeviceBand": "_mesh.device_band",
    "DynamicSet": "_points.dynamic_set",
    "Field": "_mesh.field",
    "Nearest": "_mesh.field",
    "SiteSet": "_points.site_set",
    "Topology": "_mesh.field",
    "TriangleSet": "_mesh.triangle_set",
    "VoxelSet": "_points.voxel_set",
    "mesh_distance": "_mesh.distance",
    "offset_surface": "_mesh.distance",
}


def __getattr__(name: str) -> _typing.Any:
    """Other modules, meshes and points, loaded when first used: together they take longer than all the rest."""
    if name in ("morphology", "published", "stream"):
        return _importlib.import_module(f".{name}", __name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *(name for name in __all__ if name not in globals())]
