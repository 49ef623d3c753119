"""What files say of their arrays – axes, spacing, unit, place, no-data, colours – is used, kept, or told.

Files are made as tifffile, nibabel and Pillow write them, and by hand where no writer of the tests makes them.
"""

import json
import struct

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image
from scipy import ndimage

RANDOM = np.random.default_rng(7)


def mask(*shape):
    a = (RANDOM.random(shape) < 0.9).astype(np.uint8)
    a.reshape(-1, shape[-2] * shape[-1])[:, 0] = 0  # each plane has a site
    return a


def info(fathom, name, *arguments):
    outcome = fathom("info", name, "--json", *arguments)
    assert outcome.code == 0, outcome
    return json.loads(outcome.out)["input"]


def distance(fathom, name, *arguments, warnings=(), out="out.npy"):
    """The field, and exactly these warnings."""
    outcome = fathom("distance", name, "-o", out, *arguments)
    assert outcome.code == 0, outcome
    lines = outcome.err.decode().splitlines()
    assert lines == [f"fathom: warning: {text}" for text in warnings]
    return np.load(fathom.directory / out) if out.endswith(".npy") else None


def per_plane(a, axes, sampling=None):
    """SciPy's distances of each array along all but the axes named."""
    moved = np.moveaxis(a, axes, range(len(axes)))
    out = np.empty(moved.shape, np.float32)
    for index in np.ndindex(*moved.shape[: len(axes)]):
        out[index] = ndimage.distance_transform_edt(moved[index], sampling=sampling)
    return np.moveaxis(out, range(len(axes)), axes)


# ---- TIFF: ImageJ, OME, tifffile, resolution ----


@pytest.mark.parametrize("unit", ["um", "micron", "\\u00B5m", "µm"])
def test_imagej_spacing(fathom, unit):
    a = mask(6, 20, 30)
    if not unit.isascii():
        unit = unit.encode("unicode-escape").decode().replace("xb5", "u00B5")
    metadata = {"axes": "ZYX", "spacing": 1.5, "unit": unit}
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, resolution=(5, 5), metadata=metadata)
    told = info(fathom, "a.tif")
    assert (told["spacing"], told["unit"]) == ([1.5, 0.2, 0.2], "µm")
    lost = "out.npy: NPY does not hold what the input says: spacing (1.5, 0.2, 0.2 µm)"
    got = distance(fathom, "a.tif", warnings=[lost])
    assert np.allclose(got, ndimage.distance_transform_edt(a, sampling=(1.5, 0.2, 0.2)), rtol=1e-6)


def test_imagej_planes_that_nobody_named(fathom):
    """tifffile then says that they are channels."""
    a = mask(6, 20, 30)
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, resolution=(5, 5), metadata={"spacing": 1.5, "unit": "um"})
    got = distance(fathom, "a.tif", out="out.tif", warnings=[
        "a.tif has a spacing of slices, but only channels: they are taken as slices; as axes cyx they are apart"])
    got = tifffile.imread(fathom.directory / "out.tif")
    assert np.allclose(got, ndimage.distance_transform_edt(a, sampling=(1.5, 0.2, 0.2)), rtol=1e-6)


def test_imagej_unequal_pixels_and_odd_sizes(fathom):
    a = mask(4, 9, 11)
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, resolution=(1 / 0.337891, 1 / 0.5),
                     metadata={"axes": "ZYX", "spacing": 0.337891, "unit": "mm"})
    assert info(fathom, "a.tif")["spacing"] == [0.337891, 0.5, 0.337891]


def test_imagej_without_spacing(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(4, 9, 11), imagej=True)
    assert info(fathom, "a.tif")["spacing"] is None


def test_imagej_channels_and_time_are_apart(fathom):
    a = mask(2, 3, 4, 10, 12)  # t, z, c, y, x
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, metadata={"axes": "TZCYX"})
    told = info(fathom, "a.tif")
    assert (told["axes"], told["shape"]) == ("tzcyx", [2, 3, 4, 10, 12])
    lost = "out.npy: NPY does not hold what the input says: names of axes (tzcyx)"
    got = distance(fathom, "a.tif", warnings=[lost])
    assert np.allclose(got, per_plane(a, [0, 2]))
    one = distance(fathom, "a.tif", "--channel", "2",
                   warnings=["out.npy: NPY does not hold what the input says: names of axes (tzyx)"])
    assert np.array_equal(one, got[:, :, 2])
    assert fathom("distance", "a.tif", "-o", "b.npy").text.splitlines()[0] == "a.tif: 8 arrays along t, c, each by itself"


