"""NIfTI: sizes, time, place, units."""

import struct

import nibabel
import numpy as np
import tifffile
from meaning import distance, info, mask, per_plane
from scipy import ndimage


def test_nifti_time_is_apart(fathom):
    a = mask(5, 4, 9, 8)  # x, y, z, t
    nibabel.save(nibabel.Nifti1Image(a, np.diag([2, 3, 4, 1])), fathom.directory / "a.nii")
    told = info(fathom, "a.nii")
    assert (told["axes"], told["shape"]) == ("tzyx", [8, 9, 4, 5])
    got = distance(fathom, "a.nii", "--quiet")
    assert np.allclose(got, per_plane(a.T, [0], (4, 3, 2)), rtol=1e-6)


def test_nifti_region_moves_the_origin(fathom):
    affine = np.array([[0, -2, 0, 10], [3, 0, 0, -20], [0, 0, 4, 30], [0, 0, 0, 1]], float)
    image = nibabel.Nifti1Image(mask(12, 13, 14), affine)
    image.header.set_xyzt_units("mm")
    nibabel.save(image, fathom.directory / "a.nii")
    distance(fathom, "a.nii", "--region", "5:10,6:12,7:11", out="part.nii")
    part = nibabel.load(fathom.directory / "part.nii")
    assert part.shape == (4, 6, 5)
    for place in (part.affine, part.header.get_sform(), part.header.get_qform()):
        assert np.allclose(place[:3, 3], (affine @ [7, 6, 5, 1])[:3])
        assert np.allclose(place[:3, :3], affine[:3, :3], atol=1e-6)
    assert part.header.get_xyzt_units()[0] == "mm"


def test_nifti_sizes_that_contradict(fathom):
    a = mask(5, 6, 7)
    image = nibabel.Nifti1Image(a, np.diag([2, 3, 4, 1]))
    image.header["pixdim"][1:4] = [1, 1, 1]
    image.header.set_sform(np.diag([2, 3, 4, 1]), 2)
    nibabel.save(image, fathom.directory / "a.nii")
    data = bytearray((fathom.directory / "a.nii").read_bytes())
    data[80:92] = struct.pack("<3f", 1, 1, 0)
    (fathom.directory / "a.nii").write_bytes(data)
    warning = "a.nii has a pixdim (1, 1, 0) that contradicts its sform (2, 3, 4): the sform is taken"
    got = distance(fathom, "a.nii", out="out.nii", warnings=[warning])
    got = np.asarray(nibabel.load(fathom.directory / "out.nii").dataobj)
    assert np.allclose(got, ndimage.distance_transform_edt(a, sampling=(2, 3, 4)), rtol=1e-6)


def test_nifti_without_sizes(fathom):
    image = nibabel.Nifti1Image(mask(5, 6, 7), None)
    nibabel.save(image, fathom.directory / "a.nii")
    data = bytearray((fathom.directory / "a.nii").read_bytes())
    data[80:92] = bytes(12)
    data[252:256] = bytes(4)  # neither qform nor sform
    (fathom.directory / "a.nii").write_bytes(data)
    distance(fathom, "a.nii", out="out.nii",
             warnings=["a.nii states no size (pixdim) of its voxels along an axis: 1 is taken"])


def test_nifti_of_channels(fathom):
    a = mask(3, 4, 9, 8)
    tifffile.imwrite(fathom.directory / "a.ome.tif", a, ome=True, metadata={
        "axes": "CZYX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5})
    distance(fathom, "a.ome.tif", out="out.nii",
             warnings=["a.ome.tif states no size along an axis: 1 µm is taken"])
    out = nibabel.load(fathom.directory / "out.nii")
    assert out.shape == (8, 9, 4, 1, 3)
    assert out.header.get_zooms()[0] == 0.5 and out.header.get_xyzt_units()[0] == "micron"
    assert info(fathom, "out.nii")["axes"] == "czyx"


def test_directions_stay_with_their_axes(fathom):
    affine = np.array([[0, -2, 0, 10], [3, 0, 0, -20], [0, 0, 4, 30], [0, 0, 0, 1]], float)
    nibabel.save(nibabel.Nifti1Image(mask(12, 13, 14), affine), fathom.directory / "a.nii")
    distance(fathom, "a.nii", "--ndim", "2", "--region", "6:12,7:11", out="part.nii")
    assert np.allclose(nibabel.load(fathom.directory / "part.nii").affine[:3, 3], (affine @ [7, 6, 0, 1])[:3])
    told = info(fathom, "a.nii", "--ndim", "2")
    assert np.allclose(told["directions"], [[-1, 0, 0], [0, 1, 0]], atol=1e-6)


def test_units_that_a_format_has_not(fathom):
    tifffile.imwrite(fathom.directory / "a.ome.tif", mask(4, 9, 8), ome=True, metadata={
        "axes": "ZYX", **{f"PhysicalSize{k}": 5 for k in "XYZ"}, **{f"PhysicalSize{k}Unit": "nm" for k in "XYZ"}})
    distance(fathom, "a.ome.tif", out="out.nii", warnings=["out.nii: NIfTI does not hold what the input says: unit (nm)"])
