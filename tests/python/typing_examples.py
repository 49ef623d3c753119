"""What checkers of types make of usual calls: mypy and pyright read this file, and it runs, so that what they say is
true of the results, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args, get_origin

import fathom
import numpy as np
import numpy.typing as npt
from fathom import morphology

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value, wanted):
        if get_origin(wanted) is tuple:
            assert len(value) == len(get_args(wanted))
            for one in zip(value, get_args(wanted)):
                assert_type(*one)
        elif get_origin(wanted) is np.ndarray:
            (element,) = get_args(get_args(wanted)[1])
            assert isinstance(value, np.ndarray)
            assert element is Any or np.issubdtype(value.dtype, get_origin(element) or element)
        else:
            assert isinstance(value, get_origin(wanted) or wanted)


class Tensor:
    """An array of another library, as PyTorch's: it speaks DLPack, and says how to make one of its kind."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__()

    def __dlpack_device__(self) -> tuple[Any, Any]:
        return self.values.__dlpack_device__()

    def __array_namespace__(self) -> Any:
        return Tensor

    @staticmethod
    def from_dlpack(x: Any) -> Tensor:
        return Tensor(np.from_dlpack(x))


Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.signedinteger[Any]]
mask = np.zeros((7, 9), np.uint8)
mask[1:6, 1:8] = 1
labels: npt.NDArray[np.int16] = mask.astype(np.int16)
tensor = Tensor(mask)
rows = [[0, 1, 1], [0, 0, 1]]
halves: npt.NDArray[np.float64] = np.zeros((7, 9))

# Distances: of NumPy's kind for NumPy's arrays and lists, else of what was given; `out` is returned as it is.
assert_type(fathom.distance_transform(mask), npt.NDArray[np.float32])
assert_type(fathom.distance_transform(rows, metric="taxicab"), npt.NDArray[np.float32])
assert_type(fathom.distance_transform(tensor, squared=True), Tensor)
assert_type(fathom.distance_transform(mask, squared=True), npt.NDArray[Any])
assert_type(fathom.distance_transform(mask, return_indices=True), tuple[npt.NDArray[Any], Integers])
assert_type(fathom.distance_transform(tensor, return_indices=True), tuple[Tensor, Tensor])
assert_type(fathom.distance_transform(mask, out=halves), npt.NDArray[np.float64])
assert_type(fathom.signed_distance(mask, surface="centers", border=("open", "sites")), npt.NDArray[np.float32])
assert_type(fathom.signed_distance(mask, dtype=np.float64), Floats)
assert_type(fathom.signed_distance(x=tensor), Tensor)
assert_type(fathom.nearest_site(mask), Integers)

# What is built on them.
assert_type(fathom.local_thickness(mask, spacing=(2, 0.5)), npt.NDArray[np.float32])
assert_type(fathom.porosimetry(tensor), Tensor)
assert_type(fathom.direction(mask, sites=">0"), npt.NDArray[np.float32])
assert_type(fathom.medial_axis(mask), npt.NDArray[np.bool_])
assert_type(fathom.medial_axis(mask, return_nearest=True), tuple[npt.NDArray[np.bool_], Integers])
assert_type(fathom.medial_axis(tensor, return_distance=True), tuple[Tensor, Tensor])
assert_type(fathom.medial_axis_of_nearest(nearest=fathom.nearest_site(mask)), npt.NDArray[np.bool_])
assert_type(fathom.costmap(mask, resolution=0.1, inscribed=0.1, inflation=1, occupied=">0"), npt.NDArray[np.uint8])
assert_type(fathom.sdf(mask > 0), npt.NDArray[np.uint8])
assert_type(fathom.sdf(Tensor(mask > 0), (4, 4)), Tensor)
assert_type(fathom.voronoi(mask), fathom.Voronoi)
assert_type(fathom.voronoi(mask, ndim=1)[0], fathom.Voronoi)
assert_type(fathom.lloyd(mask, [[1, 1], [2, 2]], iterations=1), npt.NDArray[np.float64])
assert_type(fathom.stipple(mask > 0, 5), fathom.Stipples)
assert_type(morphology.closing(mask, radius=1, out=None), npt.NDArray[np.bool_])
into: npt.NDArray[np.uint8] = np.zeros_like(mask)
assert_type(morphology.opening(mask, 1, out=into), npt.NDArray[np.uint8])
assert_type(morphology.remove_thin(tensor, thickness=2), Tensor)

# Values that are carried keep their dtype.
for grown in fathom.expand_labels(labels), morphology.dilation(labels, 1, labels=True), fathom.fill_nearest(labels, mask):
    assert_type(grown, npt.NDArray[np.int16])
assert_type(fathom.allocation(tensor), Tensor)
assert_type(fathom.expand_labels(labels=[0, 3, 0]), npt.NDArray[Any])

# Points and meshes.
sites = fathom.SiteSet([[0, 0], [3, 4]], storage="boxed")
assert_type(sites.nearest([0, 1]), tuple[Floats, npt.NDArray[np.int64]])
assert_type(sites.nearest([0, 1], k=1, return_lower=True), tuple[Floats, npt.NDArray[np.int64], Floats])
assert_type(sites.nearest(Tensor(halves[:2, :2]), 2), tuple[Tensor, Tensor])
corners, sheet = np.eye(3), [[0, 1, 2]]
assert_type(fathom.mesh_distance(corners, sheet, spacing=0.5, sign="none"), fathom.Field)
assert_type(fathom.mesh_distance(corners, sheet, spacing=0.5, sign="none", band=2), fathom.Band)
assert_type(fathom.offset_surface(corners, sheet, 0.5, spacing=0.25, sign="none"), tuple[Floats, npt.NDArray[np.int32]])