@pytest.mark.parametrize(("axes", "shape"), [("ZYX", (5, 9, 8)), ("TYX", (5, 9, 8)), ("CYX", (3, 9, 8)),
                                             ("ZCYX", (4, 3, 9, 8)), ("TZYX", (2, 4, 9, 8))])
def test_imagej_kinds(fathom, axes, shape):
    a = mask(*shape)
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, metadata={"axes": axes})
    apart = [k for k, c in enumerate(axes) if c in "TC"]
    got = distance(fathom, "a.tif", "--quiet")
    assert np.allclose(got, per_plane(a, apart) if apart else ndimage.distance_transform_edt(a))


def test_imagej_in_one_block(fathom):
    """Larger than 4 GiB ImageJ writes one directory, and the planes behind one another."""
    a = mask(5, 12, 14)
    for order in "<>":
        tifffile.imwrite(fathom.directory / "a.tif", a.astype(np.uint16) * 300, imagej=True, byteorder=order,
                         metadata={"axes": "ZYX"})
        data = bytearray((fathom.directory / "a.tif").read_bytes())
        at = struct.unpack(order + "I", data[4:8])[0]
        count = struct.unpack(order + "H", data[at:at + 2])[0]
        link = at + 2 + 12 * count
        data[link:link + 4] = bytes(4)  # no second directory
        (fathom.directory / "b.tif").write_bytes(data)
        assert info(fathom, "b.tif")["shape"] == [5, 12, 14]
        assert np.array_equal(distance(fathom, "b.tif"), ndimage.distance_transform_edt(a).astype(np.float32))
        (fathom.directory / "cut.tif").write_bytes(data[:len(data) // 2])
        fathom.refuses(3, "info", "cut.tif")


@pytest.mark.parametrize("axes", ["ZYX", "TCZYX", "CTYX", "TZCYX", "ZCTYX"])
def test_ome(fathom, axes):
    extents = {"T": 2, "C": 3, "Z": 4, "Y": 9, "X": 8}
    a = mask(*(extents[c] for c in axes))
    sizes = {"PhysicalSizeX": 0.2, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 200, "PhysicalSizeYUnit": "nm",
             "PhysicalSizeZ": 1.5, "PhysicalSizeZUnit": "µm"}
    if "C" in axes:
        sizes["Channel"] = {"Name": ["DAPI", "GFP", "RFP"]}
    tifffile.imwrite(fathom.directory / "a.ome.tif", a, ome=True, metadata={"axes": axes, **sizes})
    told = info(fathom, "a.ome.tif")
    assert (told["axes"], told["unit"]) == (axes.lower(), "µm")
    assert told["spacing"][-2:] == [0.2, 0.2]
    apart = [k for k, c in enumerate(axes) if c in "TC"]
    sampling = (1.5, 0.2, 0.2) if "Z" in axes else (0.2, 0.2)
    got = distance(fathom, "a.ome.tif", "--quiet")
    expected = per_plane(a, apart, sampling) if apart else ndimage.distance_transform_edt(a, sampling)
    assert np.allclose(got, expected, rtol=1e-6)
    if "C" in axes:
        one = distance(fathom, "a.ome.tif", "--channel", "GFP", "--quiet")
        assert np.array_equal(one, np.take(got, 1, axes.index("C")))
        assert fathom.refuses(2, "distance", "a.ome.tif", "-o", "x.npy", "--channel", "Cy5") == (
            "--channel takes 0 to 2, DAPI, GFP, RFP, not 'Cy5'")


def test_ome_series_and_files(fathom):
    with tifffile.TiffWriter(fathom.directory / "a.ome.tif", ome=True) as writer:
        writer.write(mask(3, 9, 8), metadata={"axes": "ZYX"})
        writer.write(mask(2, 5, 6), metadata={"axes": "ZYX"})
    assert info(fathom, "a.ome.tif")["shape"] == [3, 9, 8]
    assert fathom("info", "a.ome.tif").err.decode() == (
        "fathom: warning: a.ome.tif holds 2 images (OME): the first is taken\n")
    xml = ('<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="Pixels:0" '
           'DimensionOrder="XYZCT" Type="uint8" SizeX="8" SizeY="9" SizeZ="4" SizeC="1" SizeT="1"/></Image></OME>')
    tifffile.imwrite(fathom.directory / "b.tif", mask(9, 8), description=xml, metadata=None)
    assert fathom.refuses(3, "info", "b.tif") == (
        "b.tif says that it has more planes (OME) than the 1 pages it holds; are they in several files? Save them as one")


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint32"])
@pytest.mark.parametrize("axes", ["ZYX", "TZCYX", "YX"])
def test_tiff_written_for_others(fathom, axes, dtype):
    """Spacing, unit and axes come back in tifffile, by ImageJ's rules or OME's."""
    extents = {"T": 2, "C": 3, "Z": 4, "Y": 9, "X": 8}
    a = mask(*(extents[c] for c in axes))
    metadata = {"axes": axes, "PhysicalSizeX": 0.3, "PhysicalSizeY": 0.2, "PhysicalSizeZ": 1.5}
    tifffile.imwrite(fathom.directory / "a.ome.tif", a, ome=True, metadata=metadata)
    squared = ["--squared", "--spacing", "1"] if dtype == "uint32" else ["--dtype", dtype]
    distance(fathom, "a.ome.tif", *squared, out="out.tif")
    with tifffile.TiffFile(fathom.directory / "out.tif") as file:
        series = file.series[0]
        assert series.axes == axes and series.shape == a.shape and series.dtype == dtype
        assert file.is_imagej == (dtype == "float32") and file.is_ome == (dtype != "float32")
        if dtype == "float32":
            assert file.imagej_metadata["unit"] == "micron"
            assert file.imagej_metadata.get("spacing") == (1.5 if "Z" in axes else None)
            x = file.pages[0].tags["XResolution"].value
            assert x[1] / x[0] == pytest.approx(0.3)
        elif dtype == "float64":
            assert 'PhysicalSizeX="0.3"' in file.ome_metadata
    told = info(fathom, "out.tif")
    assert told["axes"] == axes.lower()
    assert told["spacing"][-2:] == ([1, 1] if dtype == "uint32" else [0.2, 0.3])


def test_tifffile_shapes(fathom):
    a = mask(2, 3, 9, 8)
    tifffile.imwrite(fathom.directory / "a.tif", a, photometric="minisblack", metadata={"axes": "CZYX"})
    assert np.allclose(distance(fathom, "a.tif", "--quiet"), per_plane(a, [0]))
    tifffile.imwrite(fathom.directory / "b.tif", a, photometric="minisblack")
    assert info(fathom, "b.tif")["shape"] == [2, 3, 9, 8]
    assert np.allclose(distance(fathom, "b.tif", "--axes", "tzyx", "--quiet"), per_plane(a, [0]))


def test_bands_are_channels(fathom):
    a = mask(9, 8, 5)
    a[0, 0] = 0
    tifffile.imwrite(fathom.directory / "a.tif", a, photometric="minisblack", planarconfig="contig", metadata=None)
    told = info(fathom, "a.tif")
    assert (told["axes"], told["shape"]) == ("cyx", [5, 9, 8])
    got = distance(fathom, "a.tif", "--quiet")
    assert np.allclose(got, per_plane(np.moveaxis(a, 2, 0), [0]))
    tifffile.imwrite(fathom.directory / "b.tif", np.moveaxis(a, 2, 0), photometric="minisblack",
                     planarconfig="separate", metadata=None)
    assert np.array_equal(distance(fathom, "b.tif", "--quiet"), got)


def test_print_resolution_only_when_asked(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(9, 8), resolution=(254, 127), resolutionunit="INCH", metadata=None)
    Image.fromarray(mask(9, 8)).save(fathom.directory / "a.png", dpi=(254, 254))
    for name in ("a.tif", "a.png"):
        assert info(fathom, name)["spacing"] is None
    outcome = fathom("distance", "a.tif", "-o", "o.tif", "--spacing", "print", "--json")
    assert json.loads(outcome.out)["input"]["spacing"] == pytest.approx([0.2, 0.1])
    outcome = fathom("distance", "a.png", "-o", "o.tif", "--spacing", "print", "--json")
    assert json.loads(outcome.out)["input"]["spacing"] == pytest.approx([0.1, 0.1])
    tifffile.imwrite(fathom.directory / "b.tif", mask(9, 8), metadata=None)
    assert fathom.refuses(3, "distance", "b.tif", "-o", "o.npy", "--spacing", "print") == (
        "b.tif states no resolution per inch or centimetre; give the spacing in numbers")


# ---- GeoTIFF ----

KEYS_UTM = (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633)
KEYS_DEGREES = (1, 1, 0, 4, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326, 2054, 0, 1, 9102)


def geotiff(path, a, keys, scale=(10.0, 20.0), nodata=None):
    tags = [(33550, "d", 3, (*scale, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 500000.0, 4600000.0, 0.0), True),
            (34735, "H", len(keys), keys, True)]
    if nodata is not None:
        tags.append((42113, "s", len(nodata) + 1, nodata, True))
    tifffile.imwrite(path, a, metadata=None, extratags=tags)


def test_geotiff(fathom):
    a = mask(20, 30)
    geotiff(fathom.directory / "a.tif", a, KEYS_UTM)
    told = info(fathom, "a.tif")
    assert (told["spacing"], told["unit"], told["georeference"]) == ([20.0, 10.0], "m", "EPSG:32633")
    lost = ("out.npy: NPY does not hold what the input says: spacing (20, 10 m) and georeference (EPSG:32633)")
    got = distance(fathom, "a.tif", warnings=[lost])
    assert np.allclose(got, ndimage.distance_transform_edt(a, sampling=(20, 10)), rtol=1e-6)
    distance(fathom, "a.tif", "--region", "5:15,7:30", out="part.tif")
    with tifffile.TiffFile(fathom.directory / "part.tif") as file:
        tags = file.pages[0].tags
        assert tags[33922].value == (-7.0, -5.0, 0.0, 500000.0, 4600000.0, 0.0)
        assert tags[33550].value == (10.0, 20.0, 0.0)
        assert tuple(tags[34735].value) == KEYS_UTM


def test_degrees_are_told(fathom):
    geotiff(fathom.directory / "a.tif", mask(9, 8), KEYS_DEGREES, (0.1, 0.1))
    message = ("a.tif has its spacing in degrees (EPSG:4326): distances in degrees are not distances on the ground; "
               "reproject it, to metres")
    distance(fathom, "a.tif", out="out.tif", warnings=[message])
    assert fathom.refuses(3, "distance", "a.tif", "-o", "o.tif", "--strict") == (
        f"{message}; --strict makes this warning an error")


@pytest.mark.parametrize("sites", ["zero", "nonzero", "==1", ">=1"])
@pytest.mark.parametrize("signed", [False, True])
def test_no_data(fathom, sites, signed):
    a = (RANDOM.random((25, 31)) < 0.5).astype(np.uint8)
    gaps = RANDOM.random(a.shape) < 0.2
    a[gaps] = 255
    geotiff(fathom.directory / "a.tif", a, KEYS_UTM, (1, 1), "255")
    rule = a == 0 if sites == "zero" else a > 0
    option = ["--signed", "--surface", "centers"] if signed else []
    got = distance(fathom, "a.tif", "--sites", sites, *option, "--quiet")
    if signed:
        inside = (~rule if sites == "zero" else rule) & ~gaps
        expected = np.where(inside, -ndimage.distance_transform_edt(inside | gaps), ndimage.distance_transform_edt(~inside))
    else:
        expected = ndimage.distance_transform_edt(~(rule & ~gaps))
    assert np.allclose(got, expected)
    filled = distance(fathom, "a.tif", "--sites", sites, *option, "--use-input-nodata", "--quiet")
    assert np.array_equal(filled, np.where(gaps, np.float32(255), got))
    ignored = distance(fathom, "a.tif", "--sites", "zero", "--no-data", "none", "--quiet")
    assert np.allclose(ignored, ndimage.distance_transform_edt(a))
    part = distance(fathom, "a.tif", "--sites", sites, *option, "--region", "3:20,5:31", "--use-input-nodata", "--quiet")
    assert np.array_equal(part, filled[3:20, 5:31])


def test_no_data_nan_and_labels(fathom):
    a = RANDOM.integers(0, 3, (12, 13)).astype(np.float32)
    a[3:5, 2:9] = np.nan
    geotiff(fathom.directory / "a.tif", a, KEYS_UTM, (1, 1), "nan")
    got = distance(fathom, "a.tif", "--sites", "nonzero", "--quiet")
    assert np.allclose(got, ndimage.distance_transform_edt(~(a > 0)))
    distance(fathom, "a.tif", "--use-input-nodata", out="out.tif")
    with tifffile.TiffFile(fathom.directory / "out.tif") as file:
        assert file.pages[0].tags[42113].value == "nan"
        assert np.isnan(file.asarray()[3:5, 2:9]).all()
    assert fathom.refuses(2, "distance", "a.tif", "-o", "o.tif", "--sites", "labels") == (
        "--sites labels where elements hold no data: give --no-data none, and they are a label")


# ---- NIfTI ----


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


# ---- colours ----


def test_palettes_are_indices(fathom):
    a = RANDOM.integers(0, 20, (15, 16)).astype(np.uint8)
    image = Image.fromarray(a, "P")
    colours = RANDOM.integers(0, 255, 60).tolist()
    colours[3:6] = [0, 0, 0]  # index 1 is drawn black
    image.putpalette(colours)
    image.save(fathom.directory / "a.png")
    image.save(fathom.directory / "a.tif")
    np.save(fathom.directory / "a.npy", a)
    expected = {rule: distance(fathom, "a.npy", "--sites", rule) for rule in ("zero", "labels", "==16")}
    for name in ("a.png", "a.tif"):
        for rule, field in expected.items():
            assert np.array_equal(distance(fathom, name, "--sites", rule), field)


def test_colours_are_whole(fathom):
    palette = np.array([[0, 0, 0], [76, 0, 0], [0, 0, 200], [0, 0, 1], [0, 0, 2]], np.uint8)
    labels = RANDOM.integers(0, 5, (15, 16))
    rgb = palette[labels]
    np.save(fathom.directory / "labels.npy", labels.astype(np.uint8))
    Image.fromarray(rgb).save(fathom.directory / "a.png")
    tifffile.imwrite(fathom.directory / "a.tif", rgb, photometric="rgb", metadata=None)
    tifffile.imwrite(fathom.directory / "b.tif", rgb.astype(np.uint16) * 257, photometric="rgb", metadata=None)
    structured = rgb.view([("R", "u1"), ("G", "u1"), ("B", "u1")])[..., 0]
    nibabel.save(nibabel.Nifti1Image(structured[..., None].transpose(1, 0, 2), np.eye(4)), fathom.directory / "a.nii")
    for rule in ("zero", "labels", "nonzero"):
        expected = distance(fathom, "labels.npy", "--sites", rule)
        for name in ("a.png", "a.tif", "b.tif", "a.nii"):
            assert np.array_equal(distance(fathom, name, "--sites", rule, "--quiet"), expected), (name, rule)
    told = "a.png holds colours: their luminance is taken, and not one channel (red, green, blue)"
    distance(fathom, "a.png", "--sites", ">=20", warnings=[told])
    blue = distance(fathom, "a.png", "--sites", ">=100", "--channel", "blue")
    assert np.array_equal(blue, distance(fathom, "labels.npy", "--sites", "==2"))


def test_alpha(fathom):
    a = np.zeros((9, 8, 4), np.uint8)
    a[..., 3] = mask(9, 8) * 255
    Image.fromarray(a).save(fathom.directory / "a.png")
    told = "a.png holds opacity, which is left out; the channel alpha is it alone"
    distance(fathom, "a.png", warnings=[told])
    got = distance(fathom, "a.png", "--channel", "alpha")
    assert np.allclose(got, ndimage.distance_transform_edt(a[..., 3]))
    assert fathom.refuses(3, "distance", "a.png", "-o", "x.npy", "--channel", "cyan") == (
        "a.png has no channel 'cyan'; its pixels have 0 to 3, red, green, blue, alpha")


# ---- the command's word ----


def test_axes_and_ndim(fathom):
    a = mask(3, 9, 8)
    np.save(fathom.directory / "a.npy", a)
    np.save(fathom.directory / "last.npy", np.moveaxis(a, 0, 2))
    apart = per_plane(a, [0])
    assert np.allclose(distance(fathom, "a.npy", "--ndim", "2"), apart)
    assert np.allclose(distance(fathom, "a.npy", "--axes", "cyx", "--quiet"), apart)
    assert np.allclose(distance(fathom, "last.npy", "--axes", "yxc", "--quiet"), np.moveaxis(apart, 0, 2))
    assert np.allclose(distance(fathom, "last.npy", "--axes", "yxc", "--channel", "1", "--quiet"), apart[1])
    field = distance(fathom, "last.npy", "--axes", "yxc", "--spacing", "2,3", "--region", "2:9,0:5", "--quiet")
    assert np.allclose(field, np.moveaxis(per_plane(a, [0], (2, 3)), 0, 2)[2:9, :5], rtol=1e-6)
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--axes", "yx") == (
        "--axes yx names 2 axes, but a.npy has 3, 3 × 9 × 8")
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--axes", "yyx") == "--axes yyx names the axis y twice"
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--channel", "1") == (
        "--channel 1: a.npy has no channels; --axes says which axis counts them")
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--axes", "zyx", "--spacing", "1,2").startswith(
        "--spacing has 2 values, but the shape 3 × 9 × 8 has 3 axes")


def test_nearest_and_coordinates_of_a_batch(fathom):
    a = mask(9, 8, 3)
    a[0, 0] = 0
    np.save(fathom.directory / "a.npy", a)
    distance(fathom, "a.npy", "--axes", "yxc", "--nearest", "n.npy", "--coordinates", "c.npy", "--quiet")
    nearest, coordinates = np.load(fathom.directory / "n.npy"), np.load(fathom.directory / "c.npy")
    assert nearest.shape == (9, 8, 3) and coordinates.shape == (2, 9, 8, 3)
    assert np.array_equal(nearest, coordinates[0] * 8 + coordinates[1])
    for c in range(3):
        assert (a[coordinates[0, ..., c], coordinates[1, ..., c], c] == 0).all()


def test_compressed_tiff(fathom):
    for name, extra in (("f.tif", []), ("s.tif", ["--squared"])):
        np.save(fathom.directory / "a.npy", mask(40, 50, 60))
        plain = fathom("distance", "a.npy", "-o", "plain.tif", *extra)
        assert plain.code == 0
        distance(fathom, "a.npy", "--compress", *extra, out=name)
        with tifffile.TiffFile(fathom.directory / name) as file:
            assert file.pages[0].compression == tifffile.COMPRESSION.ADOBE_DEFLATE
            assert np.array_equal(file.asarray(), tifffile.imread(fathom.directory / "plain.tif"))
        assert (fathom.directory / name).stat().st_size < (fathom.directory / "plain.tif").stat().st_size / 2
    assert fathom.refuses(2, "distance", "a.npy", "-o", "x.npy", "--compress") == (
        "compression is a choice of TIFF and NRRD, not of NPY; leave it out, or write .tif or .nrrd")


def test_unread_compression_is_named(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(9, 8), metadata=None)
    data = bytearray((fathom.directory / "a.tif").read_bytes())
    at = data.index(struct.pack("<HHI", 259, 3, 1))
    data[at + 8:at + 10] = struct.pack("<H", 33005)
    (fathom.directory / "a.tif").write_bytes(data)
    assert fathom.refuses(3, "info", "a.tif") == (
        "a.tif holds elements in JPEG 2000 compression; save it with deflate, LZW or none")


# ---- found by reading ----


def test_a_channel_is_counted_alone(fathom):
    a = np.arange(2 * 3 * 4 * 5, dtype=np.uint8).reshape(2, 3, 4, 5)  # z, c, y, x
    tifffile.imwrite(fathom.directory / "a.tif", a, imagej=True, metadata={"axes": "ZCYX"})
    line = json.loads(fathom("info", "a.tif", "--channel", "1", "--json").out)
    assert (line["min"], line["max"], line["elements"]) == (20, 99, 40)
    bands = np.moveaxis(mask(9, 8, 3), 2, 0)
    tifffile.imwrite(fathom.directory / "b.tif", bands, photometric="minisblack", planarconfig="separate", metadata=None)
    got = distance(fathom, "b.tif", "--channel", "2")
    assert np.allclose(got, ndimage.distance_transform_edt(bands[2]))


def test_directions_stay_with_their_axes(fathom):
    affine = np.array([[0, -2, 0, 10], [3, 0, 0, -20], [0, 0, 4, 30], [0, 0, 0, 1]], float)
    nibabel.save(nibabel.Nifti1Image(mask(12, 13, 14), affine), fathom.directory / "a.nii")
    distance(fathom, "a.nii", "--ndim", "2", "--region", "6:12,7:11", out="part.nii")
    assert np.allclose(nibabel.load(fathom.directory / "part.nii").affine[:3, 3], (affine @ [7, 6, 0, 1])[:3])
    told = info(fathom, "a.nii", "--ndim", "2")
    assert np.allclose(told["directions"], [[-1, 0, 0], [0, 1, 0]], atol=1e-6)


def test_no_data_is_no_site_and_no_index(fathom):
    a = np.ones((6, 7), np.uint8)
    a[2, 3] = 0
    geotiff(fathom.directory / "a.tif", a, KEYS_UTM, (1, 1), "0")
    outcome = fathom("distance", "a.tif", "-o", "o.tif", "--nearest", "n.tif", "--use-input-nodata", "--json")
    line = json.loads(outcome.out)
    assert (line["sites"]["count"], line["unreached"]) == (0, 41)  # of the gap the value is written
    assert outcome.err.decode() == "fathom: warning: no element is zero, so there is no site; --sites nonzero takes the others\n"
    with tifffile.TiffFile(fathom.directory / "n.tif") as file:
        assert 42113 not in file.pages[0].tags
    assert fathom.refuses(2, "distance", "a.tif", "-o", "o.tif", "--squared", "--spacing", "1", "--no-data", "nan",
                          "--use-input-nodata", "--quiet") == (
        "--use-input-nodata: uint32 does not hold the no-data value nan; choose another --dtype")


def test_spacing_in_place_of_a_georeference(fathom):
    geotiff(fathom.directory / "a.tif", mask(9, 8), KEYS_UTM, (30, 30))
    distance(fathom, "a.tif", "--spacing", "10", out="out.tif", warnings=[
        "a.tif: with another --spacing the georeference (EPSG:32633) is not kept"])
    told = info(fathom, "out.tif")
    assert (told["spacing"], told["unit"], told["georeference"]) == ([10, 10], "m", None)


def test_time_in_milliseconds(fathom):
    sizes = {"PhysicalSizeX": 1, "PhysicalSizeY": 1, "TimeIncrement": 40, "TimeIncrementUnit": "ms"}
    tifffile.imwrite(fathom.directory / "a.ome.tif", mask(3, 9, 8), ome=True, metadata={"axes": "TYX", **sizes})
    distance(fathom, "a.ome.tif", out="out.tif")
    with tifffile.TiffFile(fathom.directory / "out.tif") as file:
        assert (file.imagej_metadata["finterval"], file.imagej_metadata["tunit"]) == (40, "ms")


def test_units_that_a_format_has_not(fathom):
    tifffile.imwrite(fathom.directory / "a.ome.tif", mask(4, 9, 8), ome=True, metadata={
        "axes": "ZYX", **{f"PhysicalSize{k}": 5 for k in "XYZ"}, **{f"PhysicalSize{k}Unit": "nm" for k in "XYZ"}})
    distance(fathom, "a.ome.tif", out="out.nii", warnings=["out.nii: NIfTI does not hold what the input says: unit (nm)"])


def test_white_is_told(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(9, 8).astype(bool), photometric="miniswhite", metadata=None)
    distance(fathom, "a.tif", warnings=[
        "a.tif has its smallest values white (MINISWHITE): they are turned round, so that white is largest"])


def test_metaimage_keeps_numbers(fathom):
    tifffile.imwrite(fathom.directory / "a.tif", mask(9, 8), imagej=True, resolution=(0.5, 0.5), metadata={"unit": "nm"})
    distance(fathom, "a.tif", out="out.mha", warnings=["out.mha: MetaImage does not hold what the input says: unit (nm)"])
    assert info(fathom, "out.mha")["spacing"] == [2, 2]
